"""The calendar of a day read as a plan (S76), and the person's changes adopted into ours (S202, S242)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from zoneinfo import ZoneInfo

from fateforger.calendar.comparison import describe_field
from fateforger.calendar.event import (
    EventImage,
    normalize_text,
)
from fateforger.calendar.model import Adopted, Ledger, Merged, Snapshot, SyncPlan
from fateforger.calendar.ownership import sort_sides
from fateforger.errors import BadInput
from fateforger.planning.plan import (
    COLOR_BY_TYPE,
    ET,
    MAX_DESCRIPTION,
    MAX_EVENTS,
    MAX_NAME,
    Resolved,
    TBEvent,
    TBPlan,
    resolve,
    type_of_color,
)
from fateforger.planning.timing import AfterPrevious, BeforeNext, FixedWindow, instant_of, local_day, zone
from fateforger.text import NO_TITLE, join_words, quote_title, truncate
from fateforger.values import replace


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
    title, notes = normalize_text(fields.summary) or NO_TITLE, normalize_text(fields.description)
    return TBEvent(
        name=truncate(title, MAX_NAME),
        description=truncate(notes, MAX_DESCRIPTION),
        type=type_of_color(fields.color_id),
        timing=build_window_timing(fields.start, fields.end, snapshot.day, zone(snapshot.tz)),
        key=key,
    )


def adopt_changes(plan: TBPlan, changes: Iterable[Adopted]) -> TBPlan:
    """Return the plan with the person's own changes.

    Moved, resized, renamed and recoloured blocks become as the calendar has them; deleted ones are dropped. Blocks that
    depended on one of those keep their time. The result may have overlaps, because a calendar may; ``resolve_strict``
    reports them. A title or notes that a plan cannot hold are not adopted.
    """
    adopted: dict[str, dict[str, str | None]] = {}
    for change in changes:
        adopted.setdefault(change.key, {})[change.field] = change.calendar
    deleted = {key for key, fields in adopted.items() if "deleted" in fields}
    moved = {key for key, fields in adopted.items() if fields.keys() & {"start", "end"}} | deleted
    resolved = resolve(plan)
    pinned = _find_dependents(resolved, moved)
    events: list[TBEvent] = []
    for block in resolved:
        if block.key in deleted:
            continue
        event = block.event
        if block.key in pinned and block.key not in moved:
            event = _set_times(event, block.start, block.end, plan)
        events.append(_change_event(event, block, adopted.get(block.key, {}), plan))
    return plan.replace(events)


def describe_changes(sync_plan: SyncPlan, tz: ZoneInfo) -> tuple[str, ...]:
    """Return one sentence per block that the person changed on the calendar, and per block where the plan won."""
    won: dict[str, list[Merged]] = {}
    for merged in sync_plan.merged:
        if merged.winner == "plan":
            won.setdefault(merged.key, []).append(merged)
    return (*describe_adopted(sync_plan.adopted, tz), *(_describe_won(fields, tz) for fields in won.values()))


def describe_adopted(adopted: Iterable[Adopted], tz: ZoneInfo) -> tuple[str, ...]:
    """Return one sentence for each block that the person changed on the calendar."""
    by_key: dict[str, list[Adopted]] = {}
    for change in adopted:
        by_key.setdefault(change.key, []).append(change)
    return tuple(_describe_adopted(changes, tz) for changes in by_key.values())


def _describe_won(fields: list[Merged], tz: ZoneInfo) -> str:
    words = join_words(describe_field(merged.field, merged.plan, tz) for merged in fields)
    return f"You had changed {quote_title(fields[0].summary)} on your calendar; I set {words}, as planned."


def _describe_adopted(changes: list[Adopted], tz: ZoneInfo) -> str:
    title = quote_title(changes[0].summary)
    if any(change.field == "deleted" for change in changes):
        return f"You deleted {title} on your calendar, so it stays deleted."
    words = join_words(describe_field(change.field, change.calendar, tz) for change in changes)
    return f"You changed {title} on your calendar, so I kept {words}."


def _change_event(event: TBEvent, block: Resolved, fields: dict[str, str | None], plan: TBPlan) -> TBEvent:
    update: dict[str, object] = {}
    title, notes, color = fields.get("summary"), fields.get("description"), fields.get("color_id")
    if title and len(title) <= MAX_NAME:
        update["name"] = title
    if notes is not None and len(notes) <= MAX_DESCRIPTION:
        update["description"] = notes
    if color in COLOR_BY_TYPE.values() and type_of_color(color) is not ET.BACKGROUND:
        update["type"] = type_of_color(color)
    event = event.model_copy(update=update)
    if not fields.keys() & {"start", "end"}:
        return event
    start, end = (datetime.fromisoformat(v) if (v := fields.get(n)) else None for n in ("start", "end"))
    return _set_times(event, start or block.start, end or block.end, plan)


def _set_times(event: TBEvent, start: datetime, end: datetime, plan: TBPlan) -> TBEvent:
    if start.astimezone(UTC) >= end.astimezone(UTC):
        return event
    timing = build_window_timing(start.astimezone(UTC), end.astimezone(UTC), plan.date, plan.zone)
    return replace(event, timing=timing)


def _find_dependents(resolved: tuple[Resolved, ...], moved: Collection[str]) -> set[str]:
    """Return the blocks whose time depends on one that moves or goes.

    That is the next one if it follows it, and the one before if it ends there. With them at fixed times, no further
    block moves.
    """
    chain = [block for block in resolved if block.event.type is not ET.BACKGROUND]
    pinned: set[str] = set()
    for place, block in enumerate(chain):
        if block.key not in moved:
            continue
        if place + 1 < len(chain) and isinstance(chain[place + 1].event.timing, AfterPrevious):
            pinned.add(chain[place + 1].key)
        if place and isinstance(chain[place - 1].event.timing, BeforeNext):
            pinned.add(chain[place - 1].key)
    return pinned
