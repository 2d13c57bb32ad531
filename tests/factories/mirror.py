"""The SQLite file of an earlier planner, as it made it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

_TABLE = """
CREATE TABLE timeboxing_constraints (
    id INTEGER NOT NULL PRIMARY KEY, name VARCHAR NOT NULL, description VARCHAR NOT NULL, necessity VARCHAR(6) NOT NULL,
    tags JSON, hints JSON, status VARCHAR(8), source VARCHAR(8), confidence FLOAT, scope VARCHAR(8), rationale VARCHAR,
    supersedes JSON, selector JSON, start_date DATE, end_date DATE, days_of_week JSON, timezone VARCHAR,
    recurrence VARCHAR, ttl_days INTEGER, user_id VARCHAR NOT NULL, channel_id VARCHAR, thread_ts VARCHAR,
    created_at DATETIME NOT NULL, updated_at DATETIME NOT NULL
)
"""
PLAIN = {
    "description": "", "necessity": "SHOULD", "tags": "[]", "hints": "{}", "status": "LOCKED", "source": "USER",
    "scope": "PROFILE", "supersedes": "[]", "selector": "{}", "days_of_week": "[]", "user_id": "U0ALEX",
    "created_at": "2026-01-01 10:00:00.000000", "updated_at": "2026-01-02 10:00:00.000000",
}  # fmt: skip


def mirror_file(path: Path, *rows: dict[str, Any], journal: str = "delete") -> Path:
    """Write a file with these rows, with plain values in all other columns."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA journal_mode={journal}")
        db.execute(_TABLE)
        for number, row in enumerate(rows, 1):
            values = {"id": number, "name": f"Rule {number}", **PLAIN, **row}
            marks = ", ".join(f":{name}" for name in values)
            db.execute(f"INSERT INTO timeboxing_constraints ({', '.join(values)}) VALUES ({marks})", values)
        db.commit()
    return path
