"""Tool calls as questions and orders: each ends in a model of its answer, or in why there is none."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import BaseModel

from fateforger.adapters.calendar.connection import Trouble
from fateforger.adapters.calendar.endpoint import described
from fateforger.adapters.calendar.limits import CALLS_AT_ONCE
from fateforger.adapters.calendar.outcomes import Write, error_of, outcome_of
from fateforger.adapters.calendar.refusals import Refusal, read_refusal
from fateforger.adapters.calendar.session import McpSession
from fateforger.adapters.calendar.wire import Unreadable, read_answer
from fateforger.errors import CalendarError, CalendarIncomplete, CalendarUnreachable
from fateforger.ports import Outcome, Unknown

Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Refused:
    """A question without an answer: ``error`` for whoever only asked, ``outcome`` for whoever asked before a write."""

    refusal: Refusal
    text: str
    error: CalendarError

    def outcome(self, write: Write) -> Outcome:
        """What it makes of a write that was not even begun."""
        return outcome_of(self.refusal, self.text, write)


class CalendarTools:
    """The tools of one server, a few calls at a time."""

    def __init__(self, session: McpSession, *, at_once: int = CALLS_AT_ONCE) -> None:
        self.session = session
        self._turn = asyncio.Semaphore(at_once)

    @property
    def server(self) -> str:
        """How to speak of the server to a person."""
        return described(self.session.endpoint)

    async def ask(self, tool: str, arguments: Mapping[str, Any], model: type[Answer]) -> Answer | Refused:
        """Call a tool that changes nothing; it may be called twice."""
        try:
            async with self._turn:
                reply = await self.session.call(tool, arguments, repeatable=True)
            if not reply.failed:
                return read_answer(reply.text, model)
            refusal = read_refusal(reply.text)
            return Refused(refusal, reply.text, error_of(refusal, reply.text))
        except Trouble as trouble:
            unreachable = CalendarUnreachable(f"I cannot reach {self.server}: {trouble}.")
            return Refused(Refusal.TROUBLE, str(trouble), unreachable)
        except Unreadable as problem:
            return self.unreadable(problem)

    async def tell(
        self, write: Write, tool: str, arguments: Mapping[str, Any], model: type[Answer]
    ) -> Answer | Outcome:
        """Call a tool that changes something, once."""
        try:
            async with self._turn:
                reply = await self.session.call(tool, arguments, repeatable=False)
            if reply.failed:
                return outcome_of(read_refusal(reply.text), reply.text, write)
            return read_answer(reply.text, model)
        except Trouble as trouble:
            return Unknown(f"{type(trouble).__name__}: {trouble}")
        except Unreadable as problem:
            return Unknown(f"an answer that cannot be read: {problem}")

    def unreadable(self, problem: Unreadable) -> Refused:
        """The server answered something else than its contract says."""
        text = f"I do not understand what {self.server} answers: {problem}."
        return Refused(Refusal.UNCLEAR, text, CalendarIncomplete(text))
