"""Forms by name with the commands of filled ones, and those about how days are planned (decision 064)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import time

from fateforger.drafting.instance import Policy, Told
from fateforger.drafting.policy import policy_in_force
from fateforger.errors import BadInput, UserError
from fateforger.limits import MAX_MINUTES, MAX_QUERY_CHARS
from fateforger.memory.settings import (
    SPECS,
    Hours,
    Routine,
    Setting,
    build_routine,
    build_setting,
    count_minutes,
    get_setting_slot,
    read_moments,
)
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import Scope, Slot, Weekday
from fateforger.planning.plan import ET
from fateforger.session.cards import Choice
from fateforger.session.commands import FORM_COMMANDS, SessionCommand
from fateforger.session.commands.plan import AddBlock, EditBlock
from fateforger.session.commands.rules import RememberConstraint, SetPolicy
from fateforger.session.edits import apply_edit
from fateforger.session.forms import (
    ChoiceField,
    Form,
    FormErrors,
    FormRequest,
    FormSubmission,
    Input,
    ManyField,
    NumberField,
    TextField,
    TextPart,
    TimeField,
)
from fateforger.session.gate import find_refusal
from fateforger.session.model import Session
from fateforger.session.rulebook import RuleBook, rules_in_force
from fateforger.text import format_day, mark_message
from fateforger.text import gettext as _
from fateforger.ui.form_values import Filled, FormSpec, fold_form, format_windows, parse_windows, refuse_values
from fateforger.ui.plan_forms import PLAN_FORMS
from fateforger.ui.rule_forms import RULE_FORMS
from fateforger.ui.task_forms import TASK_FORMS
from fateforger.values import replace


@dataclass(frozen=True, slots=True)
class _Field:
    """Label and explanation of a number, and the field of the policy that it sets."""

    of: str
    label: str
    hint: str


_NUMBERS: Mapping[Slot, _Field] = {
    Slot.SLACK: _Field(
        "slack_percent",
        mark_message("Time to keep free, in percent"),
        mark_message("Room for what comes up. More gives you more air; 0 fills the day."),
    ),
    Slot.LONGEST_FOCUS: _Field(
        "longest_focus",
        mark_message("Minutes of deep work before a break"),
        mark_message("Longer work is cut into pieces with a break between them. 0 means no limit."),
    ),
    Slot.AFTER_DEEP: _Field(
        "after_deep",
        mark_message("Minutes of break after deep work"),
        mark_message("Time to get up and breathe. 0 means none."),
    ),
    Slot.AFTER_MEETINGS: _Field(
        "after_meetings",
        mark_message("Minutes of break after two meetings in a row"),
        mark_message("Nothing else begins right behind them. 0 means none."),
    ),
    Slot.DEEP_BLOCKS: _Field(
        "deep_blocks",
        mark_message("Most blocks of deep work a day"),
        mark_message("More of it waits for another day. 0 means no limit."),
    ),
    Slot.SHUTDOWN: _Field(
        "shutdown",
        mark_message("Minutes for shutting down at the end"),
        mark_message("To close the day and look at the next. 0 means none."),
    ),
}
_MOMENTS: Mapping[Slot, str] = {
    Slot.WORK_START: mark_message("Work starts at"),
    Slot.WORK_END: mark_message("Work ends at"),
    Slot.WAKE_UP: mark_message("You get up at"),
    Slot.BEDTIME: mark_message("You go to bed at"),
}
_FIRST = frozenset({Slot.WORK_START.value, Slot.WORK_END.value, Slot.SLACK.value})
"""Fields of moments and numbers that the form always shows; the others follow where they are set, or on request."""
LUNCH_START, LUNCH_MINUTES, BEST_HOURS = "lunch_start", "lunch_minutes", "best_hours"


def build_policy_form(book: RuleBook, request: FormRequest) -> Form:
    """Return the form of all settings, filled with what is in force."""
    policy = _policy_of(book)
    usual, moments = Policy(), _moments_of(book)
    form = Form(
        title=_("How days are planned"),
        submit=_("Save"),
        edits=True,
        fields=(
            TextPart(
                text=_(
                    "These are your usual hours and habits, as they apply on **{day}**. What you change here becomes"
                    " one of your rules; clear a field to go back to the usual.",
                    day=format_day(book.person.date),
                )
            ),
            *_moment_fields(moments),
            TimeField(
                name=LUNCH_START,
                label=_("Lunch around"),
                optional=True,
                value=None if policy.lunch is None else policy.lunch.start,
                hint=_("It moves for meetings, never for a task."),
            ),
            NumberField(
                name=LUNCH_MINUTES,
                label=_("Minutes for lunch"),
                optional=True,
                value=0 if policy.lunch is None else policy.lunch.minutes,
                minimum=0,
                maximum=SPECS[Slot.LUNCH].most,
                hint=_("0 means no lunch break."),
            ),
            *_number_fields(policy),
            TextField(
                name=BEST_HOURS,
                label=_("Your best hours for deep work"),
                optional=True,
                value=_format_focus(policy),
                placeholder="9-12",
                hint=_("Deep work comes then where it can."),
                max_length=MAX_QUERY_CHARS,
            ),
        ),
    )
    rare = {slot.value for slot in _MOMENTS if slot not in moments}
    rare |= {slot.value for slot, field in _NUMBERS.items() if _number(policy, field) == _number(usual, field)}
    return fold_form(form, request.size, rare - _FIRST, _("More: sleep, focus, breaks"))


def _moment_fields(moments: Mapping[Slot, time]) -> Iterator[Input]:
    for slot, label in _MOMENTS.items():
        yield TimeField(name=slot.value, label=_(label), optional=True, value=moments.get(slot))


def _moments_of(book: RuleBook) -> Mapping[Slot, time]:
    """Return the ends of the day that are in force on the day of the rules."""
    found: dict[Slot, time] = {}
    for item in rules_in_force(book.person, book.versions, at_any_stage=True).applicable:
        for slot, at in read_moments(item.record).items():
            found.setdefault(slot, at)
    return found


def _policy_of(book: RuleBook) -> Policy:
    """Return the policy in force on the day of the rules."""
    items = rules_in_force(book.person, book.versions, at_any_stage=True).applicable
    told = tuple(Told(uid=item.uid, constraint_record=item.record) for item in items)
    return policy_in_force(Policy(), told, book.person.date)


def _number_fields(policy: Policy) -> Iterator[Input]:
    for slot, field in _NUMBERS.items():
        yield NumberField(
            name=slot.value,
            label=_(field.label),
            optional=True,
            value=_number(policy, field),
            minimum=0,
            maximum=SPECS[slot].most,
            hint=_(field.hint),
        )


def _number(policy: Policy, field: _Field) -> int:
    value = getattr(policy, field.of)
    return value if isinstance(value, int) else 0


def _format_focus(policy: Policy) -> str:
    return format_windows(tuple((each.start, each.end) for each in policy.focus))


def read_policy_form(book: RuleBook, filled: Filled) -> SessionCommand | FormErrors:
    """Return the command that keeps what was changed, or the errors per field."""
    policy = _policy_of(book)
    wanted: dict[Slot, Setting | None] = dict(_read_moments(filled, _moments_of(book)))
    for slot, field in _NUMBERS.items():
        if not filled.has(slot.value):
            continue
        number = filled.minutes(slot.value, least=0, most=SPECS[slot].most)
        if number and number < SPECS[slot].least:
            filled.errors[slot.value] = _("Please choose 0, or at least {least}.", least=SPECS[slot].least)
        if number != _number(policy, field):
            wanted[slot] = None if number is None else Setting(slot, number)
    wanted |= dict(_read_lunch(filled, policy))
    typed = filled.text(BEST_HOURS, MAX_QUERY_CHARS)
    if typed != _format_focus(policy):
        try:
            wanted[Slot.BEST_HOURS] = Setting(Slot.BEST_HOURS, hours=parse_windows(typed)) if typed else None
        except BadInput as error:
            filled.errors[BEST_HOURS] = error.message
    known = {slot: _find_rule(book, slot) for slot in wanted}
    records = tuple(
        build_setting(value, None if (rule := known[slot]) is None else rule.record)
        for slot, value in wanted.items()
        if value is not None
    )
    gone = tuple(rule.uid for slot, value in wanted.items() if value is None and (rule := known[slot]) is not None)
    return filled.or_errors(lambda: SetPolicy(**filled.envelope, records=records, withdrawn=gone))


def _read_moments(filled: Filled, moments: Mapping[Slot, time]) -> Iterator[tuple[Slot, Setting | None]]:
    for slot in _MOMENTS:
        at = filled.clock(slot.value)
        if filled.has(slot.value) and at != moments.get(slot):
            yield slot, None if at is None else Setting(slot, at=at)


def _read_lunch(filled: Filled, policy: Policy) -> Iterator[tuple[Slot, Setting | None]]:
    start, minutes = filled.clock(LUNCH_START), filled.minutes(LUNCH_MINUTES, least=0, most=SPECS[Slot.LUNCH].most)
    lunch = policy.lunch
    if (start, minutes) == ((None, 0) if lunch is None else (lunch.start, lunch.minutes)):
        return
    if start is None and minutes is None:
        yield Slot.LUNCH, None
    elif minutes == 0:
        yield Slot.LUNCH, Setting(Slot.LUNCH, 0)
    elif minutes is not None and minutes < SPECS[Slot.LUNCH].least:
        filled.errors[LUNCH_MINUTES] = _("Please choose 0, or at least {least}.", least=SPECS[Slot.LUNCH].least)
    elif start is None:
        yield Slot.LUNCH, Setting(Slot.LUNCH, minutes)
    else:
        minutes = minutes or (lunch.minutes if lunch else SPECS[Slot.LUNCH].least)
        begin = start.hour * 60 + start.minute
        end = (begin + minutes) % (24 * 60)
        yield Slot.LUNCH, Setting(Slot.LUNCH, minutes, ((start, start.replace(hour=end // 60, minute=end % 60)),))


def _find_rule(book: RuleBook, slot: Slot) -> Version | None:
    """Return the lasting rule of every day that holds a setting."""
    return next(
        (
            version
            for version in book.newest.values()
            if not version.retired
            and version.record.scope is Scope.PROFILE
            and get_setting_slot(version.record) is slot
            and not version.record.applicability.days_of_week
        ),
        None,
    )


_KINDS = {
    ET.HABIT: mark_message("A habit, like sport or a walk"),
    ET.REGENERATION: mark_message("Rest, a meal, or family"),
    ET.SHALLOW_WORK: mark_message("Shallow work, like e-mail"),
    ET.DEEP_WORK: mark_message("Deep work"),
    ET.PLAN_REVIEW: mark_message("Planning and review"),
    ET.COMMUTE: mark_message("A way, like the school run"),
}


def build_routine_form(_book: RuleBook, _request: FormRequest) -> Form:
    return Form(
        title=_("Add a routine"),
        submit=_("Add"),
        fields=(
            TextField(name="title", label=_("Title"), placeholder=_("Gym"), max_length=MAX_QUERY_CHARS),
            ManyField(
                name="days",
                label=_("On which days of the week"),
                choices=tuple(Choice(label=day.words, value=day.value) for day in Weekday),
                placeholder=_("Every day"),
            ),
            TextField(
                name="times",
                label=_("From when to when"),
                optional=True,
                placeholder="8:10-8:45",
                hint=_("Without a time it is put where there is room."),
                max_length=MAX_QUERY_CHARS,
            ),
            NumberField(
                name="minutes",
                label=_("Minutes"),
                optional=True,
                minimum=5,
                maximum=MAX_MINUTES,
                hint=_("If it takes less time than that, it is put somewhere in between."),
            ),
            ChoiceField(
                name="kind",
                label=_("Kind of block"),
                choices=tuple(Choice(label=_(label), value=kind.value) for kind, label in _KINDS.items()),
                value=ET.HABIT.value,
            ),
        ),
    )


def read_routine_form(book: RuleBook, filled: Filled) -> SessionCommand | FormErrors:
    """Return the command that remembers the routine, or the errors per field."""
    del book
    title = filled.text("title", MAX_QUERY_CHARS, needed=_("Please say what it is, like “Gym”."))
    minutes = filled.minutes("minutes", least=5)
    hours = _read_hours(filled)
    if hours is None and minutes is None and not filled.errors:
        filled.errors["times"] = _("Please say when it is, like 8:10-8:45, or how many minutes it takes.")
    if hours is not None and minutes is not None and minutes > count_minutes(hours):
        filled.errors["minutes"] = _("That is longer than the time from its start to its end.")
    if filled.errors:
        return FormErrors(errors=filled.errors)
    length = minutes or (0 if hours is None else count_minutes(hours))
    chosen = filled.many("days")
    days = tuple(day for day in Weekday if day.value in chosen)
    routine = Routine(title, length, hours, ET(filled.choice("kind") or ET.HABIT.value))
    record = build_routine(routine, days)
    return RememberConstraint(**filled.envelope, record=record)


def _read_hours(filled: Filled) -> Hours | None:
    typed = filled.text("times", MAX_QUERY_CHARS)
    try:
        windows = parse_windows(typed)
    except BadInput as error:
        filled.errors["times"] = error.message
        return None
    if len(windows) > 1:
        filled.errors["times"] = _("Please give one time; add another routine for the other one.")
    return next(iter(windows), None)


POLICY_FORMS: Mapping[str, FormSpec[RuleBook]] = {
    "policy": FormSpec(build_policy_form, read_policy_form),
    "routine": FormSpec(build_routine_form, read_routine_form),
}


SESSION_FORMS: Mapping[str, FormSpec[Session]] = {**PLAN_FORMS, **TASK_FORMS}

RULES: Mapping[str, FormSpec[RuleBook]] = {**RULE_FORMS, **POLICY_FORMS}
"""Forms about a person's rules; they are available at every stage, and without a session."""
UNKNOWN = mark_message("I don't know that form any more; please use the newest card in this thread.")


def open_rules(book: RuleBook, request: FormRequest) -> Form:
    """Return one of the forms in ``RULES``; see :func:`open_form`."""
    return _address(RULES[request.form].form(_check_open(book), request), request)


def read_rules(book: RuleBook, submission: FormSubmission) -> SessionCommand | Form | FormErrors:
    """Read one of the forms in ``RULES``; see :func:`read_form`."""
    refused = refuse_values(submission)
    if refused is not None:
        return refused
    read = RULES[submission.form].read(_check_open(book), Filled(submission))
    return _address(read, submission) if isinstance(read, Form) else read


def open_form(session: Session, request: FormRequest) -> Form:
    """Return a form, filled with known values. Raises ``UserError`` if it makes no sense now."""
    return _address(_find_form(session, request.form).form(session, request), request)


def read_form(session: Session, submission: FormSubmission) -> SessionCommand | Form | FormErrors:
    """Return the command of a filled form, or the errors per field. Raises ``UserError`` if it is out of date."""
    command = _find_form(session, submission.form).read(session, Filled(submission))
    if not isinstance(command, AddBlock | EditBlock):
        return command
    # Try the block on the plan now, so that a block that does not fit is reported while the form is still open.
    try:
        apply_edit(session, command)
    except UserError as error:
        return FormErrors(errors={"start": error.message})
    return command


def _address(form: Form, asked: FormRequest | FormSubmission) -> Form:
    """Return the form with its name and session, which its submission sends back."""
    return replace(form, form=asked.form, session_id=asked.session_id)


def _find_form(session: Session, name: str) -> FormSpec[Session]:
    if name not in SESSION_FORMS:
        raise BadInput(_(UNKNOWN))
    no = find_refusal(session, FORM_COMMANDS[name])
    if no is not None:
        raise BadInput(no.sentence)
    return SESSION_FORMS[name]


def _check_open(book: RuleBook) -> RuleBook:
    no = None if book.session is None else find_refusal(book.session, RememberConstraint)
    if no is not None:
        raise BadInput(no.sentence)
    return book
