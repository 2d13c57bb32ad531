"""Three-way merge of one event, field by field: what we last wrote, what the calendar shows, what the plan wants.

    plan changed | person changed | result
    -------------+----------------+------------------------------------------------------
    no           | no             | stays
    yes          | no             | the plan's value
    no           | yes            | the person's value, to be adopted by the plan
    yes          | yes, the same  | stays
    yes          | yes            | a conflict: the side that ``prefer`` names, and it is reported

The two ends of a block belong together: if they disagree at either end, or the mixture would end before it starts, the
winning side gives both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fateforger.sync.canonical import Canon
from fateforger.sync.model import MANAGED

Prefer = Literal["calendar", "plan"]
TIME = frozenset({"start", "end"})


@dataclass(frozen=True, slots=True)
class FieldMerge:
    """``result`` is what the event shall show. ``adopted`` are the fields that keep the person's value though the
    plan has another, ``conflicts`` those that both sides changed."""

    result: Canon
    adopted: frozenset[str] = frozenset()
    conflicts: frozenset[str] = frozenset()


def merge(*, wanted: Canon, base: Canon, theirs: Canon, ours: Canon, prefer: Prefer = "calendar") -> FieldMerge:
    """``wanted`` and ``base`` are the two sides as they were at our last write: what the plan asked for and what the
    calendar showed."""
    if ours == theirs:
        return FieldMerge(theirs)
    result = list(theirs)
    adopted: set[str] = set()
    conflicts: set[str] = set()
    for place, name in enumerate(MANAGED):
        plan_changed, person_changed = ours[place] != wanted[place], theirs[place] != base[place]
        if ours[place] == theirs[place]:
            continue
        if plan_changed and person_changed:
            conflicts.add(name)
        elif plan_changed:
            result[place] = ours[place]
        elif person_changed:
            adopted.add(name)
    merged = Canon(*result)  # type: ignore[arg-type]  # each place keeps its own type
    if conflicts & TIME or merged.end <= merged.start:
        conflicts |= {name for name in TIME if getattr(ours, name) != getattr(theirs, name)}
    winner = ours if prefer == "plan" else theirs
    merged = merged._replace(**{name: getattr(winner, name) for name in conflicts})
    return FieldMerge(merged, frozenset(adopted - conflicts), frozenset(conflicts))
