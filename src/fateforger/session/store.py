"""Protocols of the stored sessions and their heads, their outgoing messages, and people's ratings of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812  as in the commands
from datetime import datetime, timedelta
from typing import Literal, Protocol

from fateforger.session.messages import Outgoing, RecentTalk
from fateforger.session.model import Session, SessionStatus
from fateforger.session.stages import TimeboxingStage
from fateforger.values import Value


class Rating(Value):
    """A rating.

    ``turn`` is the id of the command behind the card. ``prompts`` are the prompts that shaped it, with their
    versions.
    """

    session_id: str
    turn: str
    user_id: str
    helpful: bool
    prompts: tuple[str, ...] = ()
    at: datetime


PAGE = 200
"""Sessions that a round reads at once."""


@dataclass(frozen=True, slots=True)
class SessionHead:
    """The columns of a stored session that rounds select by."""

    id: str
    version: int
    user_id: str
    channel: str
    thread_ts: str | None
    touched_at: datetime
    date: Date
    tz: str
    status: SessionStatus
    stage: TimeboxingStage
    written: Written


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadFilter:
    """The sessions of a round: those last touched from ``since`` on, up to ``until`` and of one person if given.

    ``first`` and ``last`` are days. ``active`` leaves out those that ended, ``written`` those of which nothing is on
    the calendar, ``unreturned`` also those whose open work went to the queue. ``unjudged`` leaves out those that
    :meth:`~fateforger.session.store.Sessions.mark_judged` was told of since they changed.
    """

    since: datetime
    user_id: str | None = None
    until: datetime | None = None
    first: Date | None = None
    last: Date | None = None
    active: bool = False
    written: bool = False
    unreturned: bool = False
    unjudged: bool = False


def describe_written(session: Session) -> Written:
    """Check whether a session's plan is on the calendar."""
    if session.sync.written is None:
        return "no"
    return "yes" if session.open_work.returned is None else "returned"


class Sessions(Protocol):
    """Planning sessions, saved together with their outgoing messages."""

    async def check(self) -> None:
        """Read one row at most. Raises ``StoreUnavailable`` when the store does not answer."""
        ...

    async def load(self, session_id: str) -> Session | None: ...

    async def in_thread(self, channel: str, thread_ts: str) -> Session | None: ...

    async def of_user(self, user_id: str, *, limit: int = 10) -> tuple[Session, ...]:
        """Return a person's sessions, the last touched first."""
        ...

    async def on_days(self, user_id: str, first: Date, last: Date | None = None) -> tuple[Session, ...]:
        """Return a person's sessions of the days from ``first`` on, up to ``last`` if given; the last touched first."""
        ...

    async def list_heads(
        self, wanted: HeadFilter, *, after: SessionHead | None = None, limit: int = PAGE
    ) -> tuple[SessionHead, ...]:
        """Return the first sessions of a round, the last touched first, from those that follow ``after`` on.

        Left out are people whom Slack cannot reach: where the app was removed, and deactivated accounts.
        """
        ...

    async def mark_judged(self, head: SessionHead) -> None:
        """Remember that the round that closes sessions has judged this version, so that it is not read again."""
        ...

    async def save(self, session: Session, *, expected: int, outgoing: Sequence[Outgoing] = ()) -> Session:
        """Store the session and queue its messages in one commit; return it with its new version.

        ``expected`` is the version it was loaded with (0 for a new one). Raises ``VersionConflict``.
        """
        ...

    async def is_unanswered(self, session_id: str, at: datetime) -> bool:
        """Check whether the first message of a session was still on its way at that moment."""
        ...

    async def attach_thread(self, session_id: str, channel: str, thread_ts: str) -> None:
        """Remember where the session's first message was posted.

        This does not count as a new version: a running turn can still be saved, and keeps this thread. The thread of a
        session changes only here.
        """
        ...

    async def ask_to_stop(self, session_id: str, at: datetime) -> None:
        """Ask the program that runs a turn of the session, whichever that is, to stop it."""
        ...

    async def find_stop(self, session_id: str) -> datetime | None:
        """Return when somebody asked to stop a turn of the session, until that is answered."""
        ...

    async def end_stop(self, session_id: str) -> None:
        """Record that the request to stop is answered: the turn was stopped, or it is too late."""
        ...


async def iter_heads(sessions: Sessions, wanted: HeadFilter) -> AsyncIterator[SessionHead]:
    """Yield the sessions of a round, the last touched first, a page at a time. Raises ``StoreError``."""
    page = await sessions.list_heads(wanted)
    while page:
        for head in page:
            yield head
        page = await sessions.list_heads(wanted, after=page[-1]) if len(page) == PAGE else ()


class Talks(Protocol):
    """The last exchanges with each person outside of plans. Each call is one commit. Raises ``StoreError``."""

    async def of(self, user_id: str) -> RecentTalk | None:
        """Return the talk with a person, if there was any."""
        ...

    async def keep(self, user_id: str, talk: RecentTalk) -> None:
        """Keep the talk with a person, in place of an earlier one."""
        ...


@dataclass(frozen=True, slots=True)
class Sent:
    """The place of a slot's message in Slack."""

    channel: str
    ts: str


class Feedbacks(Protocol):
    """People's ratings of the cards that a language model took part in."""

    async def rate(self, rating: Rating) -> None:
        """Store a rating; a person's later rating of the same turn replaces the earlier one."""
        ...

    async def all(self) -> tuple[Rating, ...]:
        """Return every rating, oldest first."""
        ...


class ThreadMessages(Protocol):
    """The messages of the threads of plans, by anyone, so that no card is changed above something newer.

    Any program may receive a message, and another one send the next card. Each call is one commit.
    """

    async def observe(self, channel: str, thread_ts: str, *messages: str) -> None:
        """Record messages of a thread. Once its first message is among them, all of them are known."""
        ...

    async def forget(self, channel: str, thread_ts: str, ts: str) -> None:
        """Forget a message that was deleted."""
        ...

    async def count_after(self, channel: str, thread_ts: str, ts: str) -> int | None:
        """Return how many messages of a thread are newer than ``ts``; ``None`` if they are not all known."""
        ...


SENDING_LANE = "sending"
"""The lane of the one job that sends the outbox."""
LONGEST_RETRY = timedelta(minutes=2)
"""A retry time further ahead comes from a clock that has since been set back, or from that of another program."""


class Outbox(Protocol):
    """Messages to be sent, in order within one session; kept until they are known to have arrived."""

    async def pending(self, *, now: datetime, limit: int = 20) -> tuple[Outgoing, ...]:
        """Return the next unsent message of each session whose retry time has come, oldest first.

        A retry time more than :data:`LONGEST_RETRY` ahead counts as reached, unless it is ``EVER_AFTER``.
        """
        ...

    async def release(self) -> None:
        """Make all messages that wait for another try due, because another sender's clock may have set the times."""
        ...

    async def mark_sent(self, outgoing_id: str, where: Sent, *, now: datetime, shown: Sequence[Outgoing] = ()) -> None:
        """Record that a message has arrived, if that is not recorded yet.

        ``shown`` are messages of its session, itself or earlier ones, that are shown differently from now on.
        """
        ...

    async def mark_failed(self, outgoing_id: str, error: str, *, retry_at: datetime | None) -> None:
        """Record a failure: retry at ``retry_at`` while the session's later messages wait, or never if it is ``None``.

        Nothing happens if the message is no longer waiting.
        """
        ...

    async def owes(self, session_id: str) -> bool:
        """Check whether a message of the session still waits to be sent."""
        ...

    async def slot(self, session_id: str, slot: str) -> Sent | None:
        """Return where the last message of a slot was sent, not counting ephemeral ones (``ephemeral_to``)."""
        ...

    async def latest(self, session_id: str) -> Outgoing | None:
        """Return the newest message sent to everyone, except those posted outside the plan: the current card."""
        ...

    async def find_shown(self, session_id: str, slot: str) -> Outgoing | None:
        """Return the message at :meth:`slot` as it is shown."""
        ...


Written = Literal["no", "yes", "returned"]
"""State of a plan: on the calendar or not; ``returned`` once its open work went to the queue."""
