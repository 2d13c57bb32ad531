"""A calendar of one's own behind the tool contract of google-calendar-mcp 2.6.3, kept on a CalDAV server.

Without a CalDAV address it brings its own server (Radicale). Any CalDAV program can read and write the same calendar.
"""

from fateforger.local.calendar.opening import LocalCalendar, LocalCalendarConfig, find_calendars, open_local_calendar

__all__ = ["LocalCalendar", "LocalCalendarConfig", "find_calendars", "open_local_calendar"]
