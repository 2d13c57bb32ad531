"""Undo a migration: its constraints are archived by new versions; nothing is deleted."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from fateforger.constraints.kinds import Action, Status
from fateforger.constraints.moved import build_superseded_reason, was_moved
from fateforger.constraints.versions import SUPERSEDED, Event, Version, select_newest
from fateforger.values import replace

_BACK = "taken back: it had been moved from "


def undo_migration(
    known: Sequence[Version], user_id: str, source: str, now: datetime
) -> tuple[tuple[Version, ...], int]:
    """Return versions that undo a migration, and the number of constraints that stay.

    Migrated constraints are archived, and changed ones restored. Constraints that were changed here since stay as they
    are.
    """
    history: dict[str, list[Version]] = {}
    for version in known:
        if version.user_id == user_id:
            history.setdefault(version.uid, []).append(version)
    back, stay = [], 0
    for uid, head in select_newest(known, user_id).items():
        if was_moved(head, source):
            own = [version for version in history[uid] if not was_moved(version, source)]
            back.append(_undo_version(head, select_newest(own, user_id).get(uid), source, now))
        elif not (head.event.reason or "").endswith(f"{_BACK}{source}"):
            stay += any(was_moved(version, source) for version in history[uid])
    return tuple(back), stay


def _undo_version(head: Version, before: Version | None, source: str, now: datetime) -> Version:
    """Return the version that undoes one constraint's migration.

    ``before`` is its version before the migration, if any. If another one had replaced it by then, that stays so, and
    it keeps replacing what it replaced.
    """
    if before is None:
        record, action = replace(head.record, status=Status.DECLINED), Action.ARCHIVE
    else:
        record, action = before.record, Action.ARCHIVE if before.retired else Action.UPDATE
    replaced = before is not None and (before.event.reason or "").casefold().startswith(SUPERSEDED)
    reason = build_superseded_reason(f"{_BACK}{source}") if replaced else f"{_BACK}{source}"
    event = Event(action=action, reason=reason)
    return Version(
        user_id=head.user_id,
        record=record,
        created_at=head.created_at,
        updated_at=max(now, head.updated_at),
        event=event,
        session_id=head.session_id,
    )
