"""A calendar of one's own behind the tool contract of google-calendar-mcp 2.6.3, kept on a CalDAV server.

Without a CalDAV address it brings its own server (Radicale). Any CalDAV program can read and write the same calendar.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from caldav_mcp.local_calendar import (
        LocalCalendar,
        LocalCalendarConfig,
        find_calendars,
        open_local_calendar,
    )

__all__ = ["LocalCalendar", "LocalCalendarConfig", "find_calendars", "open_local_calendar"]


def __getattr__(name: str) -> Any:
    """Load the servers when they are asked for: the process that expands series needs none of them."""
    if name not in __all__:
        raise AttributeError(name)
    from caldav_mcp import local_calendar  # noqa: PLC0415  takes more than a second

    return getattr(local_calendar, name)
