"""Running turns. Each can be stopped: immediately while it thinks, but not once it acts."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar

from fateforger.session.commands import SessionCommand

T = TypeVar("T")


class TurnStopped(Exception):
    """The person stopped the turn before it had done anything."""


class RunningTurn:
    """One running turn. ``stop_asked`` is true once the person pressed Stop."""

    def __init__(self, began_with: datetime) -> None:
        self.began_with = began_with
        self.stop_asked = False
        self._acting = False
        self._thinking: set[asyncio.Future[Any]] = set()

    def stop(self) -> None:
        """Cancel the work that can be canceled. Repeated calls have no effect."""
        self.stop_asked = True
        for work in self._thinking:
            work.cancel()

    async def unless_stopped(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of the work. Raises :class:`TurnStopped` if the turn was stopped, before or meanwhile."""
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
        """Commit the turn: from here on it is carried out completely.

        Raises :class:`TurnStopped` if it was stopped before; with ``whatever`` it goes on anyway.
        """
        if self.stop_asked and not self._acting and not whatever:
            raise TurnStopped
        self._acting = True


class RunningTurns:
    """At most one running turn per session; the caller ensures this."""

    def __init__(self) -> None:
        self._courses: dict[str, RunningTurn] = {}

    @contextmanager
    def course(self, command: SessionCommand) -> Iterator[RunningTurn]:
        """Register the turn of a command until the block ends."""
        course = self._courses[command.session_id] = RunningTurn(command.at)
        try:
            yield course
        finally:
            if self._courses.get(command.session_id) is course:
                del self._courses[command.session_id]

    def stop(self, session_id: str, asked_at: datetime) -> bool:
        """Stop the session's turn; ``False`` if there is none that began before ``asked_at``."""
        course = self._courses.get(session_id)
        if course is None or course.began_with > asked_at:
            return False
        course.stop()
        return True
