"""The five tools over what a person told once (S26-S31, S118). Each takes arguments of a strict schema and the person's
constraints, and gives one typed result. They look and think; what a change comes to is a command like that of a form,
which its executor carries out."""

from fateforger.turn.memorytools.calls import Called, Shelf, call, declaration, merged, patched
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
    "Called",
    "GetConstraint",
    "ListConstraints",
    "MemoryConstraintItem",
    "MemoryTool",
    "MemoryToolResult",
    "MemoryTrouble",
    "Shelf",
    "SupersedeConstraint",
    "UpdateConstraint",
    "call",
    "declaration",
    "merged",
    "patched",
]
