"""Rules for the order of the day on a card: those that the plan violates, and those that need confirmation."""

from __future__ import annotations

from fateforger.constraints.blocks import ConstraintViolation
from fateforger.constraints.kinds import Necessity
from fateforger.session.cards import Button, Controls, Note, Part, Prose, plain
from fateforger.session.day_rules import broken_day_rules
from fateforger.session.model import Session
from fateforger.session.pending import PendingQuestion, clash_questions, judge_option, unsure_questions
from fateforger.turn.present.deciding import choices

MOST_SHOWN = 4
_MARKS = {Necessity.MUST: "⚠️ Not kept, and it must be:", Necessity.SHOULD: "Not kept:", Necessity.PREFER: "Not kept:"}


def unkept_rules(session: Session) -> tuple[Part, ...]:
    """Return the rules that the plan violates, each with its remedy and a button to set it aside for the day."""
    broken = broken_day_rules(session)
    more = len(broken) - MOST_SHOWN
    return (
        *(part for breach in broken[:MOST_SHOWN] for part in (_build_rule(breach),)),
        *((Note(text=f"{more} more of your rules for the order of the day are not kept."),) if more > 0 else ()),
    )


def clashing_rules(session: Session) -> tuple[Part, ...]:
    """Return the rules for this day that contradict each other, with a choice; without those already asked about."""
    asked = clash_questions(session)
    return tuple(part for each in asked for part in (Prose(text=plain(each.sentence, 900)), choices(each)))


def unsure_rules(session: Session) -> tuple[Part, ...]:
    """Return the rules to confirm: in plain words and as written, with the possible answers."""
    return tuple(part for question in unsure_questions(session) for part in _build_question(question))


def _build_rule(breach: ConstraintViolation) -> Prose:
    mark = _MARKS[breach.item.record.necessity]
    version, spoken = breach.item.version, f"“{breach.item.record.name}” does not count for this day"
    button = judge_option("Not for this day", "set_aside", version.uid, version.seq, spoken=spoken).button()
    return Prose(text=plain(f"{mark} {breach.rule} Against it: {breach.named}. {breach.remedy}", 900), control=button)


def _build_question(question: PendingQuestion) -> tuple[Part, ...]:
    yes, no = (option.button() for option in question.answers)
    change = Button(label="Change it", action="form.rule", target=yes.target, spoken=f"Change: {question.sentence}")
    return Prose(text=plain(question.sentence, 900)), Controls(items=(yes, change, no))
