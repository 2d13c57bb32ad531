"""All data about one person, in one place: to show to them, and to erase."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from fateforger.ports.owners import Closing

ERASING_LANE = "erasing"
"""The lane for requests to be forgotten; its job is the last of a person's data to go."""

Counts = Mapping[str, int]
"""The number of rows of each kind (:data:`KINDS`); kinds without any are left out."""

KINDS: Mapping[str, str] = {
    "constraints": "rules and what became of them",
    "index": "rules on their way to the search index, or out of it",
    "tasks": "tasks",
    "task_order": "notes of which task waits for which",
    "sessions": "planning sessions",
    "messages": "messages kept for Slack",
    "jobs": "jobs that wait or were given up",
    "receipts": "marks of what was taken in",
    "ratings": "ratings",
    "calendar_writes": "writes to the calendar",
    "calendar_ops": "single steps of these",
    "calendar_blocks": "notes of what was last written to the calendar",
    "event_ids": "event ids that were used",
    "calendars": "names of calendars",
    "agents": "agents and their tokens",
    "agent_calls": "calls of agents",
    "proposals": "proposals of agents",
    "ownership": "notes of whose calendar this is",
    "recordings": "recorded turns",
}
"""The kinds of data about a person, in words."""


class People(Protocol):
    """The data about people in the database. People are found by exact comparison of the id.

    ``calendar`` is the journal's name of a calendar known to be theirs; those that their sessions wrote to are found
    without it. Raises :class:`~fateforger.errors.StoreError`; ``BadInput`` for an impossible id.
    """

    async def count_held(self, user_id: str, *, calendar: str | None = None) -> Counts:
        """Return the number of rows of each kind."""
        ...

    async def export(self, user_id: str, *, calendar: str | None = None) -> Mapping[str, tuple[Mapping[str, Any], ...]]:
        """Return all data as plain JSON values, by kind. Tokens are omitted, even their hashes."""
        ...

    async def erase(
        self, user_id: str, *, now: datetime, calendar: str | None = None, closing: Closing | None = None
    ) -> Counts:
        """Delete all data permanently as one commit, and return the counts. The index follows.

        Only the fact of an erasure is kept, with the counts and the instant. With ``closing``, the calendar has no
        owner until a person claims it. Raises ``CalendarBusy`` while a write to their calendar is unfinished,
        ``StillAtWork`` while one of their jobs is running.
        """
        ...

    async def pending(self, user_id: str) -> int:
        """Return the number of their constraints that the index has yet to update."""
        ...

    async def scrub(self) -> None:
        """Remove deleted data from local files."""
        ...
