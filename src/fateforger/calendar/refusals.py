"""Writes of adapters, guarded and tried twice, and the refusals of providers as outcomes and errors."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Protocol, assert_never

from fateforger.calendar.event import PLAIN, EventImage
from fateforger.calendar.ports import (
    Create,
    Delete,
    Exists,
    Gone,
    Limited,
    Outcome,
    Rejected,
    Stale,
    Unauthorized,
    Unknown,
    Update,
    Write,
    WriteKind,
)
from fateforger.errors import (
    CalendarAuthFailed,
    CalendarError,
    CalendarIncomplete,
    CalendarNotFound,
    CalendarReadOnly,
    CalendarUnreachable,
)
from fateforger.text import gettext as _
from fateforger.text import mark_message, truncate
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


_LONGEST = 300


class RefusalKind(StrEnum):
    """The kind of an answer that is not a success."""

    LOGIN = "login"
    """The login expired, was refused, lacks a right, or was not specified: the person has to connect again."""
    LIMITED = "limited"
    READ_ONLY = "read_only"
    """The login may read the calendar, but not write to it."""
    FORBIDDEN = "forbidden"
    NO_CALENDAR = "no_calendar"
    NOT_FOUND = "not_found"
    """404: the event or the whole calendar is not there."""
    EXISTS = "exists"
    """The id of a create was used before."""
    CONFLICT = "conflict"
    """409 without details: the id exists, or another write was in progress."""
    DELETED = "deleted"
    """410."""
    CHANGED = "changed"
    """412."""
    EXPIRED = "expired"
    """A token for changes that is no longer good: everything has to be read."""
    INVALID = "invalid"
    """400: it will be refused again."""
    TROUBLE = "trouble"
    """The provider failed, or the connection to it; a write may have taken effect."""
    UNCLEAR = "unclear"
    """An answer that cannot be read, or an unknown text."""


ACCESS_LOST = mark_message(
    "This calendar no longer lets me change what I wrote ({reason}). Please give me the right to make changes to it"
    " again, or connect it again."
)
"""About a write over an event that is there already, for which another calendar would not help."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The sentences of a provider, each with the place of a ``reason``.

    ``no_write`` holds those about writes that are refused for good, and ``no_read`` those about reads; ``unusable`` is
    about any other answer to a read. ``wait`` is the reason for a wait in a few words, if it is known.
    """

    login: str
    not_found: str
    no_write: Mapping[RefusalKind, str]
    no_read: Mapping[RefusalKind, str]
    unusable: str
    wait: str = ""

    @property
    def pause(self) -> str:
        """Reason for a wait, in the language of the person."""
        return _(self.wait) if self.wait else ""

    def to_outcome(
        self,
        refusal: RefusalKind,
        reason: str,
        kind: WriteKind,
        *,
        retry_after: float | None = None,
        sentence: str = "",
    ) -> Outcome:
        """Return the outcome of a refused write.

        In doubt it is :class:`Unknown`, which makes the engine read the event. ``sentence`` is complete, and replaces
        the provider's about the login.
        """
        creating = kind == "create"
        match refusal:
            case RefusalKind.LIMITED:
                return Limited(retry_after, self.pause)
            case RefusalKind.LOGIN:
                return Unauthorized(sentence or _(self.login, reason=reason))
            case RefusalKind.NO_CALENDAR:
                return Rejected(_(self.not_found, reason=reason))
            case RefusalKind.READ_ONLY | RefusalKind.FORBIDDEN if not creating:
                return Rejected(_(ACCESS_LOST, reason=reason))
            case RefusalKind.READ_ONLY | RefusalKind.FORBIDDEN | RefusalKind.INVALID:
                return Rejected(_(self.no_write[refusal], reason=reason))
            case RefusalKind.NOT_FOUND | RefusalKind.DELETED:
                return Rejected(_(self.not_found, reason=reason)) if creating else Gone()
            case RefusalKind.EXISTS | RefusalKind.CONFLICT if creating:
                return Exists()
            case RefusalKind.CONFLICT | RefusalKind.CHANGED if not creating:
                return Stale()
            case (
                RefusalKind.EXISTS
                | RefusalKind.CONFLICT
                | RefusalKind.CHANGED
                | RefusalKind.EXPIRED
                | RefusalKind.TROUBLE
                | RefusalKind.UNCLEAR
            ):
                return Unknown(reason)
            case _:
                assert_never(refusal)

    def to_error(
        self, refusal: RefusalKind, reason: str, *, retry_after: float | None = None, sentence: str = ""
    ) -> CalendarError:
        """Return the error of a refused read; ``sentence`` is complete, about the login or the connection."""
        match refusal:
            case RefusalKind.LOGIN:
                return CalendarAuthFailed(sentence or _(self.login, reason=reason))
            case RefusalKind.READ_ONLY | RefusalKind.FORBIDDEN:
                return CalendarReadOnly(_(self.no_read[refusal], reason=reason))
            case RefusalKind.NO_CALENDAR | RefusalKind.NOT_FOUND | RefusalKind.DELETED:
                return CalendarNotFound(_(self.not_found, reason=reason))
            case RefusalKind.LIMITED:
                text = _(self.no_read[refusal], reason=reason)
                return CalendarUnreachable(text, retry_after=retry_after, reason=self.pause)
            case RefusalKind.TROUBLE:
                return CalendarUnreachable(sentence or _(self.no_read[refusal], reason=reason))
            case (
                RefusalKind.EXISTS
                | RefusalKind.CONFLICT
                | RefusalKind.CHANGED
                | RefusalKind.EXPIRED
                | RefusalKind.INVALID
                | RefusalKind.UNCLEAR
            ):
                return CalendarIncomplete(_(self.unusable, reason=reason))
            case _:
                assert_never(refusal)


@dataclass(frozen=True, slots=True)
class Refused:
    """A request without a usable answer.

    ``message`` is the provider's; ``retry_after`` is in seconds, if it named a pause. ``sentence`` is a complete
    one for the person, if there is one.
    """

    wording: Wording
    refusal: RefusalKind
    message: str
    retry_after: float | None = None
    sentence: str = ""

    @property
    def reason(self) -> str:
        """The message for use inside a sentence."""
        return truncate(self.message.split("\n", 1)[0].strip().rstrip("."), _LONGEST) or _("no reason given")

    def to_outcome(self, kind: WriteKind) -> Outcome:
        return self.wording.to_outcome(
            self.refusal, self.reason, kind, retry_after=self.retry_after, sentence=self.sentence
        )

    def to_error(self) -> CalendarError:
        return self.wording.to_error(self.refusal, self.reason, retry_after=self.retry_after, sentence=self.sentence)
