"""Replace one constraint by another, in the one form that the commands and the thread share (S29, A4).

The new one holds the link, which says on which days it counts instead. If that leaves the old one no day, an event
retires it. Retiring the new one restores the old one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date as Date  # noqa: N812  as elsewhere

from fateforger.constraints.findings import Change
from fateforger.constraints.kinds import Action, Scope, Status
from fateforger.constraints.record import ConstraintRecord
from fateforger.constraints.versions import (
    Event,
    Version,
    build_superseded_by,
    find_successors,
    select_newest,
    still_replaces,
)
from fateforger.values import replace


def mark_replacing(record: ConstraintRecord, old: Version) -> ConstraintRecord:
    """Return the record as a replacement of ``old`` on the days of its dates."""
    life = record.lifecycle
    uids = tuple(dict.fromkeys((*life.supersedes_uids, old.uid)))
    return replace(record, lifecycle=replace(life, supersedes_uids=uids))


def retire_replaced(old: Version, new: Version, today: Date) -> Change | None:
    """Return the event that retires the old one if the new one leaves it no day from ``today`` on.

    Otherwise return ``None``: it stays in force before the new one begins, after it ends, and outside its session. If
    the two replace each other, the person decides.
    """
    if old.retired or old.uid == new.uid or new.uid in old.flat.supersedes:
        return None
    begins, ends = new.flat.start, new.flat.end
    elsewhere = new.record.scope is Scope.SESSION and not (
        old.record.scope is Scope.SESSION and old.session_id == new.session_id
    )
    passing = new.flat.ttl_days is not None
    if begins > max(today, old.flat.start) or ends < old.flat.end or elsewhere or passing:
        return None
    record = replace(old.record, status=Status.DECLINED)
    return Change(old, record, Event(action=Action.SUPERSEDE, reason=build_superseded_by(new.uid)))


def retire_all_replaced(versions: Iterable[Version], new: Version, today: Date) -> tuple[Change, ...]:
    """Return the changes to the constraints that ``new`` replaces. See :func:`retire_replaced`."""
    mine = select_newest(versions, new.user_id)
    changes = (retire_replaced(mine[uid], new, today) for uid in new.flat.supersedes if uid in mine)
    return tuple(change for change in changes if change is not None)


def restore_replaced(versions: Iterable[Version], user_id: str, uid: str) -> Iterator[Change]:
    """Yield the changes that restore constraints retired because of ``uid``, which is out of force now.

    Constraints that yet another one replaces stay retired.
    """
    known = tuple(version for version in versions if version.user_id == user_id)
    mine = select_newest(known, user_id)
    named = find_successors(mine)
    for old in mine.values():
        others = [other for other in named.get(old.uid, ()) if other.uid != uid]
        if not old.retired or old.event.reason != build_superseded_by(uid):
            continue
        before = select_newest((v for v in known if v.uid == old.uid and not v.retired), user_id).get(old.uid)
        if before is not None and not any(still_replaces(other, named) for other in others):
            yield Change(
                old, before.record, Event(action=Action.UPDATE, reason=f"no longer {build_superseded_by(uid)}")
            )
