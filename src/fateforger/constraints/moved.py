"""Constraints on their way here from another store: its rows as values, and what becomes of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from fateforger.constraints.versions import SUPERSEDED, Version

_MOVED = "moved from "
_ONCE_SUPERSEDED = f"{SUPERSEDED}; "


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A row of another store. ``where`` finds it there, ``fields`` is what :func:`read_row` reads, ``owner`` whose it
    is, where the store knows. ``extras`` are kept as they are. ``trouble`` says why it cannot be used at all."""

    where: str
    name: str
    fields: Mapping[str, Any]
    owner: str | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)
    rationale: str | None = None
    trouble: str | None = None
    notes: tuple[str, ...] = ()


class Outcome(StrEnum):
    """What becomes of a row: written as a new constraint or as a newer version of one; or not, since it is here
    already, was changed here since, cannot be read, or waits for one that cannot be read."""

    NEW = "new"
    CHANGED = "changed"
    SAME = "same"
    NEWER_HERE = "newer_here"
    BAD = "bad"
    WAITING = "waiting"

    @property
    def written(self) -> bool:
        """Whether something has to be written."""
        return self in {Outcome.NEW, Outcome.CHANGED}

    @property
    def amiss(self) -> bool:
        """Whether somebody has to mend something before the row can be moved."""
        return self in {Outcome.BAD, Outcome.WAITING}


@dataclass(frozen=True, slots=True)
class Moved:
    """A row with what becomes of it. ``why`` says what is amiss; ``version`` is there when the row could be read."""

    where: str
    name: str
    outcome: Outcome
    version: Version | None = None
    why: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Migration:
    """Every row of one person in the order of the source. ``others`` counts the rows of other people, left alone."""

    rows: tuple[Moved, ...]
    others: int

    @property
    def versions(self) -> tuple[Version, ...]:
        """What is to be written: by constraint, and of one constraint the oldest first."""
        found = (row.version for row in self.rows if row.outcome.written and row.version is not None)
        return tuple(sorted(found, key=lambda version: (version.uid, version.updated_at)))


def reason_for(row: StoredRow, source: str) -> str:
    """Why a version of this row is written: where it comes from, and what was said then."""
    said = f": {row.rationale.strip()}" if row.rationale and row.rationale.strip() else ""
    return f"{_MOVED}{source}, {row.where}{said}"


def superseded_reason(reason: str | None) -> str:
    """The same for one whose place another one took."""
    return f"{_ONCE_SUPERSEDED}{reason or ''}"


def was_moved(version: Version, source: str = "") -> bool:
    """Whether a version is as it came from ``source``, or from anywhere."""
    reason = (version.event.reason or "").removeprefix(_ONCE_SUPERSEDED)
    return reason.startswith(f"{_MOVED}{source}, " if source else _MOVED)
