"""The person's rules on cards: a summary, rules to decide about, and the memory card (S32-S36)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fateforger.memory.applicability import Answer, Applicable, Why
from fateforger.memory.violations import ConstraintViolation, needs_confirmation
from fateforger.memory.vocabulary import Necessity, Scope, Source
from fateforger.session.cards import (
    Button,
    Card,
    Controls,
    Divider,
    Heading,
    Note,
    Part,
    Prose,
    localize_row,
    name_button,
    plain,
)
from fateforger.session.checks import broken_day_rules
from fateforger.session.commands.rules import HideMemory, ShowMemory, UndoMemory, format_rule_target
from fateforger.session.memory import MemoryConstraintItem, MemoryQuestion, MemoryToolResult
from fateforger.session.model import Session
from fateforger.session.pending import (
    PendingQuestion,
    clash_questions,
    judge_button,
    meeting_questions,
    memory_questions,
    offer_questions,
    settle_button,
    settle_question,
    unsure_questions,
)
from fateforger.session.rulebook import rules_in_force
from fateforger.text import (
    count_more,
    format_date,
    format_day,
    join_clauses,
    join_sentences,
    label_text,
    mark_message,
    ngettext,
    quote_title,
)
from fateforger.text import gettext as _

MOST_SHOWN = 4
_MARKS = {
    Necessity.MUST: mark_message("⚠️ Not kept, and it must be:"),
    Necessity.SHOULD: mark_message("Not kept:"),
    Necessity.PREFER: mark_message("Not kept:"),
}


def unkept_rules(session: Session) -> tuple[Part, ...]:
    """Return the rules that the plan violates, each with its remedy and a button to set it aside for the day."""
    broken = broken_day_rules(session)
    more = len(broken) - MOST_SHOWN
    rest = ngettext(
        "{count} more of your rules for the order of the day is not kept.",
        "{count} more of your rules for the order of the day are not kept.",
        more,
    )
    return (*map(_build_rule, broken[:MOST_SHOWN]), *((Note(text=rest),) if more > 0 else ()))


def ask_about_rules(session: Session) -> tuple[Part, ...]:
    """Return the questions about rules, each with its answers.

    They are about rules that contradict each other, rules that meetings break, and rules to confirm.
    """
    return (
        *_ask_first(memory_questions(session)),
        *_build_questions((*clash_questions(session), *meeting_questions(session), *unsure_questions(session))),
    )


def _build_rule(breach: ConstraintViolation) -> Prose:
    version = breach.item.version
    text = _(
        "{mark} {rule} These break it: {named}. {remedy}",
        mark=_(_MARKS[breach.item.record.necessity]),
        rule=breach.rule,
        named=breach.named,
        remedy=breach.remedy,
    )
    button = judge_button("set_aside", version.uid, version.seq, about=version.record.name)
    return Prose(text=plain(text, 900), control=button)


def _build_questions(questions: Sequence[PendingQuestion]) -> tuple[Part, ...]:
    return tuple(part for question in questions for part in _build_question(question))


def _build_question(question: PendingQuestion) -> tuple[Part, ...]:
    buttons = tuple(each for each in (question.yes, question.change, question.no) if each is not None)
    return Prose(text=plain(question.sentence, 900)), Controls(items=question.which or buttons)


YOURS = ShowMemory.action.constant()
REVIEW = Button(label=mark_message("Review all"), action="form.rules")
ADD = Button(label=mark_message("Add a rule"), action="form.rule_new")
ADD_DAY = Button(label=mark_message("Add a day rule"), action="form.rule_day")
POLICY = Button(label=mark_message("How days are planned"), action="form.policy")
ROUTINE = Button(label=mark_message("Add a routine"), action="form.routine")
MOST_NAMED = 3
CONFIRM = mark_message("please confirm")
HOW = {
    Necessity.MUST: mark_message("must"),
    Necessity.SHOULD: mark_message("should"),
    Necessity.PREFER: mark_message("if possible"),
}
_KNOWN = {
    Source.USER: mark_message("said on {day}"),
    Source.FEEDBACK: mark_message("told me on {day}"),
    Source.CALENDAR: mark_message("read in your calendar on {day}"),
    Source.SYSTEM: mark_message("assumed on {day}"),
}


def rules(session: Session) -> tuple[Part, ...]:
    """Return recent changes, rules to confirm, and the rules that shape the day; nothing if there are none."""
    return (*show_noted(session), *ask_about_rules(session), *_show_shaping(session))


def build_add_button(session: Session) -> tuple[Button, ...]:
    """Return the button that adds a rule, if no rules are shown."""
    return () if _show_shaping(session) else (ADD.localize(),)


def undo_button(cause: str, lines: Iterable[str]) -> Button:
    """Return the button that undoes what a command wrote into memory, as the lines say."""
    return UndoMemory.action.button(cause, spoken=label_text(_("Undo"), " ".join(lines)))


def describe_necessity(necessity: Necessity) -> str:
    """Return the binding force of a rule, capitalized for the beginning of a line."""
    return _(HOW[necessity]).capitalize()


def describe_rule(row: MemoryConstraintItem) -> str:
    """Describe a rule: binding force, days and times, such as ``Must · on Monday · avoid 09:00–10:00``."""
    words = (describe_necessity(row.necessity), row.when, row.times, row.limits)
    return " · ".join(plain(text, 160) for text in words if text)


def marks(row: MemoryConstraintItem) -> str:
    """Describe the state of a rule: whether it needs confirmation, and whether it shapes the day."""
    known = (
        _(CONFIRM) if row.unsure and not row.retired else "",
        _("counts on this day") if row.used else (row.why_not or "").rstrip("."),
        _("for this day only") if row.scope is Scope.SESSION else "",
        "" if row.saved else _("not written down yet"),
    )
    return " · ".join(plain(text, 200) for text in known if text)


def describe_origin(row: MemoryConstraintItem) -> str:
    """Describe the origin of a rule, such as ``said on 2 March 2026``."""
    return _(_KNOWN[row.source], day=format_date(row.said_on))


def show_noted(session: Session) -> tuple[Part, ...]:
    """Return recent memory writes, each with its Undo."""
    return tuple(
        Prose(text=plain(" ".join(write.lines), 600), control=undo_button(write.cause, write.lines))
        for write in session.rules.memory_writes
        if write.fresh
    )


def _show_shaping(session: Session) -> tuple[Part, ...]:
    answer = rules_in_force(session)
    trouble = None if session.rules.recalled is None else session.rules.recalled.trouble
    parts: list[Part] = []
    if trouble is not None:
        parts.append(
            Note(
                text=_(
                    "I cannot look up your rules just now, so I go by what I know: {trouble}",
                    trouble=plain(trouble, 200),
                )
            )
        )
    let_go = () if session.planning.clash is None else session.planning.clash.let_go
    named = [_format_rule(item, let_go=item.uid in let_go) for item in answer.applicable[:MOST_NAMED]]
    more = len(answer.applicable) - len(named)
    left_out = len(answer.cut) + (0 if session.rules.recalled is None else session.rules.recalled.left_out)
    if named:
        rest = count_more(more) if more else ""
        out = ngettext(
            "{count} left out, as there is no room for more",
            "{count} left out, as there is no room for more",
            left_out,
        )
        listed = join_clauses((", ".join(named), rest, out if left_out else ""))
        parts.append(Note(text=_("**Your rules for this day:** {rules}.", rules=listed)))
    parts += _show_set_aside(session, answer)
    return (*parts, localize_row(YOURS, REVIEW)) if parts else ()


def _show_set_aside(session: Session, answer: Answer) -> tuple[Part, ...]:
    """Return the rules set aside for the day, once no recent write mentions them."""
    aside = [item.version.record for item in answer.excluded if item.why is Why.SET_ASIDE]
    if not aside or any(write.fresh for write in session.rules.memory_writes):
        return ()
    named = [quote_title(plain(record.name, 60), 120) for record in aside[:MOST_NAMED]]
    rest = count_more(len(aside) - MOST_NAMED) if len(aside) > MOST_NAMED else ""
    listed = join_clauses((", ".join(named), rest))
    return (Note(text=_("**Not counting today:** {rules}.", rules=listed)),)


def _format_rule(item: Applicable, *, let_go: bool) -> str:
    record = item.record
    marks = (
        _(HOW[record.necessity]),
        _(CONFIRM) if needs_confirmation(record) else "",
        _("on its last day") if _is_last_day(item) else "",
    )
    binding = ", ".join(filter(None, marks))
    mark = join_clauses((binding, _("the plan does without it") if let_go else ""))
    return f"{quote_title(plain(record.name, 60), 120)} ({mark})"


def _is_last_day(item: Applicable) -> bool:
    """Check whether a constraint that held for several days ends on the day of its context."""
    told, confirmed = map(item.context.local_day, (item.version.created_at, item.version.updated_at))
    last = item.record.find_last_day(confirmed)
    return last == item.context.day and last not in {item.record.applicability.start_date, told}


MOST_ASKED = 3
"""Questions and offers with buttons of their own; the others follow once these are answered."""
NO_RULES = mark_message("I know no rules of yours yet. Add one, and I keep to it when I plan your days.")
NONE_SUCH = mark_message("I know no rule of yours about that any more.")
MEMORY_MOVED = mark_message("Your rules: further down in this thread.")
CLOSE = HideMemory.action.constant()
WHAT = mark_message("Deny / Edit opens one rule: confirm it, change it, or tell me not to use it.")


def memory_card(session: Session, view: MemoryToolResult) -> Card:
    """Return the card: the last change with its Undo, a summary, open questions, and the first rules."""
    title = _("Your rules for {day}", day=format_day(session.date))
    rows = [part for row in view.rows for part in _row(row)]
    return Card(
        text=join_sentences(label_text(title, f"{count_words(view)}."), _asked_words(session, view)),
        parts=(
            Heading(text=title),
            *_build_last_change(session, view),
            *_trouble(view),
            Prose(
                text=f"{memory_summary(view)} {_(WHAT)}" if view.total else _(NONE_SUCH) if view.only else _(NO_RULES)
            ),
            *_ask_first(memory_questions(session)),
            *_ask_first(offer_questions(session)),
            *((Divider(),) if rows else ()),
            *rows,
            *_rest(view),
            Controls(
                items=(
                    *((REVIEW.localize(),) if view.total else ()),
                    *localize_row(ADD, ROUTINE, ADD_DAY, POLICY, CLOSE).items,
                )
            ),
        ),
    )


def rules_reply(lines: Sequence[str], view: MemoryToolResult | None) -> Card:
    """Return the answer to a message about rules outside of a plan: what was done, and the rules that it is about."""
    rows = () if view is None else tuple(part for row in view.rows for part in _row(row))
    if view is not None and not rows:
        lines = (*lines, _(NONE_SUCH) if view.only else _(NO_RULES))
    said = join_sentences(*lines) or _("These are your rules.")
    trouble, more = ((), ()) if view is None else (_trouble(view), _rest(view))
    controls = localize_row(REVIEW, ADD, POLICY)
    return Card(text=said, parts=(Prose(text=plain(said, 900)), *trouble, *rows, *more, controls))


def settle_card(question: MemoryQuestion, lines: Sequence[str] = ()) -> Card:
    """Return the question, outside of a plan, whether a rule takes the place of another one; ``lines`` go before it."""
    asked = settle_question(question)
    return Card(
        text=join_sentences(*lines, asked.sentence),
        parts=(*(Prose(text=plain(line, 600)) for line in lines), *_build_question(asked)),
    )


def settled_card(lines: Sequence[str], other: Button) -> Card:
    """Return the result of that question, with the control that changes the answer."""
    said = join_sentences(*lines)
    return Card(text=said, parts=(Prose(text=plain(said, 900), control=other),))


def build_replace_button(uids: tuple[str, str]) -> Button:
    """Return the button that lets the first rule replace the second after both were kept."""
    return settle_button(uids, uids[0], _("Replace it after all"))


def closed_memory_card(view: MemoryToolResult) -> Card:
    line = _("Your rules: {rules}.", rules=count_words(view))
    return Card(text=line, parts=(Note(text=line),))


def moved_memory_card() -> Card:
    """Return the note that is left behind when the card is shown again at the end of the thread."""
    return Card(text=_(MEMORY_MOVED), parts=(Note(text=_(MEMORY_MOVED)),))


def count_words(view: MemoryToolResult) -> str:
    return ngettext("{count} rule", "{count} rules", view.total) if view.total else _("no rules")


def memory_summary(view: MemoryToolResult) -> str:
    """Summarize the number of rules, of those in use, and of those to confirm: ``5 rules: 2 count on this day``."""
    if view.only:
        return _("**{rules}** of yours about that.", rules=count_words(view))
    used = (
        ngettext("{count} counts on this day", "{count} count on this day", view.used)
        if view.used
        else _("none counts on this day")
    )
    ask = (ngettext("{count} to be confirmed", "{count} to be confirmed", view.unsure),) if view.unsure else ()
    return label_text(f"**{count_words(view)}**", f"{', '.join((used, *ask))}.")


def _asked_words(session: Session, view: MemoryToolResult) -> str:
    """Return the number of open questions, for notifications and screen readers; empty if there are none."""
    asked = len(session.rules.memory_questions) + len(view.offers)
    return ngettext("{count} question to answer.", "{count} questions to answer.", asked) if asked else ""


def _build_last_change(session: Session, view: MemoryToolResult) -> tuple[Part, ...]:
    last = session.rules.memory_writes[-1] if session.rules.memory_writes else None
    if last is not None and (last.fresh or not view.lines):
        return (Prose(text=plain(" ".join(last.lines), 600), control=undo_button(last.cause, last.lines)),)
    return (Prose(text=plain(" ".join(view.lines), 600)),) if view.lines else ()


def _trouble(view: MemoryToolResult) -> tuple[Part, ...]:
    if view.trouble is None:
        return ()
    return (
        Prose(text=_("⚠️ I cannot look up all of your rules just now: {trouble}", trouble=plain(view.trouble, 300))),
    )


def _ask_first(questions: Sequence[PendingQuestion]) -> tuple[Part, ...]:
    """Return the first questions, and the number of those that follow once these are answered."""
    more = len(questions) - MOST_ASKED
    rest = ngettext("{count} more to decide, once these are.", "{count} more to decide, once these are.", more)
    return (*_build_questions(questions[:MOST_ASKED]), *((Note(text=rest),) if more > 0 else ()))


def _row(row: MemoryConstraintItem) -> tuple[Part, ...]:
    label, target = _("Deny / Edit"), format_rule_target(row.seq, row.uid)
    edit = Button(label=label, action="form.rule", target=target, spoken=name_button(label, row.name))
    return (Prose(text=f"**{plain(row.name)}**\n{describe_rule(row)} · _{marks(row)}_", control=edit),)


def _rest(view: MemoryToolResult) -> tuple[Part, ...]:
    more = view.total - len(view.rows)
    rest = ngettext("{count} more: Review all lists every rule.", "{count} more: Review all lists every rule.", more)
    return (Note(text=rest),) if more > 0 else ()
