"""Calendars by Google's own interface, without a calendar server between: Calendar API v3 over HTTP, and OAuth."""
