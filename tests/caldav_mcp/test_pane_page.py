"""The day pane in a real browser."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, Route, async_playwright, expect
from starlette.applications import Starlette
from starlette.routing import Mount
from tests.caldav_mcp.clients import START, OtherProgram, ToolClient, open_tools
from tests.fakes.asgi_server import serve_app

CHROMIUM = shutil.which("chromium") or ""

pytestmark = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="needs Debian's chromium: apt-get install chromium"),
]

Open = Callable[..., Awaitable[Page]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """Yield one browser for all tests, each of which has pages of its own."""
    async with async_playwright() as playwright:
        expect.set_options(timeout=60_000)
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        await browser.close()


@pytest_asyncio.fixture(loop_scope="module")
async def tools(tmp_path: Path) -> AsyncIterator[ToolClient]:
    async with open_tools(tmp_path) as at_the_tools:
        yield at_the_tools


@pytest_asyncio.fixture(loop_scope="module")
async def other(tools: ToolClient) -> AsyncIterator[OtherProgram]:
    async with OtherProgram(tools.calendar.caldav_url) as program:
        yield program


@pytest_asyncio.fixture(loop_scope="module")
async def open_pane(browser: Browser, tools: ToolClient) -> AsyncIterator[Open]:
    """Open the page at a width of 380 pixels. Anything it says on the console, or asks elsewhere, fails the test."""
    app = Starlette(routes=[Mount("/day", tools.calendar.pane_app)])
    trouble: list[str] = []
    async with serve_app(app, lifespan=False) as base:

        async def open_page(query: str = "", **settings: Any) -> Page:
            page = await browser.new_page(**{"viewport": {"width": 380, "height": 800}, **settings})
            page.on("console", lambda message: trouble.append(message.text))
            page.on("pageerror", lambda error: trouble.append(str(error)))
            page.on("request", lambda r: None if r.url.startswith((base, "data:")) else trouble.append(r.url))
            await page.goto(f"{base}/day/{query}")
            await expect(page.locator("#words")).to_contain_text("20")
            return page

        yield open_page
        for context in browser.contexts:
            await context.close()
    assert trouble == []


async def test_a_day_is_shown(tools: ToolClient, open_pane: Open) -> None:
    await tools.create(summary="<i>Plan</i> & work", description="line 1\nline 2 <b>", location="Desk", colorId="9")
    await tools.create("aaaaa", summary="Fair", start="2027-05-04", end="2027-05-05")
    page = await open_pane("?date=2027-05-04")
    await expect(page.locator("h1")).to_have_text("Tuesday")
    await expect(page.locator(".date p")).to_have_text("4 May 2027Europe/Berlin")
    await expect(page.locator("#all-day li")).to_have_text(["Fair"])
    event = page.locator("#events .event")
    await expect(event).to_have_text(["<i>Plan</i> & work10:00 – 11:00"])
    await event.click()
    details = page.locator("#details")
    await expect(details.locator("h2")).to_have_text("<i>Plan</i> & work")
    await expect(details.locator("#details-when")).to_have_text("Tue 4 May, 10:00 – 11:00 (1 h)")
    await expect(details.locator("#details-where")).to_have_text("Desk")
    assert await details.locator("#details-text").inner_text() == "line 1\nline 2 <b>"
    await page.keyboard.press("Escape")
    await expect(details).to_be_hidden()
    await expect(event).to_be_focused()


async def test_days_are_turned_by_keys_and_buttons(open_pane: Open) -> None:
    page = await open_pane()
    words = page.locator("#words")
    for key, expected in (
        ("ArrowRight", "22 November 2026"),
        ("n", "23 November 2026"),
        ("ArrowLeft", "22 November 2026"),
        ("t", "21 November 2026"),
        ("p", "20 November 2026"),
    ):
        await page.keyboard.press(key)
        await expect(words).to_have_text(expected)
    await page.get_by_role("button", name="Next day").click()
    await expect(words).to_have_text("21 November 2026")
    await expect(page.get_by_role("button", name="Today")).to_be_disabled()


async def test_the_zone_may_be_given(tools: ToolClient, open_pane: Open) -> None:
    await tools.create()
    page = await open_pane("?date=2027-05-04&tz=America/New_York")
    await expect(page.locator("#zone")).to_have_text("America/New York")
    await expect(page.locator("#events .event")).to_have_text(["Plan work04:00 – 05:00"])


async def test_a_write_appears_by_itself_and_the_page_turns_to_it(tools: ToolClient, open_pane: Open) -> None:
    page = await open_pane("?date=2027-05-04")
    await expect(page.locator("#empty")).to_be_visible()
    await tools.create()
    await expect(page.locator("#events .event b")).to_have_text(["Plan work"])
    await expect(page.locator("#events li")).to_have_class("is-fresh")
    await tools.create("aaaaa", summary="Next week", start="2027-05-11T10:00:00", end="2027-05-11T11:00:00")
    await expect(page.locator("#words")).to_have_text("11 May 2027")
    await tools.update("aaaaa", summary="Changed")
    await expect(page.locator("#events .event b")).to_have_text(["Changed"])


async def test_the_page_stays_with_somebody_who_just_turned_it(tools: ToolClient, open_pane: Open) -> None:
    page = await open_pane("?date=2027-05-04")
    await page.keyboard.press("ArrowRight")
    await expect(page.locator("#words")).to_have_text("5 May 2027")
    async with page.expect_response(lambda response: "/events" in response.url):
        await tools.create()
    await expect(page.locator("#words")).to_have_text("5 May 2027")


async def test_a_write_by_another_program_appears_and_does_not_turn_the_page(
    tools: ToolClient, other: OtherProgram, open_pane: Open
) -> None:
    await tools.create("aaaaa", start="2027-06-04T10:00:00", end="2027-06-04T11:00:00")
    page = await open_pane("?date=2027-05-04")
    await other.put("x", "UID:theirs", "SUMMARY:Dentist", "DTSTART:20270504T080000Z", "DURATION:PT1H")
    await expect(page.locator("#events .event b")).to_have_text(["Dentist"])
    await expect(page.locator("#words")).to_have_text("4 May 2027")


async def test_the_line_of_now(tools: ToolClient, open_pane: Open) -> None:
    await tools.create(summary="Earlier", start="2026-11-21T00:30:00", end="2026-11-21T01:00:00")
    page = await open_pane()
    await expect(page.locator("#now")).to_have_text("01:20")
    hour = await page.locator("#hours div").nth(1).evaluate("line => line.offsetTop")
    now = await page.locator("#now").evaluate("line => line.offsetTop")
    assert 0 < now - hour < 62 / 2
    await expect(page.locator("#events li")).to_have_class("row is-past")
    await page.keyboard.press("ArrowRight")
    await expect(page.locator("#now")).to_be_hidden()


async def test_overlapping_events_do_not_cover_each_other(tools: ToolClient, open_pane: Open) -> None:
    for n in range(4):
        await tools.create(f"event{n}", start=f"2027-05-04T10:{n}0:00", end="2027-05-04T12:00:00")
    page = await open_pane("?date=2027-05-04")
    boxes = [await item.bounding_box() for item in await page.locator("#events li").all()]
    edges = [(box["x"], box["x"] + box["width"]) for box in boxes if box]
    assert len(edges) == 4
    assert all(right <= left + 0.5 for (_, right), (left, _) in pairwise(edges))
    assert edges[-1][1] <= 380


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_text_can_be_read_on_every_color(tools: ToolClient, open_pane: Open, scheme: str) -> None:
    """WCAG AA: 4.5 to 1, for events to come and for those that are over."""
    for n in range(12):
        for day, offset in (("2026-11-21", ""), ("2026-11-22", "n")):
            when = {"start": f"{day}T00:30:00", "end": f"{day}T01:00:00"}
            await tools.create(f"event{n:02}{offset}", summary=str(n), **when, **({"colorId": str(n)} if n else {}))
    page = await open_pane(color_scheme=scheme, viewport={"width": 1400, "height": 800})
    for day, past in (("21", 12), ("22", 0)):
        await expect(page.locator("#words")).to_have_text(f"{day} November 2026")
        await expect(page.locator("#events li")).to_have_count(12)
        await expect(page.locator("#events li.is-past")).to_have_count(past)
        ratios = await page.evaluate(CONTRAST)
        assert len(ratios) == 12
        assert min(ratios.values()) >= 4.5, ratios
        await page.keyboard.press("ArrowRight")


CONTRAST = """() => {
  const paint = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (color) => {
    paint.fillStyle = color;
    paint.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...paint.getImageData(0, 0, 1, 1).data].map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = {};
  for (const item of document.querySelectorAll("#events li")) {
    const style = getComputedStyle(item.firstElementChild);
    const [a, b] = [light(style.color), light(style.backgroundColor)].sort((x, y) => y - x);
    found[item.dataset.color] = (a + 0.05) / (b + 0.05);
  }
  return found;
}"""


async def test_a_calendar_that_is_away(browser: Browser, tmp_path: Path) -> None:
    """The page says so, keeps what it knows, and goes on when the calendar is back."""
    async with open_tools(tmp_path) as tools:
        await tools.create(start="2026-11-21T10:00:00", end="2026-11-21T11:00:00")
        assert tools.clock.time == START
        async with serve_app(tools.calendar.pane_app, lifespan=False) as base:
            page = await browser.new_page()
            await page.goto(base)
            await expect(page.locator("#events .event b")).to_have_text(["Plan work"])
            await page.context.set_offline(True)
            await expect(page.locator("#notice")).to_have_text("The calendar does not answer. Trying again …")
            await expect(page.locator("#events .event b")).to_have_text(["Plan work"])
            await page.context.set_offline(False)
            await expect(page.locator("#notice")).to_be_hidden()
            await page.context.close()


async def drag(page: Page, x: float, y: float, by: float) -> None:
    await page.mouse.move(x, y)
    await page.mouse.down()
    for part in (0.5, 1.0):
        await page.mouse.move(x, y + by * part)


async def box_of(event: Locator) -> tuple[float, float, float]:
    """Return the middle of a block, its middle from above, and its lower edge."""
    box = {"height": 0}
    while not box["height"]:  # the page was drawn again after the block was found, which is not in it any more
        box = await event.evaluate("event => event.getBoundingClientRect().toJSON()")
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, box["bottom"]


def times(event: dict[str, Any]) -> tuple[str, str]:
    return event["start"]["dateTime"][11:16], event["end"]["dateTime"][11:16]


async def test_a_block_is_dragged_and_stretched(tools: ToolClient, open_pane: Open) -> None:
    """S258: By the middle it moves, by its lower edge it becomes longer, and Escape puts it back."""
    await tools.create()
    page = await open_pane("?date=2027-05-04")
    event, moved = page.locator("#events .event"), page.locator("#moved")
    x, middle, _ = await box_of(event)
    await drag(page, x, middle, 31)
    await expect(moved).to_have_text("10:30 – 11:30")
    await page.mouse.up()
    await expect(moved).to_have_text("Plan work is at 10:30 – 11:30 now.")
    assert times(await tools.get()) == ("10:30", "11:30")
    await expect(page.locator("#details")).to_be_hidden()
    x, _, edge = await box_of(event)
    await drag(page, x, edge - 3, 15.5)
    await page.mouse.up()
    await expect(moved).to_have_text("Plan work is at 10:30 – 11:45 now.")
    assert times(await tools.get()) == ("10:30", "11:45")
    x, middle, _ = await box_of(event)
    await drag(page, x, middle, 62)
    await page.keyboard.press("Escape")
    await page.mouse.up()
    await expect(event).to_have_text("Plan work10:30 – 11:45")
    assert times(await tools.get()) == ("10:30", "11:45")


async def test_a_block_is_moved_again_at_once(tools: ToolClient, open_pane: Open) -> None:
    """S258: also while the page still reads what the first move changed."""
    await tools.create()
    page = await open_pane("?date=2027-05-04")

    async def delay(route: Route) -> None:
        await asyncio.sleep(0.5)
        await route.continue_()

    await page.route("**/events?*", delay)
    event, moved = page.locator("#events .event"), page.locator("#moved")
    await event.focus()
    for time in ("10:15 – 11:15", "10:30 – 11:30"):
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await expect(moved).to_have_text(f"Plan work is at {time} now.")
    await page.unroute_all(behavior="wait")


async def test_a_block_is_moved_by_keys(tools: ToolClient, open_pane: Open) -> None:
    """S258"""
    await tools.create()
    page = await open_pane("?date=2027-05-04")
    event, moved = page.locator("#events .event"), page.locator("#moved")
    await event.focus()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Alt+ArrowDown")
    await expect(moved).to_have_text("10:20 – 11:20 · Enter keeps it, Escape puts it back")
    await page.keyboard.press("Shift+ArrowDown")
    await page.keyboard.press("Enter")
    await expect(moved).to_have_text("Plan work is at 10:20 – 11:35 now.")
    await expect(event).to_have_text("Plan work10:20 – 11:35")
    await expect(event).to_be_focused()
    assert times(await tools.get()) == ("10:20", "11:35")
    await page.keyboard.press("ArrowUp")
    await page.keyboard.press("Escape")
    await expect(event).to_have_text("Plan work10:20 – 11:35")
    await expect(event).to_be_focused()
    await page.keyboard.press("Shift+ArrowUp")
    await page.locator("#next").focus()
    await expect(moved).to_have_text("Plan work is at 10:20 – 11:20 now.")
    assert times(await tools.get()) == ("10:20", "11:20")


async def test_a_block_that_was_changed_meanwhile_is_not_moved(tools: ToolClient, open_pane: Open) -> None:
    """S258"""
    await tools.create()
    page = await open_pane("?date=2027-05-04")
    event = page.locator("#events .event")
    await event.focus()
    await page.keyboard.press("ArrowDown")
    await tools.update(start="2027-05-04T14:00:00", end="2027-05-04T15:00:00")
    await page.keyboard.press("Enter")
    said = "“Plan work” was changed meanwhile, so it was not moved. This is how it is now."
    await expect(page.locator("#moved")).to_have_text(said)
    await expect(event).to_have_text("Plan work14:00 – 15:00")
    assert times(await tools.get()) == ("14:00", "15:00")
