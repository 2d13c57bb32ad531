"""The person's rules on cards: a summary, rules to decide about, and the memory card (S32-S36)."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.memory.applicability import Answer, Why
from fateforger.memory.contradiction import Kind
from fateforger.memory.record import ConstraintRecord
from fateforger.memory.reminders import needs_confirmation
from fateforger.memory.violations import ConstraintViolation
from fateforger.memory.vocabulary import Necessity, Scope, Source, format_day
from fateforger.session.cards import Button, Card, Controls, Divider, Heading, Note, Part, Prose, plain
from fateforger.session.checks import broken_day_rules
from fateforger.session.commands import HideMemory, ShowMemory, UndoMemory, format_rule_target
from fateforger.session.day import day_words
from fateforger.session.memory import MemoryOffer, MemoryQuestion, MemoryRow, MemoryView
from fateforger.session.model import Session
from fateforger.session.pending import (
    PendingQuestion,
    clash_questions,
    judge_button,
    settle_buttons,
    unsure_questions,
)
from fateforger.session.rulebook import rules_in_force
from fateforger.text import format_count


def build_choice(uids: tuple[str, str], names: tuple[str, str], *, both: str | None) -> Controls:
    """Return a button for each of two rules, and one for both if ``both`` is its label."""
    return Controls(items=settle_buttons(uids, names, both=both))


def build_choices(question: PendingQuestion) -> Controls:
    """Return a button for each answer to a question that needs a choice."""
    return Controls(items=question.which)


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
    return tuple(part for each in asked for part in (Prose(text=plain(each.sentence, 900)), build_choices(each)))


def unsure_rules(session: Session) -> tuple[Part, ...]:
    """Return the rules to confirm: in plain words and as written, with the possible answers."""
    return tuple(part for question in unsure_questions(session) for part in _build_question(question))


def _build_rule(breach: ConstraintViolation) -> Prose:
    mark = _MARKS[breach.item.record.necessity]
    version, spoken = breach.item.version, f"“{breach.item.record.name}” does not count for this day"
    button = judge_button("set_aside", version.uid, version.seq, spoken=spoken)
    return Prose(text=plain(f"{mark} {breach.rule} Against it: {breach.named}. {breach.remedy}", 900), control=button)


def _build_question(question: PendingQuestion) -> tuple[Part, ...]:
    yes, no = question.answers
    change = Button(label="Change it", action="form.rule", target=yes.target, spoken=f"Change: {question.sentence}")
    return Prose(text=plain(question.sentence, 900)), Controls(items=(yes, change, no))


YOURS = ShowMemory.action.button()
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
    return UndoMemory.action.button(cause, spoken="Undo what was just noted")


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
        for write in session.rules.memory_writes
        if write.fresh
    )


def _show_shaping(session: Session) -> tuple[Part, ...]:
    answer = rules_in_force(session)
    trouble = None if session.rules.recalled is None else session.rules.recalled.trouble
    parts: list[Part] = []
    if trouble is not None:
        parts.append(Note(text=f"I cannot look up your rules just now, so I go by what I know: {plain(trouble, 200)}"))
    let_go = () if session.planning.clash is None else session.planning.clash.let_go
    named = [_format_rule(item.record, let_go=item.uid in let_go) for item in answer.applicable[:MOST_NAMED]]
    more = len(answer.applicable) - len(named)
    left_out = len(answer.cut) + (0 if session.rules.recalled is None else session.rules.recalled.left_out)
    if named:
        rest = f"; {more} more" if more else ""
        out = f"; {left_out} left out, as there is no room for more" if left_out else ""
        parts.append(Note(text=f"**Your rules for this day:** {', '.join(named)}{rest}{out}."))
    parts += _show_set_aside(session, answer)
    asked = len(session.rules.memory_questions)
    if asked:
        questions = "One question" if asked == 1 else f"{asked} questions"
        which = f"**{questions} about your rules:** which of two counts? Press Your rules to answer."
        parts.append(Note(text=which))
    return (*parts, Controls(items=(YOURS, REVIEW))) if parts else ()


def _show_set_aside(session: Session, answer: Answer) -> tuple[Part, ...]:
    """Return the rules set aside for the day, once no recent write mentions them."""
    aside = [item.version.record for item in answer.excluded if item.why is Why.SET_ASIDE]
    if not aside or any(write.fresh for write in session.rules.memory_writes):
        return ()
    named = [f"“{plain(record.name, 60)}”" for record in aside[:MOST_NAMED]]
    rest = f"; {len(aside) - MOST_NAMED} more" if len(aside) > MOST_NAMED else ""
    return (Note(text=f"**Not counting today:** {', '.join(named)}{rest}."),)


def _format_rule(record: ConstraintRecord, *, let_go: bool) -> str:
    mark = f", {CONFIRM}" if needs_confirmation(record) else ""
    mark += "; the plan does without it" if let_go else ""
    return f"“{plain(record.name, 60)}” ({HOW[record.necessity]}{mark})"


MOST_ASKED = 3
"""Questions and offers with buttons of their own; the others follow once these are answered."""
NO_RULES = "I know no rules of yours yet. Add one, and I keep to it when I plan your days."
NONE_SUCH = "I know no rule of yours about that any more."
MEMORY_MOVED = "Your rules: further down in this thread."
CLOSE = HideMemory.action.button()
WHAT = "Deny / Edit opens one rule: confirm it, change it, or tell me not to use it."


def memory_card(session: Session, view: MemoryView) -> Card:
    """Return the card: the last change with its Undo, a summary, open questions, and the first rules."""
    title = f"Your rules for {day_words(session.date)}"
    rows = [part for row in view.rows for part in _row(row)]
    return Card(
        text=f"{title}: {count_words(view)}.{_asked_words(session, view)}",
        parts=(
            Heading(text=title),
            *_build_last_change(session, view),
            *_trouble(view),
            Prose(text=f"{memory_summary(view)} {WHAT}" if view.total else NONE_SUCH if view.only else NO_RULES),
            *_questions(session.rules.memory_questions),
            *_offers(view.offers),
            *((Divider(),) if rows else ()),
            *rows,
            *_rest(view),
            Controls(items=(*((REVIEW,) if view.total else ()), ADD, ADD_DAY, CLOSE)),
        ),
    )


def closed_memory_card(view: MemoryView) -> Card:
    """Return the card after it was closed."""
    line = f"Your rules: {count_words(view)}."
    return Card(text=line, parts=(Note(text=line),))


def moved_memory_card() -> Card:
    """Return the note that is left behind when the card is shown again at the end of the thread."""
    return Card(text=MEMORY_MOVED, parts=(Note(text=MEMORY_MOVED),))


def count_words(view: MemoryView) -> str:
    return format_count(view.total, "rule") if view.total else "no rules"


def memory_summary(view: MemoryView) -> str:
    """Summarize the number of rules, of those in use, and of those to confirm: ``5 rules: 2 used for this day``."""
    if view.only:
        return f"**{count_words(view)}** of yours about that."
    used = "1 is used" if view.used == 1 else f"{view.used} are used" if view.used else "none is used"
    ask = f", {view.unsure} to be confirmed" if view.unsure else ""
    return f"**{count_words(view)}**: {used} for this day{ask}."


def _asked_words(session: Session, view: MemoryView) -> str:
    """Return the number of open questions, for notifications and screen readers; empty if there are none."""
    asked = len(session.rules.memory_questions) + len(view.offers)
    return f" {format_count(asked, 'question')} to answer." if asked else ""


def _build_last_change(session: Session, view: MemoryView) -> tuple[Part, ...]:
    last = session.rules.memory_writes[-1] if session.rules.memory_writes else None
    if last is not None and (last.fresh or not view.lines):
        return (Prose(text=plain(" ".join(last.lines), 600), control=undo_button(last.cause)),)
    return (Prose(text=plain(" ".join(view.lines), 600)),) if view.lines else ()


def _trouble(view: MemoryView) -> tuple[Part, ...]:
    if view.trouble is None:
        return ()
    return (Prose(text=f"⚠️ I cannot look up all of your rules just now: {plain(view.trouble, 300)}"),)


def _questions(questions: Sequence[MemoryQuestion]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for question in questions[:MOST_ASKED]:
        parts += [
            Prose(text=plain(question.sentence, 600)),
            build_choice(question.uids, question.names, both="Keep both"),
        ]
    return (*parts, *_more_asked(len(questions)))


def _offers(offers: Sequence[MemoryOffer]) -> tuple[Part, ...]:
    parts: list[Part] = []
    for offer in offers[:MOST_ASKED]:
        both = None if offer.kind is Kind.CIRCLE else "Leave both"
        parts += [Prose(text=plain(offer.sentence, 600)), build_choice(offer.uids, offer.names, both=both)]
    return (*parts, *_more_asked(len(offers)))


def _more_asked(count: int) -> tuple[Part, ...]:
    more = count - MOST_ASKED
    return (Note(text=f"{more} more to decide, once these are."),) if more > 0 else ()


def _row(row: MemoryRow) -> tuple[Part, ...]:
    edit = Button(
        label="Deny / Edit",
        action="form.rule",
        target=format_rule_target(row.seq, row.uid),
        spoken=f"Deny or edit “{row.name}”",
    )
    return (Prose(text=f"**{plain(row.name)}**\n{describe_rule(row)} · _{marks(row)}_", control=edit),)


def _rest(view: MemoryView) -> tuple[Part, ...]:
    more = view.total - len(view.rows)
    return (Note(text=f"{more} more: Review all lists every rule."),) if more > 0 else ()
