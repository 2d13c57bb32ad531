"""The fields of a rule, filled from a record."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import time
from enum import StrEnum

from fateforger.constraints import ConstraintRecord
from fateforger.constraints.kinds import Necessity, RuleKind, Weekday, WindowKind
from fateforger.constraints.record import Applicability, Payload
from fateforger.coordinator.forms.clocks import format_minutes, format_windows
from fateforger.coordinator.forms.day_rule_fields import DAY_RULE, LABEL, build_day_rule_fields, describe_payload_rule
from fateforger.plan import ET
from fateforger.session.cards import Choice, ChoiceField, DateField, FormField, ManyField, Note, TextField

MAX_WORDS = 2_000
MAX_NAME = 120
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
WINDOWS = {
    RuleKind.PREFER_WINDOW: WindowKind.PREFER,
    RuleKind.AVOID_WINDOW: WindowKind.AVOID,
    RuleKind.FIXED_BEDTIME: WindowKind.PREFER,
}
LENGTHS = {RuleKind.MIN_SLEEP: "At least", RuleKind.BUFFER: "At least", RuleKind.CAPACITY: "At most"}


class Part(StrEnum):
    """A field that a kind of rule needs in addition to the words."""

    TIMES = "times"
    LENGTH = "length"


def build_fields(
    before: ConstraintRecord | None, chosen: Mapping[str, str], *, named: bool = False
) -> tuple[FormField, ...]:
    """Return the fields, filled from a record; ``chosen`` holds the values of a form that changes to another kind."""
    name = chosen.get("kind") or find_kind(before)
    ordered = name == DAY_RULE
    return (
        *(build_day_rule_fields(before) if ordered else ()),
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
        *_kind_fields(parse_kind(name), before),
        *_when_fields(Applicability() if before is None else before.applicability),
        # The text of a rule about the order of the day names its blocks itself.
        *(() if ordered else (_blocks_field(before),)),
    )


def _words_field(before: ConstraintRecord | None, *, ordered: bool) -> TextField:
    return TextField(
        name="words",
        label="What it means to you, in your words" if ordered else "The rule, in your words",
        value="" if before is None or is_self_explanatory(before) else before.words,
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
                label="From bedtime to getting up" if bed else "Times of day",
                value=format_windows(read_clocks(payload)),
                placeholder="22:30-6:30" if bed else "9-12, 14:30-16",
                hint="" if bed else "Over midnight is fine: 22-6. Put commas between several.",
                max_length=MAX_WORDS,
            ),
        )
    if kind in LENGTHS:
        length = read_length(payload, kind)
        return (
            TextField(
                name=Part.LENGTH,
                label=LENGTHS[kind],
                value="" if length is None else format_minutes(length),
                placeholder="7 h 30" if kind is RuleKind.MIN_SLEEP else "10 min" if kind is RuleKind.BUFFER else "4 h",
                max_length=MAX_NAME,
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
