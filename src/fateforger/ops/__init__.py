"""Typed changes to a plan: apply them, reverse them, and translate them to and from the wire."""

from fateforger.ops.apply import PatchResult, apply
from fateforger.ops.model import AddBlocks, MoveBlock, Op, Patch, RemoveBlock, ReplaceAll, UpdateBlock
from fateforger.ops.wire import TBPatch, apply_tb_ops, apply_wire, read_patch, to_keys, to_wire, write_patch

__all__ = [
    "AddBlocks",
    "MoveBlock",
    "Op",
    "Patch",
    "PatchResult",
    "RemoveBlock",
    "ReplaceAll",
    "TBPatch",
    "UpdateBlock",
    "apply",
    "apply_tb_ops",
    "apply_wire",
    "read_patch",
    "to_keys",
    "to_wire",
    "write_patch",
]
