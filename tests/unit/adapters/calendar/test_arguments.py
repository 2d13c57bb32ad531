"""Exact arguments of each call: each one avoids a pitfall of the server."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from tests.unit.adapters.calendar.test_wire import EXTRAS

from fateforger.adapters.calendar.wire import (
    SHOWN_FIELDS,
    Target,
    build_create_arguments,
    build_delete_arguments,
    build_get_arguments,
    build_list_arguments,
    build_update_arguments,
)
from fateforger.calendar.directory import format_time, resolve_start
from fateforger.calendar.event import EventFields, Marker

PRIMARY = Target("primary", None, "Europe/Berlin")
TEAM = Target("team@example.com", "work", "Europe/Berlin")
NINE = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
FIELDS = EventFields(summary="Deep work", description="Notes", start=NINE, end=NINE + timedelta(hours=1), color_id="9")
MARKER = Marker(key="a-block", generation=1, day=date(2026, 3, 2), op_id="t1-0")
PROPERTIES = {"private": {"ffu": "a-block", "ffg": "1", "ffd": "2026-03-02", "ffo": "t1-0"}}

# Arguments that list-events and get-event of 2.6.3 take; they refuse any other name.
KNOWN_FIELDS = [
    "id",
    "summary",
    "description",
    "start",
    "end",
    "location",
    "attendees",
    "colorId",
    "transparency",
    "extendedProperties",
    "reminders",
    "conferenceData",
    "attachments",
    "status",
    "htmlLink",
    "created",
    "updated",
    "creator",
    "organizer",
    "recurrence",
    "recurringEventId",
    "originalStartTime",
    "visibility",
    "iCalUID",
    "sequence",
    "hangoutLink",
    "anyoneCanAddSelf",
    "guestsCanInviteOthers",
    "guestsCanModify",
    "guestsCanSeeOtherGuests",
    "privateCopy",
    "locked",
    "source",
    "eventType",
]


def test_create() -> None:
    assert build_create_arguments(TEAM, "fftb0", FIELDS, MARKER) == {
        "calendarId": "team@example.com",
        "account": "work",
        "eventId": "fftb0",
        "summary": "Deep work",
        "description": "Notes",
        "start": "2026-03-02T08:00:00Z",
        "end": "2026-03-02T09:00:00Z",
        "timeZone": "Europe/Berlin",
        "colorId": "9",
        "extendedProperties": PROPERTIES,
        "sendUpdates": "none",
        "allowDuplicates": True,
        "calendarsToCheck": [],
    }


def test_create_with_all_that_a_person_added() -> None:
    """K12: what the server takes, under its own names; nothing that it does not; and no mail to anyone."""
    given = build_create_arguments(PRIMARY, "fftb0", FIELDS, MARKER, EXTRAS)
    more = {
        name: value for name, value in given.items() if name not in build_create_arguments(PRIMARY, "x", FIELDS, MARKER)
    }
    assert more == {
        "location": "Room 5",
        "reminders": {"useDefault": False, "overrides": [{"method": "popup", "minutes": 5}]},
        "attendees": [{"email": "a@b.example"}, {"email": "b@b.example", "responseStatus": "accepted"}],
        "guestsCanModify": True,
        "attachments": [{"fileUrl": "https://example.com/x", "title": "X"}],
        "source": {"url": "https://example.com", "title": "Ticket"},
        "visibility": "private",
        "transparency": "transparent",
        "otherProperties": ["CATEGORIES:Work"],
    }
    assert given["extendedProperties"] == {"private": {"planId": "p1", **MARKER.properties()}, "shared": {"room": "5"}}
    assert given["sendUpdates"] == "none"


def test_create_without_notes_and_color() -> None:
    plain = FIELDS.model_copy(update={"description": "", "color_id": None})
    given = build_create_arguments(PRIMARY, "fftb0", plain, MARKER)
    assert given.keys() == build_create_arguments(PRIMARY, "fftb0", FIELDS, MARKER).keys() - {"description", "colorId"}


def test_update() -> None:
    changes = {"summary": "Other", "description": "", "start": NINE, "end": NINE + timedelta(hours=2), "color_id": "4"}
    assert build_update_arguments(TEAM, "fftb0", changes, MARKER, '"e1"') == {
        "calendarId": "team@example.com",
        "account": "work",
        "eventId": "fftb0",
        "summary": "Other",
        "description": "",
        "colorId": "4",
        "start": "2026-03-02T08:00:00Z",
        "end": "2026-03-02T10:00:00Z",
        "timeZone": "Europe/Berlin",
        "extendedProperties": PROPERTIES,
        "checkConflicts": False,
        "calendarsToCheck": [],
        "sendUpdates": "none",
        "ifMatch": '"e1"',
    }


def test_update_of_nothing_but_the_marker() -> None:
    assert build_update_arguments(PRIMARY, "fftb0", {"color_id": None}, MARKER, None) == {
        "calendarId": "primary",
        "eventId": "fftb0",
        "timeZone": "Europe/Berlin",
        "extendedProperties": PROPERTIES,
        "checkConflicts": False,
        "calendarsToCheck": [],
        "sendUpdates": "none",
    }


def test_delete() -> None:
    assert build_delete_arguments(TEAM, "fftb0", '"e1"') == {
        "calendarId": "team@example.com",
        "account": "work",
        "eventId": "fftb0",
        "sendUpdates": "none",
        "ifMatch": '"e1"',
    }
    assert build_delete_arguments(PRIMARY, "fftb0", None) == {
        "calendarId": "primary",
        "eventId": "fftb0",
        "sendUpdates": "none",
    }


def test_reads() -> None:
    fields = list(SHOWN_FIELDS)
    assert build_get_arguments(TEAM, "fftb0") == {
        "calendarId": "team@example.com",
        "account": "work",
        "eventId": "fftb0",
        "fields": fields,
    }
    assert build_list_arguments(PRIMARY, NINE, NINE + timedelta(hours=1, microseconds=1)) == {
        "calendarId": "primary",
        "timeMin": "2026-03-02T08:00:00Z",
        "timeMax": "2026-03-02T09:00:01Z",
        "timeZone": "Europe/Berlin",
        "fields": fields,
    }


def test_only_fields_that_the_server_knows_are_asked_for() -> None:
    assert set(SHOWN_FIELDS) - set(KNOWN_FIELDS) == set()


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (NINE, "2026-03-02T08:00:00Z"),
        (NINE + timedelta(microseconds=999_999), "2026-03-02T08:00:00Z"),
        (NINE.astimezone(timezone(timedelta(hours=12, minutes=45))), "2026-03-02T08:00:00Z"),
        (datetime(999, 1, 1, tzinfo=UTC), "0999-01-01T00:00:00Z"),
    ],
)
def test_times(moment: datetime, written: str) -> None:
    assert format_time(moment) == written


@pytest.mark.parametrize(
    ("day", "instant"),
    [
        (date(2026, 3, 2), datetime(2026, 3, 1, 23, tzinfo=UTC)),
        (date(2026, 7, 1), datetime(2026, 6, 30, 22, tzinfo=UTC)),
    ],
)
def test_a_day_begins_at_midnight_of_the_zone(day: date, instant: datetime) -> None:
    assert resolve_start(day, "Europe/Berlin") == instant
