"""One command in; the session and the messages it owes are saved together."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from fateforger.coordinator import clicks, forms, starting
from fateforger.coordinator.alone import Alone
from fateforger.coordinator.chronicle import chronicled
from fateforger.coordinator.context import contradicting, needs_day, withheld_words
from fateforger.coordinator.dispositor.clicks import read_queue_click
from fateforger.coordinator.drafts import Drafts
from fateforger.coordinator.effects import Effects, Submitter
from fateforger.coordinator.keeping import ended, told
from fateforger.coordinator.later import Later
from fateforger.coordinator.logbook import Entry, Logbook
from fateforger.coordinator.looking import Look, Looker
from fateforger.coordinator.memory import MemoryDesk
from fateforger.coordinator.messages import aside, only_beside, owed, rateable
from fateforger.coordinator.mirroring import reading_of
from fateforger.coordinator.offering import offered
from fateforger.coordinator.opening import begun_just_now, first_turn, reply_to
from fateforger.coordinator.outside import OutsideList
from fateforger.coordinator.previewing import aged
from fateforger.coordinator.stopping import not_stopped, stopped
from fateforger.coordinator.taskdesk import FORMS as TASK_FORMS
from fateforger.coordinator.taskdesk import TaskDesk
from fateforger.coordinator.telling import TellingModel
from fateforger.coordinator.underway import Course, TurnStopped, Underway
from fateforger.errors import BadInput, StoreError, VersionConflict
from fateforger.ports import Clock, Model, Sessions
from fateforger.session import commands
from fateforger.session.advice import advised
from fateforger.session.cards import Card, Form, FormErrors, FormRequest, FormSubmission
from fateforger.session.commands import Click, Command, Queued, SessionCommand, Start, Unasked
from fateforger.session.commands.queue import ForQueue, QueueCommand
from fateforger.session.memory import known
from fateforger.session.model import CalendarWrite, Session, SessionStatus
from fateforger.session.progress import Doing, Progress, Tell, untold
from fateforger.session.rulebook import NOT_ALL as NOT_ALL_RULES
from fateforger.session.rulebook import RuleBook, said_by
from fateforger.session.skeleton import without_stale_sketch
from fateforger.tasks.hydrated import Hydrated
from fateforger.turn.constants import CALENDAR_WAIT, REREAD_WAIT
from fateforger.turn.model import GoBack, ReadCalendar, TurnInput
from fateforger.turn.nodes.besides import LOOKS
from fateforger.turn.present import ended_reply, home_card, not_yours, welcome_card

log = logging.getLogger(__name__)

NO_QUEUE = "There is no queue of tasks here."
TRIES = 4
"""How often a command is tried when background work saved the session in between."""


class PlanningCoordinator:
    """Carries out commands, one at a time per session (the caller sees to that), each once.

    It loads the session, assembles everything that the turn needs to know (S108), runs the turn, carries out the
    effects it asks for, and saves. Implements :class:`fateforger.coordinator.door.Door`. ``calendar_wait`` is how many
    seconds a reply waits for a look at the calendar; then it goes out without. ``model`` reads what is said in words,
    ``memory`` knows the person's constraints, ``outside`` a list of tasks that they keep elsewhere. The ``logbook``
    notes each turn.
    """

    def __init__(
        self,
        *,
        sessions: Sessions,
        submitter: Submitter,
        clock: Clock,
        calendar_write: CalendarWrite = "refine",
        calendar_wait: float = CALENDAR_WAIT,
        calendar_owner: str | None = None,
        model: Model | None = None,
        memory: MemoryDesk | None = None,
        tasks: TaskDesk | None = None,
        outside: OutsideList | None = None,
        logbook: Logbook | None = None,
    ) -> None:
        self._logbook = logbook or Logbook(clock)
        self._sessions = sessions
        self._model = model
        self._calendar_write = calendar_write
        self._calendar_owner = calendar_owner
        self._looker = Looker(submitter.read, clock)
        self._drafts = Drafts(sessions=sessions, model=model, clock=clock, logbook=self._logbook)
        self._memory = memory
        self._tasks = tasks
        self._outside = outside
        self._effects = Effects(submitter, self._looker, calendar_wait=calendar_wait, memory=memory)
        self._alone = Alone(sessions, memory, clock)
        self._later = Later(
            sessions=sessions, looker=self._looker, effects=self._effects, drafts=self._drafts, memory=memory
        )
        self._underway = Underway()

    def on_owing(self, owing: Callable[[], None]) -> None:
        """``owing`` is called when work in the background, and not a command, has queued a message."""
        self._later.on_owing(owing)

    async def handle(self, command: Queued, tell: Tell = untold) -> None:
        """See :meth:`Door.handle`."""
        if isinstance(command, ForQueue):
            await self._queue().carry_out(command)
        else:
            await self._handle(command, tell)
        if self._tasks is not None:
            self._tasks.waiting.wake()

    async def _handle(self, command: Start | commands.Opening | SessionCommand | Unasked, tell: Tell) -> None:
        match command:
            case Start():
                await self.on_start(command)
            case commands.Opening():
                await self.opened(command)
            case commands.LookAgain():
                await self._later.look_again(command)
            case commands.Understood():
                await self._later.understood(command)
            case commands.LeftAlone():
                await self._later.left_alone(command)
            case commands.TimeboxingCommitDate():
                await self.on_commit_date(command, tell)
            case commands.TimeboxingUserReply():
                await self.on_user_reply(command, tell)
            case commands.StageAction():
                await self.on_stage_action(command, tell)
            case _ if not command.session_id:
                await self._alone.carry_out(command)
            case _:
                await self._turn(command, tell)

    def stop(self, session_id: str, asked_at: datetime) -> bool:
        """See :meth:`Door.stop`."""
        return self._underway.stop(session_id, asked_at)

    def _queue(self) -> TaskDesk:
        if self._tasks is None:
            raise BadInput(NO_QUEUE)
        return self._tasks

    async def on_start(self, start: Start) -> None:
        """Begin a session, and look at its day in the background. In a thread whose session goes on, show where it
        stands instead."""
        running = None
        if start.thread_ts is not None:
            running = await self._sessions.in_thread(start.channel, start.thread_ts)
        if running is not None and running.status is SessionStatus.ACTIVE:
            if start.command_id not in running.handled:
                after, messages = owed(None, running.touched(start.command_id, start.at), start.command_id)
                await self._sessions.save(after, expected=running.version, outgoing=messages)
            return
        if await self._sessions.load(starting.session_id(start)) is not None:
            return
        session = starting.begun(
            start, await self._sessions.of_user(start.user_id), calendar_write=self._calendar_write
        )
        self._look_ahead(session)
        session, messages = owed(None, session.touched(start.command_id, start.at), start.command_id)
        await self._sessions.save(session, expected=0, outgoing=messages)

    @property
    def reads_words(self) -> bool:
        """See :meth:`Door.reads_words`."""
        return self._model is not None

    async def opened(self, opening: commands.Opening) -> bool:
        """See :meth:`Door.opened`. What is not addressed to us is never read."""
        earlier = await self._sessions.of_user(opening.user_id)
        running = await self._sessions.in_thread(opening.channel, opening.thread_ts)
        if running is None and opening.addressed:
            running = begun_just_now(opening, earlier)
        if running is not None:
            if opening.addressed or running.user_id == opening.user_id:
                await self.on_user_reply(reply_to(running.id, opening))
            return True
        if not opening.addressed or not opening.text:
            return not opening.addressed
        if self._tasks is not None and await self._tasks.typed(opening):
            return True
        if self._model is None:
            return False
        model = TellingModel(self._model, Course(opening.at), untold)
        queue = () if self._tasks is None else await self._tasks.queue(opening.user_id)
        session = await first_turn(opening, earlier, queue, model, self._logbook, calendar_write=self._calendar_write)
        if session is None or isinstance(session, Hydrated):
            return session is not None and self._tasks is not None and await self._tasks.route(opening, session)
        self._look_ahead(session)
        session, messages = owed(None, session.touched(opening.command_id, opening.at), opening.command_id)
        messages = rateable(messages, opening.command_id, model.prompts)
        await self._sessions.save(session, expected=0, outgoing=messages)
        return True

    async def on_commit_date(self, command: commands.TimeboxingCommitDate, tell: Tell = untold) -> None:
        """The day is right: on to Stage 1."""
        await self._turn(command, tell)

    async def on_user_reply(self, command: commands.TimeboxingUserReply, tell: Tell = untold) -> None:
        """A message in the thread."""
        await self._turn(command, tell)

    async def on_stage_action(self, command: commands.StageAction, tell: Tell = untold) -> None:
        """A stage button."""
        await self._turn(command, tell)

    def read_click(self, click: Click) -> SessionCommand | QueueCommand:
        """See :meth:`Door.read_click`."""
        return read_queue_click(click) or clicks.read_click(click)

    async def open_form(self, request: FormRequest) -> Form:
        """See :meth:`Door.open_form`."""
        if request.form in TASK_FORMS:
            return await self._queue().open_form(request)
        if request.form in forms.RULES:
            return forms.open_rules(await self._rulebook(request.session_id, request.user_id, request.done), request)
        return forms.open_form(await self._known(request.session_id), request)

    async def read_form(self, submission: FormSubmission) -> SessionCommand | QueueCommand | Form | FormErrors:
        """See :meth:`Door.read_form`."""
        if submission.form in TASK_FORMS:
            return await self._queue().read_form(submission)
        if submission.form in forms.RULES:
            return forms.read_rules(await self._rulebook(submission.session_id, submission.user_id), submission)
        return forms.read_form(await self._known(submission.session_id), submission)

    async def carried_out(self, command: Command) -> bool:
        """See :meth:`Door.carried_out`. A session that is gone carries out nothing any more."""
        if isinstance(command, Start):
            return await self._sessions.load(starting.session_id(command)) is not None
        if isinstance(command, ForQueue):
            return await self._queue().carried_out(command)
        if not command.session_id:
            return await self._alone.carried_out(command)
        session = await self._sessions.load(command.session_id)
        return session is None or command.command_id in session.handled

    def said_alone(self, command_id: str) -> tuple[str, ...]:
        """What a command outside of any session said, if it was carried out here lately."""
        return self._alone.said(command_id)

    async def owner(self, session_id: str) -> str | None:
        """See :meth:`Door.owner`."""
        session = await self._sessions.load(session_id)
        return None if session is None else session.user_id

    async def calendar_owner(self) -> str | None:
        """See :meth:`Door.calendar_owner`. Unless it is set, the first person who ever planned here."""
        if self._calendar_owner is None:
            self._calendar_owner = await self._sessions.first_person()
        return self._calendar_owner

    async def session_in_thread(self, channel: str, thread_ts: str) -> str | None:
        """See :meth:`Door.session_in_thread`."""
        session = await self._sessions.in_thread(channel, thread_ts)
        return None if session is None else session.id

    def welcome(self) -> Card:
        """See :meth:`Door.welcome`."""
        return welcome_card()

    async def home(self, user_id: str) -> Card:
        """See :meth:`Door.home`."""
        queue = () if self._tasks is None else await self._tasks.home(user_id)
        return home_card(await self._sessions.of_user(user_id), queue)

    async def aclose(self) -> None:
        """Stop background work; what it would have found is looked up again when somebody needs it."""
        await self._later.aclose()
        await self._drafts.aclose()
        await self._looker.aclose()
        if self._outside is not None:
            await self._outside.aclose()
        if self._memory is not None:
            await self._memory.aclose()
        await self._logbook.aclose()

    # --- one turn ---

    async def _turn(self, command: SessionCommand, tell: Tell) -> None:
        with self._underway.course(command) as course:
            for attempt in range(1, TRIES + 1):
                try:
                    async with self._drafts.turn(command.session_id):
                        await self._attempt(command, course, tell)
                except VersionConflict:
                    if attempt == TRIES:
                        raise
                else:
                    return

    async def _attempt(self, command: SessionCommand, course: Course, tell: Tell) -> None:
        before = await self._sessions.load(command.session_id)
        if before is None or command.command_id in before.handled:
            return
        if command.user_id != before.user_id:
            await self._answer(before, command, not_yours())
        elif before.status is SessionStatus.CANCELLED:
            await self._answer(before, command, ended_reply(before))
        else:
            if self._memory is not None:
                # Before the turn: should the program die in it, the reply is read all the same.
                await self._memory.overhear(command)
            try:
                await self._noted(before, command, course, tell)
            except TurnStopped:
                if await self._effects.past.caused(before, command.command_id):
                    # An earlier try of this command was interrupted while it wrote: only whole is it right again.
                    course.act(whatever=True)
                    await self._noted(before, command, course, tell)
                else:
                    after = stopped(before).touched(command.command_id, command.at)
                    after, messages = owed(before, after, command.command_id)
                    await self._sessions.save(after, expected=before.version, outgoing=messages)

    async def _noted(self, before: Session, command: SessionCommand, course: Course, tell: Tell) -> None:
        with self._logbook.turn(command, before) as entry:
            await self._go_on(before, command, course, tell, entry)

    async def _go_on(self, before: Session, command: SessionCommand, course: Course, tell: Tell, entry: Entry) -> None:
        look = await course.unless_stopped(self._look(before, command, tell))
        reading = None if look is None else reading_of(before, look, command)
        model = None if self._model is None else TellingModel(self._model, course, tell)
        memory = None if self._memory is None else await self._memory.look(before, command)
        queue = None if self._tasks is None else self._tasks.planned
        more, trouble = await offered(self._sessions, before, queue, self._outside)
        turn = TurnInput(
            session=before,
            command=command,
            reading=reading,
            memory=memory,
            lines=withheld_words(command),
            offered=more,
            offer_trouble=trouble,
        )
        outcome = await entry.run(turn, model)
        asking = None if look is None else contradicting(turn, look, outcome)
        if asking is not None:
            reading, outcome = asking.reading, await entry.run(asking)
        after = await course.unless_stopped(self._drafts.carried_out(outcome, tell))
        course.act()
        if reading is not None and reading.plan is not None:
            await self._effects.note(reading.plan, before, f"{command.command_id}/seen")
        for effect in outcome.effects:
            doing = self._effects.carry_out(effect, after, before=before, cause=command.command_id, tell=tell)
            after = await entry.effect(effect, after, doing)
        if course.stop_asked:
            after = not_stopped(after, outcome.effects)
        if after.plan is not None and after.questions != before.questions:
            await self._effects.note(after.plan, after, f"{command.command_id}/settled")
        if after.history is not None and outcome.effects:
            went_back = any(isinstance(effect, GoBack) for effect in outcome.effects)
            after = await self._effects.past.refreshed(after, said=went_back)
        after = advised(without_stale_sketch(aged(before, after)), command.at).touched(command.command_id, command.at)
        messages_of = only_beside if all(isinstance(c, LOOKS) for c in outcome.heard or (command,)) else owed
        after, messages = messages_of(before, after, command.command_id)
        after, broke = ended(before, outcome, after, messages)
        if broke:
            log.error("the turn of %s broke %s", command.command_id, ", ".join(each.stated.id for each in broke))
            after, messages = owed(before, told(after, broke), command.command_id)
        messages = rateable(messages, command.command_id, () if model is None else model.prompts)
        if self._tasks is not None:
            await self._tasks.planned.follow(before, after)
        after = await self._sessions.save(after, expected=before.version, outgoing=messages)
        chronicled(before, after, command.command_id)
        self._drafts.prepare(after)
        waits = any(isinstance(effect, ReadCalendar) and effect.wait for effect in outcome.effects)
        if waits and after.snapshot is None and after.snapshot_error is None:
            self._later.take_in(after)

    async def _answer(self, session: Session, command: SessionCommand, card: Card) -> None:
        """Say something to the one who acted, and change nothing."""
        known = session.touched(command.command_id, session.touched_at)
        message = aside(session, command.command_id, card, to=command.user_id)
        await self._sessions.save(known, expected=session.version, outgoing=(message,))

    def _look_ahead(self, session: Session) -> None:
        """Begin to read what Stage 1 shows, before anybody asks (S39, S102)."""
        self._looker.begin(session.date, session.tz)
        if self._outside is not None:
            self._outside.begin()
        if self._memory is not None:
            self._memory.begin(session.user_id)

    async def _look(self, session: Session, command: SessionCommand, tell: Tell) -> Look | None:
        """A fresh look at the day for commands that draft, change or write a plan, if the calendar answers in time."""
        if not needs_day(session, command, words=self._model is not None):
            return None
        tell(Progress(doing=Doing.LOOKING))
        return await self._looker.wait(session.date, session.tz, seconds=REREAD_WAIT, fresh=True)

    async def _rulebook(self, session_id: str, user_id: str, done: str | None = None) -> RuleBook:
        """The person's rules, as far as they can be looked up now; with what the command ``done`` did."""
        if not session_id:
            return await self._alone.book(user_id, done)
        session = await self._known(session_id)
        lines = said_by(session, done)
        try:
            stored = () if self._memory is None else await self._memory.versions(session.user_id)
        except StoreError as error:
            log.warning("a form without the stored constraints of %s: %s", session.user_id, error.message)
            stored, lines = (), (*lines, NOT_ALL_RULES)
        return RuleBook(session, (*stored, *known(session)), lines)

    async def _known(self, session_id: str) -> Session:
        session = await self._sessions.load(session_id)
        if session is None:
            raise BadInput("I don't know that session any more; start a new one with /timebox.")
        return session
