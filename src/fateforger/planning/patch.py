"""Typed changes to a plan: all or nothing, each with its inverse.

Blocks are addressed by key; list positions exist only on the wire.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, assert_never

from pydantic import Field, ValidationError

from fateforger.errors import PatchInvalid, PlanInvalid, first_mistake
from fateforger.planning.plan import ET, TBEvent, TBPlan, resolve_strict, with_keys
from fateforger.planning.timing import Timing
from fateforger.values import Value


class AddBlocks(Value):
    """Insert blocks after the block ``after``, or at the front when that is ``None``."""

    kind: Literal["add"] = "add"
    events: tuple[TBEvent, ...] = Field(min_length=1)
    after: str | None


class RemoveBlock(Value):
    """Remove a block."""

    kind: Literal["remove"] = "remove"
    key: str


class UpdateBlock(Value):
    """Change the given fields of a block; ``None`` leaves a field as it is."""

    kind: Literal["update"] = "update"
    key: str
    name: str | None = None
    description: str | None = None
    type: ET | None = None
    timing: Timing | None = None


class MoveBlock(Value):
    """Move a block behind another one, or to the front when ``after`` is ``None``."""

    kind: Literal["move"] = "move"
    key: str
    after: str | None


class ReplaceAll(Value):
    """Replace all blocks of the plan."""

    kind: Literal["replace"] = "replace"
    events: tuple[TBEvent, ...] = Field(min_length=1)


Op = Annotated[AddBlocks | RemoveBlock | UpdateBlock | MoveBlock | ReplaceAll, Field(discriminator="kind")]


class Patch(Value):
    """Changes in the order in which they are applied.

    An empty patch changes nothing.
    """

    ops: tuple[Op, ...]


Blocks = tuple[TBEvent, ...]


@dataclass(frozen=True, slots=True)
class PatchResult:
    """A changed plan, and the patch that restores the old one exactly."""

    plan: TBPlan
    inverse: Patch


def apply(plan: TBPlan, patch: Patch) -> PatchResult:
    """Apply the ops in order and check the result as a whole.

    The given plan is never changed.

    Raises :class:`PatchInvalid` when an op names a block that does not exist, and :class:`PlanInvalid` when the
    result is not a valid plan (unanchored blocks, overlaps, ...).
    """
    events: Blocks = plan.events
    undo: list[Op] = []
    for op in patch.ops:
        events, back = apply_op(events, op)
        undo[:0] = back
    try:
        changed = plan.replace(events)
    except ValidationError as error:
        mistake = first_mistake(error)
        raise PlanInvalid(mistake.sentence, events=mistake.events, where=mistake.where or None) from None
    resolve_strict(changed)
    return PatchResult(changed, Patch(ops=tuple(undo)))


def apply_op(events: Blocks, op: Op) -> tuple[Blocks, tuple[Op, ...]]:
    """Apply one op.

    Returns the new blocks, and the ops that reverse it.
    """
    match op:
        case AddBlocks():
            return _add(events, op)
        case RemoveBlock(key=key):
            place = _place(events, key)
            back = AddBlocks(events=(events[place],), after=_key_before(events, place))
            return events[:place] + events[place + 1 :], (back,)
        case UpdateBlock(key=key):
            place = _place(events, key)
            before = events[place]
            return (*events[:place], _update_event(before, op), *events[place + 1 :]), (_restore(before, op),)
        case MoveBlock(key=key, after=after):
            place = _place(events, key)
            rest = events[:place] + events[place + 1 :]
            target = 0 if after is None else _place(rest, after) + 1
            back_move = MoveBlock(key=key, after=_key_before(events, place))
            return (*rest[:target], events[place], *rest[target:]), (back_move,)
        case ReplaceAll():
            return _replace(events, op)
        case _:
            assert_never(op)


def _add(events: Blocks, op: AddBlocks) -> tuple[Blocks, tuple[Op, ...]]:
    place = 0 if op.after is None else _place(events, op.after) + 1
    added = with_keys(op.events, taken=(e.block_key for e in events))
    if clash := {e.key for e in added} & {e.key for e in events}:
        raise PatchInvalid(f"There is a block with the key “{min(map(str, clash))}” already.")
    back = tuple(RemoveBlock(key=e.block_key) for e in reversed(added))
    return events[:place] + added + events[place:], back


def _replace(events: Blocks, op: ReplaceAll) -> tuple[Blocks, tuple[Op, ...]]:
    replacement = with_keys(op.events)
    if events:
        return replacement, (ReplaceAll(events=events),)
    return replacement, tuple(RemoveBlock(key=e.block_key) for e in reversed(replacement))


def _update_event(before: TBEvent, op: UpdateBlock) -> TBEvent:
    changes = {
        name: value for name in ("name", "description", "type", "timing") if (value := getattr(op, name)) is not None
    }
    try:
        return TBEvent.model_validate(dict(before) | changes)
    except ValidationError as error:
        raise PatchInvalid(first_mistake(error).sentence) from None


def _restore(before: TBEvent, op: UpdateBlock) -> UpdateBlock:
    return UpdateBlock(
        key=op.key,
        name=before.name if op.name is not None else None,
        description=before.description if op.description is not None else None,
        type=before.type if op.type is not None else None,
        timing=before.timing if op.timing is not None else None,
    )


def _place(events: Blocks, key: str) -> int:
    for index, event in enumerate(events):
        if event.key == key:
            return index
    raise PatchInvalid(f"There is no block with the key “{key}” in this plan.")


def _key_before(events: Blocks, place: int) -> str | None:
    return events[place - 1].block_key if place else None
