"""A newcomer connects a Google account in the browser, with three clicks on pages, and plans a day on it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright
from tests.emulators.google.accounts import Client, GoogleAccounts
from tests.emulators.google.emulator import GoogleEmulator
from tests.fakes.google_store import GoogleStore
from tests.scenarios.person import Person, eventually
from tests.scenarios.program import Program
from tests.scenarios.providers import MONDAY, plan, second, serve
from tests.scenarios.radicale import free_port

CHROMIUM = shutil.which("chromium") or ""
SHOTS = Path(__file__).parents[2] / "docs"
FAMILY = "family@group.calendar.google.com"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.process,
    pytest.mark.skipif(not CHROMIUM, reason="needs Debian's chromium: apt-get install chromium"),
    pytest.mark.extra,
]


@pytest.fixture
def browser() -> Iterator[BrowserContext]:
    """Yield a browser of its own; at the end no script may have failed."""
    mistakes: list[str] = []
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = opened.new_context(viewport={"width": 700, "height": 300}, device_scale_factor=1.5)
        context.set_default_timeout(60_000)
        context.on("weberror", lambda error: mistakes.append(str(error.error)))
        yield context
        opened.close()
    assert mistakes == []


def shoot(page: Page, name: str) -> None:
    """Keep a picture for the guide, where ``SHOTS_WRITE`` asks for it."""
    if os.environ.get("SHOTS_WRITE"):
        page.screenshot(path=SHOTS / name, full_page=True)


def test_a_newcomer_connects_google_with_three_clicks(browser: BrowserContext, tmp_path: Path) -> None:
    """S306, S316, S328: the clicks go from the button in Slack, through the sign-in, to a choice in plain words."""
    expect.set_options(timeout=60_000)
    port = free_port()
    accounts = GoogleAccounts(
        people=["robin@example.com"],
        client=Client(redirects=(f"http://127.0.0.1:{port}/connect/google/callback",)),
    )
    google = GoogleEmulator(accounts=accounts, calendars={"primary": GoogleStore(), FAMILY: GoogleStore()})
    google.api.names |= {"primary": "Work", FAMILY: "Family"}
    with serve(google.app()) as at_google:
        settings = {
            "FATEFORGER_NOW": MONDAY,
            "FATEFORGER_GOOGLE_CLIENT_ID": accounts.client.id,
            "FATEFORGER_GOOGLE_CLIENT_SECRET": accounts.client.secret,
            "FATEFORGER_GOOGLE_URL": at_google,
        }
        program = Program(tmp_path / "data", environment=settings, port=port).start()
        try:
            robin = second(program.person())
            robin.slash("/timebox")
            page = browser.new_page()
            page.goto(find_link(robin, "Connect your calendar"))
            shoot(page, "connect.png")
            page.get_by_role("link", name="Sign in with Google").click()
            page.get_by_role("button", name="Allow").click()
            expect(page.get_by_role("radio", name="Work")).to_be_checked()
            expect(page.get_by_role("checkbox", name="Work")).to_be_checked()
            expect(page.get_by_role("checkbox", name="Family")).not_to_be_checked()
            shoot(page, "connect-choose.png")
            page.get_by_role("button", name="Save").click()
            expect(page.get_by_role("status")).to_contain_text("Your calendar is connected.")
            expect(page.get_by_text("I read “Work”, and write only the blocks of your plan to it.")).to_be_visible()
            plan(robin)
            assert "Write report" in {event.summary for event in google.calendars["primary"].get_live_events().values()}
            assert google.calendars[FAMILY].get_live_events() == {}
        finally:
            program.kill()


def find_link(person: Person, label: str) -> str:
    """Return the address that a button in the person's messages opens."""

    def look() -> str | None:
        elements = (
            element
            for message in reversed(person.roots())
            for block in message.get("blocks") or []
            for element in block.get("elements", [])
        )
        return next((e["url"] for e in elements if e.get("url") and e["text"]["text"] == label), None)

    return eventually(look, f"a button {label!r} that opens a page")
