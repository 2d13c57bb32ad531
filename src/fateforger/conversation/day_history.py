"""History of the day: its view, and the way back in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fateforger.calendar.access import WriteProgressCallback
from fateforger.calendar.history import build_rows, find_undo_scope, is_in_effect, list_undone
from fateforger.calendar.results import SyncResult
from fateforger.calendar.transactions import Transaction
from fateforger.conversation.calendar_reads import Looker, build_reading, predict_snapshot
from fateforger.conversation.ports import Calendars
from fateforger.conversation.turn_values import GoBack, ReadHistory, apply_reading
from fateforger.conversation.write_results import (
    NOT_ALL,
    build_report,
    derive_writes,
    dump_facts,
    load_facts,
    with_plan,
)
from fateforger.errors import CalendarError, NotUndoable, UserError
from fateforger.planning.plan import TBPlan
from fateforger.session.conflicts import reopen_questions, settle_questions
from fateforger.session.constants import REREAD_WAIT
from fateforger.session.messages import Notice
from fateforger.session.model import Facts, Session
from fateforger.session.replanning import with_facts
from fateforger.session.stages import TimeboxingStage
from fateforger.session.undone import facts_of, follow_approvals
from fateforger.session.views import MORE_LISTED, MOST_LISTED, HistoryView
from fateforger.text import gettext as _
from fateforger.values import replace


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
        shown = predict_snapshot(session.day.snapshot, result)
        if report.status in {"partial", "failed"}:
            kept = before.with_day(snapshot=predict_snapshot(before.day.snapshot, result)).with_sync(last_sync=report)
            return _add_notice(kept, (_(NOT_ALL), *report.sentences), refused=True)
        calendar = await self._calendars.of(session.user_id)
        history = await calendar.history(session.date)
        ids = () if result.transaction is None else list_undone(result.transaction)
        gone_back = [t for t in history if t.id in ids]
        plan = find_plan_before(gone_back, session)
        session = with_facts(session, _find_facts_before(gone_back, session))
        session = (
            session.with_day(snapshot=shown)
            .with_sync(last_sync=report, problem=None, brakes=())
            .with_thread(notice=None)
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
