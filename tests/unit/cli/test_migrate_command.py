"""``constraints migrate`` and its script as people run them: words, documents, exit status, kill -9 (S38)."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import signal
import sqlite3
import sys
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import COMMAND_LINE, programs, run_program
from tests.contracts.stores import new_file
from tests.factories.inside import run_inside, without_doubt
from tests.factories.mirror import mirror_file
from tests.factories.notion import TbDatabases
from tests.fakes.notion_server import TOKEN, notion_server

from fateforger.app.data_dir import lock_data_dir
from fateforger.app.memory import build_memory
from fateforger.cli import main
from fateforger.config import read_settings
from fateforger.memory.versions import Version

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "scripts" / "migrate_notion_constraints_to_mem0.py"
MIGRATE = ("constraints", "migrate")
PROGRAM = ("-m", "fateforger", *MIGRATE)
Run = tuple[int, str, str]


async def start_program(
    folder: Path, *arguments: str, env: dict[str, str] | None = None, **streams: Any
) -> asyncio.subprocess.Process:
    clean = {name: value for name, value in os.environ.items() if name not in {"NOTION_TOKEN", "DATABASE_URL"}}
    environment = {**clean, "FATEFORGER_DATA_DIR": str(folder / "data"), **(env or {})}
    pipes = {"stdout": asyncio.subprocess.PIPE, "stderr": asyncio.subprocess.PIPE, **streams}
    return await asyncio.create_subprocess_exec(sys.executable, *arguments, env=environment, cwd=folder, **pipes)


async def run(folder: Path, *arguments: str, env: dict[str, str] | None = None) -> Run:
    process = await start_program(folder, *arguments, env=env)
    out, err = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode(), err.decode()


async def document(folder: Path, *arguments: str, env: dict[str, str] | None = None) -> dict[str, Any]:
    environment = {"FATEFORGER_DATA_DIR": str(folder / "data"), **(env or {})}
    _, out, _ = await asyncio.to_thread(run_program, *MIGRATE, *arguments, "--json", environment=environment)
    found: dict[str, Any] = json.loads(out)
    return found


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The command inside this process, on a database that has its tables already."""

    folder: Path
    capsys: pytest.CaptureFixture[str]

    def run(self, *arguments: str) -> Run:
        with pytest.raises(SystemExit) as ended:
            main(["constraints", "migrate", *arguments, "--data-dir", str(self.folder)])
        status = ended.value.code
        assert isinstance(status, int)
        out, err = self.capsys.readouterr()
        return status, out, err

    def document(self, *arguments: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.run(*arguments, "--json")[1])
        return found


@pytest.fixture
def cli(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> CommandLine:
    with_tables(tmp_path)
    return CommandLine(tmp_path, capsys)


def with_tables(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    new_file(folder).rename(folder / "fateforger.db")


async def test_the_script_as_the_seeds_have_it(tmp_path: Path) -> None:
    """S38: ``--source sqlite`` with the file in DATABASE_URL: a dry run, then ``--apply``, then nothing is left to do."""
    with_tables(tmp_path / "data")
    mirror_file(tmp_path / "old.db", {"name": "Gym", "necessity": "MUST", "hints": '{"uid": "tb_gym"}'})
    env = {"DATABASE_URL": "sqlite+aiosqlite:///old.db"}
    script = (str(SCRIPT), "--source", "sqlite")
    table = (
        "From SQLite, constraints of U0ALEX:\n"
        "                 status    reach     edited      name\n"
        "new      must    locked    profile   2026-01-02  Gym  [tb_gym]\n\n"
    )
    dry = f"{table}1 new, 0 changed, 0 here already.\nNothing was changed. Add --apply to write them.\n"
    assert await run(tmp_path, *script, env=env) == (0, dry, "")
    assert not (tmp_path / "data" / "memory").exists()
    held = "Mem0 holds 1 constraint of U0ALEX, one memory each, compared with the database.\n"
    done = f"{table}1 new, 0 changed, 0 here already. 1 written.\n{held}"
    assert await run(tmp_path, *script, "--apply", env=env) == (0, done, "")
    (kept,) = await in_mem0(tmp_path / "data")
    assert (kept.user_id, kept.uid, kept.record.name) == ("U0ALEX", "tb_gym", "Gym")
    again = f"From SQLite, constraints of U0ALEX:\n0 new, 0 changed, 1 here already. 0 written.\n{held}"
    assert await run(tmp_path, *script, "--apply", env=env) == (0, again, "")


async def in_mem0(data: Path) -> tuple[Version, ...]:
    """Return the contents of Mem0, read after the process that wrote it has ended."""
    memory = build_memory(read_settings(data_dir=data))
    try:
        return (await memory.list_everything()).versions
    finally:
        await memory.aclose()


async def test_mem0_that_cannot_be_filled_is_said(tmp_path: Path) -> None:
    """The moved rows are safe in the database, and the next run fills Mem0."""
    with_tables(tmp_path / "data")
    mirror_file(tmp_path / "old.db", {"name": "Gym", "hints": '{"uid": "tb_gym"}'})
    arguments = (*PROGRAM, "--source", "sqlite", "--file", "old.db", "--apply")
    (tmp_path / "data" / "memory").mkdir()
    (tmp_path / "data" / "memory" / "qdrant").write_text("a file")
    status, out, err = await run(tmp_path, *arguments)
    assert (status, out.splitlines()[-1]) == (3, "1 new, 0 changed, 0 here already. 1 written.")
    assert err.endswith(
        "What was moved is in the database; Mem0 gets it when the program runs, or with the same command again.\n"
    )
    (tmp_path / "data" / "memory" / "qdrant").unlink()
    assert (await run(tmp_path, *arguments))[0] == 0
    assert [version.uid for version in await in_mem0(tmp_path / "data")] == ["tb_gym"]


async def test_a_program_that_runs_there_fills_mem0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fateforger.app.memory.PATIENCE_SECONDS", 0.0)
    with_tables(tmp_path / "data")
    path = mirror_file(tmp_path / "old.db", {"name": "Gym", "hints": '{"uid": "tb_gym"}'})
    with lock_data_dir(tmp_path / "data"):
        arguments = ("constraints", "migrate", "--source", "sqlite", "--file", str(path), "--apply")
        _, out, _ = await asyncio.to_thread(run_inside, *arguments, "--data-dir", str(tmp_path / "data"))
    assert out.splitlines()[-1] == (
        "The program that runs here is still writing to Mem0; fateforger constraints verify says when it is done."
    )


def test_bad_rows_are_listed_and_skipped(cli: CommandLine) -> None:
    """Each with where and why; the others are moved; the exit status says that something is left."""
    rows = ({"name": "Gym", "hints": '{"uid": "tb_gym"}'}, {"name": "Odd", "status": "GONE", "supersedes": '["tb_old"]'}, {"name": "Old", "hints": '{"uid": "tb_old"}'}, {"user_id": "U0ROBIN"})  # fmt: skip
    path = mirror_file(cli.folder / "old.db", *rows)
    arguments = ("--source", "sqlite", "--file", str(path), "--user", "U0ALEX", "--apply")
    status, out, err = cli.run(*arguments)
    assert (status, without_doubt(err)) == (2, "")
    assert out == (
        "From SQLite, constraints of U0ALEX:\n"
        "                 status    reach     edited      name\n"
        "new      should  locked    profile   2026-01-02  Gym  [tb_gym]\n\n"
        "Cannot be moved as they are:\n"
        "  “Odd” (row 2)\n"
        "      “status” cannot be used: input should be 'locked', 'proposed' or 'declined'. (constraint_record.status)\n"
        "  “Old” (row 3)\n"
        "      “Odd” (row 2) says something newer and cannot be moved yet; without it this would apply.\n\n"
        "1 new, 0 changed, 0 here already, 1 bad, 1 waiting for a bad one, 1 of other people, left alone. 1 written.\n"
        "Mem0 holds 1 constraint of U0ALEX, one memory each, compared with the database.\n"
    )
    told = cli.document(*arguments)
    assert told["counts"] == {
        "new": 0,
        "changed": 0,
        "same": 1,
        "newer_here": 0,
        "bad": 1,
        "waiting": 1,
        "others": 1,
        "written": 0,
    }
    assert [row["outcome"] for row in told["rows"]] == ["same", "bad", "waiting"]


def test_taking_back(cli: CommandLine) -> None:
    path = mirror_file(cli.folder / "old.db", {"name": "Gym", "hints": '{"uid": "tb_gym"}'})
    cli.run("--source", "sqlite", "--file", str(path), "--apply")
    back = ("--source", "sqlite", "--user", "U0ALEX", "--take-back")
    shown = "put away  Gym  [tb_gym]\n"
    would = "1 would be taken back; 0 were changed here since and stay.\nNothing was changed. Add --apply to do it.\n"
    assert cli.run(*back) == (0, f"{shown}{would}", "")
    held = "Mem0 holds 1 constraint of U0ALEX, one memory each, compared with the database.\n"
    assert cli.run(*back, "--apply") == (0, f"{shown}1 taken back; 0 were changed here since and stay.\n{held}", "")
    assert cli.document(*back) == {"user_id": "U0ALEX", "applied": False, "stay": 0, "taken_back": []}


async def test_notion_by_the_command_line(tmp_path: Path) -> None:
    """The token comes from the environment and appears in no output."""
    tb = TbDatabases()
    tb.constraint("Gym", UID="tb_gym")
    with_tables(tmp_path / "data")
    async with notion_server(*tb.tables) as server:
        env = {"NOTION_TOKEN": TOKEN, "FATEFORGER_NOTION_URL": server.url}
        told = await document(tmp_path, "--user", "U0ALEX", "--apply", env=env)
        assert (told["source"], told["counts"]["written"]) == ("Notion", 1)
        assert TOKEN not in json.dumps(told)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--source", "sqlite", "--file", "none.db"), "There is no file none.db; name the SQLite file with --file. (file)"),
        (("--user", "alex@example.com"), "“alex@example.com” is not a Slack id. It looks like U0123ABC: in Slack, your profile, •••, Copy member ID. (user)"),
        (("--user", "U1'--"), "“U1'--” is not a Slack id. It looks like U0123ABC: in Slack, your profile, •••, Copy member ID. (user)"),
        (("--user", "U0ALEX"), "Set NOTION_TOKEN to the token of a Notion integration that may read your databases (docs/notion.md). (notion_token)"),
        (("--file", "old.db", "--user", "U0ALEX"), "--file is for --source sqlite. See fateforger constraints migrate --help."),
        (("--source", "sqlite", "--column", "a=b"), "--database and --column are for --source notion. See fateforger constraints migrate --help."),
        (("--take-back",), "Say whose constraints these are: --take-back needs --user ID, a Slack id like U0123ABC. See fateforger constraints migrate --help."),
        ((), "Say whose constraints these are: Notion needs --user ID, a Slack id like U0123ABC. See fateforger constraints migrate --help."),
    ],
)  # fmt: skip
def test_mistakes_get_one_sentence(cli: CommandLine, arguments: tuple[str, ...], message: str) -> None:
    assert cli.run(*arguments) == (2, "", f"{message}\n")


async def test_progress_is_for_terminals(tmp_path: Path) -> None:
    """A bar on a terminal, and it is gone in the end; nothing into a pipe (as the other tests see)."""
    path = mirror_file(tmp_path / "old.db", *({} for _ in range(3)))
    with_tables(tmp_path / "data")
    ours, theirs = pty.openpty()
    process = await start_program(
        tmp_path, *PROGRAM, "--source", "sqlite", "--file", str(path), "--apply", stderr=theirs
    )
    await process.communicate()
    shown = os.read(ours, 100_000).decode()
    os.close(theirs)
    os.close(ours)
    steps = shown.split("\r")
    assert steps[1] == "reading SQLite 1"
    assert f"writing [{'#' * 30}] 3 of 3" in steps
    assert steps[-1] == ""


async def test_killed_in_between_it_goes_on(tmp_path: Path) -> None:
    """kill -9 while it writes: what was written stays, the next run writes the rest, and nothing twice."""
    total = 1200
    with_tables(tmp_path / "data")
    path = mirror_file(tmp_path / "old.db", *({"hints": f'{{"uid": "tb_{number}"}}'} for number in range(total)))
    arguments = ("--source", "sqlite", "--file", str(path), "--apply")
    database = tmp_path / "data" / "fateforger.db"

    def rows() -> list[str]:
        try:
            with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as db:
                return [uid for (uid,) in db.execute("SELECT uid FROM constraint_version")]
        except sqlite3.OperationalError:
            return []

    environment = {**os.environ, "FATEFORGER_DATA_DIR": str(tmp_path / "data")}
    process = programs().start(COMMAND_LINE, *MIGRATE, *arguments, environment=environment, output=tmp_path / "said")
    async with asyncio.timeout(60):
        while not rows() and process.poll() is None:  # noqa: ASYNC110  a look at another process's file
            await asyncio.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = len(rows())
    assert 0 < before < total
    told = await document(tmp_path, *arguments)
    assert (told["counts"]["same"], told["counts"]["written"]) == (before, total - before)
    assert sorted(rows()) == sorted(f"tb_{number}" for number in range(total))
