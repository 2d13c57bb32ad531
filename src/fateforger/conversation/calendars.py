"""Ports to the calendars of people, as the conversation uses them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import date
from typing import Any, Protocol

from fateforger.calendar.access import WriteProgressCallback
from fateforger.calendar.connections import ConnectionView
from fateforger.calendar.merge import Choices
from fateforger.calendar.model import Ledger, SafetyCheckKind, Snapshot, SyncPlan
from fateforger.calendar.results import SyncResult
from fateforger.calendar.transactions import Transaction
from fateforger.planning.plan import TBPlan

Read = Callable[[date, str], Awaitable[tuple[Snapshot, Ledger]]]
"""Read a day in an IANA time zone. Raises ``WorldError``."""


class Submitter(Protocol):
    """One person's calendar: the part of :class:`fateforger.calendar.submitter.CalendarSubmitter` that turns need."""

    @property
    def read(self) -> Read: ...

    async def preview(self, plan: TBPlan, *, choices: Choices = ...) -> SyncPlan: ...

    async def history(self, day: date) -> tuple[Transaction, ...]: ...

    async def find_out(self, transaction_id: str) -> SyncResult | None: ...

    async def submit_plan(
        self,
        plan: TBPlan,
        *,
        cause: str,
        group: str | None = None,
        context: dict[str, Any] | None = None,
        confirmed: Collection[SafetyCheckKind] = (),
        choices: Choices = ...,
        told: WriteProgressCallback = ...,
    ) -> SyncResult: ...

    async def take_note(self, plan: TBPlan, *, cause: str, group: str | None = None) -> None: ...

    async def take_back_late(self, *, cause: str) -> tuple[str, ...]: ...

    async def undo_since(
        self,
        transaction_id: str,
        *,
        cause: str,
        newest: str | None = None,
        context: Mapping[str, Any] | None = None,
        told: WriteProgressCallback = ...,
    ) -> SyncResult: ...

    async def undo_group(
        self, group: str, *, cause: str, context: Mapping[str, Any] | None = None, told: WriteProgressCallback = ...
    ) -> SyncResult: ...


class WatchedCalendar(Protocol):
    """One person's calendar for reads in the background, which leave the quota to those that people wait for."""

    @property
    def read(self) -> Read: ...

    @property
    def writing(self) -> bool: ...

    async def late(self) -> tuple[str, ...]: ...


class Calendars(Protocol):
    """The calendar of each person.

    Somebody without a calendar has one that answers each read and write with
    :class:`~fateforger.errors.CalendarNotConnected`. Raises ``StoreError``.
    """

    async def of(self, user_id: str) -> Submitter:
        """Return a person's calendar."""
        ...

    async def is_connected(self, user_id: str) -> bool:
        """Check whether a person has a calendar."""
        ...

    async def describe(self, user_id: str, address: str = "") -> ConnectionView:
        """Return a person's connection, the link to change it, and what is offered to their mail ``address``."""
        ...

    async def join(self, user_id: str, address: str) -> str:
        """Connect the calendar that an administrator has opened to ``address``, and return what to tell the person.

        The address is known to be theirs.
        """
        ...

    async def disconnect(self, user_id: str) -> str:
        """Forget a person's login, end the access to their calendar, and return what to tell them."""
        ...

    async def get_watched(self, user_id: str) -> WatchedCalendar:
        """Return a person's calendar for reads in the background."""
        ...
