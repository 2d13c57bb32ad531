"""Follow-ups after a connection broke or works again: done once by all programs together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.session_examples import session as any_session
from tests.fakes.manual_clock import ManualClock

from fateforger.adapters.store.connections import SqlConnections, Vault, new_key
from fateforger.adapters.store.store import Store, open_store
from fateforger.app.calendars import FollowUps
from fateforger.calendar.connections import Connection, Provider
from fateforger.errors import CalendarUnreachable
from fateforger.workers.lanes import CONNECTION, TURN

NOW = datetime(2026, 3, 2, 7, tzinfo=UTC)
OWN = Connection("U1", Provider.CALDAV, "anna", "work", NOW, "https://dav.example.org/", secret="any")


@dataclass
class Engines:
    """The engines of people's calendars; ``recovered`` are those whose writes were finished."""

    recovered: list[str] = field(default_factory=list)
    is_down: bool = False

    async def recover(self, user_id: str) -> None:
        if self.is_down:
            raise CalendarUnreachable("It is down.")
        self.recovered.append(user_id)


@dataclass
class Program:
    store: Store
    connections: SqlConnections
    engines: Engines

    def __post_init__(self) -> None:
        self.follow_ups = FollowUps(
            self.connections, self.engines.recover, self.store.sessions, self.store.jobs, ManualClock(NOW)
        )

    async def take(self, lane: str) -> list[dict[str, Any]]:
        """Return the payloads of the jobs that wait on a lane."""
        found = []
        while job := await self.store.jobs.claim(lane, "test", now=NOW, lease_seconds=60):
            found.append(dict(job.payload))
            await self.store.jobs.finish(job)
        return found


@pytest.fixture
async def program(tmp_path: Path) -> AsyncIterator[Program]:
    store = open_store(tmp_path / "state.db")
    yield Program(store, SqlConnections(store.database, Vault(new_key())), Engines())
    await store.aclose()


async def test_a_connection_that_broke_is_told_once_and_again_only_after_it_worked(program: Program) -> None:
    """S326: a second program finds nothing left to do."""
    other = Program(program.store, program.connections, Engines())
    await program.connections.keep(OWN)
    for _ in range(2):
        await program.connections.note_problem("U1", "The password was refused.")
        await program.follow_ups.run_once()
        await other.follow_ups.run_once()
    assert await program.take(CONNECTION.name) == [{"user_id": "U1", "do": "tell"}]
    await program.connections.keep(OWN)
    await program.follow_ups.run_once()
    await program.connections.note_problem("U1", "The password was refused.")
    await program.follow_ups.run_once()
    assert await program.take(CONNECTION.name) == [{"user_id": "U1", "do": "tell"}]


@pytest.mark.parametrize("is_down", [False, True])
async def test_what_waited_goes_on_after_a_new_connection(program: Program, *, is_down: bool) -> None:
    """S326: writes that were cut off are finished, and each open plan reads the calendar again."""
    mine, theirs = any_session("s1", user_id="U1"), any_session("s2", user_id="U2")
    for session in (mine, theirs):
        await program.store.sessions.save(session, expected=0)
    program.engines.is_down = is_down
    await program.connections.keep(OWN)
    await program.follow_ups.run_once()
    await program.follow_ups.run_once()
    assert program.engines.recovered == ([] if is_down else ["U1"])
    assert [job["session_id"] for job in await program.take(TURN.name)] == ["s1"]
