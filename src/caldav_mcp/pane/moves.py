"""A block dragged or stretched on the page: an edit of its event, as in any calendar program."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from zoneinfo import ZoneInfo

from caldav_mcp.display import clean_text
from caldav_mcp.errors import BadRequest, PreconditionFailed, ToolError
from caldav_mcp.limits import MAX_MOVE_MINUTES
from caldav_mcp.times import zone_named
from caldav_mcp.tools.calendars import Calendars, Named
from caldav_mcp.tools.read import shown_event
from caldav_mcp.tools.write import update_event


@dataclass(frozen=True)
class Move:
    """Minutes by which the start and the end of an event move, and the state of the event that the page shows."""

    event_id: str
    state: str
    start: timedelta
    end: timedelta

    @classmethod
    def read(cls, body: Any) -> Self:
        """Read what the page sends; raises `BadRequest`."""
        match body:
            case {"id": str(event_id), "state": str(state), "start": int(start), "end": int(end)} if event_id:
                if max(abs(start), abs(end)) <= MAX_MOVE_MINUTES:
                    return cls(event_id, state, timedelta(minutes=start), timedelta(minutes=end))
        raise BadRequest("Send the id and the state of an event, and by how many minutes its start and its end move.")


def state_of(event: dict[str, Any]) -> str:
    """Return a text that differs when an event, as the tools answer it, was changed."""
    return f"{event.get('etag')}{event.get('updated')}"


async def move_event(calendars: Calendars, move: Move) -> None:
    """Carry out a move unless the event was changed since the page read it; each end keeps its own zone.

    Raises `BadRequest`, or `ToolError` with a sentence about what the calendar refused.
    """
    named = Named("primary", calendars.primary)
    event = await shown_event(calendars, named, move.event_id)
    if event is None or event["status"] == "cancelled":
        raise ToolError("This event is no longer on the calendar, so it was not moved.")
    title = clean_text(event.get("summary", "")[:100])
    changed = ToolError(f"“{title}” was changed meanwhile, so it was not moved. This is how it is now.")
    if state_of(event) != move.state:
        raise changed
    if "date" in event["start"]:
        raise BadRequest("An all-day event has no time of day that could be moved.")
    given: dict[str, Any] = {
        side: _shift_time(event[side], by) for side, by in (("start", move.start), ("end", move.end))
    }
    given |= {"ifMatch": event["etag"]} if "etag" in event else {}
    given |= {"calendarId": "primary", "eventId": move.event_id, "checkConflicts": False}
    try:
        await update_event(calendars, given)
    except ToolError as error:
        if isinstance(error.__cause__, PreconditionFailed):
            raise changed from error
        sentence = f"The calendar did not take this move. It said: {str(error).rstrip('.')}."
        raise ToolError(sentence) from error


def _shift_time(side: dict[str, str], by: timedelta) -> str:
    zone = zone_named(side["timeZone"]) or ZoneInfo("UTC")
    moved = (datetime.fromisoformat(side["dateTime"]).astimezone(UTC) + by).astimezone(zone)
    return f'{{"dateTime": "{moved:%Y-%m-%dT%H:%M:%S}", "timeZone": "{zone.key}"}}'
