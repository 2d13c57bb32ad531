"""Heads of stored sessions: the facts that rounds of background work select by, without the whole document."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import date as Date  # noqa: N812  as in the session
from datetime import datetime
from typing import Literal, Protocol

from fateforger.session.model import Session, SessionStatus
from fateforger.session.stages import TimeboxingStage

Written = Literal["no", "yes", "returned"]
"""State of a plan: on the calendar or not; ``returned`` once its open work went to the queue."""
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


class Heads(Protocol):
    """The part of the stored sessions that :func:`iter_heads` reads."""

    async def list_heads(
        self, wanted: HeadFilter, *, after: SessionHead | None = None, limit: int = PAGE
    ) -> tuple[SessionHead, ...]: ...


def describe_written(session: Session) -> Written:
    """Check whether a session's plan is on the calendar."""
    if session.sync.written is None:
        return "no"
    return "yes" if session.open_work.returned is None else "returned"


async def iter_heads(sessions: Heads, wanted: HeadFilter) -> AsyncIterator[SessionHead]:
    """Yield the sessions of a round, the last touched first, a page at a time. Raises ``StoreError``."""
    page = await sessions.list_heads(wanted)
    while page:
        for head in page:
            yield head
        page = await sessions.list_heads(wanted, after=page[-1]) if len(page) == PAGE else ()
