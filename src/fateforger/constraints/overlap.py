"""Check whether two constraints can meet: on the same days, about the same things, at the same time of day."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import time

from fateforger.constraints.kinds import WEEK, Scope, WindowKind
from fateforger.constraints.record import ConstraintRecord, Window
from fateforger.constraints.recurrence import list_weekdays
from fateforger.constraints.versions import Version

_DAY = 24 * 60
Span = tuple[int, int]


def can_meet(one: Version, other: Version) -> bool:
    """Check whether a day, a session and an event type can exist that both are about."""
    first, second = one.flat, other.flat
    same_place = one.record.scope is other.record.scope is Scope.SESSION and one.session_id == other.session_id
    lasting = not first.session_only and not second.session_only
    dates = first.start <= second.end and second.start <= first.end
    types = not first.event_types or not second.event_types or not first.event_types.isdisjoint(second.event_types)
    return (same_place or lasting) and dates and types and bool(possible_weekdays(one) & possible_weekdays(other))


def possible_weekdays(version: Version) -> frozenset[int]:
    """Return the weekdays on which a constraint can hold, as in ``date.weekday()``."""
    rule = version.flat.recurrence
    if rule is None:
        return version.flat.weekdays
    return version.flat.weekdays & {WEEK.index(day) for day in WEEK if day.value in list_weekdays(rule)}


def have_comparable_clocks(one: ConstraintRecord, other: ConstraintRecord) -> bool:
    """Check whether their clock times share a zone. One without a zone uses the planned day's, whatever that is."""
    zones = {one.applicability.timezone, other.applicability.timezone} - {None}
    return len(zones) < 2


def list_spans(record: ConstraintRecord, kind: WindowKind) -> list[Span]:
    """Return the windows of one kind as minutes of the day; one over midnight becomes two."""
    return [span for window in record.payload.windows if window.kind is kind for span in _split_window(window)]


def is_covered(wanted: Iterable[Span], by: Iterable[Span]) -> bool:
    """Check whether ``by`` covers all of ``wanted``."""
    minutes = {minute for begin, end in by for minute in range(begin, end)}
    return all(minute in minutes for begin, end in wanted for minute in range(begin, end))


def _split_window(window: Window) -> list[Span]:
    begin, end = _to_minute(window.start), _to_minute(window.end)
    if end > begin:
        return [(begin, end)]
    return [span for span in ((begin, _DAY), (0, end)) if span[0] < span[1]]


def _to_minute(clock: time) -> int:
    return clock.hour * 60 + clock.minute
