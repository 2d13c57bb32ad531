"""The five memory tools (S26-S31, S118).

Each takes arguments of a strict schema and the person's constraints, and returns a typed result. The tools have no side
effects: a change is returned as a command, like that of a form, for the executor to carry out.
"""

from fateforger.turn.memorytools.calls import (
    CallOutcome,
    KnownConstraints,
    call_tool,
    declare_tool,
    merge_document,
    patch_record,
)
from fateforger.turn.memorytools.schemas import (
    LISTED,
    ArchiveConstraint,
    GetConstraint,
    ListConstraints,
    MemoryConstraintItem,
    MemoryTool,
    MemoryToolResult,
    MemoryTrouble,
    SupersedeConstraint,
    UpdateConstraint,
)

__all__ = [
    "LISTED",
    "ArchiveConstraint",
    "CallOutcome",
    "GetConstraint",
    "KnownConstraints",
    "ListConstraints",
    "MemoryConstraintItem",
    "MemoryTool",
    "MemoryToolResult",
    "MemoryTrouble",
    "SupersedeConstraint",
    "UpdateConstraint",
    "call_tool",
    "declare_tool",
    "merge_document",
    "patch_record",
]
