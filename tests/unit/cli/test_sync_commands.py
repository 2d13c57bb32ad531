"""The sync commands as programs see them, each a process of its own, against a server that speaks as google-calendar-mcp
does, and against the embedded calendar."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner
from tests.command_line import run_program
from tests.fakes.google_mcp import Google, GoogleMcp

from fateforger.cli import sync
from fateforger.errors import StoreUnavailable

pytestmark = pytest.mark.process

PLAN: dict[str, Any] = {
    "date": "2026-03-02",
    "tz": "Europe/Berlin",
    "events": [
        {"n": "Deep work", "t": "DW", "p": {"a": "fs", "st": "09:00", "dur": "PT1H"}, "key": "deep"},
        {"n": "Mail", "t": "SW", "p": {"a": "ap", "dur": "PT30M"}, "key": "mail"},
    ],
}
GOLDEN = "fftbegff52j6cp2bel26mcm4218k5kth6t6g"


class CommandLine:
    """Runs ``fateforger sync ...`` with one data directory and one calendar."""

    def __init__(self, folder: Path, *where: str) -> None:
        self.folder = folder
        self.where = where

    def plan(self, document: dict[str, Any]) -> str:
        path = self.folder / "plan.json"
        path.write_text(json.dumps(document))
        return str(path)

    async def sync(self, *arguments: str) -> tuple[int, Any]:
        where = ("--json", "--data-dir", str(self.folder / "data"), *self.where)
        status, out, err = await asyncio.to_thread(run_program, "sync", *arguments, *where)
        assert out, err
        return status, json.loads(out)


@pytest.fixture
async def google() -> AsyncIterator[GoogleMcp]:
    async with GoogleMcp() as server:
        yield server


@pytest.fixture
def cli(tmp_path: Path, google: GoogleMcp) -> CommandLine:
    return CommandLine(tmp_path, "--calendar-url", google.url)


def brief(result: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(op["verb"], op["summary"], op["state"]) for op in result["ops"]]


async def test_diff_apply_again_undo_and_history(cli: CommandLine) -> None:
    """S73, S82, S86, S88, S89, S238: golden id, no second write, undo in a process that never saw the commit."""
    plan = cli.plan(PLAN)
    status, diff = await cli.sync("diff", plan)
    assert (status, diff["status"], diff["transaction"]) == (0, "planned", None)
    assert diff["counts"] == {"create": 2, "update": 0, "delete": 0, "noop": 0, "skip": 0}
    assert diff["ops"][0] == {
        "verb": "create", "event_id": GOLDEN, "key": "deep", "summary": "Deep work", "state": "planned",
        "reason": "It is new in the plan.", "words": "Add “Deep work” 09:00–10:00",
        "changes": {
            "summary": [None, "Deep work"], "description": [None, ""], "color_id": [None, "9"],
            "start": [None, "2026-03-02T09:00:00+01:00"], "end": [None, "2026-03-02T10:00:00+01:00"],
        },
    }  # fmt: skip
    status, applied = await cli.sync("apply", plan)
    assert (status, applied["status"], brief(applied)) == (
        0, "committed", [("create", "Deep work", "applied"), ("create", "Mail", "applied")],
    )  # fmt: skip
    status, again = await cli.sync("apply", plan)
    assert (status, again["status"], again["transaction"]) == (0, "unchanged", None)
    status, undone = await cli.sync("undo", applied["transaction"])
    assert (status, undone["status"], undone["counts"]["delete"]) == (0, "undone", 2)
    status, refused = await cli.sync("undo", applied["transaction"])
    assert (status, refused["error"]["kind"]) == (2, "not_undoable")
    status, history = await cli.sync("history")
    assert [(t["kind"], t["status"], t["undoable"]) for t in history["transactions"]] == [
        ("undo", "committed", True), ("submit", "undone", False),
    ]  # fmt: skip
    assert [(t["title"], t["deeds"], t["state"]) for t in history["transactions"]] == [
        ("Undo from the command line", "2 removed", "done"), ("Written from the command line", "2 added", "taken back"),
    ]  # fmt: skip
    status, redone = await cli.sync("apply", plan)
    assert (status, redone["status"], redone["counts"]["create"]) == (0, "committed", 2)
    assert GOLDEN not in {op["event_id"] for op in redone["ops"]}


async def test_the_history_for_people_has_the_times_of_their_clock(cli: CommandLine) -> None:
    _, applied = await cli.sync("apply", cli.plan(PLAN))
    _, history = await cli.sync("history")
    at = datetime.fromisoformat(history["transactions"][0]["created_at"]).astimezone(ZoneInfo(PLAN["tz"]))
    where = ("--data-dir", str(cli.folder / "data"), *cli.where)
    _, out, _ = await asyncio.to_thread(run_program, "sync", "history", *where)
    assert out.splitlines() == [
        f"{at:%Y-%m-%d %H:%M}  Written from the command line: 2 added, done.  (can be undone)",
        f"  Transaction {applied['transaction']}",
    ]


async def test_the_result_for_people_is_said_once(cli: CommandLine) -> None:
    """S517"""
    plan = cli.plan(PLAN)

    async def say(*arguments: str) -> list[str]:
        where = ("--data-dir", str(cli.folder / "data"), *cli.where)
        _, out, _ = await asyncio.to_thread(run_program, "sync", *arguments, *where)
        return [line for line in out.splitlines() if not line.startswith("Transaction ")]

    blocks = ["“Deep work” 09:00–10:00", "“Mail” 10:00–10:30"]
    assert await say("diff", plan) == [*(f"Add {block}" for block in blocks), "2 to add"]
    assert await say("apply", plan) == [*(f"Added {block}" for block in blocks), "I added 2 blocks to your calendar."]
    for command in ("apply", "diff"):
        assert await say(command, plan) == ["Your calendar is already up to date."]
    removed = "Taken back: I removed 2 blocks from your calendar."
    assert await say("undo") == [*(f"Removed {block}" for block in blocks), removed]


async def test_a_moved_block_is_one_update(cli: CommandLine) -> None:
    """S74, S81: the id stays, only what differs is written, and undo brings back the times."""
    await cli.sync("apply", cli.plan(PLAN))
    moved = {
        **PLAN,
        "events": [PLAN["events"][0], {**PLAN["events"][1], "p": {"a": "fs", "st": "14:00", "dur": "PT30M"}}],
    }
    status, result = await cli.sync("apply", cli.plan(moved))
    (update,) = [op for op in result["ops"] if op["verb"] == "update"]
    assert (status, update["changes"]) == (
        0,
        {
            "start": ["2026-03-02T10:00:00+01:00", "2026-03-02T14:00:00+01:00"],
            "end": ["2026-03-02T10:30:00+01:00", "2026-03-02T14:30:00+01:00"],
        },
    )
    await cli.sync("undo")
    status, diff = await cli.sync("diff", cli.plan(PLAN))
    assert (status, diff["status"]) == (0, "unchanged")


async def test_who_wins_is_asked_and_said_with_keep(cli: CommandLine, google: GoogleMcp) -> None:
    """S201: both moved the second block; it is not written before the person chooses."""
    await cli.sync("apply", cli.plan(PLAN))
    store = google.tools.calendars["primary"].store
    (mail,) = [e for e in store.get_live_events().values() if e.summary == "Mail"]
    store.user_edit(mail.id, start=mail.start + timedelta(hours=5), end=mail.end + timedelta(hours=5))
    moved = {**PLAN["events"][1], "p": {"a": "fs", "st": "14:00", "dur": "PT30M"}}
    plan = cli.plan({**PLAN, "events": [PLAN["events"][0], moved]})
    question = "“Mail”: you moved it to 15:00 on your calendar; the plan has 14:00."
    hint = "Say who wins there with --keep calendar or --keep plan."
    _, diff = await cli.sync("diff", plan)
    assert (diff["status"], diff["sentences"]) == ("unchanged", [question, hint])
    status, result = await cli.sync("apply", plan)
    apart = "Apart from what is yours to choose, your calendar is up to date."
    assert (status, result["status"], result["sentences"]) == (0, "unchanged", [apart, question, hint])
    status, result = await cli.sync("apply", plan, "--keep", "plan")
    assert (status, brief(result)) == (0, [("noop", "Deep work", "skipped"), ("update", "Mail", "applied")])


async def test_a_lost_answer_is_not_written_twice(cli: CommandLine, google: GoogleMcp) -> None:
    """S86, P3: the create took effect and its answer was lost; the probe finds it."""
    google.inject(Google(503, "Service Unavailable"), tool="create-event", applied=True)
    status, result = await cli.sync("apply", cli.plan(PLAN))
    assert (status, result["status"], {op["state"] for op in result["ops"]}) == (0, "committed", {"applied"})
    status, diff = await cli.sync("diff", cli.plan(PLAN))
    assert (status, diff["counts"]["noop"], diff["status"]) == (0, 2, "unchanged")


async def test_a_mass_deletion_waits_for_a_yes(cli: CommandLine, google: GoogleMcp) -> None:
    """P15: nothing is written, and the sentence says how to go ahead."""
    four = [{"n": f"Block {n}", "t": "DW", "p": {"a": "fs", "st": f"{9 + n:02}:00", "dur": "PT45M"}} for n in range(4)]
    await cli.sync("apply", cli.plan({**PLAN, "events": four}))
    empty = cli.plan({**PLAN, "events": []})
    status, stopped = await cli.sync("apply", empty)
    assert (status, stopped["error"]["kind"], stopped["error"]["where"]) == (2, "confirmation_needed", "mass_deletion")
    assert stopped["error"]["message"].endswith("Is that what you want? Say so with --yes.")
    assert google.list_calls("delete-event") == []
    status, done = await cli.sync("apply", empty, "--yes")
    assert (status, done["status"], done["counts"]["delete"]) == (0, "committed", 4)


async def test_a_calendar_that_is_not_there_is_the_world_failing(tmp_path: Path) -> None:
    """Exit status 3 and one sentence; nothing is recorded as written."""
    cli = CommandLine(tmp_path, "--calendar-url", "http://127.0.0.1:9/mcp")
    status, result = await cli.sync("diff", cli.plan(PLAN))
    assert (status, result["error"]["kind"]) == (3, "calendar_unreachable")
    status, history = await cli.sync("history")
    assert (status, history) == (0, {"transactions": []})


async def test_overlapping_blocks_never_reach_the_calendar(cli: CommandLine, google: GoogleMcp) -> None:
    """S67"""
    overlapping = {
        **PLAN,
        "events": [PLAN["events"][0], {**PLAN["events"][1], "p": {"a": "fs", "st": "09:30", "dur": "PT30M"}}],
    }
    status, result = await cli.sync("apply", cli.plan(overlapping))
    assert (status, result["error"]["kind"]) == (2, "plan_invalid")
    assert google.list_calls("create-event") == []


async def test_the_embedded_calendar_needs_no_account(tmp_path: Path) -> None:
    """S237, S241: the local calendar over CalDAV, a new process for each step, undo included."""
    cli = CommandLine(tmp_path)
    status, applied = await cli.sync("apply", cli.plan(PLAN))
    assert (status, applied["status"]) == (0, "committed")
    status, undone = await cli.sync("undo")
    assert (status, undone["status"]) == (0, "undone")
    status, redone = await cli.sync("apply", cli.plan(PLAN))
    assert (status, redone["status"]) == (0, "committed")
    assert [op["event_id"] for op in redone["ops"]] != [op["event_id"] for op in applied["ops"]]


async def test_a_result_is_shown_though_no_thread_can_be_told(
    cli: CommandLine, google: GoogleMcp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S450: the calendar is written by then, so a store that fails later only causes a note."""

    async def fail(*_: object) -> None:
        raise StoreUnavailable("The database does not answer.")

    monkeypatch.setattr(sync, "_refresh_plans", fail)
    where = ["--json", "--data-dir", str(cli.folder / "data"), *cli.where]
    arguments = ["apply", cli.plan(PLAN), "--yes", *where]
    done = await asyncio.to_thread(CliRunner().invoke, sync.sync_command, arguments)
    assert (done.exit_code, json.loads(done.stdout)["status"]) == (0, "committed"), done.output
    assert "show this once their calendar is read again. The database does not answer." in done.stderr
    assert google.tools.calendars["primary"].store.get_live_events()
