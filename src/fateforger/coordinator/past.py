"""The history of the day: show it, and go back in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Protocol

from fateforger.commit.outside import Told
from fateforger.commit.result import SyncResult
from fateforger.coordinator.looking import Looker
from fateforger.coordinator.mirroring import after_writing, reading_of
from fateforger.coordinator.reporting import report_of
from fateforger.coordinator.standing import facts_in, kept_facts, standing_as, with_plan
from fateforger.errors import CalendarError, NotUndoable, UserError
from fateforger.journal import Transaction, way_back
from fateforger.journal.rows import rows_of
from fateforger.journal.standing import stands, took_back
from fateforger.plan import TBPlan
from fateforger.session.model import Facts, Notice, Session
from fateforger.session.questions import reopened, settled
from fateforger.session.refitting import facts_of, with_facts
from fateforger.session.views import MORE_LISTED, MOST_LISTED, HistoryView
from fateforger.stages import TimeboxingStage
from fateforger.turn.constants import REREAD_WAIT
from fateforger.turn.model import GoBack, ReadHistory
from fateforger.turn.nodes.turn_init import taken_in

NOT_ALL = "I could not take all of it back; press the button again in a moment."


class Historian(Protocol):
    """The part of :class:`fateforger.commit.CalendarSubmitter` that the history needs."""

    async def history(self, day: date) -> tuple[Transaction, ...]: ...

    async def undo_since(
        self,
        transaction_id: str,
        *,
        cause: str,
        newest: str | None = None,
        context: Mapping[str, Any] | None = None,
        told: Told = ...,
    ) -> SyncResult: ...


class Past:
    """Applies history commands to a session. ``StoreError`` is raised to the caller."""

    def __init__(self, submitter: Historian, looker: Looker) -> None:
        self._submitter = submitter
        self._looker = looker

    async def show(self, effect: ReadHistory, session: Session) -> Session:
        """Open the history, or list more of it in place."""
        view = session.history
        if effect.more and view is not None:
            view = view.model_copy(update={"listed": min(view.listed + MORE_LISTED, MOST_LISTED), "lines": ()})
        else:
            view = HistoryView(asked=effect.asked)
        return await self.refreshed(session.model_copy(update={"history": view}))

    async def caused(self, session: Session, cause: str) -> bool:
        """Check whether a command has begun to write to the session's day."""
        return any(transaction.cause == cause for transaction in await self._submitter.history(session.date))

    async def refreshed(self, session: Session, *, said: bool = True) -> Session:
        """Update the open history; ``said`` keeps its messages."""
        if session.history is None:
            return session
        rows = rows_of(await self._submitter.history(session.date), session=session.id)
        listed = rows[: session.history.listed]
        newest = rows[0].transaction if rows else ""
        view = session.history.model_copy(update={"rows": listed, "total": len(rows), "newest": newest})
        view = view if said else view.model_copy(update={"lines": ()})
        return session.model_copy(update={"history": view})

    async def go_back(self, effect: GoBack, session: Session, before: Session, cause: str, told: Told) -> Session:
        """Undo a write and all later ones. A failure changes nothing, and the card and the history both say so."""
        history = await self._submitter.history(session.date)
        try:
            result = await self._submitter.undo_since(
                effect.transaction,
                cause=cause,
                newest=effect.newest,
                context=_context(effect, session, history),
                told=told,
            )
        except NotUndoable as error:
            return _saying(before, (error.message,), refused=True)
        except (UserError, CalendarError) as error:
            lines = (f"I could not take that back: {error.message}", "Nothing has changed.")
            return _saying(before, lines, refused=True)
        finally:
            self._looker.forget(session.date, session.tz)
        return await self._gone_back(session, before, result)

    async def _gone_back(self, session: Session, before: Session, result: SyncResult) -> Session:
        report = report_of(result)
        shown = after_writing(session.snapshot, result)
        if report.status in {"partial", "failed"}:
            kept = before.model_copy(update={"snapshot": after_writing(before.snapshot, result), "last_sync": report})
            return _saying(kept, (NOT_ALL, *report.sentences), refused=True)
        history = await self._submitter.history(session.date)
        ids = () if result.transaction is None else took_back(result.transaction)
        gone_back = [t for t in history if t.id in ids]
        plan = plan_before(gone_back, session)
        session = with_facts(session, _facts_before(gone_back, session))
        session = session.model_copy(
            update={"snapshot": shown, "last_sync": report, "problem": None, "brakes": (), "notice": None}
        )
        session = standing_as(with_plan(session, plan), history, replaced=plan is not None)
        gone = [step for step in before.refine_undo if step not in session.refine_undo]
        session = reopened(session, [question for step in gone for question in step.answered])
        session = settled(await self._as_on_calendar(settled(session)))
        noticed = () if session.notice is None else session.notice.lines
        return _saying(session, (*report.sentences, *noticed))

    async def _as_on_calendar(self, session: Session) -> Session:
        """Return the session with the person's own changes in the calendar, which an undo keeps (S90, S242)."""
        if session.plan is None or session.stage.number < TimeboxingStage.REFINE.number:
            return session
        look = await self._looker.wait(session.date, session.tz, seconds=REREAD_WAIT, fresh=True)
        if look is None or look.snapshot is None:
            return session
        return taken_in(session, reading_of(session.model_copy(update={"snapshot": None}), look))


def plan_before(targets: Sequence[Transaction], session: Session) -> TBPlan | None:
    """Return the plan before the oldest of ``targets`` (the newest first) that changed this session's plan.

    Returns ``None`` if none of them did: a commit, or a write of another session, changes the calendar and not this
    plan.
    """
    own = [t.context["plan_before"] for t in targets if _own(t, session) and t.context.get("plan_before")]
    return TBPlan.model_validate(own[-1]) if own else None


def _facts_before(targets: Sequence[Transaction], session: Session) -> Facts | None:
    """Return the session's facts before the oldest of ``targets`` (the newest first) that changed them."""
    found = [facts for t in targets if _own(t, session) and (facts := facts_in(t)) is not None]
    return found[-1] if found else None


def _own(transaction: Transaction, session: Session) -> bool:
    return bool(transaction.context.get("session") == session.id)


def _context(effect: GoBack, session: Session, history: Sequence[Transaction]) -> dict[str, Any]:
    """Return the journal's context of an undo, with the previous plan if the plan changes, for a later redo."""
    context: dict[str, Any] = {"session": session.id, "deed": "redo" if effect.redo else "undo"}
    clicked = next((t for t in history if t.id == effect.transaction), None)
    changes = clicked is not None and stands(clicked) and plan_before(way_back(history, clicked).targets, session)
    if changes and session.plan is not None:
        context["plan_before"] = session.plan.model_dump(mode="json")
        context |= kept_facts(facts_of(session))
    return context


def _saying(session: Session, lines: tuple[str, ...], *, refused: bool = False) -> Session:
    """Set the same notice on the card of the stage and in the history, where the click was made."""
    lines = tuple(dict.fromkeys(lines))
    session = session.model_copy(update={"notice": Notice(lines=lines, refused=refused)})
    if session.history is None:
        return session
    return session.model_copy(update={"history": session.history.model_copy(update={"lines": lines})})
