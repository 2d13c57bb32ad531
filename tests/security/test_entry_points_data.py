"""A data directory that others can read or share, and a page that other machines can reach."""

from __future__ import annotations

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.command_line import run_program

from fateforger.app import program
from fateforger.app.data_dir import describe_exposure, lock_data_dir
from fateforger.app.program import App
from fateforger.cli import program as commands
from fateforger.cli.command_line import root_command
from fateforger.config import Settings


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def expect_refusal(folder: Path) -> str:
    """Return the program's message about a directory that it must not touch."""
    before = mode(folder)
    said, document, _ = run_program("doctor", "--data-dir", str(folder))
    assert (said, mode(folder)) == (3, before), document
    assert sorted(path.name for path in folder.iterdir()) == ["letter.txt"]
    status, _, errors = run_program("up", "--port", "0", "--data-dir", str(folder))
    assert (status, mode(folder)) == (2, before), errors
    assert sorted(path.name for path in folder.iterdir()) == ["letter.txt"]
    return errors


@pytest.mark.process
@pytest.mark.attack(
    "data directory", "a directory with other files, such as the system's temporary directory", "7d", "mended"
)
@pytest.mark.parametrize("permissions", [0o755, 0o1777])
def test_a_directory_with_other_files_is_left_alone(tmp_path: Path, permissions: int) -> None:
    """S373."""
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "letter.txt").touch()
    shared.chmod(permissions)
    said = expect_refusal(shared)
    assert "may not be fateforger's own" in said
    assert f"chmod 700 {shared}" in said


@pytest.mark.attack("data directory", "files of another user in the data directory", "7d", "mended")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_directory_with_a_file_of_another_user_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "running.lock").touch()
    (tmp_path / "theirs").touch()
    os.chown(tmp_path / "theirs", 65534, 65534)
    tmp_path.chmod(0o755)
    with pytest.raises(Exception, match="leave it alone"), lock_data_dir(tmp_path):
        pass
    assert mode(tmp_path) == 0o755


@pytest.mark.attack("data directory", "a data directory that others can read", "5", "held")
def test_our_own_directory_is_closed(tmp_path: Path) -> None:
    """This covers an empty directory, a missing one, and one that was opened to others later."""
    for folder in (tmp_path / "empty", tmp_path / "new" / "deep", tmp_path / "used"):
        if folder.name != "deep":
            folder.mkdir(mode=0o755)
        if folder.name == "used":
            (folder / "running.lock").touch()
        with lock_data_dir(folder):
            assert mode(folder) == 0o700


@pytest.mark.attack("page", "an address that other machines reach, or a container without Slack", "5", "mended")
@pytest.mark.parametrize(("host", "warned"), [("0.0.0.0", True), ("192.0.2.1", True), ("::", True), ("127.0.0.2", False), ("::1", False)])  # fmt: skip
def test_doctor_warns_of_a_page_that_others_reach(tmp_path: Path, host: str, *, warned: bool) -> None:
    """S372."""
    said = CliRunner(env={"FATEFORGER_HOST": host}).invoke(root_command, ["doctor", "--data-dir", str(tmp_path)]).output
    assert (f"The page listens on {host}, so other machines may reach it." in said) is warned
    assert "http://" + ("127.0.0.1" if host in {"0.0.0.0", "::"} else host) in said


def test_with_slack_there_is_no_such_page(tmp_path: Path) -> None:
    slack = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1", "SLACK_API_BASE_URL": "http://127.0.0.1:9/api/"}
    environment = {"FATEFORGER_HOST": "0.0.0.0", **slack}
    said = CliRunner(env=environment).invoke(root_command, ["doctor", "--data-dir", str(tmp_path)]).output
    assert "other machines" not in said
    assert "/day/?token=" in said


def test_up_warns_before_it_says_that_it_is_ready(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """S372: without listening on such an address in a test."""

    @asynccontextmanager
    async def open_app(settings: Settings) -> AsyncIterator[App]:
        warning = describe_exposure(settings)
        yield App("http://127.0.0.1:1/?token=x", None, None, (), warning, None)

    def stop_at_once() -> asyncio.Event:
        event = asyncio.Event()
        event.set()
        return event

    monkeypatch.setattr(program, "open_app", open_app)
    monkeypatch.setattr(commands, "stop_on_signals", stop_at_once)
    said = CliRunner().invoke(root_command, ["up", "--host", "0.0.0.0", "--data-dir", str(tmp_path)]).output
    assert "Warning: The page listens on 0.0.0.0" in said.partition("Ready:")[0]
    assert "SLACK_BOT_TOKEN" in said


@pytest.mark.attack("Slack's address", "a user name and a password, with which a library fails", "7c", "mended")
def test_slacks_address_with_a_login_is_refused_in_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLACK_API_BASE_URL", "https://robin:hunter2secret@slack.example.org/api/")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    monkeypatch.setenv("SLACK_APP_TOKEN", "xapp-1")
    status, said, errors = run_program("doctor", "--data-dir", str(tmp_path))
    assert status == 2
    assert "no user name and password" in errors
    assert "hunter2secret" not in said + errors


def test_doctor_says_where_a_token_of_the_settings_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S399: a page that refuses a visitor names doctor, which names a token of the settings without showing it."""
    token = "a-token-that-was-chosen"
    monkeypatch.setenv("FATEFORGER_PAGE_TOKEN", token)
    _, said, errors = run_program("doctor", "--data-dir", str(tmp_path))
    assert "/?token= followed by FATEFORGER_PAGE_TOKEN" in said
    assert token not in said + errors
