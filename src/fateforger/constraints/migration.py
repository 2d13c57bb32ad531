"""Decide which rows of another store can be moved here, and which of them are new.

Time stamps, lifecycle and links stay as they were. A row that cannot be read also holds back its older versions and the
constraints it replaces, since they would be in force again without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from fateforger.constraints.credentials import holds_credentials, redact_credentials, remove_credentials
from fateforger.constraints.kinds import Action, Status
from fateforger.constraints.moved import (
    MigratedRow,
    Migration,
    Outcome,
    StoredRow,
    build_reason,
    build_superseded_reason,
    was_moved,
)
from fateforger.constraints.record import MAX_TEXT, ConstraintRecord, ScalarParams
from fateforger.constraints.rows import find_uids, read_row
from fateforger.constraints.storable import check_version
from fateforger.constraints.versions import Event, Version, select_newest
from fateforger.errors import BadInput
from fateforger.values import replace

REFUSED_THERE = "It looks as if it held a password or a key, which is never kept here. Take it out there first."


def plan_migration(rows: Iterable[StoredRow], known: Sequence[Version], user_id: str, source: str) -> Migration:
    """Return the outcome of each row, given the person's existing versions.

    ``source`` names the other store; it is written into the event of each version, together with the place of its row.
    """
    others, mine = 0, []
    for row in rows:
        if row.owner is not None and row.owner != user_id:
            others += 1
        else:
            mine.append((row, _read_stored(row, user_id, source)))
    told = _set_events([moved for _, moved in mine])
    told = _compare(told, [version for version in known if version.user_id == user_id], user_id)
    concerns = {row.where: find_uids(row.fields) for row, moved in mine if moved.version is None}
    return Migration(tuple(_hold_back(told, concerns)), others)


def _read_stored(row: StoredRow, user_id: str, source: str) -> MigratedRow:
    if row.trouble is not None:
        return _reject(row, row.trouble)
    try:
        version = read_row(row.fields, user_id=user_id)
        event = Event(reason=build_reason(row, source)[:MAX_TEXT])
        version = check_version(replace(version, record=_add_extras(version.record, row.extras), event=event))
    except BadInput as error:
        return _reject(row, f"{error.message} ({error.where})" if error.where else error.message)
    if holds_credentials(version.record) or redact_credentials(row.rationale or "")[1]:
        return _reject(row, REFUSED_THERE)
    return MigratedRow(row.where, row.name, Outcome.NEW, version, notes=row.notes)


def _reject(row: StoredRow, why: str) -> MigratedRow:
    """Return the outcome of an unusable row, without secrets, since it may appear on a screen or in a file."""
    name, why, *notes = (remove_credentials(text) for text in (row.name, why, *row.notes))
    return MigratedRow(row.where, name, Outcome.BAD, why=why, notes=tuple(notes))


def _add_extras(record: ConstraintRecord, extras: Mapping[str, Any]) -> ConstraintRecord:
    if not extras:
        return record
    numbers = record.payload.scalar_params
    kept = ScalarParams.model_validate({**numbers.model_dump(exclude_unset=True), **extras})
    return replace(record, payload=replace(record.payload, scalar_params=kept))


def _set_events(rows: Sequence[MigratedRow]) -> list[MigratedRow]:
    """Set the event of declined versions: replaced by another one, or declined by the person.

    This affects the constraints they replaced themselves.
    """
    named = {uid for row in rows if row.version for uid in row.version.flat.supersedes if uid != row.version.uid}
    return [replace(row, version=_set_retirement(row.version, named)) if row.version else row for row in rows]


def _set_retirement(version: Version, named: set[str]) -> Version:
    if version.record.status is not Status.DECLINED:
        return version
    reason = version.event.reason
    if version.uid in named:
        event = Event(action=Action.ARCHIVE, reason=build_superseded_reason(reason)[:MAX_TEXT])
        return replace(version, event=event)
    return replace(version, event=Event(action=Action.DECLINE, reason=reason))


def _compare(rows: Sequence[MigratedRow], known: Sequence[Version], user_id: str) -> list[MigratedRow]:
    heads = select_newest(known, user_id)
    history: dict[str, list[Version]] = {}
    for old in known:
        history.setdefault(old.uid, []).append(old)
    in_order = sorted((row.version for row in rows if row.version), key=attrgetter("updated_at"))
    last = {version.uid: version for version in in_order}
    told = []
    for row in rows:
        version = row.version
        if version is None or version.uid not in heads:
            told.append(row)
            continue
        older = () if last[version.uid] is version else history[version.uid]
        told.append(replace(row, outcome=_decide_outcome(version, heads[version.uid], older)))
    return told


def _decide_outcome(version: Version, head: Version, older: Sequence[Version]) -> Outcome:
    """Compare a version with those here.

    ``older`` may contain it as well, if it is not the last version of the source. A source may store instants to the
    minute only, so of two versions of one instant the source's current one counts.
    """
    if any(_is_same(version, each) for each in (head, *older)):
        return Outcome.SAME
    if head.updated_at > version.updated_at or (head.updated_at == version.updated_at and not was_moved(head)):
        return Outcome.NEWER_HERE
    return Outcome.CHANGED


def _is_same(one: Version, other: Version) -> bool:
    facts = attrgetter("record", "created_at", "updated_at", "event", "session_id")
    return bool(facts(one) == facts(other))


def _hold_back(rows: Sequence[MigratedRow], concerns: Mapping[str, tuple[str, ...]]) -> Iterator[MigratedRow]:
    """Hold back the versions that an unmoved row refers to, and so on along the chain.

    ``concerns`` gives the uids in rows that cannot be read.
    """
    by_uid: dict[str, list[MigratedRow]] = {}
    for row in rows:
        if row.version is not None and row.outcome.is_written:
            by_uid.setdefault(row.version.uid, []).append(row)
    causes: dict[str, MigratedRow] = {}
    stuck = [row for row in rows if row.outcome is Outcome.BAD]
    while stuck:
        cause = stuck.pop()
        uids = concerns[cause.where] if cause.version is None else cause.version.flat.supersedes
        for row in (row for uid in uids for row in by_uid.get(uid, ()) if row.where not in causes):
            causes[row.where] = cause
            stuck.append(row)
    for row in rows:
        cause_of_it = causes.get(row.where)
        yield row if cause_of_it is None else replace(row, outcome=Outcome.WAITING, why=_describe_wait(cause_of_it))


def _describe_wait(cause: MigratedRow) -> str:
    return f"“{cause.name}” ({cause.where}) says something newer and cannot be moved yet; without it this would apply."
