"""Rows of other stores (Mem0 metadata, Notion and SQLite exports): read tolerantly, written strictly.

Nothing is guessed that would extend a constraint: unreadable input is an error.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from fateforger.constraints.kinds import WEEK
from fateforger.constraints.reading import read_version
from fateforger.constraints.versions import Version
from fateforger.errors import BadInput

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


def read_row(row: Mapping[str, Any], *, user_id: str | None = None, seq: int = 0) -> Version:
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
    return read_version({name: value for name, value in line.items() if value is not None}, seq=seq)


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
