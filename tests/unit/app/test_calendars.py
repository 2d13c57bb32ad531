"""Messages of ``doctor`` about calendars: the one to write to, those to read, and a wrong name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from tests.caldav_mcp.clients import OpenRadicale
from tests.fakes.google_mcp import ErrorText, GoogleMcp
from tests.fakes.google_store import GoogleStore
from tests.fakes.google_tools import GoogleTools, OneCalendar

from fateforger.adapters.calendar.budget import GOOGLE_LIMIT, MOST_A_MINUTE
from fateforger.adapters.store.calendars import USE
from fateforger.app.calendars import LocalServer
from fateforger.app.health import LOGIN_FIX, START_FIX, STATE_FIRST, check_calendars
from fateforger.app.resources import build_clock, find_local_key, open_state, start_local_calendar
from fateforger.config import Settings, read_settings
from fateforger.errors import BadInput, CalendarNotFound

MAKE = """<?xml version="1.0"?><C:mkcalendar xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:set><D:prop>
<D:displayname>{name}</D:displayname></D:prop></D:set></C:mkcalendar>"""


@pytest.fixture
async def google() -> AsyncIterator[GoogleMcp]:
    tools = GoogleTools(
        {
            "primary": OneCalendar(GoogleStore(), "Me"),
            "family@example.com": OneCalendar(GoogleStore(), "Family", "writer"),
            "holidays@example.com": OneCalendar(GoogleStore(), "Holidays", "reader"),
        }
    )
    async with GoogleMcp(tools) as server:
        yield server


@pytest.fixture
def caldav(tmp_path: Path) -> Iterator[str]:
    """Yield an account with two calendars."""
    server = OpenRadicale(tmp_path / "elsewhere")
    root = f"http://127.0.0.1:{server.port}"
    with httpx.Client(auth=("me", ""), trust_env=False) as http:
        http.request("PROPFIND", f"{root}/me/", headers={"Depth": "0"})
        for name in ("Home", "Work"):
            http.request("MKCALENDAR", f"{root}/me/{name.lower()}/", content=MAKE.format(name=name)).raise_for_status()
    yield f"{root}/"
    server.stop()


async def run_check(settings: Settings) -> tuple[str, str]:
    check = await check_calendars(settings)
    return check.state, check.message.partition(" answers in ")[2][4:] or check.message


@pytest.mark.parametrize(
    ("given", "state", "message"),
    [
        ({}, "real", "; I write to “Me”. Not looked at: “Family” and “Holidays” (FATEFORGER_CALENDARS_READ)."),
        (
            {"calendar_id": "family", "calendars_read": "Me,holidays"},
            "real",
            "; I write to “Family”, and read “Me” and “Holidays”.",
        ),
        ({"calendars_read": "all"}, "real", "; I write to “Me”, and read “Family” and “Holidays”."),
        ({"calendars_read": "Famly"}, "broken", ". You have no calendar called “Famly”. Did you mean “Family”?"),
        ({"calendar_id": "Holidays"}, "broken", ", but “Holidays” may only be read."),
    ],
)
async def test_google(google: GoogleMcp, given: dict[str, str], state: str, message: str) -> None:
    found, words = await run_check(read_settings(calendar_url=google.url, **given))
    assert (found, words.removeprefix("s")) == (state, message)


async def test_google_in_another_zone(google: GoogleMcp) -> None:
    check = await check_calendars(read_settings(calendar_url=google.url, time_zone="Asia/Tokyo"))
    assert check.fix == "It is in Europe/Berlin and you in Asia/Tokyo: FATEFORGER_TIME_ZONE sets yours."
    check = await check_calendars(read_settings(calendar_url=google.url, time_zone="Europe/Berlin"))
    assert (check.state, check.fix) == ("real", "")


async def test_google_without_a_login_and_no_server_at_all(google: GoogleMcp) -> None:
    google.inject(ErrorText("MCP error -32600: No authenticated accounts available. Please run authentication first."))
    check = await check_calendars(read_settings(calendar_url=google.url))
    assert (check.state, check.fix) == ("broken", LOGIN_FIX)
    check = await check_calendars(read_settings(calendar_url="http://127.0.0.1:9/mcp"))
    assert (check.state, check.fix) == ("broken", START_FIX)


@pytest.mark.parametrize(
    ("given", "state", "message"),
    [
        (
            {},
            "broken",
            "There are several calendars I could write to: “Home”, “Work”. Name one with FATEFORGER_CALENDAR_ID.",
        ),
        (
            {"calendar_id": "Work"},
            "real",
            "The CalDAV server answers; I write to “Work”. Not looked at: “Home” (FATEFORGER_CALENDARS_READ).",
        ),
        (
            {"calendar_id": "work", "calendars_read": "home"},
            "real",
            "The CalDAV server answers; I write to “Work”, and read “Home”.",
        ),
    ],
)
async def test_caldav(caldav: str, given: dict[str, str], state: str, message: str) -> None:
    assert await run_check(read_settings(caldav_url=caldav, caldav_username="me", **given)) == (state, message)


async def test_an_address_without_calendars(caldav: str) -> None:
    check = await check_calendars(read_settings(caldav_url=f"{caldav}nowhere/", caldav_username="nobody"))
    assert (check.state, check.message) == ("broken", f"There is nothing at {caldav}nowhere/.")
    check = await check_calendars(read_settings(caldav_url="http://127.0.0.1:9/"))
    assert (
        check.message
        == "The CalDAV server cannot be used: request to http://127.0.0.1:9/ failed, reason: connect ECONNREFUSED."
    )


async def test_the_program_says_that_the_caldav_server_keeps_it_from_starting(caldav: str, tmp_path: Path) -> None:
    """S429: not that the local calendar does."""
    settings = read_settings(data_dir=tmp_path, caldav_url=f"{caldav}nowhere/", caldav_username="nobody")
    said = "The CalDAV server cannot be used: There is nothing at .*nowhere/. `fateforger doctor` says what to do."
    with pytest.raises(CalendarNotFound, match=said):
        async with start_local_calendar(settings, build_clock(settings)):
            pass


async def test_nothing_is_written_to_a_calendar_that_nobody_chose(caldav: str, tmp_path: Path) -> None:
    settings = read_settings(data_dir=tmp_path, caldav_url=caldav, caldav_username="me")
    with pytest.raises(BadInput, match="Name one with FATEFORGER_CALENDAR_ID"):
        async with start_local_calendar(settings, build_clock(settings)):
            pass
    chosen = settings.model_copy(update={"calendar_id": "Work"})
    async with start_local_calendar(chosen, build_clock(chosen)) as calendar:
        assert [about.name for about in calendar.account.calendars] == ["Home", "Work"]


@pytest.mark.parametrize(
    ("path", "said"),
    [("", "Name one with FATEFORGER_CALENDAR_ID"), ("nowhere/", "There is nothing at")],
)
@pytest.mark.parametrize("surface", ["pane", "tools"])
async def test_the_pane_and_the_tools_say_why_the_calendar_cannot_be_used(
    caldav: str, tmp_path: Path, path: str, said: str, surface: str
) -> None:
    """S438: a server that answers is not reported as silent."""
    settings = read_settings(data_dir=tmp_path, caldav_url=caldav + path, caldav_username="me")
    local = LocalServer(settings, build_clock(settings), port=0)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(getattr(local, surface)), base_url="http://pane"
    ) as http:
        page = await http.get("/")
    await local.aclose()
    assert (page.status_code, said in page.text, "not answering" in page.text) == (503, True, False)


def test_the_journals_name_of_a_calendar_holds_no_password() -> None:
    settings = read_settings(caldav_url="https://me:secret@dav.example.com/cal/", calendar_id="Work")
    assert find_local_key(settings) == "local:https://dav.example.com/cal/#Work"
    assert find_local_key(read_settings(calendar_id="Work")) == "local"


def test_what_is_reserved_leaves_room_for_what_the_server_repeats() -> None:
    """P18: a day of 40 blocks and its undo also go through while a program watches the calendar."""
    assert GOOGLE_LIMIT.requests <= MOST_A_MINUTE - 4 * 3
    assert GOOGLE_LIMIT.requests - GOOGLE_LIMIT.background >= (1 + 40 + 1) + (1 + 2 * 40 + 1)


async def test_doctor_counts_what_it_asks(google: GoogleMcp, tmp_path: Path) -> None:
    settings = read_settings(data_dir=tmp_path, calendar_url=google.url)
    await check_calendars(settings)
    store = await open_state(settings)
    uses = await store.database.read(lambda connection: connection.execute(USE.select()).all())
    await store.aclose()
    assert [use.requests for use in uses] == [1]


async def test_doctor_asks_nothing_that_it_cannot_count(google: GoogleMcp, tmp_path: Path) -> None:
    (tmp_path / "fateforger.db").write_text("no database, but a text that is long enough to look at" * 20)
    check = await check_calendars(read_settings(data_dir=tmp_path, calendar_url=google.url))
    assert (check.state, check.fix) == ("broken", STATE_FIRST)
    assert google.requests == []
