"""Events written by other CalDAV programs: any UID, any form of time, any property."""

from __future__ import annotations

import pytest
from tests.caldav_mcp.clients import OtherProgram, ToolClient

from caldav_mcp.ids import id_of

MORNING = ("SUMMARY:Dentist", "DTSTART:20270504T080000Z", "DTEND:20270504T090000Z")
UID = "5D1C3A4E-1@example.com"
DENTIST = id_of(UID)

ZONE = """BEGIN:VTIMEZONE
TZID:Ruritania
BEGIN:STANDARD
DTSTART:19700101T000000
TZOFFSETFROM:+0300
TZOFFSETTO:+0300
END:STANDARD
END:VTIMEZONE"""


async def test_any_uid_gets_a_stable_legal_id(tools: ToolClient, other: OtherProgram) -> None:
    await other.put("somewhere else", f"UID:{UID}", *MORNING)
    (event,) = await tools.day()
    assert (event["id"], event["iCalUID"], event["summary"]) == (DENTIST, UID, "Dentist")
    assert await tools.get(DENTIST) == event
    assert event["start"] == {"dateTime": "2027-05-04T10:00:00+02:00", "timeZone": "UTC"}


async def test_a_uid_too_long_for_an_id_is_found_again(tools: ToolClient, other: OtherProgram) -> None:
    uid = "Long-" * 150
    await other.put("long", f"UID:{uid}", *MORNING)
    (event,) = await tools.day()
    assert (len(event["id"]), event["iCalUID"]) == (55, uid)
    assert await tools.get(event["id"]) == event
    await tools.update(event["id"], summary="Other")
    assert await tools.titles() == ["Other"]


async def test_uids_that_contain_each_other_are_told_apart(tools: ToolClient, other: OtherProgram) -> None:
    for n, uid in enumerate((f"x{UID}", f"{UID}x", UID)):
        await other.put(f"object{n}", f"UID:{uid}", f"SUMMARY:{n}", "DTSTART:20270504T080000Z")
    assert (await tools.get(DENTIST))["summary"] == "2"


async def test_the_id_of_another_programs_event_is_taken(tools: ToolClient, other: OtherProgram) -> None:
    """S237"""
    await other.put("x", f"UID:{UID}", *MORNING)
    refusal = await tools.expect_refusal(
        "create-event", calendarId="primary", eventId=DENTIST, summary="Mine", start="2027-06-04", end="2027-06-05"
    )
    assert refusal == f"Event ID '{DENTIST}' already exists. Please use a different ID."
    await tools.delete(DENTIST)
    assert (await tools.get(DENTIST))["status"] == "cancelled"


async def test_another_programs_object_may_have_the_name_of_ours(tools: ToolClient, other: OtherProgram) -> None:
    await other.put("planfocus00001", f"UID:{UID}", *MORNING)
    created = await tools.create(start="2027-05-04T12:00:00", end="2027-05-04T13:00:00")
    assert await tools.get() == created
    assert await tools.titles() == ["Dentist", "Plan work"]
    await tools.update(summary="Other")
    await tools.delete()
    assert (await tools.get())["status"] == "cancelled"
    assert await tools.titles() == ["Dentist"]


async def test_what_we_do_not_know_survives_our_update(tools: ToolClient, other: OtherProgram) -> None:
    known = ("SUMMARY;LANGUAGE=de:Zahnarzt", "DTSTART:20270504T080000Z", "DURATION:PT1H", "SEQUENCE:4")
    unknown = (
        "CATEGORIES:HEALTH,BORING",
        "GEO:52.5;13.4",
        'X-APPLE-STRUCTURED-LOCATION;VALUE=URI;X-TITLE="Praxis; Mitte":geo:52',
        "X-MOZ-LASTACK:20270101T000000Z",
        'ATTENDEE;CN="Ada; Countess";PARTSTAT=ACCEPTED;X-OWN=1:mailto:ada@example.com',
        "PRIORITY:5",
    )
    await other.put("x", f"UID:{UID}", *known, *unknown, "BEGIN:VALARM", "ACTION:AUDIO", "TRIGGER:-PT7M", "END:VALARM")
    before = set(await other.lines("x"))
    tools.clock.passes(days=1)
    event = await tools.update(DENTIST, summary="Dentist", colorId="4", extendedProperties={"private": {"a": "1"}})
    assert event["reminders"] == {"useDefault": False, "overrides": [{"method": "popup", "minutes": 7}]}
    after = set(await other.lines("x"))
    assert before - after == {"SUMMARY;LANGUAGE=de:Zahnarzt", "DTSTAMP:20260101T000000Z"}
    assert after - before == {
        "SUMMARY:Dentist",
        "COLOR:lightcoral",
        "X-FATEFORGER-COLOR-ID:4",
        "X-FATEFORGER-PRIVATE;KEY=a:1",
        "X-FATEFORGER-UPDATED:2026-11-22T00:20:00.380Z",
        "DTSTAMP:20261122T002000Z",
        "LAST-MODIFIED:20261122T002000Z",
    }


async def test_moving_the_start_pins_an_end_that_hangs_on_it(tools: ToolClient, other: OtherProgram) -> None:
    await other.put("x", f"UID:{UID}", "SUMMARY:Dentist", "DTSTART:20270504T080000Z", "DURATION:PT2H")
    event = await tools.update(DENTIST, start="2027-05-04T09:00:00")
    assert (event["start"]["dateTime"], event["end"]["dateTime"]) == (
        "2027-05-04T09:00:00+02:00",
        "2027-05-04T12:00:00+02:00",
    )


@pytest.mark.parametrize(
    ("lines", "start", "end", "zone"),
    [
        (("DTSTART;TZID=America/New_York:20270504T100000", "DTEND;TZID=America/New_York:20270504T110000"), "16", "17", "America/New_York"),
        (("DTSTART;TZID=W. Europe Standard Time:20270504T100000", "DURATION:PT1H"), "10", "11", "Europe/Berlin"),
        (("DTSTART;TZID=Ruritania:20270504T100000", "DTEND;TZID=Ruritania:20270504T110000"), "09", "10", "Europe/Berlin"),
        (("DTSTART:20270504T100000", "DTEND:20270504T110000"), "10", "11", "Europe/Berlin"),
        (("DTSTART:20270504T100000Z", "DURATION:PT1H"), "12", "13", "UTC"),
        (("DTSTART;TZID=Europe/Berlin:20270504T100000",), "10", "10", "Europe/Berlin"),
    ],
    ids=["IANA", "Windows", "own rules", "floating", "UTC", "no end"],
)  # fmt: skip
async def test_forms_of_time(
    tools: ToolClient, other: OtherProgram, lines: tuple[str, ...], start: str, end: str, zone: str
) -> None:
    """S231"""
    await other.put("x", f"UID:{UID}", "SUMMARY:Dentist", *lines, zone=ZONE)
    (event,) = await tools.day()
    assert event["start"] == {"dateTime": f"2027-05-04T{start}:00:00+02:00", "timeZone": zone}
    assert event["end"] == {"dateTime": f"2027-05-04T{end}:00:00+02:00", "timeZone": zone}


async def test_a_floating_event_stays_floating_when_its_time_stays(tools: ToolClient, other: OtherProgram) -> None:
    await other.put("x", f"UID:{UID}", "SUMMARY:Dentist", "DTSTART:20270504T100000", "DTEND:20270504T110000")
    await tools.update(DENTIST, start="2027-05-04T10:00:00", end="2027-05-04T12:00:00")
    times = {line for line in await other.lines("x") if line.startswith(("DTSTART:2027", "DTEND"))}
    assert times == {"DTSTART:20270504T100000", "DTEND;TZID=Europe/Berlin:20270504T120000"}


@pytest.mark.parametrize(
    ("lines", "start", "end"),
    [
        (("DTSTART;VALUE=DATE:20270504",), "2027-05-04", "2027-05-05"),
        (("DTSTART;VALUE=DATE:20270504", "DURATION:P2D"), "2027-05-04", "2027-05-06"),
        (("DTSTART;VALUE=DATE:20270503", "DTEND;VALUE=DATE:20270505"), "2027-05-03", "2027-05-05"),
    ],
)
async def test_whole_days(tools: ToolClient, other: OtherProgram, lines: tuple[str, ...], start: str, end: str) -> None:
    await other.put("x", f"UID:{UID}", "SUMMARY:Holiday", *lines)
    (event,) = await tools.day()
    assert (event["start"], event["end"]) == ({"date": start}, {"date": end})


async def test_a_day_begins_and_ends_at_the_calendars_midnight(tools: ToolClient, other: OtherProgram) -> None:
    await other.put("x", f"UID:{UID}", "SUMMARY:Holiday", "DTSTART;VALUE=DATE:20270504")
    found = [await tools.titles(day) for day in ("2027-05-03", "2027-05-04", "2027-05-05")]
    assert found == [[], ["Holiday"], []]
    last = {"timeMin": "2027-05-04T23:59:58", "timeMax": "2027-05-04T23:59:59"}
    assert await tools.titles(**last) == ["Holiday"]


async def test_events_that_began_yesterday(tools: ToolClient, other: OtherProgram) -> None:
    """S230"""
    await other.put("a", "UID:night", "SUMMARY:Night train", "DTSTART:20270503T201000Z", "DTEND:20270504T044500Z")
    await other.put("b", "UID:trip", "SUMMARY:Trip", "DTSTART:20270501T080000Z", "DTEND:20270509T080000Z")
    assert await tools.titles() == ["Trip", "Night train"]


async def test_a_day_of_twenty_five_hours(tools: ToolClient, other: OtherProgram) -> None:
    """S231"""
    for name, start in (
        ("a", "20271030T220000Z"),
        ("b", "20271031T003000Z"),
        ("c", "20271031T013000Z"),
        ("d", "20271031T223000Z"),
    ):
        await other.put(name, f"UID:{name}", f"SUMMARY:{name}", f"DTSTART:{start}", "DURATION:PT30M")
    times = [(e["summary"], e["start"]["dateTime"]) for e in await tools.day("2027-10-31")]
    assert times == [
        ("a", "2027-10-31T00:00:00+02:00"),
        ("b", "2027-10-31T02:30:00+02:00"),
        ("c", "2027-10-31T02:30:00+01:00"),
        ("d", "2027-10-31T23:30:00+01:00"),
    ]


async def test_a_duration_of_days_goes_by_the_clock_on_the_wall(tools: ToolClient, other: OtherProgram) -> None:
    await other.put("a", "UID:a", "SUMMARY:a", "DTSTART;TZID=Europe/Berlin:20270327T120000", "DURATION:P1D")
    await other.put("b", "UID:b", "SUMMARY:b", "DTSTART;TZID=Europe/Berlin:20270327T120000", "DURATION:P1DT20H")
    ends = [event["end"]["dateTime"] for event in await tools.day("2027-03-27")]
    assert ends == ["2027-03-28T12:00:00+02:00", "2027-03-29T08:00:00+02:00"]


async def test_cancelled_events_are_not_listed(tools: ToolClient, other: OtherProgram) -> None:
    await other.put("x", f"UID:{UID}", *MORNING, "STATUS:CANCELLED")
    assert await tools.titles() == []
    assert (await tools.get(DENTIST))["status"] == "cancelled"
    assert (await tools.update(DENTIST, summary="Back"))["summary"] == "Dentist"
    refusal = await tools.expect_refusal("delete-event", calendarId="primary", eventId=DENTIST)
    assert (
        refusal == "MCP error -32600: Google API error: Resource has been deleted. Details: Resource has been deleted"
    )


async def test_tentative_and_free_events(tools: ToolClient, other: OtherProgram) -> None:
    await other.put("x", f"UID:{UID}", *MORNING, "STATUS:TENTATIVE", "TRANSP:TRANSPARENT")
    (event,) = await tools.day()
    assert (event["status"], event["transparency"]) == ("tentative", "transparent")


async def test_an_invitation(tools: ToolClient, other: OtherProgram) -> None:
    """S75: it is not organized by the owner, and only what is the owner's own may be changed."""
    await other.put(
        "x", f"UID:{UID}", *MORNING,
        "ORGANIZER;CN=Ada:mailto:ada@example.com",
        "ATTENDEE;PARTSTAT=ACCEPTED;CN=Ada:mailto:ada@example.com",
        "ATTENDEE;PARTSTAT=DECLINED:MAILTO:me@localhost",
        "ATTENDEE;PARTSTAT=TENTATIVE;ROLE=OPT-PARTICIPANT:mailto:bob@example.com",
        "ATTENDEE;CUTYPE=ROOM:mailto:room@example.com",
    )  # fmt: skip
    (event,) = await tools.day()
    assert event["organizer"] == {"email": "ada@example.com", "displayName": "Ada"}
    assert event["attendees"] == [
        {"email": "ada@example.com", "displayName": "Ada", "responseStatus": "accepted", "organizer": True},
        {"email": "me@localhost", "responseStatus": "declined", "self": True},
        {"email": "bob@example.com", "responseStatus": "tentative", "optional": True},
        {"email": "room@example.com", "responseStatus": "needsAction", "resource": True},
    ]
    named = {"calendarId": "primary", "eventId": DENTIST}
    for change in ({"summary": "Mine"}, {"start": "2027-05-04T12:00:00", "end": "2027-05-04T13:00:00"}):
        refusal = await tools.expect_refusal("update-event", **named, **change)
        assert refusal == "Shared properties can only be changed by the organizer of the event."
    own = {"colorId": "4", "extendedProperties": {"private": {"a": "1"}}, "reminders": {"useDefault": False}}
    changed = await tools.update(DENTIST, **own)
    assert {name: changed[name] for name in own} == own


async def test_declined_and_free_events_do_not_make_busy(tools: ToolClient, other: OtherProgram) -> None:
    people = ("ORGANIZER:mailto:ada@example.com", "ATTENDEE;PARTSTAT=DECLINED:mailto:me@localhost")
    await other.put("x", f"UID:{UID}", *MORNING, *people)
    await other.put("y", "UID:y", *MORNING, "TRANSP:TRANSPARENT")
    await other.put("z", "UID:z", *MORNING, "STATUS:CANCELLED")
    bounds = {"timeMin": "2027-05-04T00:00:00", "timeMax": "2027-05-05T00:00:00"}
    answer = await tools.ok("get-freebusy", calendars=[{"id": "primary"}], **bounds)
    assert answer["calendars"] == {"primary": {"busy": []}}


@pytest.mark.parametrize(
    ("css", "color_id"),
    [("royalblue", "9"), ("Crimson", "11"), ("green", "10"), ("papayawhip", None)],
)
async def test_colors_of_other_programs(tools: ToolClient, other: OtherProgram, css: str, color_id: str | None) -> None:
    await other.put("x", f"UID:{UID}", *MORNING, f"COLOR:{css}")
    (event,) = await tools.day()
    assert event.get("colorId") == color_id


async def test_another_program_changes_the_color_of_ours(tools: ToolClient, other: OtherProgram) -> None:
    await tools.create(colorId="9")
    await other.edit("planfocus00001", "COLOR:royalblue", "COLOR:crimson")
    assert (await tools.get())["colorId"] == "11"
    await other.edit("planfocus00001", "COLOR:crimson\r\n", "")
    assert (await tools.get())["colorId"] == "9"


async def test_another_program_changes_ours(tools: ToolClient, other: OtherProgram) -> None:
    """S200"""
    before = await tools.create(description="d")
    await other.edit("planfocus00001", "SUMMARY:Plan work", "SUMMARY:Moved by me")
    seen = await tools.get()
    assert seen == before | {"summary": "Moved by me", "etag": seen["etag"]}
    named = {"calendarId": "primary", "eventId": "planfocus00001", "ifMatch": before["etag"]}
    assert await tools.expect_refusal("update-event", **named, description="new") == "Precondition Failed"
    after = await tools.update(description="new")
    assert (after["summary"], after["description"]) == ("Moved by me", "new")


async def test_what_another_program_deleted_stays_deleted(tools: ToolClient, other: OtherProgram) -> None:
    """S237"""
    before = await tools.create(description="d")
    await other.delete()
    gone = await tools.get()
    assert gone == {k: v for k, v in before.items() if k != "etag"} | {"status": "cancelled"}
    refusal = await tools.expect_refusal("delete-event", calendarId="primary", eventId="planfocus00001")
    assert (
        refusal == "MCP error -32600: Google API error: Resource has been deleted. Details: Resource has been deleted"
    )
    assert await tools.update(summary="Back") == gone
    refusal = await tools.expect_refusal(
        "create-event",
        calendarId="primary",
        eventId="planfocus00001",
        summary="x",
        start="2027-05-04",
        end="2027-05-05",
    )
    assert refusal == "Event ID 'planfocus00001' already exists. Please use a different ID."


async def test_what_another_program_puts_back_is_back(tools: ToolClient, other: OtherProgram) -> None:
    before = await tools.create()
    text = await other.get()
    await tools.delete()
    await other.store("planfocus00001", text)
    back = await tools.get()
    assert back == before | {"etag": back["etag"]}
    assert await tools.titles() == ["Plan work"]


async def test_stamps_of_another_program_count(tools: ToolClient, other: OtherProgram) -> None:
    await tools.create()
    await other.edit("planfocus00001", "LAST-MODIFIED:20261121T002000Z", "LAST-MODIFIED:20270101T000000Z")
    assert (await tools.get())["updated"] == "2027-01-01T00:00:00.000Z"


async def test_an_object_without_an_event_is_no_event(tools: ToolClient, other: OtherProgram) -> None:
    await other.put("todo", "BEGIN:VTODO", "UID:todo1", "DTSTAMP:20260101T000000Z", "SUMMARY:Buy milk", "END:VTODO")
    assert await tools.titles() == []
    refusal = await tools.expect_refusal("get-event", calendarId="primary", eventId="todo1")
    assert refusal == "MCP error -32603: Internal error: Event with ID 'todo1' not found in calendar 'primary'."
