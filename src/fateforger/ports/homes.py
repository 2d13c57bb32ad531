"""The people who have opened App Home, and the changes of what it shows them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class HomeState:
    """The App Home of a person: the number of changes so far, and Slack's ``hash`` of what it shows."""

    user_id: str
    changes: int
    hash: str


@dataclass(frozen=True, slots=True)
class HomeView:
    """The part of App Home that a person chose: a page of their queue, and the result of their last action there."""

    page: int = 1
    said: str = ""
    said_at: datetime | None = None


class Homes(Protocol):
    """The people who have opened App Home.

    Every commit of the store that changes what App Home shows counts a change of its person, in the same transaction.
    Raises :class:`~fateforger.errors.StoreError`.
    """

    async def open(self, user_id: str) -> HomeState:
        """Return the state of a person's App Home, which is kept current from now on."""
        ...

    async def find_view(self, user_id: str) -> HomeView:
        """Return the page and the result that a person sees."""
        ...

    async def turn_page(self, user_id: str, page: int) -> None:
        """Show another page of the queue from now on, to a person who has opened App Home."""
        ...

    async def keep_result(self, user_id: str, said: str, *, at: datetime) -> None:
        """Keep the result of an action, for a person who has opened App Home."""
        ...

    async def note_change(self, user_id: str) -> None:
        """Count a change of something that the store does not hold."""
        ...

    async def claim_due(self, now: datetime, *, until: datetime, limit: int = 20) -> tuple[HomeState, ...]:
        """Return those that do not show the latest state, the longest waiting first.

        Other programs leave them to the caller ``until`` then, unless they change again. Left out are people whom Slack
        cannot reach: where the app was removed, and deactivated accounts.
        """
        ...

    async def keep(self, state: HomeState, *, show_at: datetime) -> None:
        """Record what was published as of ``state``; it is due again at ``show_at``, or at the next change.

        Changes that were counted since ``state`` was read stay due.
        """
        ...
