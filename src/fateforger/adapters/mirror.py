"""The SQLite table in which an earlier planner mirrored constraints (``timeboxing_constraints``)."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from fateforger.errors import BadInput, SourceUnavailable
from fateforger.memory.migration import StoredRow

TABLE = "timeboxing_constraints"
_NUMBERS = ("duration_min", "duration_max", "contiguity")
_ROUTED = frozenset(
    {
        "uid", "rule_kind", "type_id", "windows", "scalar_params", "applies_stages", "applies_event_types", "topics",
        "aspect_classification", *_NUMBERS,
    }
)  # fmt: skip
"""Keys of the free-form columns that have a field of their own in a record."""


class SqliteConstraintSource:
    """Implements :class:`fateforger.memory.ports.ConstraintSource`. The file is opened read-only and never changed.

    ``patience`` is the number of seconds to wait for another program that writes to it.
    """

    name = "SQLite"

    def __init__(self, path: Path, *, patience: float = 5.0) -> None:
        self._path = path
        self._patience = patience

    async def rows(self) -> AsyncIterator[StoredRow]:
        """Yield the rows by row number. See :meth:`fateforger.memory.ports.ConstraintSource.rows`."""
        for row in self._iter_table():
            yield _to_stored_row(row)

    async def list_omissions(self) -> tuple[str, ...]:
        return ()

    async def aclose(self) -> None:
        """Do nothing: no connection stays open between calls."""

    def _iter_table(self) -> Iterator[dict[str, Any]]:
        if not self._path.is_file():
            raise BadInput(f"There is no file {self._path}; name the SQLite file with --file.", where="file")
        try:
            with closing(
                sqlite3.connect(f"{self._path.resolve().as_uri()}?mode=ro", uri=True, timeout=self._patience)
            ) as db:
                yield from self._select(db)
        except sqlite3.Error as error:
            raise self._to_refusal(error) from error

    def _select(self, db: sqlite3.Connection) -> Iterator[dict[str, Any]]:
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (TABLE,)).fetchone() is None:
            raise BadInput(f"{self._path} holds no table {TABLE}; is it the right file?", where="file")
        db.row_factory = sqlite3.Row
        columns = {row["name"] for row in db.execute(f"PRAGMA table_info({TABLE})")}
        missing = sorted({"id", "user_id", "name", "updated_at"} - columns)
        if missing:
            raise BadInput(f"The table {TABLE} has no column {missing[0]}, so I cannot tell its rows.", where="file")
        for row in db.execute(f"SELECT * FROM {TABLE} ORDER BY id"):  # noqa: S608  a constant
            yield dict(row)

    def _to_refusal(self, error: sqlite3.Error) -> BadInput | SourceUnavailable:
        said = str(error)
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            return SourceUnavailable(f"Another program is writing to {self._path} just now; try again.", where="file")
        if isinstance(error, sqlite3.OperationalError):
            return SourceUnavailable(f"I cannot read {self._path}: {said}.", where="file")
        return BadInput(f"{self._path} is no SQLite database, or it is damaged: {said}.", where="file")


def _to_stored_row(row: Mapping[str, Any]) -> StoredRow:
    """Return the row with the known keys of its free-form columns in their fields, and the rest as extras."""
    fields = {name: value for name, value in row.items() if value is not None}
    free = {name: found for name in ("hints", "selector") if isinstance(found := _parse_json(row.get(name)), Mapping)}
    fields["scalar_params"] = _collect_numbers(fields, free)
    where = f"row {row['id']}" + (f", channel {row['channel_id']}" if row.get("channel_id") else "")
    return StoredRow(
        where=where,
        name=str(row["name"] or "?"),
        fields=fields,
        owner=None if row["user_id"] is None else str(row["user_id"]),
        extras=_collect_unplaced(free),
        rationale=row.get("rationale"),
        trouble="It does not say whose it is (user_id)." if not row["user_id"] else None,
    )


def _collect_unplaced(free: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    left = {name: {key: value for key, value in found.items() if key not in _ROUTED} for name, found in free.items()}
    return {name: found for name, found in left.items() if found}


def _collect_numbers(fields: Mapping[str, Any], free: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the numbers of the rule from the first place that has each: a column, ``hints``, ``selector``."""
    found: dict[str, Any] = {}
    for part in (fields, *free.values()):
        nested = _parse_json(part.get("scalar_params"))
        for place in (nested if isinstance(nested, Mapping) else {}, {name: part.get(name) for name in _NUMBERS}):
            found.update({name: value for name, value in place.items() if value is not None and name not in found})
    return found


def _parse_json(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return None
