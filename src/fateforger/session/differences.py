"""Describe the differences between two plans, block by block."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from datetime import UTC, datetime

from fateforger.plan import ET, Resolved, TBPlan, resolve
from fateforger.session.placing import by_time


def summarize_differences(before: TBPlan, after: TBPlan, aside: AbstractSet[str] = frozenset()) -> str:
    """Describe the differences, or say that there are none.

    Blocks in ``aside`` were moved to make the rest fit.
    """
    return " ".join(list_differences(before, after, aside)) or "That changes nothing; the plan stays as it is."


def list_differences(before: TBPlan, after: TBPlan, aside: AbstractSet[str] = frozenset()) -> tuple[str, ...]:
    """Return a sentence for each block that changed."""
    was = {b.key: b for b in resolve(before)}
    now = {b.key: b for b in by_time(after)}
    parts = [f"“{b.event.name}” is out of the plan." for k, b in was.items() if k not in now]
    parts += [f"“{b.event.name}” is in, {span(b.start, b.end)}." for k, b in now.items() if k not in was]
    changed = [(was[k], b) for k, b in now.items() if k in was and _differs(was[k], b)]
    parts += [_describe_change(old, new) for old, new in changed if new.key not in aside]
    parts += [_describe_made_room(old, new) for old, new in changed if new.key in aside]
    return tuple(parts)


def _differs(old: Resolved, new: Resolved) -> bool:
    return (old.start, old.end, old.event.name, old.event.description) != (
        new.start,
        new.end,
        new.event.name,
        new.event.description,
    )


def _describe_change(old: Resolved, new: Resolved) -> str:
    if (old.start, old.end) != (new.start, new.end):
        named = f"“{new.event.name}”" if old.event.name == new.event.name else f"“{new.event.name}” (new title)"
        return f"{named} is now {span(new.start, new.end)} (was {span(old.start, old.end)})."
    if old.event.name != new.event.name:
        return f"“{old.event.name}” is now called “{new.event.name}”."
    return f"“{new.event.name}” has new notes."


def _describe_made_room(old: Resolved, new: Resolved) -> str:
    return f"To make it fit, “{new.event.name}” moves to {span(new.start, new.end)} (was {span(old.start, old.end)})."


def span(start: datetime, end: datetime) -> str:
    """Return a span like ``09:00–10:30``."""
    return f"{start:%H:%M}–{end:%H:%M}"


def changed_blocks(before: TBPlan, after: TBPlan) -> dict[str, tuple[object, object]]:
    """Return each changed block by key, before and after, with resolved times.

    A block that does not exist is ``None``.
    """
    was, now = ({b.key: _visible_fields(b) for b in resolve(plan)} for plan in (before, after))
    return {key: pair for key in {**was, **now} if (pair := (was.get(key), now.get(key)))[0] != pair[1]}


def _visible_fields(block: Resolved) -> tuple[str, str, ET, datetime, datetime]:
    event = block.event
    return event.name, event.description, event.type, block.start.astimezone(UTC), block.end.astimezone(UTC)
