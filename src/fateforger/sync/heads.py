"""The records of events after an op took effect."""

from __future__ import annotations

from datetime import date

from fateforger.sync.canonical import Canon, canonicalize, to_fields
from fateforger.sync.model import MANAGED, DesiredBlock, EventFields, Head, Standing
from fateforger.sync.ownership import Owned
from fateforger.values import replace


def build_merged_head(
    block: DesiredBlock,
    owned: Owned,
    day: date,
    result: Canon,
    *,
    wanted: Canon,
    base: Canon,
    theirs: Canon,
    ours: Canon,
) -> Head:
    """Return the record of an event that shows ``result``.

    Written fields get the written value and agreed fields the shown one; all others stay. A change of the person that
    the plan has not adopted therefore remains visible as one.
    """
    new_wanted: list[object] = list(wanted)
    new_base: list[object] = list(base)
    for place in range(len(MANAGED)):
        if result[place] != theirs[place]:
            new_wanted[place], new_base[place] = ours[place], result[place]
        elif ours[place] == theirs[place]:
            new_wanted[place] = new_base[place] = theirs[place]
    return Head(
        key=block.key,
        event_id=owned.event.id,
        generation=owned.generation,
        day=day,
        base=_to_fields(new_base),
        wanted=_to_fields(new_wanted) if new_wanted != new_base else None,
        version=owned.event.version,
        restores=() if owned.head is None else owned.head.restores,
        extras=None if owned.head is None else owned.head.extras,
        unrestored=() if owned.head is None else _find_unrestored(owned.head, result, theirs=theirs, ours=ours),
    )


def _find_unrestored(head: Head, result: Canon, *, theirs: Canon, ours: Canon) -> tuple[str, ...]:
    """Return the fields that an undo could not restore and that are neither written nor agreed on now."""
    return tuple(
        name
        for name in head.unrestored
        if getattr(result, name) == getattr(theirs, name) and getattr(ours, name) != getattr(theirs, name)
    )


def build_head(owned: Owned, day: date, standing: Standing) -> Head:
    """Return the record of a timed event with another standing, or a new record if it had none."""
    if owned.head is not None:
        return replace(owned.head, standing=standing)
    return Head(
        key=owned.key,
        event_id=owned.event.id,
        generation=owned.generation,
        day=day,
        base=to_fields(canonicalize(owned.event)),
        standing=standing,
        version=owned.event.version,
    )


def is_same_head(one: Head, other: Head) -> bool:
    """Check whether two records are equal, ignoring the version."""
    return (
        (one.key, one.event_id, one.standing) == (other.key, other.event_id, other.standing)
        and canonicalize(one.base) == canonicalize(other.base)
        and canonicalize(one.asked) == canonicalize(other.asked)
    )


def _to_fields(values: list[object]) -> EventFields:
    return to_fields(Canon._make(values))
