"""Background results in a session (calendar reads, drafts by a model, rules), shown in place of the current card."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import assert_never
from weakref import WeakValueDictionary

from fateforger.conversation.calendar_reads import Look, Looker, build_reading
from fateforger.conversation.calendar_watch import is_in_doubt, notice_changes
from fateforger.conversation.effects import Effects, mark_stale_preview
from fateforger.conversation.language.plan_proposals import without_sketch
from fateforger.conversation.memory_node import apply_understood
from fateforger.conversation.memory_service import MemoryService
from fateforger.conversation.plan_nodes import with_arrivals
from fateforger.conversation.ports import Optimize
from fateforger.conversation.queue.work import DurationService
from fateforger.conversation.session_messages import build_messages, close_session, has_memory_news, is_abandoned
from fateforger.conversation.stage_nodes import apply_sketch, redraft
from fateforger.conversation.turn_runs import TurnLog, log_constraint_events
from fateforger.conversation.turn_values import DraftDay, Effect, TurnOutcome, apply_reading, with_memory
from fateforger.drafting.day_draft import LongSearch
from fateforger.drafting.model import Draft
from fateforger.errors import BadInput, ModelError, StoreError, VersionConflict
from fateforger.metrics import DRAFT_SECONDS
from fateforger.planning.plan import Resolved, TBPlan, resolve
from fateforger.planning.task_details import is_lunch, keys_before
from fateforger.ports.clock import Clock
from fateforger.ports.model import Model
from fateforger.session.cards import Activity, Progress, ProgressCallback
from fateforger.session.commands import SessionUpdate
from fateforger.session.commands.plan import RefreshCalendar
from fateforger.session.commands.rules import AddExtracted
from fateforger.session.commands.thread import EndAbandoned, KeepTitle
from fateforger.session.draft import (
    basis_of,
    day_of,
    draft_constraints,
    is_current,
    room_words,
    wants_sketch,
    with_fixes,
    with_own_draft,
    without_stale_sketch,
)
from fateforger.session.frame import local_time
from fateforger.session.messages import Outgoing
from fateforger.session.model import Session, SessionStatus, Sketch
from fateforger.session.overview import overview
from fateforger.session.stages import DRAFT_LIMIT, REREAD_WAIT, TimeboxingStage
from fateforger.session.store import Sessions
from fateforger.session.tasks import note_begun
from fateforger.text import gettext as _
from fateforger.text import join_words, quote_title, use_language
from fateforger.workers.supervisor import BackgroundTasks

log = logging.getLogger(__name__)

TRIES = 4
"""Attempts to save a draft when its session is saved by something else meanwhile."""


@dataclass(frozen=True, slots=True, eq=False)
class _Making:
    """A draft in progress, and the fingerprint of its input."""

    basis: str | None
    task: asyncio.Task[Sketch]


class Drafts:
    """Makes at most one draft per session at a time.

    A finished draft is saved in the session, between turns and never during one. Without a ``model`` no draft is made.
    ``seconds`` limits the time for one draft.
    """

    def __init__(
        self,
        *,
        sessions: Sessions,
        model: Model | None,
        clock: Clock,
        logbook: TurnLog,
        seconds: float = DRAFT_LIMIT,
    ) -> None:
        self._logbook = logbook
        self._sessions = sessions
        self._model = model
        self._clock = clock
        self._seconds = seconds
        self._making: dict[str, _Making] = {}
        self._tasks = BackgroundTasks()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def turn(self, session_id: str) -> asyncio.Lock:
        """Return the lock to hold during a turn. Without it, saving a draft could force the turn to be repeated."""
        return self._turns.setdefault(session_id, asyncio.Lock())

    def prepare(self, session: Session) -> None:
        """Update the draft of a saved session: stop a stale one, start a useful one. Returns at once."""
        making = self._making.get(session.id)
        if making is not None and not is_current(session, making.basis):
            self._stop(session.id, making)
        if self._model is None or session.id in self._making or not wants_sketch(session):
            return
        making = self._begin(session, self._model)
        self._tasks.start(self._save_when_done(session.id, making), name=f"keeping the draft of {session.id}")

    async def apply_draft(self, outcome: TurnOutcome, tell: ProgressCallback) -> Session:
        """Return the session after a turn, with a model's draft if the turn asks for one. Writes nothing.

        Uses the draft made for this turn, waits for the one in progress, or makes one now. If the model produces no
        draft, the session has the solver's draft and the reason.
        """
        session = outcome.session
        asked = next((effect for effect in outcome.effects if isinstance(effect, DraftDay)), None)
        if asked is None:
            return session
        sketch = session.planning.sketch
        if sketch is None or asked.another or not is_current(session, sketch.basis):
            if self._model is None:
                return session
            tell(Progress(doing=Activity.DRAFTING))
            sketch = await self._await_sketch(asked, session, self._model)
        return apply_sketch(session, sketch, asked)

    async def aclose(self) -> None:
        """Stop all drafts. A draft in progress is lost, and made again on request."""
        await self._tasks.close()
        self._making.clear()

    async def _await_sketch(self, asked: DraftDay, session: Session, model: Model) -> Sketch:
        making = self._making.get(session.id)
        if making is not None and (asked.another or not is_current(session, making.basis)):
            self._stop(session.id, making)
            making = None
        mine = making is None
        making = making or self._begin(session, model, instead_of=asked.over if asked.another else None)
        try:
            await asyncio.wait({making.task})
        except asyncio.CancelledError:
            if mine:
                self._stop(session.id, making)
            raise
        self._forget(session.id, making)
        if making.task.cancelled():
            raise VersionConflict("The day changed while it was drafted.")
        return making.task.result()

    def _begin(self, session: Session, model: Model, *, instead_of: TBPlan | None = None) -> _Making:
        work = self._make_sketch(session, model, instead_of)
        # A trace may quote the person, so a failure is logged by its type alone.
        task = self._tasks.start(work, name=f"drafting {session.id}", awaited=True)
        making = self._making[session.id] = _Making(basis_of(session), task)
        return making

    async def _make_sketch(self, session: Session, model: Model, instead_of: TBPlan | None) -> Sketch:
        now, begun, outcome = self._clock.now(), time.monotonic(), "stopped"
        try:
            with self._logbook.draft(session) as entry:
                sketch = await entry.draft(session, model, now=now, instead_of=instead_of, seconds=self._seconds)
            outcome = "no_solution" if sketch.plan is None else "left_out" if sketch.unplaced else "found"
        except (ModelError, BadInput) as error:  # the day may have ended since the turn began
            # The message may quote the model, and thereby the person's own words.
            log.warning("session %s: no draft by the language model (%s)", session.id, type(error).__name__)
            outcome = "failed"
            return without_sketch(session, error)
        else:
            return sketch
        finally:
            DRAFT_SECONDS.labels("model", outcome).observe(time.monotonic() - begun)

    async def _save_when_done(self, session_id: str, making: _Making) -> None:
        """Save a finished draft, unless a turn uses it first."""
        try:
            sketch = await making.task
            async with self.turn(session_id):
                if self._making.get(session_id) is making:
                    await self._save(session_id, sketch)
        except StoreError as error:
            log.warning("the draft of session %s could not be saved: %s", session_id, error.message)
        except Exception as error:  # noqa: BLE001  the outermost edge of a task that is never awaited
            what = type(error).__name__
            log.error("session %s: drafting failed (%s)", session_id, what)  # noqa: TRY400  a trace may quote the person
        finally:
            self._forget(session_id, making)

    async def _save(self, session_id: str, sketch: Sketch) -> None:
        for _attempt in range(TRIES):
            session = await self._sessions.load(session_id)
            if session is None or not is_current(session, sketch.basis):
                return
            if is_current(session, session.planning.draft_basis):
                return
            try:
                await self._sessions.save(session.with_planning(sketch=sketch), expected=session.version)
            except VersionConflict:
                continue
            return

    def _stop(self, session_id: str, making: _Making) -> None:
        making.task.cancel()
        self._forget(session_id, making)

    def _forget(self, session_id: str, making: _Making) -> None:
        if self._making.get(session_id) is making:
            del self._making[session_id]


_MOST_NAMED = 3


def awaits_better_draft(session: Session) -> bool:
    """Check whether the session shows a first plan that a better one may replace."""
    return (
        session.planning.rough
        and session.status is SessionStatus.ACTIVE
        and session.stage is TimeboxingStage.SKELETON
        and is_current(session, session.planning.draft_basis)
    )


def search_again(session: Session, stop: Callable[[], bool] | None = None) -> LongSearch | None:
    """Return a longer search for the session's plan, unless that is not what a short search found any more.

    ``stop`` is polled to end it early, and whatever follows from it.
    """
    plan = session.planning.plan
    return None if plan is None else day_of(session).search_again(draft_constraints(session), plan, stop)


def apply_better_draft(session: Session, draft: Draft | None) -> Session:
    """Return the session with a better draft for its first plan, and what changed; ``None`` keeps the plan.

    If only the options for what did not fit are others, they are replaced without a word.
    """
    over = session.planning.plan
    session = session.with_planning(rough=False)
    if draft is None or over is None:
        return session
    better = with_own_draft(session, draft)
    if draft.plan == over:
        return better
    better = better.say(_describe_order(session, over, draft.plan), *room_words(over, better))
    return better.with_planning(overview=overview(better))


def _describe_order(session: Session, over: TBPlan, plan: TBPlan) -> str:
    """Name the blocks that begin at another time than in the plan before, lunch first."""
    was = {block.key: block.start for block in resolve(over)}
    moved = [block for block in resolve(plan) if was.get(block.key, block.start) != block.start]
    if not moved:
        return _("A better order was found.")
    named = join_words(_name_starts(session, sorted(moved, key=lambda b: (not _is_lunch(b), b.start))), _MOST_NAMED)
    return _("A better order was found: {named}.", named=named)


def _name_starts(session: Session, moved: list[Resolved]) -> Iterator[str]:
    for number, block in enumerate(moved):
        title = _("lunch") if _is_lunch(block) else quote_title(block.event.name)
        if number == 0:
            yield _("{title} is at {start:%H:%M} now", title=title, start=local_time(session, block.start))
        else:
            yield _("{title} at {start:%H:%M}", title=title, start=local_time(session, block.start))


def _is_lunch(block: Resolved) -> bool:
    return is_lunch(block.key)


"""Attempts to show a result while commands keep changing the session."""


@dataclass(frozen=True, slots=True)
class Improver:
    """Looks for better drafts: by a longer search, and by an exact optimizer where there is one."""

    optimize: Optimize | None = None

    async def find_better(self, session: Session) -> Draft | None:
        """Return a materially better draft than the first plan of the session, or that one with its options tried.

        The search ends soon when this task is cancelled, so that the program stops without it.
        """
        given_up = threading.Event()
        try:
            found = await asyncio.to_thread(search_again, session, given_up.is_set)
            if found is None:
                return None
            optimum = None if self.optimize is None else await self.optimize(found.best)
            return await asyncio.to_thread(found.to_draft, optimum)
        finally:
            given_up.set()


class BackgroundUpdates:
    """Applies background results: calendar changes, late calendar reads, and rules found in replies.

    Each is applied once. A result without any news is not announced.
    """

    def __init__(
        self,
        *,
        sessions: Sessions,
        looker: Looker,
        effects: Effects,
        drafts: Drafts,
        memory: MemoryService,
        durations: DurationService,
        clock: Clock,
        improver: Improver | None,
    ) -> None:
        self._improver = improver
        self._improving: set[str] = set()
        self._clock = clock
        self._durations = durations
        self._sessions = sessions
        self._looker = looker
        self._effects = effects
        self._drafts = drafts
        self._memory = memory
        self._owing: Callable[[], None] = _ignore
        self._late = BackgroundTasks()

    def on_message_due(self, owing: Callable[[], None]) -> None:
        """Set the callback for messages that were queued outside of a command."""
        self._owing = owing

    async def _load(self, session_id: str) -> Session | None:
        """Load a session, and go on in the language of its thread."""
        session = await self._sessions.load(session_id)
        if session is not None:
            use_language(session.options.language)
        return session

    async def carry_out(self, command: SessionUpdate) -> None:
        """Carry out a command of the inbox that no person gave."""
        match command:
            case RefreshCalendar():
                await self._look_again(command)
            case AddExtracted():
                await self._apply_understood(command)
            case EndAbandoned():
                await self._close_abandoned(command)
            case KeepTitle():
                await self._keep_title(command)
            case _:
                assert_never(command)

    async def _look_again(self, command: RefreshCalendar) -> None:
        """Apply calendar changes to the session and announce them.

        Nothing is saved if they mean nothing to the session, or if the calendar does not answer in time.
        """
        async with self._drafts.turn(command.session_id):
            before = await self._load(command.session_id)
            if before is None or command.command_id in before.thread.handled:
                return
            look = await self._looker.wait(before.user_id, before.date, before.tz, seconds=REREAD_WAIT, fresh=True)
            if look is None:
                return
            late = await self._effects.take_back_late(look, before, command.command_id)
            if late:
                look = (
                    await self._looker.wait(before.user_id, before.date, before.tz, seconds=REREAD_WAIT, fresh=True)
                    or look
                )
            known = before
            if look.snapshot is not None and is_in_doubt(before):
                known = await self._effects.find_out(before)
            # The planned length of a task is the one from before what the calendar says now.
            news = notice_changes(note_begun(known.at_time(self._clock.now())), look)
            if news is None:
                if known != before or late:
                    await self._save_with_card(before, _with_notice(known, late), command)
                return
            # A change in the calendar changes the plan on the card; the calendar follows with the next write.
            followed, _ = await self._follow(news.session, cause=command.command_id)
            lines = () if followed.thread.notice in {None, before.thread.notice} else followed.notice_lines
            after = await self._save_with_card(before, _with_notice(followed, (*late, *lines)), command)
            # Note this last: the engine must not know a plan that was not saved.
            if news.reading.plan is not None:
                await self._effects.note(news.reading.plan, after, f"{command.command_id}/seen")

    async def _apply_understood(self, command: AddExtracted) -> None:
        """Apply the rules that were found in a reply; they are in force from now on."""
        async with self._drafts.turn(command.session_id):
            before = await self._load(command.session_id)
            if (
                before is None
                or command.command_id in before.thread.handled
                or before.status is SessionStatus.CANCELLED
            ):
                return
            after = await self.remember(before, command)
            after, writes = await self._follow(after, cause=command.command_id)
            for effect in writes:
                after = await self._effects.carry_out(effect, after, before=before, cause=command.command_id)
            if has_memory_news(before, after):
                await self._save_with_card(before, after, command)

    async def remember(self, session: Session, heard: AddExtracted) -> Session:
        """Return the session with what was understood, after it is written. Repetitions have no effect."""
        reading = await self._memory.look(session, heard)
        after, effects = apply_understood(with_memory(session, reading, heard.at), reading, heard)
        for effect in effects:
            after = await self._effects.carry_out(effect, after, before=session, cause=heard.command_id)
        return after

    async def _close_abandoned(self, command: EndAbandoned) -> None:
        """Close an abandoned session, unless the person has come back."""
        async with self._drafts.turn(command.session_id):
            before = await self._load(command.session_id)
            if before is None or command.command_id in before.thread.handled or not is_abandoned(before, command.at):
                return
            after, messages = close_session(before, command)
            await self._sessions.save(after, expected=before.version, outgoing=messages)

    async def _keep_title(self, command: KeepTitle) -> None:
        """Record that the person chose the title of their thread."""
        async with self._drafts.turn(command.session_id):
            before = await self._load(command.session_id)
            if before is not None and not before.thread.named:
                await self._sessions.save(before.with_thread(named=True), expected=before.version)

    async def _follow(self, session: Session, *, cause: str) -> tuple[Session, tuple[Effect, ...]]:
        """Return the session with its draft or plan adjusted to what arrived, and the writes that follow.

        There are writes only where changes go to the calendar at once. Drafting takes some tenths of a second and runs
        in a thread.
        """
        now = self._clock.now()
        session = session.at_time(now)
        if session.stage is TimeboxingStage.REFINE:
            return await asyncio.to_thread(with_arrivals, session, now, cause=cause)
        return await asyncio.to_thread(redraft, session), ()

    def show_when_read(self, session: Session) -> None:
        """Show the calendar once it answers after all."""
        look = self._looker.begin(session.user_id, session.date, session.tz)
        self._late.start(self._apply_read(session.id, look), name=f"calendar of {session.id}")

    @property
    def improves(self) -> bool:
        """True where a better draft follows a first plan."""
        return self._improver is not None

    def improve(self, session: Session) -> None:
        """Look for a better draft of a saved session that shows a first plan. Returns at once."""
        if self._improver is None or session.id in self._improving or not awaits_better_draft(session):
            return
        self._improving.add(session.id)
        self._late.start(self._improve(session.id, self._improver), name=f"better draft of {session.id}")

    async def _improve(self, session_id: str, improver: Improver) -> None:
        try:
            while True:
                session = await self._load(session_id)
                if session is None or not awaits_better_draft(session):
                    return
                draft = await improver.find_better(session)
                async with self._drafts.turn(session_id):
                    if await self._show_better(session, draft):
                        return
        except StoreError as error:
            log.warning("the better draft of session %s could not be saved: %s", session_id, error.message)
        finally:
            self._improving.discard(session_id)

    async def _show_better(self, drafted: Session, draft: Draft | None) -> bool:
        """Replace the first plan that was drafted; return ``False`` if the session has changed since."""
        session = await self._load(drafted.id)
        if session is None or not awaits_better_draft(session):
            return True
        if session.planning.plan != drafted.planning.plan or not is_current(session, drafted.planning.draft_basis):
            return False
        if draft is not None and keys_before(draft.plan, self._clock.now()):
            draft = None
        after = apply_better_draft(session, draft)
        messages: tuple[Outgoing, ...] = ()
        if (after.planning.plan, after.planning.unplaced) != (session.planning.plan, session.planning.unplaced):
            after, messages = build_messages(session, after, f"{session.id}:{session.version}:better")
        try:
            await self._sessions.save(after, expected=session.version, outgoing=messages)
        except VersionConflict:
            return False
        if messages:
            self._owing()
        return True

    async def aclose(self) -> None:
        """Stop waiting; the results are looked up again when they are needed."""
        await self._late.close()

    async def _save_with_card(
        self, before: Session, after: Session, command: RefreshCalendar | AddExtracted
    ) -> Session:
        """Save the session with the card that shows the news. Its time of last activity does not change."""
        after = with_fixes(without_stale_sketch(mark_stale_preview(before, after)), before.touched_at)
        after = after.after_command(command.command_id, before.touched_at)
        after, messages = build_messages(before, after, command.command_id)
        await self._durations.follow(before, after)
        saved = await self._sessions.save(after, expected=before.version, outgoing=messages)
        log_constraint_events(before, saved, command.command_id)
        self._drafts.prepare(saved)
        self.improve(saved)
        return after

    async def _apply_read(self, session_id: str, looking: asyncio.Task[Look]) -> None:
        look = await asyncio.shield(looking)
        for _attempt in range(TRIES):
            try:
                async with self._drafts.turn(session_id):
                    shown = await self._show_read(session_id, look)
            except VersionConflict:
                continue
            except StoreError as error:
                log.warning("the calendar of session %s arrived and could not be saved: %s", session_id, error.message)
                return
            if shown:
                self._owing()
            return

    async def _show_read(self, session_id: str, look: Look) -> bool:
        """Save what the calendar says, with its card; return ``False`` if the session does not wait for it any more."""
        session = await self._load(session_id)
        if session is None or not _is_waiting(session, look):
            return False
        after = apply_reading(session, build_reading(session, look)).with_thread(notice=session.thread.notice)
        after, _ = await self._follow(after, cause=f"{session_id}:{session.version}:calendar")
        after = with_fixes(after, session.touched_at)
        after, messages = build_messages(session, after, f"{session_id}:{session.version}:calendar")
        saved = await self._sessions.save(after, expected=session.version, outgoing=messages)
        self._drafts.prepare(saved)
        self.improve(saved)
        return True


def _with_notice(session: Session, lines: tuple[str, ...]) -> Session:
    return session.with_notice(*lines) if lines else session


def _ignore() -> None:
    """Do nothing; no sender is connected yet."""


def _is_waiting(session: Session, look: Look) -> bool:
    """Check whether the session still waits for the calendar, and for the day of this read."""
    if session.status is SessionStatus.CANCELLED or session.day.snapshot is not None:
        return False
    return look.snapshot is None or (look.snapshot.day, look.snapshot.tz) == (session.date, session.tz)
