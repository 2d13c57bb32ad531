"""The table of all background work: lanes of durable jobs, and timers. The supervisor runs every row of it.

A row is data: its name, the payload of its jobs, and its policy. The features supply the handlers; a row without one,
or a handler without a row, is refused when the program starts.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from fateforger.agents.access import PROPOSAL_LANE
from fateforger.errors import InternalError
from fateforger.ports.jobs import Job, NewJob
from fateforger.ports.people import ERASING_LANE, REMINDER_LANE
from fateforger.ports.traces import find_position
from fateforger.session.cards import Card
from fateforger.session.commands import COMMAND, InboxCommand
from fateforger.session.commands.thread import TimeboxingUserReply, build_opening_id, build_order_key
from fateforger.session.store import SENDING_LANE
from fateforger.text import current_language

P = TypeVar("P")
TRACE = "traceparent"
"""The field of a job's payload with its position in a trace, next to the payload of its lane."""


def ignore() -> None:
    """Do nothing."""


class TryLater(Exception):
    """Raised when a job cannot run now. ``seconds`` is the time to wait, if it is known."""

    def __init__(self, reason: str, seconds: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.seconds = seconds


class PutAside(Exception):
    """Raised for a job that waits for something other than time, such as a new install of the app; see ``reason``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


Perform = Callable[[P, Job], Awaitable[None]]
"""Perform a job with its payload. It may be called again for the same job, so it has to be idempotent.

``TryLater``, ``StoreError`` and unexpected errors lead to a retry; ``UserError`` and ``InternalError`` end the job.
"""

GivenUp = Callable[[Job, str], Awaitable[None]]
"""Tell the person about a job that was given up, with its error message."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Growing delays after failures, in seconds."""

    first: float = 0.25
    longest: float = 30.0

    def after(self, failures: int) -> float:
        """Return the seconds to wait after this many failures."""
        return min(self.first * 2.0 ** min(failures - 1, 20), self.longest)


@dataclass(frozen=True, slots=True)
class LanePolicy:
    """Limits and delays of a lane.

    ``workers`` is the number of jobs at once. ``poll_seconds`` is the longest sleep without a wake-up; only jobs that
    another process enqueued or left behind wait for it. ``grace_seconds`` is the time for running jobs at a stop.
    """

    workers: int = 2
    tries: int = 8
    lease_seconds: float = 6.0
    poll_seconds: float = 5.0
    grace_seconds: float = 10.0
    backoff: Backoff = Backoff()


@dataclass(frozen=True, slots=True)
class Lane(Generic[P]):
    """A lane of durable jobs. ``name`` is stored with each job and never changes.

    When a job is given up, that is logged; with ``tells`` the person is told, too. After a job, the rows in ``wakes``
    are woken. A lane with ``last`` stops after all others, because it carries out what they leave.
    """

    name: str
    payload: TypeAdapter[P]
    policy: LanePolicy = LanePolicy()
    tells: bool = False
    wakes: tuple[str, ...] = ()
    last: bool = False

    def build_job(self, payload: P, *, key: str, dedupe: str) -> NewJob:
        """Return a job. It runs in order with the others of its ``key``, and ``dedupe`` is accepted once."""
        position = find_position()
        traced = {TRACE: position} if position else {}
        return NewJob(self.name, key, dedupe, {**self.payload.dump_python(payload, mode="json"), **traced})

    def parse(self, job: Job) -> P:
        """Return the payload of a job. Raises ``InternalError`` for one that does not belong to this lane."""
        try:
            return self.payload.validate_python({key: value for key, value in job.payload.items() if key != TRACE})
        except ValidationError as error:
            raise InternalError(
                f"job {job.id} is not one of the lane {self.name}: {error.error_count()} problems"
            ) from error

    def handle(
        self,
        perform: Perform[P],
        given_up: GivenUp | None = None,
        *,
        wake: Callable[[], None] = ignore,
        halt: Callable[[], None] = ignore,
    ) -> JobHandler:
        """Return the handler of this lane.

        ``wake`` and ``halt`` are for a job that never ends: something may be due for it, and it should end now.
        """
        if self.tells != (given_up is not None):
            raise InternalError(f"The lane {self.name} and its handler disagree on what people are told.")

        async def parse_and_perform(job: Job) -> None:
            await perform(self.parse(job), job)

        return JobHandler(self.name, parse_and_perform, given_up, wake, halt)


@dataclass(frozen=True, slots=True)
class Timer:
    """Work that is repeated every ``seconds``, sooner when it is woken, and after a growing delay when it failed.

    Of all programs on a database, one at a time has the round. One for ``each`` repeats it for itself.
    """

    name: str
    seconds: float
    backoff: Backoff = Backoff(0.5, 60.0)
    each: bool = False

    def build_lane(self) -> Lane[dict[str, Any]]:
        """Return the lane of the rounds, of which one runs at a time."""
        return Lane(self.name, TypeAdapter(dict[str, Any]), LanePolicy(workers=1, tries=FOREVER))


Row = Lane[Any] | Timer


@dataclass(frozen=True, slots=True)
class JobHandler:
    """The code of a lane; made by :meth:`Lane.handle`."""

    name: str
    perform: Callable[[Job], Awaitable[None]]
    given_up: GivenUp | None
    wake: Callable[[], None]
    halt: Callable[[], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """A card that belongs to no session. ``v`` identifies it; ``ts`` is the message that it replaces.

    With ``beside`` the card does not count as the newest message of its thread.
    """

    v: str
    channel: str
    thread_ts: str | None = None
    ts: str | None = None
    beside: bool = False
    card: Card


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """Words for one person alone, in the thread where they asked, or without a channel in their direct messages.

    Those with ``is_markup`` may mention people, as Slack writes it; others are shown as they are.
    """

    user_id: str
    channel: str | None
    thread_ts: str | None
    words: str
    is_markup: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Greeting:
    """The welcome in a thread, or at the top of direct messages; ``words`` replace it.

    So does the reason why ``refused`` cannot plan, which holds a link and is therefore not stored. It is in the
    ``language`` of the task that asks for it. ``said`` is the message that it answers.
    """

    channel: str
    thread_ts: str | None
    words: Annotated[str | None, Field(exclude_if=lambda words: words is None)] = None
    refused: Annotated[str | None, Field(exclude_if=lambda refused: refused is None)] = None
    said: Annotated[str, Field(exclude_if=lambda said: not said)] = ""
    language: str = field(default_factory=current_language)


@dataclass(frozen=True, slots=True, kw_only=True)
class StopTurn:
    """Stop the turn of a session, or without one the reading of a first message; a person asked for that at ``at``."""

    session_id: str | None
    user_id: str
    channel: str | None
    thread_ts: str | None
    at: datetime

    @property
    def turn_id(self) -> str:
        return self.session_id or build_opening_id(self.channel, self.thread_ts, self.user_id)

    @property
    def order_key(self) -> str:
        """Return the key of the job that runs the turn."""
        return self.session_id or build_order_key(self.channel, self.user_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class DueReminder:
    """Remind a person of a task at an instant, where and in which language they asked for it."""

    user_id: str
    task_id: str
    at: datetime
    channel: str
    thread_ts: str | None
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ZoneChange:
    """Move the reminders of a person from the clock of a zone to that of another one, where the person is now."""

    user_id: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalUpdate:
    """Show a proposal in its current state, let it expire, or record that its command was given up."""

    proposal: str
    do: Literal["show", "expire", "fail"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalAnswer:
    """A click on a proposal."""

    proposal: str
    do: Literal["answer"] = "answer"
    answer: Literal["apply", "deny", "undo"]
    user_id: str
    channel: str | None
    thread_ts: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalDataRequest:
    """A request of a person about their data; ``wish`` is the action of the button."""

    user_id: str
    wish: str


ConnectionAction = Literal["tell", "link", "disconnect", "join"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionRequest:
    """Something to do about the connection of a person's calendar.

    ``tell`` them that it broke, send them a new ``link`` to its page, ``disconnect`` it, or ``join`` the calendar that
    an administrator has opened.
    """

    user_id: str
    do: ConnectionAction


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteVersions:
    """Constraints to write that could not be written during the turn ``cause``."""

    kind: Literal["write"] = "write"
    cause: str
    session_id: str
    versions: tuple[dict[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TidyUp:
    """Tidy up a person's constraints on a local day."""

    kind: Literal["tidy"] = "tidy"
    user_id: str
    day: date
    tz: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareRules:
    """Compare what a person told since an instant, in that session or outside of any, with what they told before.

    Without a session, the person is asked in the channel and thread where they told it.
    """

    user_id: str
    since: datetime
    session_id: str = ""
    channel: str = ""
    thread_ts: str | None = None


FOREVER = 10**9
STOP_TRIES = 8
"""Tries until a stop comes too late."""
STOP_TRIES_DURING_TURN = 80
"""The same while a turn of the session runs: the program that runs it finds the request in the database."""

ROUND_SIZE = 20
"""Most sessions that one round loads, or people whom it looks at; the next round goes on (decision 102)."""
MORE_SECONDS = 0.5
"""Seconds until the next round after one that left something over."""
INDEXING = Timer("indexing", seconds=5.0, each=True)
"""Every program knows by itself whether the index that it searches is complete."""
WAITING_TASKS = Timer("waiting tasks", seconds=20.0)
CLOSING = Timer("closing", seconds=900.0)
MISSED_DAYS = Timer("missed days", seconds=900.0)
RITUALS = Timer("rituals", seconds=15.0)
"""Messages at chosen times are late by a round at most, while few are due at once."""
TIDYING = Timer("tidying", seconds=900.0)
CONNECTIONS = Timer("connections", seconds=10.0)
"""Work that is left about connections of calendars; other programs and commands leave it, too."""
PLACE = Timer("place", seconds=5.0, each=True)
"""Showing the other programs that this one is alive."""
LISTENING = Timer("listening", seconds=1.0, each=True)
"""Being told of work by other programs: the supervisor's own round, which ends when the connection is lost."""
LIMITS = Timer("limits", seconds=5.0, each=True)
"""The part of Slack's limits that is this program's."""
RECOVERY = Timer("recovery", seconds=10.0)
"""Writes that were cut off by the death of a program, whichever it was."""
WATCHING = Timer("watching", seconds=60.0, each=True)
"""Every program watches its share of the calendars."""

HOMES = Timer("homes", seconds=0.5, each=True)
"""Rounds in which App Home is published again where it has changed; programs divide them among themselves."""
OUTBOX = Timer("outbox", seconds=1.0, each=True)
"""The rounds of the one job of the lane below, in the one process that holds it."""
SENDING = Lane(
    SENDING_LANE, TypeAdapter(dict[str, Any]), LanePolicy(workers=1, tries=FOREVER, grace_seconds=12.0), last=True
)
TURN: Lane[InboxCommand] = Lane(
    "turn", COMMAND, LanePolicy(workers=4), tells=True, wakes=(SENDING.name, WAITING_TASKS.name)
)
GREETING = Lane("greeting", TypeAdapter(Greeting))
SENTENCE = Lane("sentence", TypeAdapter(Sentence), LanePolicy(tries=20, backoff=Backoff(0.5, 30.0)))
NOTIFICATION = Lane("letter", TypeAdapter(Notification), LanePolicy(tries=200, backoff=Backoff(longest=60.0)))
REMINDER: Lane[DueReminder | ZoneChange] = Lane(
    REMINDER_LANE, TypeAdapter(DueReminder | ZoneChange), LanePolicy(tries=200, backoff=Backoff(longest=60.0))
)
STOP_TURN = Lane("stop", TypeAdapter(StopTurn), LanePolicy(tries=STOP_TRIES_DURING_TURN + 4))
PROPOSAL: Lane[ProposalUpdate | ProposalAnswer] = Lane(
    PROPOSAL_LANE,
    TypeAdapter(ProposalUpdate | ProposalAnswer),
    LanePolicy(poll_seconds=1.0),  # the server for agents, another process, enqueues most of these
    wakes=(WAITING_TASKS.name,),
)
ERASING = Lane(
    ERASING_LANE, TypeAdapter(PersonalDataRequest), LanePolicy(tries=100, backoff=Backoff(longest=5.0)), tells=True
)
CONNECTION = Lane("connection", TypeAdapter(ConnectionRequest), LanePolicy(tries=200, backoff=Backoff(longest=60.0)))
# Delayed writes are tried for more than three days.
MEMORY: Lane[WriteVersions | TidyUp] = Lane(
    "memory",
    TypeAdapter(WriteVersions | TidyUp),
    LanePolicy(tries=1_000, backoff=Backoff(1.0, 300.0)),
    tells=True,
    wakes=(SENDING.name,),
)
# Several replies are read at once, so that one that hangs does not delay the others. At a stop they are not waited for:
# the next program reads them again.
EXTRACT = Lane(
    "extract",
    TypeAdapter(TimeboxingUserReply),
    LanePolicy(workers=8, tries=5, grace_seconds=1.0, backoff=Backoff(2.0, 60.0)),
    tells=True,
)
COMPARE = Lane(
    "compare",
    TypeAdapter(CompareRules),
    LanePolicy(tries=5, grace_seconds=1.0, backoff=Backoff(2.0, 60.0)),
    tells=True,
)

LANES: tuple[Row, ...] = (
    SENDING,
    TURN,
    GREETING,
    SENTENCE,
    NOTIFICATION,
    REMINDER,
    STOP_TURN,
    PROPOSAL,
    ERASING,
    CONNECTION,
    MEMORY,
    EXTRACT,
    COMPARE,
    INDEXING,
    WAITING_TASKS,
    CLOSING,
    MISSED_DAYS,
    RITUALS,
    TIDYING,
    CONNECTIONS,
    PLACE,
    LIMITS,
    RECOVERY,
    WATCHING,
    HOMES,
)
"""Every lane and timer of the program, in the order in which they start."""
