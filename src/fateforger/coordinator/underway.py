"""The turns under way, each of which can be asked to stop: at once while it thinks, not once it acts."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

from fateforger.session.commands import SessionCommand

T = TypeVar("T")


class TurnStopped(Exception):
    """The person asked the turn to stop before it had done anything."""


class Course:
    """One turn on its way. ``stop_asked`` tells whether the person pressed Stop."""

    def __init__(self, began_with: datetime) -> None:
        self.began_with = began_with
        self.stop_asked = False
        self._acting = False
        self._thinking: set[asyncio.Future[Any]] = set()

    def stop(self) -> None:
        """End what can be ended. Asking twice is asking once."""
        self.stop_asked = True
        for work in self._thinking:
            work.cancel()

    async def unless_stopped(self, work: Coroutine[Any, Any, T]) -> T:
        """What the work gives. Raises :class:`TurnStopped` when the person asks for that meanwhile, or has before."""
        if self.stop_asked and not self._acting:
            work.close()
            raise TurnStopped
        thinking = asyncio.ensure_future(work)
        if not self._acting:
            self._thinking.add(thinking)
        try:
            return await thinking
        except asyncio.CancelledError:
            me = asyncio.current_task()
            if self.stop_asked and not self._acting and not (me is not None and me.cancelling()):
                raise TurnStopped from None
            raise
        finally:
            self._thinking.discard(thinking)

    def act(self, *, whatever: bool = False) -> None:
        """From here on the turn is carried out whole. Raises :class:`TurnStopped` when it was to stop before;
        ``whatever`` was asked, it goes on."""
        if self.stop_asked and not self._acting and not whatever:
            raise TurnStopped
        self._acting = True


class Underway:
    """At most one turn per session, as the caller sees to it."""

    def __init__(self) -> None:
        self._courses: dict[str, Course] = {}

    @contextmanager
    def course(self, command: SessionCommand) -> Iterator[Course]:
        """The turn of a command, for as long as the block lasts."""
        course = self._courses[command.session_id] = Course(command.at)
        try:
            yield course
        finally:
            if self._courses.get(command.session_id) is course:
                del self._courses[command.session_id]

    def stop(self, session_id: str, asked_at: datetime) -> bool:
        """Ask the session's turn to stop; ``False`` when there is none that began before."""
        course = self._courses.get(session_id)
        if course is None or course.began_with > asked_at:
            return False
        course.stop()
        return True
