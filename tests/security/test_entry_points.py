"""Access to the page, the day pane, the calendar's tools and CalDAV of the running program."""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import sync_playwright
from tests.scenarios.caldav import CalDav
from tests.scenarios.person import Person
from tests.scenarios.program import Program
from tests.scenarios.test_browser_day import CHROMIUM
from tests.scenarios.test_whole_day import at
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

pytestmark = pytest.mark.process

FOREIGN = [
    {"Host": "evil.example"},
    {"Host": "a@127.0.0.1"},
    {"Origin": "http://localhost:9999"},
    {"Origin": "https://127.0.0.1"},
    {"Origin": "null"},
]
"""Headers that another page, or a rebound name, sends."""
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
}
CLOSED = [
    ("GET", "/"),
    ("GET", "/ui/state"),
    ("GET", "/ui/messages"),
    ("POST", "/ui/message"),
    ("POST", "/ui/slash"),
    ("GET", "/day/"),
    ("GET", "/day/events"),
    ("POST", "/day/move"),
    ("POST", "/calendar/mcp"),
    ("POST", "/calendars/guessed/mcp"),
    ("GET", "/files/F0000000000"),
    ("GET", "/archives/C0000000/p1"),
    ("GET", "/nowhere"),
]
OPEN = ["/health", "/static/js/app.js"]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    program = Program(tmp_path_factory.mktemp("doors") / "data").start()
    yield program
    program.kill()


def ask(program: Program, method: str, path: str, **given: object) -> httpx.Response:
    return httpx.request(method, program.url + path, trust_env=False, timeout=60, **given)  # type: ignore[arg-type]  # httpx checks it


def token_of(program: Program) -> str:
    return program.address.partition("?token=")[2]


@pytest.mark.attack("page, pane and MCP", "another user of the machine without the token", "5", "mended")
@pytest.mark.parametrize(("method", "path"), CLOSED)
def test_without_the_token_nothing_personal_is_answered(program: Program, method: str, path: str) -> None:
    """S368."""
    answer = ask(program, method, path)
    assert (answer.status_code, "fateforger up" in answer.text) == (401, True)
    page = ask(program, method, path, headers={"Accept": "text/html"}).text
    assert "<h1>" in page
    assert "fateforger doctor" in page


@pytest.mark.attack("page's WebSocket", "another user of the machine without the token", "5", "mended")
def test_without_the_token_no_socket_opens(program: Program) -> None:
    with (
        pytest.raises(InvalidStatus, match="403"),
        connect(program.url.replace("http", "ws") + "/ui/ws?user=U0000ALEX", proxy=None),
    ):
        pass


@pytest.mark.attack("page", "wrong tokens", "5", "mended")
def test_a_wrong_token_opens_nothing(program: Program) -> None:
    name = next(iter(Person(program.address).http.cookies))
    for wrong in ("", "x", token_of(program)[:-1], token_of(program) + "x", "\u00e9"):
        assert ask(program, "GET", "/", params={"token": wrong}).status_code == 401
        for header, value in (("Cookie", f"{name}={wrong}"), ("Authorization", f"Bearer {wrong}".strip())):
            assert ask(program, "GET", "/ui/state", headers=[(header, value.encode())]).status_code == 401


@pytest.mark.parametrize("path", OPEN)
def test_probes_and_files_of_the_page_stay_open(program: Program, path: str) -> None:
    assert ask(program, "GET", path).status_code == 200


def test_the_printed_address_becomes_a_cookie(program: Program) -> None:
    """S368: the token leaves the address at once, and no script can read the cookie."""
    answer = httpx.get(program.address, trust_env=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"].lower()
    assert all(mark in cookie for mark in ("httponly", "samesite=strict"))
    elsewhere = ask(program, "GET", "//evil.example/", params={"token": token_of(program), "date": "2026-03-02"})
    assert elsewhere.headers["location"] == "/evil.example/?date=2026-03-02"


@pytest.mark.attack("data directory", "another user of the machine reads the token", "5", "held")
def test_the_secrets_are_kept_where_others_cannot_read(program: Program) -> None:
    assert stat.S_IMODE(program.data.stat().st_mode) == 0o700
    for name in ("page.token", "caldav.password"):
        assert stat.S_IMODE((program.data / name).stat().st_mode) == 0o600


@pytest.mark.attack("CalDAV", "another user of the machine without the password", "5", "mended")
def test_caldav_wants_the_printed_password(program: Program) -> None:
    """S369."""
    calendar = CalDav(program.caldav_url())
    calendar.put("mine", "Mine", at(9), at(10))
    (href,) = [each for each in calendar.hrefs() if each.endswith("mine.ics")]
    address = httpx.URL(calendar.url).join(href)
    for login in (None, ("me", ""), ("me", "guess"), ("alex", str(httpx.URL(program.caldav_url()).password))):
        with httpx.Client(trust_env=False, auth=login) as stranger:
            refused = stranger.delete(address)
            assert (refused.status_code, "fateforger doctor" in refused.text) == (401, True)
            assert stranger.request("PROPFIND", "/".join(calendar.url.split("/")[:3])).status_code == 401
    assert "Mine" in calendar.titles()


@pytest.mark.attack("page, MCP and CalDAV", "another web page, another port or scheme, DNS rebinding", "7a", "mended")
@pytest.mark.parametrize("sent", FOREIGN, ids=str)
def test_a_foreign_page_is_refused_even_with_the_token(program: Program, sent: dict[str, str]) -> None:
    """S370."""
    headers = {"Authorization": f"Bearer {token_of(program)}", **sent}
    assert ask(program, "POST", "/ui/message", json={}, headers=headers).status_code == 403
    assert ask(program, "POST", "/calendar/mcp", json=INITIALIZE, headers=headers).status_code == 403
    calendar = CalDav(program.caldav_url())
    assert calendar.http.request("PROPFIND", calendar.url, headers=sent).status_code == 403


@pytest.mark.attack("page", "a WebSocket from a page on another port", "7a", "held")
def test_the_socket_looks_at_the_port(program: Program) -> None:
    address = program.url.replace("http", "ws") + "/ui/ws?user=U0000ALEX"
    headers = {"Authorization": f"Bearer {token_of(program)}"}
    with connect(address, additional_headers=headers, origin=Origin(program.url), proxy=None):
        pass
    other = Origin("http://127.0.0.1:9")
    with (
        pytest.raises(InvalidStatus, match="403"),
        connect(address, additional_headers=headers, origin=other, proxy=None),
    ):
        pass


@pytest.mark.attack("page and pane", "clickjacking", "6", "mended")
def test_every_answer_says_that_no_other_page_may_frame_it(program: Program) -> None:
    """S371: also refusals and answers of the framework."""
    person, calendar = Person(program.address), CalDav(program.caldav_url())
    answers = [person.http.request(method, program.url + path, json={}) for method, path in CLOSED]
    answers += [ask(program, method, path) for method, path in (*CLOSED, *(("GET", path) for path in OPEN))]
    answers += [
        ask(program, "POST", "/api/none"),
        ask(program, "GET", "/connect/x"),
        ask(program, "GET", "/slack/install"),
    ]
    answers += [
        ask(program, "GET", "/", headers={"Host": "evil.example"}),
        ask(program, "GET", "/", headers={"X": "x" * 20_000}),
    ]
    answers += [httpx.get(program.address, trust_env=False)]
    answers += [calendar.http.get(calendar.url), httpx.get(calendar.url, trust_env=False)]
    for answer in answers:
        headers = answer.headers
        assert "frame-ancestors" in headers["content-security-policy"], answer.request.url
        assert headers["x-frame-options"] in {"SAMEORIGIN", "DENY"}
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] in {"no-referrer", "same-origin"}


@pytest.mark.browser
@pytest.mark.attack("page", "a transparent frame in a page on another port", "6", "mended")
def test_a_browser_shows_the_page_but_not_in_a_foreign_frame(program: Program) -> None:
    """S368: the printed address shows the page, and the token is gone from the address; the bare one says what to do."""
    foreign, frame = "http://127.0.0.1:9/", f'<iframe src="{program.url}/"></iframe>'
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(program.url)
        assert "fateforger up" in page.inner_text("body")
        page.goto(program.address)
        page.get_by_role("button", name=re.compile("^Plan (my|a) day$")).last.wait_for()
        page.frame_locator("iframe").locator("header").wait_for()
        assert "token" not in page.url
        assert "token" not in page.evaluate("document.cookie + document.referrer")
        page.goto(program.url)
        page.get_by_role("button", name=re.compile("^Plan (my|a) day$")).last.wait_for()
        page.route(foreign, lambda route: route.fulfill(body=frame, content_type="text/html"))
        page.goto(foreign)
        assert [each.url for each in page.frames[1:]] == ["chrome-error://chromewebdata/"]
        browser.close()


def test_an_old_data_directory_opens_and_keeps_its_token(tmp_path: Path) -> None:
    """S368: a token from the environment comes first, and is written nowhere."""
    program = Program(tmp_path / "data").start()
    for name in ("page.token", "caldav.password"):
        (program.data / name).unlink()
    program.restart()
    made = program.address
    Person(made)
    program.restart()
    assert program.address == made
    program.environment["FATEFORGER_PAGE_TOKEN"] = "of-the-environment"
    program.restart()
    assert program.address.endswith("/?token=of-the-environment")
    assert (program.data / "page.token").read_text() == made.partition("?token=")[2]
    program.kill()
