"""A CalDAV server says when to ask again, or why it refuses a write: from its answer to what the person reads."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from tests.factories.days import CalendarHarness, block, plan_of
from tests.fakes.caldav_calendar import opened_caldav
from tests.fakes.google_calendar import Status, Where
from tests.fakes.memory_journal import MemoryJournal

from caldav_mcp.dav import Dav
from caldav_mcp.errors import Busy, Forbidden, ServiceError
from fateforger.adapters.calendar.tools import SERVER, classify_refusal, extract_sentence
from fateforger.calendar.ports import Rejected

BEFORE = plan_of(block("move", "09:00"), block("drop", "10:00"))
AFTER = plan_of(block("move", "09:30"), block("add", "11:00"))
MAY = "You need to have writer access to this calendar"
SABRE = """<d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns">
<s:exception>Sabre\\DAV\\Exception\\Forbidden</s:exception>
<s:message>Calendar quota exceeded, rate limit exceeded</s:message>{}</d:error>"""
CALDAV = '<D:error xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">{}</D:error>'


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize("verb", ["window", "get", "create", "update", "delete"])
async def test_a_server_is_asked_again_when_it_said(verb: Where, status: int, tmp_path: Path) -> None:
    """S476: not sooner, and no write is taken for one that may have arrived."""
    async with opened_caldav(tmp_path) as calendar:
        world = CalendarHarness(MemoryJournal(), calendar)
        submitter = world.submitter()
        await submitter.submit_plan(BEFORE, cause="first")
        calendar.inject(Status(status, retry_after=30), verb=verb)
        result = await submitter.submit_plan(AFTER, cause="second")
        assert result.status == "changed"
        assert sum(world.time.slept) == 30
        assert sorted(e.summary for e in world.store.get_live_events().values()) == ["add", "move"]


async def test_a_longer_wait_is_left_to_the_person(tmp_path: Path) -> None:
    """S476"""
    async with opened_caldav(tmp_path) as calendar:
        world = CalendarHarness(MemoryJournal(), calendar)
        calendar.inject(Status(503, retry_after=600), verb="create")
        result = await world.submitter().submit_plan(BEFORE, cause="first")
        assert (result.status, world.time.slept) == ("paused", [])
        assert result.details[0].startswith(
            "1 change is still waiting: Your calendar takes no more requests for the moment. Nothing is lost"
        )


async def refuse(status: int, body: str = "", **headers: str) -> ServiceError:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(status, text=body, headers={name.replace("_", "-"): v for name, v in headers.items()})

    async with Dav(time_limit=5, transport=httpx.MockTransport(answer)) as dav:
        with pytest.raises(ServiceError) as raised:
            await dav.request("PUT", "http://caldav.example/me/calendar/a.ics", body="")
    return raised.value


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("30", "30"),
        ("Fri, 27 Nov 2026 12:00:30 GMT", "30"),
        ("Fri, 27 Nov 2026 11:00:00 GMT", "0"),
        ("soon", None),
        ("-1", None),
        ("9" * 400, None),
    ],
)
async def test_when_to_ask_again(said: str, seconds: str | None) -> None:
    error = await refuse(503, Retry_After=said, Date="Fri, 27 Nov 2026 12:00:00 GMT")
    assert isinstance(error, Busy) is (seconds is not None)
    assert error.bare == "Service Unavailable" + (f". Retry after {seconds} s." if seconds else "")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", MAY),
        ("<html>Forbidden</html>", MAY),
        (CALDAV.format("<D:need-privileges />"), MAY),
        (SABRE.format("<d:need-privileges />"), MAY),
        (SABRE.format(""), "the calendar server says: Calendar quota exceeded, rate limit exceeded"),
        (CALDAV.format("<C:max-resource-size />"), "the calendar server says: max-resource-size"),
        (CALDAV.format("<D:quota-not-exceeded />"), "the calendar server has no room left for it"),
    ],
)
async def test_why_a_write_is_forbidden(body: str, reason: str) -> None:
    """S477: the server's reason, and not a missing right, if it gives one."""
    error = await refuse(403, body)
    assert isinstance(error, Forbidden)
    for text in (error.full, error.bare):
        outcome = SERVER.to_outcome(classify_refusal(text), extract_sentence(text), "create")
        assert isinstance(outcome, Rejected)
        assert f"({reason})" in outcome.reason
