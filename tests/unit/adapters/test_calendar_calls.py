"""Calls of calendars are counted by names of the code: an address holds ids of calendars and events."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fateforger.adapters.google.client import _name_operation as name_google
from fateforger.adapters.google.client import build_path
from fateforger.adapters.microsoft.client import _name_operation as name_microsoft
from fateforger.calendar.calls import count_call
from fateforger.metrics import CALENDAR_CALLS

EVENTS = build_path("calendars", "events/watch@example.org", "events")


@pytest.mark.parametrize(
    ("name", "path", "resource"),
    [
        (name_google, EVENTS, "events"),
        (name_google, f"{EVENTS}/channels", "event"),
        (name_google, f"{EVENTS}/watch", "channel"),
        (name_google, "/channels/stop", "channel"),
        (name_google, "/users/me/calendarList", "calendars"),
        (name_microsoft, "/me/calendar", "calendars"),
        (name_microsoft, "/users/anna/calendars", "calendars"),
        (name_microsoft, "/me/calendars/AAMk/calendarView?$skip=1", "events"),
        (name_microsoft, "/me/calendar/events", "events"),
        (name_microsoft, "/me/events/AAMk", "event"),
        (name_microsoft, "/subscriptions/1", "channel"),
    ],
)
def test_an_operation_is_named_without_ids(name: Callable[[str, str], str], path: str, resource: str) -> None:
    assert name("GET", path) == f"GET {resource}"


def test_a_call_without_an_answer_is_counted_as_one() -> None:
    figure = CALENDAR_CALLS.labels("google", "GET events", "no_answer")
    before = figure._value.get()
    with pytest.raises(OSError, match="down"), count_call("google", "GET events"):
        raise OSError("down")
    assert figure._value.get() == before + 1
