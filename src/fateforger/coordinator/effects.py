"""Carrying out what a turn asks for: the only place of the coordinator that touches the calendar (S60, S91)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol, assert_never

from fateforger.commit.result import SyncResult
from fateforger.coordinator import folding
from fateforger.coordinator.looking import Looker, Read, reading_of
from fateforger.errors import CalendarError, ConfirmationNeeded, NotUndoable, UserError
from fateforger.plan import TBPlan
from fateforger.session.model import Session
from fateforger.sync.model import BrakeKind
from fateforger.turn.model import CalendarWrite, Effect, ReadCalendar, UndoGroup, UndoUpdate, WriteCalendar
from fateforger.turn.nodes.turn_init import taken_in


class Submitter(Protocol):
    """What the coordinator needs of :class:`fateforger.commit.CalendarSubmitter`."""

    @property
    def read(self) -> Read: ...

    async def submit_plan(
        self,
        plan: TBPlan,
        *,
        cause: str,
        group: str | None = None,
        context: dict[str, Any] | None = None,
        confirmed: Collection[BrakeKind] = (),
    ) -> SyncResult: ...

    async def undo_transaction(self, transaction_id: str, *, cause: str) -> SyncResult: ...

    async def undo_group(self, group: str, *, cause: str) -> SyncResult: ...


class Effects:
    """Each effect is folded into the session. What the person or the calendar does wrong becomes a sentence on the
    card; ``StoreError`` goes on to the caller, who tries the whole command again."""

    def __init__(self, submitter: Submitter, looker: Looker, calendar_write: CalendarWrite) -> None:
        self._submitter = submitter
        self._looker = looker
        self._calendar_write = calendar_write

    async def carry_out(self, effect: Effect, session: Session, *, before: Session, cause: str) -> Session:
        """The session after an effect. ``before`` is the session before the turn: an undo that cannot be done leaves
        everything as it was. ``cause`` is the command's id: a repeated command finds what it did the first time."""
        match effect:
            case ReadCalendar():
                return await self._read(effect, session)
            case WriteCalendar():
                return await self._write(effect, session, cause)
            case UndoUpdate():
                return await self._undo_update(effect, session, before, cause)
            case UndoGroup():
                return await self._undo_group(effect, session, before, cause)
            case _:
                assert_never(effect)

    async def _read(self, effect: ReadCalendar, session: Session) -> Session:
        if effect.wait <= 0:
            self._looker.begin(effect.day, effect.tz, fresh=effect.fresh)
            return session
        look = await self._looker.wait(effect.day, effect.tz, seconds=effect.wait, fresh=effect.fresh)
        return session if look is None else taken_in(session, reading_of(session, look))

    async def _write(self, effect: WriteCalendar, session: Session, cause: str) -> Session:
        plan = session.plan or TBPlan(date=session.date, tz=session.tz)
        try:
            result = await self._submitter.submit_plan(
                plan,
                cause=cause,
                group=effect.group,
                context={"session": session.id},
                confirmed=tuple(BrakeKind(name) for name in session.brakes),
            )
        except ConfirmationNeeded as needed:
            return folding.stopped(session, needed)
        except (UserError, CalendarError) as error:
            return folding.not_submitted(session, (error.message,))
        finally:
            self._looker.forget(session.date, session.tz)
        return folding.submitted(session, result, each_change=self._calendar_write == "refine")

    async def _undo_update(self, effect: UndoUpdate, session: Session, before: Session, cause: str) -> Session:
        results: list[SyncResult] = []
        for number, transaction in enumerate(reversed(effect.transactions)):
            try:
                # One cause finds one transaction, so each has its own.
                own = cause if number == 0 else f"{cause}/{number}"
                results.append(await self._submitter.undo_transaction(transaction, cause=own))
            except NotUndoable:
                continue  # taken back already, by another door: what is left to do is the plan
            except (UserError, CalendarError) as error:
                return folding.refused(before, (f"I could not take that back: {error.message}",))
            finally:
                self._looker.forget(session.date, session.tz)
        return folding.update_undone(session, results)

    async def _undo_group(self, effect: UndoGroup, session: Session, before: Session, cause: str) -> Session:
        try:
            result = await self._submitter.undo_group(effect.group, cause=cause)
        except NotUndoable as error:
            return folding.group_gone(session, error.message)
        except (UserError, CalendarError) as error:
            return folding.refused(before, (f"I could not take it back: {error.message}", "Nothing has changed."))
        finally:
            self._looker.forget(session.date, session.tz)
        return folding.group_undone(session, result)
