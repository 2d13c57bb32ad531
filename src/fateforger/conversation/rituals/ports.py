"""Protocol of the store of people's choices, and of what became of each message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal, Protocol

from fateforger.conversation.rituals.schedule import Due, RitualSettings
from fateforger.ports.jobs import NewJob
from fateforger.session.queue_commands import RitualKind

Outcome = Literal["sent", "late", "quiet", "begun", "nothing"]
"""Outcome of a message: sent, or not sent because it was too late, the hours were quiet, or there was no use."""


@dataclass(frozen=True, slots=True)
class DueSettings:
    """The choices of a person, and the instant from which on a round is to look at them."""

    settings: RitualSettings
    look_at: datetime


class Rituals(Protocol):
    """The choices of people, and a mark for each message that is over. Each call is one commit.

    Raises :class:`~fateforger.errors.StoreError`.
    """

    async def list_due(self, now: datetime, *, limit: int) -> tuple[DueSettings, ...]:
        """Return the settings of which something may be due, those that have waited longest first.

        Left out are people whom Slack cannot reach: where the app was removed, and deactivated accounts.
        """
        ...

    async def look_again(self, due: DueSettings, at: datetime) -> None:
        """Leave a person alone until an instant, unless their settings or one of their plans have changed since."""
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
