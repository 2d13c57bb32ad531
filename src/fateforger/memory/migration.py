"""Migration of constraints from other stores: their rows, the outcome for each, and its undo.

Time stamps, lifecycle and links stay as they were. A row that cannot be read also holds back its older versions and the
constraints it replaces, since they would be in force again without it.

Rows (Mem0 metadata, Notion and SQLite exports) are read tolerantly and written strictly. Nothing is guessed that would
extend a constraint: unreadable input is an error. An undo archives the migrated constraints by new versions; nothing is
deleted.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any

from fateforger.errors import BadInput
from fateforger.limits import MAX_DESCRIPTION_CHARS
from fateforger.memory.credentials import (
    CONTACTS_LEFT_OUT,
    holds_credentials,
    redact_credentials,
    remove_credentials,
    remove_private_data,
    without_private_data,
)
from fateforger.memory.documents import check_version, read_version
from fateforger.memory.record import ConstraintRecord, ScalarParams
from fateforger.memory.versions import SUPERSEDED, Event, Version, select_newest
from fateforger.memory.vocabulary import WEEK, Action, Status
from fateforger.text import SOURCE, speak
from fateforger.values import replace

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


_GROUPS = {
    "applicability": ("start_date", "end_date", "days_of_week", "timezone", "recurrence"),
    "payload": ("rule_kind", "scalar_params", "windows", "day_rule"),
    "lifecycle": ("uid", "supersedes_uids", "ttl_days"),
}
_CORE = (
    "name", "description", "necessity", "status", "source", "scope", "confidence", "topics",
    "applies_stages", "applies_event_types", "aspect_classification",
)  # fmt: skip
_OTHER_NAMES = {"tags": "topics", "supersedes": "supersedes_uids", "type_id": "rule_kind"}
_LISTS = {"topics", "applies_stages", "applies_event_types", "days_of_week", "supersedes_uids", "windows"}
_ENUMS = {"necessity", "status", "source", "scope", "rule_kind"}
_DATES = {"start_date", "end_date"}


def read_row(row: Mapping[str, Any], *, user_id: str | None = None) -> Version:
    """Parse a stored row: a memory with ``metadata``, metadata with a ``constraint_record``, or flat fields.

    Accepts JSON inside text, ``ConstraintStatus.LOCKED``, weekday names, date-times in place of dates, and instants
    without an offset (read as UTC). ``user_id`` is the owner of the store; a row of another person is refused. Raises
    :class:`BadInput` with one sentence.
    """
    outer = {name: _parse_json(value) for name, value in row.items()}
    if isinstance(outer.get("metadata"), Mapping):
        outer = {**outer, **{name: _parse_json(value) for name, value in outer["metadata"].items()}}
    owner = outer.get("user_id") or user_id
    if user_id is not None and owner != user_id:
        raise BadInput("This row belongs to somebody else.", where="user_id")
    inner = outer.get("constraint_record")
    fields = _collect_fields(inner if isinstance(inner, Mapping) else outer)
    updated = _parse_instant(outer.get("updated_at") or outer.get("created_at"))
    event = outer.get("event")
    line = {
        "user_id": owner,
        "constraint_record": _group_fields(fields),
        "created_at": _parse_instant(outer.get("created_at")) or updated,
        "updated_at": updated,
        "event": event if isinstance(event, Mapping) else None,
        "session_id": outer.get("session_id") or outer.get("thread_ts"),
    }
    return read_version({name: value for name, value in line.items() if value is not None})


def find_uids(row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the uids in a row, its own and those it replaces, even if the row cannot be read."""
    outer = {name: _parse_json(value) for name, value in row.items()}
    inner = outer.get("constraint_record")
    fields = _collect_fields(inner if isinstance(inner, Mapping) else outer)
    replaced = fields.get("supersedes_uids", ())
    found = [fields.get("uid"), *(replaced if isinstance(replaced, list) else ())]
    return tuple(uid for uid in found if isinstance(uid, str))


def _collect_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return all non-empty fields, from any group."""
    known = {*_CORE, *(name for names in _GROUPS.values() for name in names)}
    found: dict[str, Any] = {}
    parts = [record, *(_parse_json(record.get(group)) for group in (*_GROUPS, "routing", "hints", "selector"))]
    for part in parts:
        for raw, value in part.items() if isinstance(part, Mapping) else ():
            name = _OTHER_NAMES.get(raw, raw)
            if name in known and name not in found and (value := _read_value(name, value)) not in (None, "", [], {}):
                found[name] = value
    return found


def _group_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    record: dict[str, Any] = {name: value for name, value in fields.items() if name in _CORE}
    for group, names in _GROUPS.items():
        record[group] = {name: fields[name] for name in names if name in fields}
    return record


def _read_value(name: str, value: Any) -> Any:
    value = _parse_json(value)
    if name in _LISTS and isinstance(value, str):
        value = [part for part in value.split("|") if part]
    if isinstance(value, str):
        value = value.strip()
    reader = _READERS.get(name)
    return value if reader is None or value is None else reader(value)


def _parse_enum(value: Any) -> Any:
    return value.rpartition(".")[2].lower() if isinstance(value, str) else value


def _parse_date(value: Any) -> Any:
    return value[:10] if isinstance(value, str) and value[10:11] in {"T", " "} else value


def _parse_weekdays(value: Any) -> Any:
    """Return weekday codes: ``Monday``, ``DOW.MO`` and ``mo`` are all Mondays.

    Other values stay, to be refused later.
    """
    if not isinstance(value, list | tuple):
        return value
    with speak(SOURCE):
        codes = {day.words.upper(): day.value for day in WEEK} | {day.value: day.value for day in WEEK}
    plain = [part.rpartition(".")[2].strip().upper() if isinstance(part, str) else part for part in value]
    return [codes.get(part, part) if isinstance(part, str) else part for part in plain]


_READERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_ENUMS, _parse_enum),
    **dict.fromkeys(_DATES, _parse_date),
    "days_of_week": _parse_weekdays,
}


def _parse_json(value: Any) -> Any:
    """Return the value of JSON inside text; any other value is returned as it is."""
    if not isinstance(value, str) or value.strip()[:1] not in {"{", "["}:
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value


def _parse_instant(value: Any) -> str | None:
    if value is None or value == "":
        return None
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        raise BadInput(f"“{str(value)[:40]}” is not an instant.", where="updated_at") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


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
        event = Event(reason=remove_private_data(build_reason(row, source))[:MAX_DESCRIPTION_CHARS])
        whole = _add_extras(version.record, row.extras)
        record = without_private_data(whole)
        version = check_version(replace(version, record=record, event=event))
    except BadInput as error:
        return _reject(row, f"{error.message} ({error.where})" if error.where else error.message)
    if holds_credentials(version.record) or redact_credentials(row.rationale or "")[1]:
        return _reject(row, REFUSED_THERE)
    notes = row.notes if record == whole else (*row.notes, CONTACTS_LEFT_OUT)
    return MigratedRow(row.where, remove_private_data(row.name), Outcome.NEW, version, notes=notes)


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
        event = Event(action=Action.ARCHIVE, reason=build_superseded_reason(reason)[:MAX_DESCRIPTION_CHARS])
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
