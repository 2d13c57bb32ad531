"""Changes of a plan as a model writes them: blocks by stable names, times of day, and no arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import assert_never

from pydantic import ValidationError

from fateforger.conversation.language.answers import (
    AddOp,
    EditOp,
    MoveOp,
    PatchWords,
    PlanOp,
    RemoveOp,
    ResizeOp,
    ShiftOp,
    SwapOp,
    ToDayOp,
)
from fateforger.errors import BadInput, first_mistake
from fateforger.planning.patch import AddBlocks, Op, Patch, RemoveBlock, UpdateBlock
from fateforger.planning.plan import TBEvent, TBPlan, resolve, with_keys
from fateforger.session.day import instant_in
from fateforger.session.model import Session
from fateforger.session.placement import fixed_start

_NAME = re.compile(r"b([0-9]{1,3})")


def name_block(position: int) -> str:
    """Return the name by which a model knows the block at a position of the plan, counted from 0."""
    return f"b{position + 1}"


def is_block_name(text: str) -> bool:
    """Check whether a text names a block, whether or not there is one."""
    return _NAME.fullmatch(text) is not None


def find_block(plan: TBPlan | None, name: str) -> str | None:
    """Return the key of a block by that name, if the plan has one."""
    found = _NAME.fullmatch(name)
    place = -1 if found is None else int(found[1]) - 1
    events = () if plan is None else plan.events
    return events[place].block_key if 0 <= place < len(events) else None


@dataclass(frozen=True, slots=True)
class PlanChange:
    """A change of the plan: a patch of its blocks, and the day to which the whole plan moves, if any."""

    patch: Patch
    day: date | None = None


def read_plan_change(session: Session, plan: TBPlan, words: PatchWords) -> PlanChange:
    """Return the change that a model's ops describe. Raises ``BadInput`` with a sentence that the model can act on."""
    days = [op.day for op in words.ops if isinstance(op, ToDayOp)]
    editor = _Editor(session, plan)
    for op in words.ops:
        editor.apply(op)
    return PlanChange(Patch(ops=tuple(editor.list_ops())), days[-1] if days else None)


@dataclass(frozen=True, slots=True)
class _Place:
    start: datetime
    minutes: int


class _Editor:
    """Applies ops one after the other to the times of the blocks, and gives the patch that they come to."""

    def __init__(self, session: Session, plan: TBPlan) -> None:
        self._session = session
        self._plan = plan
        self._before: Mapping[str, _Place] = {
            block.key: _Place(block.start.astimezone(UTC), block.minutes) for block in resolve(plan)
        }
        self._now = dict(self._before)
        self._edits: dict[str, EditOp] = {}
        self._added: list[TBEvent] = []

    def apply(self, op: PlanOp) -> None:
        match op:
            case MoveOp():
                key = self._key(op.b)
                self._now[key] = _Place(self._instant(op.start), self._now[key].minutes)
            case ResizeOp():
                key = self._key(op.b)
                self._now[key] = _Place(self._now[key].start, op.minutes)
            case EditOp():
                self._edits[self._key(op.b)] = op
            case RemoveOp():
                del self._now[self._key(op.b)]
            case SwapOp():
                self._swap(self._key(op.a), self._key(op.b))
            case ShiftOp():
                since, by = self._instant(op.since), timedelta(minutes=op.minutes)
                self._now |= {k: _Place(p.start + by, p.minutes) for k, p in self._now.items() if p.start >= since}
            case AddOp():
                self._added.append(self._build_event(op))
            case ToDayOp():
                pass
            case _:
                assert_never(op)

    def list_ops(self) -> Iterator[Op]:
        """Yield the ops on blocks, removals first."""
        for key in self._before.keys() - self._now.keys():
            yield RemoveBlock(key=key)
        for key, place in self._now.items():
            edit = self._edits.get(key)
            moved = place != self._before[key]
            if moved or edit is not None:
                yield UpdateBlock(
                    key=key,
                    name=None if edit is None else edit.title,
                    description=None if edit is None else edit.notes,
                    type=None if edit is None else edit.type,
                    timing=fixed_start(self._session, place.start, place.minutes) if moved else None,
                )
        if self._added:
            left = [event.block_key for event in self._plan.events if event.block_key in self._now]
            events = with_keys(self._added, taken=[event.block_key for event in self._plan.events])
            yield AddBlocks(events=events, after=left[-1] if left else None)

    def _swap(self, one: str, other: str) -> None:
        early, late = sorted((one, other), key=lambda key: self._now[key].start)
        first, second = self._now[early], self._now[late]
        end = second.start + timedelta(minutes=second.minutes)
        self._now[late] = _Place(first.start, second.minutes)
        self._now[early] = _Place(end - timedelta(minutes=first.minutes), first.minutes)

    def _build_event(self, op: AddOp) -> TBEvent:
        if op.start is not None:
            start = self._instant(op.start)
        elif op.after is not None:
            before = self._now[self._key(op.after)]
            start = before.start + timedelta(minutes=before.minutes)
        else:
            raise BadInput(f"“{op.title}” needs a start, or the block after which it comes.")
        try:
            return TBEvent(
                name=op.title,
                description=op.notes or "",
                type=op.type,
                timing=fixed_start(self._session, start, op.minutes),
            )
        except ValidationError as error:
            raise BadInput(first_mistake(error).sentence) from None

    def _key(self, name: str) -> str:
        key = find_block(self._plan, name)
        if key is None or key not in self._now:
            there = ", ".join(name_block(i) for i, e in enumerate(self._plan.events) if e.block_key in self._now)
            raise BadInput(f"There is no block {name}; the blocks here are {there or 'none, the plan is empty'}.")
        return key

    def _instant(self, clock: time) -> datetime:
        return instant_in(self._session, clock).astimezone(UTC)
