"""Effects of a turn, the preview of the next write, and the history of the day with the way back in it.

This is the only module of the conversation that writes to the calendar (S60, S91).
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Awaitable, Callable, Sequence
from itertools import takewhile
from typing import Any, assert_never

from fateforger.calendar.access import Wait, WriteProgressCallback
from fateforger.calendar.adoption import adopt_changes, list_noted
from fateforger.calendar.history import build_rows, describe_plan, find_undo_scope, is_in_effect, list_undone
from fateforger.calendar.model import SafetyCheckKind
from fateforger.calendar.results import SyncResult
from fateforger.calendar.transactions import Transaction
from fateforger.calendar.undo import may_be_late
from fateforger.conversation.agent_proposals import ProposalService
from fateforger.conversation.calendar_reads import Look, Looker, build_reading, predict_day
from fateforger.conversation.memory_service import MemoryService
from fateforger.conversation.ports import Calendars, Submitter
from fateforger.conversation.running_turns import WRITING
from fateforger.conversation.turn_values import (
    AnswerAgent,
    CarryOutRequest,
    DraftDay,
    Effect,
    GoBack,
    Preview,
    ReadCalendar,
    ReadHistory,
    SearchMemory,
    UndoGroup,
    UndoUpdate,
    WriteCalendar,
    WriteMemory,
    apply_reading,
)
from fateforger.conversation.write_results import (
    apply_failed_submit,
    apply_found_result,
    apply_group_undo,
    apply_missing_group,
    apply_submit,
    apply_update_undo,
    build_report,
    derive_writes,
    describe_part_undo,
    dump_facts,
    find_changes_to_write,
    load_facts,
    require_confirmation,
    with_plan,
)
from fateforger.errors import CalendarError, ConfirmationNeeded, NotUndoable, UserError, WrittenElsewhere
from fateforger.planning.plan import TBPlan
from fateforger.planning.timing import zone
from fateforger.session.cards import Activity, Card, Progress, ProgressCallback, ignore_progress
from fateforger.session.commands.thread import Opening
from fateforger.session.conflicts import choices_of, reopen_questions, settle_questions
from fateforger.session.messages import MORE_LISTED, MOST_LISTED, HistoryView, LastWords, Notice, PreviewView
from fateforger.session.model import Facts, Session
from fateforger.session.queue_commands import QueueCommand
from fateforger.session.replanning import with_facts
from fateforger.session.stages import REREAD_WAIT, TimeboxingStage
from fateforger.session.undone import facts_of, follow_approvals
from fateforger.tasks.transitions import HydratedMessage
from fateforger.text import gettext as _
from fateforger.values import replace


async def open_preview(effect: Preview, session: Session, submitter: Submitter, looker: Looker) -> Session:
    """Return the session with an open preview. The calendar is read as for a commit.

    Nothing of that read is kept, so that the next one finds the same news.
    """
    look = await looker.wait(session.user_id, session.date, session.tz, seconds=REREAD_WAIT, fresh=True)
    reading = None if look is None else build_reading(session, look)
    looked = (
        session if reading is None or reading.snapshot is None else settle_questions(apply_reading(session, reading))
    )
    noticed = () if reading is None else reading.noticed
    plan = looked.planning.plan or TBPlan(date=session.date, tz=session.tz)
    try:
        planned = await submitter.preview(plan, choices=choices_of(looked))
    except (UserError, CalendarError) as error:
        return _with_preview(session, PreviewView(asked=effect.asked, at=effect.at, problem=error.message))
    words = describe_plan(planned)
    view = PreviewView(
        asked=effect.asked,
        at=effect.at,
        counts=words.counts,
        todo=words.todo,
        left=words.left,
        notes=tuple(dict.fromkeys((*noticed, *words.notes))),
        brakes=words.brakes,
    )
    return _with_preview(session, view)


def mark_stale_preview(before: Session, after: Session) -> Session:
    """Return the session with an earlier preview marked as stale, if the turn changed its subject."""
    view = after.thread.preview
    if view is None or view.stale or before.thread.preview is None or view.asked != before.thread.preview.asked:
        return after
    if _preview_subject(after) == _preview_subject(before):
        return after
    return _with_preview(after, replace(view, stale=True))


def _preview_subject(session: Session) -> tuple[object, ...]:
    return session.planning.plan, session.sync.written, session.day.snapshot, session.sync.questions


def _with_preview(session: Session, view: PreviewView) -> Session:
    return session.with_thread(preview=view)


log = logging.getLogger(__name__)
AnswerRequest = Callable[[HydratedMessage | QueueCommand, Opening], Awaitable[Card]]
"""Carries out a request for the queue, answers it in its thread, and returns the answer."""


class Effects:
    """Carries out effects and applies their results to the session.

    A mistake of the person or an error of the calendar becomes a sentence on the card. ``StoreError`` is raised to the
    caller, which repeats the whole command.
    """

    def __init__(
        self,
        calendars: Calendars,
        looker: Looker,
        *,
        calendar_wait: float,
        memory: MemoryService,
        proposals: ProposalService,
        answer_request: AnswerRequest,
    ) -> None:
        self._calendars = calendars
        self._answer_request = answer_request
        self._proposals = proposals
        self._memory = memory
        self._looker = looker
        self.past = HistoryService(calendars, looker)
        self._calendar_wait = calendar_wait

    async def carry_out(  # noqa: C901, PLR0912  one line per kind of effect
        self, effect: Effect, session: Session, *, before: Session, cause: str, tell: ProgressCallback = ignore_progress
    ) -> Session:
        """Return the session after an effect.

        ``before`` is the session before the turn: a failed undo leaves everything as it was. ``cause`` is the command's
        id: a repeated command finds what it did the first time. ``tell`` is called with the progress.
        """
        told = _report_writing(tell)
        if isinstance(effect, WRITING):
            tell(Progress(doing=Activity.WRITING))
        match effect:
            case ReadCalendar():
                return await self._read(effect, session)
            case WriteCalendar():
                return await self._write(effect, session, cause, told)
            case UndoUpdate():
                return await self._undo_update(effect, session, before, cause, told)
            case UndoGroup():
                return await self._undo_group(effect, session, before, cause, told)
            case ReadHistory():
                return await self.past.show(effect, session)
            case GoBack():
                return await self.past.go_back(effect, session, before, cause, told)
            case Preview():
                return await open_preview(effect, session, await self._calendars.of(session.user_id), self._looker)
            case DraftDay():
                return session  # carried out before, while the turn could still be stopped
            case WriteMemory():
                return await self._memory.write(effect, session, cause)
            case SearchMemory():
                return await self._memory.look_for(effect, session)
            case AnswerAgent():
                return await self._answer_agent(effect, session, cause)
            case CarryOutRequest():
                return await self._carry_out_request(effect, session)
            case _:
                assert_never(effect)

    async def _answer_agent(self, effect: AnswerAgent, session: Session, cause: str) -> Session:
        await self._proposals.answer(effect, session, cause)
        return session

    async def _carry_out_request(self, effect: CarryOutRequest, session: Session) -> Session:
        place = Opening(
            command_id=effect.cause,
            user_id=session.user_id,
            at=effect.at,
            channel=session.channel,
            thread_ts=session.thread_ts,
            tz=session.tz,
            text="",
        )
        card = await self._answer_request(effect.request, place)
        return session.with_thread(last_words=LastWords.of(card.text, asks=False, of_queue=True))

    async def note(self, plan: TBPlan, session: Session, cause: str) -> None:
        """Record that the plan has adopted the person's own changes, so that reverting one counts as a new request.

        Writes nothing to the calendar. A failure loses nothing.
        """
        calendar = await self._calendars.of(session.user_id)
        with contextlib.suppress(UserError, CalendarError):
            await calendar.take_note(plan, cause=cause, group=session.sync.write_group)

    async def find_out(self, session: Session) -> Session:
        """Return the session with the result of its latest write, if that was unknown and can be found out now."""
        calendar = await self._calendars.of(session.user_id)
        history = await calendar.history(session.date)
        latest = next((t for t in history if t.context.get("session") == session.id), None)
        try:
            result = None if latest is None else await calendar.find_out(latest.id)
        except (UserError, CalendarError):
            return session
        return apply_found_result(session, result, await calendar.history(session.date))

    async def take_back_late(self, look: Look, session: Session, cause: str) -> tuple[str, ...]:
        """Remove writes that reached the calendar after their undo, and return a sentence for each.

        Anything that cannot be removed now is found again at the next read.
        """
        if look.snapshot is None or look.ledger is None or not may_be_late(look.snapshot, look.ledger):
            return ()
        calendar = await self._calendars.of(session.user_id)
        try:
            return await calendar.take_back_late(cause=cause)
        except (UserError, CalendarError) as error:
            log.info("what arrived late cannot be removed now: %s", error.message)
            return ()
        finally:
            self._looker.forget(session.user_id, session.date, session.tz)

    async def _read(self, effect: ReadCalendar, session: Session) -> Session:
        if not effect.wait:
            self._looker.begin(session.user_id, effect.day, effect.tz, fresh=effect.fresh)
            return session
        look = await self._looker.wait(
            session.user_id, effect.day, effect.tz, seconds=self._calendar_wait, fresh=effect.fresh
        )
        return session if look is None else apply_reading(session, build_reading(session, look))

    async def _write(self, effect: WriteCalendar, session: Session, cause: str, told: WriteProgressCallback) -> Session:
        plan = session.planning.plan or TBPlan(date=session.date, tz=session.tz)
        calendar = await self._calendars.of(session.user_id)
        try:
            result = await calendar.submit_plan(
                plan,
                cause=cause,
                group=effect.group,
                context=_write_context(effect, session),
                confirmed=tuple(SafetyCheckKind(name) for name in session.sync.brakes),
                choices=choices_of(session),
                told=told,
            )
        except ConfirmationNeeded as needed:
            return require_confirmation(session, needed)
        except (UserError, CalendarError) as error:
            return apply_failed_submit(session, (error.message,))
        finally:
            self._looker.forget(session.user_id, session.date, session.tz)
        return apply_submit(session, result)

    async def _undo_update(
        self, effect: UndoUpdate, session: Session, before: Session, cause: str, told: WriteProgressCallback
    ) -> Session:
        context = {"session": session.id, "deed": "undo_update", "plan_before": _dump_plan(session.planning.plan)}
        context |= dump_facts(facts_of(session))
        calendar = await self._calendars.of(session.user_id)
        result: SyncResult | None = None
        for transaction in effect.transactions:
            try:
                result = await calendar.undo_since(transaction, cause=cause, context=context, told=told)
                break
            except (UserError, CalendarError) as error:
                if _is_undone(error):
                    continue  # by another command: only the plan is left to restore
                return before.refuse(_("I could not take that back: {reason}", reason=error.message))
            finally:
                self._looker.forget(session.user_id, session.date, session.tz)
        return apply_update_undo(session, result, await calendar.history(session.date))

    async def _undo_group(
        self, effect: UndoGroup, session: Session, before: Session, cause: str, told: WriteProgressCallback
    ) -> Session:
        context = {"session": session.id, "deed": "undo_group"}
        calendar = await self._calendars.of(session.user_id)
        try:
            result = await calendar.undo_group(effect.group, cause=cause, context=context, told=told)
        except (UserError, CalendarError) as error:
            if _is_undone(error):
                return apply_missing_group(session, error.message)
            return before.refuse(
                _("I could not take it back: {reason}", reason=error.message), _("Nothing has changed.")
            )
        finally:
            self._looker.forget(session.user_id, session.date, session.tz)
        return apply_group_undo(session, result)


def _is_undone(error: Exception) -> bool:
    """Check whether an undo has nothing left to do because another command has already undone the write."""
    return isinstance(error, NotUndoable) and not isinstance(error, WrittenElsewhere)


def _report_writing(tell: ProgressCallback) -> WriteProgressCallback:
    def report(done: int, of: int, wait: Wait | None = None) -> None:
        seconds = 0 if wait is None else math.ceil(wait.seconds)
        tell(Progress(doing=Activity.WRITING, done=done, of=of, waits=seconds))

    return report


def _write_context(effect: WriteCalendar, session: Session) -> dict[str, Any]:
    """Return the journal's context of a write, for the history of the day.

    It names the click and describes the change. It includes the plan before the change if both are undone together.
    """
    context: dict[str, Any] = {"session": session.id, "commit": effect.commit, "deed": "commit"}
    waiting = find_changes_to_write(session)
    if not effect.commit:
        context["deed"] = "change" if waiting else "retry"
    if waiting:
        context |= {"said": " ".join(s.sentence for s in waiting), "plan_before": _dump_plan(waiting[0].plan_before)}
        if placed := sorted({key for s in waiting for key in s.placed}):
            context |= {"placed": placed}
        if aside := [uid for s in waiting for uid in s.set_aside]:
            context |= {"set_aside": aside}
        context |= dump_facts(next((s.facts_before for s in waiting if s.facts_before is not None), None))
    return context


def _dump_plan(plan: TBPlan | None) -> dict[str, Any] | None:
    return None if plan is None else plan.model_dump(mode="json")


class HistoryService:
    """Applies history commands to a session. ``StoreError`` is raised to the caller."""

    def __init__(self, calendars: Calendars, looker: Looker) -> None:
        self._calendars = calendars
        self._looker = looker

    async def show(self, effect: ReadHistory, session: Session) -> Session:
        """Open the history, or list more of it in place."""
        view = session.thread.history
        if effect.more and view is not None:
            view = replace(view, listed=min(view.listed + MORE_LISTED, MOST_LISTED), lines=())
        else:
            view = HistoryView(asked=effect.asked)
        return await self.refresh(session.with_thread(history=view))

    async def has_begun_to_write(self, session: Session, cause: str) -> bool:
        """Check whether a command has begun to write to the session's day."""
        calendar = await self._calendars.of(session.user_id)
        return any(transaction.cause == cause for transaction in await calendar.history(session.date))

    async def refresh(self, session: Session, *, said: bool = True) -> Session:
        """Update the open history; ``said`` keeps its messages."""
        if session.thread.history is None:
            return session
        calendar = await self._calendars.of(session.user_id)
        rows = build_rows(await calendar.history(session.date), session=session.id)
        listed = rows[: session.thread.history.listed]
        newest = rows[0].transaction if rows else ""
        view = replace(session.thread.history, rows=listed, total=len(rows), newest=newest)
        view = view if said else replace(view, lines=())
        return session.with_thread(history=view)

    async def go_back(
        self, effect: GoBack, session: Session, before: Session, cause: str, told: WriteProgressCallback
    ) -> Session:
        """Undo a write and all later ones. A failure changes nothing, and the card and the history both say so."""
        calendar = await self._calendars.of(session.user_id)
        history = await calendar.history(session.date)
        try:
            result = await calendar.undo_since(
                effect.transaction,
                cause=cause,
                newest=effect.newest,
                context=_undo_context(effect, session, history),
                told=told,
            )
        except NotUndoable as error:
            return _add_notice(before, (error.message,), refused=True)
        except (UserError, CalendarError) as error:
            lines = (_("I could not take that back: {message}", message=error.message), _("Nothing has changed."))
            return _add_notice(before, lines, refused=True)
        finally:
            self._looker.forget(session.user_id, session.date, session.tz)
        return await self._apply_result(session, before, result)

    async def _apply_result(self, session: Session, before: Session, result: SyncResult) -> Session:
        report = build_report(result)
        if report.status in {"partial", "failed"}:
            kept = predict_day(before, result).with_sync(last_sync=report)
            return _add_notice(kept, describe_part_undo(result), refused=True)
        calendar = await self._calendars.of(session.user_id)
        history = await calendar.history(session.date)
        ids = () if result.transaction is None else list_undone(result.transaction)
        gone_back = [t for t in history if t.id in ids]
        plan = find_plan_before(gone_back, session)
        if plan is not None:
            later = takewhile(lambda t: t.id != gone_back[-1].id, history)
            plan = adopt_changes(plan, list_noted(later, zone(session.tz)))
        session = with_facts(session, _find_facts_before(gone_back, session))
        session = (
            predict_day(session, result).with_sync(last_sync=report, problem=None, brakes=()).with_thread(notice=None)
        )
        session = derive_writes(with_plan(session, plan), history, replaced=plan is not None)
        session = follow_approvals(before, session)
        gone = [step for step in before.sync.refine_undo if step not in session.sync.refine_undo]
        session = reopen_questions(session, [question for step in gone for question in step.answered])
        session = settle_questions(await self._adopt_changes(settle_questions(session)))
        return _add_notice(session, (*report.sentences, *session.notice_lines))

    async def _adopt_changes(self, session: Session) -> Session:
        """Return the session with the person's own changes in the calendar, which an undo keeps (S90, S242)."""
        if session.planning.plan is None or session.stage.number < TimeboxingStage.REFINE.number:
            return session
        look = await self._looker.wait(session.user_id, session.date, session.tz, seconds=REREAD_WAIT, fresh=True)
        if look is None or look.snapshot is None:
            return session
        return apply_reading(session, build_reading(session.with_day(snapshot=None), look))


def find_plan_before(targets: Sequence[Transaction], session: Session) -> TBPlan | None:
    """Return the plan before the oldest of ``targets`` (the newest first) that changed this session's plan.

    Returns ``None`` if none of them did: a commit, or a write of another session, changes the calendar and not this
    plan.
    """
    own = [t.context["plan_before"] for t in targets if _is_own(t, session) and t.context.get("plan_before")]
    return TBPlan.model_validate(own[-1]) if own else None


def _find_facts_before(targets: Sequence[Transaction], session: Session) -> Facts | None:
    """Return the session's facts before the oldest of ``targets`` (the newest first) that changed them."""
    found = [facts for t in targets if _is_own(t, session) and (facts := load_facts(t)) is not None]
    return found[-1] if found else None


def _is_own(transaction: Transaction, session: Session) -> bool:
    return bool(transaction.context.get("session") == session.id)


def _undo_context(effect: GoBack, session: Session, history: Sequence[Transaction]) -> dict[str, Any]:
    """Return the journal's context of an undo, with the previous plan if the plan changes, for a later redo."""
    context: dict[str, Any] = {"session": session.id, "deed": "redo" if effect.redo else "undo"}
    clicked = next((t for t in history if t.id == effect.transaction), None)
    changes = (
        clicked is not None
        and is_in_effect(clicked)
        and find_plan_before(find_undo_scope(history, clicked).targets, session)
    )
    if changes and session.planning.plan is not None:
        context["plan_before"] = session.planning.plan.model_dump(mode="json")
        context |= dump_facts(facts_of(session))
    return context


def _add_notice(session: Session, lines: tuple[str, ...], *, refused: bool = False) -> Session:
    """Set the same notice on the card of the stage and in the history, where the click was made."""
    lines = tuple(dict.fromkeys(lines))
    session = session.with_thread(notice=Notice(lines=lines, refused=refused))
    if session.thread.history is None:
        return session
    return session.with_thread(history=replace(session.thread.history, lines=lines))
