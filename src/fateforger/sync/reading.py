"""Read the calendar of a day as a plan (S76)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

from fateforger.errors import BadInput
from fateforger.plan import FixedWindow, TBEvent, TBPlan, instant_of, local_day, type_of_color, zone
from fateforger.plan.model import MAX_DESCRIPTION, MAX_EVENTS, MAX_NAME
from fateforger.sync.canonical import normalize_text
from fateforger.sync.model import EventImage, Ledger, Snapshot
from fateforger.sync.ownership import sort_sides


@dataclass(frozen=True, slots=True)
class CalendarDay:
    """The timed events of one local day. ``ids`` and ``owned`` correspond to ``plan.events`` one to one."""

    plan: TBPlan
    ids: tuple[str, ...]
    owned: tuple[bool, ...]


def plan_from_calendar(snapshot: Snapshot, ledger: Ledger | None = None) -> CalendarDay:
    """Return every event that takes up time of the local day, also one that began earlier, by start, then id.

    All-day, cancelled and zero-length events, and those shown as free, are left out. A title or notes longer than a
    plan allows are cut; a missing title becomes "(no title)". Our own blocks keep their key. Raises
    :class:`~fateforger.errors.BadInput` for a day with more events than a plan can have.
    """
    sides = sort_sides(snapshot, ledger or Ledger())
    keys = {o.event.id: o.key for o in sides.owned}
    events = select_day_events(snapshot)
    if len(events) > MAX_EVENTS:
        raise BadInput(f"There are {len(events)} events on {snapshot.day}; I can plan around {MAX_EVENTS} at most.")
    used: set[str] = set()
    blocks: list[TBEvent] = []
    for event in events:
        key = keys.get(event.id)
        blocks.append(_build_event(event, None if key in used else key, snapshot))
        used.add(key or "")
    plan = TBPlan(date=snapshot.day, tz=snapshot.tz, events=tuple(blocks))
    return CalendarDay(plan, tuple(e.id for e in events), tuple(e.id in keys for e in events))


def select_day_events(snapshot: Snapshot) -> tuple[EventImage, ...]:
    """Return the events that take up time of the local day, ordered by start, then id."""
    start, end = (instant.astimezone(UTC) for instant in local_day(snapshot.day, zone(snapshot.tz)))
    inside: list[tuple[datetime, str, EventImage]] = []
    for event in snapshot.events:
        first, last = event.start, event.end
        if not isinstance(first, datetime) or not isinstance(last, datetime) or event.gone or not event.busy:
            continue
        if first < end and last > start and first < last:
            inside.append((first, event.id, event))
    return tuple(event for _, _, event in sorted(inside, key=lambda item: item[:2]))


def build_window_timing(start: datetime, end: datetime, day: date, tz: ZoneInfo) -> FixedWindow:
    """Return a timing that means exactly these instants in a plan for ``day``.

    It uses clock times where they are unambiguous, otherwise a full date-time with offset (another day, or an hour that
    happens twice).
    """
    first = _get_clear_clock(start, day, tz)
    last = _get_clear_clock(end, day, tz) if isinstance(first, time) else None
    return FixedWindow(
        start=start.astimezone(tz) if first is None else first, end=end.astimezone(tz) if last is None else last
    )


def _get_clear_clock(instant: datetime, day: date, tz: ZoneInfo) -> time | None:
    local = instant.astimezone(tz)
    clear = local.date() == day and instant_of(local.replace(tzinfo=None, fold=0), tz).astimezone(UTC) == instant
    return local.time() if clear else None


def _build_event(event: EventImage, key: str | None, snapshot: Snapshot) -> TBEvent:
    fields = event.fields
    title, notes = normalize_text(fields.summary) or "(no title)", normalize_text(fields.description)
    return TBEvent(
        name=title if len(title) <= MAX_NAME else title[: MAX_NAME - 1] + "…",
        description=notes if len(notes) <= MAX_DESCRIPTION else notes[: MAX_DESCRIPTION - 1] + "…",
        type=type_of_color(fields.color_id),
        timing=build_window_timing(fields.start, fields.end, snapshot.day, zone(snapshot.tz)),
        key=key,
    )
