"""The embedded server computes no series: what would hold it up is refused, or given out as it is."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from tests.caldav_mcp.clients import OtherProgram, ToolClient, open_tools
from tests.factories.recurrences import EACH_MINUTE, NEVER, TRAPS, series

from caldav_mcp import embedded, expansion

QUERY = """<?xml version="1.0"?><C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><D:prop>
<D:getetag/><C:calendar-data>{expand}</C:calendar-data></D:prop><C:filter><C:comp-filter name="VCALENDAR">
<C:comp-filter name="VEVENT"><C:time-range start="20270504T000000Z" end="20270505T000000Z"/>{more}</C:comp-filter>
</C:comp-filter></C:filter></C:calendar-query>"""
EXPAND = '<C:expand start="20270504T000000Z" end="20270505T000000Z"/>'
LUNCH = '<C:prop-filter name="SUMMARY"><C:text-match>Lunch</C:text-match></C:prop-filter>'


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the time limit: the traps have no end."""
    monkeypatch.setattr(expansion, "MAX_OBJECT_SECONDS", 0.3)
    monkeypatch.setattr(embedded, "MAX_PUT_SECONDS", 0.5)


async def put(other: OtherProgram, name: str, text: str) -> httpx.Response:
    return await other.request("PUT", f"{name}.ics", text)


async def report(other: OtherProgram, expand: str = "", more: str = "") -> str:
    answer = await other.request("REPORT", "", QUERY.format(expand=expand, more=more), Depth="1")
    assert answer.status_code == 207, answer.text
    return answer.text


async def test_what_takes_too_long_to_compute_is_refused_with_a_sentence(other: OtherProgram) -> None:
    """No event can stop the program: Radicale went on forever, in one of our threads."""
    for name in ("never", "never, hourly", "dates"):
        answer = await put(other, "trap", series("trap", "Trap", TRAPS[name]))
        assert answer.status_code == 403, name
        assert "<C:max-instances/>" in answer.text
        assert "repeats in a way that takes too long to work out. Please choose a simpler rule." in answer.text
    assert (await other.request("GET", "trap.ics", "")).status_code == 404


async def test_unusual_rules_are_kept_as_they_are(tools: ToolClient, other: OtherProgram) -> None:
    text = series("x", "Beep", "RRULE:FREQ=HOURLY;INTERVAL=6", start=":20270501T080000Z")
    stored = await put(other, "x", text)
    assert stored.status_code == 201
    found = await other.request("GET", "x.ics", "")
    assert found.headers["etag"] == stored.headers["etag"]
    assert "RRULE:FREQ=HOURLY;INTERVAL=6" in found.text
    assert [event["summary"] for event in await tools.day()] == ["Beep"] * 4
    changed = await other.request("PUT", "x.ics", text.replace("Beep", "Bop"), **{"If-Match": stored.headers["etag"]})
    assert changed.status_code == 204
    assert {event["summary"] for event in await tools.day()} == {"Bop"}


async def test_traps_that_are_on_disk_already_are_given_out_and_never_computed(tmp_path: Path) -> None:
    """An old data directory, or a file that was copied there: every kind of question is answered, and the day shown."""
    async with open_tools(tmp_path) as tools:
        await tools.create()
    (folder,) = (p for p in (tmp_path / "radicale").rglob("planfocus00001.ics") if p.parent.name == "calendar")
    for name, line in {"a": EACH_MINUTE, "b": NEVER, "c": TRAPS["dates"]}.items():
        folder.with_name(f"{name}.ics").write_bytes(series(name, f"Trap {name}", line).encode())
    async with open_tools(tmp_path) as tools, OtherProgram(tools.calendar.caldav_url) as other:
        assert (await report(other)).count("Trap ") == 3
        assert "Plan work" in await report(other, expand=EXPAND)
        assert "Trap" not in await report(other, more=LUNCH)
        found = await other.request("GET", "b.ics", "")
        assert NEVER in found.text
        bounds = {"timeMin": "2027-05-04T00:00:00", "timeMax": "2027-05-05T00:00:00"}
        answer = await tools.ok("list-events", calendarId="primary", **bounds)
        assert [event["summary"] for event in answer["events"]] == ["Plan work"]
        assert [left["summary"] for left in answer["leftOut"]] == ["Trap a", "Trap b", "Trap c"]
        deleted = await other.request("DELETE", "b.ics", "")
        assert deleted.status_code == 200


async def test_plain_series_are_found_by_every_question(tools: ToolClient, other: OtherProgram) -> None:
    assert (await put(other, "x", series("x", "Lunch", "RRULE:FREQ=DAILY"))).status_code == 201
    assert "Lunch" in await report(other)
    assert "DTSTART:20270504T080000Z" in await report(other, expand=EXPAND)
    assert "Lunch" in await report(other, more=LUNCH)
    assert [event["summary"] for event in await tools.day()] == ["Lunch"]
