"""One calendar.

Reads raise an error of :mod:`fateforger.errors`. Writes never raise for an answer of the calendar: they return an
:data:`Outcome`, because "unknown" is an answer that the engine has to deal with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, Self

from fateforger.sync.model import PLAIN, EventExtras, EventFields, EventImage, Marker, OwnedId


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
    """An update can remove a colour. Otherwise ``color_id: None`` is left out among other changes, and alone it is
    :class:`Rejected`."""
    compares_on_delete: bool = False
    """A deletion compares the version with ``expect``, so that the event need not be read just before it."""


class Window(tuple[EventImage, ...]):  # noqa: SLOT001  a tuple takes no slots but empty ones
    """The content of a calendar in a span of time: the events, and the titles of those that could not be placed.

    ``left_out`` are events whose recurrence could not be computed in time. They may be on any day.
    """

    left_out: tuple[str, ...]

    def __new__(cls, events: Iterable[EventImage] = (), left_out: Iterable[str] = ()) -> Self:
        window = super().__new__(cls, events)
        window.left_out = tuple(sorted(set(left_out)))
        return window


class Calendar(Protocol):
    """One calendar of one person.

    No call can change an event of another origin: writes take an :class:`OwnedId`, and update and delete also refuse an
    event without our marker.
    """

    @property
    def key(self) -> str:
        """A stable name of this calendar, the same after a restart; the journal uses it as a key."""
        ...

    @property
    def traits(self) -> CalendarTraits: ...

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        """Return all events that overlap ``[start, end)``, series expanded, ordered by start then id.

        The answer is complete, except that a :class:`Window` lists what is missing. Raises
        :class:`~fateforger.errors.CalendarError`.
        """
        ...

    async def get(self, event_id: str) -> EventImage | None:
        """Return an event, also a cancelled one; ``None`` for an unknown id. Raises ``CalendarError``."""
        ...

    async def create(
        self, event_id: OwnedId, fields: EventFields, marker: Marker, extras: EventExtras = PLAIN
    ) -> Outcome:
        """Insert an event under an id that we chose.

        It gets those ``extras`` that the calendar accepts, which the image in :class:`Done` shows. No mail is sent.
        """
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
        """Set only the given managed fields (names and types as in :class:`EventFields`), and the marker.

        ``seen`` is the event as the caller read it seconds ago: a calendar may check it instead of reading the event
        again.
        """
        ...

    async def delete(self, event_id: OwnedId, *, expect: str | None = None) -> Outcome:
        """Remove the event.

        It is always read first, and a version other than ``expect`` may be :class:`Stale` even if writes cannot be
        conditional.
        """
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...
