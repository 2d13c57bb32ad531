"""The workspace's page in a real Chromium, with a small Bolt app behind it: what a person sees, presses and types."""

from __future__ import annotations

import asyncio
import contextlib
import re
import shutil
import struct
import zlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, Route, ViewportSize, async_playwright, expect
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_sdk.web.async_client import AsyncWebClient
from tests.localslack.workspace_server import Running, running, until
from tests.localslack.workspaces import (
    ALEX,
    APP_TOKEN,
    BOT_TOKEN,
    DM,
    Json,
    actions,
    button,
    home,
    modal,
    option,
    plain,
    section,
    text_input,
)

import localslack as package

CHROMIUM = shutil.which("chromium") or ""
STATIC = Path(package.__file__).parent / "static"
WIDE = ViewportSize(width=1500, height=950)
PHONE = ViewportSize(width=390, height=844)

browsing = [
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.browser,
    pytest.mark.skipif(not CHROMIUM, reason="needs Debian's chromium: apt-get install chromium"),
]


def in_browser(test: Any) -> Any:
    for mark in browsing:
        test = mark(test)
    return test


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """Yield one Chromium for all tests here; each test opens a fresh context in it."""
    expect.set_options(timeout=60_000)
    async with async_playwright() as playwright:
        launched = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        await launched.close()


@dataclass
class Tab:
    """A served workspace, the app connected to it and a person's page."""

    served: Running
    client: AsyncWebClient
    page: Page
    seen: list[Json] = field(default_factory=list)

    @property
    def composer(self) -> Locator:
        return self.page.locator("#composer")

    async def post(self, *blocks: Json, text: str = "board", **more: Any) -> str:
        """Post as the app; returns the ts."""
        posted = await self.client.chat_postMessage(channel=DM, text=text, blocks=list(blocks), **more)
        return str(posted["ts"])


Listen = Callable[[AsyncApp, Tab], None]


def app_of(served: Running) -> AsyncApp:
    return AsyncApp(client=AsyncWebClient(token=BOT_TOKEN, base_url=f"{served.url}/api/"), signing_secret="unused")


@contextlib.asynccontextmanager
async def app_on(served: Running, app: AsyncApp) -> AsyncIterator[None]:
    handler = AsyncSocketModeHandler(app, APP_TOKEN, ping_interval=0.5)
    try:
        await handler.connect_async()  # type: ignore[no-untyped-call]  # slack-bolt leaves it so
        await until(lambda: served.workspace.hub.connected)
        yield
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]  # slack-bolt leaves it so


def nothing(_app: AsyncApp, _tab: Tab) -> None:
    """Do not add any listeners."""


@contextlib.asynccontextmanager
async def open_tab(folder: Path, browser: Browser, listen: Listen = nothing, **screen: Any) -> AsyncIterator[Tab]:
    """Run everything and open the page; at the end no script on the page may have failed."""
    async with running(folder) as served:
        app = app_of(served)
        context = await browser.new_context(**({"viewport": WIDE} | screen))
        tab = Tab(served, app.client, await context.new_page())
        mistakes: list[str] = []
        tab.page.on("pageerror", lambda mistake: mistakes.append(str(mistake)))
        listen(app, tab)
        acknowledge_the_rest(app)
        async with app_on(served, app):
            await tab.page.goto(served.url)
            await expect(tab.composer).to_be_visible()
            yield tab
            await context.close()
    assert mistakes == []


def acknowledge_the_rest(app: AsyncApp) -> None:
    """Acknowledge all events that the test does not handle; Bolt asks the first listener that fits."""

    @app.event(re.compile(".*"))
    async def take() -> None: ...


def note_actions(*action_ids: str) -> Listen:
    def listen(app: AsyncApp, tab: Tab) -> None:
        for action_id in action_ids:

            @app.action(action_id)
            async def note(ack: AsyncAck, action: Json) -> None:
                await ack()
                tab.seen.append(action)

    return listen


@in_browser
async def test_messages_and_threaded_replies_appear_live(tmp_path: Path, browser: Browser) -> None:
    def listen(app: AsyncApp, _tab: Tab) -> None:
        @app.event("message")
        async def answer(event: Json, client: AsyncWebClient) -> None:
            if "thread_ts" not in event:
                await client.chat_postMessage(channel=DM, thread_ts=event["ts"], text=f"Re: {event['text']}")

    async with open_tab(tmp_path, browser, listen) as tab:
        await tab.composer.fill("plan my day")
        await tab.composer.press("Enter")
        await expect(tab.page.locator("#messages .message .content")).to_have_text(["plan my day"])
        await expect(tab.page.locator("#thread .message .content")).to_have_text(["plan my day", "Re: plan my day"])
        reply = tab.page.locator("#thread-composer")
        await reply.fill("thank you")
        await reply.press("Enter")
        await expect(tab.page.locator("#thread .message .content")).to_have_text(
            ["plan my day", "Re: plan my day", "thank you"]
        )
        await expect(tab.page.locator(".thread-summary .count")).to_have_text("2 replies")
        [parent] = await tab.served.messages()
        assert [m["text"] for m in await tab.served.messages(thread_ts=parent["ts"])][2] == "thank you"


@in_browser
async def test_an_empty_conversation_begins_with_the_apps_shortcut(tmp_path: Path, browser: Browser) -> None:
    """The big button is the global shortcut and not the command of the hint below; pressed twice at once it counts once."""

    def listen(app: AsyncApp, tab: Tab) -> None:
        @app.shortcut("plan_day")
        async def note(ack: AsyncAck, shortcut: Json, client: AsyncWebClient) -> None:
            await ack()
            tab.seen.append(shortcut)
            await client.chat_postMessage(channel=DM, text="Shall we?")

    async with open_tab(tmp_path, browser, listen) as tab:
        start = tab.page.get_by_role("button", name="Plan my day", exact=True)
        await expect(start).to_have_count(1)
        await expect(start).to_have_class(re.compile(r"\bprimary\b"))
        await expect(tab.page.locator(".opening-commands")).to_have_text("/timebox Plan a day")
        await start.dblclick()
        await expect(tab.page.locator("#messages .message .content")).to_have_text(["Shall we?"])
        assert [shortcut["callback_id"] for shortcut in tab.seen] == ["plan_day"]


@in_browser
@pytest.mark.parametrize("hand", ["mouse", "space"])
async def test_what_is_held_down_while_a_message_comes_in_is_pressed(
    tmp_path: Path, browser: Browser, hand: str
) -> None:
    """The big button goes away with the first message: not under the finger."""

    def listen(app: AsyncApp, tab: Tab) -> None:
        @app.shortcut("plan_day")
        async def note(ack: AsyncAck, shortcut: Json) -> None:
            await ack()
            tab.seen.append(shortcut)

    async with open_tab(tmp_path, browser, listen) as tab:
        came: list[str] = []
        tab.page.on("websocket", lambda wire: wire.on("framereceived", lambda frame: came.append(str(frame))))
        await tab.page.reload()
        start = tab.page.get_by_role("button", name="Plan my day", exact=True)
        await (start.hover() if hand == "mouse" else start.focus())
        await (tab.page.mouse.down() if hand == "mouse" else tab.page.keyboard.down(" "))
        await tab.post(section("Good morning"))
        await until(lambda: any("Good morning" in frame for frame in came))
        await tab.page.evaluate("() => new Promise(requestAnimationFrame)")
        await expect(start).to_be_visible()
        await (tab.page.mouse.up() if hand == "mouse" else tab.page.keyboard.up(" "))
        await expect(tab.page.locator("#messages .message .content")).to_have_text(["Good morning"])
        await until(lambda: bool(tab.seen))
        assert [shortcut["callback_id"] for shortcut in tab.seen] == ["plan_day"]


@in_browser
async def test_a_picture_that_comes_late_moves_nothing(tmp_path: Path, browser: Browser) -> None:
    """A button that moves between its press and its release is not clicked."""
    size = (520, 300)
    png = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in (
            (b"IHDR", struct.pack(">IIBBBBB", *size, 8, 0, 0, 0, 0)),
            (b"IDAT", zlib.compress(size[1] * (b"\0" + size[0] * b"\xcc"))),
            (b"IEND", b""),
        )
    )
    async with open_tab(tmp_path, browser) as tab:
        loads = asyncio.Event()

        async def late(route: Route) -> None:
            await loads.wait()
            await route.continue_()

        await tab.page.route("**/files/*", late)
        upload = await tab.client.files_getUploadURLExternal(filename="day.png", length=len(png))
        async with httpx.AsyncClient() as http:
            await http.post(str(upload["upload_url"]), content=png)
        await tab.client.files_completeUploadExternal(files=[{"id": str(upload["file_id"])}])
        picture = {"type": "image", "slack_file": {"id": upload["file_id"]}, "alt_text": "My day"}
        await tab.post(picture, actions(button("go")))
        press = tab.page.get_by_role("button", name="Go", exact=True)
        await expect(press).to_be_visible()
        before = await press.bounding_box()
        shown = tab.page.get_by_role("img", name="My day")
        assert await shown.evaluate("image => [image.complete, image.clientHeight]") == [False, size[1]]
        loads.set()
        await expect(shown).to_have_js_property("naturalHeight", size[1])
        assert await press.bounding_box() == before


@in_browser
async def test_a_button_is_pending_and_a_double_click_counts_once(tmp_path: Path, browser: Browser) -> None:
    def listen(app: AsyncApp, tab: Tab) -> None:
        @app.action("go")
        async def work(ack: AsyncAck, action: Json, body: Json, client: AsyncWebClient) -> None:
            await ack()
            tab.seen.append(action)
            await expect(tab.page.get_by_role("button", name="Go")).to_have_attribute("aria-busy", "true")
            await client.chat_update(channel=DM, ts=body["message"]["ts"], text="done", blocks=[section("All done")])

    async with open_tab(tmp_path, browser, listen) as tab:
        await tab.post(actions(button("go", value="42"), block_id="board"))
        await tab.page.get_by_role("button", name="Go").dblclick()
        await expect(tab.page.get_by_text("All done")).to_be_visible()
        await expect(tab.page.get_by_role("button", name="Go")).to_have_count(0)
        assert [(action["action_id"], action["value"]) for action in tab.seen] == [("go", "42")]


@in_browser
async def test_choices_dates_and_times_reach_the_app(tmp_path: Path, browser: Browser) -> None:
    async with open_tab(tmp_path, browser, note_actions("kind", "day", "start")) as tab:
        page = tab.page
        await tab.post(
            actions(
                {
                    "type": "static_select",
                    "action_id": "kind",
                    "placeholder": plain("Kind"),
                    "options": [option("deep"), option("shallow")],
                },
                {"type": "datepicker", "action_id": "day", "initial_date": "2026-11-02"},
                {"type": "timepicker", "action_id": "start", "placeholder": plain("Start")},
                block_id="board",
            )
        )
        await page.get_by_role("combobox", name="Kind").click()
        await page.get_by_role("option", name="Shallow").click()
        await until(lambda: len(tab.seen) == 1)
        await page.locator("input[type=date]").fill("2026-11-05")
        await page.locator("input[type=date]").press("Enter")
        await until(lambda: len(tab.seen) == 2)
        await page.get_by_role("combobox", name="Start").fill("0930")
        await page.get_by_role("combobox", name="Start").press("Enter")
        await until(lambda: len(tab.seen) == 3)
        assert tab.seen[0]["selected_option"] == option("shallow")
        assert [tab.seen[1]["selected_date"], tab.seen[2]["selected_time"]] == ["2026-11-05", "09:30"]
        await expect(page.get_by_role("combobox", name="Kind")).to_have_text("Shallow")


def a_form(*more: Json) -> Json:
    minutes = {"type": "number_input", "action_id": "value", "is_decimal_allowed": False}
    return modal(
        text_input(),
        {**text_input("minutes", element=minutes), "label": plain("Minutes")},
        actions(button("more"), block_id="grow"),
        *more,
    )


def form_app(app: AsyncApp, tab: Tab) -> None:
    """Open a form, let it grow, refuse the title “taken” and accept any other."""

    @app.action("open")
    async def open_form(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.views_open(trigger_id=body["trigger_id"], view=a_form())

    @app.action("more")
    async def grow(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
        await ack()
        await client.views_update(view_id=body["view"]["id"], view=a_form(section("One more line")))

    @app.view("form")
    async def handle_submit(ack: AsyncAck, view: Json) -> None:
        values = {block: entry["value"]["value"] for block, entry in view["state"]["values"].items()}
        tab.seen.append(values)
        if values["title"] == "taken":
            await ack(response_action="errors", errors={"title": "There is such a block already."})
        else:
            await ack()


@in_browser
async def test_a_form_shown_again_at_once_is_not_drawn_over_by_a_slow_answer(tmp_path: Path, browser: Browser) -> None:
    """The app updates the form below while the answer to the submission is still on its way to the page."""

    def listen(app: AsyncApp, tab: Tab) -> None:
        below: list[str] = []

        @app.action("open")
        async def open_form(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
            await ack()
            opened = await client.views_open(trigger_id=body["trigger_id"], view=a_form())
            below.append(opened["view"]["id"])

        @app.action("more")
        async def push(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
            await ack()
            await client.views_push(trigger_id=body["trigger_id"], view=modal(text_input()))

        @app.view("form")
        async def handle_submit(ack: AsyncAck, client: AsyncWebClient) -> None:
            await ack()
            await until(lambda: len(tab.served.workspace.modals.stack(ALEX.id)) == 1)
            await client.views_update(view_id=below[0], view=modal(section("Saved.")))

    async with open_tab(tmp_path, browser, listen) as tab:
        dialog = tab.page.get_by_role("dialog")

        async def slow(route: Route) -> None:
            answer = await route.fetch()
            await expect(dialog.get_by_text("Saved.")).to_be_visible()
            await route.fulfill(response=answer)

        await tab.page.route("**/ui/view_submit", slow)
        await tab.post(actions(button("open"), block_id="board"))
        await tab.page.get_by_role("button", name="Go").click()
        await dialog.get_by_role("button", name="Go").click()
        await expect(dialog.get_by_role("button", name="Back")).to_be_visible()
        await dialog.get_by_label("Title").fill("Write report")
        async with tab.page.expect_response("**/ui/view_submit", timeout=60_000):
            await dialog.get_by_role("button", name="Save").click()
        await expect(dialog.get_by_role("button", name="Save")).to_have_attribute("aria-busy", "false")
        await expect(dialog.get_by_text("Saved.")).to_be_visible()


@in_browser
async def test_a_form_says_what_is_wrong_and_keeps_what_was_typed(tmp_path: Path, browser: Browser) -> None:
    async with open_tab(tmp_path, browser, form_app) as tab:
        await tab.post(actions(button("open"), block_id="board"))
        await tab.page.get_by_role("button", name="Go").click()
        dialog = tab.page.get_by_role("dialog")
        title, minutes = dialog.get_by_label("Title"), dialog.get_by_label("Minutes")
        save = dialog.get_by_role("button", name="Save")
        await minutes.fill("soon")
        await save.click()
        await expect(dialog.get_by_role("alert").filter(visible=True)).to_have_text(
            ["Please complete this required field.", "Please enter a number."]
        )
        await expect(title).to_be_focused()
        assert tab.seen == []
        await title.fill("taken")
        await minutes.fill("45")
        await dialog.get_by_role("button", name="Go").click()
        await expect(dialog.get_by_text("One more line")).to_be_visible()
        await expect(title).to_have_value("taken")
        await save.click()
        at_title = dialog.locator('[data-block="title"]').get_by_role("alert")
        await expect(at_title).to_have_text("There is such a block already.")
        await expect(title).to_have_attribute("aria-invalid", "true")
        await expect(minutes).to_have_value("45")
        await title.fill("Write report")
        await expect(at_title).to_be_hidden()
        await save.click()
        await expect(dialog).to_have_count(0)
        assert tab.seen == [{"title": "taken", "minutes": "45"}, {"title": "Write report", "minutes": "45"}]


@in_browser
async def test_everything_works_with_the_keyboard_alone(tmp_path: Path, browser: Browser) -> None:
    def listen(app: AsyncApp, tab: Tab) -> None:
        form_app(app, tab)

        @app.command("/timebox")
        async def note(ack: AsyncAck, command: Json) -> None:
            await ack()
            tab.seen.append({"text": command["text"]})

    async with open_tab(tmp_path, browser, listen) as tab:
        keys = tab.page.keyboard
        await tab.post(actions(button("open"), block_id="board"))
        go = tab.page.locator("#messages .message").get_by_role("button", name="Go")
        await expect(go).to_be_visible()
        await tab_to(tab.page, go)
        await keys.press("Enter")
        dialog = tab.page.get_by_role("dialog")
        await expect(dialog.get_by_label("Title")).to_be_focused()
        await keys.press("Escape")
        await expect(dialog).to_have_count(0)
        await expect(go).to_be_focused()
        await keys.type("/")
        await expect(tab.composer).to_be_focused()
        await expect(tab.page.get_by_role("option")).to_have_text([re.compile("^/timebox")])
        await keys.press("Escape")
        await expect(tab.page.get_by_role("option").filter(visible=True)).to_have_count(0)
        await tab.composer.fill("")
        await keys.type("/ti")
        await expect(tab.page.get_by_role("option").filter(visible=True)).to_have_count(1)
        await keys.press("Tab")
        await expect(tab.composer).to_have_value("/timebox ")
        await keys.type("tomorrow")
        await keys.press("Enter")
        await until(lambda: tab.seen == [{"text": "tomorrow"}])
        await expect(tab.composer).to_have_value("")


async def tab_to(page: Page, goal: Locator) -> None:
    """Press Tab until the control has the focus; a control that the Tab key cannot reach fails the test."""
    for _ in range(40):
        await page.keyboard.press("Tab")
        if await goal.evaluate("node => node === document.activeElement"):
            return
    raise AssertionError(f"Tab never reaches {goal}")


@in_browser
async def test_a_phone_shows_one_column_with_tabs_at_the_bottom(tmp_path: Path, browser: Browser) -> None:
    def listen(app: AsyncApp, _tab: Tab) -> None:
        @app.event("app_home_opened")
        async def publish(event: Json, client: AsyncWebClient) -> None:
            if event["tab"] == "home":
                await client.views_publish(user_id=event["user"], view=home(section("Your days")))

        form_app(app, _tab)

    async with open_tab(tmp_path, browser, listen, viewport=PHONE, has_touch=True, is_mobile=True) as tab:
        page = tab.page
        many = [{**button(f"b{n}"), "text": plain(f"Quite a long label {n}")} for n in range(4)]
        ts = await tab.post(section("word " * 60 + "x" * 300), actions(*many, button("open"), block_id="board"))
        await tab.post(section("In the thread"), thread_ts=ts)
        tabs = page.get_by_role("tablist", name="Views")
        box = await tabs.bounding_box()
        assert box is not None
        assert (box["x"], box["width"], round(box["y"] + box["height"])) == (0, PHONE["width"], PHONE["height"])
        await expect(page.get_by_text("In the thread")).to_be_visible()
        assert await sideways(page) == 0
        await page.get_by_role("button", name="Back to the conversation").tap()
        await expect(page.locator("#thread")).to_be_hidden()
        await page.get_by_role("button", name="Go", exact=True).last.tap()
        await expect(page.get_by_role("dialog").get_by_role("button", name="Save")).to_be_in_viewport(ratio=1)
        assert await sideways(page) == 0
        await page.get_by_role("button", name="Cancel").tap()
        await tabs.get_by_role("tab", name="Home").tap()
        await expect(page.get_by_text("Your days")).to_be_visible()
        assert await sideways(page) == 0


@in_browser
async def test_nothing_lies_over_the_words_on_a_phone(tmp_path: Path, browser: Browser) -> None:
    """S495: no tool covers words, no button squeezes its text, and what a thread covers takes no focus."""
    words = section("I do not know yet when you get up, start work and go to bed.")
    wordy = {**words, "accessory": {**button("go"), "text": plain("How days are planned")}}
    async with open_tab(tmp_path, browser, viewport=PHONE, has_touch=True, is_mobile=True) as tab:
        page = tab.page
        ts = await tab.post(section("A plan"))
        for reply in (section("First"), wordy, section("word " * 20)):
            await tab.post(reply, thread_ts=ts)
        thread = page.locator("#thread")
        await expect(thread.locator(".message")).to_have_count(4)
        await expect(thread.get_by_role("button", name="How days are planned")).to_be_visible()
        assert await thread.evaluate(COVERED) == []
        text = await thread.get_by_text("I do not know yet").bounding_box()
        assert text is not None
        assert text["width"] > 250
        await expect(page.locator("#messages")).not_to_be_visible()
        await page.get_by_role("button", name="Back to the conversation").tap()
        await expect(page.locator(".thread-summary")).to_be_focused()
        await page.locator(".thread-summary").tap()
        await expect(page.get_by_role("button", name="Back to the conversation")).to_be_focused()


COVERED = """thread => [...thread.querySelectorAll(".message")].flatMap((message) => {
  const tool = message.querySelector(".tools").getBoundingClientRect();
  const walker = document.createTreeWalker(message.querySelector(".content"), NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const rows = [];
  while (walker.nextNode()) rows.push(...(range.selectNodeContents(walker.currentNode), range.getClientRects()));
  return rows.filter((words) => words.right > tool.left && words.left < tool.right
    && words.bottom > tool.top && words.top < tool.bottom).map(() => message.innerText);
})"""
"""The messages whose words are behind their tools."""


@in_browser
async def test_an_answer_to_a_press_on_home_is_seen(tmp_path: Path, browser: Browser) -> None:
    """S496: a note says it, the tab of messages has a mark, no thread covers it, and Home stays where it was scrolled."""

    def listen(app: AsyncApp, _tab: Tab) -> None:
        @app.event("app_home_opened")
        async def open_home(event: Json, client: AsyncWebClient) -> None:
            if event["tab"] == "home":
                await publish(client, event["user"])

        @app.action("go")
        async def answer(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
            await ack()
            await publish(client, body["user"]["id"])
            await client.chat_postMessage(channel=DM, text="Nothing was planned this week.")

    async def publish(client: AsyncWebClient, user: str) -> None:
        lines = [section(f"Line {number}") for number in range(40)]
        await client.views_publish(user_id=user, view=home(*lines, actions(button("go")), *lines))

    async with open_tab(tmp_path, browser, listen, viewport=PHONE, has_touch=True, is_mobile=True) as tab:
        page = tab.page
        ts = await tab.post(section("A plan"))
        await tab.post(section("In the thread"), thread_ts=ts)
        await expect(page.locator("#thread")).to_be_visible()
        await page.get_by_role("tab", name="Home").tap()
        press = page.locator("#home").get_by_role("button", name="Go", exact=True)
        await press.scroll_into_view_if_needed()
        before = await page.locator("#home").evaluate("home => home.scrollTop")
        await press.tap()
        await expect(page.locator(".toast")).to_have_text(re.compile("Nothing was planned this week"))
        assert await page.locator("#home").evaluate("home => home.scrollTop") == before > 0
        await expect(page.get_by_role("img", name="New messages")).to_be_visible()
        await page.get_by_role("tab", name="Messages").tap()
        await expect(page.locator("#messages").get_by_text("Nothing was planned this week.")).to_be_visible()
        await expect(page.get_by_role("img", name="New messages")).to_have_count(0)


@in_browser
async def test_a_form_begins_at_its_top(tmp_path: Path, browser: Browser) -> None:
    """S495: also after another one was scrolled to its end."""

    def listen(app: AsyncApp, _tab: Tab) -> None:
        @app.action("open")
        async def open_form(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
            await ack()
            await client.views_open(trigger_id=body["trigger_id"], view=a_form(*[section("Line")] * 40))

    async with open_tab(tmp_path, browser, listen, viewport=PHONE, has_touch=True, is_mobile=True) as tab:
        await tab.post(actions(button("open")))
        place = tab.page.locator(".modal-body")
        for _ in range(2):
            await tab.page.get_by_role("button", name="Go", exact=True).first.tap()
            await expect(tab.page.get_by_role("dialog").get_by_text("Line").first).to_be_attached()
            assert await place.evaluate("body => body.scrollTop") == 0
            await place.evaluate("body => body.scrollTo(0, body.scrollHeight)")
            await tab.page.get_by_role("button", name="Cancel").tap()
            await expect(tab.page.get_by_role("dialog")).to_have_count(0)


@in_browser
async def test_escape_leads_back_from_a_thread_that_covers_the_page(tmp_path: Path, browser: Browser) -> None:
    """S495: at twice the size, also for a person who wants no motion."""
    screen = ViewportSize(width=700, height=450)
    async with open_tab(tmp_path, browser, viewport=screen, reduced_motion="reduce") as tab:
        ts = await tab.post(section("A plan"))
        await tab.post(actions(button("go")), thread_ts=ts)
        await tab.page.locator("#thread").get_by_role("button", name="Go", exact=True).focus()
        await tab.page.keyboard.press("Escape")
        await expect(tab.page.locator("#thread")).to_be_hidden()
        await expect(tab.composer).to_be_focused()


async def sideways(page: Page) -> int:
    """Return the pixels by which the page or one of its columns is wider than its room."""
    return int(
        await page.evaluate(
            "Math.max(...[document.documentElement, ...document.querySelectorAll('.scroll, #home, .modal-body')]"
            ".map(node => node.scrollWidth - node.clientWidth))"
        )
    )


HOSTILE = [
    '<img src=x onerror="window.ran=1">',
    "<script>window.ran=1</script>",
    "<javascript:window.ran=1|press me>",
    '"><svg onload=window.ran=1>',
]


@in_browser
async def test_hostile_text_is_only_text(tmp_path: Path, browser: Browser) -> None:
    async with open_tab(tmp_path, browser, form_app) as tab:
        page = tab.page
        for text in HOSTILE:
            await tab.composer.fill(text)
            await tab.composer.press("Enter")
        await expect(page.locator("#messages .message .content")).to_have_text(HOSTILE)
        nasty = [section(text) for text in HOSTILE]
        link = {"type": "link", "url": "javascript:window.ran=1", "text": "rich link"}
        rich = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [link]}]}
        prose = {"type": "markdown", "text": f"[prose link](javascript:window.ran=1) {HOSTILE[0]}"}
        labelled = {**button("open"), "text": plain(HOSTILE[0])}
        await tab.post(*nasty, rich, prose, actions(labelled, block_id="board"), text=HOSTILE[1])
        board = page.locator("#messages .message").last
        await expect(board.locator(".block-section .text")).to_have_text(HOSTILE)
        for words in ("rich link", "prose link"):
            await board.get_by_text(words, exact=True).click()
        await expect(board.get_by_role("button", name=HOSTILE[0])).to_be_visible()
        assert await page.locator(".message a, .message img, .message script, .message svg[onload]").count() == 0
        assert await page.evaluate("window.ran") is None
        policy = (await page.request.get(tab.served.url)).headers["content-security-policy"]
        assert "default-src 'none'; script-src 'self'" in policy


@in_browser
async def test_a_broken_block_leaves_the_rest_of_the_page_alone(tmp_path: Path, browser: Browser) -> None:
    broken: list[Any] = [
        None,
        {"type": "actions", "block_id": "a", "elements": 7},
        {"type": "table", "block_id": "t", "rows": [7]},
        {"type": "section", "block_id": "s", "text": {"type": "mrkdwn", "text": 7}},
        {"type": "hologram", "block_id": "h", "text": {"type": "plain_text", "text": "in words"}},
    ]
    async with open_tab(tmp_path, browser) as tab:
        message = {"type": "message", "user": ALEX.id, "ts": "1772431200.000100", "text": "broken"}
        blocks = [*broken, {**section("still here"), "block_id": "ok"}]
        answer = {"messages": [{**message, "blocks": blocks}]}
        await tab.page.route("**/ui/messages?*", lambda route: route.fulfill(json=answer))
        await tab.page.reload()
        await expect(tab.page.get_by_text("still here")).to_be_visible()
        await expect(tab.page.get_by_text("in words", exact=True)).to_be_visible()
        await expect(tab.page.get_by_text("can't be shown")).to_have_count(3)


@in_browser
async def test_an_indented_line_belongs_to_the_item_above(tmp_path: Path, browser: Browser) -> None:
    async with open_tab(tmp_path, browser) as tab:
        text = "• Report: it needs 2 h\n  End the day at 20:30\n• Mail\nThat is all"
        await tab.post(section(text))
        items = tab.page.get_by_role("listitem")
        await expect(items.filter(has_text="Report: it needs 2 h")).to_contain_text("End the day at 20:30")
        await expect(items.filter(has_text="Mail")).not_to_contain_text("That is all")


@in_browser
async def test_a_name_in_code_is_not_broken_at_its_hyphen(tmp_path: Path, browser: Browser) -> None:
    async with open_tab(tmp_path, browser, viewport=PHONE) as tab:
        names = " ".join(f"{'word ' * n}`ff-tkc{n}nmg`" for n in range(12))
        await tab.post(section(f"{names} `{'long-' * 40}`"))
        codes = tab.page.locator("code")
        await expect(codes).to_have_count(13)
        heights = await codes.evaluate_all("codes => codes.map((code) => code.getBoundingClientRect().height)")
        assert max(heights[:12]) == min(heights) < heights[12]
        assert await tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@in_browser
async def test_a_changed_or_deleted_message_changes_on_the_page(tmp_path: Path, browser: Browser) -> None:
    async with open_tab(tmp_path, browser) as tab:
        shown = tab.page.locator("#messages .message .content")
        ts = await tab.post(section("Half done"))
        await expect(shown).to_have_text(["Half done"])
        await tab.client.chat_update(channel=DM, ts=ts, text="done", blocks=[section("Wholly done")])
        await expect(shown).to_have_text(["Wholly done"])
        await tab.client.chat_delete(channel=DM, ts=ts)
        await expect(shown).to_have_count(0)


@in_browser
async def test_the_page_heals_when_the_server_comes_back(tmp_path: Path, browser: Browser) -> None:
    """Although it is slow at first, so that two readings get no answer."""
    page = await (await browser.new_context(viewport=WIDE)).new_page()
    async with running(tmp_path) as served:
        await page.goto(served.url)
        await served.say("before")
        await expect(page.locator("#messages .message .content")).to_have_text(["before"])
        port = served.port
    await expect(page.get_by_text("The connection was lost. Trying again…")).to_be_visible()
    await page.locator("#composer").fill("unsent")
    await page.locator("#composer").press("Enter")
    await expect(page.get_by_text("so nothing was sent")).to_be_visible()
    await page.route("**/ui/messages?*", lambda reading: reading.abort(), times=2)
    async with running(tmp_path, port=port) as served:
        await served.say("meanwhile")
        await expect(page.locator("#messages .message:not(.outgoing) .content")).to_have_text(["before", "meanwhile"])
        await page.get_by_role("button", name="Try again").click()
        await expect(page.locator("#messages .message:not(.outgoing) .content")).to_have_text(
            ["before", "meanwhile", "unsent"]
        )
        async with app_on(served, app_of(served)):
            await expect(page.locator("#banner")).to_be_empty()
        await page.context.close()


def test_every_file_of_the_page_is_used() -> None:
    """The files are exactly those that index.html needs, directly or through imports; none comes from elsewhere."""
    found: set[Path] = set()
    waiting = [STATIC / "index.html"]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        text = path.read_text(encoding="utf-8")
        named = re.findall(r'(?:href|src)="/static/([^"]+)"', text) if path.suffix == ".html" else []
        waiting += [STATIC / name for name in named]
        if path.suffix == ".js":
            waiting += [(path.parent / name).resolve() for name in re.findall(r'from "(\.[^"]+)"', text)]
        assert re.findall(r'(?:from|import|src=|href=|@import|url\()\s*"?https?:', text) == []
    assert found == {path for path in STATIC.rglob("*") if path.is_file()}
