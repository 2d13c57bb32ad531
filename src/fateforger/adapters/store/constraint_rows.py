"""Convert versions of constraints to rows and back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Row

from fateforger.adapters.store.documents import CONSTRAINT_VERSION, expect_version, parse
from fateforger.adapters.store.tables import ConstraintVersion, table
from fateforger.constraints import ConstraintRecord, Event, Version, write_record
from fateforger.errors import StoreUnavailable

VERSION = table(ConstraintVersion)


@dataclass(frozen=True, slots=True)
class Damaged:
    """A row that cannot be read. Its columns still give the constraint and the time it was written."""

    uid: str
    name: str
    updated_at: datetime
    seq: int
    why: str


def build_version_values(version: Version, cause: str, place: int) -> dict[str, Any]:
    """Return the row of the ``place``-th version written for ``cause``."""
    record = version.record
    return {
        "user_id": version.user_id,
        "uid": version.uid,
        "cause": cause,
        "place": place,
        "created_at": version.created_at,
        "written_at": version.updated_at,
        "action": version.event.action.value,
        "reason": version.event.reason,
        "session_id": version.session_id,
        "name": record.name.replace("\x00", "\ufffd"),
        "status": record.status.value,
        "scope": record.scope.value,
        "valid_from": record.applicability.start_date,
        "valid_until": record.applicability.end_date,
        "schema_version": CONSTRAINT_VERSION,
        "record": json.dumps(write_record(record), separators=(",", ":")),  # ASCII only, so that any database takes it
    }


def read_version_row(row: Row[Any]) -> Version | Damaged:
    """Return the version, or the reason it cannot be read."""
    what = f"The constraint “{row.name}” ({row.uid})"
    try:
        return _parse_version(row, what)
    except StoreUnavailable as error:
        why = error.message
    except ValidationError:
        why = f"{what} cannot be read from the database: its columns do not go together."
    return Damaged(row.uid, row.name, row.written_at, row.seq, why)


def _parse_version(row: Row[Any], what: str) -> Version:
    expect_version(what, row.schema_version, CONSTRAINT_VERSION)
    record = parse(ConstraintRecord, row.record, what)
    if record.lifecycle.uid != row.uid:
        raise StoreUnavailable(f"{what} cannot be read from the database: its text is that of another one.")
    return Version(
        user_id=row.user_id,
        record=record,
        created_at=row.created_at,
        updated_at=row.written_at,
        event=Event(action=row.action, reason=row.reason),
        session_id=row.session_id,
        seq=row.seq,
    )
