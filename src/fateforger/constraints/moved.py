"""Constraints that are moved here from another store: its rows as values, and their outcomes."""

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
    """A row of another store.

    ``where`` locates it there. ``fields`` is the input of :func:`read_row`. ``owner`` is its person, if the store
    knows. ``extras`` are kept unchanged. ``trouble`` says why the row is unusable.
    """

    where: str
    name: str
    fields: Mapping[str, Any]
    owner: str | None = None
    extras: Mapping[str, Any] = field(default_factory=dict)
    rationale: str | None = None
    trouble: str | None = None
    notes: tuple[str, ...] = ()


class Outcome(StrEnum):
    """The outcome of a row: written as a new constraint or a newer version, or not written.

    A row is not written if it is here already, was changed here since, cannot be read, or waits for one that cannot be
    read.
    """

    NEW = "new"
    CHANGED = "changed"
    SAME = "same"
    NEWER_HERE = "newer_here"
    BAD = "bad"
    WAITING = "waiting"

    @property
    def is_written(self) -> bool:
        """Check whether a version has to be written."""
        return self in {Outcome.NEW, Outcome.CHANGED}

    @property
    def is_amiss(self) -> bool:
        """Check whether the row needs a correction before it can be moved."""
        return self in {Outcome.BAD, Outcome.WAITING}


@dataclass(frozen=True, slots=True)
class MigratedRow:
    """A row with its outcome. ``why`` describes the problem; ``version`` is present if the row could be read."""

    where: str
    name: str
    outcome: Outcome
    version: Version | None = None
    why: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Migration:
    """Every row of one person in the order of the source.

    ``others`` counts the rows of other people, which are skipped.
    """

    rows: tuple[MigratedRow, ...]
    others: int

    @property
    def versions(self) -> tuple[Version, ...]:
        """The versions to write: by constraint, and of one constraint the oldest first."""
        found = (row.version for row in self.rows if row.outcome.is_written and row.version is not None)
        return tuple(sorted(found, key=lambda version: (version.uid, version.updated_at)))


def build_reason(row: StoredRow, source: str) -> str:
    """Return the reason of a version: its source, and the words said at the time."""
    said = f": {row.rationale.strip()}" if row.rationale and row.rationale.strip() else ""
    return f"{_MOVED}{source}, {row.where}{said}"


def build_superseded_reason(reason: str | None) -> str:
    """Return the reason of a version that another constraint replaced."""
    return f"{_ONCE_SUPERSEDED}{reason or ''}"


def was_moved(version: Version, source: str = "") -> bool:
    """Check whether a version is unchanged since it was moved from ``source``, or from any source."""
    reason = (version.event.reason or "").removeprefix(_ONCE_SUPERSEDED)
    return reason.startswith(f"{_MOVED}{source}, " if source else _MOVED)
