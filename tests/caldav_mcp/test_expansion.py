"""Series are expanded within a budget of time and number; what exceeds it is left out, and named."""

from __future__ import annotations

import logging
import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from tests.caldav_mcp.clients import OtherProgram, ToolClient
from tests.factories.recurrences import EACH_MINUTE, TRAPS, ZONE_OF_SECONDS, series

from caldav_mcp import expansion
from caldav_mcp.expansion import Expander, Expansion, _ask_process, shown_title
from caldav_mcp.objects import Resource
from caldav_mcp.occurrences import Occurrence, occurrences
from caldav_mcp.recurrence import is_plain

HOME = (
    "BEGIN:VTIMEZONE\r\nTZID:Home\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0300\r\n"
    "TZOFFSETTO:+0300\r\nEND:STANDARD\r\nEND:VTIMEZONE"
)
BERLIN = ZoneInfo("Europe/Berlin")
MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
DAY = timedelta(days=1)


def make_resource(text: str, name: str = "x") -> Resource:
    return Resource(name, "1", text.replace("\r\n", "\n"))


async def expand_resources(*resources: Resource, by: Expander | None = None) -> Expansion:
    return await (by or Expander()).expand(resources, MONDAY, MONDAY + DAY, BERLIN)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the time limit: the traps have no end."""
    monkeypatch.setattr(expansion, "MAX_OBJECT_SECONDS", 0.3)


@pytest.mark.usefixtures("quick")
async def test_every_trap_is_left_out_and_the_day_is_there() -> None:
    """No event stops the program: each of these took from seconds to for ever."""
    traps = [make_resource(series(name, name, line), name) for name, line in TRAPS.items()]
    zone = make_resource(series("zone", "zone", zone=ZONE_OF_SECONDS, start=";TZID=Trap:20260302T080000"), "zone")
    daily = make_resource(series("daily", "Standup", "RRULE:FREQ=DAILY"), "daily")
    assert not any(trap.is_plain for trap in (*traps, zone))
    assert not zone.may_be_parsed
    for trap in (*traps, zone):
        outcome = await expand_resources(trap, daily)
        assert [shown_title(left) for left in outcome.left_out] == [trap.href]
        assert [found.resource.href for found in outcome.found] == ["daily"]


@pytest.mark.usefixtures("quick")
async def test_what_was_stopped_is_not_tried_again_until_it_changes(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The day is read every few seconds; the log names the object once."""
    asked: list[int] = []
    really = expansion._answers

    def record_question(question: str, number: int) -> list[str | None]:
        asked.append(number)
        return really(question, number)

    monkeypatch.setattr(expansion, "_answers", record_question)
    expander = Expander()
    trap = make_resource(series("x", "Trap", EACH_MINUTE))
    fine = make_resource(
        series("y", "Fine", "RRULE:FREQ=HOURLY;UNTIL=20260401T000000Z", start=":20260301T080000Z"), "y"
    )
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            outcome = await expand_resources(trap, fine, by=expander)
            assert (len(outcome.found), len(outcome.left_out)) == (24, 1)
    assert asked == [2]
    assert [record.getMessage().split()[3] for record in caplog.records] == ["x"]
    await expand_resources(make_resource(series("x", "Trap", "RRULE:FREQ=HOURLY")), by=expander)
    assert asked == [2, 1]


async def test_a_process_that_does_not_answer_leaves_its_objects_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is killed, however busy the machine is. The one over which it was killed rests a while."""
    expander = Expander()
    first, second = (make_resource(series(n, n, "RRULE:FREQ=HOURLY", start=":20260301T080000Z"), n) for n in "ab")
    with monkeypatch.context() as patched:
        patched.setattr(expansion, "MAX_PROCESS_SECONDS", 0.01)
        assert (await expand_resources(first, second, by=expander)).left_out == (first, second)
    outcome = await expand_resources(first, second, by=expander)
    assert (len(outcome.found), outcome.left_out) == (24, (first,))
    rested = time.monotonic() + expansion._REST
    monkeypatch.setattr(expansion, "_now", lambda: rested)
    assert len((await expand_resources(first, second, by=expander)).found) == 48


def facts(found: Occurrence) -> tuple[object, ...]:
    names = ("SUMMARY", "RECURRENCE-ID", "DTSTART", "DTEND", "UID", "X-OWN", "DESCRIPTION")
    lines = tuple(found.event[name].to_ical() if name in found.event else None for name in names)
    return found.start, found.end, found.in_series, lines


@pytest.mark.parametrize(
    "text",
    [
        series("x", "Überstand, kurz", "RRULE:FREQ=HOURLY", "X-OWN:a\\,b", start=":20260220T080000Z"),
        series("x", "Zoned", "RRULE:FREQ=DAILY;BYHOUR=9,21", "EXDATE;TZID=America/New_York:20260302T090000",
               start=";TZID=America/New_York:20260201T090000"),
        series("x", "Floating", "RRULE:FREQ=DAILY;INTERVAL=3;BYMONTH=3", start=":20260302T090000"),
        series("x", "Day", "RRULE:FREQ=YEARLY;BYYEARDAY=61", "DESCRIPTION:" + "long " * 40,
               start=";VALUE=DATE:20200301").replace("DURATION:PT5M\r\n", ""),
        series("x", "Custom", "RRULE:FREQ=DAILY;BYHOUR=10", start=";TZID=Home:20260201T100000", zone=HOME),
        series("x", "Changed", "RRULE:FREQ=HOURLY;INTERVAL=5", start=":20260228T080000Z").replace(
            "END:VCALENDAR", "BEGIN:VEVENT\r\nUID:x\r\nRECURRENCE-ID:20260302T100000Z\r\nDTSTART:20260302T103000Z\r\n"
            "DURATION:PT1H\r\nSUMMARY:Moved\r\nEND:VEVENT\r\nEND:VCALENDAR"),
    ],
    ids=lambda text: text.split("SUMMARY:")[1].split("\r\n")[0],
)  # fmt: skip
def test_the_process_finds_what_is_found_here(text: str) -> None:
    resource = make_resource(text)
    assert not resource.is_plain
    here = occurrences(resource, MONDAY, MONDAY + DAY, BERLIN)
    ((there, refused_for),) = _ask_process([resource], MONDAY, MONDAY + DAY, BERLIN)
    assert here
    assert not refused_for
    assert sorted(map(facts, there.found), key=str) == sorted(map(facts, here), key=str)


@pytest.mark.parametrize(
    ("line", "start", "plain"),
    [
        ("RRULE:FREQ=DAILY", "20200101T080000Z", True),
        ("RRULE:FREQ=DAILY;COUNT=5", "19400101T080000Z", False),
        ("RRULE:FREQ=DAILY;BYDAY=MO;INTERVAL=7", "20200101T080000Z", False),
        ("RRULE:FREQ=DAILY;BYMONTH=13", "20200101T080000Z", False),
        ("RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,FR;WKST=SU;UNTIL=20300101", "20200101", True),
        ("RRULE:FREQ=WEEKLY;BYMONTH=2;BYDAY=MO", "20200101T080000Z", False),
        ("RRULE:FREQ=MONTHLY;BYDAY=FR;BYMONTHDAY=13", "20200101T080000Z", True),
        ("RRULE:FREQ=MONTHLY;BYHOUR=9", "20200101T080000Z", False),
        ("RRULE:FREQ=MONTHLY;BYDAY=" + ",".join(["1MO"] * 61), "20200101T080000Z", False),
        ("RRULE:FREQ=YEARLY", "19010523", True),
        ("rrule;x=y:freq=yearly;bymonth=3;byday=-1su", "19700101T080000Z", True),
        ("RRULE:FREQ=YEARLY;BYEASTER=0", "20200101T080000Z", False),
        ("RRULE:FREQ=HOURLY;COUNT=2", "20200101T080000Z", False),
        ("RRULE:FREQ=DAILY;FREQ=SECONDLY", "20200101T080000Z", False),
        ("RRULE:FREQ=DAILY;INTERVAL=0", "20200101T080000Z", False),
        ("RRULE:FREQ=DAILY;INTERVAL=\u0662", "20200101T080000Z", False),
        ("RRULE:FREQ=DAI\r\n LY;BYMINUTE=1\r\n ,2", "20200101T080000Z", False),
        ("EXRULE:FREQ=SECONDLY", "20200101T080000Z", False),
        ("RDATE:20200102T080000Z,20200103T080000Z", "20200101T080000Z", True),
        ("X-RRULE:FREQ=SECONDLY", "20200101T080000Z", True),
    ],
)
def test_what_is_plain(line: str, start: str, plain: bool) -> None:  # noqa: FBT001  a table
    assert is_plain(series("x", "Standup", line, start=f":{start}")) is plain


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        (("SUMMARY:Lunch\\, long",), "Lunch, long"),
        (("CLASS:PRIVATE",), "A private event"),
        (("SUMMARY:" + "a" * 5_000,), "a" * 79 + "…"),
        (("SUMMARY;LANGUAGE=de:Mit\u202e Umkehr\\nzwei",), "Mit Umkehr zwei"),
        (("SUMMARY:",), "Untitled"),
    ],
)
def test_how_what_is_left_out_is_named(lines: tuple[str, ...], title: str) -> None:
    text = series("x", "Standup", *lines)
    if lines[0].startswith("SUMMARY"):
        text = text.replace("SUMMARY:Standup\r\n", "")
    assert shown_title(make_resource(text)) == title


@pytest.mark.usefixtures("quick")
async def test_the_tools_name_what_is_left_out(tools: ToolClient, other: OtherProgram) -> None:
    """No event stops the program: what cannot be shown is named, and everything else of the day is there."""
    await other.put("x", "UID:x", "SUMMARY:Standup", "DTSTART:20200101T080000Z", "DURATION:PT1M", EACH_MINUTE)
    await tools.create()
    bounds = {"timeMin": "2027-05-04T00:00:00", "timeMax": "2027-05-05T00:00:00"}
    answer = await tools.ok("list-events", calendarId="primary", **bounds)
    assert ([event["id"] for event in answer["events"]], answer["leftOut"]) == (
        ["planfocus00001"],
        [{"summary": "Standup"}],
    )
    stamp = "x_20270504T080000Z"
    assert "not found" in await tools.expect_refusal("get-event", calendarId="primary", eventId=stamp)
