"""The fields that filters use, as a flat projection of the record, so that the two always agree (S13)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from fateforger.constraints.kinds import WEEK, Scope, Status, normalize_stage
from fateforger.constraints.record import ConstraintRecord

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
    """Return the projection of a record."""
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
