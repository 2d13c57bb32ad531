"""Everything that is held about one person, in one place: to be shown to them, and to be erased."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from fateforger.ports.owners import Closing

ERASING_LANE = "erasing"
"""Where a person's wish to be forgotten waits; it goes last of all that is theirs."""

Counts = Mapping[str, int]
"""How many rows there are of each kind (:data:`KINDS`); kinds without any are left out."""

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
"""What there can be about a person, each kind in words."""


class People(Protocol):
    """What the database holds about people. A person is an id that is equal, character by character. ``calendar`` is
    the journal's name of a calendar that is known to be theirs; those that their sessions wrote to are found without.
    Raises :class:`~fateforger.errors.StoreError`; ``BadInput`` for an id that cannot be one."""

    async def held(self, user_id: str, *, calendar: str | None = None) -> Counts:
        """How much there is."""
        ...

    async def export(self, user_id: str, *, calendar: str | None = None) -> Mapping[str, tuple[Mapping[str, Any], ...]]:
        """All of it as plain JSON values, by kind. Of a token there is nothing: not even its hash."""
        ...

    async def erase(
        self, user_id: str, *, now: datetime, calendar: str | None = None, closing: Closing | None = None
    ) -> Counts:
        """Delete all of it for good as one commit, and say what there was. The index is told to follow. That something
        was erased is kept, with the counts and the instant and nothing else. With ``closing`` the calendar has no owner
        from then on until somebody claims it. Raises ``CalendarBusy`` while a write to their calendar is not finished,
        ``StillAtWork`` while something of theirs is being carried out."""
        ...

    async def pending(self, user_id: str) -> int:
        """How many of their constraints the index has still to follow."""
        ...

    async def scrub(self) -> None:
        """Let files of our own hold nothing more of what was deleted."""
        ...
