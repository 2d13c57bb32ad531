"""Details of a task on a day: what the engine is given, and where it puts the task."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest

from fateforger.drafting.day_draft import Day, Work
from fateforger.drafting.task_fields import TaskDay, task_fields
from fateforger.planning.plan import ET, resolve
from fateforger.planning.task_details import BestTime, TaskDetails, TaskKind
from fateforger.planning.timing import instant_of, zone

TZ = "Europe/Amsterdam"
MONDAY = date(2026, 3, 2)


def local(clock: str, day: date = MONDAY) -> datetime:
    return instant_of(datetime.combine(day, time.fromisoformat(clock)), zone(TZ))


def draft(*works: Work, start: str = "09:00", end: str = "17:00") -> dict[str, tuple[str, ET]]:
    """Return the place of each task on a Monday without lunch; tasks without a place are missing."""
    after = timedelta(days=end <= start)
    day = Day(MONDAY, TZ, local(start), local(end, MONDAY + after), works=works)
    return {
        b.key: (f"{b.start:%H:%M}-{b.end:%H:%M}", b.event.type)
        for b in resolve(day.draft().plan)
        if not b.key.startswith("shutdown")
    }


def work(name: str, minutes: int, **details: Any) -> Work:
    return Work(name, name.title(), minutes, TaskDetails.model_validate(details))


def test_a_task_at_a_time_starts_then() -> None:
    there = draft(work("report", 120), work("call", 30, kind="shallow", at="14:00"), work("mail", 30, kind="shallow"))
    assert there["call"] == ("14:00-14:30", ET.SHALLOW_WORK)


def test_a_task_is_done_before_it_is_due_and_not_before_it_may_begin() -> None:
    tax = work("tax", 60, kind="shallow", due_day=MONDAY, due_time="11:00")
    there = draft(work("report", 120), tax, work("shop", 60, kind="errand", from_time="15:00"))
    assert (there["tax"][0] <= "10:00-11:00", there["shop"][0] >= "15:00") == (True, True)
    assert there["shop"][1] is ET.HABIT


def test_a_task_that_may_begin_on_another_day_only_is_left_out() -> None:
    assert draft(work("tax", 60, from_day=MONDAY + timedelta(days=1))) == {}


def test_a_task_comes_after_another_but_does_not_wait_for_one_of_another_day() -> None:
    there = draft(work("report", 60, after=("outline", "elsewhere")), work("outline", 30, kind="shallow"))
    assert there["outline"][0] < there["report"][0]


@pytest.mark.parametrize(("best", "window"), [("morning", ("00:00", "12:00")), ("after_lunch", ("12:30", "17:00"))])
def test_a_task_is_put_at_its_best_time(best: str, window: tuple[str, str]) -> None:
    there = draft(work("book", 60, best=best))
    begin, end = there["book"][0].split("-")
    assert window[0] <= begin < end <= window[1]


@pytest.mark.parametrize(
    ("details", "fields"),
    [
        ({"due_day": date(2026, 3, 1)}, {"priority": 1}),
        ({"due_day": MONDAY}, {"deadline": datetime(2026, 3, 2, 23, tzinfo=UTC)}),
        ({"due_day": date(2027, 1, 1)}, {}),
        ({"due_day": date(2026, 3, 4), "due_time": "12:00"}, {"deadline": datetime(2026, 3, 4, 11, tzinfo=UTC)}),
        ({"from_day": date(2026, 3, 1), "from_time": "12:00"}, {}),
        ({"priority": 0}, {"priority": 1}),
        ({"priority": 4, "at": "10:00"}, {"priority": 5, "start": datetime(2026, 3, 2, 9, tzinfo=UTC)}),
    ],
)
def test_days_and_priorities_are_those_of_the_engine(details: dict[str, Any], fields: dict[str, Any]) -> None:
    day = TaskDay(MONDAY, TZ, local("09:00"), local("17:00"))
    found = task_fields(TaskDetails.model_validate(details), day, ())
    assert {name: value for name, value in found.items() if name not in {"type", "energy", "after"}} == fields


def test_a_time_after_midnight_is_in_the_night_of_the_day() -> None:
    there = draft(work("round", 60, kind="habit", at="02:00"), work("desk", 60), start="22:00", end="06:00")
    assert there["round"][0] == "02:00-03:00"


def test_each_best_time_has_a_window() -> None:
    day = TaskDay(MONDAY, TZ, local("09:00"), local("17:00"))
    for best in BestTime:
        assert task_fields(TaskDetails(kind=TaskKind.HABIT, best=best), day, ())["energy"]
