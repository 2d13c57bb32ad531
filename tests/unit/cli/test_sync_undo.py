"""``fateforger sync undo`` in any order, each command a process of its own (K13)."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.command_line import COMMAND_LINE, programs, run_program
from tests.fakes.google_mcp import ConcurrentChange, Google, GoogleMcp
from tests.unit.cli.test_sync_commands import CommandLine

pytestmark = pytest.mark.process

NAMES = {"a": "Alpha", "b": "Beta", "c": "Gamma"}
ALONG = "This also took back later writes: {} made from the command line."
Day = dict[str, str]
"""The start of each block, by its key."""


@pytest.fixture
async def google() -> AsyncIterator[GoogleMcp]:
    async with GoogleMcp() as server:
        yield server


@pytest.fixture
def cli(tmp_path: Path, google: GoogleMcp) -> CommandLine:
    return CommandLine(tmp_path, "--calendar-url", google.url)


def plan_of(day: Day, tz: str = "Europe/Berlin") -> dict[str, Any]:
    blocks = [
        {"n": NAMES[key], "t": "DW", "key": key, "p": {"a": "fs", "st": start, "dur": "PT1H"}}
        for key, start in day.items()
    ]
    return {"date": "2027-03-04", "tz": tz, "events": blocks}


async def apply(cli: CommandLine, day: Day) -> str:
    """Apply a plan; return its transaction."""
    status, result = await cli.sync("apply", cli.plan(plan_of(day)), "--yes")
    assert (status, result["status"]) == (0, "committed"), result
    return str(result["transaction"])


async def undo(cli: CommandLine, *arguments: str) -> list[str]:
    """Undo, whole; return its sentences."""
    status, result = await cli.sync("undo", *arguments)
    assert (status, result["status"]) == (0, "undone"), result
    return list(result["sentences"])


def read_calendar(google: GoogleMcp) -> Day:
    """Return the starts of the blocks that are on the calendar now."""
    store, keys = google.tools.calendars["primary"].store, {name: key for key, name in NAMES.items()}
    berlin = ZoneInfo("Europe/Berlin")
    starts = {keys[e.summary]: e.start for e in store.get_live_events().values()}
    return {k: f"{start.astimezone(berlin):%H:%M}" for k, start in starts.items() if isinstance(start, datetime)}


async def states(cli: CommandLine) -> list[tuple[str, bool]]:
    _, history = await cli.sync("history")
    return [(t["state"], t["undoable"]) for t in reversed(history["transactions"])]


@pytest.mark.core
async def test_an_older_write_goes_with_the_newer_ones(cli: CommandLine, google: GoogleMcp) -> None:
    """K13: nothing is left over, our later writes are not the person's edits, and the history is true."""
    first = await apply(cli, {"a": "09:00", "b": "10:00"})
    await apply(cli, {"a": "13:00", "b": "14:00"})
    await apply(cli, {"a": "15:00", "b": "17:00", "c": "11:00"})
    sentences = await undo(cli, first)
    assert (sentences, read_calendar(google)) == (
        ["Taken back: I removed 3 blocks from your calendar.", ALONG.format("2")],
        {},
    )
    assert await states(cli) == [("taken back", False)] * 3 + [("done", True)]
    status, refused = await cli.sync("undo")
    assert (status, refused["error"]["message"]) == (2, "There is nothing to undo.")
    status, refused = await cli.sync("undo", first)
    assert (status, refused["error"]["message"]) == (2, "That was undone already.")


async def test_a_write_in_the_middle_goes_with_the_one_after_it(cli: CommandLine, google: GoogleMcp) -> None:
    """K13: the next plan is then written as it is, with no question and no change that the person never made."""
    await apply(cli, {"a": "09:00"})
    second = await apply(cli, {"a": "12:00"})
    await apply(cli, {"a": "13:00"})
    assert await undo(cli, second) == [
        "Taken back: I changed 1 block on your calendar.",
        ALONG.format("1"),
    ]
    assert read_calendar(google) == {"a": "09:00"}
    status, again = await cli.sync("apply", cli.plan(plan_of({"a": "09:00"})))
    assert (status, again["sentences"]) == (0, ["Your calendar is already up to date."])
    await apply(cli, {"a": "15:00"})
    assert read_calendar(google) == {"a": "15:00"}


async def test_an_undo_is_done_again_with_what_came_after_it(cli: CommandLine, google: GoogleMcp) -> None:
    """K13: *Restore* goes back to before that undo, and each write can be taken back from there."""
    await apply(cli, {"a": "09:00"})
    second = await apply(cli, {"a": "12:00", "b": "10:00"})
    status, undone = await cli.sync("undo", second)
    assert (status, undone["took_back"]) == (0, [second])
    await apply(cli, {"a": "15:00", "c": "11:00"})
    assert await undo(cli, undone["transaction"]) == [
        "Done again: I added 1 block, changed 1 block and removed 1 block on your calendar.",
        ALONG.format("1"),
    ]
    assert read_calendar(google) == {"a": "12:00", "b": "10:00"}
    assert await states(cli) == [
        ("done", True),
        ("done", True),
        ("done again", False),
        ("taken back", False),
        ("done", True),
    ]
    for left in ({"a": "09:00"}, {}):
        await undo(cli)
        assert read_calendar(google) == left


async def kill_program(cli: CommandLine, google: GoogleMcp, number: int, tool: str, nth: int, *arguments: str) -> None:
    """Send the program a signal when the calendar has carried out its ``nth`` call (from 1) of a tool."""
    where = ("--data-dir", str(cli.folder / "data"), *cli.where)
    output = cli.folder / "killed"
    fork = programs().start(COMMAND_LINE, "sync", *arguments, *where, environment=os.environ, output=output)
    if nth > 1:
        google.inject(ConcurrentChange(lambda: None), tool=tool, applied=True, times=nth - 1)
    google.inject(ConcurrentChange(lambda: fork.send_signal(number)), tool=tool, applied=True)
    status = await asyncio.to_thread(fork.wait)
    assert status == {signal.SIGKILL: -signal.SIGKILL, signal.SIGINT: 130}[signal.Signals(number)], output.read_text()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.parametrize(("tool", "nth"), [("delete-event", 1), ("delete-event", 2), ("list-events", 2)])
async def test_a_killed_undo_is_finished_and_no_other(
    cli: CommandLine, google: GoogleMcp, number: int, tool: str, nth: int
) -> None:
    """K13: ``kill -9`` and Ctrl-C while it deletes, and while it looks whether all is gone."""
    await apply(cli, {"a": "09:00"})
    await apply(cli, {"a": "09:00", "b": "10:00", "c": "11:00"})
    await kill_program(cli, google, number, tool, nth, "undo")
    sentences = await undo(cli)
    assert sentences[0].startswith("Finished the undo that began at ")
    assert read_calendar(google) == {"a": "09:00"}
    assert await states(cli) == [("done", True), ("taken back", False), ("done", True)]
    await undo(cli)
    assert read_calendar(google) == {}


async def test_a_killed_apply_typed_again_needs_one_undo(cli: CommandLine, google: GoogleMcp) -> None:
    """K13: and its first half is no commit of its own."""
    await apply(cli, {"a": "09:00"})
    wanted = {"a": "12:00", "b": "10:00", "c": "11:00"}
    plan = cli.plan(plan_of(wanted))
    await kill_program(cli, google, signal.SIGKILL, "create-event", 1, "apply", plan)
    status, result = await cli.sync("apply", plan)
    assert (status, result["status"], read_calendar(google)) == (0, "committed", wanted)
    assert result["sentences"][0].startswith("Finished the write that began at ")
    await undo(cli)
    assert read_calendar(google) == {"a": "09:00"}
    await undo(cli)
    assert read_calendar(google) == {}


async def test_a_day_in_another_zone_is_one_day(cli: CommandLine, google: GoogleMcp) -> None:
    """K13: writes of one day in two zones are taken back as one, in their order."""
    first = await apply(cli, {"a": "09:00"})
    for start, tz in (("12:00", "Europe/London"), ("15:00", "Europe/Berlin")):
        status, result = await cli.sync("apply", cli.plan(plan_of({"a": start}, tz)))
        assert (status, result["status"]) == (0, "committed")
    assert await undo(cli, first) == [
        "Taken back: I removed 1 block from your calendar.",
        ALONG.format("2"),
    ]
    assert read_calendar(google) == {}


async def test_a_create_that_arrives_after_its_undo_is_removed(cli: CommandLine, google: GoogleMcp) -> None:
    """P4, K13: Google carries it out long after the program gave up; the next read finds it, in any command."""
    await apply(cli, {"a": "09:00"})
    google.inject(Google(503, "Service Unavailable"), tool="create-event", times=4)
    both = cli.plan(plan_of({"a": "12:00", "b": "10:00"}))
    status, result = await cli.sync("apply", both)
    assert (status, result["status"]) == (3, "partial")
    await undo(cli)
    google.tools.call("create-event", google.list_calls("create-event")[-1])
    assert read_calendar(google) == {"a": "09:00", "b": "10:00"}
    late = "“Beta” reached your calendar late, after you had taken it back."
    _, diff = await cli.sync("diff", cli.plan({**plan_of({}), "date": "2027-03-11"}))
    assert diff["sentences"] == [f"{late} The next apply or undo removes what you have not changed."]
    assert await undo(cli) == ["Taken back: I removed 1 block from your calendar.", f"{late} I removed it."]
    assert read_calendar(google) == {"a": "09:00"}
    await undo(cli)
    assert read_calendar(google) == {}


async def test_each_thing_is_said_once(cli: CommandLine, google: GoogleMcp, tmp_path: Path) -> None:
    """S474: lines are about writes; what was left as it is, and why, is in the sentences alone."""
    store = google.tools.calendars["primary"].store

    async def run(*arguments: str) -> list[str]:
        where = ("--data-dir", str(tmp_path / "data"), *cli.where)
        _, out, _ = await asyncio.to_thread(run_program, "sync", *arguments, *where)
        return [line for line in out.splitlines() if not line.startswith("Transaction ")]

    await apply(cli, {"a": "09:00", "b": "10:00", "c": "11:00"})
    for event in store.get_live_events().values():
        if event.summary == "Alpha":
            store.user_edit(event.id, extras={"location": "Room 5"})
    assert await run("apply", cli.plan(plan_of({"c": "12:00"})), "--yes") == [
        "Moved “Gamma” from 11:00 to 12:00",
        "Removed “Beta” 10:00–11:00",
        "I changed 1 block and removed 1 block on your calendar.",
        "“Alpha”: It is no longer in the plan, but you added a place on your calendar, so I left it to you.",
    ]
    await run("undo")
    assert await run("undo") == [
        "Removed “Beta” 10:00–11:00",
        "Removed “Gamma” 11:00–12:00",
        "Taken back: I removed 2 blocks from your calendar.",
        "I left “Alpha” on your calendar: you added a place.",
    ]
