"""Begin sessions: on request, or from a message that asks for a plan."""

from __future__ import annotations

from dataclasses import dataclass

from fateforger.coordinator import starting
from fateforger.coordinator.logbook import Logbook
from fateforger.coordinator.looking import Looker
from fateforger.coordinator.memory import MemoryDesk
from fateforger.coordinator.messages import owed, rateable
from fateforger.coordinator.opening import begun_just_now, first_turn, reply_to
from fateforger.coordinator.outside import OutsideList
from fateforger.coordinator.taskdesk import TaskDesk
from fateforger.coordinator.telling import TellingModel
from fateforger.coordinator.turns import Turns
from fateforger.coordinator.underway import Course
from fateforger.ports import Model, Sessions
from fateforger.session import commands
from fateforger.session.commands import Start
from fateforger.session.model import CalendarWrite, Session, SessionStatus
from fateforger.session.progress import untold
from fateforger.tasks.hydrated import Hydrated


@dataclass(frozen=True, slots=True)
class Beginnings:
    """Begins sessions, and routes messages that begin none. All methods raise ``StoreError``."""

    sessions: Sessions
    turns: Turns
    looker: Looker
    logbook: Logbook
    calendar_write: CalendarWrite
    model: Model | None
    memory: MemoryDesk | None
    tasks: TaskDesk | None
    outside: OutsideList | None

    async def start(self, start: Start) -> None:
        """Begin a session, and read its day in the background.

        In a thread with an active session, show the state of that session instead.
        """
        running = None
        if start.thread_ts is not None:
            running = await self.sessions.in_thread(start.channel, start.thread_ts)
        if running is not None and running.status is SessionStatus.ACTIVE:
            if start.command_id not in running.handled:
                after, messages = owed(None, running.touched(start.command_id, start.at), start.command_id)
                await self.sessions.save(after, expected=running.version, outgoing=messages)
            return
        if await self.sessions.load(starting.session_id(start)) is not None:
            return
        session = starting.begun(start, await self.sessions.of_user(start.user_id), calendar_write=self.calendar_write)
        self._look_ahead(session)
        session, messages = owed(None, session.touched(start.command_id, start.at), start.command_id)
        await self.sessions.save(session, expected=0, outgoing=messages)

    async def on_opening(self, opening: commands.Opening) -> bool:
        """See :meth:`fateforger.coordinator.door.Door.on_opening`.

        Only messages that address the bot are read.
        """
        earlier = await self.sessions.of_user(opening.user_id)
        running = None
        if opening.thread_ts is not None:
            running = await self.sessions.in_thread(opening.channel, opening.thread_ts)
        if running is None and opening.addressed:
            running = begun_just_now(opening, earlier)
        if running is not None:
            if opening.addressed or running.user_id == opening.user_id:
                await self.turns.carry_out(reply_to(running.id, opening), untold)
            return True
        if not opening.addressed or not opening.text:
            return not opening.addressed
        if self.tasks is not None and await self.tasks.handle_typed(opening):
            return True
        if self.model is None:
            return False
        model = TellingModel(self.model, Course(opening.at), untold)
        queue = () if self.tasks is None else await self.tasks.queue(opening.user_id)
        session = await first_turn(opening, earlier, queue, model, self.logbook, calendar_write=self.calendar_write)
        if session is None or isinstance(session, Hydrated):
            return session is not None and self.tasks is not None and await self.tasks.route(opening, session)
        self._look_ahead(session)
        session, messages = owed(None, session.touched(opening.command_id, opening.at), opening.command_id)
        messages = rateable(messages, opening.command_id, model.prompts)
        await self.sessions.save(session, expected=0, outgoing=messages)
        return True

    def _look_ahead(self, session: Session) -> None:
        """Start to read what Stage 1 shows, before it is needed (S39, S102)."""
        self.looker.begin(session.date, session.tz)
        if self.outside is not None:
            self.outside.begin()
        if self.memory is not None:
            self.memory.begin(session.user_id)
