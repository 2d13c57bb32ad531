"""Wire forms of a plan and of a patch, as a program or a model writes them.

On the wire, a patch refers to blocks by list positions. A position refers to the list at that op, after the ops before
it. This module alone translates positions to keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, assert_never

from pydantic import Field, ValidationError

from fateforger.errors import PatchInvalid, PlanInvalid, first_mistake
from fateforger.limits import MAX_PATCH_OPS
from fateforger.planning.patch import (
    AddBlocks,
    Blocks,
    MoveBlock,
    Op,
    Patch,
    PatchResult,
    RemoveBlock,
    ReplaceAll,
    UpdateBlock,
    apply,
    apply_op,
)
from fateforger.planning.plan import ET, Resolved, TBEvent, TBPlan, with_keys
from fateforger.planning.timing import Timing
from fateforger.values import Value


def read_plan(document: object) -> TBPlan:
    """Read a plan from its parsed JSON ``{"date","tz","events":[{"n","d","t","p":{"a",..},"key"?}]}``.

    Raises :class:`PlanInvalid` with the first mistake and its place.
    """
    if not isinstance(document, dict):
        raise PlanInvalid("A plan is a JSON object with date, tz and events.")
    try:
        return TBPlan.model_validate(document)
    except ValidationError as error:
        mistake = first_mistake(error)
        raise PlanInvalid(mistake.sentence, events=mistake.events, where=mistake.where or None) from None
    except RecursionError:
        raise PlanInvalid("This plan is nested too deeply to be one.") from None


def write_plan(plan: TBPlan) -> dict[str, Any]:
    """Return the wire form, keys included, ready for ``json.dumps``."""
    return plan.model_dump(mode="json", by_alias=True)


def write_resolved(block: Resolved) -> dict[str, Any]:
    """Return one block of ``plan resolve``, with instants in RFC 3339 with offset."""
    return {
        "index": block.index,
        "key": block.key,
        "name": block.event.name,
        "type": block.event.type.value,
        "start": block.start.isoformat(),
        "end": block.end.isoformat(),
        "minutes": block.minutes,
    }


Position = Annotated[int, Field(strict=True)]


class AddEvents(Value):
    """Add events behind position ``after`` (-1: at the front; left out: at the end)."""

    op: Literal["ae"] = "ae"
    events: tuple[TBEvent, ...] = Field(min_length=1)
    after: Position | None = Field(None, description="Insert behind this position; left out = at the end")


class RemoveEvent(Value):
    """Remove the event at a position."""

    op: Literal["re"] = "re"
    index: Position = Field(alias="i", description="Position of the event to remove")


class UpdateEvent(Value):
    """Change the given fields of the event at a position."""

    op: Literal["ue"] = "ue"
    index: Position = Field(alias="i", description="Position of the event to change")
    name: str | None = Field(None, alias="n", description="New title")
    description: str | None = Field(None, alias="d", description="New notes")
    type: ET | None = Field(None, alias="t", description="New event type")
    timing: Timing | None = Field(None, alias="p", description="New timing")


class MoveEvent(Value):
    """Take the event at one position and put it at another (counted without it)."""

    op: Literal["me"] = "me"
    source: Position = Field(alias="fr", description="From position")
    target: Position = Field(alias="to", description="To position")


class ReplaceEvents(Value):
    """Replace the whole list."""

    op: Literal["ra"] = "ra"
    events: tuple[TBEvent, ...] = Field(min_length=1)


TBOp = Annotated[AddEvents | RemoveEvent | UpdateEvent | MoveEvent | ReplaceEvents, Field(discriminator="op")]


class TBPatch(Value):
    """A batch of ops, applied in order."""

    ops: tuple[TBOp, ...] = Field(max_length=MAX_PATCH_OPS)


def read_patch(document: object) -> TBPatch:
    """Read a wire patch from its parsed JSON ``{"ops":[{"op",..}]}``.

    Raises :class:`PatchInvalid`.
    """
    if not isinstance(document, dict):
        raise PatchInvalid("A patch is a JSON object with a list of ops.")
    try:
        return TBPatch.model_validate(document)
    except ValidationError as error:
        mistake = first_mistake(error)
        raise PatchInvalid(mistake.sentence, where=mistake.where or None) from None


def write_patch(patch: TBPatch) -> dict[str, Any]:
    """Return the wire form, ready for ``json.dumps``, without fields that change nothing."""
    return patch.model_dump(mode="json", by_alias=True, exclude_none=True)


def apply_tb_ops(plan: TBPlan, patch: TBPatch) -> PatchResult:
    """Apply a wire patch; see :func:`fateforger.planning.patch.apply` for the errors raised."""
    return apply(plan, to_keys(plan, patch))


def to_keys(plan: TBPlan, patch: TBPatch) -> Patch:
    """Return the same patch with keys in place of positions.

    Raises :class:`PatchInvalid` on a bad position.
    """
    events: Blocks = plan.events
    ops: list[Op] = []
    for number, wire_op in enumerate(patch.ops):
        op = _op_to_keys(events, wire_op, f"ops[{number}]")
        events, _ = apply_op(events, op)
        ops.append(op)
    return Patch(ops=tuple(ops))


def to_wire(plan: TBPlan, patch: Patch) -> TBPatch:
    """Return the same patch with positions in place of keys, as seen from ``plan``."""
    events: Blocks = plan.events
    ops: list[TBOp] = []
    for op in patch.ops:
        ops.append(_op_to_wire(events, op))
        events, _ = apply_op(events, op)
    return TBPatch(ops=tuple(ops))


def _op_to_keys(events: Blocks, op: TBOp, where: str) -> Op:
    match op:
        case AddEvents(events=added, after=after):
            behind = len(events) - 1 if after is None else after
            key = None if behind == -1 else _key_at(events, behind, where)
            return AddBlocks(events=with_keys(added, taken=(e.block_key for e in events)), after=key)
        case RemoveEvent(index=index):
            return RemoveBlock(key=_key_at(events, index, where))
        case UpdateEvent(index=index):
            return UpdateBlock(
                key=_key_at(events, index, where),
                name=op.name,
                description=op.description,
                type=op.type,
                timing=op.timing,
            )
        case MoveEvent(source=source, target=target):
            key = _key_at(events, source, where)
            _key_at(events, target, where)
            rest = [e for e in events if e.key != key]
            return MoveBlock(key=key, after=rest[target - 1].key if target else None)
        case ReplaceEvents(events=replacement):
            return ReplaceAll(events=with_keys(replacement))
        case _:
            assert_never(op)


def _op_to_wire(events: Blocks, op: Op) -> TBOp:
    keys = [e.key for e in events]
    match op:
        case AddBlocks(events=added, after=after):
            return AddEvents(events=added, after=-1 if after is None else keys.index(after))
        case RemoveBlock(key=key):
            return RemoveEvent(index=keys.index(key))
        case UpdateBlock(key=key):
            return UpdateEvent(
                index=keys.index(key), name=op.name, description=op.description, type=op.type, timing=op.timing
            )
        case MoveBlock(key=key, after=after):
            source = keys.index(key)
            rest = [k for k in keys if k != key]
            return MoveEvent(source=source, target=0 if after is None else rest.index(after) + 1)
        case ReplaceAll(events=replacement):
            return ReplaceEvents(events=replacement)
        case _:
            assert_never(op)


def _key_at(events: Sequence[TBEvent], index: int, where: str) -> str:
    if not 0 <= index < len(events):
        there = f"0 to {len(events) - 1}" if events else "none, the plan is empty"
        raise PatchInvalid(f"There is no block at position {index}; positions here are {there}.", where=where)
    return events[index].block_key
