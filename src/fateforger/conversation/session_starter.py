"""Start of a session, on request or from a message that asks for a plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fateforger.conversation.calendar_reads import Looker
from fateforger.conversation.language.answers import OpeningReading
from fateforger.conversation.language.tables import OpenPlan, OutsideContext
from fateforger.conversation.memory_service import MemoryService, RuleService
from fateforger.conversation.queue.cards import build_reply
from fateforger.conversation.queue.service import QueueService
from fateforger.conversation.running_turns import STOPPED_AT_REST, RunningTurn, TurnModel, TurnStopped
from fateforger.conversation.session_messages import build_messages, build_session, with_feedback
from fateforger.conversation.task_offers import ExternalTaskList, find_offers
from fateforger.conversation.turn_runs import LogEntry, TurnLog
from fateforger.conversation.turn_values import TurnInput
from fateforger.conversation.turns import Turns
from fateforger.ports.model import Model
from fateforger.ports.people import PersonLanguage
from fateforger.session.cards import ignore_progress
from fateforger.session.commands.thread import Opening, StartTimeboxing, TimeboxingUserReply, format_session_id
from fateforger.session.frame import describe_noted
from fateforger.session.model import CalendarWrite, InputFacts, Session
from fateforger.session.queue_commands import QueueCommandBase, ReadAgain
from fateforger.session.stages import TimeboxingStage
from fateforger.session.store import Sessions
from fateforger.tasks.transitions import Purpose
from fateforger.text import current_language, format_day, use_language
from fateforger.text import gettext as _
from fateforger.ui.session_cards import unread_card, welcome_card
from fateforger.values import replace
from fateforger.workers.people import LanguageService

_NOT_OF_A_START = {"kind", "text", "opens", "to_plan", "withheld", "heard_channel", "heard_thread_ts"}


def _describe_plan(session: Session) -> OpenPlan:
    return OpenPlan(session_id=session.id, date=session.date, step=session.stage.value)


def to_reply(session_id: str, opening: Opening) -> TimeboxingUserReply:
    return TimeboxingUserReply(
        command_id=opening.command_id,
        user_id=opening.user_id,
        at=opening.at,
        session_id=session_id,
        text=opening.text,
        withheld=opening.withheld,
    )


def _to_start(opening: Opening) -> StartTimeboxing:
    return StartTimeboxing(**opening.model_dump(exclude=_NOT_OF_A_START))


MOST_PARTS = 4
"""Most requests in one message outside of plans."""


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

    async def start(self, start: StartTimeboxing) -> None:
        """Begin a session, and read its day in the background.

        In a thread with an active session, show the state of that session instead.
        """
        use_language((await self.languages.of(start.user_id)).code)
        running = None
        if start.thread_ts is not None:
            running = await self.sessions.in_thread(start.channel, start.thread_ts)
        if running is not None and running.is_open:
            if start.command_id not in running.thread.handled:
                after, messages = build_messages(
                    None, running.after_command(start.command_id, start.at), start.command_id
                )
                await self.sessions.save(after, expected=running.version, outgoing=messages)
            return
        if await self.sessions.load(format_session_id(start)) is not None:
            return
        earlier = await self.sessions.of_user(start.user_id)
        session = build_session(start, earlier, calendar_write=self.calendar_write)
        await self.tasks.planned.follow(session.with_day(inputs=InputFacts()), session)
        self._look_ahead(session)
        session, messages = build_messages(None, session.after_command(start.command_id, start.at), start.command_id)
        await self.sessions.save(session, expected=0, outgoing=messages)
        await self._compare_told(session, earlier)

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
        """See :meth:`fateforger.conversation.ports.CoordinatorPort.on_opening`."""
        earlier = await self.sessions.of_user(opening.user_id)
        if await self.tasks.handle_typed(opening):
            return True
        running = None
        if opening.thread_ts is not None:
            running = await self.sessions.in_thread(opening.channel, opening.thread_ts)
        if running is None and opening.opens:
            running = await self._find_unanswered(opening, earlier)
        if running is not None:
            with self.turns.running.course(opening.turn_id, opening.at) as course:
                await self.turns.carry_out(to_reply(running.id, opening), ignore_progress, course)
            return True
        if opening.text and self.model is not None and await self._read(opening, earlier, self.model):
            return True
        if opening.to_plan:
            await self.start(_to_start(opening))
        return opening.to_plan

    async def _find_unanswered(self, opening: Opening, earlier: Sequence[Session]) -> Session | None:
        """Return the session whose beginning the person goes on with: they wrote this before it was answered (S228)."""
        begun = [each for each in earlier if each.is_open and each.channel == opening.channel]
        latest = max(begun, key=lambda each: each.created_at, default=None)
        if latest is None or latest.created_at > opening.at:
            return None
        return latest if await self.sessions.is_unanswered(latest.id, opening.at) else None

    async def _read(self, opening: Opening, earlier: Sequence[Session], connected: Model) -> bool:
        """Read a first message and answer all that it wants; return ``False`` if there is nothing to answer."""
        spoken = await self.languages.of(opening.user_id)
        use_language(spoken.code)
        answered, part = False, opening
        with self.turns.running.course(opening.turn_id, opening.at) as course:
            model = TurnModel(connected, course, ignore_progress)
            for number in range(2, MOST_PARTS + 2):
                try:
                    opened = await self._read_part(part, earlier, model, spoken)
                except TurnStopped:
                    stopped = course.stop_reply if part is opening else _(STOPPED_AT_REST)
                    await self.tasks.send(build_reply(stopped), part)
                    answered = True
                    break
                if opened.unread:
                    await self.tasks.send(unread_card(part.text), part)
                answered = answered or opened.answers
                if opened.unread or opened.plan or not opened.rest:
                    break
                part = replace(opening, command_id=f"{opening.command_id}/{number}", text=opened.rest)
        if current_language() != spoken.code:
            await self.languages.note_written(opening.user_id, current_language())
        return answered

    async def _read_part(
        self, opening: Opening, earlier: Sequence[Session], model: TurnModel, spoken: PersonLanguage
    ) -> OpeningReading:
        """Read a message and carry out the first thing that it wants; the reading says what is left.

        The language of this task becomes that of the message, unless the person chose theirs. Raises
        :class:`TurnStopped` if the person stops it before it acts.
        """
        session = build_session(_to_start(opening), earlier, calendar_write=self.calendar_write)
        session = session.with_options(language=spoken.code, language_chosen=spoken.chosen)
        reply = to_reply(session.id, opening)
        context = await self.tasks.find_context(opening.user_id, opening.at, opening.channel, opening.thread_ts)
        context = replace(context, plans=tuple(_describe_plan(each) for each in earlier if each.is_open))
        with self.logbook.turn(reply, session) as entry:
            opened = await entry.opening(reply, session, model, context)
            model.course.check()
            if opened.language is not None:
                use_language(opened.language)
                session = session.with_options(language=opened.language)
            if opened.plan:
                await self._begin(opening, session, opened, model, entry)
                await self._compare_told(session, earlier)
            else:
                await self._answer(opening, opened, context, model)
        return opened

    async def _begin(
        self, opening: Opening, session: Session, opened: OpeningReading, model: TurnModel, entry: LogEntry
    ) -> None:
        """Begin the session of a message, with what it says of the day and what it wants besides."""
        reply, lines = to_reply(session.id, opening), (*session.notice_lines, *opened.lines)
        if opened.rules:
            # This comes before the session is saved: if the program dies, the message is read nevertheless.
            await self.memory.queue_extraction(reply)
        session = session.with_notice(*lines)
        read = [wish for wish in (tuple(opened.commands), *((move,) for move in opened.moves)) if wish]
        if read:
            (first, *rest), *later = read
            more, trouble = await find_offers(self.sessions, session, self.tasks.planned, self.outside, now=opening.at)
            turn = TurnInput(
                session=session,
                command=first,
                rest=tuple(rest),
                later=tuple(later),
                lines=lines,
                offered=more,
                offer_trouble=trouble,
                estimates=await self.tasks.durations.estimates(opening.user_id),
            )
            begun = (await entry.run(turn)).session
            session = begun.remark(*describe_noted(session, begun))
        self._look_ahead(session)
        if opened.further:
            session = await self.turns.begin(session, reply, opened, model, entry)
        else:
            session = await self._save_first(session, opening, model)
        if session.stage is not TimeboxingStage.DATE:
            self.turns.later.show_when_read(session)

    async def _save_first(self, session: Session, opening: Opening, model: TurnModel) -> Session:
        session = with_feedback(session, opening.command_id, model.prompts)
        session, messages = build_messages(
            None, session.after_command(opening.command_id, opening.at), opening.command_id
        )
        return await self.sessions.save(session, expected=0, outgoing=messages)

    async def _answer(
        self, opening: Opening, opened: OpeningReading, context: OutsideContext, model: TurnModel
    ) -> None:
        """Answer a message that asks for no plan."""
        hydrated, command = opened.hydrated, opened.command
        if hydrated is not None and hydrated.intent is Purpose.MEMORY:
            card, wrote = await self.rules.answer(to_reply("", opening), model, context.talk)
            if not wrote:
                model.course.check()
            await self.tasks.send(card, opening, wrote=wrote)
            if wrote:
                await self.memory.queue_comparison_outside(
                    opening.user_id, opening.at, opening.command_id, opening.channel, opening.thread_ts
                )
        elif hydrated is not None:
            await self.tasks.carry_out_request(hydrated, opening)
        elif isinstance(command, QueueCommandBase):
            await self.tasks.carry_out_request(command, opening)
        elif command is not None:
            card = await self.rules.answer_command(command)
            await self.tasks.send(card, opening, wrote=(command.command_id,))
        elif opened.thread is not None:
            await self._pass_on(opening, opened.thread, model.course)
        elif opened.lines:
            await self.tasks.send(build_reply(" ".join(opened.lines)), opening)

    async def _pass_on(self, opening: Opening, session_id: str, course: RunningTurn) -> None:
        """Pass a message on to the plan that it is about, whose thread has the answer.

        Raises :class:`TurnStopped` if the person stops it before it acts.
        """
        session = await self.sessions.load(session_id)
        if session is None:
            return
        await self.turns.carry_out(to_reply(session_id, opening), ignore_progress, course)
        course.check()
        course.end_act()
        said = _("I took that to the plan for {day}; its thread has the answer.", day=format_day(session.date))
        await self.tasks.send(build_reply(said), opening)

    async def _compare_told(self, session: Session, earlier: Sequence[Session]) -> None:
        """Have compared what the person told outside of any session since their last one began."""
        if earlier:
            since = max(each.created_at for each in earlier)
            await self.memory.queue_comparison(session, since, session.id)

    def _look_ahead(self, session: Session) -> None:
        """Start to read what Stage 1 shows, before it is needed (S39, S102)."""
        self.looker.begin(session.user_id, session.date, session.tz)
        if self.outside is not None:
            self.outside.begin()
        self.memory.begin(session.user_id)
