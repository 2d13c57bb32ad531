"""Time and size limits of talking to a calendar server."""

from __future__ import annotations

from datetime import timedelta

CALL_SECONDS = 10.0
"""Seconds for one tool call. The server gives Google 3 s a request, and an update is three requests."""

WRITE_SECONDS = 14.0
"""Seconds for one write of the port, including the read before it and a second try. Shorter than what must be left of
the lease when a write starts (``commit.limits``), so that no write outlives its lease."""

OPEN_SECONDS = 10.0
"""Seconds to open a session with a server that is already running."""

START_SECONDS = 60.0
"""Seconds to start a server by its command line; a package runner may have to download it first."""

CLOSE_SECONDS = 5.0
"""Seconds for an orderly close; after that the connection is cut."""

CALLS_AT_ONCE = 4
"""Concurrent tool calls per calendar."""

BUDGET_PATIENCE = 5.0
"""Seconds a read waits for the login's request budget before it is refused."""

PAGE_SIZE = 250
"""A page with this many events is truncated: the server neither pages on nor says so."""

SHORTEST_WINDOW = timedelta(minutes=1)
"""The shortest window to split; one this short that still fills a page is an error."""
