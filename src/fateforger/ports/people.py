"""Data about people, to show and to erase, their App Home, and the stored owner of the calendar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, auto
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class OwnerRecord:
    """The data about the owner of the calendar. Without a ``person`` the calendar is unclaimed, or closed.

    ``origin`` says how ``person`` became the owner, ``since`` when. ``closed_at`` is set when the owner was erased;
    ``closed_for`` is a salted hash of the person named in the settings at that time. ``code_salt`` is the salt of the
    current claim code, if there is one.
    """

    person: str | None = None
    origin: str | None = None
    since: datetime | None = None
    closed_at: datetime | None = None
    closed_for: str | None = None
    code_salt: str | None = None

    @property
    def closed(self) -> bool:
        """True if the calendar has no owner because that person was erased."""
        return self.person is None and self.closed_at is not None


class Claim(Enum):
    """The result of presenting a code. The last three are found without the store."""

    CLAIMED = auto()
    WRONG = auto()
    WRONG_FOR_THE_LAST_TIME = auto()
    NO_CODE = auto()
    ALREADY_YOURS = auto()
    TAKEN = auto()
    TOO_SOON = auto()


class Owners(Protocol):
    """The one record of the calendar's owner. Each call is one commit and reads one row.

    Raises :class:`~fateforger.errors.StoreError`. An owner is erased by :meth:`fateforger.ports.people.People.erase`.
    """

    async def read(self) -> OwnerRecord: ...

    async def offer(self, code_hash: str, salt: str, *, tries: int) -> None:
        """Offer the code with that hash for one claim; an earlier code becomes void.

        The code also becomes void after ``tries`` wrong ones.
        """
        ...

    async def claim(self, user_id: str, code_hash: str, *, now: datetime) -> Claim:
        """Make the person the owner if the hash is that of the code on offer; a wrong one costs a try."""
        ...


@dataclass(frozen=True, slots=True)
class PersonLanguage:
    """The language in which a person is answered, as a code such as ``nl``; ``chosen`` if they said so themselves."""

    code: str
    chosen: bool = False


class Languages(Protocol):
    """The language of each person. Each call is one commit. Raises :class:`~fateforger.errors.StoreError`."""

    async def of(self, user_id: str) -> PersonLanguage | None: ...

    async def keep(self, user_id: str, language: PersonLanguage) -> None:
        """Keep the language of a person; it replaces what was kept before."""
        ...


OPERATOR_LOG_KEPT = timedelta(days=90)
"""Age at which an action of the operator is deleted, unless the settings say otherwise."""


@dataclass(frozen=True, slots=True)
class OperatorAction:
    """A command of the operator that read or changed a person's data.

    ``command`` is its name, such as ``person export``; ``operator`` is the user of the machine who ran it, as far as
    known.
    """

    user_id: str
    at: datetime
    command: str
    operator: str


class OperatorLog(Protocol):
    """The actions of the operator, by person. Each call is one commit. Raises ``StoreError``."""

    async def note(self, action: OperatorAction) -> None:
        """Note an action, before it is carried out."""
        ...

    async def latest(self, user_id: str, *, limit: int) -> tuple[OperatorAction, ...]:
        """Return the latest actions about a person, the newest first."""
        ...


ERASING_LANE = "erasing"
"""The lane for requests to be forgotten; its job is the last of a person's data to go."""
REMINDER_LANE = "reminder"
"""The lane that is told when a person's zone has changed."""

Counts = Mapping[str, int]
"""The number of rows of each kind (:data:`KINDS`); kinds without any are left out."""

KINDS: Mapping[str, str] = {
    "constraints": "rules and what became of them",
    "index": "rules on their way to the search index, or out of it",
    "tasks": "tasks",
    "task_order": "notes of which task waits for which",
    "durations": "observed lengths of tasks",
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
    "operator_actions": "what the operator did with their data",
    "ownership": "notes of whose calendar this is",
    "connection": "the calendar that they connected",
    "channels": "channels by which its provider tells of changes",
    "recordings": "recorded turns",
    "language": "the language in which they are answered",
    "standing": "whether they are a member or a guest of their workspace",
    "time_zone": "their time zone in Slack",
    "talk": "what was said last outside of plans",
    "replies": "replies about rules, for the form that shows them",
    "rituals": "which messages the bot sends them by itself, and when",
    "thread_messages": "times at which something was said in the threads of their plans",
    "home": "that they have opened App Home",
    "ritual_marks": "marks of which of these messages were sent",
}
"""The kinds of data about a person, in words."""


class Zones(Protocol):
    """The time zone of each person, as Slack gave it last, and the instant until which Slack is not asked again.

    Each call is one commit. Raises :class:`~fateforger.errors.StoreError`.
    """

    async def of(self, user_id: str) -> tuple[str, datetime] | None:
        """Return the zone of a person; ``None`` if Slack was not asked yet."""
        ...

    async def keep(self, user_id: str, tz: str, *, until: datetime) -> None:
        """Keep the zone of a person, in place of an earlier one.

        Messages at chosen times and reminders come by its clock.
        """
        ...


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

    async def check_idle(self, user_id: str, *, now: datetime, calendar: str | None = None) -> None:
        """Raise what :meth:`erase` raises while some of the data is in use."""
        ...

    async def erase(
        self, user_id: str, *, now: datetime, calendar: str | None = None, closing: str | None = None
    ) -> Counts:
        """Delete all data permanently as one commit, and return the counts. The index follows.

        Only the fact of an erasure is kept, with the counts and the instant. With ``closing``, the calendar has no
        owner until a person claims it; that text is a salted hash of the erased owner if a setting names them, and
        otherwise empty. Raises ``CalendarBusy`` while a write to their calendar is unfinished,
        ``StillAtWork`` while one of their jobs is running.
        """
        ...

    async def pending(self, user_id: str) -> int:
        """Return the number of their constraints that the index has yet to update."""
        ...

    async def scrub(self) -> None:
        """Remove deleted data from local files."""
        ...


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

        If changes were counted since ``state`` was read, it is due at once: what was published hides them, even if
        they had been published before.
        """
        ...
