"""Begin sessions: on request, or from a message that asks for a plan."""

from __future__ import annotations

from dataclasses import dataclass

from fateforger.coordinator import starting
from fateforger.coordinator.logbook import TurnLog
from fateforger.coordinator.looking import Looker
from fateforger.coordinator.memory import MemoryService
from fateforger.coordinator.messages import add_rating, build_messages
from fateforger.coordinator.opening import find_recent_session, run_first_turn, to_reply
from fateforger.coordinator.outside import ExternalTaskList
from fateforger.coordinator.taskdesk import QueueService
from fateforger.coordinator.telling import TurnModel
from fateforger.coordinator.turns import Turns
from fateforger.coordinator.underway import RunningTurn
from fateforger.ports import Model, Sessions
from fateforger.session import commands
from fateforger.session.commands import Start
from fateforger.session.model import CalendarWrite, Session, SessionStatus
from fateforger.session.progress import ignore_progress
from fateforger.tasks.hydrated import HydratedMessage


@dataclass(frozen=True, slots=True)
class SessionStarter:
    """Begins sessions, and routes messages that begin none. All methods raise ``StoreError``."""

    sessions: Sessions
    turns: Turns
    looker: Looker
    logbook: TurnLog
    calendar_write: CalendarWrite
    model: Model | None
    memory: MemoryService | None
    tasks: QueueService | None
    outside: ExternalTaskList | None

    async def start(self, start: Start) -> None:
        """Begin a session, and read its day in the background.

        In a thread with an active session, show the state of that session instead.
        """
        running = None
        if start.thread_ts is not None:
            running = await self.sessions.in_thread(start.channel, start.thread_ts)
        if running is not None and running.status is SessionStatus.ACTIVE:
            if start.command_id not in running.handled:
                after, messages = build_messages(
                    None, running.after_command(start.command_id, start.at), start.command_id
                )
                await self.sessions.save(after, expected=running.version, outgoing=messages)
            return
        if await self.sessions.load(starting.format_session_id(start)) is not None:
            return
        session = starting.build_session(
            start, await self.sessions.of_user(start.user_id), calendar_write=self.calendar_write
        )
        self._look_ahead(session)
        session, messages = build_messages(None, session.after_command(start.command_id, start.at), start.command_id)
        await self.sessions.save(session, expected=0, outgoing=messages)

    async def on_opening(self, opening: commands.Opening) -> bool:
        """See :meth:`fateforger.coordinator.door.CoordinatorPort.on_opening`.

        Only messages that address the bot are read.
        """
        earlier = await self.sessions.of_user(opening.user_id)
        running = None
        if opening.thread_ts is not None:
            running = await self.sessions.in_thread(opening.channel, opening.thread_ts)
        if running is None and opening.addressed:
            running = find_recent_session(opening, earlier)
        if running is not None:
            if opening.addressed or running.user_id == opening.user_id:
                await self.turns.carry_out(to_reply(running.id, opening), ignore_progress)
            return True
        if not opening.addressed or not opening.text:
            return not opening.addressed
        if self.tasks is not None and await self.tasks.handle_typed(opening):
            return True
        if self.model is None:
            return False
        model = TurnModel(self.model, RunningTurn(opening.at), ignore_progress)
        queue = () if self.tasks is None else await self.tasks.queue(opening.user_id)
        session = await run_first_turn(opening, earlier, queue, model, self.logbook, calendar_write=self.calendar_write)
        if session is None or isinstance(session, HydratedMessage):
            return session is not None and self.tasks is not None and await self.tasks.route(opening, session)
        self._look_ahead(session)
        session, messages = build_messages(
            None, session.after_command(opening.command_id, opening.at), opening.command_id
        )
        messages = add_rating(messages, opening.command_id, model.prompts)
        await self.sessions.save(session, expected=0, outgoing=messages)
        return True

    def _look_ahead(self, session: Session) -> None:
        """Start to read what Stage 1 shows, before it is needed (S39, S102)."""
        self.looker.begin(session.date, session.tz)
        if self.outside is not None:
            self.outside.begin()
        if self.memory is not None:
            self.memory.begin(session.user_id)
