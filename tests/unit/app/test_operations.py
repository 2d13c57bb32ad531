"""A health check costs the program next to nothing."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import event
from starlette.applications import Starlette
from tests.contracts.session_examples import session
from tests.contracts.stores import new_file

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.store.store import Store, open_store
from fateforger.app import ops as operations_module
from fateforger.app.ops import PATH, Operations


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = open_store(new_file(tmp_path))
    yield store
    await store.aclose()


async def fetch_operations(operations: Operations) -> dict[str, Any]:
    transport = httpx.ASGITransport(Starlette(routes=[operations.route]))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        answer: dict[str, Any] = (await client.get(PATH)).json()
        return answer


async def test_one_row_is_read_however_many_sessions_there_are(store: Store) -> None:
    """No event, text or token can stop the program: `/health` reads one row."""
    for n in range(30):
        await store.sessions.save(session(f"s{n}"), expected=0)
    read: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        read.append(" ".join(statement.split()) + f" {parameters}")

    event.listen(store.database.engine, "before_cursor_execute", note)
    assert (await fetch_operations(Operations(store, SystemClock())))["database"] is True
    selects = [statement for statement in read if statement.startswith("SELECT")]
    assert len(selects) == 1
    assert "LIMIT ? OFFSET ? (1, 0)" in selects[0], selects
    assert ".session " not in selects[0].partition(" FROM ")[0], "no document is read"


async def test_a_database_that_does_not_answer_is_not_waited_for(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A probe that was given up does not run on."""
    free = threading.Event()
    occupied = threading.Event()

    def occupy(_connection: Any) -> None:
        occupied.set()
        free.wait()

    busy = asyncio.create_task(store.database.read(occupy))
    await asyncio.to_thread(occupied.wait)
    read: list[str] = []
    try:
        with monkeypatch.context() as impatient:
            impatient.setattr(operations_module, "_PATIENCE", 0.05)
            assert (await fetch_operations(Operations(store, SystemClock())))["database"] is False
        event.listen(store.database.engine, "before_cursor_execute", lambda *given: read.append(given[2]))
    finally:
        free.set()
    await busy
    assert (await fetch_operations(Operations(store, SystemClock())))["database"] is True
    assert len([statement for statement in read if statement.startswith("SELECT")]) == 1
