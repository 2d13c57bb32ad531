"""A person can read what agents did for them: on App Home and on the command line, in plain words."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

from tests.factories.agents import NOW, Agents
from tests.factories.inside import run_inside
from tests.unit.conversation.person import ANNA, Harness, Person

from fateforger.adapters.store.store import open_store
from fateforger.agents.clients import UNKNOWN_TOOL, Call
from fateforger.agents.server import TOOLS
from fateforger.session.cards import Heading, Prose
from fateforger.ui.logs import CALLED, LOOKED_AT, build_log_parts, describe_call


def test_each_tool_has_its_words() -> None:
    assert set(CALLED) == {*TOOLS, UNKNOWN_TOOL}


def test_a_call_in_words() -> None:
    call = Call(client="robot", user_id=ANNA, tool="propose_patch", asked="date=2026-03-02", at=NOW)
    words = "Monday 2 March at 08:00: robot proposed a change of a plan"
    assert describe_call(call, "Europe/Amsterdam") == f"{words} (not finished)"
    for outcome, about, said in (
        ("done", "12ab", "done, `12ab`"),
        ("done", "", "done"),
        ("refused", "bad_input", "refused"),
        ("failed", "KeyError", "failed"),
    ):
        done = call.model_copy(update={"outcome": outcome, "about": about})
        assert describe_call(done, "Europe/Amsterdam") == f"{words} ({said})"
    other = call.model_copy(update={"tool": "unknown"})
    assert "robot tried something that I don't offer" in describe_call(other, "UTC")
    assert build_log_parts((), "UTC") == ()


def test_what_was_not_looked_at_is_not_counted() -> None:
    calls = [Call(client="robot", user_id=ANNA, tool="list_tasks", asked="", at=NOW)] * LOOKED_AT
    lines = [part.text for part in build_log_parts(calls, "UTC") if isinstance(part, Prose)]
    assert lines == ["- Monday 2 March at 07:00: robot read your queue (not finished)"]


async def test_app_home_shows_what_was_done_for_that_person(harness: Harness, anna: Person) -> None:
    agents = Agents(harness.store, harness.clock)
    await anna.to_refine()
    titles = [part.text for part in (await harness.coordinator.home(ANNA)).parts if isinstance(part, Heading)]
    assert "What other agents did for you" not in titles
    await agents.let_in()
    await agents.let_in("other", user_id="U_BEN")
    await agents.expect_success("create_task", {"title": "See the doctor"})
    await agents.expect_success("list_tasks")
    await agents.expect_success("list_tasks")
    await agents.expect_success("list_tasks", name="other")
    home = "\n".join(part.text for part in (await harness.coordinator.home(ANNA)).parts if hasattr(part, "text"))
    assert "- Monday 2 March at 08:00: robot put a task into your queue (done)" in home
    assert home.count("robot read your queue (done, 2 times that day)") == home.count("robot read your queue") == 1
    assert "other read your queue" not in home


async def test_the_command_line_lists_it(tmp_path: Path) -> None:
    store = open_store(tmp_path / "fateforger.db")
    agents = Agents(store)
    await agents.let_in()
    await agents.let_in("other", user_id="U_BEN")
    await agents.expect_success("create_task", {"title": "See the doctor"})
    await agents.expect_success("list_tasks", name="other")
    await store.aclose()

    async def log(*more: str) -> str:
        status, out, err = await asyncio.to_thread(run_inside, "mcp", "log", *more, "--data-dir", str(tmp_path))
        assert status == 0, err
        return out

    assert await log("--user", ANNA) == (
        "Monday 2 March at 07:00: robot put a task into your queue (done)\n       create_task for U_ANNA: title\n"
    )
    calls: list[dict[str, Any]] = json.loads(await log("--json"))["calls"]
    assert [call["client"] for call in calls] == ["other", "robot"]
    assert "doctor" not in json.dumps(calls)
