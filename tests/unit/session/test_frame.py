"""The frame of a day on the real time line."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest
from tests.unit.conversation.sessions import at, session

from fateforger.errors import BadInput
from fateforger.session.day import day_to_plan, day_window, frame_span, instant_in, local_today
from fateforger.session.model import FrameFacts
from fateforger.session.overview import frame_words
from fateforger.session.stages import TimeboxingStage
from fateforger.text import format_day

TZ = "Europe/Amsterdam"


def hours(start: str, end: str, day: date = date(2026, 3, 2)) -> float:
    frame = FrameFacts(day_start=time.fromisoformat(start), day_end=time.fromisoformat(end))
    first, last = frame_span(day, TZ, frame)
    return (last.astimezone(UTC) - first.astimezone(UTC)) / timedelta(hours=1)


@pytest.mark.parametrize(
    ("start", "end", "long"),
    [
        ("09:00", "18:00", 9),
        ("09:00", "00:00", 15),
        ("10:00", "01:30", 15.5),
        ("22:00", "06:00", 8),
        ("20:00", "08:00", 12),
        ("00:00", "23:59", 23 + 59 / 60),
    ],
)
def test_plausible_frames(start: str, end: str, long: float) -> None:
    assert hours(start, end) == pytest.approx(long)


@pytest.mark.parametrize(
    ("start", "end"), [("14:00", "13:00"), ("18:00", "09:00"), ("09:00", "09:00"), ("06:00", "05:00")]
)
def test_an_end_before_the_start_is_a_mistake(start: str, end: str) -> None:
    """The message is one sentence with the remedy."""
    with pytest.raises(BadInput) as caught:
        hours(start, end)
    assert caught.value.message == (
        f"Your day would end at {end}, before it starts at {start}."
        " Choose an end after the start, or an end in the night that follows."
    )


def test_days_on_which_the_clock_changes() -> None:
    """S231"""
    assert hours("00:00", "12:00", date(2026, 3, 29)) == 11
    assert hours("00:00", "12:00", date(2026, 10, 25)) == 13
    assert hours("22:00", "06:00", date(2026, 3, 28)) == 7


def test_a_frame_inside_the_hour_that_is_skipped() -> None:
    assert hours("02:00", "03:00", date(2026, 3, 28)) == 1
    with pytest.raises(BadInput) as caught:
        hours("02:30", "03:30", date(2026, 3, 29))
    assert caught.value.message == "On that day the clocks change between 02:30 and 03:30."


def test_frames_in_words() -> None:
    frame = FrameFacts(day_start=time(20), day_end=time(2), lunch_start=None)
    now = session(frame=frame)
    assert frame_words(now) == "20:00–02:00 (6 h, until the next day), no lunch break"


def test_a_time_of_day_in_the_night_after() -> None:
    """S230: half past midnight belongs to the frame that reaches there, eight in the morning does not."""
    now = session(TimeboxingStage.REFINE, frame=FrameFacts(day_start=time(20), day_end=time(4)))
    assert instant_in(now, time(0, 30)) == at("00:30", date(2026, 3, 3))
    assert instant_in(now, time(21, 0)) == at("21:00")
    assert instant_in(now, time(8, 0)) == at("08:00")


def test_what_is_read_of_a_calendar() -> None:
    start, end = day_window(date(2026, 3, 29), TZ)
    assert (end.astimezone(UTC) - start.astimezone(UTC)) == timedelta(hours=23 + 12)


def test_days_in_words_and_by_the_clock() -> None:
    late = datetime(2026, 3, 2, 23, 30, tzinfo=UTC)
    assert format_day(date(2026, 3, 2)) == "Monday 2 March"
    assert local_today(late, TZ) == date(2026, 3, 3)
    assert local_today(late, "America/New_York") == date(2026, 3, 2)
    assert day_to_plan(late, TZ) == date(2026, 3, 3)
    assert day_to_plan(late, "America/New_York") == date(2026, 3, 3)
