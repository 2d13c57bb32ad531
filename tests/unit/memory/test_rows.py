"""Rows as other stores hold them, and the filter fields that we store (S13, S38)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.factories.constraints import line_of, record_of

from fateforger.errors import BadInput
from fateforger.memory.documents import read_record, read_version, write_record
from fateforger.memory.migration import read_row
from fateforger.memory.record import build_filter_fields


def test_a_memory_of_mem0() -> None:
    """The full record in the metadata, instants as text."""
    line = line_of("c", days_of_week=["MO"])
    metadata = {"constraint_record": json.dumps(line["constraint_record"]), "uid": "c", "status": "locked"}
    memory = {"id": "m1", "memory": "uid:c", "user_id": "U1", "created_at": line["created_at"], "updated_at": line["updated_at"], "metadata": metadata}  # fmt: skip
    assert read_row(memory, user_id="U1") == read_version(line)


def test_flat_fields_of_an_export() -> None:
    """SQLite and Notion: enum names, weekday names, date-times, JSON in text, other names, no offset."""
    row = {
        "name": "Gym",
        "user_id": "U1",
        "status": "ConstraintStatus.LOCKED",
        "necessity": "MUST",
        "scope": "profile",
        "tags": '["sport"]',
        "days_of_week": ["Monday", "ConstraintDayOfWeek.TU", "we"],
        "start_date": "2026-01-01T00:00:00",
        "supersedes": "[]",
        "hints": '{"rule_kind": "prefer_window", "uid": "tb_1"}',
        "timezone": "",
        "ttl_days": None,
        "updated_at": "2026-01-05 10:00:00",
    }
    version = read_row(row)
    assert write_record(version.record) == {
        "name": "Gym",
        "status": "locked",
        "necessity": "must",
        "scope": "profile",
        "topics": ["sport"],
        "applicability": {"start_date": "2026-01-01", "days_of_week": ["MO", "TU", "WE"]},
        "payload": {"rule_kind": "prefer_window"},
        "lifecycle": {"uid": "tb_1"},
    }
    assert version.updated_at.isoformat() == "2026-01-05T10:00:00+00:00"


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"name": "x", "user_id": "U2", "updated_at": "2026-01-01T00:00:00Z"}, "This row belongs to somebody else."),
        ({"name": "x", "updated_at": "yesterday"}, "“yesterday” is not an instant."),
        ({"name": "x"}, "“updated_at” is missing."),
        ({"name": "x", "days_of_week": ["Caturday"], "updated_at": "2026-01-01"}, "“days_of_week[0]” cannot be used"),
        ({"name": "x", "status": "gone", "updated_at": "2026-01-01"}, "“status” cannot be used"),
    ],
)
def test_nothing_is_guessed(row: dict[str, Any], message: str) -> None:
    """A row that cannot be read is one clear sentence, never a constraint that reaches further."""
    with pytest.raises(BadInput) as caught:
        read_row(row, user_id="U1")
    assert caught.value.message.startswith(message)


def test_filter_fields_are_portable() -> None:
    """S13: numbers for dates, sets as text, never null; the same in every store."""
    record = record_of(
        "c",
        start_date="2026-01-02",
        days_of_week=["TU", "MO"],
        applies_stages=["Refine"],
        applies_event_types=["M", "DW"],
        topics=["calls"],
    )
    assert build_filter_fields(read_record(record)) == {
        "uid": "c",
        "status": "locked",
        "scope": "profile",
        "necessity": "should",
        "type_id": "other",
        "start_day": 20260102,
        "end_day": 99991231,
        "days": "|MO|TU|",
        "stages": "|REFINE|",
        "event_types": "|DW|M|",
        "topics": "|calls|",
    }
    assert build_filter_fields(read_record(record_of("d")))["start_day"] == 0
