"""What stops the program from starting is one sentence, with what to do."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fateforger.adapters.store.store import open_store
from fateforger.app.resources import (
    build_calendar,
    build_clock,
    find_local_key,
    lock_data_dir,
    read_replica_name,
    start_local_calendar,
    submitter,
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
    names = [read_replica_name(tmp_path / folder) for folder in ("a", "b", "a", "b")]
    assert names[:2] == names[2:]
    assert len(set(names)) == 2
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "a").iterdir()] == [0o600]


async def test_two_programs_on_one_database_do_not_write_at_once(tmp_path: Path, postgres: str) -> None:
    """S161: also on one machine, each with a data directory of its own."""
    store = open_store(postgres)
    engines = []
    for folder in ("a", "b"):
        settings = read_settings(
            data_dir=tmp_path / folder, database_url=postgres, calendar_url="http://127.0.0.1:9/mcp"
        )
        calendar = build_calendar(settings, "http://127.0.0.1:9/mcp", store.quota)
        engines.append(submitter(settings, calendar, store.journal, build_clock(settings), role="house"))

        assert find_local_key(settings).startswith("local@replica-")
    one, two = engines
    now = datetime.now(UTC)
    async with one._holding():
        assert await store.journal.acquire(one.calendar_key, two._owner, now=now, seconds=1) is None
    assert await two.recover() == ()
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
    """S347: the sentence says what to set."""
    with pytest.raises(BadInput) as caught:
        read_settings(**given)
    assert caught.value.message.startswith(sentence)


def test_secrets_are_not_shown() -> None:
    settings = read_settings(
        slack_bot_token="xoxb-hidden", slack_app_token="xapp-hidden", caldav_password="pass-hidden"
    )
    assert "hidden" not in repr(settings)
