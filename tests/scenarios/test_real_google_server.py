"""The configuration of docker-compose.yml without containers: the unmodified google-calendar-mcp, PostgreSQL and the
program, with Google itself replaced by a stand-in.

Runs only when ``CALENDAR_TEST_SERVER`` names the server's ``build/index.js``; see ``tests/contracts/test_real_server.py``.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.architecture.test_compose import DOCKERFILES, SERVICES, instructions
from tests.contracts.real_server import SERVER, answering, free_port, settings_in
from tests.emulators.google.emulator import GoogleEmulator
from tests.fakes.asgi_server import serve_app
from tests.fakes.google_store import GoogleStore
from tests.scenarios.day import all_steps
from tests.scenarios.program import Program

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(not SERVER, reason="CALENDAR_TEST_SERVER does not name a google-calendar-mcp to run"),
    pytest.mark.extra,
]
MONDAY = "2026-03-02T07:00:00+01:00"


@pytest.fixture
def store() -> GoogleStore:
    store = GoogleStore("Europe/Amsterdam")
    nine_thirty = datetime(2026, 3, 2, 8, 30, tzinfo=UTC)
    store.user_create("Standup", start=nine_thirty, end=nine_thirty + timedelta(minutes=30))
    return store


@pytest.fixture
async def calendar_url(store: GoogleStore, tmp_path: Path) -> AsyncIterator[str]:
    """Start the server by the command of its image, with the variables of the compose file, and yield its URL."""
    (line,) = instructions(DOCKERFILES["calendar"], "CMD")
    port = free_port()
    command = [str(port) if word == "3000" else word for word in json.loads(line)]
    async with serve_app(GoogleEmulator({"primary": store}, check_tokens=False).app()) as base:
        server = await asyncio.create_subprocess_exec(
            *("node", SERVER, *command),
            env={**os.environ, "STAND_IN": base, **SERVICES["calendar"]["environment"], **settings_in(tmp_path)},
            cwd=tmp_path,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            await answering(f"http://127.0.0.1:{port}/health", server)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            server.terminate()
            await server.wait()


def a_day_and_back(program: Program, store: GoogleStore) -> None:
    before = titles(store)
    person = program.person()
    for _ in all_steps(person):
        pass
    assert titles(store) == sorted([*before, "Answer mail", "Lunch", "Prepare talk", "Shut down", "Write report"])
    program.restart()
    person = program.person()
    person.press("Undo")
    person.reads("Taken back")
    assert titles(store) == before


def titles(store: GoogleStore) -> list[str]:
    return sorted(image.summary for image in store.get_live_events().values())


async def test_a_day_is_planned_killed_and_taken_back(
    store: GoogleStore, calendar_url: str, postgres: str, tmp_path: Path
) -> None:
    """S51-S54, S82, S90, S161, S241: in the configuration of the compose file."""
    there = {**SERVICES["bot"]["environment"], "FATEFORGER_NOW": MONDAY, "FATEFORGER_CALENDAR_WRITE": "commit"}
    there |= {"FATEFORGER_DATABASE_URL": postgres, "FATEFORGER_CALENDAR_URL": calendar_url}
    program = Program(tmp_path / "data", there)
    looked = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "fateforger", "doctor", "--json", "--data-dir", str(tmp_path / "data")],
        capture_output=True,
        text=True,
        env={**os.environ, **there},
    )
    checks = {check["name"]: check["state"] for check in json.loads(looked.stdout)["checks"]}
    assert (checks["calendar"], checks["state"], looked.returncode) == ("real", "real", 0)
    await asyncio.to_thread(program.start)
    try:
        await asyncio.to_thread(a_day_and_back, program, store)
    finally:
        await asyncio.to_thread(program.kill)
