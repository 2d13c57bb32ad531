"""Each obstacle to a start is reported in one sentence, with the way to remove it."""

from __future__ import annotations

import socket
import sqlite3
from collections.abc import Iterator
from contextlib import aclosing, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from tests.factories.inside import run_inside

from fateforger.adapters.store.store import open_store
from fateforger.app.data_dir import lock_data_dir
from fateforger.app.resources import (
    build_calendar,
    build_clock,
    check_settings,
    find_local_key,
    get_replica_name,
    start_local_calendar,
    submitter,
    take_place,
)
from fateforger.app.web import WebServer
from fateforger.config import read_settings
from fateforger.errors import BadInput, StoreUnavailable


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_taken_page_port(taken: int) -> None:
    with pytest.raises(BadInput, match="choose another port with --port or FATEFORGER_PORT"):
        WebServer("127.0.0.1", taken)


def test_a_taken_port_for_probes(taken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S490: each port is named by its own setting."""
    monkeypatch.setenv("FATEFORGER_OPS_PORT", str(taken))
    status, _, err = run_inside("up", "--port", "0", "--data-dir", str(tmp_path))
    assert (status, "choose another port with FATEFORGER_OPS_PORT." in err) == (2, True), err


def test_a_host_that_is_not_this_machines() -> None:
    """S490: another port would not help."""
    with pytest.raises(BadInput, match="Choose an address of this machine with --host or FATEFORGER_HOST") as refused:
        WebServer("192.0.2.1", 0)
    assert "running already" not in refused.value.message


def test_a_local_page_whose_file_cannot_be_used(tmp_path: Path) -> None:
    """S490: as on a full disk."""
    data = tmp_path / "data"
    (data / "workspace.db").mkdir(mode=0o700, parents=True)
    data.chmod(0o700)
    status, _, err = run_inside("up", "--port", "0", "--data-dir", str(data))
    assert (status, f"The database “{data}/workspace.db” cannot be used: it cannot be opened" in err) == (3, True), err


async def test_the_log_of_a_database_on_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S490: its log is cut when the program starts, and after each deletion."""
    async with aclosing(open_store(tmp_path / "state.db")) as store:
        error = sqlite3.OperationalError("database or disk is full")
        error.sqlite_errorcode = sqlite3.SQLITE_FULL
        monkeypatch.setattr(store.database.engine, "raw_connection", Mock(side_effect=error))
        with pytest.raises(StoreUnavailable, match="there is no space left for it; free some disk space"):
            await store.people.scrub()


async def test_a_taken_caldav_port(taken: int, tmp_path: Path) -> None:
    settings = read_settings(data_dir=tmp_path)
    with pytest.raises(BadInput, match="choose another one with FATEFORGER_CALDAV_PORT"):
        async with start_local_calendar(settings, build_clock(settings), port=taken):
            pass


def test_one_program_per_data_directory(tmp_path: Path) -> None:
    """S161: and the directory is free again as soon as the first one ends."""
    with (
        lock_data_dir(tmp_path),
        pytest.raises(BadInput, match="Another fateforger is running"),
        lock_data_dir(tmp_path),
    ):
        pass
    with lock_data_dir(tmp_path):
        assert (tmp_path.stat().st_mode & 0o777) == 0o700


def test_a_program_keeps_its_name_and_shares_it_with_no_other(tmp_path: Path) -> None:
    """S161: what a program held when it died is known by this name; what another one holds is not."""
    names = [get_replica_name(read_settings(data_dir=tmp_path / folder)) for folder in ("a", "b", "a", "b")]
    assert names[:2] == names[2:]
    assert len(set(names)) == 2
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "a").iterdir()] == [0o600]


def test_a_program_on_postgresql_writes_its_name_nowhere(tmp_path: Path) -> None:
    """S349: any machine can take its place."""
    places = [read_settings(data_dir=tmp_path / folder, database_url="postgresql://db/ff") for folder in ("a", "b")]
    names = [get_replica_name(settings) for settings in (*places, *places)]
    assert names[:2] == names[2:]
    assert len(set(names)) == 2
    assert list(tmp_path.iterdir()) == []


SHARED = {"memory_store": "pgvector", "calendar_url": "http://127.0.0.1:9/mcp"}
CONNECTED = {"memory_store": "pgvector", "secret_keys": "k"}


@pytest.mark.parametrize(
    ("one", "two", "refused"),
    [
        (SHARED, SHARED, None),
        (SHARED, {**SHARED, "memory_store": "embedded"}, "FATEFORGER_MEMORY_STORE"),
        (SHARED, {"memory_store": "pgvector"}, "FATEFORGER_CALENDAR_URL"),
        ({}, SHARED, "docs/operations.md"),
        (CONNECTED, CONNECTED, None),
    ],
    ids=["shared", "own index", "own calendar", "the first has its own", "people connect their own"],
)
async def test_a_second_program_needs_parts_that_can_be_shared(
    tmp_path: Path, postgres: str, one: dict[str, Any], two: dict[str, Any], refused: str | None
) -> None:
    """S350: two programs would each have half an index, or write to a calendar that the other one cannot see."""
    first, second = open_store(postgres), open_store(postgres)
    settings = [read_settings(data_dir=tmp_path, database_url=postgres, **given) for given in (one, two)]
    await take_place(settings[0], first.database)
    with pytest.raises(BadInput, match=refused) if refused else nullcontext():
        await take_place(settings[1], second.database)
    await first.aclose()
    await second.aclose()
    third = open_store(postgres)
    await take_place(settings[1], third.database)  # the ended program does not block it
    await third.aclose()


@pytest.mark.parametrize(
    ("given", "works"),
    [
        ({}, False),
        ({"database_url": None}, True),
        ({"calendar_url": "http://127.0.0.1:9/mcp"}, True),
        ({"secret_keys": "k"}, False),
        ({"secret_keys": "k", "public_url": "https://plan.example.org"}, True),
    ],
)
def test_slack_and_a_server_need_a_calendar_that_people_see(tmp_path: Path, given: dict[str, Any], works: bool) -> None:  # noqa: FBT001  a case
    """S350"""
    slack = {"slack_bot_token": "xoxb-1", "slack_app_token": "xapp-1", "database_url": "postgresql://db/ff"}
    settings = read_settings(data_dir=tmp_path, **{**slack, **given})
    with nullcontext() if works else pytest.raises(BadInput, match="FATEFORGER_CALENDAR_URL"):
        check_settings(settings)


async def test_two_programs_on_one_database_do_not_write_at_once(tmp_path: Path, postgres: str) -> None:
    """S161: also on one machine, each with a data directory of its own."""
    store = open_store(postgres)
    engines, stores = [], []
    for folder in ("a", "b"):
        settings = read_settings(
            data_dir=tmp_path / folder, database_url=postgres, calendar_url="http://127.0.0.1:9/mcp"
        )
        calendar = build_calendar(settings, "http://127.0.0.1:9/mcp", store.quota)
        held = open_store(postgres)
        await held.database.hold_name(get_replica_name(settings))
        stores.append(held)
        engines.append(submitter(settings, calendar, store.database, build_clock(settings), role="house"))

        assert find_local_key(settings).startswith("local@replica-")
    one, two = engines
    now = datetime.now(UTC)
    async with one._holding():
        assert await store.journal.acquire(one.calendar_key, two._owner, now=now, seconds=30) is None
        await stores[0].aclose()  # the first one dies at work
        taken = await store.journal.acquire(one.calendar_key, two._owner, now=now, seconds=30)
        assert taken is not None
        await store.journal.release(taken)
    assert await two.recover() == ()
    await stores[1].aclose()
    await store.aclose()


def test_a_data_directory_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(StoreUnavailable, match="I cannot use the data directory"),
        lock_data_dir(tmp_path / "file" / "data"),
    ):
        pass


HTTP: dict[str, object] = {"slack_mode": "http"}
APP = {"slack_app_token": "xapp-1"}
OAUTH = {"slack_client_id": "1.2", "slack_client_secret": "secret"}
SHARED = {"public_url": "https://plan.example.org", "database_url": "postgresql://db/state"}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"time_zone": "Mars"}, "The setting time_zone cannot be used: “Mars” is not a time zone I know"),
        ({"port": 70000}, "The setting port cannot be used"),
        ({"slack_bot_token": "xoxb-1"}, "SLACK_APP_TOKEN is missing. Socket Mode needs both tokens"),
        ({"slack_app_token": "xapp-1"}, "SLACK_BOT_TOKEN is missing. Socket Mode needs both tokens"),
        ({"slack_signing_secret": "s"}, "SLACK_BOT_TOKEN and SLACK_APP_TOKEN are missing. Socket Mode needs both"),
        ({"slack_bot_token": "x", "slack_signing_secret": "s"}, "SLACK_APP_TOKEN is missing. Socket Mode needs both"),
        (HTTP, "SLACK_BOT_TOKEN, SLACK_SIGNING_SECRET and FATEFORGER_PUBLIC_URL are missing. HTTP mode needs"),
        (
            HTTP | {"slack_app_token": "xapp-1"},
            "SLACK_BOT_TOKEN, SLACK_SIGNING_SECRET and FATEFORGER_PUBLIC_URL are",
        ),
        (HTTP | {"slack_bot_token": "x", "public_url": "https://a.b"}, "SLACK_SIGNING_SECRET is missing. HTTP mode"),
        (HTTP | {"slack_bot_token": "x", "slack_signing_secret": "s"}, "FATEFORGER_PUBLIC_URL is missing. HTTP mode"),
        (
            HTTP | {"slack_bot_token": "x", "slack_signing_secret": "s", "public_url": "http://plan.example.org"},
            "FATEFORGER_PUBLIC_URL is http://plan.example.org, but in HTTP mode Slack wants an address that begins with",
        ),
        ({"proxy": "proxy:3128"}, "The setting proxy cannot be used"),
        ({"commands": "sing=/sing"}, "The setting commands cannot be used: /sing is none of the commands /timebox, "),
        ({"commands": "tasks=tasks"}, "The setting commands cannot be used: tasks cannot be a command: Slack wants /"),
        ({"commands": "tasks=/Tasks"}, "The setting commands cannot be used: /Tasks cannot be a command"),
        ({"commands": "tasks=/pull"}, "The setting commands cannot be used: two commands would have the same name"),
        ({"commands": "tasks"}, "The setting commands cannot be used: it should read NAME=VALUE"),
        (APP | {"slack_client_id": "1.2"}, "SLACK_CLIENT_ID and SLACK_CLIENT_SECRET belong together"),
        (APP | OAUTH, "FATEFORGER_PUBLIC_URL is missing; people who install the app come back there"),
        (APP | OAUTH | SHARED, "FATEFORGER_SECRET_KEYS is missing; it encrypts the tokens of workspaces"),
    ],
)
def test_a_setting_that_cannot_be_used(given: dict[str, object], sentence: str) -> None:
    """S339: the sentence says what to set."""
    with pytest.raises(BadInput) as caught:
        read_settings(**given)
    assert caught.value.message.startswith(sentence)


def test_secrets_are_not_shown() -> None:
    settings = read_settings(
        slack_bot_token="xoxb-hidden", slack_app_token="xapp-hidden", caldav_password="pass-hidden"
    )
    assert "hidden" not in repr(settings)
