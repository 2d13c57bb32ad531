"""The fields of a rule, and the record that they come to. What a form does not ask about stays as it was."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, time
from enum import StrEnum

from fateforger.constraints import ConstraintRecord
from fateforger.constraints.kinds import WEEK, Necessity, RuleKind, Scope, Source, Status, Weekday, WindowKind
from fateforger.constraints.record import Applicability, Payload, ScalarParams, Window
from fateforger.coordinator.forms.clocks import minutes_typed, typed_minutes, typed_windows, windows_typed
from fateforger.coordinator.forms.day_rule_fields import (
    DAY_RULE,
    LABEL,
    day_rule_fields,
    day_rule_payload,
    spoken_rule,
)
from fateforger.coordinator.forms.reading import Filled
from fateforger.errors import BadInput
from fateforger.plan import ET
from fateforger.session.cards import Choice, ChoiceField, DateField, FormField, ManyField, Note, TextField

MAX_WORDS = 2_000
MAX_NAME = 120
SHORT = 60
"""Characters of the name that a rule gets from its words."""
WORDS_ONLY = "words"
NECESSITIES = {
    Necessity.MUST: "Must: never break it",
    Necessity.SHOULD: "Should: break it only for a good reason",
    Necessity.PREFER: "If possible: nice to have",
}
KINDS: Mapping[str, str] = {
    WORDS_ONLY: "Just these words",
    RuleKind.PREFER_WINDOW: "A time of day that I want for it",
    RuleKind.AVOID_WINDOW: "A time of day to keep free of it",
    RuleKind.FIXED_BEDTIME: "When I go to bed and get up",
    RuleKind.MIN_SLEEP: "How much sleep I need",
    RuleKind.BUFFER: "A pause between blocks",
    RuleKind.SEQUENCING: "What comes before what",
    RuleKind.CAPACITY: "How much of it fits into a day",
    DAY_RULE: LABEL,
}
_WINDOWS = {
    RuleKind.PREFER_WINDOW: WindowKind.PREFER,
    RuleKind.AVOID_WINDOW: WindowKind.AVOID,
    RuleKind.FIXED_BEDTIME: WindowKind.PREFER,
}
_LENGTHS = {RuleKind.MIN_SLEEP: "At least", RuleKind.BUFFER: "At least", RuleKind.CAPACITY: "At most"}


class Part(StrEnum):
    """What a kind of rule asks for besides words."""

    TIMES = "times"
    LENGTH = "length"


def fields(before: ConstraintRecord | None, chosen: Mapping[str, str], *, named: bool = False) -> tuple[FormField, ...]:
    """The fields, filled from a record; ``chosen`` is what stands in a form that is shown anew for another kind."""
    name = chosen.get("kind") or kind_of(before)
    ordered = name == DAY_RULE
    return (
        *(day_rule_fields(before) if ordered else ()),
        _words_field(before, ordered=ordered),
        *(
            (TextField(name="name", label="Short name", value=before.name, max_length=MAX_NAME),)
            if named and before is not None
            else ()
        ),
        ChoiceField(
            name="necessity",
            label="How binding it is",
            choices=tuple(Choice(label=label, value=value.value) for value, label in NECESSITIES.items()),
            value=(Necessity.SHOULD if before is None else before.necessity).value,
        ),
        ChoiceField(
            name="kind",
            label="What it is about",
            choices=tuple(Choice(label=label, value=value) for value, label in KINDS.items()),
            value=name,
            turns=True,
        ),
        *_about(_kind(name), before),
        *_when_fields(Applicability() if before is None else before.applicability),
        # The text of a rule over the order of the day says itself which blocks it is about.
        *(() if ordered else (_blocks_field(before),)),
    )


def _words_field(before: ConstraintRecord | None, *, ordered: bool) -> TextField:
    return TextField(
        name="words",
        label="What it means to you, in your words" if ordered else "The rule, in your words",
        value="" if before is None or _speaks_for_itself(before) else before.words,
        placeholder="Calls are over by five" if ordered else "No calls before 10",
        multiline=True,
        optional=ordered,
        max_length=MAX_WORDS,
    )


def _when_fields(when: Applicability) -> tuple[FormField, ...]:
    return (
        ManyField(
            name="days",
            label="On which days of the week",
            choices=tuple(Choice(label=day.words, value=day.value) for day in Weekday),
            value=tuple(day.value for day in when.days_of_week),
            placeholder="Every day",
        ),
        *(
            (Note(text=f"It also follows a pattern that this form keeps: {when.recurrence}"),)
            if when.recurrence
            else ()
        ),
        DateField(name="start_date", label="First day", optional=True, value=when.start_date),
        DateField(name="end_date", label="Last day", optional=True, value=when.end_date),
    )


def _blocks_field(before: ConstraintRecord | None) -> ManyField:
    return ManyField(
        name="blocks",
        label="For which kinds of blocks",
        choices=tuple(Choice(label=kind.words.capitalize(), value=kind.value) for kind in ET),
        value=() if before is None else tuple(kind.value for kind in before.applies_event_types),
        placeholder="All of them",
    )


def kind_of(record: ConstraintRecord | None) -> str:
    """The choice that stands for a record's kind."""
    kind = None if record is None else record.payload.rule_kind
    if record is not None and record.payload.day_rule is not None:
        return DAY_RULE
    return WORDS_ONLY if kind is None else kind.value


def record(filled: Filled, before: ConstraintRecord | None, *, tz: str | None) -> ConstraintRecord | None:
    """The record that was filled in, or ``None`` when something is wrong; then ``filled`` has a sentence for each
    field. Nothing but what was changed differs from ``before``. Without ``tz`` its times are the planned day's own."""
    payload = _payload(filled, filled.choice("kind") or kind_of(before), before)
    words = _words(filled, before, spoken=spoken_rule(payload))
    name = _name(filled, words, before)
    when = _when(filled, before, tz)
    if filled.errors or payload is None or when is None:
        return None
    base = before or ConstraintRecord(name=name, scope=Scope.PROFILE)
    necessity = filled.choice("necessity")
    lasting = Scope.PROFILE if when.end_date is None else Scope.DATESPAN
    return base.model_copy(
        update={
            "name": name,
            "description": words,
            "necessity": base.necessity if necessity is None else Necessity(necessity),
            "applicability": when,
            "payload": payload,
            "applies_event_types": () if payload.day_rule else tuple(ET(code) for code in filled.many("blocks")),
            "scope": base.scope if base.scope is Scope.SESSION else lasting,
        }
    )


def confirmed(record: ConstraintRecord) -> ConstraintRecord:
    """What a person wrote down themselves is certain."""
    return record.model_copy(update={"status": Status.LOCKED, "source": Source.USER, "confidence": 1.0})


def _kind(name: str) -> RuleKind | None:
    return None if name in {WORDS_ONLY, DAY_RULE} else RuleKind(name)


def _about(kind: RuleKind | None, before: ConstraintRecord | None) -> tuple[FormField, ...]:
    payload = Payload() if before is None or before.payload.rule_kind is not kind else before.payload
    if kind in _WINDOWS:
        bed = kind is RuleKind.FIXED_BEDTIME
        return (
            TextField(
                name=Part.TIMES,
                label="From bedtime to getting up" if bed else "Times of day",
                value=windows_typed(_clocks(payload)),
                placeholder="22:30-6:30" if bed else "9-12, 14:30-16",
                hint="" if bed else "Over midnight is fine: 22-6. Put commas between several.",
                max_length=MAX_WORDS,
            ),
        )
    if kind in _LENGTHS:
        length = _length(payload, kind)
        return (
            TextField(
                name=Part.LENGTH,
                label=_LENGTHS[kind],
                value="" if length is None else minutes_typed(length),
                placeholder="7 h 30" if kind is RuleKind.MIN_SLEEP else "10 min" if kind is RuleKind.BUFFER else "4 h",
                max_length=MAX_NAME,
            ),
        )
    return ()


def _words(filled: Filled, before: ConstraintRecord | None, *, spoken: str) -> str:
    """Words longer than the form can show stay whole, unless their beginning was changed. What a rule over the order of
    the day says is ``spoken`` where the person gave it no words."""
    needed = None if spoken or DAY_RULE in filled.errors else "Please say what the rule is, like “No calls before 10”."
    words = filled.text("words", MAX_WORDS, needed=needed)
    if before is not None and words and words == before.words[:MAX_WORDS].strip():
        return before.description
    return words or spoken


def _speaks_for_itself(record: ConstraintRecord) -> bool:
    return bool(record.payload.day_rule) and record.words == spoken_rule(record.payload)


def _name(filled: Filled, words: str, before: ConstraintRecord | None) -> str:
    name = filled.text("name", MAX_NAME)
    if before is None:
        return name or _short(words)
    if name and name != before.name[:MAX_NAME].strip():
        return name
    return _short(words) if _speaks_for_itself(before) and before.name == _short(before.words) else before.name


def _short(words: str) -> str:
    flat = " ".join(words.split())
    return flat if len(flat) <= SHORT else f"{flat[: SHORT - 1].rstrip()}…"


def _payload(filled: Filled, about: str, before: ConstraintRecord | None) -> Payload | None:
    kind = _kind(about)
    base = before.payload if before is not None and kind_of(before) == about else Payload(rule_kind=kind)
    if about == DAY_RULE:
        return day_rule_payload(filled, base)
    try:
        if kind in _WINDOWS:
            return _with_times(filled, base, _WINDOWS[kind])
        if kind in _LENGTHS:
            return _with_length(filled, base, kind)
    except BadInput as error:
        filled.errors[Part.TIMES if kind in _WINDOWS else Part.LENGTH] = error.message
        return None
    return base


def _with_times(filled: Filled, base: Payload, wanted: WindowKind) -> Payload:
    typed = filled.text(Part.TIMES, MAX_WORDS, needed="Please say which times, like 9-12, 14:30-16.")
    if typed == windows_typed(_clocks(base)):
        return base
    windows = tuple(Window(kind=wanted, start=start, end=end) for start, end in typed_windows(typed))
    if len(windows) > 20:
        raise BadInput("Please keep it to 20 times.")
    return base.model_copy(update={"windows": windows})


def _with_length(filled: Filled, base: Payload, kind: RuleKind) -> Payload:
    typed = filled.text(Part.LENGTH, MAX_NAME, needed="Please say how long, like 30 min or 7 h 30.")
    length = _length(base, kind)
    if not typed or (length is not None and typed == minutes_typed(length)):
        return base
    minutes = typed_minutes(typed, bare="h" if kind is RuleKind.MIN_SLEEP else "min")
    bound = "duration_max" if kind is RuleKind.CAPACITY else "duration_min"
    known = base.scalar_params.model_dump(exclude_none=True)
    return base.model_copy(update={"scalar_params": ScalarParams.model_validate({**known, bound: minutes})})


def _length(payload: Payload, kind: RuleKind) -> int | None:
    scalars = payload.scalar_params
    return scalars.duration_max if kind is RuleKind.CAPACITY else scalars.duration_min


def _clocks(payload: Payload) -> tuple[tuple[time, time], ...]:
    return tuple((window.start, window.end) for window in payload.windows)


def _when(filled: Filled, before: ConstraintRecord | None, tz: str | None) -> Applicability | None:
    base = Applicability(timezone=tz) if before is None else before.applicability
    start, end = filled.day("start_date"), filled.day("end_date")
    if start is not None and end is not None and end < start:
        filled.errors["end_date"] = f"The last day, {_day(end)}, is before the first, {_day(start)}."
        return None
    days = filled.many("days")
    week = tuple(day for day in WEEK if day.value in days)
    same_week = set(base.days_of_week) == set(week)
    return base.model_copy(
        update={
            "start_date": start,
            "end_date": end,
            "days_of_week": base.days_of_week if same_week else week,
        }
    )


def _day(day: date) -> str:
    return day.isoformat()
