"""One turn, from a command of an active session to the session and its messages, saved together."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fateforger.calendar.event import EventImage, OwnedId
from fateforger.conversation.agent_proposals import ProposalService
from fateforger.conversation.background_updates import BackgroundUpdates, Drafts
from fateforger.conversation.calendar_reads import Look, Looker, build_reading
from fateforger.conversation.effects import Effects, mark_stale_preview
from fateforger.conversation.language.answers import Intent, OpeningReading
from fateforger.conversation.language.tables import OutsideContext
from fateforger.conversation.memory_service import MemoryService
from fateforger.conversation.queue.leftovers import OtherDays
from fateforger.conversation.queue.service import QueueService
from fateforger.conversation.running_turns import (
    RunningTurn,
    RunningTurns,
    TurnModel,
    TurnStopped,
    mark_finished,
    mark_stopped,
)
from fateforger.conversation.session_messages import (
    ROOT,
    Trigger,
    build_ephemeral,
    build_messages,
    build_only_side_messages,
    with_exchange,
    with_feedback,
)
from fateforger.conversation.task_offers import ExternalTaskList, find_offers
from fateforger.conversation.turn_runs import LogEntry, TurnLog, log_constraint_events
from fateforger.conversation.turn_values import (
    DraftDay,
    Effect,
    GoBack,
    ReadCalendar,
    TurnInput,
    TurnOutcome,
    UndoGroup,
    UndoUpdate,
    WriteCalendar,
)
from fateforger.errors import VersionConflict
from fateforger.memory.credentials import SECRET_LEFT_OUT
from fateforger.ports.model import Model
from fateforger.session.cards import Activity, Card, Progress, ProgressCallback, ignore_progress
from fateforger.session.checks import settle_named
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.day import ReceiveTasks, ReturnTasks
from fateforger.session.commands.plan import ApplyPatch
from fateforger.session.commands.rules import (
    AllowMeetings,
    JudgeConstraint,
    RememberConstraint,
    ReviseConstraint,
    SetPolicy,
    SettleConstraints,
    UndoMemory,
)
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.draft import with_fixes, without_stale_sketch
from fateforger.session.frame import describe_noted
from fateforger.session.gate import close_turn, describe_stage, refuse_by_rules
from fateforger.session.messages import Outgoing, join_notices
from fateforger.session.model import Session, SessionStatus
from fateforger.session.pending import WaitingProposal
from fateforger.session.stages import REREAD_WAIT, TimeboxingStage
from fateforger.session.store import Sessions
from fateforger.text import gettext as _
from fateforger.text import mark_message, use_language
from fateforger.ui.session_cards import ended_reply, not_yours_card
from fateforger.values import replace
from fateforger.workers.people import LanguageService
from fateforger.workflow.conformance import CheckedRule


def needs_day(session: Session, command: SessionCommand, *, words: bool = False) -> bool:
    """Check whether a command should be carried out with a fresh read of the calendar (S84, S202).

    With ``words`` a message may mean any of the other commands.
    """
    if isinstance(command, TimeboxingUserReply):
        return words and session.stage not in {TimeboxingStage.DATE, TimeboxingStage.COLLECT_CONSTRAINTS}
    return command.needs_calendar(session.stage)


def explain_withheld(command: SessionCommand) -> tuple[str, ...]:
    """Return the reply to a message from which a secret was removed; empty for any other command."""
    return (_(SECRET_LEFT_OUT),) if isinstance(command, TimeboxingUserReply) and command.withheld else ()


def find_contradicted_turn(turn: TurnInput, look: Look, outcome: TurnOutcome) -> TurnInput | None:
    """Return the turn to run again if a command from a message contradicts the person's own change in the calendar.

    The person is then asked, as after a click (S201). Returns ``None`` if the outcome holds.
    """
    for command in outcome.heard:
        with_it = build_reading(turn.session, look, command)
        if with_it != turn.reading:
            return replace(
                with_wishes(turn, outcome),
                lines=outcome.lines,
                reading=with_it,
                last_words=outcome.session.thread.last_words,
            )
    return None


def with_wishes(turn: TurnInput, outcome: TurnOutcome) -> TurnInput:
    """Return the turn with the commands that its message came to, so that no model is asked again."""
    (first, *rest), *later = outcome.wishes
    following = (*later, *outcome.left_later)
    return replace(turn, command=first, rest=tuple(rest), later=following, wishes=outcome.left)


_WRITES = (WriteCalendar, UndoUpdate, UndoGroup)


def end_turn(
    before: Session, outcome: TurnOutcome, after: Session, messages: Sequence[Outgoing]
) -> tuple[Session, tuple[CheckedRule, ...]]:
    """Return the session with the end of its turn recorded, and the rules that the turn violated.

    ``after`` is the session with the effects of ``outcome`` applied.
    """
    holds = {
        "one_message_per_turn": sum(not message.beside and message.slot != ROOT for message in messages) <= 1,
        "foreign_event_changed": _only_writes(outcome.effects)
        and _find_foreign(outcome.session) != _find_foreign(after),
    }
    return close_turn(before, after, [name for name, so in holds.items() if so])


def report_violations(session: Session, broke: Sequence[CheckedRule]) -> Session:
    """Return the session with a notice of the rules that its turn violated."""
    return session.say(*refuse_by_rules(broke).notice.lines)


def _only_writes(effects: Sequence[Effect]) -> bool:
    """Check whether all effects are writes: only those can have changed the session's knowledge of the calendar."""
    return bool(effects) and all(isinstance(effect, _WRITES) for effect in effects)


def _find_foreign(session: Session) -> Mapping[str, EventImage]:
    events = () if session.day.snapshot is None else session.day.snapshot.events
    return {event.id: event for event in events if not OwnedId.is_one(event.id)}


log = logging.getLogger(__name__)

STILL_READING = mark_message(
    "I am still reading your message for rules. If I find one, the plan follows it, and the card says so."
)
OF_MEMORY = (
    RememberConstraint,
    ReviseConstraint,
    SetPolicy,
    JudgeConstraint,
    SettleConstraints,
    AllowMeetings,
    UndoMemory,
)
TRIES = 4
"""Attempts to carry out a command while background work keeps saving the session."""


@dataclass(frozen=True, slots=True)
class _Work:
    """Environment of a command: its model, the handle to stop it, the callback for its progress, and its log entry."""

    model: TurnModel | None
    course: RunningTurn
    tell: ProgressCallback
    entry: LogEntry


@dataclass(frozen=True, slots=True)
class Turns:
    """Carries out commands of active sessions: gather the context (S108), run the turn, apply its effects, and save.

    The caller ensures that there is one at a time per session.
    """

    sessions: Sessions
    looker: Looker
    effects: Effects
    drafts: Drafts
    later: BackgroundUpdates
    logbook: TurnLog
    model: Model | None
    memory: MemoryService
    tasks: QueueService
    outside: ExternalTaskList | None
    other_days: OtherDays
    proposals: ProposalService
    languages: LanguageService
    running: RunningTurns = field(init=False, default_factory=RunningTurns)

    async def carry_out(self, command: SessionCommand, tell: ProgressCallback, of: RunningTurn | None = None) -> None:
        """Carry out a command, once. If background work saved the session meanwhile, start again.

        It is a part ``of`` a first message that is passed on. Raises ``StoreError``.
        """
        with self.running.course(command.session_id, command.at, tell, of) as course:
            for attempt in range(1, TRIES + 1):
                try:
                    async with self.drafts.turn(command.session_id):
                        await self._attempt(command, course, course.report)
                except VersionConflict:
                    if attempt == TRIES:
                        raise
                else:
                    break
            if isinstance(command, ApplyPatch) and command.approved is not None:
                done = await self.sessions.load(command.session_id)
                if done is not None:
                    await self.proposals.follow(None, done, command)

    async def _attempt(self, command: SessionCommand, course: RunningTurn, tell: ProgressCallback) -> None:
        before = await self.sessions.load(command.session_id)
        if before is None or command.command_id in before.thread.handled:
            return
        spoken = await self.languages.of(before.user_id)
        use_language(spoken.code)
        before = before.with_planning(quick=self.later.improves).with_options(
            language=spoken.code, language_chosen=spoken.chosen
        )
        if command.user_id != before.user_id:
            await self._answer(before, command, not_yours_card())
        elif before.status is SessionStatus.CANCELLED:
            if isinstance(command, ReceiveTasks):
                await self.other_days.keep(before, command)
            said = command.text if isinstance(command, TimeboxingUserReply) and not command.withheld else ""
            await self._answer(before, command, ended_reply(before, said))
        else:
            try:
                await self._run_logged(before, command, course, tell)
            except TurnStopped:
                if await self.effects.past.has_begun_to_write(before, command.command_id):
                    # An earlier attempt was interrupted while it wrote. Only a complete write leaves a consistent
                    # state.
                    course.act(whatever=True)
                    await self._run_logged(before, command, course, tell)
                else:
                    after = mark_stopped(with_feedback(before, command.command_id, ()), course)
                    after = after.after_command(command.command_id, command.at)
                    after, messages = build_messages(before, after, command.command_id, _trigger_of(command))
                    await self.sessions.save(after, expected=before.version, outgoing=messages)

    async def _run_logged(
        self, before: Session, command: SessionCommand, course: RunningTurn, tell: ProgressCallback
    ) -> None:
        with self.logbook.turn(command, before) as entry:
            model = None if self.model is None else TurnModel(self.model, course, tell)
            await self._run(before, command, _Work(model, course, tell, entry))

    async def begin(
        self, session: Session, reply: TimeboxingUserReply, opened: OpeningReading, model: TurnModel, entry: LogEntry
    ) -> Session:
        """Begin a session with what its first message wants besides the day; see :meth:`carry_out`.

        Raises :class:`TurnStopped` if the person stops that before it acts; then nothing has begun.
        """
        before = session.with_planning(quick=self.later.improves)
        work = _Work(model, model.course, ignore_progress, entry)
        rest = TurnOutcome(session=before, gate=describe_stage(before), left=opened.further, rules=opened.rules)
        return await self._run(before, reply, work, rest=rest)

    async def _run(
        self, before: Session, command: SessionCommand, work: _Work, *, rest: TurnOutcome | None = None
    ) -> Session:
        outcome, after = (rest, before) if rest is not None else await self._take_turn(before, command, command, work)
        following = command
        while outcome.left or outcome.left_later:
            # The undo has taken effect by now, so the rest of the message can be read.
            following = replace(following, command_id=f"{following.command_id}/rest")
            more, then = await self._take_turn(after, following, command, work, rest=outcome)
            after = then.with_thread(notice=join_notices((after.thread.notice, then.thread.notice)))
            outcome = replace(more, wishes=(*outcome.wishes, *more.wishes), rules=outcome.rules)
        if isinstance(command, TimeboxingUserReply) or command.home not in {None, before.stage, after.stage}:
            after = after.remark(*describe_noted(before, after))
        after = await self._settle(before, outcome, after, command)
        after = with_exchange(after, command, rules=outcome.rules)
        return await self._save(before, outcome, after, command, () if work.model is None else work.model.prompts)

    async def _take_turn(
        self,
        before: Session,
        command: SessionCommand,
        said: SessionCommand,
        work: _Work,
        *,
        rest: TurnOutcome | None = None,
    ) -> tuple[TurnOutcome, Session]:
        """Run a turn and carry out its effects. ``said`` is what the person said or pressed.

        ``rest`` is the outcome of the turn before, which left wishes of the same message.
        """
        course, entry = work.course, work.entry
        look = await course.unless_stopped(self._look(before, command, work.tell))
        if look is None and rest is not None and any(wish.intent is Intent.ASK for wish in rest.left):
            look = await course.unless_stopped(self._read_day(before, work.tell))
        turn = await self._assemble(before, command, look)
        if rest is not None:
            notice = before.thread.notice
            blocked = notice is not None and notice.refused
            turn = replace(turn, lines=(), wishes=rest.left, later=rest.left_later, blocked=blocked)
        outcome = await entry.run(turn, work.model)
        course.check()
        if outcome.rules:
            # This comes before the turn acts: if the program dies during it, the reply is read nevertheless.
            await self.memory.queue_extraction(said)
            course.keeps_rules = True
        heard = outcome
        if look is None and outcome.heard and _went_past_frame(before, outcome.session):
            look = await course.unless_stopped(self._read_day(outcome.session, work.tell))
            turn = with_wishes(replace(await self._assemble(before, command, look), lines=outcome.lines), outcome)
            outcome = await entry.run(turn)
        asking = None if look is None else find_contradicted_turn(turn, look, outcome)
        if asking is not None:
            turn, outcome = asking, await entry.run(asking)
        if outcome.session.options.language != before.options.language:
            await self.languages.note_written(before.user_id, outcome.session.options.language)
            use_language(outcome.session.options.language)
        turn, outcome = await self._with_extracted(said, turn, outcome, heard, look, work)
        after = await course.unless_stopped(self.drafts.apply_draft(outcome, work.tell))
        course.act()
        if turn.reading is not None and turn.reading.plan is not None:
            await self.effects.note(turn.reading.plan, before, f"{command.command_id}/seen")
        for effect in outcome.effects:
            doing = self.effects.carry_out(effect, after, before=before, cause=command.command_id, tell=work.tell)
            after = await entry.effect(effect, after, doing)
        after = await self.other_days.follow(before, after, command.command_id, command.at)
        if course.stop_asked:
            after = mark_finished(before, after)
        return replace(outcome, rules=heard.rules), after

    async def _with_extracted(
        self,
        said: SessionCommand,
        turn: TurnInput,
        outcome: TurnOutcome,
        heard: TurnOutcome,
        look: Look | None,
        work: _Work,
    ) -> tuple[TurnInput, TurnOutcome]:
        """Run the turn again with the rules in its own message, before it drafts or commits (K9).

        If the message was not read for rules in time, the outcome is returned with a notice. ``heard`` is the outcome
        of the first reading of the message.
        """
        if not isinstance(said, TimeboxingUserReply) or not heard.heard:
            return turn, outcome
        if not any(map(_needs_rules, outcome.effects)) or any(isinstance(each, OF_MEMORY) for each in heard.heard):
            return turn, outcome
        found = await work.course.unless_stopped(self.memory.await_extraction(said))
        if found.late:
            return turn, replace(outcome, session=outcome.session.say(_(STILL_READING)))
        if found.understood is None or found.understood.command_id in turn.session.thread.handled:
            return turn, outcome
        known = await self.later.remember(turn.session, found.understood)
        known = known.after_command(found.understood.command_id, known.touched_at)
        assembled = await self._assemble(known, said, look)
        again = replace(with_wishes(assembled, heard), lines=heard.lines)
        outcome = await work.entry.run(again)
        news = found.understood.command_id
        writes = tuple(
            replace(write, fresh=write.fresh or write.cause == news) for write in outcome.session.rules.memory_writes
        )
        session = outcome.session.with_rules(memory_writes=writes)
        return again, replace(outcome, session=session)

    async def _assemble(self, before: Session, command: SessionCommand, look: Look | None) -> TurnInput:
        memory = await self.memory.look(before, command)
        more, trouble = await find_offers(self.sessions, before, self.tasks.planned, self.outside, now=command.at)
        return TurnInput(
            session=before,
            command=command,
            reading=None if look is None else build_reading(before, look, command),
            memory=memory,
            lines=explain_withheld(command),
            proposals=await self._find_proposals(before, command),
            context=await self._find_context(before, command),
            offered=more,
            offer_trouble=trouble,
            settled=await self.other_days.find_settled(before),
            planned_days=await self.other_days.find_planned(before, command.command_id),
            estimates=await self.tasks.durations.find_for(before),
        )

    async def _find_proposals(self, before: Session, command: SessionCommand) -> tuple[WaitingProposal, ...]:
        """Return the agents' proposals in the thread, for a message that may answer them."""
        if self.model is None or not isinstance(command, TimeboxingUserReply):
            return ()
        return await self.proposals.waiting(before, command.at)

    async def _find_context(self, session: Session, command: SessionCommand) -> OutsideContext | None:
        """Return what a message may be about that is not in this plan."""
        if self.model is None or not isinstance(command, TimeboxingUserReply):
            return None
        return await self.tasks.find_context(command.user_id, command.at, session.channel, session.thread_ts)

    async def _settle(self, before: Session, outcome: TurnOutcome, after: Session, command: SessionCommand) -> Session:
        """Return the session with its consequences applied: questions noted, history updated, stale views dropped."""
        if after.planning.plan is not None and after.sync.questions != before.sync.questions:
            await self.effects.note(after.planning.plan, after, f"{command.command_id}/settled")
        if after.thread.history is not None and outcome.effects:
            went_back = any(isinstance(effect, GoBack) for effect in outcome.effects)
            after = await self.effects.past.refresh(after, said=went_back)
        if before.version:
            after = settle_named(before, after)
        return with_fixes(without_stale_sketch(mark_stale_preview(before, after)), command.at).after_command(
            command.command_id, command.at
        )

    async def _save(
        self, before: Session, outcome: TurnOutcome, after: Session, command: SessionCommand, prompts: tuple[str, ...]
    ) -> Session:
        """Save the session with its messages, and start background work. Violated rules are logged and reported."""
        cause, trigger = command.command_id, _trigger_of(command)
        shown = before if before.version else None
        if shown is not None and all(c.is_view for c in outcome.heard or (command,)):
            after, messages = build_only_side_messages(shown, after, cause)
        else:
            after, messages = build_messages(shown, with_feedback(after, cause, prompts), cause, trigger)
        after, broke = end_turn(before, outcome, after, messages)
        if broke:
            log.error("the turn of %s broke %s", cause, ", ".join(each.stated.id for each in broke))
            after, messages = build_messages(shown, report_violations(after, broke), cause, trigger)
        await self.tasks.planned.follow(before, after)
        await self.tasks.durations.follow(before, after)
        await self.proposals.follow(before, after, command)
        after = await self.sessions.save(after, expected=before.version, outgoing=messages)
        log_constraint_events(before, after, command.command_id)
        self.drafts.prepare(after)
        self.later.improve(after)
        waits = any(isinstance(effect, ReadCalendar) and effect.wait for effect in outcome.effects)
        if waits and after.day.snapshot is None and after.day.snapshot_error is None:
            self.later.show_when_read(after)
        return after

    async def _answer(self, session: Session, command: SessionCommand, card: Card) -> None:
        """Answer the person who acted, without a change to the session."""
        known = session.after_command(command.command_id, session.touched_at)
        message = build_ephemeral(session, command.command_id, card, to=command.user_id)
        await self.sessions.save(known, expected=session.version, outgoing=(message,))

    async def _look(self, session: Session, command: SessionCommand, tell: ProgressCallback) -> Look | None:
        """Read the day for commands that draft, change or write a plan; ``None`` if not needed or too late."""
        if not needs_day(session, command, words=self.model is not None):
            return None
        return await self._read_day(session, tell)

    async def _read_day(self, session: Session, tell: ProgressCallback) -> Look | None:
        tell(Progress(doing=Activity.LOOKING))
        return await self.looker.wait(session.user_id, session.date, session.tz, seconds=REREAD_WAIT, fresh=True)


def _trigger_of(command: SessionCommand) -> Trigger:
    match command:
        case TimeboxingUserReply():
            return Trigger.WORDS
        case ReceiveTasks() | ReturnTasks():
            return Trigger.BACKGROUND
        case _:
            return Trigger.CONTROL


def _went_past_frame(before: Session, after: Session) -> bool:
    """Check whether a message that was heard without the calendar led to a draft, which needs it."""
    return before.stage.number < TimeboxingStage.CAPTURE_INPUTS.number and after.planning.plan is not None


def _needs_rules(effect: Effect) -> bool:
    """Check whether an effect has to follow all known rules."""
    return isinstance(effect, DraftDay) or (isinstance(effect, WriteCalendar) and effect.commit)
