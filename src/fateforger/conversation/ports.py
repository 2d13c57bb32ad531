"""Interface of the conversation for Slack and for background work, and the calendars of people as it uses them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Protocol

from fateforger.calendar.access import WriteProgressCallback
from fateforger.calendar.conflicts import Choices
from fateforger.calendar.connections import ConnectionView
from fateforger.calendar.model import Ledger, SafetyCheckKind, Snapshot, SyncPlan
from fateforger.calendar.results import SyncResult
from fateforger.calendar.transactions import Transaction
from fateforger.drafting.solver import Optimum, Solution
from fateforger.planning.plan import TBPlan
from fateforger.ports.people import Claim, OwnerRecord
from fateforger.session.cards import Card, ProgressCallback
from fateforger.session.commands import Command, InboxCommand
from fateforger.session.commands.thread import Opening
from fateforger.session.forms import Click, Form, FormErrors, FormRequest, FormSubmission
from fateforger.session.model import Session

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

    async def of(self, user_id: str) -> Submitter: ...

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


Optimize = Callable[[Solution], Awaitable[Optimum | None]]
"""Return a placement that is as good or better, and what was proved; ``None`` when that failed."""


FindLink = Callable[[str, str], Awaitable[str | None]]
"""Returns the address of the message of a channel and time stamp, if it is known."""


class RuleReplies(Protocol):
    """Replies to commands about rules outside of sessions, for the form that shows them, in any program.

    Each call is one commit. Raises :class:`~fateforger.errors.StoreError`.
    """

    async def of(self, command_id: str) -> tuple[str, ...] | None:
        """Return the reply to a command; ``None`` if it was not carried out lately."""
        ...

    async def keep(self, user_id: str, command_id: str, lines: Sequence[str], *, at: datetime) -> None: ...


class CoordinatorPort(Protocol):
    """Handle commands; cards are sent through the outbox."""

    async def handle(self, command: InboxCommand, tell: ProgressCallback = ...) -> None:
        """Carry out a command once: a repeated ``command_id`` has no effect.

        The session and its messages are saved together. Raises ``StoreError`` only if nothing could be saved; the
        command can then be repeated. ``tell`` is called with the progress.
        """
        ...

    async def resume(self) -> None:
        """Resume the search for better drafts of a program that has ended. Raises ``StoreError``."""
        ...

    @property
    def reads_words(self) -> bool:
        """True if a model reads what people write."""
        ...

    async def on_opening(self, opening: Opening) -> bool:
        """Begin a session if a first message asks for a plan, on the day that it names. Repetitions have no effect.

        If there is a session by now, the message goes to that session. A message that is ``to_plan`` begins one in
        any case, unless it asks for something else that can be done. Returns ``False`` if nothing was done. Raises
        the errors of :meth:`handle`.
        """
        ...

    def stop(self, turn_id: str, asked_at: datetime) -> bool:
        """Ask the running turn of a session to stop, or the reading of a first message.

        Returns ``False`` if no turn that began before ``asked_at`` is running in this process. A turn without a write
        ends unchanged and says so; a turn that is writing to the calendar finishes, and says that.
        """
        ...

    def read_click(self, click: Click) -> Command:
        """Return the command of a control. Raises ``BadInput`` for an unknown control."""
        ...

    async def open_form(self, request: FormRequest) -> Form:
        """Return a form, filled with known values. Fast; accesses nothing outside of the database.

        Raises ``UserError`` if the form makes no sense now (the session ended, the block is gone).
        """
        ...

    async def read_form(self, submission: FormSubmission) -> Command | Form | FormErrors:
        """Return the command of a filled form, another form to show, or one error per invalid field. Fast."""
        ...

    async def is_carried_out(self, command: Command) -> bool:
        """Check whether a command was carried out or finally refused. Cheap enough for polling."""
        ...

    async def owner(self, session_id: str) -> str | None:
        """Return the user id of a session's person; ``None`` if there is no such session."""
        ...

    async def has_calendar(self, user_id: str) -> bool:
        """Check whether a person has a calendar to plan on: their own, or the configured one as its owner."""
        ...

    async def describe_connection(self, user_id: str, address: str = "") -> ConnectionView:
        """Return the connection of a person's calendar, and the link to change it.

        ``address`` is the mail address of the person, if it is known to be theirs.
        """
        ...

    async def join_calendar(self, user_id: str, address: str) -> str:
        """Connect the calendar that an administrator has opened to ``address``, and return what to tell the person."""
        ...

    async def disconnect_calendar(self, user_id: str) -> str:
        """Forget a person's login, end the access to their calendar, and return what to tell them."""
        ...

    async def calendar_owner(self) -> OwnerRecord:
        """Return the owner of the configured calendar. There may be no owner."""
        ...

    async def claim_calendar(self, user_id: str, code: str) -> Claim:
        """Make the person the owner of the calendar if the code is the one that the program printed when it started."""
        ...

    async def session_in_thread(self, channel: str, thread_ts: str) -> str | None:
        """Return the id of the session in a thread, if there is one."""
        ...

    async def find_open(self, channel: str, thread_ts: str, user_id: str) -> Session | None:
        """Return a person's session in a thread, if there is one and it has not ended."""
        ...

    async def is_beginning(self, user_id: str, channel: str, at: datetime) -> bool:
        """Check whether a person's session without a known thread was on its way to a channel at ``at``.

        Another program may have posted its first message already, so that the person can answer it.
        """
        ...

    def welcome(self, unread: str | None = None) -> Card:
        """Return the reply to a message outside of a session: one sentence and a start button.

        If there is no model to read the message, ``unread`` is its text, and the reply offers to keep it.
        """
        ...

    async def home(self, user_id: str, *, tz: str = "", find_link: FindLink | None = None) -> Card:
        """Return a person's App Home: their day, the others with the links to their threads, rules and queue.

        Without ``tz`` the zone is that of their latest plan.
        """
        ...
