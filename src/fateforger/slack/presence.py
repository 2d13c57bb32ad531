"""Progress of a turn that takes longer than a moment: a status, and a way to stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from fateforger.errors import StoreError
from fateforger.ports import Clock, Outbox, Sessions
from fateforger.session.commands import BackgroundCommand, InboxCommand, Opening, Start
from fateforger.session.commands.queue import QueueCommandBase
from fateforger.session.progress import Progress, ProgressCallback, ignore_progress
from fateforger.slack import phrases
from fateforger.slack.errands import BackgroundTasks
from fateforger.slack.greeting import get_heard_place
from fateforger.slack.statusline import Line, StatusLines

log = logging.getLogger(__name__)

SLACK_FORGETS = timedelta(minutes=2)
"""Slack removes a status after this time."""

Handle = Callable[[InboxCommand, ProgressCallback], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Timing:
    """Delays of the status, in seconds.

    A turn that is done ``soon`` shows nothing; after ``stop`` it can be stopped. ``gap`` is the minimum time between
    two updates, ``refresh`` the maximum, ``look`` the interval between two checks. ``arrival`` is how long the status
    waits for the card that replaces it. After ``form``, an open form says that its command is waiting; it checks for
    the result until ``patience``.
    """

    soon: float = 0.25
    stop: float = 2.0
    gap: float = 1.5
    refresh: float = 60.0
    look: float = 0.05
    arrival: float = 15.0
    form: float = 3.0
    patience: float = 180.0


class Turn:
    """Running turn with its progress."""

    def __init__(self, command: InboxCommand) -> None:
        self.command = command
        self.progress: Progress | None = None
        self.over = asyncio.Event()
        self.line: Line | None = None

    def on_progress(self, progress: Progress) -> None:
        self.progress = progress

    async def is_over_within(self, seconds: float) -> bool:
        """Check whether the turn ends within the given time."""
        try:
            await asyncio.wait_for(self.over.wait(), seconds)
        except TimeoutError:
            return False
        return True


class Presence:
    """Runs a handler and shows the progress of the command meanwhile."""

    def __init__(
        self,
        handle: Handle,
        lines: StatusLines,
        sessions: Sessions,
        outbox: Outbox,
        background: BackgroundTasks,
        *,
        clock: Clock,
        timing: Timing | None = None,
    ) -> None:
        self._handle = handle
        self._lines = lines
        self._sessions = sessions
        self._outbox = outbox
        self._background = background
        self._clock = clock
        self._timing = timing or Timing()
        self._began = clock.now()
        self._places: dict[tuple[str, str], Line] = {}

    async def handle(self, command: InboxCommand) -> None:
        """Handle a command. The status is removed even if the handler raises."""
        if isinstance(command, Start | QueueCommandBase | BackgroundCommand):
            await self._handle(command, ignore_progress)
            return
        turn = Turn(command)
        showing = asyncio.create_task(self._show(turn))
        try:
            await self._handle(command, turn.on_progress)
        finally:
            turn.over.set()
            self._background.send(self._end(turn, showing))

    async def sweep(self) -> None:
        """Remove statuses that a dead process may have left in recently active threads."""
        for session in await self._sessions.touched_since(self._began - SLACK_FORGETS):
            if session.thread_ts is not None:
                line = Line(session.channel, session.thread_ts, session.id, lit=True)
                await self._lines.clear(line)

    async def _show(self, turn: Turn) -> None:
        if await turn.is_over_within(self._timing.soon):
            return
        line = turn.line = await self._begin_line(turn.command)
        if line is None:
            return
        began = shown_at = self._now()
        shown: tuple[str, str | None] | None = None
        while not turn.over.is_set():
            waited = self._now() - began + self._timing.soon
            stops = turn.command.command_id if waited >= self._timing.stop and line.session_id is not None else None
            showing = (phrases.describe_progress(turn.progress), stops)
            if showing != shown or self._now() - shown_at >= self._timing.refresh:
                await self._lines.show(line, showing[0], stops=stops)
                shown, shown_at = showing, self._now()
            await turn.is_over_within(self._timing.gap)

    async def _end(self, turn: Turn, showing: asyncio.Task[None]) -> None:
        try:
            await showing
            line = turn.line
            if line is None and self._clock.now() - self._began < SLACK_FORGETS:
                # A previous process may have died in this turn, leaving its status.
                line = turn.line = await self._begin_line(turn.command)
                if line is not None:
                    line.lit = True
            if line is None:
                return
            await self._wait_for_card(line)
        except StoreError as error:
            log.info("nobody knows whether a card has arrived: %s", error.message)
            line = turn.line
        if line is not None:
            await self._leave(line)

    async def _wait_for_card(self, line: Line) -> None:
        """Wait, up to a limit, until the card of the turn has been sent."""
        if line.session_id is None:
            return
        until = self._now() + self._timing.arrival
        while self._now() < until and await self._outbox.owes(line.session_id):  # noqa: ASYNC110  another process may send
            await asyncio.sleep(self._timing.look)

    async def _leave(self, line: Line) -> None:
        line.turns -= 1
        try:
            await self._lines.clear(line)
        except StoreError as error:
            log.info("a line under a card stays until the next one: %s", error.message)
        if not line.turns:
            self._places.pop((line.channel, line.thread_ts), None)

    async def _begin_line(self, command: InboxCommand) -> Line | None:
        """Return the line of the command's thread, and count one more turn in it."""
        try:
            line = await self._line(command)
        except StoreError as error:
            log.info("no status is shown: %s", error.message)
            return None
        if line is not None:
            line = self._places.setdefault((line.channel, line.thread_ts), line)
            line.turns += 1
        return line

    async def _line(self, command: InboxCommand) -> Line | None:
        if isinstance(command, Opening):
            channel, thread_ts = get_heard_place(command)
            return Line(channel, thread_ts, None)
        if isinstance(command, Start | QueueCommandBase):
            return None
        session = await self._sessions.load(command.session_id)
        if session is None or session.thread_ts is None:
            return None
        return Line(session.channel, session.thread_ts, session.id)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
