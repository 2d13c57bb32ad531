"""The story of constraints in a conversation, in one command and in the log (S220)."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.factories.inside import run_inside
from tests.unit.conversation.person import ANNA, Harness, Person
from tests.unit.conversation.test_memory import remember

from fateforger.session.recall import CONSTRAINT_EVENTS, constraint_histories


async def read_histories(harness: Harness, anna: Person) -> dict[str, tuple[str, ...]]:
    stored = await harness.store.constraints.of(ANNA)
    return {chapter.name: chapter.events for chapter in constraint_histories(await anna.session(), stored)}


async def test_from_said_to_applied(harness: Harness, anna: Person, caplog: pytest.LogCaptureFixture) -> None:
    """S220: each event that there is, for each constraint of the session."""
    caplog.set_level(logging.INFO, "fateforger")
    await anna.to_tasks()
    await remember(anna, "Bed at ten", "22:00")
    assert await read_histories(harness, anna) == {"Bed at ten": ("extracted", "stored", "selected", "applied")}
    later = Person(harness)
    await later.to_tasks()
    assert await read_histories(harness, later) == {"Bed at ten": ("selected", "applied")}
    lines = [line for line in caplog.messages if line.startswith("constraints ")]
    assert {line.split()[1] for line in lines} >= {"stored", "selected", "applied"}
    assert "Bed at ten" not in "".join(lines)
    assert set(CONSTRAINT_EVENTS) == {"extracted", "stored", "waiting", "selected", "set_aside", "applied"}


async def test_what_is_set_aside_is_selected_and_not_applied(harness: Harness, anna: Person) -> None:
    """S220"""
    await anna.to_tasks()
    await remember(anna, "Bed at ten", "22:00")
    (stored,) = await harness.store.constraints.of(ANNA)
    await anna.click("memory.set_aside", f"{stored.seq} {stored.uid}")
    assert await read_histories(harness, anna) == {"Bed at ten": ("extracted", "stored", "selected", "set_aside")}


async def test_the_command(harness: Harness, anna: Person, tmp_path: Path) -> None:
    """S220: one command answers for a session; an unknown id is reported."""
    await anna.to_tasks()
    await remember(anna, "Bed at ten", "22:00")
    data = tmp_path / "data"
    data.mkdir()
    with (
        closing(sqlite3.connect(tmp_path / "state.db")) as here,
        closing(sqlite3.connect(data / "fateforger.db")) as copy,
    ):
        here.backup(copy)
    (stored,) = await harness.store.constraints.of(ANNA)
    status, out, _ = await asyncio.to_thread(
        run_inside, "constraints", "story", anna.session_id, "--json", "--data-dir", str(data)
    )
    events = ["extracted", "stored", "selected", "applied"]
    expected = {
        "session": anna.session_id,
        "constraints": [{"uid": stored.uid, "name": "Bed at ten", "events": events}],
    }
    assert (status, json.loads(out)) == (0, expected)
    status, out, _ = await asyncio.to_thread(
        run_inside, "constraints", "story", anna.session_id, "--data-dir", str(data)
    )
    assert out == f"Bed at ten  [{stored.uid}]\n       said here, stored, selected for the day, applied\n"
    status, _, err = await asyncio.to_thread(run_inside, "constraints", "story", "s0", "--data-dir", str(data))
    assert (status, err) == (2, "There is no conversation with that id here. (session)\n")
