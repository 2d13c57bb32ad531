"""Carry out the effects of a turn: the only module of the coordinator that writes to the calendar (S60, S91)."""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Collection, Mapping
from typing import Any, Protocol, assert_never

from fateforger.commit.late import may_be_late
from fateforger.commit.outside import Told, Wait
from fateforger.commit.result import SyncResult
from fateforger.coordinator import folding
from fateforger.coordinator.looking import Look, Looker, Read
from fateforger.coordinator.memory import MemoryDesk
from fateforger.coordinator.mirroring import reading_of
from fateforger.coordinator.past import Historian, Past
from fateforger.coordinator.previewing import Previewer, previewed
from fateforger.coordinator.proposals import ProposalDesk
from fateforger.coordinator.standing import kept_facts
from fateforger.coordinator.stopping import WRITING
from fateforger.errors import CalendarError, ConfirmationNeeded, NotUndoable, UserError
from fateforger.plan import TBPlan
from fateforger.session.model import Session
from fateforger.session.progress import Doing, Progress, Tell, untold
from fateforger.session.questions import choices_of
from fateforger.session.refitting import facts_of
from fateforger.sync import Choices
from fateforger.sync.model import BrakeKind
from fateforger.turn.model import (
    AnswerAgent,
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
)
from fateforger.turn.nodes.turn_init import taken_in

log = logging.getLogger(__name__)


class Submitter(Historian, Previewer, Protocol):
    """The part of :class:`fateforger.commit.CalendarSubmitter` that the coordinator needs."""

    @property
    def read(self) -> Read: ...

    async def find_out(self, transaction_id: str) -> SyncResult | None: ...

    async def submit_plan(
        self,
        plan: TBPlan,
        *,
        cause: str,
        group: str | None = None,
        context: dict[str, Any] | None = None,
        confirmed: Collection[BrakeKind] = (),
        choices: Choices = ...,
        told: Told = ...,
    ) -> SyncResult: ...

    async def take_note(self, plan: TBPlan, *, cause: str, group: str | None = None) -> None: ...

    async def take_back_late(self, *, cause: str) -> tuple[str, ...]: ...

    async def undo_group(
        self, group: str, *, cause: str, context: Mapping[str, Any] | None = None, told: Told = ...
    ) -> SyncResult: ...


class Effects:
    """Carries out effects and applies their results to the session.

    A mistake of the person or an error of the calendar becomes a sentence on the card. ``StoreError`` is raised to the
    caller, which repeats the whole command.
    """

    def __init__(
        self,
        submitter: Submitter,
        looker: Looker,
        *,
        calendar_wait: float,
        memory: MemoryDesk | None = None,
        proposals: ProposalDesk | None = None,
    ) -> None:
        self._submitter = submitter
        self._proposals = proposals
        self._memory = memory
        self._looker = looker
        self.past = Past(submitter, looker)
        self._calendar_wait = calendar_wait

    async def carry_out(  # noqa: C901, PLR0912  one line per kind of effect
        self, effect: Effect, session: Session, *, before: Session, cause: str, tell: Tell = untold
    ) -> Session:
        """Return the session after an effect.

        ``before`` is the session before the turn: a failed undo leaves everything as it was. ``cause`` is the command's
        id: a repeated command finds what it did the first time. ``tell`` is called with the progress.
        """
        told = _writing(tell)
        if isinstance(effect, WRITING):
            tell(Progress(doing=Doing.WRITING))
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
                return await previewed(effect, session, self._submitter, self._looker)
            case DraftDay():
                return session  # carried out before, while the turn could still be stopped
            case WriteMemory():
                return await self._remember(effect, session, cause)
            case SearchMemory():
                return session if self._memory is None else await self._memory.look_for(effect, session)
            case AnswerAgent():
                return await self._answer_agent(effect, session, cause)
            case _:
                assert_never(effect)

    async def _answer_agent(self, effect: AnswerAgent, session: Session, cause: str) -> Session:
        if self._proposals is not None:
            await self._proposals.answer(effect, session, cause)
        return session

    async def _remember(self, effect: WriteMemory, session: Session, cause: str) -> Session:
        return session if self._memory is None else await self._memory.write(effect, session, cause)

    async def note(self, plan: TBPlan, session: Session, cause: str) -> None:
        """Record that the plan has adopted the person's own changes, so that reverting one counts as a new request.

        Writes nothing to the calendar. A failure loses nothing.
        """
        with contextlib.suppress(UserError, CalendarError):
            await self._submitter.take_note(plan, cause=cause, group=session.write_group)

    async def find_out(self, session: Session) -> Session:
        """Return the session with the result of its latest write, if that was unknown and can be found out now."""
        history = await self._submitter.history(session.date)
        latest = next((t for t in history if t.context.get("session") == session.id), None)
        try:
            result = None if latest is None else await self._submitter.find_out(latest.id)
        except (UserError, CalendarError):
            return session
        return folding.found_out(session, result, await self._submitter.history(session.date))

    async def take_back_late(self, look: Look, session: Session, cause: str) -> tuple[str, ...]:
        """Remove writes that reached the calendar after their undo, and return a sentence for each.

        Anything that cannot be removed now is found again at the next read.
        """
        if look.snapshot is None or look.ledger is None or not may_be_late(look.snapshot, look.ledger):
            return ()
        try:
            return await self._submitter.take_back_late(cause=cause)
        except (UserError, CalendarError) as error:
            log.info("what arrived late cannot be removed now: %s", error.message)
            return ()
        finally:
            self._looker.forget(session.date, session.tz)

    async def _read(self, effect: ReadCalendar, session: Session) -> Session:
        if not effect.wait:
            self._looker.begin(effect.day, effect.tz, fresh=effect.fresh)
            return session
        look = await self._looker.wait(effect.day, effect.tz, seconds=self._calendar_wait, fresh=effect.fresh)
        return session if look is None else taken_in(session, reading_of(session, look))

    async def _write(self, effect: WriteCalendar, session: Session, cause: str, told: Told) -> Session:
        plan = session.plan or TBPlan(date=session.date, tz=session.tz)
        try:
            result = await self._submitter.submit_plan(
                plan,
                cause=cause,
                group=effect.group,
                context=_why(effect, session),
                confirmed=tuple(BrakeKind(name) for name in session.brakes),
                choices=choices_of(session),
                told=told,
            )
        except ConfirmationNeeded as needed:
            return folding.stopped(session, needed)
        except (UserError, CalendarError) as error:
            return folding.not_submitted(session, (error.message,))
        finally:
            self._looker.forget(session.date, session.tz)
        return folding.submitted(session, result)

    async def _undo_update(
        self, effect: UndoUpdate, session: Session, before: Session, cause: str, told: Told
    ) -> Session:
        context = {"session": session.id, "deed": "undo_update", "plan_before": _dumped(session.plan)}
        context |= kept_facts(facts_of(session))
        result: SyncResult | None = None
        for transaction in effect.transactions:
            try:
                result = await self._submitter.undo_since(transaction, cause=cause, context=context, told=told)
                break
            except NotUndoable:
                continue  # already undone by another command: only the plan is left to restore
            except (UserError, CalendarError) as error:
                return folding.refused(before, (f"I could not take that back: {error.message}",))
            finally:
                self._looker.forget(session.date, session.tz)
        return folding.update_undone(session, result, await self._submitter.history(session.date))

    async def _undo_group(
        self, effect: UndoGroup, session: Session, before: Session, cause: str, told: Told
    ) -> Session:
        context = {"session": session.id, "deed": "undo_group"}
        try:
            result = await self._submitter.undo_group(effect.group, cause=cause, context=context, told=told)
        except NotUndoable as error:
            return folding.group_gone(session, error.message)
        except (UserError, CalendarError) as error:
            return folding.refused(before, (f"I could not take it back: {error.message}", "Nothing has changed."))
        finally:
            self._looker.forget(session.date, session.tz)
        return folding.group_undone(session, result)


def _writing(tell: Tell) -> Told:
    def report(done: int, of: int, wait: Wait | None = None) -> None:
        seconds = 0 if wait is None else math.ceil(wait.seconds)
        tell(Progress(doing=Doing.WRITING, done=done, of=of, waits=seconds))

    return report


def _why(effect: WriteCalendar, session: Session) -> dict[str, Any]:
    """Return the journal's context of a write, for the history of the day.

    It names the click and describes the change. It includes the plan before the change if both are undone together.
    """
    context: dict[str, Any] = {"session": session.id, "commit": effect.commit, "deed": "commit"}
    waiting = folding.unsigned(session)
    if not effect.commit:
        context["deed"] = "change" if waiting else "retry"
    if waiting:
        context |= {"said": " ".join(s.sentence for s in waiting), "plan_before": _dumped(waiting[0].plan_before)}
        context |= kept_facts(next((s.facts_before for s in waiting if s.facts_before is not None), None))
    return context


def _dumped(plan: TBPlan | None) -> dict[str, Any] | None:
    return None if plan is None else plan.model_dump(mode="json")
