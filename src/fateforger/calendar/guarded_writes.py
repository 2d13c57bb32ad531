"""Writes of adapters, with a time limit, a second attempt, and a guard for events that this program did not make."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from fateforger.calendar.event import PLAIN, EventImage
from fateforger.calendar.ports import Create, Delete, Gone, Outcome, Rejected, Stale, Unknown, Update, Write, WriteKind
from fateforger.errors import CalendarError
from fateforger.values import replace

WRITE_SECONDS = 14.0
"""Seconds for one write of the port, including the reads before it. Shorter than what must be left of the lease when a
write starts (``access.Limits``), so that no write outlives its lease."""


class FailedRead(Protocol):
    """A read before a write that has no usable answer."""

    def to_outcome(self, kind: WriteKind) -> Outcome:
        """Return the outcome of the write, which could not start."""
        ...

    def to_error(self) -> CalendarError:
        """Return the error of a plain read."""
        ...


class GuardedWrites(ABC):
    """The writes of an adapter, which defines how an event is found and how each write is sent.

    Writes to an event without our marker, a series, an occurrence or another person's invitation are refused.
    """

    write_seconds = WRITE_SECONDS

    async def write(self, write: Write) -> Outcome:
        """Carry out a write; its outcome is unknown if it takes too long."""
        try:
            async with asyncio.timeout(self.write_seconds):
                return await (self._create(write) if isinstance(write, Create) else self._write_over(write))
        except TimeoutError:
            return Unknown(f"no answer within {self.write_seconds:g} s")

    async def _write_over(self, write: Update | Delete) -> Outcome:
        """Write to an event, and again if it changed in between and the caller expects no version.

        The first attempt is given an event that was seen before, to save a read. It cannot establish that the event is
        gone: only an attempt that reads can.
        """
        outcome: Outcome = Gone()
        seen = self._get_seen(write)
        for number in range(2 if seen is None else 3):
            trusted = None if number else seen
            outcome = await self._attempt(write, trusted)
            unsure = isinstance(outcome, Gone) and trusted is not None
            if not unsure and (write.expect is not None or not isinstance(outcome, Stale)):
                return outcome
        return outcome

    async def _create(self, write: Create) -> Outcome:
        outcome = await self._insert(write)
        # A guest, a place or an attachment that the calendar refuses must not prevent the event itself.
        plain = replace(write, extras=PLAIN)
        return await self._insert(plain) if isinstance(outcome, Rejected) and write != plain else outcome

    async def _attempt(self, write: Update | Delete, seen: EventImage | None) -> Outcome:
        """Write over the event that was ``seen``, or else as it is read now, if it is ours."""
        found = seen or await self._find(write.event_id)
        return await write_if_ours(found, write, partial(self._send_over, write))

    async def get(self, event_id: str) -> EventImage | None:
        """Return an event; ``None`` for an unknown id. Raises :class:`~fateforger.errors.CalendarError`."""
        found = await self._find(event_id)
        if found is None or isinstance(found, EventImage):
            return found
        raise found.to_error()

    @abstractmethod
    async def _find(self, event_id: str) -> EventImage | FailedRead | None: ...

    @abstractmethod
    async def _insert(self, write: Create) -> Outcome: ...

    @abstractmethod
    async def _send_over(self, write: Update | Delete, found: EventImage) -> Outcome: ...

    @abstractmethod
    def _get_seen(self, write: Update | Delete) -> EventImage | None:
        """Return the event as it was seen before, if that can replace the first read."""


async def write_if_ours(
    found: EventImage | FailedRead | None, write: Update | Delete, send: Callable[[EventImage], Awaitable[Outcome]]
) -> Outcome:
    """Send a write to an event as it was found, if it is there, ours, and of the expected version."""
    if found is None:
        return Gone()
    if not isinstance(found, EventImage):
        return found.to_outcome(write.kind)
    if found.gone:
        return Gone()
    return _refuse(found, write.expect) or await send(found)


def _refuse(found: EventImage, expect: str | None) -> Outcome | None:
    """Return the reason an event may not be written to; ``None`` if it may."""
    own_kind = found.series_id is None and found.event_type == "default" and found.organized_by_me
    if not own_kind or found.marker is None:
        return Rejected(f"“{found.summary[:60]}” is not an event that fateforger made.")
    return Stale() if expect is not None and found.version != expect else None
