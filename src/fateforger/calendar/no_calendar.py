"""The calendar of somebody who has connected none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn, Self

from fateforger.calendar.event import PLAIN, EventExtras, EventFields, EventImage, Marker, OwnedId
from fateforger.calendar.ports import CalendarTraits, Outcome, Unauthorized
from fateforger.errors import CalendarNotConnected
from fateforger.text import gettext as _
from fateforger.text import mark_message

NOT_CONNECTED = mark_message("You have not connected a calendar, so I can neither read nor change one.")


@dataclass(frozen=True, slots=True)
class MissingCalendar:
    """Answers each read with :class:`CalendarNotConnected` and each write with ``Unauthorized``.

    Implements :class:`fateforger.calendar.ports.Calendar`. With the ``key`` of a calendar that was connected before,
    the history of what was written to it can still be read.
    """

    key: str
    problem: str = ""
    """Why a calendar that was connected is not any more; empty if there was none."""

    @property
    def traits(self) -> CalendarTraits:
        return CalendarTraits()

    def in_background(self) -> Self:
        return self

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        del start, end
        self._refuse()

    async def get(self, event_id: str) -> EventImage | None:
        del event_id
        self._refuse()

    async def create(
        self, event_id: OwnedId, fields: EventFields, marker: Marker, extras: EventExtras = PLAIN
    ) -> Outcome:
        del event_id, fields, marker, extras
        return Unauthorized(self._reason)

    async def update(
        self,
        event_id: OwnedId,
        changes: Mapping[str, Any],
        marker: Marker,
        *,
        expect: str | None = None,
        seen: EventImage | None = None,
    ) -> Outcome:
        del event_id, changes, marker, expect, seen
        return Unauthorized(self._reason)

    async def delete(self, event_id: OwnedId, *, expect: str | None = None) -> Outcome:
        del event_id, expect
        return Unauthorized(self._reason)

    async def aclose(self) -> None:
        """Do nothing."""

    def _refuse(self) -> NoReturn:
        raise CalendarNotConnected(self._reason)

    @property
    def _reason(self) -> str:
        return self.problem or _(NOT_CONNECTED)
