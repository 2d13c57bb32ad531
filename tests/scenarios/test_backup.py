"""A backup is restored where nothing is: the thread goes on, and what was committed can be taken back."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from tests.command_line import run_program
from tests.postgres import PostgresServer
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import STEPS
from tests.scenarios.person import eventually
from tests.scenarios.program import Program

from fateforger.adapters.store.store import open_store

pytestmark = [pytest.mark.process, pytest.mark.extra]
NOW = {"FATEFORGER_NOW": "2026-03-02T07:00:00+01:00"}


@pytest.fixture(params=["sqlite", "postgres"])
def databases(request: pytest.FixtureRequest) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Yield the settings for the state of the old and the new program: files, or two databases of a server."""
    if request.param == "sqlite":
        yield {}, {}
        return
    server: PostgresServer = request.getfixturevalue("postgres_server")
    with server.bare_database() as old, server.bare_database() as new:
        yield {"FATEFORGER_DATABASE_URL": old}, {"FATEFORGER_DATABASE_URL": new}


def admin(*words: str, data: Path, environment: dict[str, str]) -> tuple[int, dict[str, object]]:
    given = {**NOW, **environment}
    status, out, err = run_program("admin", *words, "--data-dir", str(data), "--json", environment=given)
    assert err == "", err
    return status, json.loads(out)


async def is_indexed(where: str) -> bool:
    async with aclosing(open_store(where)) as store:
        return not await store.constraints.list_unindexed(limit=1)


def test_all_is_lost_and_the_thread_goes_on(tmp_path: Path, databases: tuple[dict[str, str], dict[str, str]]) -> None:
    """S358: plan and commit, back up while it runs, lose everything, restore elsewhere, and take the commit back."""
    old, new = databases
    program = Program(tmp_path / "data", {**NOW, **old}).start()
    backup = tmp_path / "backup.tar.gz"
    try:
        person = program.person()
        for _, step in STEPS:
            step(person)
        rule = ("add", "--name", "No calls before ten", "--user", person.user, "--data-dir", str(program.data))
        assert run_program("constraints", *rule, environment={**NOW, **old})[0] == 0
        where = old.get("FATEFORGER_DATABASE_URL", str(program.data / "fateforger.db"))
        eventually(lambda: asyncio.run(is_indexed(where)), "the search index has the rule")
        written = CalDav(program.caldav_url()).events()
        assert len(written) == 5
        status, made = admin("backup", str(backup), data=program.data, environment=old)
        assert (status, made["logins"], backup.stat().st_mode & 0o777) == (0, 0, 0o600)
    finally:
        program.kill()
    shutil.rmtree(program.data)

    moved = Program(tmp_path / "elsewhere", {**NOW, **new})
    assert admin("restore", str(backup), data=moved.data, environment=new)[0] == 0
    status, checked = admin("check", data=moved.data, environment=new)
    assert (status, checked["ok"]) == (0, True), checked
    assert "1 constraint in" in str(checked["checks"]), checked
    try:
        person = moved.start().person()
        assert CalDav(moved.caldav_url()).events() == written
        assert "is on your calendar" in person.says()
        person.press("Undo")
        person.reads("Taken back")
        assert CalDav(moved.caldav_url()).events() == []
    finally:
        moved.kill()
