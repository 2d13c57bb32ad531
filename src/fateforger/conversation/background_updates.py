"""Background results in a session, shown in place of the current card (S213): calendar reads, better drafts, rules."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import assert_never

from fateforger.conversation.calendar_reads import Look, Looker, build_reading
from fateforger.conversation.calendar_watch import is_in_doubt, notice_changes
from fateforger.conversation.drafts import Drafts
from fateforger.conversation.effects import Effects, mark_stale_preview
from fateforger.conversation.memory_node import apply_understood
from fateforger.conversation.memory_service import MemoryService
from fateforger.conversation.plan_nodes import with_arrivals
from fateforger.conversation.ports import Optimize
from fateforger.conversation.queue.work import DurationService
from fateforger.conversation.session_lifecycle import close_session, is_abandoned
from fateforger.conversation.session_messages import build_messages, has_memory_news
from fateforger.conversation.stage_nodes import redraft
from fateforger.conversation.turn_runs import log_constraint_events
from fateforger.conversation.turn_values import Effect, apply_reading, with_memory
from fateforger.drafting.day_draft import LongSearch
from fateforger.drafting.model import Draft
from fateforger.errors import StoreError, VersionConflict
from fateforger.planning.block_times import is_lunch, keys_before
from fateforger.planning.plan import Resolved, TBPlan, resolve
from fateforger.ports.clock import Clock
from fateforger.session.commands import SessionUpdate
from fateforger.session.commands.calendar import RefreshCalendar
from fateforger.session.commands.rules import AddExtracted
from fateforger.session.commands.thread import EndAbandoned, KeepTitle
from fateforger.session.constants import REREAD_WAIT
from fateforger.session.draft import (
    day_of,
    draft_constraints,
    is_current,
    room_words,
    with_fixes,
    with_own_draft,
    without_stale_sketch,
)
from fateforger.session.lengths import note_begun
from fateforger.session.messages import Outgoing
from fateforger.session.model import Session, SessionStatus
from fateforger.session.overview import overview
from fateforger.session.stages import TimeboxingStage
from fateforger.session.store import Sessions
from fateforger.session.zones import local_time
from fateforger.text import gettext as _
from fateforger.text import join_words, quote_title, use_language
from fateforger.workers.supervisor import BackgroundTasks

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


log = logging.getLogger(__name__)

TRIES = 4
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
            session = await self._load(session_id)
            if session is None or not _is_waiting(session, look):
                return
            after = apply_reading(session, build_reading(session, look)).with_thread(notice=session.thread.notice)
            after, _ = await self._follow(after, cause=f"{session_id}:{session.version}:calendar")
            after = with_fixes(after, session.touched_at)
            after, messages = build_messages(session, after, f"{session_id}:{session.version}:calendar")
            try:
                saved = await self._sessions.save(after, expected=session.version, outgoing=messages)
                self._drafts.prepare(saved)
                self.improve(saved)
            except VersionConflict:
                continue
            except StoreError as error:
                log.warning("the calendar of session %s arrived and could not be saved: %s", session_id, error.message)
                return
            self._owing()
            return


def _with_notice(session: Session, lines: tuple[str, ...]) -> Session:
    return session.with_notice(*lines) if lines else session


def _ignore() -> None:
    """Do nothing; no sender is connected yet."""


def _is_waiting(session: Session, look: Look) -> bool:
    """Check whether the session still waits for the calendar, and for the day of this read."""
    if session.status is SessionStatus.CANCELLED or session.day.snapshot is not None:
        return False
    return look.snapshot is None or (look.snapshot.day, look.snapshot.tz) == (session.date, session.tz)
