"""Ops in words, for writes to come and for past ones. The only place that words ops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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
from fateforger.text import gettext as _
from fateforger.text import join_words, mark_message, ngettext, quote_title

_PLANNED: Mapping[str, Callable[[int], str]] = {
    "added": lambda n: ngettext("{count} to add", "{count} to add", n),
    "moved": lambda n: ngettext("{count} to move", "{count} to move", n),
    "changed": lambda n: ngettext("{count} to change", "{count} to change", n),
    "removed": lambda n: ngettext("{count} to remove", "{count} to remove", n),
}
_DONE: Mapping[str, Callable[[int], str]] = {
    "added": lambda n: ngettext("{count} added", "{count} added", n),
    "moved": lambda n: ngettext("{count} moved", "{count} moved", n),
    "changed": lambda n: ngettext("{count} changed", "{count} changed", n),
    "removed": lambda n: ngettext("{count} removed", "{count} removed", n),
}
_CREATE = mark_message("Add {title} {time}"), mark_message("Added {title} {time}")
_DELETE = mark_message("Remove {title} {time}"), mark_message("Removed {title} {time}")
_RENAME = mark_message("Rename {title} to {name}"), mark_message("Renamed {title} to {name}")
_MOVE = mark_message("Move {title} from {was} to {time}"), mark_message("Moved {title} from {was} to {time}")
_RESIZE = mark_message("Change {title} from {was} to {time}"), mark_message("Changed {title} from {was} to {time}")
_GIVE = mark_message("Give {title} {gifts}"), mark_message("Gave {title} {gifts}")
_MOVE_TOO = mark_message("move it from {was} to {time}"), mark_message("moved it from {was} to {time}")
_RESIZE_TOO = mark_message("change it from {was} to {time}"), mark_message("changed it from {was} to {time}")
_GIVE_TOO = mark_message("give it {gifts}"), mark_message("gave it {gifts}")
"""Writes to do, and done. Those called ``TOO`` follow another part of the same update."""


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
    title = quote_title(op.summary)
    match op.verb:
        case Verb.CREATE:
            return _(_CREATE[done], title=title, time=_format_time(op, tz))
        case Verb.UPDATE:
            return _describe_update(op, tz, done=done)
        case Verb.DELETE:
            return _(_DELETE[done], title=title, time=_format_time(op, tz))
        case Verb.SKIP | Verb.RELEASE | Verb.NOOP | Verb.ADOPT | Verb.FORGET:
            if not op.reason:
                return _("Leave {title} alone", title=title)
            return _("Leave {title} alone: {reason}", title=title, reason=op.reason)
        case _:
            assert_never(op.verb)


def describe_counts(ops: Iterable[SyncOp], *, planned: bool = False) -> str:
    """Return ``1 added, 2 moved``, or ``1 to add, 2 to move``; an empty text for no writes."""
    kinds = [classify_write(op) for op in ops if op.verb in WRITES]
    count_kind = _PLANNED if planned else _DONE
    return ", ".join(count(kinds.count(kind)) for kind, count in count_kind.items() if kind in kinds)


def classify_write(write: SyncOp) -> str:
    """Return the kind of a write as people count it: an update that changes a time is a move."""
    match write.verb:
        case Verb.CREATE:
            return "added"
        case Verb.DELETE:
            return "removed"
        case _:
            return "moved" if write.changes.keys() & {"start", "end"} else "changed"


def _format_time(op: SyncOp, tz: ZoneInfo) -> str:
    if op.after is not None:
        return format_clock(op.after.start, op.after.end, tz)
    start, end = _get_times(op.before)
    return format_clock(start, end, tz)


def _describe_update(op: SyncOp, tz: ZoneInfo, *, done: bool) -> str:
    """Describe an update, the title first, because the rest refers to the block by its name."""
    if op.before is None or op.after is None:
        raise InternalError(f"Update {op.op_id} does not know what it changes.")
    named = quote_title(op.before.summary)
    phrases: list[str] = []
    if "summary" in op.changes:
        phrases.append(_(_RENAME[done], title=named, name=quote_title(op.after.summary)))
    if op.changes.keys() & {"start", "end"}:
        (start, end), after = _get_times(op.before), op.after
        if after.end - after.start == end - start:
            form = _MOVE_TOO if phrases else _MOVE
            was, now = f"{start.astimezone(tz):%H:%M}", f"{after.start.astimezone(tz):%H:%M}"
        else:
            form, was = (_RESIZE_TOO if phrases else _RESIZE), format_clock(start, end, tz)
            now = format_clock(after.start, after.end, tz)
        phrases.append(_(form[done], title=named, was=was, time=now))
    gifts = [_(words) for name, words in (("description", NEW_NOTES), ("color_id", OTHER_COLOR)) if name in op.changes]
    if gifts:
        given = join_words(gifts)
        phrases.append(_(_GIVE_TOO[done], gifts=given) if phrases else _(_GIVE[done], title=named, gifts=given))
    return join_words(phrases)


NEW_NOTES, OTHER_COLOR = mark_message("new notes"), mark_message("another color")


def _get_times(image: EventImage | None) -> tuple[datetime, datetime]:
    if image is None or not isinstance(image.start, datetime) or not isinstance(image.end, datetime):
        raise InternalError("A block of ours has a start and an end.")
    return image.start, image.end
