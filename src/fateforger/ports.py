"""Every outside thing, as the plain thing it is. Adapters live in ``adapters``; only ``bootstrap`` knows them.

Reads raise an error of :mod:`fateforger.errors`. Calendar writes never raise for what the calendar says: they
return an :data:`Outcome`, because "unknown" is an answer that the engine has to deal with.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Protocol

from fateforger.journal.model import OpRecord, OpState, Transaction, TxState
from fateforger.session.feedback import Rating
from fateforger.session.model import Outgoing, Session
from fateforger.sync.model import EventFields, EventImage, Head, Ledger, Marker, OwnedId


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> datetime:
        """The current instant, aware, in UTC."""
        ...


# --- calendar -------------------------------------------------------------------------------------------------


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
    """Too many requests; nothing was written. ``retry_after`` in seconds when the calendar said so."""

    retry_after: float | None = None


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
    """Nobody can say whether the write took effect: a time-out, a lost connection, a server error."""

    reason: str


Outcome = Done | Exists | Gone | Stale | Limited | Unauthorized | Rejected | Unknown


@dataclass(frozen=True, slots=True)
class CalendarTraits:
    """What a calendar can do beyond the least."""

    conditional_write: bool = False
    """``expect`` is honoured: a write to an event that changed in between answers :class:`Stale`."""


class Calendar(Protocol):
    """One calendar of one person. It has no call that could change an event which is not ours: writes take an
    :class:`OwnedId`, and update and delete also refuse an event that does not carry our marker."""

    @property
    def key(self) -> str:
        """Stable name of this calendar, the same after a restart; the journal files under it."""
        ...

    @property
    def traits(self) -> CalendarTraits: ...

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        """All events that overlap ``[start, end)``, series expanded, ordered by start then id; whole or not at all.

        Raises :class:`~fateforger.errors.CalendarError`.
        """
        ...

    async def get(self, event_id: str) -> EventImage | None:
        """The event, also a cancelled one; ``None`` when the calendar knows no such id. Raises ``CalendarError``."""
        ...

    async def create(self, event_id: OwnedId, fields: EventFields, marker: Marker) -> Outcome:
        """Insert an event under an id of our own choosing."""
        ...

    async def update(
        self,
        event_id: OwnedId,
        changes: Mapping[str, Any],
        marker: Marker,
        *,
        expect: str | None = None,
        seen: EventImage | None = None,
    ) -> Outcome:
        """Set only the given managed fields (names and types as in :class:`EventFields`), and the marker. ``seen`` is
        the event as the caller read it seconds ago: a calendar may check that, instead of reading it once more."""
        ...

    async def delete(self, event_id: OwnedId, *, expect: str | None = None) -> Outcome:
        """Remove the event. It is always looked at first, and a version that is not ``expect`` may be
        :class:`Stale` even where writes cannot be conditional."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...


# --- journal --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write to one calendar until ``expires_at``. A later lease has a higher fence."""

    calendar: str
    owner: str
    fence: int
    expires_at: datetime


class Journal(Protocol):
    """Durable record of what was done to calendars. Every method is one commit that survives a crash, or raises
    :class:`~fateforger.errors.StoreError` and has done nothing."""

    async def begin(self, transaction: Transaction) -> None:
        """Record a transaction with all its ops pending, and reserve the generations of its creates. Raises
        ``VersionConflict`` when the id or one of the generations was used before, or when what it undoes is not
        (or no longer) there to be undone."""
        ...

    async def mark(self, transaction_id: str, op_ids: Sequence[str], state: OpState) -> None:
        """Set the state of several ops at once; ``INFLIGHT`` also counts an attempt. An op that has ended never
        changes again: asking for it is an ``InternalError``, here and in ``settle``."""
        ...

    async def settle(
        self, transaction_id: str, record: OpRecord, *, head: Head | None = None, forget: str | None = None
    ) -> None:
        """Record how an op ended, together with the block's new head, or with forgetting the head of a key (of the
        transaction's day). A record that is pending replaces what was decided about the op."""
        ...

    async def close(self, transaction_id: str, state: TxState, at: datetime) -> None:
        """Record how a transaction ended, which takes that all its ops have; or that it is paused, or goes on. A
        committed undo also marks what it undid as undone; a partial one leaves it to be undone again. What was
        undone can be closed as it was before: it stands again, because the undo was taken back."""
        ...

    async def get(self, transaction_id: str) -> Transaction | None: ...

    async def by_cause(self, calendar: str, cause: str) -> Transaction | None:
        """The transaction that a command already caused, if it did."""
        ...

    async def unsettled(self, calendar: str | None = None) -> tuple[Transaction, ...]:
        """Transactions that are applying or paused, oldest first."""
        ...

    async def history(
        self, calendar: str, *, day: date | None = None, group: str | None = None, limit: int = 50
    ) -> tuple[Transaction, ...]:
        """Newest first."""
        ...

    async def ledger(self, calendar: str, day: date) -> Ledger:
        """The heads of one day, and the generations ever used of the seeds that start with its date."""
        ...

    async def acquire(self, calendar: str, owner: str, *, now: datetime, seconds: float) -> Lease | None:
        """Take the lease of a calendar, or renew the owner's own, which keeps its fence; ``None`` while somebody
        else holds it."""
        ...

    async def release(self, lease: Lease) -> None:
        """Give the lease back; nothing happens when it was lost in between."""
        ...


# --- sessions, outbox, jobs -----------------------------------------------------------------------------------


class Sessions(Protocol):
    """Planning sessions and the messages they still owe the person."""

    async def load(self, session_id: str) -> Session | None: ...

    async def in_thread(self, channel: str, thread_ts: str) -> Session | None:
        """The session that lives in a thread, if any."""
        ...

    async def of_user(self, user_id: str, *, limit: int = 10) -> tuple[Session, ...]:
        """A person's sessions, the last touched first."""
        ...

    async def touched_since(self, moment: datetime) -> tuple[Session, ...]:
        """All sessions touched at that moment or later, the last touched first."""
        ...

    async def first_person(self) -> str | None:
        """Who began the earliest session of all; ``None`` while there is none."""
        ...

    async def save(self, session: Session, *, expected: int, outgoing: Sequence[Outgoing] = ()) -> Session:
        """Store the session and queue its messages in one commit; ``expected`` is the version it was loaded with
        (0 for a new one). Returns it with its new version. Raises ``VersionConflict``."""
        ...

    async def attach_thread(self, session_id: str, channel: str, thread_ts: str) -> None:
        """Remember where the session's first message was posted. It does not count as a new version: a turn that is
        under way can still be saved, and keeps this thread. The thread of a session changes only here."""
        ...


@dataclass(frozen=True, slots=True)
class Sent:
    """Where a message of a slot stands in Slack."""

    channel: str
    ts: str


class Feedbacks(Protocol):
    """What people think of the cards that a language model had a part in."""

    async def rate(self, rating: Rating) -> None:
        """Keep a rating; a person's later word on the same turn replaces the earlier one."""
        ...

    async def all(self) -> tuple[Rating, ...]:
        """Every rating, oldest first."""
        ...


class Outbox(Protocol):
    """Messages to be sent, in order within one session; kept until they are known to have arrived."""

    async def pending(self, *, now: datetime, limit: int = 20) -> tuple[Outgoing, ...]:
        """The next unsent message of each session whose retry time has come, oldest first."""
        ...

    async def sent(self, outgoing_id: str, where: Sent, *, now: datetime) -> None:
        """It has arrived. Nothing happens when that is known already."""
        ...

    async def failed(self, outgoing_id: str, error: str, *, retry_at: datetime | None) -> None:
        """Try again at ``retry_at``, and let the session's later messages wait for it; or never when it is ``None``.
        Nothing happens when the message is not waiting any more."""
        ...

    async def owes(self, session_id: str) -> bool:
        """Whether a message of the session still waits to be sent."""
        ...

    async def slot(self, session_id: str, slot: str) -> Sent | None:
        """Where the last message of a slot was sent. Messages to one person only (``ephemeral_to``) do not count."""
        ...

    async def latest(self, session_id: str) -> Outgoing | None:
        """The newest message that was sent to everybody, apart from those beside the plan: the card that stands."""
        ...

    async def shown(self, session_id: str, slot: str) -> Outgoing | None:
        """The message that stands at :meth:`slot`, to show it again without its controls."""
        ...


@dataclass(frozen=True, slots=True)
class Job:
    """Work to be done once, in order within its ``key``. ``payload`` is JSON."""

    id: int
    lane: str
    key: str
    dedupe: str
    payload: Mapping[str, Any]
    attempts: int
    fence: int


@dataclass(frozen=True, slots=True)
class NewJob:
    """Work to put on a lane. A job whose ``dedupe`` was seen on that lane before is not taken again, ever."""

    lane: str
    key: str
    dedupe: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    run_at: datetime | None = None


class Jobs(Protocol):
    """Durable work: first in, first out per key; at least once; taken over when a worker dies."""

    async def enqueue(self, job: NewJob, *, now: datetime) -> bool:
        """Durably accept a job; ``False`` when its ``dedupe`` was accepted before."""
        ...

    async def claim(self, lane: str, owner: str, *, now: datetime, lease_seconds: float) -> Job | None:
        """The next job of the lane that may run: its time has come and no earlier job of its key is unfinished."""
        ...

    async def extend(self, job: Job, *, now: datetime, lease_seconds: float) -> bool:
        """Keep a claim; ``False`` when it was lost to another worker."""
        ...

    async def finish(self, job: Job) -> bool:
        """The job is done; ``False`` when the claim was lost."""
        ...

    async def retry(self, job: Job, error: str, *, run_at: datetime) -> bool:
        """Put the job back for a later try; the later jobs of its key wait for it."""
        ...

    async def bury(self, job: Job, error: str) -> bool:
        """Give the job up, and let its key go on; it is kept for people to look at."""
        ...

    async def take_back(self, owner: str) -> int:
        """End all claims of an owner, and say how many there were. Only for a caller who knows that no worker of that
        name is alive: at start it need not wait for the leases of the process that bore its name and died."""
        ...

    async def wait(self, lane: str, *, seconds: float) -> None:
        """Return as soon as new work may be there, or after that time."""
        ...


# --- language model -------------------------------------------------------------------------------------------


class Role(StrEnum):
    """What a model is asked for. Each role can have a model of its own."""

    DECIDE = "decide"
    """What does this message want?"""
    GATE = "gate"
    """What does it say about the step at hand?"""
    DRAFT = "draft"
    """A first plan of the day."""
    PATCH = "patch"
    """A change of the plan."""
    EXTRACT = "extract"
    """What in it should be remembered? Asked in the background, through a client of its own (S116)."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request. ``name`` says what for, and which version of the text (``decide/1``); ``schema`` is the JSON schema
    that the answer has to satisfy, which is also spelled out in ``system`` where the model cannot be held to it;
    ``history`` are earlier tries of the same request, each with what was wrong about it."""

    name: str
    role: Role
    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    history: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered. Tokens are ``None`` when the server did not count them; ``cost`` in US dollars when the
    price of the model is known; ``seconds`` is the time from the request to the whole answer."""

    text: str
    model: str
    seconds: float
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None


class Model(Protocol):
    """A language model. It reads text and gives text; what follows from it is decided by code."""

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        """The whole answer, within that time. Raises an error of :class:`~fateforger.errors.ModelError`. Cancelling
        the call ends the request. Keys and prompts are never logged."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...


@dataclass(frozen=True, slots=True)
class Spent:
    """What a model was asked in a role on a local day. ``calls`` were answered, ``failed`` were not (then no model is
    named). ``uncounted`` calls have no tokens, ``unpriced`` ones no cost; ``cost`` is in US dollars."""

    day: date
    role: Role
    model: str
    calls: int = 0
    failed: int = 0
    uncounted: int = 0
    unpriced: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0


class Usage(Protocol):
    """What language models cost, added up. Raises :class:`~fateforger.errors.StoreError`."""

    async def add(self, spent: Spent) -> None:
        """Add to what is known of that day, role and model; nothing is lost when several add at once."""
        ...

    async def since(self, day: date) -> tuple[Spent, ...]:
        """The sums from that day on, by day, role and model."""
        ...


# --- recordings -----------------------------------------------------------------------------------------------


class Recordings(Protocol):
    """Where recorded turns are kept for people and programs to look at."""

    async def keep(self, name: str, text: str) -> None:
        """Keep a text under a name, whole or not at all, in the place of what had that name; nobody but its owner can
        read it. Raises ``StoreUnavailable``."""
        ...
