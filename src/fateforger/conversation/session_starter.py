"""Start of a session, on request or from a message that asks for a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from fateforger.conversation.calendar_reads import Looker
from fateforger.conversation.language.answers import Wish
from fateforger.conversation.memory_service import MemoryService, RuleService
from fateforger.conversation.queue.service import QueueService
from fateforger.conversation.running_turns import RunningTurn, TurnModel
from fateforger.conversation.session_lifecycle import build_session, format_session_id
from fateforger.conversation.session_messages import add_rating, build_messages
from fateforger.conversation.task_offers import ExternalTaskList
from fateforger.conversation.turn_log import TurnLog
from fateforger.conversation.turn_values import TurnInput
from fateforger.conversation.turns import Turns
from fateforger.ports.model import Model
from fateforger.ports.people import PersonLanguage
from fateforger.session.cards import ignore_progress
from fateforger.session.commands.thread import Opening, Start, TimeboxingUserReply
from fateforger.session.model import CalendarWrite, InputFacts, Session, SessionStatus
from fateforger.session.queue_commands import ReadAgain
from fateforger.session.store import Sessions
from fateforger.tasks.durations import Estimate
from fateforger.tasks.intent import HydratedMessage, Purpose
from fateforger.tasks.task import QueuedTask
from fateforger.text import current_language, use_language
from fateforger.ui.session_cards import unread_card, welcome_card
from fateforger.workers.people import LanguageService

AT_ONCE = timedelta(seconds=20)
"""Time after a first message in which another message was written without seeing the answer (S228)."""


_NOT_OF_A_START = {"kind", "text", "addressed", "withheld", "heard_channel", "heard_thread_ts"}


def find_recent_session(opening: Opening, earlier: Sequence[Session]) -> Session | None:
    """Return the session that the person began in that channel just before, if there is one."""
    for session in earlier:
        soon = timedelta() <= opening.at - session.created_at <= AT_ONCE
        if soon and session.channel == opening.channel and session.status is SessionStatus.ACTIVE:
            return session
    return None


def to_reply(session_id: str, opening: Opening) -> TimeboxingUserReply:
    """Return the message as a reply to a session."""
    return TimeboxingUserReply(
        command_id=opening.command_id,
        user_id=opening.user_id,
        at=opening.at,
        session_id=session_id,
        text=opening.text,
        withheld=opening.withheld,
    )


@dataclass(frozen=True, slots=True)
class Unread:
    """A message that no model could read."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A session that a message begins, and what else the message wants there."""

    session: Session
    further: tuple[Wish, ...] = ()


async def run_first_turn(
    opening: Opening,
    earlier: Sequence[Session],
    queue: Sequence[QueuedTask],
    model: Model,
    logbook: TurnLog,
    *,
    calendar_write: CalendarWrite,
    memory: MemoryService,
    estimates: tuple[Estimate, ...],
    spoken: PersonLanguage,
) -> Begun | HydratedMessage | Unread | None:
    """Return the session that a message begins, or another request in it; ``None`` if there is nothing to do.

    The language of this task becomes that of the message, unless the person chose theirs.
    """
    start = Start(**opening.model_dump(exclude=_NOT_OF_A_START))
    session = build_session(start, earlier, calendar_write=calendar_write)
    session = session.with_options(language=spoken.code, language_chosen=spoken.chosen)
    reply = to_reply(session.id, opening)
    with logbook.turn(reply, session) as entry:
        opened = await entry.opening(reply, session, model, queue)
        if opened.unread:
            return Unread()
        if opened.language is not None:
            use_language(opened.language)
            session = session.with_options(language=opened.language)
        if not opened.plan:
            return opened.hydrated
        lines = (*session.notice_lines, *opened.lines)
        if opened.commands:
            first, *rest = opened.commands
            turn = TurnInput(session=session, command=first, rest=tuple(rest), lines=lines, estimates=estimates)
            session = (await entry.run(turn)).session
        else:
            session = session.with_notice(*lines)
        if opened.rules:
            # This comes before the session is saved: if the program dies, the message is read nevertheless.
            await memory.queue_extraction(reply)
        return Begun(session, opened.further)


@dataclass(frozen=True, slots=True)
class SessionStarter:
    """Begins sessions, and routes messages that begin none. All methods raise ``StoreError``."""

    sessions: Sessions
    turns: Turns
    looker: Looker
    logbook: TurnLog
    calendar_write: CalendarWrite
    model: Model | None
    memory: MemoryService
    rules: RuleService
    tasks: QueueService
    outside: ExternalTaskList | None
    languages: LanguageService

    async def start(self, start: Start) -> None:
        """Begin a session, and read its day in the background.

        In a thread with an active session, show the state of that session instead.
        """
        use_language((await self.languages.of(start.user_id)).code)
        running = None
        if start.thread_ts is not None:
            running = await self.sessions.in_thread(start.channel, start.thread_ts)
        if running is not None and running.status is SessionStatus.ACTIVE:
            if start.command_id not in running.thread.handled:
                after, messages = build_messages(
                    None, running.after_command(start.command_id, start.at), start.command_id
                )
                await self.sessions.save(after, expected=running.version, outgoing=messages)
            return
        if await self.sessions.load(format_session_id(start)) is not None:
            return
        session = build_session(start, await self.sessions.of_user(start.user_id), calendar_write=self.calendar_write)
        await self.tasks.planned.follow(session.with_day(inputs=InputFacts()), session)
        self._look_ahead(session)
        session, messages = build_messages(None, session.after_command(start.command_id, start.at), start.command_id)
        await self.sessions.save(session, expected=0, outgoing=messages)

    async def read_again(self, command: ReadAgain) -> None:
        """Read a first message again that no model could read before."""
        opening = Opening(
            command_id=command.command_id,
            user_id=command.user_id,
            at=command.at,
            channel=command.channel,
            thread_ts=command.thread_ts,
            tz=command.tz,
            text=command.text,
        )
        if not await self.on_opening(opening):
            await self.tasks.send(welcome_card(), opening)

    async def on_opening(self, opening: Opening) -> bool:
        """See :meth:`fateforger.conversation.ports.CoordinatorPort.on_opening`.

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
        if await self.tasks.handle_typed(opening):
            return True
        return self.model is not None and await self._read(opening, earlier, self.model)

    async def _read(self, opening: Opening, earlier: Sequence[Session], connected: Model) -> bool:
        """Read a first message and answer it; return ``False`` if there is nothing to answer."""
        model = TurnModel(connected, RunningTurn(opening.at), ignore_progress)
        queue = await self.tasks.queue(opening.user_id)
        spoken = await self.languages.of(opening.user_id)
        use_language(spoken.code)
        begun = await run_first_turn(
            opening,
            earlier,
            queue,
            model,
            self.logbook,
            calendar_write=self.calendar_write,
            memory=self.memory,
            estimates=await self.tasks.durations.estimates(opening.user_id),
            spoken=spoken,
        )
        if current_language() != spoken.code:
            await self.languages.note_written(opening.user_id, current_language())
        if isinstance(begun, Unread):
            await self.tasks.send(unread_card(opening.text), opening)
            return True
        if isinstance(begun, HydratedMessage) and begun.intent is Purpose.MEMORY:
            card = await self.rules.answer(to_reply("", opening), model)
            await self.tasks.send(card, opening)
            return True
        if begun is None or isinstance(begun, HydratedMessage):
            return begun is not None and await self.tasks.route(opening, begun)
        session = begun.session
        self._look_ahead(session)
        if begun.further:
            # Nothing is sent before the turn; if the program dies during it, the message is read again in the thread.
            await self.sessions.save(session, expected=0)
            await self.turns.carry_out(to_reply(session.id, opening), ignore_progress, begun.further)
            return True
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
        self.memory.begin(session.user_id)
