"""Build a record from the fields of a rule. Anything that a form does not show is kept."""

from __future__ import annotations

from datetime import date

from fateforger.constraints import ConstraintRecord
from fateforger.constraints.kinds import WEEK, Necessity, RuleKind, Scope, Source, Status, WindowKind
from fateforger.constraints.record import Applicability, Payload, ScalarParams, Window
from fateforger.coordinator.forms.clocks import format_minutes, format_windows, parse_minutes, parse_windows
from fateforger.coordinator.forms.day_rule_fields import DAY_RULE, describe_payload_rule, read_day_rule_payload
from fateforger.coordinator.forms.reading import Filled
from fateforger.coordinator.forms.rule_fields import (
    LENGTHS,
    MAX_NAME,
    MAX_WORDS,
    WINDOWS,
    Part,
    find_kind,
    is_self_explanatory,
    parse_kind,
    read_clocks,
    read_length,
)
from fateforger.errors import BadInput
from fateforger.plan import ET
from fateforger.values import replace

SHORT = 60
"""Maximum length of a name that is derived from the words of a rule."""


def build_record(filled: Filled, before: ConstraintRecord | None, *, tz: str | None) -> ConstraintRecord | None:
    """Return the filled-in record; ``None`` if there are errors, which are then in ``filled``.

    Only what was edited differs from ``before``. Without ``tz`` the times are in the time zone of the planned day.
    """
    payload = _read_payload(filled, filled.choice("kind") or find_kind(before), before)
    words = _read_words(filled, before, spoken=describe_payload_rule(payload))
    name = _read_name(filled, words, before)
    when = _read_applicability(filled, before, tz)
    if filled.errors or payload is None or when is None:
        return None
    base = before or ConstraintRecord(name=name, scope=Scope.PROFILE)
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


def confirm(record: ConstraintRecord) -> ConstraintRecord:
    """Return the record with full certainty, because the person wrote it down."""
    return replace(record, status=Status.LOCKED, source=Source.USER, confidence=1.0)


def _read_words(filled: Filled, before: ConstraintRecord | None, *, spoken: str) -> str:
    """Return the words of the rule. Words too long for the form are kept, unless their beginning was edited.

    ``spoken`` is used for a rule about the order of the day to which the person added no words.
    """
    needed = None if spoken or DAY_RULE in filled.errors else "Please say what the rule is, like “No calls before 10”."
    words = filled.text("words", MAX_WORDS, needed=needed)
    if before is not None and words and words == before.words[:MAX_WORDS].strip():
        return before.description
    return words or spoken


def _read_name(filled: Filled, words: str, before: ConstraintRecord | None) -> str:
    name = filled.text("name", MAX_NAME)
    if before is None:
        return name or _shorten(words)
    if name and name != before.name[:MAX_NAME].strip():
        return name
    return _shorten(words) if is_self_explanatory(before) and before.name == _shorten(before.words) else before.name


def _shorten(words: str) -> str:
    flat = " ".join(words.split())
    return flat if len(flat) <= SHORT else f"{flat[: SHORT - 1].rstrip()}…"


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
    typed = filled.text(Part.TIMES, MAX_WORDS, needed="Please say which times, like 9-12, 14:30-16.")
    if typed == format_windows(read_clocks(base)):
        return base
    windows = tuple(Window(kind=wanted, start=start, end=end) for start, end in parse_windows(typed))
    if len(windows) > 20:
        raise BadInput("Please keep it to 20 times.")
    return replace(base, windows=windows)


def _with_length(filled: Filled, base: Payload, kind: RuleKind) -> Payload:
    typed = filled.text(Part.LENGTH, MAX_NAME, needed="Please say how long, like 30 min or 7 h 30.")
    length = read_length(base, kind)
    if not typed or (length is not None and typed == format_minutes(length)):
        return base
    minutes = parse_minutes(typed, bare="h" if kind is RuleKind.MIN_SLEEP else "min")
    bound = "duration_max" if kind is RuleKind.CAPACITY else "duration_min"
    known = base.scalar_params.model_dump(exclude_none=True)
    return replace(base, scalar_params=ScalarParams.model_validate({**known, bound: minutes}))


def _read_applicability(filled: Filled, before: ConstraintRecord | None, tz: str | None) -> Applicability | None:
    base = Applicability(timezone=tz) if before is None else before.applicability
    start, end = filled.day("start_date"), filled.day("end_date")
    if start is not None and end is not None and end < start:
        filled.errors["end_date"] = f"The last day, {_format_day(end)}, is before the first, {_format_day(start)}."
        return None
    days = filled.many("days")
    week = tuple(day for day in WEEK if day.value in days)
    same_week = set(base.days_of_week) == set(week)
    return replace(base, start_date=start, end_date=end, days_of_week=base.days_of_week if same_week else week)


def _format_day(day: date) -> str:
    return day.isoformat()
