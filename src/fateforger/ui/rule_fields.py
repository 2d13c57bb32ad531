"""Fields of a rule: filled from a record, and read into one. Anything that a form does not show is kept."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import time
from enum import StrEnum

from fateforger.errors import BadInput
from fateforger.limits import MAX_RULE_NAME_CHARS, MAX_TYPED_WINDOWS, MAX_WORDS_CHARS
from fateforger.memory.contradiction import find_clashing
from fateforger.memory.record import Applicability, ConstraintRecord, Payload, ScalarParams, Window
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import (
    WEEK,
    Necessity,
    RuleKind,
    Scope,
    Source,
    Status,
    Weekday,
    WindowKind,
)
from fateforger.planning.plan import ET
from fateforger.session.cards import Choice, Note
from fateforger.session.forms import ChoiceField, DateField, FormField, FormSubmission, ManyField, TextField
from fateforger.session.rulebook import RuleBook
from fateforger.text import gettext as _
from fateforger.text import join_words, mark_message, ngettext, quote_title, shorten
from fateforger.ui.form_values import Filled, format_minutes, format_windows, parse_minutes, parse_windows
from fateforger.ui.rule_cards import POLICY, ROUTINE
from fateforger.ui.rule_limits import build_limit_fields, read_certainty, read_limits
from fateforger.values import replace
from fateforger.workflow.day_rules import KINDS, WEEKDAYS, read_day_rule, read_new_day_rule
from fateforger.workflow.day_words import describe_day_rule
from fateforger.workflow.rules import write_rule

DAY_RULE = "day_rule"
"""The name of the field, and the value that chooses this kind of rule."""
DAY_RULE_LABEL = mark_message("The order of the day, in rule words")
MOST_LETTERS = 1_000
NEEDED = mark_message("Please write the rule, like “NEVER: meeting_after_17”.")
DAY_RULE_EXAMPLES = mark_message(
    "**Like this**\n`BEFORE deep_work: admin_done` – deep work waits until some admin is over\n"
    "`AFTER meeting: break` – each meeting has a break behind it\n"
    "`NEVER: meeting_after_17` – no meeting runs past 17:00\n"
    "`IF friday THEN NOT deep_work_after_15` – an easy Friday afternoon"
)
_ALIKE = {et: [name for name, kind in KINDS.items() if kind is et] for et in KINDS.values()}
DAY_RULE_NAMES = mark_message(
    "**Kinds of blocks:** {kinds}\n"
    "**Of each kind also:** `…_done` (one is over), `…_after_17` or `…_after_17_30`, `…_before_9`, "
    "`…_longer_than_60` (minutes)\n"
    "**Days:** {days}\n"
    "**Rules:** BEFORE x: y · AFTER x: y · ALWAYS: x · NEVER: x · IF x THEN y · ON x: INVOKE y; "
    "join with AND, OR, NOT and ( )"
)


def build_day_rule_fields(before: ConstraintRecord | None) -> tuple[FormField, ...]:
    """Return the field for the rule, with examples and all names below it."""
    return (
        TextField(
            name=DAY_RULE,
            label=_("The rule"),
            value="" if before is None else before.payload.day_rule or "",
            placeholder=_("NEVER: meeting_after_17"),
            max_length=MOST_LETTERS,
        ),
        Note(text=_(DAY_RULE_EXAMPLES)),
        Note(
            text=_(
                DAY_RULE_NAMES,
                kinds=", ".join(" or ".join(names) for names in _ALIKE.values()),
                days=", ".join(WEEKDAYS),
            )
        ),
    )


def read_day_rule_payload(filled: Filled, base: Payload) -> Payload | None:
    """Return the payload with the typed rule; ``None``, with an error at the field, if it is invalid."""
    typed = filled.text(DAY_RULE, MOST_LETTERS, needed=_(NEEDED))
    if filled.errors.get(DAY_RULE):
        return None
    try:
        rule = read_new_day_rule(typed)
    except BadInput as error:
        place = "" if error.where is None else f"At {error.where}: "
        filled.errors[DAY_RULE] = f"{place}{error.message}"
        return None
    return replace(base, day_rule=write_rule(rule))


def describe_payload_rule(payload: Payload | None) -> str:
    """Return a rule about the order of the day in plain words; empty if there is none."""
    if payload is None or payload.day_rule is None:
        return ""
    return describe_day_rule(read_day_rule(payload.day_rule)).rstrip(".")


def find_clash(book: RuleBook, record: ConstraintRecord, given: FormSubmission, but: str | None = None) -> str | None:
    """Return the message for a rule that contradicts rules in force, with the texts of all of them.

    ``but`` is the uid of the rule that it replaces, or its own. Returns ``None`` without a contradiction.
    """
    there = [version for version in book.newest.values() if not version.retired and version.uid != but]
    session_id = None if book.session is None else book.session.id
    new = Version(
        user_id=given.user_id,
        record=record.with_uid(but or "new"),
        created_at=given.at,
        updated_at=given.at,
        session_id=session_id,
    )
    for group in find_clashing([*there, new], about=new.uid):
        others = [quote_title(describe_payload_rule(v.record.payload)) for v in group if v is not new]
        text = quote_title(describe_payload_rule(record.payload))
        return ngettext(
            "{rule} and your rule {others} cannot be kept together. Change this one, or archive the other first.",
            "{rule} and your rules {others} cannot be kept together. Change this one, or archive the other first.",
            len(others),
            rule=text,
            others=join_words(others),
        )
    return None


WORDS_ONLY = "words"
NECESSITIES = {
    Necessity.MUST: mark_message("Must: never break it"),
    Necessity.SHOULD: mark_message("Should: break it only for a good reason"),
    Necessity.PREFER: mark_message("If possible: nice to have"),
}
RULE_KINDS: Mapping[str, str] = {
    WORDS_ONLY: mark_message("Just these words"),
    RuleKind.PREFER_WINDOW: mark_message("A time of day that I want for it"),
    RuleKind.AVOID_WINDOW: mark_message("A time of day to keep free of it"),
    RuleKind.FIXED_BEDTIME: mark_message("When I go to bed and get up"),
    RuleKind.MIN_SLEEP: mark_message("How much sleep I need"),
    RuleKind.BUFFER: mark_message("A pause between blocks"),
    RuleKind.SEQUENCING: mark_message("What comes before what"),
    RuleKind.CAPACITY: mark_message("How much of it fits into a day"),
    DAY_RULE: DAY_RULE_LABEL,
}
WINDOWS = {
    RuleKind.PREFER_WINDOW: WindowKind.PREFER,
    RuleKind.AVOID_WINDOW: WindowKind.AVOID,
    RuleKind.FIXED_BEDTIME: WindowKind.PREFER,
}
LENGTHS = {
    RuleKind.MIN_SLEEP: mark_message("At least"),
    RuleKind.BUFFER: mark_message("At least"),
    RuleKind.CAPACITY: mark_message("At most"),
}


class Part(StrEnum):
    """A field that a kind of rule needs in addition to the words."""

    TIMES = "times"
    LENGTH = "length"


def build_rule_fields(
    before: ConstraintRecord | None, chosen: Mapping[str, str], *, named: bool = False
) -> tuple[FormField, ...]:
    """Return the fields, filled from a record; ``chosen`` holds the values of a form that changes to another kind."""
    name = chosen.get("kind") or find_kind(before)
    ordered = name == DAY_RULE
    return (
        *(build_day_rule_fields(before) if ordered else ()),
        _words_field(before, ordered=ordered),
        *(
            (TextField(name="name", label=_("Short name"), value=before.name, max_length=MAX_RULE_NAME_CHARS),)
            if named and before is not None
            else ()
        ),
        ChoiceField(
            name="necessity",
            label=_("How binding it is"),
            choices=tuple(Choice(label=_(label), value=value.value) for value, label in NECESSITIES.items()),
            value=(Necessity.SHOULD if before is None else before.necessity).value,
        ),
        ChoiceField(
            name="kind",
            label=_("What it is about"),
            choices=tuple(Choice(label=_(label), value=value) for value, label in RULE_KINDS.items()),
            value=name,
            turns=True,
        ),
        *_kind_fields(parse_kind(name), before),
        *_when_fields(Applicability() if before is None else before.applicability),
        # The text of a rule about the order of the day names its blocks itself.
        *(() if ordered else (_blocks_field(before),)),
        *build_limit_fields(before),
    )


def _words_field(before: ConstraintRecord | None, *, ordered: bool) -> TextField:
    return TextField(
        name="words",
        label=_("What it means to you, in your words") if ordered else _("The rule, in your words"),
        value="" if before is None or is_self_explanatory(before) else before.words,
        placeholder=_("Calls are over by five") if ordered else _("No calls before 10"),
        multiline=True,
        optional=ordered,
        max_length=MAX_WORDS_CHARS,
    )


def _when_fields(when: Applicability) -> tuple[FormField, ...]:
    return (
        ManyField(
            name="days",
            label=_("On which days of the week"),
            choices=tuple(Choice(label=day.words, value=day.value) for day in Weekday),
            value=tuple(day.value for day in when.days_of_week),
            placeholder=_("Every day"),
        ),
        *(
            (Note(text=_("It also follows a pattern that this form keeps: {recurrence}", recurrence=when.recurrence)),)
            if when.recurrence
            else ()
        ),
        DateField(name="start_date", label=_("First day"), optional=True, value=when.start_date),
        DateField(name="end_date", label=_("Last day"), optional=True, value=when.end_date),
    )


def _blocks_field(before: ConstraintRecord | None) -> ManyField:
    return ManyField(
        name="blocks",
        label=_("For which kinds of blocks"),
        choices=tuple(Choice(label=kind.words.capitalize(), value=kind.value) for kind in ET),
        value=() if before is None else tuple(kind.value for kind in before.applies_event_types),
        placeholder=_("All of them"),
        hint=_(
            "For a rule about work, choose deep work, shallow work and plan review. Family and meals stay as they are."
        ),
    )


def find_kind(record: ConstraintRecord | None) -> str:
    """Return the choice of a record's kind."""
    kind = None if record is None else record.payload.rule_kind
    if record is not None and record.payload.day_rule is not None:
        return DAY_RULE
    return WORDS_ONLY if kind is None else kind.value


def parse_kind(name: str) -> RuleKind | None:
    """Return the kind of a choice in ``KINDS``; ``None`` for those without one."""
    return None if name in {WORDS_ONLY, DAY_RULE} else RuleKind(name)


def _kind_fields(kind: RuleKind | None, before: ConstraintRecord | None) -> tuple[FormField, ...]:
    payload = Payload() if before is None or before.payload.rule_kind is not kind else before.payload
    if kind in WINDOWS:
        bed = kind is RuleKind.FIXED_BEDTIME
        return (
            TextField(
                name=Part.TIMES,
                label=_("From bedtime to getting up") if bed else _("Times of day"),
                value=format_windows(read_clocks(payload)),
                placeholder="22:30-6:30" if bed else "9-12, 14:30-16",
                hint="" if bed else _("Over midnight is fine: 22-6. Put commas between several."),
                max_length=MAX_WORDS_CHARS,
            ),
        )
    if kind in LENGTHS:
        length = read_length(payload, kind)
        return (
            TextField(
                name=Part.LENGTH,
                label=_(LENGTHS[kind]),
                value="" if length is None else format_minutes(length),
                placeholder="7 h 30"
                if kind is RuleKind.MIN_SLEEP
                else _("10 min")
                if kind is RuleKind.BUFFER
                else "4 h",
                max_length=MAX_RULE_NAME_CHARS,
            ),
        )
    return ()


def is_self_explanatory(record: ConstraintRecord) -> bool:
    """Check whether a record's words only repeat its rule about the order of the day."""
    return bool(record.payload.day_rule) and record.words == describe_payload_rule(record.payload)


def read_length(payload: Payload, kind: RuleKind) -> int | None:
    """Return the minutes of the record for a kind in ``LENGTHS``."""
    scalars = payload.scalar_params
    return scalars.duration_max if kind is RuleKind.CAPACITY else scalars.duration_min


def read_clocks(payload: Payload) -> tuple[tuple[time, time], ...]:
    """Return the times of day of the record's windows."""
    return tuple((window.start, window.end) for window in payload.windows)


SHORT = 60
"""Maximum length of a name that is derived from the words of a rule."""


def build_record(filled: Filled, before: ConstraintRecord | None) -> ConstraintRecord | None:
    """Return the filled-in record; ``None`` if there are errors, which are then in ``filled``.

    Only what was edited differs from ``before``. Edited times are local to wherever the person is.
    """
    payload = _read_payload(filled, filled.choice("kind") or find_kind(before), before)
    words = _read_words(filled, before, spoken=describe_payload_rule(payload))
    name = _read_name(filled, words, before)
    if _wants_all_blocks(filled, payload, before):
        filled.errors["blocks"] = _(
            "Please choose the kinds of blocks that you want at these times. For lunch, there is “{policy}”; for what"
            " you do at a certain time, “{routine}”.",
            policy=_(POLICY.label),
            routine=_(ROUTINE.label),
        )
    when = _read_applicability(filled, before)
    if filled.errors or payload is None or when is None:
        return None
    if before is not None and payload.windows != before.payload.windows:
        when = replace(when, timezone=None)
    base = read_limits(filled, before or ConstraintRecord(name=name, scope=Scope.PROFILE))
    if filled.errors:
        return None
    necessity = filled.choice("necessity")
    lasting = Scope.PROFILE if when.end_date is None else Scope.DATESPAN
    return replace(
        base,
        name=name,
        description=words,
        necessity=base.necessity if necessity is None else Necessity(necessity),
        applicability=when,
        payload=payload,
        applies_event_types=() if payload.day_rule else tuple(ET(code) for code in filled.many("blocks")),
        scope=base.scope if base.scope is Scope.SESSION else lasting,
    )


def _wants_all_blocks(filled: Filled, payload: Payload | None, before: ConstraintRecord | None) -> bool:
    """Check whether a rule that was written now wants all blocks at its times, which leaves none for the others."""
    if payload is None or payload.rule_kind is not RuleKind.PREFER_WINDOW or filled.many("blocks"):
        return False
    return before is None or before.payload.rule_kind is not RuleKind.PREFER_WINDOW or bool(before.applies_event_types)


def confirm_record(filled: Filled, record: ConstraintRecord) -> ConstraintRecord:
    """Return the record with full certainty, because the person wrote it down, unless they are not sure themselves."""
    return read_certainty(filled, replace(record, status=Status.LOCKED, source=Source.USER, confidence=1.0))


def _read_words(filled: Filled, before: ConstraintRecord | None, *, spoken: str) -> str:
    """Return the words of the rule. Words too long for the form are kept, unless their beginning was edited.

    ``spoken`` is used for a rule about the order of the day to which the person added no words.
    """
    needed = (
        None if spoken or DAY_RULE in filled.errors else _("Please say what the rule is, like “No calls before 10”.")
    )
    words = filled.text("words", MAX_WORDS_CHARS, needed=needed)
    if before is not None and words and words == before.words[:MAX_WORDS_CHARS].strip():
        return before.description
    return words or spoken


def _read_name(filled: Filled, words: str, before: ConstraintRecord | None) -> str:
    name = filled.text("name", MAX_RULE_NAME_CHARS)
    if before is None:
        return name or shorten(words, SHORT)
    if name and name != before.name[:MAX_RULE_NAME_CHARS].strip():
        return name
    return (
        shorten(words, SHORT)
        if is_self_explanatory(before) and before.name == shorten(before.words, SHORT)
        else before.name
    )


def _read_payload(filled: Filled, about: str, before: ConstraintRecord | None) -> Payload | None:
    kind = parse_kind(about)
    base = before.payload if before is not None and find_kind(before) == about else Payload(rule_kind=kind)
    if about == DAY_RULE:
        return read_day_rule_payload(filled, base)
    try:
        if kind in WINDOWS:
            return _with_times(filled, base, WINDOWS[kind])
        if kind in LENGTHS:
            return _with_length(filled, base, kind)
    except BadInput as error:
        filled.errors[Part.TIMES if kind in WINDOWS else Part.LENGTH] = error.message
        return None
    return base


def _with_times(filled: Filled, base: Payload, wanted: WindowKind) -> Payload:
    typed = filled.text(Part.TIMES, MAX_WORDS_CHARS, needed=_("Please say which times, like 9-12, 14:30-16."))
    if typed == format_windows(read_clocks(base)):
        return base
    windows = tuple(Window(kind=wanted, start=start, end=end) for start, end in parse_windows(typed))
    if len(windows) > MAX_TYPED_WINDOWS:
        raise BadInput(_("Please keep it to {most} times.", most=MAX_TYPED_WINDOWS))
    return replace(base, windows=windows)


def _with_length(filled: Filled, base: Payload, kind: RuleKind) -> Payload:
    typed = filled.text(Part.LENGTH, MAX_RULE_NAME_CHARS, needed=_("Please say how long, like 30 min or 7 h 30."))
    length = read_length(base, kind)
    if not typed or (length is not None and typed == format_minutes(length)):
        return base
    minutes = parse_minutes(typed, bare="h" if kind is RuleKind.MIN_SLEEP else "min")
    bound = "duration_max" if kind is RuleKind.CAPACITY else "duration_min"
    known = base.scalar_params.model_dump(exclude_none=True)
    return replace(base, scalar_params=ScalarParams.model_validate({**known, bound: minutes}))


def _read_applicability(filled: Filled, before: ConstraintRecord | None) -> Applicability | None:
    base = Applicability() if before is None else before.applicability
    start, end = filled.day("start_date"), filled.day("end_date")
    if start is not None and end is not None and end < start:
        filled.errors["end_date"] = _(
            "The last day, {day}, is before the first, {day_2}.", day=end.isoformat(), day_2=start.isoformat()
        )
        return None
    days = filled.many("days")
    week = tuple(day for day in WEEK if day.value in days)
    same_week = set(base.days_of_week) == set(week)
    return replace(base, start_date=start, end_date=end, days_of_week=base.days_of_week if same_week else week)
