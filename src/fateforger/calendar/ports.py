"""Calendars, the durable record of writes to them, and the request quota.

Reads raise an error of :mod:`fateforger.errors`. Writes never raise for an answer of the calendar: they return an
:data:`Outcome`, because "unknown" is an answer that the engine has to deal with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, ClassVar, Literal, Protocol, Self

from fateforger.calendar.event import MANAGED, PLAIN, EventExtras, EventFields, EventImage, Marker, OwnedId
from fateforger.calendar.model import Head, Ledger
from fateforger.calendar.transactions import OpRecord, OpState, Transaction, TxState

WriteKind = Literal["create", "update", "delete"]


@dataclass(frozen=True, slots=True)
class _OwnedWrite:
    event_id: OwnedId

    def __post_init__(self) -> None:
        OwnedId(self.event_id)  # also for a caller that is not type-checked


@dataclass(frozen=True, slots=True)
class Create(_OwnedWrite):
    """Insert an event under an id that we chose.

    It gets those ``extras`` that the calendar accepts, which the image in :class:`Done` shows. No mail is sent.
    """

    kind: ClassVar[WriteKind] = "create"
    fields: EventFields
    marker: Marker
    extras: EventExtras = PLAIN


@dataclass(frozen=True, slots=True)
class Update(_OwnedWrite):
    """Set only the given managed fields (names and types as in :class:`EventFields`), and the marker.

    ``seen`` is the event as the caller read it seconds ago: a calendar may check it instead of reading the event again.
    Raises ``ValueError`` if another event was seen, and ``TypeError`` for a field that is not managed.
    """

    kind: ClassVar[WriteKind] = "update"
    changes: Mapping[str, Any]
    marker: Marker
    expect: str | None = None
    seen: EventImage | None = None

    def __post_init__(self) -> None:
        OwnedId(self.event_id)
        if self.seen is not None and self.seen.id != self.event_id:
            raise ValueError(f"event {self.seen.id} was seen, not {self.event_id}")
        if unmanaged := self.changes.keys() - set(MANAGED):
            raise TypeError(f"not managed fields: {', '.join(sorted(unmanaged))}")


@dataclass(frozen=True, slots=True)
class Delete(_OwnedWrite):
    """Remove the event.

    It is read first, unless the write is conditional and ``expect`` is a version that was seen to be ours. Another
    version than ``expect`` may be :class:`Stale` even if writes cannot be conditional.
    """

    kind: ClassVar[WriteKind] = "delete"
    expect: str | None = None


Write = Create | Update | Delete


@dataclass(frozen=True, slots=True)
class Done:
    """The write took effect; ``image`` is the event as the calendar shows it now (``None`` after a delete)."""

    image: EventImage | None


@dataclass(frozen=True, slots=True)
class Exists:
    """A create found its id taken, perhaps by our own earlier try, perhaps by a deleted event."""


@dataclass(frozen=True, slots=True)
class Gone:
    """The event to update or delete is not there (any more)."""


@dataclass(frozen=True, slots=True)
class Stale:
    """The event changed since ``expect``; nothing was written."""


@dataclass(frozen=True, slots=True)
class Limited:
    """Too many requests; nothing was written. ``retry_after`` is in seconds, if known; ``reason`` is a few words."""

    retry_after: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Unauthorized:
    """The login expired or was refused; nothing was written."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """The calendar will never accept this write; nothing was written."""

    reason: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """It is unknown whether the write took effect: a time-out, a lost connection, a server error."""

    reason: str


Outcome = Done | Exists | Gone | Stale | Limited | Unauthorized | Rejected | Unknown


@dataclass(frozen=True, slots=True)
class CalendarTraits:
    """The optional capabilities of a calendar."""

    conditional_write: bool = False
    """``expect`` is honoured: a write to an event that changed in between returns :class:`Stale`."""
    can_clear_color: bool = False
    """An update can remove a color. Otherwise ``color_id: None`` is left out among other changes, and alone it is
    :class:`Rejected`."""
    compares_on_delete: bool = False
    """A deletion compares the version with ``expect``, so that the event need not be read just before it."""
    reuses_ids: bool = False
    """The id of a deleted event is free again, so that a create that lands late would bring the event back."""
    writes_at_once: int | None = None
    """The number of writes that it takes at a time, where that differs from the usual limit."""


class Window(tuple[EventImage, ...]):  # noqa: SLOT001  a tuple takes no slots but empty ones
    """The content of a calendar in a span of time: the events, and the titles of those that could not be placed.

    ``left_out`` are events whose recurrence could not be computed in time. They may be on any day.
    """

    left_out: tuple[str, ...]

    def __new__(cls, events: Iterable[EventImage] = (), left_out: Iterable[str] = ()) -> Self:
        window = super().__new__(cls, events)
        window.left_out = tuple(sorted(set(left_out)))
        return window


class DayReads(Protocol):
    @property
    def key(self) -> str:
        """A stable name of this calendar, the same after a restart; the journal uses it as a key."""
        ...

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        """Return all events that overlap ``[start, end)``, series expanded, ordered by start then id.

        The answer is complete, except that a :class:`Window` lists what is missing. Raises
        :class:`~fateforger.errors.CalendarError`.
        """
        ...

    async def get(self, event_id: str) -> EventImage | None:
        """Return an event, also a cancelled one; ``None`` for an unknown id. Raises ``CalendarError``."""
        ...


class Calendar(DayReads, Protocol):
    """One calendar of one person.

    No call can change an event of another origin: writes take an :class:`OwnedId`, and an update and a deletion also
    refuse an event without our marker.
    """

    @property
    def traits(self) -> CalendarTraits: ...

    def in_background(self) -> DayReads:
        """Return the reads for a reader that comes back often and can wait.

        They leave most of the request budget to others, and ask only for what changed where the calendar can tell.
        """
        ...

    async def write(self, write: Write) -> Outcome: ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


class AccountCalendar(Calendar, Protocol):
    """A calendar of an account, whose provider may tell of changes."""

    async def end_signals(self) -> None:
        """Close the channels by which the provider tells of changes. Raises ``StoreError``."""
        ...


class Signals(Protocol):
    """Word from a provider that a calendar changed."""

    async def has_changed(self, calendar_id: str) -> bool:
        """Check whether a calendar may have changed since the last call; true if no one would have said so."""
        ...

    async def stop(self) -> None:
        """End the word from the provider, about all calendars of the account."""
        ...


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write to one calendar until ``expires_at``. A later lease has a higher fence."""

    calendar: str
    owner: str
    fence: int
    expires_at: datetime


class Journal(Protocol):
    """The durable record of calendar writes.

    Every method is one commit that survives a crash, or raises :class:`~fateforger.errors.StoreError` and has no
    effect.
    """

    async def begin(self, transaction: Transaction) -> None:
        """Record a transaction with all its ops pending, and reserve the generations of its creates.

        Raises ``VersionConflict`` if the id or one of the generations was used before, or if what it undoes cannot be
        undone (any more).
        """
        ...

    async def mark(self, transaction_id: str, op_ids: Sequence[str], state: OpState) -> None:
        """Set the state of several ops at once; ``INFLIGHT`` also counts an attempt.

        An op that has ended never changes again: here and in ``settle`` and ``close`` that is a ``VersionConflict``,
        because another process has finished the transaction. One that is unknown is an ``InternalError``.
        """
        ...

    async def settle(
        self, transaction_id: str, record: OpRecord, *, head: Head | None = None, forget: str | None = None
    ) -> None:
        """Record the end of an op, together with the block's new head, or remove the head of a key of that day.

        A pending record replaces the decision about the op.
        """
        ...

    async def close(self, transaction_id: str, state: TxState, at: datetime) -> None:
        """Record that a transaction ended, paused or continues; to end, all its ops must have ended.

        A committed undo also marks its target as undone; a partial one leaves it undoable. An undone transaction can be
        closed in its old state again when its undo is undone.
        """
        ...

    async def get(self, transaction_id: str) -> Transaction | None: ...

    async def by_cause(self, calendar: str, cause: str) -> Transaction | None:
        """Return the transaction that a command already caused, if any."""
        ...

    async def list_unsettled(self, calendar: str | None = None) -> tuple[Transaction, ...]:
        """Return transactions that are applying or paused, oldest first."""
        ...

    async def history(
        self, calendar: str | None, *, day: date | None = None, group: str | None = None, limit: int = 50
    ) -> tuple[Transaction, ...]:
        """Return transactions of one calendar, or of all, newest first."""
        ...

    async def ledger(self, calendar: str, day: date) -> Ledger:
        """Return the heads of one day, and the generations ever used of the seeds that start with its date."""
        ...

    async def acquire(self, calendar: str, owner: str, *, now: datetime, seconds: float) -> Lease | None:
        """Acquire the lease of a calendar, or renew the owner's own, which keeps its fence.

        ``now`` is the caller's time, and so is the end of the lease that is returned. Returns ``None`` while another
        owner holds it, but not for longer than twice the ``seconds`` from now, even if the clock was set back.
        """
        ...

    async def release(self, lease: Lease) -> None:
        """Release the lease; nothing happens if it was lost in between."""
        ...


@dataclass(frozen=True, slots=True)
class Login:
    """A login at a calendar server. Without a name it may be any login of that server, so it counts for each."""

    server: str
    account: str = ""


@dataclass(frozen=True, slots=True)
class RequestLimit:
    """At most ``requests`` in any ``seconds``.

    Background reads get at most ``background`` of them, and none unless ``kept`` stay free for interactive requests. A
    reservation that is never settled, because its process died, expires ``seconds`` after the latest end of its call; a
    call lasts ``call_seconds`` at most.
    """

    requests: int
    seconds: float = 60.0
    background: int = 50
    kept: int = 30
    call_seconds: float = 45.0


@dataclass(frozen=True, slots=True)
class Reservation:
    """Requests that are about to be made. ``id`` is used only once."""

    id: str
    requests: int
    background: bool = False


@dataclass(frozen=True, slots=True)
class Settlement:
    """The outcome of a reservation: it cost ``requests``, and the last of them was answered ``ago`` seconds ago."""

    id: str
    requests: int
    ago: float


class Quota(Protocol):
    """Counts the requests of each login. Raises ``StoreError``."""

    async def reserve(
        self, login: Login, wanted: Reservation, limit: RequestLimit, *, settled: Sequence[Settlement] = ()
    ) -> float:
        """Record ``settled`` reservations, then reserve ``wanted`` and return 0.

        Without room, nothing is reserved and the estimated seconds until there is room are returned.
        """
        ...

    async def settle(self, limit: RequestLimit, settled: Sequence[Settlement]) -> None:
        """Record the cost of reservations: each counts for the limit's ``seconds`` after its last answer."""
        ...
