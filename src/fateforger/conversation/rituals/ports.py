"""Protocol of the store of people's choices, and of what became of each message."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from typing import Literal, Protocol

from fateforger.conversation.rituals.schedule import Due, RitualSettings
from fateforger.ports.jobs import NewJob
from fateforger.session.queue_commands import RitualKind

Outcome = Literal["sent", "late", "quiet", "begun", "nothing"]
"""Outcome of a message: sent, or not sent because it was too late, the hours were quiet, or there was no use."""


class Rituals(Protocol):
    """The choices of people, and a mark for each message that is over. Each call is one commit.

    Raises :class:`~fateforger.errors.StoreError`.
    """

    async def all(self) -> tuple[RitualSettings, ...]:
        """Return the settings of everyone who made a choice, in places that Slack can reach.

        It reaches no workspace that removed the app, and no deactivated account.
        """
        ...

    async def of(self, user_id: str) -> RitualSettings | None:
        """Return the settings of a person, if they made a choice."""
        ...

    async def change(self, user_id: str, change: Callable[[RitualSettings | None], RitualSettings]) -> RitualSettings:
        """Store what ``change`` returns for the settings as they are, with their new version, and return it."""
        ...

    async def find_marks(self, user_id: str, since: date) -> frozenset[tuple[RitualKind, date]]:
        """Return the messages of a person that are over, from a date on."""
        ...

    async def mark(
        self, settings: RitualSettings, due: Due, outcome: Outcome, *, now: datetime, job: NewJob | None = None
    ) -> bool:
        """Record what became of a message, together with the job that sends it.

        Returns ``False`` and changes nothing if that is recorded already, or if the settings have changed.
        """
        ...
