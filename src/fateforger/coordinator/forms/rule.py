"""A rule in full: view, judge, edit and replace it, or add a new one."""

from __future__ import annotations

from fateforger.constraints import Version
from fateforger.constraints.applicability import decide_applicability
from fateforger.constraints.kinds import Scope, Status
from fateforger.constraints.reasons import Applicable
from fateforger.constraints.sections import build_reminder
from fateforger.coordinator.forms import rule_fields, rule_record
from fateforger.coordinator.forms.day_rule_fields import DAY_RULE, find_clash
from fateforger.coordinator.forms.reading import Filled
from fateforger.errors import BadInput
from fateforger.session.cards import (
    Button,
    Choice,
    ChoiceField,
    Controls,
    Divider,
    Form,
    FormErrors,
    FormField,
    FormRequest,
    FormSubmission,
    Note,
    Prose,
    plain,
)
from fateforger.session.commands import JudgeConstraint, RememberConstraint, ReviseConstraint, SessionCommand
from fateforger.session.days import day_words
from fateforger.session.memory import MemoryRow
from fateforger.session.memory_rows import context_of
from fateforger.session.rulebook import RuleBook
from fateforger.turn.present.rules import CONFIRM, describe_rule
from fateforger.values import replace

CHANGED = "This rule was changed meanwhile, so nothing was saved. Copy what you wrote, go back and open the rule again."
DIFFERENCE = (
    "Decline: you don't want this rule. Archive: it is over. Its words are kept either way, and you can restore it."
)


def build_edit_form(book: RuleBook, request: FormRequest) -> Form:
    """Return the form of a rule, with buttons and fields. A rule out of force can only be viewed and restored."""
    seen, uid = parse_address(request.target)
    row, version = book.rule(uid)
    seq = seen if request.chosen else version.seq
    fields: tuple[FormField, ...] = (
        *(Prose(text=plain(line, 600)) for line in book.done),
        Prose(text=_describe_rule(book, version)),
        Controls(items=_verdict_buttons(book, row)),
    )
    if not row.retired:
        asked = rule_fields.build_fields(version.record, request.chosen, named=True)
        fields = (*fields, Note(text=DIFFERENCE), Divider(), *asked)
    return Form(
        form="rule",
        session_id=request.session_id,
        target=format_address(seq, uid),
        title="Rule",
        submit=None if row.retired else "Save",
        close="Back",
        fields=fields,
    )


def read_edited(book: RuleBook, submission: FormSubmission) -> SessionCommand | FormErrors:
    """Return the command that saves the rule; if nothing was edited, the command that confirms it."""
    seen, uid = parse_address(submission.target)
    _, version = book.rule(uid)
    filled = Filled(submission)
    record = rule_record.build_record(filled, version.record, tz=None if book.session is None else book.session.tz)
    if record is None:
        return FormErrors(errors=filled.errors)
    if version.seq != seen:
        return FormErrors(errors={"words": CHANGED})
    if (clash := find_clash(book, record, submission, but=uid)) is not None and record != version.record:
        return FormErrors(errors={DAY_RULE: clash})
    if record == version.record:
        return JudgeConstraint(**filled.envelope, uid=uid, verdict="accept", seen=seen)
    return ReviseConstraint(**filled.envelope, uid=uid, record=rule_record.confirm(record), seen=seen)


def build_day_form(book: RuleBook, request: FormRequest) -> Form:
    """Return the form for a new rule about the order of the day, with the names that it may use."""
    chosen = {"kind": DAY_RULE, **request.chosen}
    return replace(build_new_form(book, replace(request, chosen=chosen)), form="rule_day")


def build_new_form(book: RuleBook, request: FormRequest) -> Form:
    """Return the form for a new rule, either empty, or filled from the rule that it replaces."""
    old = _find_replaced(book, request.target)
    fields: tuple[FormField, ...] = rule_fields.build_fields(None if old is None else old.record, request.chosen)
    if old is not None:
        words = f"It takes the place of “{plain(old.record.name)}” on the days it is for; that one stays as history."
        fields = (Prose(text=words), *fields)
    elif book.session is not None:
        fields = (*fields, _reach_field(day_words(book.session.date)))
    return Form(
        form="rule_new",
        session_id=request.session_id,
        target=request.target,
        title="Add a rule" if old is None else "Replace a rule",
        submit="Add" if old is None else "Replace",
        close="Cancel" if old is None else "Back",
        fields=fields,
    )


def read_new(book: RuleBook, submission: FormSubmission) -> SessionCommand | FormErrors:
    """Return the command that remembers the new rule, or the errors per field."""
    old = _find_replaced(book, submission.target)
    filled = Filled(submission)
    record = rule_record.build_record(filled, None, tz=None if book.session is None else book.session.tz)
    if record is None:
        return FormErrors(errors=filled.errors)
    if book.session is not None and old is None and filled.choice("reach") == "day":
        record = replace(record, scope=Scope.SESSION)
    supersedes = None if old is None else old.uid
    if (clash := find_clash(book, record, submission, but=supersedes)) is not None:
        return FormErrors(errors={DAY_RULE: clash})
    return RememberConstraint(**filled.envelope, record=rule_record.confirm(record), supersedes=supersedes)


def format_address(seq: int, uid: str) -> str:
    """Return the target of a control: a rule, and its version when it was shown."""
    return f"{seq} {uid}"


def parse_address(target: str) -> tuple[int, str]:
    """Return the version and the rule of a control's target. Raises :class:`BadInput`."""
    seq, _, uid = target.partition(" ")
    if not seq.isdecimal() or not uid:
        raise BadInput("I don't know that rule any more; please look at the list again.")
    return int(seq), uid


def _find_replaced(book: RuleBook, target: str) -> Version | None:
    return book.rule(parse_address(target)[1])[1] if target else None


def _reach_field(day: str) -> ChoiceField:
    choices = (Choice(label="From now on", value="lasting"), Choice(label=f"Only for {day}", value="day"))
    return ChoiceField(name="reach", label="How long it holds", choices=choices, value="lasting")


def _describe_rule(book: RuleBook, version: Version) -> str:
    """Return the rule in the person's words, the date they said it, and the reason why it applies or does not."""
    context = context_of(book.person)
    answer = decide_applicability(book.versions, context)
    used = next((item for item in answer.applicable if item.uid == version.uid), None)
    out = next((item for item in answer.excluded if item.uid == version.uid), None)
    reminder = build_reminder(used or Applicable(version, context))
    why = " ".join(used.reasons) if used is not None else "" if out is None else f"Not used: {out.reason}"
    ask = f" It needs your word: {CONFIRM}." if reminder.unsure and not version.retired else ""
    row = book.rule(version.uid)[0]
    return f"**{plain(row.name, 200)}**\n{describe_rule(row)}\n{plain(reminder.sentence, 900)}\n{plain(why, 600)}{ask}"


def _verdict_buttons(book: RuleBook, row: MemoryRow) -> tuple[Button, ...]:
    """Return the buttons for a rule."""
    target = format_address(row.seq, row.uid)
    if row.retired:
        return (Button(label="Restore", action="memory.restore", target=target, style="primary"),)
    confirm = row.status is not Status.LOCKED or row.unsure
    aside = "use_again" if row.set_aside else "set_aside"
    label = "Use it for this day again" if row.set_aside else "Not for this day"
    return (
        *((Button(label="Confirm", action="memory.accept", target=target, style="primary"),) if confirm else ()),
        *((Button(label=label, action=f"memory.{aside}", target=target),) if book.session is not None else ()),
        Button(label="Replace by a new rule", action="form.rule_new", target=target),
        Button(label="Archive", action="memory.archive", target=target),
        Button(label="Decline", action="memory.decline", target=target, style="danger"),
    )
