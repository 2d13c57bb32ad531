"""Progress of a turn that takes longer than a moment: a status, and a way to stop."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from fateforger.errors import StoreError
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Job, Jobs
from fateforger.session.cards import Activity, Button, Controls, Note, Part, Progress, ProgressCallback, ignore_progress
from fateforger.session.commands import BackgroundCommand, InboxCommand, SessionCommand
from fateforger.session.commands.thread import Opening, StartTimeboxing
from fateforger.session.queue_commands import QueueCommandBase
from fateforger.session.store import HeadFilter, Outbox, Sent, Sessions, iter_heads
from fateforger.slack import phrases
from fateforger.slack.access import People
from fateforger.slack.agent_threads import AgentThreads, Step
from fateforger.slack.client import SlackCallError
from fateforger.slack.delivery import Delivery
from fateforger.slack.ids import STOP
from fateforger.slack.payloads import Place
from fateforger.text import capitalize, use_language
from fateforger.text import gettext as _
from fateforger.workers.lanes import STOP_TRIES, STOP_TRIES_DURING_TURN, STOP_TURN, TURN, JobHandler, StopTurn, TryLater
from fateforger.workers.people import LanguageService
from fateforger.workers.supervisor import BackgroundTasks, wait_for

log = logging.getLogger(__name__)


@dataclass
class Line:
    """Status of one thread.

    ``turns`` is the number of running turns in the thread. ``lit`` is true if Slack itself says that the bot is
    working there, or may; ``under`` are the slots of the messages that say so instead. An ``older`` thread began before
    this process.
    """

    channel: str
    thread_ts: str
    session_id: str | None
    user_id: str = ""
    older: bool = True
    turns: int = 0
    lit: bool = False
    under: set[str] = field(default_factory=set)
    busy: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True)
class StatusLines:
    """Shows and removes what a turn is doing, in one place only.

    Where Slack has agent sessions, it says that the bot is working, and shows its own Stop. A longer turn then shows
    its steps: at the end of the thread, where its card will be; or under the card that it changes. Where Slack has
    none, a line under the card says what is going on, with a Stop. Failures are only logged.
    """

    agent: AgentThreads
    sessions: Sessions
    outbox: Outbox
    delivery: Delivery

    async def begin(self, line: Line) -> None:
        """Have Slack show that the bot is working, if it can."""
        async with line.busy:
            line.lit = await self.agent.begin_work(line.channel, line.thread_ts)

    async def show(self, line: Line, words: str, steps: tuple[Step, ...], *, stops: str | None) -> None:
        """Show the steps of a turn. ``stops`` is the command that a Stop would end, once the turn is a longer one."""
        async with line.busy:
            try:
                if not line.lit:
                    await self._under_the_card(line, words, stops)
                elif stops is not None and steps and not await self._narrate(line, steps):
                    await self._under_the_card(line, words, stops=None)
            except SlackCallError as trouble:
                log.info("what a turn in %s does is not shown: %s", line.channel, trouble)

    async def clear(self, line: Line) -> None:
        """Remove what was shown, unless another turn has begun in the thread."""
        async with line.busy:
            if line.turns:
                return
            for slot in line.under:
                await self._redraw(line, slot)
            line.under.clear()
            if line.session_id is not None:
                await self.agent.remove_steps(line.session_id)
            if line.lit:
                session = None if line.session_id is None else await self.sessions.load(line.session_id)
                await self.agent.end_work(line.channel, line.thread_ts, session)
                line.lit = False

    async def clear_left(self, line: Line, *, under_card: bool = True) -> None:
        """Remove what a process that died may have left in a thread."""
        line.lit = True
        if under_card and line.older and line.session_id is not None:
            card = await self.outbox.latest(line.session_id)
            line.under |= set() if card is None else {card.slot}
        await self.clear(line)
        if line.session_id is not None:
            await self.agent.remove_left(line.channel, line.thread_ts)

    async def _narrate(self, line: Line, steps: tuple[Step, ...]) -> bool:
        """Show the steps at the end of the thread. Return ``False`` if the turn's card will not be there."""
        if line.session_id is None or line.under:
            return False
        if not self.agent.is_narrating(line.session_id):
            card = await self.outbox.latest(line.session_id)
            where = None if card is None else await self.outbox.slot(line.session_id, card.slot)
            if where is None or not await self.delivery.poster.count_later(where, line.thread_ts):
                return False
        place = Sent(line.channel, line.thread_ts)
        return await self.agent.narrate(line.session_id, line.user_id, place, steps)

    async def _under_the_card(self, line: Line, words: str, stops: str | None) -> None:
        if line.session_id is None:
            return
        card = await self.outbox.latest(line.session_id)
        if card is None:
            return
        line.under.add(card.slot)
        below: tuple[Part, ...] = (Note(text=f"_{capitalize(words)}_"),)
        if stops is not None:
            below = (*below, Controls(items=(Button(label=_(phrases.STOP_LABEL), action=STOP, target=stops),)))
        await self._redraw(line, card.slot, below)

    async def _redraw(self, line: Line, slot: str, below: tuple[Part, ...] = ()) -> None:
        try:
            await self.delivery.redraw(str(line.session_id), slot, below)
        except SlackCallError as trouble:
            log.info("a line under the card of %s was not shown: %s", line.session_id, trouble)


SLACK_FORGETS = timedelta(hours=1)
"""Slack ends the status of a session after this time."""

Handle = Callable[[InboxCommand, ProgressCallback], Awaitable[None]]
Stop = Callable[[str, datetime], bool]
"""Stops a turn that began before an instant, by the id of its session or its first message. Returns ``False`` if this
program runs none."""
STOP_PAUSE_SECONDS = 0.25
"""Seconds between two checks for a request to stop, and between two checks for its answer."""


@dataclass(frozen=True, slots=True)
class Timing:
    """Delays of the status, in seconds.

    A turn that is done ``soon`` shows nothing; after ``stop`` it is a longer one. ``gap`` is the minimum time between
    two updates, ``look`` the interval between two checks. ``arrival`` is how long the status waits for the card that
    replaces it. After ``form``, an open form says that its command is waiting; it checks for the result until
    ``patience``.
    """

    soon: float = 0.25
    stop: float = 2.0
    gap: float = 1.5
    look: float = 0.05
    arrival: float = 15.0
    form: float = 3.0
    patience: float = 180.0


DEFAULT_TIMING = Timing()


@dataclass(slots=True)
class Turn:
    """Running turn with its progress."""

    command: InboxCommand
    progress: Progress | None = None
    steps: dict[Activity, Progress] = field(default_factory=dict)
    """The latest progress of the activities so far, in the order of their beginning."""
    over: asyncio.Event = field(default_factory=asyncio.Event)
    line: Line | None = None

    def on_progress(self, progress: Progress) -> None:
        self.progress = progress
        self.steps[progress.doing] = progress

    def list_steps(self) -> tuple[Step, ...]:
        """Return the steps; all but the current one are done."""
        current = None if self.progress is None else self.progress.doing
        words = {doing: capitalize(phrases.describe_progress(progress)) for doing, progress in self.steps.items()}
        return tuple(Step(doing, said, done=doing is not current) for doing, said in words.items())


@dataclass(slots=True)
class Presence:
    """Runs a handler and shows the progress of the command meanwhile."""

    perform: Handle
    stop: Stop
    jobs: Jobs
    lines: StatusLines
    sessions: Sessions
    outbox: Outbox
    background: BackgroundTasks
    clock: Clock = field(kw_only=True)
    timing: Timing = field(kw_only=True)
    _began: datetime = field(init=False)
    _places: dict[tuple[str, str], Line] = field(init=False, default_factory=dict)
    _cleared: set[str] = field(init=False, default_factory=set)
    """Sessions whose thread shows no status of a previous process any more."""

    def __post_init__(self) -> None:
        self._began = self.clock.now()

    async def handle(self, command: InboxCommand) -> None:
        """Handle a command. The status is removed even if the handler raises."""
        if isinstance(command, StartTimeboxing | QueueCommandBase | BackgroundCommand):
            await self.perform(command, ignore_progress)
            return
        turn = Turn(command)
        showing = self.background.start(self._show(turn), name="status of a turn", awaited=True)
        if isinstance(command, SessionCommand):
            self.background.start(self._watch_for_stop(command.session_id, turn.over), name="requests to stop a turn")
        try:
            await self.perform(command, turn.on_progress)
        finally:
            turn.over.set()
            self.background.start(self._end(turn, showing), name="end of a status")

    async def _watch_for_stop(self, session_id: str, over: asyncio.Event) -> None:
        """Stop a turn when its person asks for that, whichever program received the request."""
        while not over.is_set():
            await wait_for(over, STOP_PAUSE_SECONDS)
            try:
                asked_at = await self.sessions.find_stop(session_id)
                if asked_at is not None and not over.is_set() and self.stop(session_id, asked_at):
                    await self.sessions.end_stop(session_id)
            except StoreError as error:
                log.info("a request to stop a turn cannot be looked up: %s", error.message)

    async def sweep(self) -> None:
        """Remove what a dead process may have left in recently active threads.

        A thread is left alone while a turn is not over: the program that runs it, or runs it again, removes all that.
        """
        async for head in iter_heads(self.sessions, HeadFilter(since=self._began - SLACK_FORGETS)):
            if head.thread_ts is not None and not await self.jobs.count_unfinished(TURN.name, head.id):
                await self.lines.clear_left(Line(head.channel, head.thread_ts, head.id), under_card=False)

    async def settle(self, channel: str, thread_ts: str, session_id: str | None) -> None:
        """End the status of a thread where no turn is running."""
        if (channel, thread_ts) not in self._places:
            await self.lines.clear_left(Line(channel, thread_ts, session_id))

    async def _show(self, turn: Turn) -> None:
        await wait_for(turn.over, self.timing.soon)
        if turn.over.is_set():
            return
        line = turn.line = await self._begin_line(turn.command)
        if line is None:
            return
        await self.lines.begin(line)
        began = self._now()
        shown: tuple[str, str | None] | None = None
        while not turn.over.is_set():
            waited = self._now() - began + self.timing.soon
            stops = turn.command.command_id if waited >= self.timing.stop and line.session_id is not None else None
            showing = (phrases.describe_progress(turn.progress), stops)
            if showing != shown:
                await self.lines.show(line, showing[0], turn.list_steps(), stops=stops)
                shown = showing
            await wait_for(turn.over, self.timing.gap)

    async def _end(self, turn: Turn, showing: asyncio.Task[None]) -> None:
        try:
            await showing
            line = turn.line
            left = self._may_show_old_status(turn.command)
            if line is None and left:
                line = turn.line = await self._begin_line(turn.command)
            if line is None:
                return
            await self._wait_for_card(line)
        except StoreError as error:
            log.info("nobody knows whether a card has arrived: %s", error.message)
            line, left = turn.line, False
        if line is not None:
            await self._leave(line, left=left)

    def _may_show_old_status(self, command: InboxCommand) -> bool:
        """Check whether a previous process may have died in a turn of this thread, leaving its status or its steps.

        The first turn of a session removes them, so the next ones need not.
        """
        if isinstance(command, Opening | StartTimeboxing | QueueCommandBase):
            return self.clock.now() - self._began < SLACK_FORGETS
        first = command.session_id not in self._cleared
        self._cleared.add(command.session_id)
        return first

    async def _wait_for_card(self, line: Line) -> None:
        """Wait, up to a limit, until the card of the turn has been sent."""
        if line.session_id is None:
            return
        until = self._now() + self.timing.arrival
        while self._now() < until and await self.outbox.owes(line.session_id):  # noqa: ASYNC110  another process may send
            await asyncio.sleep(self.timing.look)

    async def _leave(self, line: Line, *, left: bool) -> None:
        line.turns -= 1
        try:
            await (self.lines.clear_left(line) if left and not line.turns else self.lines.clear(line))
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
            channel, thread_ts = command.heard_place
            return None if thread_ts is None else Line(channel, thread_ts, None)
        if isinstance(command, StartTimeboxing | QueueCommandBase):
            return None
        session = await self.sessions.load(command.session_id)
        if session is None or session.thread_ts is None:
            return None
        older = session.created_at < self._began
        return Line(session.channel, session.thread_ts, session.id, session.user_id, older=older)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


def build_stop_handler(
    jobs: Jobs, sessions: Sessions, languages: LanguageService, people: People, presence: Presence
) -> JobHandler:
    """Return the handler that stops turns. If a stop comes too late, the person alone is told.

    The turn may run in another program on the same database, which looks there for requests to stop it. The reading of
    a first message has no record there: the program that reads it makes one of the next tries.
    """

    async def perform(wanted: StopTurn, job: Job) -> None:
        session_id = wanted.session_id
        if presence.stop(wanted.turn_id, wanted.at):
            if session_id is not None:
                await sessions.end_stop(session_id)
            return
        if session_id is not None:
            if job.attempts == 1:
                await sessions.ask_to_stop(session_id, wanted.at)
            elif await sessions.find_stop(session_id) is None:
                return  # another program has stopped it
        is_running = await jobs.count_unfinished(TURN.name, wanted.order_key) > 0
        if job.attempts < (STOP_TRIES_DURING_TURN if is_running else STOP_TRIES):
            raise TryLater("no turn of the session is under way here", STOP_PAUSE_SECONDS)
        if session_id is not None:
            await sessions.end_stop(session_id)
        place = Place(wanted.channel, wanted.thread_ts)
        if place.channel is not None and place.thread_ts is not None:
            await presence.settle(place.channel, place.thread_ts, session_id)
        use_language((await languages.of(wanted.user_id)).code)
        await people.send_ephemeral(wanted.user_id, place, _(phrases.STOP_TOO_LATE))

    return STOP_TURN.handle(perform)
