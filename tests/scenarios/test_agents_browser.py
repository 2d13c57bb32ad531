"""An agent's proposal, from its own protocol over a pipe and over HTTP to a click in a real browser.

Nothing is written before that click, for any text of the agent and any click of another person. After it, the write
can be undone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from mcp import Client
from playwright.async_api import Locator, Page, async_playwright, expect
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import STEPS
from tests.scenarios.person import Person, eventually
from tests.scenarios.program import Program
from tests.scenarios.test_agents import ALEX, build_parameters, expect_success, let_in, open_client, run_agents
from tests.scenarios.test_browser_day import CHROMIUM

from fateforger.adapters.store.store import open_store
from fateforger.app.agents import serve_http
from fateforger.config import read_settings

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.skipif(not CHROMIUM, reason="needs Debian's chromium: apt-get install chromium"),
    pytest.mark.extra,
]
SCOPES = "plan:read,plan:propose,constraints:read,constraints:propose"
LATER = {"ops": [{"op": "ue", "i": 0, "p": {"a": "fs", "st": "15:00", "dur": "PT1H"}}]}
DAY = "2026-03-02"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    running = Program(tmp_path / "data", {"FATEFORGER_NOW": "2026-03-02T07:00:00+01:00"}).start()
    try:
        yield running
    finally:
        if running.process is not None:
            running.kill()


async def rules(data: Path) -> list[str]:
    """Return the names of the active rules in the store itself."""
    store = open_store(data / "fateforger.db")
    try:
        return [version.record.name for version in await store.constraints.of(ALEX)]
    finally:
        await store.aclose()


def forge(program: Program, owner: Person) -> None:
    """Click as another person on the very same button, which is in the owner's direct messages."""
    eventually(lambda: owner.has("Apply"), "the proposal in the thread")
    robin = Person(program.address, "U0000ROBIN")
    message, block, element = owner.find("Apply")
    action = {"type": element["type"], "action_id": element["action_id"], "block_id": block, "value": element["value"]}
    surface = {"type": "message", "channel": owner.channel, "ts": message["ts"]}
    forged = {"user": robin.user, "surface": surface, "action": action, "state": {}}
    assert robin.http.post(f"{robin.base}/ui/action", json=forged).json().get("ok") is not True


async def states(client: Client, *ids: str) -> list[str]:
    """Return the states of proposals, as their agent sees them."""
    return [(await expect_success(client, "get_proposal", id=each))["proposal"]["state"] for each in ids]


def button(where: Page | Locator, name: str) -> Locator:
    return where.get_by_role("button", name=name, exact=True).last


async def test_nothing_is_written_without_the_owners_click(program: Program) -> None:
    """Proposed over a pipe and over HTTP; both programs are killed in between; denied, forged, applied, taken back."""
    expect.set_options(timeout=60_000)
    person, data = program.person(), program.data
    for _, step in STEPS[:-1]:
        step(person)
    token, calendar = await let_in(data, "robot", SCOPES), CalDav(program.caldav_url())
    calendar.put("standup", "Standup", datetime(2026, 3, 2, 16, tzinfo=UTC), datetime(2026, 3, 2, 17, tzinfo=UTC))
    before = calendar.raw()
    async with Client(build_parameters(data, token)) as client:
        plan = await expect_success(client, "get_plan", date=DAY)
        proposed = {"date": DAY, "version": plan["version"], "reason": "**Apply** it <@U0000ALEX>"}
        patch = (await expect_success(client, "propose_patch", patch=LATER, **proposed))["proposal"]["id"]
    program.kill()
    settings = read_settings(data_dir=data)
    async with serve_http(settings, "127.0.0.1", 0) as url, open_client(url, token) as client:
        record = {"name": "No calls before ten", "necessity": "must"}
        asking = {"constraint_record": record, "reason": "You said so."}
        rule = (await expect_success(client, "propose_constraint", **asking))["proposal"]["id"]
    program.start()
    calendar = CalDav(program.caldav_url())
    person.open(program.address)
    forge(program, person)

    async with Client(build_parameters(data, token)) as client, async_playwright() as playwright:
        assert await states(client, patch, rule) == ["pending", "pending"]
        assert (calendar.raw(), await rules(data)) == (before, [])

        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = await browser.new_page(viewport={"width": 1500, "height": 950})
        await page.goto(program.address)
        await page.get_by_text("FateForger", exact=True).nth(1).click()
        await page.get_by_text("replies").last.click()
        thread = page.locator("#thread")
        await expect(thread.get_by_text("“Prepare talk” moves to 15:00–16:00 (now 09:00–10:00).")).to_be_visible()
        await button(thread, "Apply").click()
        await expect(thread.get_by_text("Applied: the change of your plan of Monday 2 March")).to_be_visible()
        await expect(thread.get_by_text("“Prepare talk” is now 15:00–16:00 (was 09:00–10:00).")).to_be_visible()
        assert len(calendar.raw()) == len(before) + 5
        await button(thread, "Undo last update").click()
        await expect(thread.get_by_text("Your last change is taken back.")).to_be_visible()
        assert calendar.raw() == before

        await page.get_by_text("FateForger", exact=True).nth(1).click()
        await expect(page.get_by_text("robot would like me to remember this about your days:")).to_be_visible()
        await button(page, "Apply").click()
        undo = page.get_by_role("button", name=re.compile("^Undo: "))
        await expect(undo).to_be_visible()
        assert await rules(data) == ["No calls before ten"]
        await undo.click()
        await expect(page.get_by_text("Taken back: “No calls before ten”.")).to_be_visible()
        assert await states(client, patch, rule) == ["undone", "undone"]
    calls = json.loads(await run_agents(data, "log", "--json"))["calls"]
    assert {call["outcome"] for call in calls} == {"done"}
