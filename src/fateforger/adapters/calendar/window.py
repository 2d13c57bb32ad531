"""Read a whole span of time from a server whose pages end at 250 events without saying so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from fateforger.adapters.calendar.arguments import Target, build_list_arguments, resolve_start
from fateforger.adapters.calendar.limits import PAGE_SIZE, SHORTEST_WINDOW
from fateforger.adapters.calendar.tools import CalendarTools, Refused
from fateforger.adapters.calendar.wire import EventsAnswer, Unreadable, read_event
from fateforger.errors import CalendarIncomplete, CalendarNotFound
from fateforger.ports import Window
from fateforger.sync.model import EventImage

_OVERLAP = timedelta(seconds=1)


async def read_window(tools: CalendarTools, target: Target, start: datetime, end: datetime) -> Window:
    """Return all live events that end after ``start`` and begin before ``end``, by start, then id.

    Raises :class:`~fateforger.errors.CalendarError`; ``CalendarIncomplete`` when the answer may not be complete.
    """
    start, end = start.astimezone(UTC), end.astimezone(UTC)
    if end <= start:
        return Window()
    left_out: set[str] = set()
    found = {event.id: event for event in await _read_span(tools, target, start, end, left_out)}

    def inside(event: EventImage) -> bool:
        begins, ends = (resolve_start(moment, target.time_zone) for moment in (event.start, event.end))
        # The calendar's own zone places all-day events, so the server's selection is used for those.
        return not event.gone and (event.all_day or (begins < end and ends > start))

    shown = sorted(filter(inside, found.values()), key=lambda e: (resolve_start(e.start, target.time_zone), e.id))
    return Window(shown, left_out)


async def _read_span(
    tools: CalendarTools, target: Target, start: datetime, end: datetime, left_out: set[str]
) -> list[EventImage]:
    events = await _read_page(tools, target, start, end, left_out)
    if len(events) < PAGE_SIZE:
        return events
    if end - start <= SHORTEST_WINDOW:
        raise CalendarIncomplete(
            f"More than {PAGE_SIZE - 1} events lie within a minute of {start:%Y-%m-%d %H:%M} UTC; "
            "the calendar server cannot show them all."
        )
    middle = (start + (end - start) / 2).replace(microsecond=0)
    # The halves overlap, or a zero-length event in the very middle would be in neither.
    return [
        *await _read_span(tools, target, start, middle + _OVERLAP, left_out),
        *await _read_span(tools, target, middle, end, left_out),
    ]


async def _read_page(
    tools: CalendarTools, target: Target, start: datetime, end: datetime, left_out: set[str]
) -> list[EventImage]:
    answer = await tools.ask("list-events", build_list_arguments(target, start, end), EventsAnswer)
    if isinstance(answer, Refused):
        raise answer.error
    if answer.partial_failures or answer.total_count != len(answer.events):
        raise CalendarIncomplete(
            f"{tools.server[:1].upper()}{tools.server[1:]} could read only a part of the calendar."
        )
    if target.account is None and len(answer.accounts) > 1:
        raise CalendarNotFound(
            f"The calendar server is logged in to several accounts ({', '.join(answer.accounts)}); "
            "say which one with FATEFORGER_CALENDAR_ACCOUNT."
        )
    left_out.update(event.summary for event in answer.left_out)
    try:
        return [read_event(event) for event in answer.events]
    except Unreadable as problem:
        raise tools.unreadable(problem).error from None
