"""The instants at which a message is due, by the clock of the person."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest

from fateforger.conversation.rituals.schedule import RitualSettings, first_instant, list_due
from fateforger.memory.vocabulary import WEEK, Weekday
from fateforger.session.queue_commands import RitualChange

START = datetime(2026, 1, 1, tzinfo=UTC)


def settings(**said: object) -> RitualSettings:
    given = {"user_id": "U1", "channel": "D1", "tz": "Europe/Amsterdam", "since": START, "days": WEEK, **said}
    return RitualSettings.model_validate(given)


@pytest.mark.parametrize(
    ("tz", "day", "clock", "utc"),
    [
        ("Europe/Amsterdam", date(2026, 3, 2), time(7, 30), "2026-03-02T06:30"),
        ("Europe/Amsterdam", date(2026, 3, 29), time(2, 30), "2026-03-29T01:00"),
        ("Europe/Amsterdam", date(2026, 10, 25), time(2, 30), "2026-10-25T00:30"),
        ("America/Sao_Paulo", date(2018, 11, 4), time(0, 15), "2018-11-04T03:00"),
        ("Australia/Lord_Howe", date(2026, 10, 4), time(2, 10), "2026-10-03T15:30"),
        ("Pacific/Apia", date(2011, 12, 30), time(8, 0), "2011-12-30T10:00"),
    ],
    ids=["usual", "skipped", "twice", "skipped midnight", "half an hour", "skipped day"],
)
def test_a_local_time_is_an_instant_that_exists(tz: str, day: date, clock: time, utc: str) -> None:
    assert first_instant(day, clock, ZoneInfo(tz)) == datetime.fromisoformat(utc).replace(tzinfo=UTC)


def test_each_date_has_one_of_each_kind_in_a_year() -> None:
    """S296: also on the two days on which the clocks change."""
    chosen = settings(morning=time(2, 30), shutdown=time(2, 45), quiet_from=time(0), quiet_until=time(0))
    found: list[tuple[str, date]] = []
    day = START
    while day < START + timedelta(days=366):
        found += [(due.kind, due.day) for due in list_due(chosen, {}, day) if due.at > day - timedelta(hours=1)]
        day += timedelta(hours=1)
    assert len(found) == len(set(found))
    dates = [date(2026, 1, 1) + timedelta(days=n) for n in range(365)]
    assert {each for kind, each in found if kind == "morning"} >= set(dates)
    assert {each for kind, each in found if kind == "shutdown"} >= set(dates)


def test_a_review_comes_on_the_last_of_the_days() -> None:
    chosen = settings(review=True, shutdown=time(18), days=(Weekday.TU, Weekday.TH, Weekday.MO))
    now = START + timedelta(days=14)
    reviews = [due for due in list_due(chosen, {}, now) if due.kind == "review"]
    assert {due.day.weekday() for due in reviews} == {3}
    assert {due.at.astimezone(ZoneInfo("Europe/Amsterdam")).time() for due in reviews} == {time(18)}


@pytest.mark.parametrize(
    ("start", "end", "quiet", "loud"),
    [
        (time(20), time(7), (time(20), time(0), time(6, 59)), (time(7), time(19, 59))),
        (time(1), time(7), (time(1), time(6, 59)), (time(7), time(0, 59), time(23))),
        (time(7), time(7), (), (time(7), time(0), time(23, 59))),
    ],
)
def test_the_quiet_hours(start: time, end: time, quiet: tuple[time, ...], loud: tuple[time, ...]) -> None:
    chosen = settings(quiet_from=start, quiet_until=end)
    assert all(map(chosen.is_quiet, quiet))
    assert not any(map(chosen.is_quiet, loud))


def test_the_end_of_a_day_is_before_the_quiet_hours() -> None:
    chosen, day = settings(at_end=True), date(2026, 3, 2)
    late = datetime(2026, 3, 2, 21, 30, tzinfo=UTC)
    (due,) = (due for due in list_due(chosen, {day: late}, late) if due.day == day)
    assert due.at == datetime(2026, 3, 2, 18, 45, tzinfo=UTC)
    assert list(list_due(chosen, {}, late)) == []


def test_a_change_counts_from_now_on_and_makes_room_where_it_has_to() -> None:
    now = START + timedelta(days=1)
    changed = settings(shutdown=time(18)).with_change(RitualChange(morning=time(6, 30), at_end=True), now)
    assert (changed.morning, changed.shutdown, changed.at_end, changed.since) == (time(6, 30), None, True, now)
    assert changed.find_quiet_times() == (time(6, 30),)
    assert changed.make_room() == RitualChange(quiet_until=time(6, 30))
    off = changed.with_change(RitualChange(off=("morning", "shutdown")), now)
    assert off.kinds == ()
