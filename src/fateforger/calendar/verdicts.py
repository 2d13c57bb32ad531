"""Verdicts on a write without a conclusive answer, from one reading of its event.

op     | the event now                         | verdict
-------+---------------------------------------+------------------------------------------------
any    | our mark of this very op              | it happened, whatever the person did since
create | no such id                            | not yet (or its id is used up, if it was refused)
create | anything else                         | its id is used up
update | gone                                  | the person deleted it, or moved it to another calendar
update | there                                 | not yet, for the fields that are still as before
delete | gone                                  | it happened
delete | unchanged, another version, unanswered | it happened, and the person brought it back
delete | unchanged since the decision          | not yet
delete | anything else                         | the person changed it: it stays
"""

from __future__ import annotations

from dataclasses import dataclass

from fateforger.calendar.event import (
    MANAGED,
    PLAIN,
    Canon,
    EventExtras,
    EventFields,
    EventImage,
    find_changed_extras,
)
from fateforger.calendar.model import Head, Standing, SyncOp, Verb
from fateforger.calendar.transactions import OpState
from fateforger.errors import InternalError
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.values import replace, replace_named

ID_USED_UP = mark_message("Its event id was used before, by an event that is not there any more.")


@dataclass(frozen=True, slots=True)
class Happened:
    """The write took effect.

    ``observed`` is the event, unless the person changed it since; ``head`` is its record now.
    """

    observed: EventImage | None
    head: Head | None


@dataclass(frozen=True, slots=True)
class NotYet:
    """The write did not take effect. ``op`` is the rest of it, decided again from the current event."""

    op: SyncOp


@dataclass(frozen=True, slots=True)
class Ended:
    """There is nothing left to do. ``reason`` is a sentence for the person."""

    state: OpState
    reason: str


Verdict = Happened | NotYet | Ended


def judge(op: SyncOp, event: EventImage | None, *, refused: bool = False, unanswered: bool = False) -> Verdict:
    """Return the verdict on a write from the current event.

    ``refused``: the calendar called the id of a create taken. ``unanswered``: the write may have taken effect.
    """
    mine = event is not None and event.marker is not None and event.marker.op_id == op.op_id
    match op.verb:
        case Verb.CREATE:
            if event is not None and mine:
                return judge_happened(op, event)
            return NotYet(op) if event is None and not refused else Ended(OpState.CONFLICT, ID_USED_UP)
        case Verb.UPDATE:
            if event is None or (event.gone and not mine):
                return Ended(OpState.CONFLICT, _("It is no longer on your calendar."))
            return judge_happened(op, event) if mine else _update_again(op, event)
        case Verb.DELETE:
            if event is None or event.gone:
                return Happened(None, op.head_after)
            return _delete_again(op, event, unanswered=unanswered)
        case _:
            raise InternalError(f"Op {op.op_id} writes nothing, so there is nothing to look for.")


def judge_answer(op: SyncOp, event: EventImage | None) -> Happened:
    """Return the verdict on a write that the calendar confirmed, with the resulting event."""
    if event is None or op.after is None:
        return Happened(event, op.head_after)
    return Happened(event, build_observed_head(op, event))


def judge_happened(op: SyncOp, event: EventImage) -> Happened:
    """Return the verdict on a write that took effect, from an event read perhaps much later.

    Only fields that still show what was written count as ours.
    """
    head = op.head_after
    if head is not None and event.gone:
        head = replace(head, standing=Standing.DELETED)
    if op.after is None or not event.is_timed or not _shows(event, op) or _has_additions(event, op):
        return Happened(None, head)
    if head is not None and event.gone:
        return Happened(event, head)
    return Happened(event, build_observed_head(op, event))


def build_observed_head(op: SyncOp, event: EventImage) -> Head | None:
    """Return the record after a write, with the written fields as the calendar shows them.

    A calendar may normalize text, which is not a change of the person's. A field in which an undo restored the person's
    own change keeps its earlier record.
    """
    head = op.head_after
    if head is None or not event.is_timed:
        return head
    shown, base, asked = event.canon, head.base.canon, head.asked
    names = op.changes.keys() if op.verb is Verb.UPDATE or op.after is None else frozenset(MANAGED)
    ours = names if op.after is None else {n for n in names if getattr(base, n) == getattr(op.after.canon, n)}
    seen = base._replace(**{name: getattr(shown, name) for name in ours})
    return replace(
        head,
        base=seen.to_fields(),
        wanted=None if asked.canon == seen else asked,
        version=event.version,
        extras=_choose_extras(op, head, event),
    )


def _choose_extras(op: SyncOp, head: Head, event: EventImage) -> EventExtras | None:
    """Return the extras to compare with later, to detect the person's own.

    They are those of a new event. For a recreated event they are the earlier ones, except those that the calendar did
    not restore as they were.
    """
    if op.verb is not Verb.CREATE:
        return head.extras
    if head.extras is None:
        return event.extras
    given = find_changed_extras(event.extras, op.extras)
    return replace_named(head.extras, {name: getattr(event.extras, name) for name in given})


def _has_additions(event: EventImage, op: SyncOp) -> bool:
    """Check whether a created event that was found later has more than it was created with.

    The additions are the person's, and must not count as ours.
    """
    given = PLAIN if op.extras is None else op.extras
    return op.verb is Verb.CREATE and any(
        getattr(event.extras, name) != getattr(PLAIN, name) for name in find_changed_extras(event.extras, given)
    )


def _shows(event: EventImage, op: SyncOp) -> bool:
    if op.after is None:
        return False
    shown, after = event.canon, op.after.canon
    names = op.changes.keys() if op.verb is Verb.UPDATE else frozenset(MANAGED)
    return all(getattr(shown, name) == getattr(after, name) for name in names)


def _update_again(op: SyncOp, event: EventImage) -> Verdict:
    if (obstacle := event.obstacle) is not None:
        return Ended(OpState.CONFLICT, _("I did not change it: {obstacle}.", obstacle=obstacle))
    if op.before is None or op.after is None:
        raise InternalError(f"Update {op.op_id} does not know what it changes.")
    now, before, after = event.canon, op.before.canon, op.after.canon
    left = {n for n in op.changes if getattr(now, n) == getattr(before, n) and getattr(now, n) != getattr(after, n)}
    result = now._replace(**{name: getattr(after, name) for name in left})
    times = {"start", "end"} & op.changes.keys()
    if not times <= left or result.end <= result.start:
        left -= times
        result = now._replace(**{name: getattr(after, name) for name in left})
    if not left:
        shows = all(getattr(now, name) == getattr(after, name) for name in op.changes)
        changed = _("You changed it on your calendar in the meantime.")
        return Ended(OpState.SKIPPED, _("Your calendar shows it already.") if shows else changed)
    return NotYet(_narrow(op, event, left, result))


def _narrow(op: SyncOp, event: EventImage, left: set[str], result: Canon) -> SyncOp:
    """Return the same update for fewer fields; the record of the other fields stays."""
    head = op.head_after
    if head is not None:
        known = event.canon if op.head_before is None else op.head_before.base.canon
        asked = known if op.head_before is None else op.head_before.asked.canon
        dropped = op.changes.keys() - left
        base = head.base.canon._replace(**{name: getattr(known, name) for name in dropped})
        wanted = head.asked.canon._replace(**{name: getattr(asked, name) for name in dropped})
        head = replace(head, base=base.to_fields(), wanted=_none_if_equal(wanted, base))
    return replace(
        op,
        before=event,
        after=result.to_fields(),
        head_after=head,
    )


def _none_if_equal(wanted: Canon, base: Canon) -> EventFields | None:
    return None if wanted == base else wanted.to_fields()


def _delete_again(op: SyncOp, event: EventImage, *, unanswered: bool) -> Verdict:
    if op.before is None:
        raise InternalError(f"Delete {op.op_id} does not know what it deletes.")
    changed = find_changed_extras(event.extras, op.before.extras)
    if event.obstacle is None and not changed and event.canon == op.before.canon:
        # An event that comes back from the bin is as it was, but of a new version.
        restored = unanswered and op.before.version is not None and event.version != op.before.version
        return Happened(None, op.head_after) if restored else NotYet(replace(op, before=event))
    return Ended(OpState.CONFLICT, _("You changed it on your calendar in the meantime, so I kept it."))
