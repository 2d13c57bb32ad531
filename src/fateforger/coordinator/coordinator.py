"""Route every command to the service that carries it out, once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from fateforger.background.ownership import CalendarOwner, ClaimOutcome, Ownership
from fateforger.coordinator import clicks, starting
from fateforger.coordinator.alone import RuleService
from fateforger.coordinator.beginning import SessionStarter
from fateforger.coordinator.dispositor.clicks import read_queue_click
from fateforger.coordinator.drafts import Drafts
from fateforger.coordinator.effects import Effects, Submitter
from fateforger.coordinator.formdesk import FormService
from fateforger.coordinator.later import BackgroundUpdates
from fateforger.coordinator.logbook import TurnLog
from fateforger.coordinator.looking import Looker
from fateforger.coordinator.memory import MemoryService
from fateforger.coordinator.outside import ExternalTaskList
from fateforger.coordinator.proposals import ProposalService
from fateforger.coordinator.taskdesk import FORMS as TASK_FORMS
from fateforger.coordinator.taskdesk import QueueService
from fateforger.coordinator.turns import Turns
from fateforger.errors import BadInput
from fateforger.ports import Clock, Model, Sessions
from fateforger.session import commands
from fateforger.session.cards import Card, Form, FormErrors, FormRequest, FormSubmission
from fateforger.session.commands import BackgroundCommand, Click, Command, InboxCommand, SessionCommand, Start
from fateforger.session.commands.queue import QueueCommand, QueueCommandBase
from fateforger.session.model import CalendarWrite
from fateforger.session.progress import ProgressCallback, ignore_progress
from fateforger.turn.constants import CALENDAR_WAIT
from fateforger.turn.present import home_card, welcome_card

NO_QUEUE = "There is no queue of tasks here."


class PlanningCoordinator:
    """Takes commands, one at a time per session (the caller ensures this), and carries out each of them once.

    Implements :class:`fateforger.coordinator.door.CoordinatorPort`.
    A command belongs to a session's turn, the queue, or a person's rules.

    ``calendar_wait`` is how many seconds a reply waits for the calendar before it is sent without it. ``model`` reads
    free text, ``memory`` knows the person's constraints, ``outside`` reads an external task list, ``proposals`` holds
    the proposals of agents, and ``logbook`` records each turn. ``ownership`` decides who owns the calendar; without it,
    it has no owner.
    """

    def __init__(
        self,
        *,
        sessions: Sessions,
        submitter: Submitter,
        clock: Clock,
        calendar_write: CalendarWrite = "refine",
        calendar_wait: float = CALENDAR_WAIT,
        ownership: Ownership | None = None,
        model: Model | None = None,
        memory: MemoryService | None = None,
        tasks: QueueService | None = None,
        outside: ExternalTaskList | None = None,
        proposals: ProposalService | None = None,
        logbook: TurnLog | None = None,
    ) -> None:
        self._logbook = logbook or TurnLog(clock)
        self._sessions = sessions
        self._model = model
        self._ownership = ownership
        self._looker = Looker(submitter.read, clock)
        self._drafts = Drafts(sessions=sessions, model=model, clock=clock, logbook=self._logbook)
        self._memory = memory
        self._tasks = tasks
        self._outside = outside
        self._alone = RuleService(sessions, memory, clock)
        self._forms = FormService(sessions, memory, self._alone, clock)
        effects = Effects(submitter, self._looker, calendar_wait=calendar_wait, memory=memory, proposals=proposals)
        self._later = BackgroundUpdates(
            sessions=sessions,
            looker=self._looker,
            effects=effects,
            drafts=self._drafts,
            memory=memory,
            clock=clock,
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
            proposals=proposals,
        )
        self._beginnings = SessionStarter(
            sessions=sessions,
            turns=self._turns,
            looker=self._looker,
            logbook=self._logbook,
            calendar_write=calendar_write,
            model=model,
            memory=memory,
            tasks=tasks,
            outside=outside,
        )

    def on_message_due(self, owing: Callable[[], None]) -> None:
        """Set the callback for messages that background work, rather than a command, has queued."""
        self._later.on_message_due(owing)

    async def handle(self, command: InboxCommand, tell: ProgressCallback = ignore_progress) -> None:
        """See :meth:`fateforger.coordinator.door.CoordinatorPort.handle`."""
        if isinstance(command, QueueCommandBase):
            await self._queue().carry_out(command)
        else:
            await self._handle(command, tell)
        if self._tasks is not None:
            self._tasks.waiting.wake()

    async def _handle(
        self, command: Start | commands.Opening | SessionCommand | BackgroundCommand, tell: ProgressCallback
    ) -> None:
        match command:
            case Start():
                await self.on_start(command)
            case commands.Opening():
                await self.on_opening(command)
            case commands.RefreshCalendar():
                await self._later.look_again(command)
            case commands.AddExtracted():
                await self._later.apply_understood(command)
            case commands.EndAbandoned():
                await self._later.close_abandoned(command)
            case commands.TimeboxingCommitDate():
                await self.on_commit_date(command, tell)
            case commands.TimeboxingUserReply():
                await self.on_user_reply(command, tell)
            case commands.StageAction():
                await self.on_stage_action(command, tell)
            case _ if not command.session_id:
                await self._alone.carry_out(command)
            case _:
                await self._turns.carry_out(command, tell)

    def stop(self, session_id: str, asked_at: datetime) -> bool:
        """See :meth:`fateforger.coordinator.door.CoordinatorPort.stop`."""
        return self._turns.stop(session_id, asked_at)

    def _queue(self) -> QueueService:
        if self._tasks is None:
            raise BadInput(NO_QUEUE)
        return self._tasks

    async def on_start(self, start: Start) -> None:
        """Begin a session; in a thread with an active session, show the state of that session instead."""
        await self._beginnings.start(start)

    @property
    def reads_words(self) -> bool:
        """See :meth:`fateforger.coordinator.door.CoordinatorPort.reads_words`."""
        return self._model is not None

    async def on_opening(self, opening: commands.Opening) -> bool:
        """See :meth:`fateforger.coordinator.door.CoordinatorPort.on_opening`."""
        return await self._beginnings.on_opening(opening)

    async def on_commit_date(
        self, command: commands.TimeboxingCommitDate, tell: ProgressCallback = ignore_progress
    ) -> None:
        """Confirm the day and go on to Stage 1."""
        await self._turns.carry_out(command, tell)

    async def on_user_reply(
        self, command: commands.TimeboxingUserReply, tell: ProgressCallback = ignore_progress
    ) -> None:
        """Handle a message in the thread."""
        await self._turns.carry_out(command, tell)

    async def on_stage_action(self, command: commands.StageAction, tell: ProgressCallback = ignore_progress) -> None:
        """Handle a stage button."""
        await self._turns.carry_out(command, tell)

    def read_click(self, click: Click) -> SessionCommand | QueueCommand:
        """See :meth:`fateforger.coordinator.door.CoordinatorPort.read_click`."""
        return read_queue_click(click) or clicks.read_click(click)

    async def open_form(self, request: FormRequest) -> Form:
        """See :meth:`fateforger.coordinator.door.CoordinatorPort.open_form`."""
        return await (self._queue().open_form(request) if request.form in TASK_FORMS else self._forms.open(request))

    async def read_form(self, submission: FormSubmission) -> SessionCommand | QueueCommand | Form | FormErrors:
        """See :meth:`fateforger.coordinator.door.CoordinatorPort.read_form`."""
        return await (
            self._queue().read_form(submission) if submission.form in TASK_FORMS else self._forms.read(submission)
        )

    async def is_carried_out(self, command: Command) -> bool:
        """See :meth:`fateforger.coordinator.door.CoordinatorPort.is_carried_out`.

        The commands of a session that no longer exists count as carried out.
        """
        if isinstance(command, Start):
            return await self._sessions.load(starting.format_session_id(command)) is not None
        if isinstance(command, QueueCommandBase):
            return await self._queue().is_carried_out(command)
        if not command.session_id:
            return await self._alone.is_carried_out(command)
        session = await self._sessions.load(command.session_id)
        return session is None or command.command_id in session.handled

    def get_rule_reply(self, command_id: str) -> tuple[str, ...]:
        """Return the reply of a command outside of a session, if it was recently carried out by this process."""
        return self._alone.get_reply(command_id)

    async def owner(self, session_id: str) -> str | None:
        """See :meth:`fateforger.coordinator.door.CoordinatorPort.owner`."""
        session = await self._sessions.load(session_id)
        return None if session is None else session.user_id

    async def calendar_owner(self) -> CalendarOwner:
        """See :meth:`fateforger.coordinator.door.CoordinatorPort.calendar_owner`."""
        return CalendarOwner() if self._ownership is None else await self._ownership.owner()

    async def claim_calendar(self, user_id: str, code: str) -> ClaimOutcome:
        """See :meth:`fateforger.coordinator.door.CoordinatorPort.claim_calendar`."""
        return ClaimOutcome.NO_CODE if self._ownership is None else await self._ownership.claim(user_id, code)

    async def session_in_thread(self, channel: str, thread_ts: str) -> str | None:
        """See :meth:`fateforger.coordinator.door.CoordinatorPort.session_in_thread`."""
        session = await self._sessions.in_thread(channel, thread_ts)
        return None if session is None else session.id

    def welcome(self) -> Card:
        """See :meth:`fateforger.coordinator.door.CoordinatorPort.welcome`."""
        return welcome_card()

    async def home(self, user_id: str) -> Card:
        """See :meth:`fateforger.coordinator.door.CoordinatorPort.home`."""
        queue = () if self._tasks is None else await self._tasks.home(user_id)
        return home_card(await self._sessions.of_user(user_id), queue)

    async def aclose(self) -> None:
        """Stop background work; its results are looked up again when they are needed."""
        await self._later.aclose()
        await self._drafts.aclose()
        await self._looker.aclose()
        if self._outside is not None:
            await self._outside.aclose()
        if self._memory is not None:
            await self._memory.aclose()
        await self._logbook.aclose()
