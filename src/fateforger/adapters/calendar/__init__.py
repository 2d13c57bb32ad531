"""Calendars behind google-calendar-mcp or another server with the same tools."""
