"""Rules over the order of the day, on a card: which of them the plan does not keep, and which were read out of words
that may mean something else."""

from __future__ import annotations

from fateforger.constraints import Applicable, Version
from fateforger.constraints.blocks import Breach
from fateforger.constraints.kinds import Necessity
from fateforger.constraints.sections import reminder_of
from fateforger.session.cards import Button, Controls, Note, Part, Prose, plain
from fateforger.session.day_rules import clashes, unkept, unsure
from fateforger.session.model import Session
from fateforger.turn.present.deciding import choice
from fateforger.workflow.day_words import told
from fateforger.workflow.days import read_day_rule

MOST_SHOWN = 4
MOST_ASKED = 2
_MARKS = {Necessity.MUST: "⚠️ Not kept, and it must be:", Necessity.SHOULD: "Not kept:", Necessity.PREFER: "Not kept:"}


def unkept_rules(session: Session) -> tuple[Part, ...]:
    """What the plan breaks as it stands, what to do about it, and the way to let the rule go for this day."""
    broken = unkept(session)
    more = len(broken) - MOST_SHOWN
    return (
        *(part for breach in broken[:MOST_SHOWN] for part in (_shown(breach),)),
        *((Note(text=f"{more} more of your rules for the order of the day are not kept."),) if more > 0 else ()),
    )


def clashing_rules(session: Session) -> tuple[Part, ...]:
    """Rules for this day that cannot be kept together, wherever they come from, and which of them counts; but for what
    is asked already."""
    asked = {frozenset(question.uids) for question in session.memory_questions}
    parts: list[Part] = []
    for clash in clashes(session)[:MOST_ASKED]:
        if asked.isdisjoint({frozenset(clash.uids)}):
            parts += [Prose(text=plain(clash.sentence, 900)), choice(clash.uids, clash.names, both=None)]
    return tuple(parts)


def unsure_rules(session: Session) -> tuple[Part, ...]:
    """What is to be confirmed: the rule in plain words and as it is written, with its answers."""
    return tuple(part for item in unsure(session)[:MOST_ASKED] for part in _asked(item))


def _shown(breach: Breach) -> Prose:
    mark = _MARKS[breach.item.record.necessity]
    button = Button(
        label="Not for this day",
        action="memory.set_aside",
        target=_target(breach.item.version),
        spoken=f"“{breach.item.record.name}” does not count for this day",
    )
    return Prose(text=plain(f"{mark} {breach.rule} Against it: {breach.named}. {breach.remedy}", 900), control=button)


def _asked(item: Applicable) -> tuple[Part, ...]:
    text = item.record.payload.day_rule or ""
    words = reminder_of(item).words
    target = _target(item.version)
    return (
        Prose(text=plain(f"You said “{words}”. Did I read that right? {told(read_day_rule(text))} ({text})", 900)),
        Controls(
            items=(
                Button(label="Yes", action="memory.accept", target=target, spoken=f"Yes, “{text}”"),
                Button(label="Change it", action="form.rule", target=target, spoken=f"Change “{text}”"),
                Button(label="No such rule", action="memory.decline", target=target, spoken=f"No rule “{text}”"),
            )
        ),
    )


def _target(version: Version) -> str:
    """The rule as it was in view."""
    return f"{version.seq} {version.uid}"
