from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from caldav_mcp.edits import time_line
from caldav_mcp.errors import BadRequest
from caldav_mcp.times import Moment, read_bound, read_time, rfc3339, time_problem

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    "value",
    [
        "2027-05-04T10:00:00",
        "2027-05-04T10:00:00Z",
        "2027-05-04T10:00:00+02:00",
        "2027-05-04",
        " 2027-05-04 ",
        '{"dateTime": "2027-05-04T10:00:00", "timeZone": "Asia/Tokyo"}',
        '{"dateTime": "2027-05-04T10:00:00"}',
        '{"date": "2027-05-04"}',
    ],
)
def test_these_are_times(value: str) -> None:
    assert time_problem(value) is None


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("2027-05-04T10:00", "Must be ISO 8601 format: '2025-01-01T10:00:00' for timed events or '2025-01-01' for all-day events"),
        ("2027-05-04T10:00:00.5", "Must be ISO 8601 format: '2025-01-01T10:00:00' for timed events or '2025-01-01' for all-day events"),
        ("tomorrow", "Must be ISO 8601 format: '2025-01-01T10:00:00' for timed events or '2025-01-01' for all-day events"),
        ("{", "Invalid JSON format in time input"),
        ('{"date": "2027-05-04", "dateTime": "2027-05-04T10:00:00"}', "Cannot specify both 'date' and 'dateTime' in time input"),
        ('{"date": "2027-05-4"}', "Invalid date format: must be YYYY-MM-DD (e.g., '2025-01-01')"),
        ('{"date": null}', "Invalid date format: must be YYYY-MM-DD (e.g., '2025-01-01')"),
        ('{"timeZone": "Asia/Tokyo"}', "JSON time object must have either 'dateTime' or 'date' field"),
        (
            '{"dateTime": "2027-05-04T10:00:00", "timeZone": 9}',
            "timeZone must be a string (IANA timezone, e.g., 'America/Los_Angeles')",
        ),
        (
            '{"dateTime": "2027-05-04T10:00:00", "timeZone": " "}',
            "timeZone cannot be empty - provide a valid IANA timezone (e.g., 'America/Los_Angeles') or omit the field",
        ),
        ('{"dateTime": "10:00"}', "Invalid dateTime format: must be ISO 8601 (e.g., '2025-01-01T10:00:00')"),
    ],
)  # fmt: skip
def test_these_are_not(value: str, problem: str) -> None:
    assert time_problem(value) == problem


@pytest.mark.parametrize(
    ("value", "time_zone", "instant", "zone"),
    [
        ("2027-05-04T10:00:00", None, "2027-05-04T08:00:00Z", "Europe/Berlin"),
        ("2027-05-04T10:00:00", "Asia/Tokyo", "2027-05-04T01:00:00Z", "Asia/Tokyo"),
        ("2027-05-04T10:00:00Z", "Asia/Tokyo", "2027-05-04T10:00:00Z", "Europe/Berlin"),
        ("2027-05-04T10:00:00-04:00", "Asia/Tokyo", "2027-05-04T14:00:00Z", "Europe/Berlin"),
        ('{"dateTime": "2027-05-04T10:00:00", "timeZone": "Asia/Tokyo"}', "UTC", "2027-05-04T01:00:00Z", "Asia/Tokyo"),
        ("2027-03-28T02:30:00", None, "2027-03-28T01:30:00Z", "Europe/Berlin"),
        ("2027-10-31T02:30:00", None, "2027-10-31T00:30:00Z", "Europe/Berlin"),
        ("2027-10-31T02:30:00+01:00", None, "2027-10-31T01:30:00Z", "Europe/Berlin"),
    ],
    ids=["calendar", "argument", "Z", "offset", "own", "gap", "first of two", "second of two"],
)
def test_what_a_time_means(value: str, time_zone: str | None, instant: str, zone: str) -> None:
    """S231"""
    expected = Moment(datetime.fromisoformat(instant), None, zone)
    assert read_time(value, time_zone, BERLIN, "start").moment == expected


def test_a_day_begins_at_the_calendars_midnight() -> None:
    moment = read_time("2027-05-04", "Asia/Tokyo", BERLIN, "start").moment
    assert moment == Moment(datetime(2027, 5, 3, 22, tzinfo=UTC), date(2027, 5, 4), "Europe/Berlin")


@pytest.mark.parametrize(
    ("value", "time_zone", "message"),
    [
        ("2027-02-30T10:00:00", None, "Invalid start time."),
        ("2027-02-30", None, "Invalid start time."),
        ("0001-01-01T00:00:00", None, "Invalid start time."),
        ("2027-05-04T10:00:00", "Mars/Olympus", "Invalid time zone definition for start time."),
    ],
)
def test_times_that_do_not_exist_are_refused(value: str, time_zone: str | None, message: str) -> None:
    with pytest.raises(BadRequest) as refusal:
        read_time(value, time_zone, BERLIN, "start")
    assert refusal.value.bare == message


def test_bounds_are_read_like_times() -> None:
    eight = datetime(2027, 5, 4, 8, tzinfo=UTC)
    assert read_bound("2027-05-04T10:00:00", None, BERLIN) == eight
    assert read_bound("2027-05-04T04:00:00", "America/New_York", BERLIN) == eight
    assert read_bound("2027-05-04T08:00:00Z", "America/New_York", BERLIN) == eight
    assert read_bound(None, None, BERLIN) is None
    with pytest.raises(BadRequest):
        read_bound("2027-05-04T10:00:00", "Mars/Olympus", BERLIN)


@pytest.mark.parametrize(
    ("instant", "zone", "line"),
    [
        ("2027-05-04T08:00:00Z", "Europe/Berlin", "DTSTART;TZID=Europe/Berlin:20270504T100000"),
        ("2027-05-04T08:00:00Z", "UTC", "DTSTART:20270504T080000Z"),
        ("2027-10-31T00:30:00Z", "Europe/Berlin", "DTSTART;TZID=Europe/Berlin:20271031T023000"),
        ("2027-10-31T01:30:00Z", "Europe/Berlin", "DTSTART;X-FATEFORGER-TZID=Europe/Berlin:20271031T013000Z"),
    ],
    ids=["zone", "UTC", "first of two", "second of two"],
)
def test_how_a_time_is_written(instant: str, zone: str, line: str) -> None:
    assert time_line("DTSTART", Moment(datetime.fromisoformat(instant), None, zone)) == line


def test_how_instants_are_shown() -> None:
    instant = datetime(2027, 5, 4, 8, 0, 0, 999_999, tzinfo=UTC)
    assert rfc3339(instant, BERLIN) == "2027-05-04T10:00:00+02:00"
    assert rfc3339(instant, ZoneInfo("UTC")) == "2027-05-04T08:00:00Z"
    assert rfc3339(instant, ZoneInfo("Asia/Kathmandu")) == "2027-05-04T13:45:00+05:45"
