"""How long and how much: the limits of talking to a calendar server."""

from __future__ import annotations

from datetime import timedelta

CALL_SECONDS = 10.0
"""One tool call. The server gives Google 3 s a request, and an update is three requests."""

WRITE_SECONDS = 14.0
"""One write of the port, the look before it and a second try included. Less than what has to be left of the lease when
a write begins (``commit.limits``), so that none outlives its lease."""

OPEN_SECONDS = 10.0
"""Opening a session with a server that is already running."""

START_SECONDS = 60.0
"""Starting a server by its command line; a package runner may have to fetch it first."""

CLOSE_SECONDS = 5.0
"""Saying goodbye; after that the connection is cut."""

CALLS_AT_ONCE = 4
"""Tool calls under way together, per calendar."""

BUDGET_PATIENCE = 5.0
"""How long a question waits for the login's budget of requests before it is refused."""

PAGE_SIZE = 250
"""A page of this many events is cut off: the server does not page on and does not say so."""

SHORTEST_WINDOW = timedelta(minutes=1)
"""A window this short that still fills a page is given up."""
