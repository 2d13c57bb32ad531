"""The coordinator: its interface, and the service that carries out each command, once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from fateforger.calendar.connections import ConnectionView
from fateforger.conversation.agent_proposals import ProposalService
from fateforger.conversation.background_updates import BackgroundUpdates, Drafts, Improver
from fateforger.conversation.calendar_reads import Looker
from fateforger.conversation.effects import Effects
from fateforger.conversation.memory_service import NO_ZONE, MemoryService, RuleService
from fateforger.conversation.ports import Calendars, FindLink, RuleReplies
from fateforger.conversation.queue.service import FORMS as TASK_FORMS
from fateforger.conversation.queue.service import QueueService
from fateforger.conversation.rituals.schedule import FORM as RITUAL_FORM
from fateforger.conversation.rituals.service import RitualService
from fateforger.conversation.session_starter import SessionStarter
from fateforger.conversation.task_offers import ExternalTaskList
from fateforger.conversation.turn_runs import TurnLog
from fateforger.conversation.turns import Turns
from fateforger.errors import BadInput, StoreError
from fateforger.ports.clock import Clock
from fateforger.ports.model import Model
from fateforger.ports.people import Claim, OperatorLog, OwnerRecord
from fateforger.session.cards import Card, ProgressCallback, ignore_progress
from fateforger.session.commands import BackgroundCommand, Command, InboxCommand, SessionCommand, read_click
from fateforger.session.commands.day import TimeboxingCommitDate
from fateforger.session.commands.plan import RefreshCalendar
from fateforger.session.commands.rules import AddExtracted, AskToReplace, SettleConstraints, UndoMemory
from fateforger.session.commands.thread import (
    EndAbandoned,
    KeepTitle,
    Opening,
    StageAction,
    StartTimeboxing,
    TimeboxingUserReply,
    format_session_id,
)
from fateforger.session.forms import Click, Form, FormErrors, FormRequest, FormSubmission
from fateforger.session.model import CalendarWrite, Session
from fateforger.session.queue_commands import QueueCommand, QueueCommandBase, ReadAgain
from fateforger.session.rulebook import NOT_ALL as NOT_ALL_RULES
from fateforger.session.rulebook import RuleBook, known_versions, lines_of_command
from fateforger.session.stages import CALENDAR_WAIT, TimeboxingStage
from fateforger.session.store import HeadFilter, Sessions, iter_heads
from fateforger.text import gettext as _
from fateforger.text import mark_message, name_commands, use_language
from fateforger.ui import forms
from fateforger.ui.connection_cards import build_connection_parts
from fateforger.ui.home_card import Board, home_card
from fateforger.ui.logs import LOOKED_AT, build_log_parts, build_operator_parts
from fateforger.ui.session_cards import unheard_card, welcome_card
from fateforger.workers.people import LanguageService, Ownership

log = logging.getLogger(__name__)

PLAN_LOST = mark_message("I can't find that plan any more. Start a new one with {timebox}.")


@dataclass(frozen=True, slots=True)
class FormService:
    """Opens and reads forms; accesses only the database. ``alone`` serves rules outside of a session."""

    sessions: Sessions
    memory: MemoryService
    alone: RuleService
    clock: Clock

    async def open(self, request: FormRequest) -> Form:
        """Return a form. Raises ``UserError`` if it makes no sense now."""
        if request.form in forms.RULES:
            return forms.open_rules(await self._read_rules(request.session_id, request.user_id, request.done), request)
        return forms.open_form(await self._load_session(request.session_id), request)

    async def read(self, submission: FormSubmission) -> SessionCommand | Form | FormErrors:
        """Return the command of a filled form, another form to show, or the errors per field."""
        if submission.form in forms.RULES:
            return forms.read_rules(await self._read_rules(submission.session_id, submission.user_id), submission)
        return forms.read_form(await self._load_session(submission.session_id), submission)

    async def _read_rules(self, session_id: str, user_id: str, done: str | None = None) -> RuleBook:
        """Return the person's rules, as far as they can be read now, with the reply of the command ``done``."""
        if not session_id:
            return await self.alone.book(user_id, done)
        session = await self._load_session(session_id)
        lines = lines_of_command(session, done)
        try:
            stored = await self.memory.versions(session.user_id)
        except StoreError as error:
            log.warning("a form without the stored constraints of %s: %s", session.user_id, error.message)
            stored, lines = (), (*lines, _(NOT_ALL_RULES))
        return RuleBook(session, (*stored, *known_versions(session)), lines)

    async def _load_session(self, session_id: str) -> Session:
        session = await self.sessions.load(session_id)
        if session is None:
            raise BadInput(name_commands(PLAN_LOST))
        return session.at_time(self.clock.now())


RESUMED = timedelta(hours=12)
"""Time since the last activity of a session for whose first plan a better one is still looked for."""


class PlanningCoordinator:
    """Takes commands, one at a time per session (the caller ensures this), and carries out each of them once.

    Implements :class:`fateforger.conversation.ports.CoordinatorPort`.
    A command belongs to a session's turn, the queue, or a person's rules.

    ``calendar_wait`` is how many seconds a reply waits for the calendar before it is sent without it. ``model`` reads
    free text, ``memory`` knows the person's constraints, ``replies`` the replies about them outside of plans.
    ``outside`` reads an external task list, ``proposals`` holds the proposals of agents, and ``logbook`` records each
    turn. ``calendars`` opens the calendar of a person. ``ownership`` decides who owns the configured one, ``languages``
    in which language each person is answered. ``operator_log`` knows the operator's actions. ``model`` and ``outside``
    are ``None`` where none is configured. With an ``improver``, a thread shows a first plan at once, and the better one
    when it is found.
    """

    def __init__(
        self,
        *,
        sessions: Sessions,
        calendars: Calendars,
        clock: Clock,
        ownership: Ownership,
        memory: MemoryService,
        replies: RuleReplies,
        tasks: QueueService,
        rituals: RitualService,
        proposals: ProposalService,
        logbook: TurnLog,
        model: Model | None,
        outside: ExternalTaskList | None,
        languages: LanguageService,
        operator_log: OperatorLog,
        calendar_write: CalendarWrite,
        calendar_wait: float = CALENDAR_WAIT,
        improver: Improver | None = None,
    ) -> None:
        self._logbook = logbook
        self._sessions = sessions
        self._clock = clock
        self._model = model
        self._ownership = ownership
        self._languages = languages
        self._operator_log = operator_log
        self._proposals = proposals
        self._calendars = calendars
        self._looker = Looker(calendars, clock)
        self._drafts = Drafts(sessions=sessions, model=model, clock=clock, logbook=self._logbook)
        self._memory = memory
        self._tasks = tasks
        self._rituals = rituals
        tasks.plan_weeks(self._looker, memory, calendar_write)
        tasks.use_rituals(rituals.answer)
        self._outside = outside
        self._alone = RuleService(sessions, memory, replies, clock)
        self._forms = FormService(sessions, memory, self._alone, clock)
        effects = Effects(
            calendars,
            self._looker,
            calendar_wait=calendar_wait,
            memory=memory,
            proposals=proposals,
            answer_request=tasks.carry_out_request,
        )
        self._later = BackgroundUpdates(
            sessions=sessions,
            looker=self._looker,
            effects=effects,
            drafts=self._drafts,
            memory=memory,
            durations=tasks.durations,
            clock=clock,
            improver=improver,
        )
        self._turns = Turns(
            sessions=sessions,
            looker=self._looker,
            effects=effects,
            drafts=self._drafts,
            later=self._later,
            logbook=self._logbook,
            model=model,
            memory=memory,
            tasks=tasks,
            outside=outside,
            other_days=tasks.other_days,
            proposals=proposals,
            languages=languages,
        )
        self._beginnings = SessionStarter(
            sessions=sessions,
            turns=self._turns,
            looker=self._looker,
            logbook=self._logbook,
            calendar_write=calendar_write,
            model=model,
            memory=memory,
            rules=self._alone,
            tasks=tasks,
            outside=outside,
            languages=languages,
        )

    def on_message_due(self, owing: Callable[[], None]) -> None:
        """Set the callback for messages that background work, rather than a command, has queued."""
        self._later.on_message_due(owing)

    async def resume(self) -> None:
        if not self._later.improves:
            return
        lately = HeadFilter(since=self._clock.now() - RESUMED, active=True)
        async for head in iter_heads(self._sessions, lately):
            if head.stage is TimeboxingStage.SKELETON and (session := await self._sessions.load(head.id)) is not None:
                self._later.improve(session)

    async def handle(self, command: InboxCommand, tell: ProgressCallback = ignore_progress) -> None:
        if isinstance(command, ReadAgain):
            await self._beginnings.read_again(command)
        elif isinstance(command, QueueCommandBase):
            await self._tasks.carry_out(command)
        else:
            await self._handle(command, tell)

    async def _handle(
        self, command: StartTimeboxing | Opening | SessionCommand | BackgroundCommand, tell: ProgressCallback
    ) -> None:
        match command:
            case StartTimeboxing():
                await self.on_start(command)
            case Opening():
                await self.on_opening(command)
            case AskToReplace():
                await self._ask_to_replace(command)
            case SettleConstraints() | UndoMemory() if not command.session_id and command.channel:
                await self._answer_outside(command)
            case RefreshCalendar() | AddExtracted() | EndAbandoned() | KeepTitle():
                await self._later.carry_out(command)
            case TimeboxingCommitDate():
                await self.on_commit_date(command, tell)
            case TimeboxingUserReply():
                await self.on_user_reply(command, tell)
            case StageAction():
                await self.on_stage_action(command, tell)
            case _ if not command.session_id:
                await self._alone.carry_out(command)
            case _:
                await self._turns.carry_out(command, tell)

    async def _ask_to_replace(self, command: AskToReplace) -> None:
        """Ask, where the person told a rule outside of plans, whether it replaces another one."""
        use_language((await self._languages.of(command.user_id)).code)
        card = await self._alone.ask_to_replace(command)
        if card is not None:
            await self._tasks.send(card, command)

    async def _answer_outside(self, command: SettleConstraints | UndoMemory) -> None:
        """Carry out the answer that a card outside of plans gave, and show the result in its place."""
        card = await self._alone.answer_command(command)
        await self._tasks.send(card, command, wrote=(command.command_id,))

    def stop(self, turn_id: str, asked_at: datetime) -> bool:
        return self._turns.running.stop(turn_id, asked_at)

    async def on_start(self, start: StartTimeboxing) -> None:
        """Begin a session; in a thread with an active session, show the state of that session instead."""
        await self._beginnings.start(start)

    @property
    def reads_words(self) -> bool:
        return self._model is not None

    async def on_opening(self, opening: Opening) -> bool:
        return await self._beginnings.on_opening(opening)

    async def on_commit_date(self, command: TimeboxingCommitDate, tell: ProgressCallback = ignore_progress) -> None:
        """Confirm the day and go on to Stage 1."""
        await self._turns.carry_out(command, tell)

    async def on_user_reply(self, command: TimeboxingUserReply, tell: ProgressCallback = ignore_progress) -> None:
        """Handle a message in the thread."""
        await self._turns.carry_out(command, tell)

    async def on_stage_action(self, command: StageAction, tell: ProgressCallback = ignore_progress) -> None:
        """Handle a stage button."""
        await self._turns.carry_out(command, tell)

    def read_click(self, click: Click) -> SessionCommand | QueueCommand:
        return read_click(click)

    async def open_form(self, request: FormRequest) -> Form:
        if request.form == RITUAL_FORM:
            return await self._rituals.open_form(request)
        return await (self._tasks.open_form(request) if request.form in TASK_FORMS else self._forms.open(request))

    async def read_form(self, submission: FormSubmission) -> SessionCommand | QueueCommand | Form | FormErrors:
        if submission.untouched:
            submission = submission.renew(await self.open_form(submission.request))
        if submission.form == RITUAL_FORM:
            return await self._rituals.read_form(submission)
        return await (
            self._tasks.read_form(submission) if submission.form in TASK_FORMS else self._forms.read(submission)
        )

    async def is_carried_out(self, command: Command) -> bool:
        """Check whether a command was carried out. Commands of a session that no longer exists count as carried out."""
        if isinstance(command, StartTimeboxing):
            return await self._sessions.load(format_session_id(command)) is not None
        if isinstance(command, QueueCommandBase):
            return await self._tasks.is_carried_out(command)
        if not command.session_id:
            return await self._alone.is_carried_out(command)
        session = await self._sessions.load(command.session_id)
        return session is None or command.command_id in session.thread.handled

    async def get_rule_reply(self, command_id: str) -> tuple[str, ...]:
        """Return the reply to a command outside of a session, if it was recently carried out. Raises ``StoreError``."""
        return await self._alone.get_reply(command_id)

    async def owner(self, session_id: str) -> str | None:
        session = await self._sessions.load(session_id)
        return None if session is None else session.user_id

    async def has_calendar(self, user_id: str) -> bool:
        return await self._calendars.is_connected(user_id)

    async def describe_connection(self, user_id: str, address: str = "") -> ConnectionView:
        return await self._calendars.describe(user_id, address)

    async def join_calendar(self, user_id: str, address: str) -> str:
        return await self._calendars.join(user_id, address)

    async def disconnect_calendar(self, user_id: str) -> str:
        return await self._calendars.disconnect(user_id)

    async def calendar_owner(self) -> OwnerRecord:
        return await self._ownership.owner()

    async def claim_calendar(self, user_id: str, code: str) -> Claim:
        return await self._ownership.claim(user_id, code)

    async def session_in_thread(self, channel: str, thread_ts: str) -> str | None:
        session = await self._sessions.in_thread(channel, thread_ts)
        return None if session is None else session.id

    async def find_open(self, channel: str, thread_ts: str, user_id: str) -> Session | None:
        session = await self._sessions.in_thread(channel, thread_ts)
        return session if session is not None and session.user_id == user_id and session.is_open else None

    async def is_beginning(self, user_id: str, channel: str, at: datetime) -> bool:
        sessions = await self._sessions.of_user(user_id)
        unknown = [each for each in sessions if each.thread_ts is None and each.channel == channel]
        return any([await self._sessions.is_unanswered(each.id, at) for each in unknown])

    def welcome(self, unread: str | None = None) -> Card:
        return welcome_card() if unread is None else unheard_card(unread)

    async def home(self, user_id: str, *, tz: str = "", find_link: FindLink | None = None) -> Card:
        spoken = await self._languages.of(user_id)
        use_language(spoken.code)
        sessions = await self._sessions.of_user(user_id)
        calls = await self._proposals.list_calls(user_id)
        tz = tz or (sessions[0].tz if sessions else NO_ZONE)
        log_parts = build_log_parts(calls, tz)
        connection = build_connection_parts(await self._calendars.describe(user_id))
        operator = build_operator_parts(await self._operator_log.latest(user_id, limit=LOOKED_AT), tz)
        others = (*log_parts, *await self._rituals.find_home_parts(user_id), *connection, *operator)
        links = {} if find_link is None else await _find_links(sessions, find_link)
        board = Board(self._clock.now(), tz, sessions, links, await self._alone.count_rules(user_id))
        return home_card(board, await self._tasks.home(user_id, tz), spoken, others)

    async def aclose(self) -> None:
        """Stop background work; its results are looked up again when they are needed."""
        await self._later.aclose()
        await self._drafts.aclose()
        await self._looker.aclose()
        if self._outside is not None:
            await self._outside.aclose()
        await self._memory.aclose()
        await self._logbook.aclose()


async def _find_links(sessions: Sequence[Session], find_link: FindLink) -> Mapping[str, str]:
    """Return the addresses of the threads of sessions, as far as they are known."""
    links = {}
    for session in sessions:
        link = None if session.thread_ts is None else await find_link(session.channel, session.thread_ts)
        if link is not None:
            links[session.id] = link
    return links
