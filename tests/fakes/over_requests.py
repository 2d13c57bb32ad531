"""A real adapter in the place of the fake of the port: what is a call there is a request here."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Generic, TypeVar

import httpx
from tests.fakes.google_calendar import (
    Answer,
    CallFailure,
    GoogleCalendarFake,
    LateWrite,
    LostAnswer,
    Status,
    Verb,
    strike,
)

from fateforger.calendar.event import EventImage
from fateforger.calendar.ports import Calendar, CalendarTraits, Outcome, Write
from fateforger.values import replace

_WRITES = ("create", "update", "delete")
Reply = TypeVar("Reply")


class OverRequests(GoogleCalendarFake, Generic[Reply]):
    """The port by ``adapter``, whose requests come through :meth:`send`."""

    adapter: Calendar

    @property
    def traits(self) -> CalendarTraits:
        return replace(self.adapter.traits, writes_at_once=None)  # histories vary how much happens at once

    async def window(self, start: datetime, end: datetime) -> tuple[EventImage, ...]:
        return await self.adapter.window(start, end)

    async def get(self, event_id: str) -> EventImage | None:
        return await self.adapter.get(event_id)

    async def write(self, write: Write) -> Outcome:
        return await self.adapter.write(write)

    @abstractmethod
    def refuse(self, fault: Answer | Status) -> Reply:
        """Return the answer to a request that meets this fault."""

    async def send(
        self, verb: Verb, event_id: str | None, effect: Callable[[], Reply], arguments: Mapping[str, Any]
    ) -> Reply:
        """Let a request meet its faults. Raises an error of httpx for one without an answer."""
        position, faults = await self._begin(verb, event_id, dict(arguments))
        reply: Reply | None = None
        applied = False
        try:
            for fault in faults:
                strike(fault, "before")
                if isinstance(fault, Answer) or (isinstance(fault, Status) and not fault.after):
                    reply = self.refuse(fault)
                    return reply
                if isinstance(fault, CallFailure):
                    raise httpx.ConnectError("nobody listens")
                if isinstance(fault, LateWrite):
                    if verb in _WRITES:
                        self._late.append((len(self.calls) + fault.calls, effect))
                    raise httpx.ReadTimeout("too late")
            reply = effect()
            applied = verb in _WRITES and not self.is_refusal(reply)
            for fault in faults:
                strike(fault, "after")
                if isinstance(fault, LostAnswer):
                    raise httpx.ReadTimeout("too late")
                if isinstance(fault, Status):
                    return self.refuse(fault)
            return reply
        finally:
            self._end(position, applied=applied, result=reply)

    @abstractmethod
    def is_refusal(self, reply: Reply) -> bool: ...
