"""Events as the server shows them, and what is not an event at all."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import pytest

from fateforger.adapters.calendar.wire import CalendarsAnswer, DeleteAnswer, EventAnswer, EventsAnswer, read_answer
from fateforger.calendar.directory import Unreadable, read_event
from fateforger.calendar.event import PLAIN, EventExtras, EventImage

BERLIN = {"start": "2027-05-04T10:00:00+02:00", "end": "2027-05-04T11:00:00+02:00"}
MINE = {"email": "owner@example.com", "self": True}


def build_event(**given: Any) -> dict[str, Any]:
    """Return an event as ``create-event`` answered it; a field given as ``None`` is left out."""
    whole = {
        "id": "planfocus00001",
        "summary": "Plan work",
        "description": "by probe",
        "location": "Desk",
        "start": {"dateTime": BERLIN["start"], "timeZone": "Europe/Berlin"},
        "end": {"dateTime": BERLIN["end"], "timeZone": "Europe/Berlin"},
        "startDayOfWeek": "Tuesday",
        "endDayOfWeek": "Tuesday",
        "status": "confirmed",
        "htmlLink": "https://www.google.com/calendar/event?eid=x",
        "created": "2026-11-21T00:20:00.000Z",
        "updated": "2026-11-21T00:20:00.380Z",
        "colorId": "9",
        "creator": MINE,
        "organizer": MINE,
        "visibility": "private",
        "iCalUID": "planfocus00001@google.com",
        "sequence": 0,
        "reminders": {"useDefault": False, "overrides": [{"method": "popup", "minutes": 5}]},
        "eventType": "default",
        "extendedProperties": {"private": {"planId": "p1", "rev": "1"}},
        "calendarId": "primary",
        "accountId": "normal",
    }
    return {name: value for name, value in (whole | given).items() if value is not None}


def test_a_whole_event() -> None:
    assert read_event(build_event()) == EventImage(
        id="planfocus00001",
        summary="Plan work",
        description="by probe",
        start=datetime(2027, 5, 4, 8, tzinfo=UTC),
        end=datetime(2027, 5, 4, 9, tzinfo=UTC),
        color_id="9",
        properties={"planId": "p1", "rev": "1"},
        version="2026-11-21T00:20:00.380Z",
        html_link="https://www.google.com/calendar/event?eid=x",
        raw=build_event(),
    )


def test_the_least_an_event_can_be() -> None:
    least = {"id": "x", "start": {"date": "2027-05-04"}, "end": {"date": "2027-05-05"}}
    expected = EventImage(id="x", start=date(2027, 5, 4), end=date(2027, 5, 5), raw=least)
    assert read_event(least) == expected


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({"etag": '"e1"'}, "version", '"e1"'),
        ({"transparency": "transparent"}, "busy", False),
        ({"transparency": "opaque"}, "busy", True),
        ({"attendees": [{"email": "a@b", "self": True, "responseStatus": "declined"}]}, "busy", False),
        ({"attendees": [{"email": "a@b", "responseStatus": "declined"}]}, "busy", True),
        ({"organizer": {"email": "boss@example.com"}}, "organized_by_me", False),
        ({"organizer": None}, "organized_by_me", True),
        ({"recurringEventId": "series00001"}, "series_id", "series00001"),
        ({"recurrence": ["RRULE:FREQ=DAILY"]}, "series_id", "planfocus00001"),
        ({"recurrence": []}, "series_id", None),
        ({"eventType": "focusTime"}, "event_type", "focusTime"),
        ({"status": "cancelled"}, "status", "cancelled"),
        ({"status": "tentative"}, "status", "tentative"),
        ({"extendedProperties": {"shared": {"a": "b"}}}, "properties", {}),
        ({"description": None}, "description", ""),
        ({"summary": None}, "summary", ""),
        ({"colorId": None}, "color_id", None),
        ({"updated": None}, "version", None),
        ({"aNewField": {"of": "Google"}}, "summary", "Plan work"),
    ],
)
def test_single_fields(given: dict[str, Any], field: str, value: object) -> None:
    event = build_event(**given)
    image = read_event(event)
    assert getattr(image, field) == value
    assert image.raw == event


def test_two_zones() -> None:
    event = build_event(
        start={"dateTime": "2027-05-04T22:00:00+02:00", "timeZone": "Europe/Berlin"},
        end={"dateTime": "2027-05-05T07:30:00+02:00", "timeZone": "America/New_York"},
    )
    image = read_event(event)
    assert (image.start, image.end) == (
        datetime(2027, 5, 4, 20, tzinfo=UTC),
        datetime(2027, 5, 5, 5, 30, tzinfo=UTC),
    )


def test_an_occurrence_that_was_taken_out() -> None:
    event = build_event(
        start={}, end={}, status="cancelled", originalStartTime={"dateTime": BERLIN["start"]}, recurringEventId="s0001"
    )
    image = read_event(event)
    assert (image.gone, image.start, image.end) == (True, image.start, image.start)
    assert image.start == datetime(2027, 5, 4, 8, tzinfo=UTC)


WHOLE = {
    "location": " Room 5 ",
    "reminders": {"useDefault": False, "overrides": [{"method": "popup", "minutes": 5}]},
    "attendees": [{"email": "b@b.example", "responseStatus": "accepted", "self": True}, {"email": "a@b.example"}],
    "guestsCanModify": True,
    "attachments": [{"fileUrl": "https://example.com/x", "title": "X", "fileId": ""}],
    "hangoutLink": "https://meet.example.com/x",
    "source": {"url": "https://example.com", "title": "Ticket"},
    "visibility": "private",
    "transparency": "transparent",
    "status": "tentative",
    "extendedProperties": {"private": {"planId": "p1", "ffu": "a"}, "shared": {"room": "5"}},
    "otherProperties": ["CATEGORIES:Work"],
}
EXTRAS = EventExtras(
    location="Room 5",
    reminders=(("popup", 5),),
    guests=({"email": "a@b.example"}, {"email": "b@b.example", "responseStatus": "accepted"}),
    guest_rights={"guestsCanModify": True},
    attachments=({"fileUrl": "https://example.com/x", "title": "X"},),
    conference="https://meet.example.com/x",
    source={"url": "https://example.com", "title": "Ticket"},
    visibility="private",
    free=True,
    tentative=True,
    properties={"planId": "p1"},
    shared_properties={"room": "5"},
    others=("CATEGORIES:Work",),
)


def test_what_is_beyond_the_managed_fields() -> None:
    """K12: each extra field is read, and an untouched event has none of them."""
    least = {"id": "x", "start": {"date": "2027-05-04"}, "end": {"date": "2027-05-05"}}
    assert read_event(least | {"reminders": {"useDefault": True}, "attendees": []}).extras == PLAIN
    assert read_event(least | WHOLE).extras == EXTRAS
    assert {name for name in EventExtras.model_fields if getattr(EXTRAS, name) == getattr(PLAIN, name)} == set()


def test_an_image_of_an_earlier_version_can_be_read() -> None:
    """An image in the journal that still says ``enriched``."""
    image = read_event(build_event(location="Room 5"))
    assert EventImage.model_validate({**image.model_dump(), "enriched": True}) == image


@pytest.mark.parametrize("given", [{"reminders": ["x"]}, {"attendees": ["a@b"]}, {"attachments": {"x": "y"}}])
def test_extras_in_another_form_are_unreadable(given: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        read_event(build_event(**given))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"id": None}, "Field required at id"),
        ({"id": ""}, "String should have at least 1 character at id"),
        ({"start": {}, "end": {}}, "event planfocus00001 has no start and end"),
        ({"end": {"date": "2027-05-05"}}, "event planfocus00001 has no start and end"),
        ({"start": {"dateTime": "2027-05-04T10:00:00"}}, "Input should have timezone info at start.dateTime"),
        ({"status": "undecided"}, "Input should be 'confirmed', 'tentative' or 'cancelled' at status"),
        ({"colorId": 9}, "Input should be a valid string at colorId"),
        (
            {"extendedProperties": {"private": {"ffu": 1}}},
            "Input should be a valid string at extendedProperties.private.ffu",
        ),
    ],
)
def test_what_is_not_an_event(given: dict[str, Any], problem: str) -> None:
    """S109"""
    with pytest.raises(Unreadable) as raised:
        read_event(build_event(**given))
    assert str(raised.value) == problem


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("", EventAnswer),
        ("Event created!", EventAnswer),
        ("[]", EventAnswer),
        ("{}", EventAnswer),
        ('{"event": "x"}', EventAnswer),
        ('{"events": []}', EventsAnswer),
        ('{"totalCount": 0}', EventsAnswer),
        ('{"success": false}', DeleteAnswer),
        ('{"calendars": [{}]}', CalendarsAnswer),
        ("NaN", EventsAnswer),
    ],
)
def test_what_is_not_an_answer(text: str, model: type[Any]) -> None:
    """S109"""
    with pytest.raises(Unreadable):
        read_answer(text, model)


def test_answers() -> None:
    listed = {"events": [build_event()], "totalCount": 1, "calendars": ["primary"], "note": "merged"}
    answer = read_answer(json.dumps(listed), EventsAnswer)
    assert (answer.events, answer.total_count, answer.partial_failures) == ((build_event(),), 1, ())
    warned = {
        "event": build_event(),
        "conflicts": [{}],
        "duplicates": [{}],
        "warnings": ["Found 1 scheduling conflict(s)"],
    }
    assert read_answer(json.dumps(warned), EventAnswer).event == build_event()
