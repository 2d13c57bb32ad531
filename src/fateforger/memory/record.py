"""The stored form of a constraint: the ``constraint_record``, its flat projection, and its identity.

It has five groups: core, applicability (when), payload (what it asks for), lifecycle (what it replaces and how long it
lives), and routing. ``aspect_classification`` gives its part of life and its dependence on others. Dates are calendar
days of the planned day; clock times are in ``applicability.timezone``, or where the person is that day.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date, time, timedelta
from datetime import date as Date  # noqa: N812  as elsewhere
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    model_validator,
)

from fateforger.errors import BadInput
from fateforger.limits import (
    MAX_CODE_CHARS,
    MAX_DAY_RULE_CHARS,
    MAX_DESCRIPTION_CHARS,
    MAX_RECURRENCE_CHARS,
    MAX_RULE_TOPIC_CHARS,
    MAX_TITLE_CHARS,
    MAX_UID_CHARS,
    MAX_WINDOWS,
)
from fateforger.memory.vocabulary import (
    OTHER_TYPE,
    WEEK,
    Dimension,
    Necessity,
    RuleKind,
    Scope,
    Source,
    Status,
    Weekday,
    WindowKind,
    check_rule,
    normalize_stage,
)
from fateforger.planning.plan import ET
from fateforger.planning.timing import zone
from fateforger.text import gettext as _
from fateforger.text import join_words, quote_title
from fateforger.values import Value, replace
from fateforger.workflow.day_rules import read_day_rule, read_new_day_rule
from fateforger.workflow.rules import Rule, write_rule


def _check_stage(name: str) -> str:
    normalize_stage(name)
    return name


def _check_zone(name: str) -> str:
    return zone(name).key


def _check_recurrence(text: str) -> str:
    check_rule(text)
    return text


def _check_day_rule(text: str) -> str:
    return _write_day_rule(text, read_day_rule)


def _check_new_day_rule(text: str) -> str:
    return _write_day_rule(text, read_new_day_rule)


def _write_day_rule(text: str, read: Callable[[str], Rule]) -> str:
    try:
        return write_rule(read(text))
    except BadInput as error:
        raise ValueError(error.message if error.where is None else f"at {error.where}: {error.message}") from None


def _to_upper(value: object) -> object:
    return value.upper() if isinstance(value, str) else value


def _parse_clock(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        parsed = time.fromisoformat("00:00" if value.strip() in {"24:00", "24:00:00"} else value.strip())
    except ValueError:
        raise ValueError(f"“{value[:20]}” is not a time of day; write it like 09:30") from None
    if parsed.tzinfo is not None:
        raise ValueError(f"“{value[:40]}” has an offset; the zone of a window is applicability.timezone")
    return parsed


def _drop_repeats(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


Uid = Annotated[str, Field(min_length=1, max_length=MAX_UID_CHARS)]
Label = Annotated[str, Field(min_length=1, max_length=MAX_RULE_TOPIC_CHARS)]
Stage = Annotated[str, AfterValidator(_check_stage)]
EventType = Annotated[ET, BeforeValidator(_to_upper)]
DayRuleText = Annotated[str, Field(max_length=MAX_DAY_RULE_CHARS), AfterValidator(_check_new_day_rule)]
KeptDayRuleText = Annotated[str, Field(max_length=MAX_DAY_RULE_CHARS), AfterValidator(_check_day_rule)]
Clock = Annotated[
    time,
    BeforeValidator(_parse_clock),
    PlainSerializer(lambda t: t.isoformat("auto" if t.second else "minutes"), return_type=str),
]


class Applicability(Value):
    """When it applies. Both dates are inclusive, ``None`` is unbounded; no weekdays means every day."""

    start_date: Date | None = None
    end_date: Date | None = None
    days_of_week: Annotated[
        tuple[Annotated[Weekday, BeforeValidator(_to_upper)], ...], AfterValidator(_drop_repeats)
    ] = ()
    timezone: Annotated[str, AfterValidator(_check_zone)] | None = None
    recurrence: Annotated[str, Field(max_length=MAX_RECURRENCE_CHARS), AfterValidator(_check_recurrence)] | None = None

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> Self:
        if self.start_date and self.end_date and self.end_date < self.start_date:
            raise ValueError(f"it would end on {self.end_date}, before it begins on {self.start_date}")
        return self

    def within_dates(self, day: Date) -> bool:
        """Check whether ``day`` lies between the two dates."""
        if self.start_date is not None and day < self.start_date:
            return False
        return self.end_date is None or day <= self.end_date


class Window(Value):
    """A time of day that is wanted or not. An end that is not after the start means the next day."""

    kind: WindowKind
    start: Clock = Field(
        validation_alias=AliasChoices("start_time_local", "start_local", "local_start", "start"),
        serialization_alias="start_time_local",
    )
    end: Clock = Field(
        validation_alias=AliasChoices("end_time_local", "end_local", "local_end", "end"),
        serialization_alias="end_time_local",
    )


class ScalarParams(BaseModel):
    """Numbers of the rule, in minutes. What else a stored row holds here is kept as it is."""

    model_config = ConfigDict(frozen=True, extra="allow")
    duration_min: int | None = Field(None, ge=0)
    duration_max: int | None = Field(None, ge=0)
    contiguity: str | None = Field(None, max_length=MAX_CODE_CHARS)

    @model_validator(mode="after")
    def _can_be_met(self) -> Self:
        if self.duration_min is not None and self.duration_max is not None and self.duration_min > self.duration_max:
            raise ValueError(f"at least {self.duration_min} and at most {self.duration_max} minutes cannot both be met")
        return self


class Payload(Value):
    """What it asks for. ``day_rule`` is a rule over the order of the day in the rule language, like ``BEFORE deep_work:
    admin_done``; it is left out where there is none, so that documents without one stay as they are.
    """

    rule_kind: RuleKind | None = None
    scalar_params: ScalarParams = ScalarParams()
    windows: tuple[Window, ...] = Field((), max_length=MAX_WINDOWS)
    day_rule: KeptDayRuleText | None = Field(None, exclude_if=lambda text: text is None)


class Lifecycle(Value):
    """``uid`` names it for good. It applies on the day it was last confirmed, and for ``ttl_days`` days after it."""

    uid: Uid | None = None
    supersedes_uids: tuple[Uid, ...] = ()
    ttl_days: int | None = Field(None, ge=0)

    @property
    def kept_days(self) -> int | None:
        """The number of days that it applies, as people count them: the day it was confirmed is the first."""
        return None if self.ttl_days is None else self.ttl_days + 1

    def count_from(self, confirmed: Date) -> Date | None:
        """Return the last day of a constraint that was confirmed on a day; ``None`` if it has no time to live."""
        if self.ttl_days is None:
            return None
        return confirmed + timedelta(days=min(self.ttl_days, (date.max - confirmed).days))


class Aspect(Value):
    """The part of life it is about, and what it depends on: it applies only when each aspect of
    ``conditional_on_present`` is part of the day and none of ``conditional_on_absent``, and while it applies, what is
    about ``excludes_aspect_ids`` does not. ``category`` is the domain; ``frame_slot`` names what one has one of.
    """

    aspect_id: Label | None = None
    aspect_label: str | None = None
    category: str | None = None
    frame_slot: str | None = None
    is_startup_prefetch: bool = False
    schedule_start: Clock | None = None
    schedule_end: Clock | None = None
    duration_min: int | None = Field(None, ge=0)
    is_conditional: bool = False
    conditional_on_absent: tuple[Label, ...] = ()
    conditional_on_present: tuple[Label, ...] = ()
    excludes_aspect_ids: tuple[Label, ...] = ()
    dimension: Dimension | None = None

    @property
    def depends(self) -> bool:
        """Check whether it depends on what else is part of the day."""
        return bool(self.conditional_on_absent or self.conditional_on_present)


class ConstraintRecord(Value):
    """One constraint of one person. ``description`` holds the person's own words."""

    name: str = Field(min_length=1, max_length=MAX_TITLE_CHARS)
    description: str = Field("", max_length=MAX_DESCRIPTION_CHARS)
    necessity: Necessity = Necessity.SHOULD
    status: Status = Status.PROPOSED
    source: Source = Source.USER
    scope: Scope = Scope.SESSION
    confidence: float | None = Field(None, ge=0, le=1)
    needs_confirmation: Annotated[bool, Field(exclude_if=lambda flag: not flag)] = False
    """The person is to be asked about it, whatever the confidence."""
    topics: tuple[Label, ...] = ()
    applicability: Applicability = Applicability()
    payload: Payload = Payload()
    lifecycle: Lifecycle = Lifecycle()
    applies_stages: tuple[Stage, ...] = ()
    applies_event_types: tuple[EventType, ...] = ()
    aspect: Aspect | None = Field(None, alias="aspect_classification")

    @model_validator(mode="before")
    @classmethod
    def _routing_may_be_a_group(cls, document: object) -> object:
        """Accept the two routing fields also as a ``routing`` group."""
        if not isinstance(document, Mapping) or not isinstance(document.get("routing"), Mapping):
            return document
        return {**{name: value for name, value in document.items() if name != "routing"}, **document["routing"]}

    @property
    def uid(self) -> str:
        """The uid. Records inside a version always have one."""
        if self.lifecycle.uid is None:
            raise ValueError(f"“{self.name}” is not stored yet, so it has no uid")
        return self.lifecycle.uid

    @property
    def type_id(self) -> str:
        """The rule kind, or ``other``."""
        return OTHER_TYPE if self.payload.rule_kind is None else self.payload.rule_kind.value

    @property
    def dimension(self) -> Dimension:
        """The kind of the statement, known without a model.

        Without an explicit kind, typed fields that ask for something state a policy, and words alone a state.
        """
        if self.aspect is not None and self.aspect.dimension is not None:
            return self.aspect.dimension
        slot = self.aspect is not None and self.aspect.frame_slot is not None
        return Dimension.POLICY if slot or has_rule(self) else Dimension.STATE

    @property
    def words(self) -> str:
        """The person's words, or the name if they are unknown."""
        return self.description.strip() or self.name.strip()

    def find_last_day(self, confirmed: Date) -> Date | None:
        """Return the last day on which it can apply, if it was confirmed on a day; ``None`` if it has no end."""
        ends = (self.applicability.end_date, self.lifecycle.count_from(confirmed))
        return min((day for day in ends if day is not None), default=None)

    def with_uid(self, uid: str) -> ConstraintRecord:
        return replace(self, lifecycle=replace(self.lifecycle, uid=uid))


_EVERY_DAY = frozenset(range(7))


@dataclass(frozen=True, slots=True)
class Flat:
    """The fields that decide whether a record applies.

    Unbounded dates are ``date.min`` and ``date.max``. ``weekdays`` are those of ``date.weekday()``. Empty stages or
    event types mean all.
    """

    declined: bool
    session_only: bool
    start: date
    end: date
    weekdays: frozenset[int]
    recurrence: str | None
    ttl_days: int | None
    stages: frozenset[str]
    event_types: frozenset[str]
    type_id: str
    supersedes: tuple[str, ...]
    merit: tuple[int, bool, float]
    """Necessity, status and confidence, smaller is better; an unknown confidence is worse than any known one."""


def flatten(record: ConstraintRecord) -> Flat:
    when = record.applicability
    return Flat(
        declined=record.status is Status.DECLINED,
        session_only=record.scope is Scope.SESSION,
        start=when.start_date or date.min,
        end=when.end_date or date.max,
        weekdays=frozenset(WEEK.index(day) for day in when.days_of_week) or _EVERY_DAY,
        recurrence=when.recurrence,
        ttl_days=record.lifecycle.ttl_days,
        stages=frozenset(map(normalize_stage, record.applies_stages)),
        event_types=frozenset(kind.value for kind in record.applies_event_types),
        type_id=record.type_id,
        supersedes=record.lifecycle.supersedes_uids,
        merit=(
            record.necessity.weakness,
            record.status is not Status.LOCKED,
            1.0 if record.confidence is None else -record.confidence,
        ),
    )


def build_filter_fields(record: ConstraintRecord) -> dict[str, Any]:
    """Return the filter fields as scalars that any store compares alike.

    Dates are numbers, sets read ``|MO|TU|``, and nothing is null.
    """
    flat = flatten(record)
    return {
        "uid": record.uid,
        "status": record.status.value,
        "scope": record.scope.value,
        "necessity": record.necessity.value,
        "type_id": flat.type_id,
        "start_day": _to_number(flat.start) if flat.start > date.min else 0,
        "end_day": _to_number(flat.end),
        "days": _join_set(day.value for day in WEEK if WEEK.index(day) in flat.weekdays),
        "stages": _join_set(sorted(flat.stages)),
        "event_types": _join_set(sorted(flat.event_types)),
        "topics": _join_set(record.topics),
    }


def _to_number(day: date) -> int:
    return day.year * 10_000 + day.month * 100 + day.day


def _join_set(values: Any) -> str:
    return "".join(f"|{value}" for value in values) + "|"


_TYPED = frozenset(
    {RuleKind.AVOID_WINDOW, RuleKind.FIXED_BEDTIME, RuleKind.MIN_SLEEP, RuleKind.BUFFER, RuleKind.CAPACITY}
)
"""Kinds that are fully described by times, minutes and event types. The others also depend on their words."""


def compute_uid(record: ConstraintRecord, user_id: str, session_id: str | None = None) -> str:
    """Return the uid of a constraint that has none yet: ``tb_`` and 40 hexadecimal digits.

    Another person, rule, window, date range, weekday or zone gives another uid; another description, necessity, status,
    confidence or routing does not. The uid of a constraint of one session also depends on that session.
    """
    place = session_id if record.scope is Scope.SESSION else None
    return f"tb_{_digest({'user': user_id, 'session': place, **_build_rule_material(record)})[:40]}"


def compute_content_key(record: ConstraintRecord) -> str:
    """Return a key that is equal for records with the same content and words, whatever their uid, status or history."""
    said = {
        "description": _fold(record.description),
        "necessity": record.necessity,
        "topics": sorted(record.topics),
        "stages": sorted(record.applies_stages),
        "types": sorted(record.applies_event_types),
        "ttl": record.lifecycle.ttl_days,
        "aspect": record.aspect and record.aspect.model_dump(mode="json"),
    }
    return _digest({**said, **_build_rule_material(record)})


def compute_rule_key(record: ConstraintRecord) -> str:
    """Return a key that is equal for records that ask for the same, whatever their names and time zones."""
    return _digest(
        {name: value for name, value in _build_rule_material(record).items() if name not in {"name", "scope", "zone"}}
    )


def have_comparable_clocks(one: ConstraintRecord, other: ConstraintRecord) -> bool:
    """Check whether their clock times share a zone. One without a zone uses the planned day's, whatever that is."""
    zones = {one.applicability.timezone, other.applicability.timezone} - {None}
    return len(zones) < 2


def has_rule(record: ConstraintRecord) -> bool:
    """Check whether typed fields of a record ask for something, besides its words."""
    payload = record.payload
    return bool(payload.rule_kind or payload.windows or payload.day_rule)


def asks_the_same(one: ConstraintRecord, other: ConstraintRecord) -> bool:
    """Check whether the typed fields of two records ask for the same; words alone never do."""
    return has_rule(one) and have_comparable_clocks(one, other) and compute_rule_key(one) == compute_rule_key(other)


def means_the_same(one: ConstraintRecord, other: ConstraintRecord) -> bool:
    """Check whether two records are one constraint in other words, or in another language.

    They are if both are fully described by their typed fields, and these are equal. For rules whose meaning is in their
    words, only the person can tell, unless they have the same name, too.
    """
    if one.scope is not other.scope or not have_comparable_clocks(one, other):
        return False
    if not (is_typed(one) and is_typed(other)) and _fold(one.name) != _fold(other.name):
        return False
    alike = set(one.applies_event_types) == set(other.applies_event_types) and one.necessity is other.necessity
    return alike and _get_slot(one) == _get_slot(other) and compute_rule_key(one) == compute_rule_key(other)


def is_typed(record: ConstraintRecord) -> bool:
    """Check whether the typed fields of a record say all of it, so that its words add nothing."""
    scalars = record.payload.scalar_params.model_dump(exclude_none=True)
    whole = _get_slot(record) is not None or record.payload.rule_kind in _TYPED
    return record.payload.day_rule is not None or (whole and bool(record.payload.windows or scalars))


def _get_slot(record: ConstraintRecord) -> str | None:
    return None if record.aspect is None else record.aspect.frame_slot


def _build_rule_material(record: ConstraintRecord) -> dict[str, Any]:
    when, payload, aspect = record.applicability, record.payload, record.aspect
    return {
        "name": _fold(record.name),
        "scope": record.scope,
        "kind": payload.rule_kind,
        "scalars": payload.scalar_params.model_dump(mode="json", exclude_none=True),
        "windows": sorted([w.kind, w.start.isoformat(), w.end.isoformat()] for w in payload.windows),
        "dates": [when.start_date and when.start_date.isoformat(), when.end_date and when.end_date.isoformat()],
        "days": sorted(when.days_of_week),
        "recurrence": when.recurrence,
        "zone": when.timezone,
        "condition": None if aspect is None or not aspect.depends else _sort_condition(aspect),
        # Left out if absent: existing uids were computed without it.
        **({} if payload.day_rule is None else {"day_rule": payload.day_rule}),
    }


def _sort_condition(aspect: Aspect) -> list[list[str]]:
    return [sorted(aspect.conditional_on_present), sorted(aspect.conditional_on_absent)]


_CODES = frozenset(kind.value for kind in ET)


def fold_label(label: str) -> str:
    """Return a label of a part of the day as conditions and situations compare it: a kind of block, or a title."""
    return label if label in _CODES else _fold(label)


def name_label(label: str) -> str:
    """Return a part of the day that a condition names: a kind of block by its name, or a title."""
    kind = next((each for each in ET if each.value == label), None)
    return quote_title(label) if kind is None else kind.words


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold()


def _digest(material: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(material, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def describe_days(record: ConstraintRecord) -> str:
    """Return its days in words, such as ``on Monday and Friday``; empty for every day."""
    days = record.applicability.days_of_week
    if days:
        return _("on {days}", days=join_words([day.words for day in Weekday if day in days]))
    return _("on recurring dates") if record.applicability.recurrence else ""
