"""Constraints out of the SQLite table of an earlier planner (S8-S12, S38)."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.factories.mirror import mirror_file

from fateforger.adapters.mirror import SqliteConstraintSource
from fateforger.errors import BadInput, SourceUnavailable
from fateforger.memory.documents import write_version
from fateforger.memory.migration import StoredRow, plan_migration, read_row

FULL = {
    "name": "Bed by eleven", "description": "I want to be in bed by eleven", "necessity": "MUST", "tags": '["sleep"]',
    "hints": '{"uid": "tb_bed", "rule_kind": "fixed_bedtime", "duration_min": 30, "applies_stages": ["Refine"], "energy": "low"}',
    "source": "FEEDBACK", "confidence": 0.9, "scope": "DATESPAN", "rationale": "said on a Monday",
    "supersedes": '["tb_old"]', "start_date": "2026-01-05", "end_date": "2026-03-01", "days_of_week": '["MO", "TU"]',
    "selector": '{"windows": [{"kind": "prefer", "start_time_local": "22:00", "end_time_local": "23:00"}],'
                ' "scalar_params": {"duration_max": 60, "duration_min": 5}, "applies_event_types": ["R"]}',
    "timezone": "Europe/Amsterdam", "recurrence": "FREQ=WEEKLY", "ttl_days": 90, "channel_id": "C1", "thread_ts": "17.5",
}  # fmt: skip


async def read(path: Path) -> list[StoredRow]:
    return [row async for row in SqliteConstraintSource(path, patience=0.01).rows()]


async def refusal(path: Path) -> str:
    with pytest.raises((BadInput, SourceUnavailable)) as caught:
        await read(path)
    return caught.value.message.replace(str(path), "FILE")


async def test_every_field_comes_across(tmp_path: Path) -> None:
    """S8-S12, S38: the columns, what the free-form ones hold, and what has no place of its own."""
    [row] = await read(mirror_file(tmp_path / "old.db", FULL))
    [version] = plan_migration([row], (), "U0ALEX", "SQLite").versions
    assert write_version(version) == {
        "user_id": "U0ALEX",
        "constraint_record": {
            "name": "Bed by eleven", "description": "I want to be in bed by eleven", "necessity": "must",
            "status": "locked", "source": "feedback", "scope": "datespan", "confidence": 0.9, "topics": ["sleep"],
            "applies_stages": ["Refine"], "applies_event_types": ["R"],
            "applicability": {
                "start_date": "2026-01-05", "end_date": "2026-03-01", "days_of_week": ["MO", "TU"],
                "timezone": "Europe/Amsterdam", "recurrence": "FREQ=WEEKLY",
            },
            "payload": {
                "rule_kind": "fixed_bedtime",
                "scalar_params": {"duration_min": 30, "duration_max": 60, "hints": {"energy": "low"}},
                "windows": [{"kind": "prefer", "start_time_local": "22:00", "end_time_local": "23:00"}],
            },
            "lifecycle": {"uid": "tb_bed", "supersedes_uids": ["tb_old"], "ttl_days": 90},
        },
        "created_at": "2026-01-01T10:00:00+00:00",
        "updated_at": "2026-01-02T10:00:00+00:00",
        "event": {"action": "upsert", "reason": "moved from SQLite, row 1, channel C1: said on a Monday"},
        "session_id": "17.5",
    }  # fmt: skip


async def test_a_row_without_a_uid_gets_the_one_that_follows_from_it(tmp_path: Path) -> None:
    """S6: the same rule in two rows is one constraint, even if their other fields differ."""
    rows = await read(mirror_file(tmp_path / "old.db", {"name": "Gym"}, {"name": "Gym", "hints": '{"energy": "low"}'}))
    first, second = (read_row(row.fields).uid for row in rows)
    assert first == second
    assert first.startswith("tb_")


async def test_a_file_in_use_is_read(tmp_path: Path) -> None:
    """With a write-ahead log, too; nothing in it changes."""
    path = mirror_file(tmp_path / "old.db", {}, journal="wal")
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE timeboxing_constraints SET name = 'Written just now'")
        db.commit()
        assert [row.name for row in await read(path)] == ["Written just now"]
        left = tmp_path / "left"  # as a program leaves it that was killed
        left.mkdir()
        for name in ("old.db", "old.db-wal"):
            (left / name).write_bytes((tmp_path / name).read_bytes())
    before = [(left / name).read_bytes() for name in ("old.db", "old.db-wal")]
    assert [row.name for row in await read(left / "old.db")] == ["Written just now"]
    assert [(left / name).read_bytes() for name in ("old.db", "old.db-wal")] == before


async def test_what_cannot_be_read_gets_one_sentence(tmp_path: Path) -> None:
    """Locked, missing, another file, another table, damaged, without what is needed."""
    path = mirror_file(tmp_path / "old.db", {})
    with closing(sqlite3.connect(path)) as db:
        db.execute("BEGIN EXCLUSIVE")
        assert await refusal(path) == "Another program is writing to FILE just now; try again."
    assert await refusal(tmp_path / "none.db") == "There is no file FILE; name the SQLite file with --file."
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "text.db").write_text("constraints: none" * 100)
    assert (
        await refusal(tmp_path / "text.db") == "FILE is no SQLite database, or it is damaged: file is not a database."
    )
    sqlite3.connect(tmp_path / "empty.db").close()
    (tmp_path / "empty.db").touch()
    assert await refusal(tmp_path / "empty.db") == "FILE holds no table timeboxing_constraints; is it the right file?"
    many = mirror_file(tmp_path / "many.db", *({"description": "x" * 500} for _ in range(100)))
    data = bytearray(many.read_bytes())
    data[4096 * 3 : 4096 * 8] = b"\xff" * 4096 * 5
    many.write_bytes(data)
    assert (await refusal(many)).startswith("FILE is no SQLite database, or it is damaged: ")
    with closing(sqlite3.connect(tmp_path / "other.db")) as db:
        db.execute("CREATE TABLE timeboxing_constraints (id INTEGER, name TEXT, updated_at TEXT)")
    assert await refusal(tmp_path / "other.db") == (
        "The table timeboxing_constraints has no column user_id, so I cannot tell its rows."
    )


async def test_a_row_of_nobody(tmp_path: Path) -> None:
    [row] = await read(mirror_file(tmp_path / "old.db", {"user_id": ""}))
    assert row.trouble == "It does not say whose it is (user_id)."
