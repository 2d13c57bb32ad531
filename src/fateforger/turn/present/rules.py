"""The person's rules on a card: a short summary of those that shape the day, and the description of one rule."""

from __future__ import annotations

from fateforger.constraints import Answer, ConstraintRecord, Why
from fateforger.constraints.kinds import Necessity, Scope, Source
from fateforger.constraints.sections import needs_confirmation
from fateforger.constraints.wording import format_day
from fateforger.session.cards import Button, Controls, Note, Part, Prose, plain
from fateforger.session.memory import MemoryRow, active
from fateforger.session.model import Session
from fateforger.turn.present.day_rules import clashing_rules, unsure_rules

YOURS = Button(label="Your rules", action="show_memory")
REVIEW = Button(label="Review all", action="form.rules")
ADD = Button(label="Add a rule", action="form.rule_new")
ADD_DAY = Button(label="Add a day rule", action="form.rule_day", spoken="Add a rule over the order of the day")
MOST_NAMED = 3
CONFIRM = "please confirm"
HOW = {Necessity.MUST: "must", Necessity.SHOULD: "should", Necessity.PREFER: "if possible"}
_KNOWN = {
    Source.USER: "said on",
    Source.FEEDBACK: "told me on",
    Source.CALENDAR: "read in your calendar on",
    Source.SYSTEM: "assumed on",
}


def rules(session: Session) -> tuple[Part, ...]:
    """Return recent changes, rules to confirm, and the rules that shape the day; nothing if there are none."""
    return (*show_noted(session), *clashing_rules(session), *unsure_rules(session), *_show_shaping(session))


def build_add_button(session: Session) -> tuple[Button, ...]:
    """Return the button that adds a rule, if no rules are shown."""
    return () if _show_shaping(session) else (ADD,)


def undo_button(cause: str) -> Button:
    """Return the button that undoes what a command wrote into memory."""
    return Button(label="Undo", action="undo_memory", target=cause, spoken="Undo what was just noted")


def describe_necessity(necessity: Necessity) -> str:
    """Return the binding force of a rule, capitalized for the beginning of a line."""
    return HOW[necessity].capitalize()


def describe_rule(row: MemoryRow) -> str:
    """Describe a rule: binding force, days and times, such as ``Must · Monday · avoid 09:00–10:00``."""
    when = f"on {row.when}" if row.when else ""
    return " · ".join(plain(text, 160) for text in (describe_necessity(row.necessity), when, row.times) if text)


def marks(row: MemoryRow) -> str:
    """Describe the state of a rule: whether it needs confirmation, and whether it shapes the day."""
    known = (
        CONFIRM if row.unsure and not row.retired else "",
        "used for this day" if row.used else (row.why_not or "").rstrip("."),
        "for this day only" if row.scope is Scope.SESSION else "",
        "" if row.saved else "not written down yet",
    )
    return " · ".join(plain(text, 200) for text in known if text)


def describe_origin(row: MemoryRow) -> str:
    """Describe the origin of a rule, such as ``said on 2 March 2026``."""
    return f"{_KNOWN[row.source]} {format_day(row.said_on)}"


def show_noted(session: Session) -> tuple[Part, ...]:
    """Return recent memory writes, each with its Undo."""
    return tuple(
        Prose(text=plain(" ".join(write.lines), 600), control=undo_button(write.cause))
        for write in session.memory_writes
        if write.fresh
    )


def _show_shaping(session: Session) -> tuple[Part, ...]:
    answer = active(session)
    trouble = None if session.recalled is None else session.recalled.trouble
    parts: list[Part] = []
    if trouble is not None:
        parts.append(Note(text=f"I cannot look up your rules just now, so I go by what I know: {plain(trouble, 200)}"))
    let_go = () if session.clash is None else session.clash.let_go
    named = [_format_rule(item.record, let_go=item.uid in let_go) for item in answer.applicable[:MOST_NAMED]]
    more = len(answer.applicable) - len(named)
    left_out = len(answer.cut) + (0 if session.recalled is None else session.recalled.left_out)
    if named:
        rest = f"; {more} more" if more else ""
        out = f"; {left_out} left out, as there is no room for more" if left_out else ""
        parts.append(Note(text=f"**Your rules for this day:** {', '.join(named)}{rest}{out}."))
    parts += _show_set_aside(session, answer)
    asked = len(session.memory_questions)
    if asked:
        questions = "One question" if asked == 1 else f"{asked} questions"
        which = f"**{questions} about your rules:** which of two counts? Press Your rules to answer."
        parts.append(Note(text=which))
    return (*parts, Controls(items=(YOURS, REVIEW))) if parts else ()


def _show_set_aside(session: Session, answer: Answer) -> tuple[Part, ...]:
    """Return the rules set aside for the day, once no recent write mentions them."""
    aside = [item.version.record for item in answer.excluded if item.why is Why.SET_ASIDE]
    if not aside or any(write.fresh for write in session.memory_writes):
        return ()
    named = [f"“{plain(record.name, 60)}”" for record in aside[:MOST_NAMED]]
    rest = f"; {len(aside) - MOST_NAMED} more" if len(aside) > MOST_NAMED else ""
    return (Note(text=f"**Not counting today:** {', '.join(named)}{rest}."),)


def _format_rule(record: ConstraintRecord, *, let_go: bool) -> str:
    mark = f", {CONFIRM}" if needs_confirmation(record) else ""
    mark += "; the plan does without it" if let_go else ""
    return f"“{plain(record.name, 60)}” ({HOW[record.necessity]}{mark})"
