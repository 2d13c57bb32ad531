"""``fateforger sync`` and what a login may ask of Google: processes in a row and at once, each with nothing but the
database in common."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from bisect import bisect_left
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import programs
from tests.contracts.stores import new_file
from tests.fakes.google_mcp import GoogleMcp
from tests.fakes.google_store import GoogleStore
from tests.fakes.google_tools import OneCalendar
from tests.unit.cli.limited_commands import SHORT, SMALL

pytestmark = pytest.mark.process
HERE = "tests.unit.cli.limited_commands"


@pytest.fixture
async def google() -> AsyncIterator[GoogleMcp]:
    async with GoogleMcp() as server:
        yield server


def plan(blocks: int, notes: str) -> dict[str, Any]:
    """Return a plan of half-hour blocks from eight, all with the same notes."""
    starts = [f"{8 + n // 2:02d}:{30 * (n % 2):02d}" for n in range(blocks)]
    events = [
        {"n": f"Block {n}", "t": "DW", "d": notes, "key": f"k{n}", "p": {"a": "fs", "st": start, "dur": "PT30M"}}
        for n, start in enumerate(starts)
    ]
    return {"date": "2026-03-02", "tz": "Europe/Berlin", "events": events}


async def sync(
    call: str, folder: Path, *arguments: str, environment: dict[str, str] | None = None
) -> tuple[int, str, str]:
    """Run one command in a process of its own and return its status, output and errors."""
    run = uuid.uuid4().hex
    out, err = folder / f"out-{run}", folder / f"err-{run}"
    given = {**os.environ, "FATEFORGER_DATA_DIR": str(folder / "data"), **(environment or {})}
    fork = programs().start(f"{HERE}:{call}", "sync", *arguments, environment=given, output=out, errors=err)
    status = await asyncio.to_thread(fork.wait)
    return status, out.read_text(), err.read_text()


def most_in_a_window(log: Sequence[float], seconds: float) -> int:
    """Return the most requests that arrived in any window of that many seconds."""
    return max(bisect_left(log, at + seconds) - n for n, at in enumerate(log))


async def test_commands_in_a_row_share_one_limit(google: GoogleMcp, tmp_path: Path) -> None:
    """P18: each rewrites the notes of 17 blocks, which takes 53 requests; each is a process of its own."""
    for number in range(3):
        file = tmp_path / f"plan{number}.json"
        file.write_text(json.dumps(plan(17, f"notes {number}")))
        status, out, err = await sync(
            "with_a_small_limit", tmp_path, "apply", str(file), "--json", "--calendar-url", google.url
        )
        assert (status, json.loads(out)["status"]) == (0, "committed"), err
    (shown,) = {image.description for image in google.tools.calendars["primary"].store.get_live_events().values()}
    assert shown == "notes 2"
    assert len(google.tools.log) >= 19 + 2 * 53
    assert most_in_a_window(google.tools.log, SMALL.seconds) <= SMALL.requests


@pytest.mark.parametrize("where", ["file", "postgres"])
async def test_commands_at_once_share_one_limit(
    where: str, google: GoogleMcp, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """P18: four programs on one database, as replicas are, each with a calendar of its own."""
    database = request.getfixturevalue("postgres") if where == "postgres" else f"sqlite:///{new_file(tmp_path)}"
    (tmp_path / "plan.json").write_text(json.dumps(plan(30, "")))

    async def apply(number: int) -> int:
        folder = tmp_path / f"replica{number}"
        folder.mkdir()
        google.tools.calendars[f"c{number}@example.com"] = OneCalendar(GoogleStore())
        status, out, err = await sync(
            "with_a_small_limit",
            folder,
            *("apply", str(tmp_path / "plan.json"), "--json", "--calendar-url", google.url),
            *("--calendar-id", f"c{number}@example.com", "--account", "normal"),
            environment={"FATEFORGER_DATABASE_URL": database},
        )
        assert status == 0, out + err
        return status

    assert await asyncio.gather(*map(apply, range(4))) == [0] * 4
    assert len(google.tools.log) >= 4 * 32
    assert most_in_a_window(google.tools.log, SMALL.seconds) <= SMALL.requests


@pytest.mark.parametrize("command", ["diff", "apply"])
async def test_a_command_that_waits_says_so(command: str, google: GoogleMcp, tmp_path: Path) -> None:
    """S238: on standard error; the output is one document all the same."""
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan(2, "")))
    status, out, err = await sync(
        "with_a_busy_login", tmp_path, command, str(file), "--json", "--calendar-url", google.url
    )
    assert (status, json.loads(out)["counts"]["create"]) == (0, 2), err
    assert f"Waiting {SHORT.seconds:g} s: Google allows 200 requests a minute.\n" in err


async def test_an_undo_of_a_whole_day_takes_two_requests_a_block(google: GoogleMcp, tmp_path: Path) -> None:
    """S82: and none of them is a look that is thrown away."""
    file = tmp_path / "plan.json"
    document = plan(40, "")
    for n, event in enumerate(document["events"]):
        event["p"] = {"a": "fs", "st": f"{8 + n // 6:02d}:{n % 6}0", "dur": "PT10M"}
    file.write_text(json.dumps(document))
    for command, requests in (("apply", 1 + 40 + 1), ("undo", 1 + 2 * 40 + 1)):
        before = google.tools.spent
        more = (str(file),) if command == "apply" else ()
        status, _, err = await sync("command_line", tmp_path, command, *more, "--json", "--calendar-url", google.url)
        assert (status, google.tools.spent - before, "aiting" in err) == (0, requests, False)
    assert google.tools.calendars["primary"].store.get_live_events() == {}
