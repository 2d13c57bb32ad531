"""Guards of each write to a calendar: its arguments, its time limit, and that only events of this program change."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol

from fateforger.calendar.event import MANAGED, EventImage, OwnedId
from fateforger.calendar.ports import Gone, Outcome, Rejected, Stale, Unknown

WRITE_SECONDS = 14.0
"""Seconds for one write of the port, including the reads before it. Shorter than what must be left of the lease when a
write starts (``access.Limits``), so that no write outlives its lease."""
Write = Literal["create", "update", "delete"]


class FailedRead(Protocol):
    """A read before a write that has no usable answer."""

    def to_outcome(self, write: Write) -> Outcome:
        """Return the outcome of the write, which could not start."""
        ...


def to_owned_id(event_id: str) -> OwnedId:
    """Return the id as an ``OwnedId``, also for a caller that is not type-checked."""
    return event_id if isinstance(event_id, OwnedId) else OwnedId(event_id)


def check_update(event_id: str, changes: Mapping[str, Any], seen: EventImage | None) -> None:
    """Raise ``ValueError`` if another event was seen, and ``TypeError`` for a field that is not managed."""
    if seen is not None and seen.id != event_id:
        raise ValueError(f"event {seen.id} was seen, not {event_id}")
    if unmanaged := changes.keys() - set(MANAGED):
        raise TypeError(f"not managed fields: {', '.join(sorted(unmanaged))}")


async def write_in_time(write: Awaitable[Outcome], seconds: float) -> Outcome:
    """Return the outcome of a write; it is unknown if the write takes too long."""
    try:
        async with asyncio.timeout(seconds):
            return await write
    except TimeoutError:
        return Unknown(f"no answer within {seconds:g} s")


async def try_write(
    attempt: Callable[[EventImage | None], Awaitable[Outcome]], *, expect: str | None, seen: EventImage | None = None
) -> Outcome:
    """Attempt a write to an event, and again if the event changed in between and the caller expects no version.

    The first attempt is given the event that the caller saw, to save a read. It cannot establish that the event is
    gone: only an attempt that reads can.
    """
    outcome: Outcome = Gone()
    for number in range(2 if seen is None else 3):
        trusted = None if number else seen
        outcome = await attempt(trusted)
        unsure = isinstance(outcome, Gone) and trusted is not None
        if not unsure and (expect is not None or not isinstance(outcome, Stale)):
            return outcome
    return outcome


async def write_if_ours(
    found: EventImage | FailedRead | None,
    kind: Write,
    expect: str | None,
    write: Callable[[EventImage], Awaitable[Outcome]],
) -> Outcome:
    """Write to an event as it was found, if it is there, ours, and of the expected version."""
    if found is None:
        return Gone()
    if not isinstance(found, EventImage):
        return found.to_outcome(kind)
    if found.gone:
        return Gone()
    return _refuse(found, expect) or await write(found)


def _refuse(found: EventImage, expect: str | None) -> Outcome | None:
    """Return the reason an event may not be written to; ``None`` if it may."""
    own_kind = found.series_id is None and found.event_type == "default" and found.organized_by_me
    if not own_kind or found.marker is None:
        return Rejected(f"“{found.summary[:60]}” is not an event that fateforger made.")
    return Stale() if expect is not None and found.version != expect else None
