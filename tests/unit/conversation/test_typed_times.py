"""Times and lengths as people type them; what cannot be read gets one sentence that shows how."""

from __future__ import annotations

from datetime import time

import pytest

from fateforger.errors import BadInput
from fateforger.ui.form_values import format_minutes, format_windows, parse_clock, parse_minutes, parse_windows


@pytest.mark.parametrize(
    ("typed", "clock"),
    [
        ("9", time(9)),
        ("09", time(9)),
        (" 9:30 ", time(9, 30)),
        ("9.30", time(9, 30)),
        ("9h", time(9)),
        ("9h30", time(9, 30)),
        ("930", time(9, 30)),
        ("0930", time(9, 30)),
        ("2115", time(21, 15)),
        ("9 am", time(9)),
        ("9:30 PM", time(21, 30)),
        ("12 am", time(0)),
        ("12pm", time(12)),
        ("9 p.m.", time(21)),
        ("24:00", time(0)),
        ("24", time(0)),
        ("９：３０", time(9, 30)),
    ],
)
def test_a_time_of_day(typed: str, clock: time) -> None:
    assert parse_clock(typed) == clock


@pytest.mark.parametrize("typed", ["", "noon", "25", "9:60", "13 pm", "0 am", "9:3", "24:01", "-1", "9,5", "99999"])
def test_no_time_of_day(typed: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_clock(typed)
    assert caught.value.message == (f"I can't read “{typed}” as a time of day; write it like 9:30, 21.30 or 9 pm.")


@pytest.mark.parametrize(
    ("typed", "windows"),
    [
        ("9-12", [(time(9), time(12))]),
        ("9-12, 14:30 – 16", [(time(9), time(12)), (time(14, 30), time(16))]),
        ("22-6;\n12-13", [(time(22), time(6)), (time(12), time(13))]),
        ("0-24", None),
        ("18-24", [(time(18), time(0))]),
        ("9 am-5 pm", [(time(9), time(17))]),
        ("17-9", [(time(17), time(9))]),
        (" , ", []),
    ],
)
def test_windows(typed: str, windows: list[tuple[time, time]] | None) -> None:
    if windows is None:
        with pytest.raises(BadInput):
            parse_windows(typed)
    else:
        assert parse_windows(typed) == tuple(windows)
        assert parse_windows(format_windows(tuple(windows))) == tuple(windows)


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("9", "“9” needs a beginning and an end; write it like 9-12 or 9:30-12."),
        ("9-10-11", "“9-10-11” needs a beginning and an end; write it like 9-12 or 9:30-12."),
        ("9-9", "“9-9” begins and ends at the same time; write it like 9-12."),
        ("9-noon", "I can't read “noon” as a time of day; write it like 9:30, 21.30 or 9 pm."),
        (
            "9-5",
            "“9-5” would reach over midnight and take 20 hours. For an afternoon, write 5 as 17 or 5 pm.",
        ),
    ],
)
def test_windows_that_cannot_be_meant(typed: str, sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_windows(typed)
    assert caught.value.message == sentence


@pytest.mark.parametrize(
    ("typed", "minutes"),
    [
        ("30", 30),
        ("30 min", 30),
        ("90 Minutes", 90),
        ("1h", 60),
        ("1h30", 90),
        ("1 h 30 min", 90),
        ("1.5 h", 90),
        ("1,5h", 90),
        ("2 hours", 120),
        ("1:30", 90),
    ],
)
def test_a_length(typed: str, minutes: int) -> None:
    assert parse_minutes(typed) == minutes
    assert parse_minutes(format_minutes(minutes)) == minutes


def test_hours_where_hours_are_usual() -> None:
    assert [parse_minutes(typed, bare="h") for typed in ("7", "7.5", "450", "7h30")] == [420, 450, 450, 450]


@pytest.mark.parametrize("typed", ["", "long", "1:75", "h", "1 day", "-5"])
def test_no_length(typed: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_minutes(typed)
    assert caught.value.message == (f"I can't read “{typed}” as a length of time; write it like 30 min or 7 h 30.")


@pytest.mark.parametrize("typed", ["0", "25 h", "2000"])
def test_a_length_out_of_bounds(typed: str) -> None:
    with pytest.raises(BadInput) as caught:
        parse_minutes(typed)
    assert caught.value.message == "Please choose a length between 1 minute and 24 hours."
