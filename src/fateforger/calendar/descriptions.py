"""Ops in words, for writes to come and for past ones. The only place that words ops."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import assert_never
from zoneinfo import ZoneInfo

from fateforger.calendar.adoption import describe_changes
from fateforger.calendar.comparison import format_clock
from fateforger.calendar.conflicts import phrase_questions
from fateforger.calendar.event import EventImage, OwnedId
from fateforger.calendar.model import WRITES, SyncOp, SyncPlan, Verb
from fateforger.errors import InternalError
from fateforger.planning.timing import zone
from fateforger.text import join_words, quote_title

_DONE = {
    "Add": "Added",
    "Move": "Moved",
    "Change": "Changed",
    "Rename": "Renamed",
    "Give": "Gave",
    "Remove": "Removed",
    "Leave": "Left",
}
_COUNTED = ("added", "moved", "changed", "removed")
_PLANNED = {"added": "to add", "moved": "to move", "changed": "to change", "removed": "to remove"}


@dataclass(frozen=True, slots=True)
class PlanWords:
    """A sync plan in words.

    ``todo`` are its writes, ``left`` the events it leaves alone, with reasons. ``notes`` are the person's own changes,
    questions and warnings; ``brakes`` need to be confirmed first.
    """

    counts: str
    todo: tuple[str, ...]
    left: tuple[str, ...]
    notes: tuple[str, ...]
    brakes: tuple[str, ...]


def describe_plan(plan: SyncPlan) -> PlanWords:
    """Describe what a sync plan would do."""
    tz = zone(plan.tz)
    left = [op for op in plan.ops if op.verb in {Verb.RELEASE, Verb.SKIP} and op.before is not None]
    linked = [op.reason for op in plan.ops if op.verb is Verb.NOOP and not OwnedId.is_one(op.event_id)]
    return PlanWords(
        counts=describe_counts(plan.writes, planned=True),
        todo=tuple(describe_op(op, tz) for op in plan.writes),
        left=tuple(describe_op(op, tz) for op in left),
        notes=tuple(dict.fromkeys((*describe_changes(plan, tz), *phrase_questions(plan), *linked, *plan.warnings))),
        brakes=tuple(brake.sentence for brake in plan.brakes),
    )


def describe_op(op: SyncOp, tz: ZoneInfo, *, done: bool = False) -> str:
    """Return ``Add “Deep work” 09:00–10:30``, or ``Added ...`` once it is ``done``."""
    words = _describe(op, tz)
    verb, _, rest = words.partition(" ")
    return f"{_DONE[verb]} {rest}" if done else words


def describe_counts(ops: Iterable[SyncOp], *, planned: bool = False) -> str:
    """Return ``1 added, 2 moved``, or ``1 to add, 2 to move``; an empty text for no writes."""
    kinds = [classify_write(op) for op in ops if op.verb in WRITES]
    counts = [(kinds.count(kind), _PLANNED[kind] if planned else kind) for kind in _COUNTED]
    return ", ".join(f"{number} {kind}" for number, kind in counts if number)


def classify_write(write: SyncOp) -> str:
    """Return the kind of a write as people count it: an update that changes a time is a move."""
    match write.verb:
        case Verb.CREATE:
            return "added"
        case Verb.DELETE:
            return "removed"
        case _:
            return "moved" if write.changes.keys() & {"start", "end"} else "changed"


def _describe(op: SyncOp, tz: ZoneInfo) -> str:
    title = quote_title(op.summary)
    match op.verb:
        case Verb.CREATE:
            return f"Add {title} {_format_time(op, tz)}"
        case Verb.UPDATE:
            return _describe_update(op, tz)
        case Verb.DELETE:
            return f"Remove {title} {_format_time(op, tz)}"
        case Verb.SKIP | Verb.RELEASE | Verb.NOOP | Verb.ADOPT | Verb.FORGET:
            return f"Leave {title} alone: {op.reason}" if op.reason else f"Leave {title} alone"
        case _:
            assert_never(op.verb)


def _format_time(op: SyncOp, tz: ZoneInfo) -> str:
    if op.after is not None:
        return format_clock(op.after.start, op.after.end, tz)
    start, end = _get_times(op.before)
    return format_clock(start, end, tz)


def _describe_update(op: SyncOp, tz: ZoneInfo) -> str:
    """Describe an update, the title first, because the rest refers to the block by its name."""
    if op.before is None or op.after is None:
        raise InternalError(f"Update {op.op_id} does not know what it changes.")
    named = quote_title(op.before.summary)
    phrases: list[str] = []
    if "summary" in op.changes:
        phrases.append(f"Rename {named} to {quote_title(op.after.summary)}")
    if op.changes.keys() & {"start", "end"}:
        phrases.append(_describe_move(op, "it" if phrases else named, tz))
    gifts = [
        words for name, words in (("description", "new notes"), ("color_id", "another colour")) if name in op.changes
    ]
    if gifts:
        phrases.append(f"Give {'it' if phrases else named} {join_words(gifts)}")
    first, *others = phrases
    return join_words([first, *(f"{other[0].lower()}{other[1:]}" for other in others)])


def _describe_move(op: SyncOp, named: str, tz: ZoneInfo) -> str:
    if op.after is None:
        raise InternalError(f"Update {op.op_id} does not know what it changes.")
    start, end = _get_times(op.before)
    after = op.after
    if after.end - after.start == end - start:
        return f"Move {named} from {start.astimezone(tz):%H:%M} to {after.start.astimezone(tz):%H:%M}"
    return f"Change {named} from {format_clock(start, end, tz)} to {format_clock(after.start, after.end, tz)}"


def _get_times(image: EventImage | None) -> tuple[datetime, datetime]:
    if image is None or not isinstance(image.start, datetime) or not isinstance(image.end, datetime):
        raise InternalError("A block of ours has a start and an end.")
    return image.start, image.end
