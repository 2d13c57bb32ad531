"""A way out that is offered for a task gives it a place, and says whose place it takes (S22, S106)."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, time, timedelta
from random import Random

import pytest
from tests.factories.constraints import record_of
from tests.factories.tasks import DEEP, SHALLOW

from fateforger.drafting.day_draft import Day, LunchWish, Work
from fateforger.drafting.instance import Told
from fateforger.drafting.model import Draft, OptionKind, PlacementOption
from fateforger.memory.record import ConstraintRecord
from fateforger.planning.plan import resolve
from fateforger.planning.task_details import task_of
from fateforger.planning.timing import Busy, instant_of, zone

MONDAY = date(2026, 3, 2)
AMSTERDAM = "Europe/Amsterdam"
PROMISES = {"shrink", "split", "extend", "relax"}


def at(clock: str) -> datetime:
    return instant_of(datetime.combine(MONDAY, time.fromisoformat(clock)), zone(AMSTERDAM))


def full_day(seed: int) -> Day:
    """Return a day with more tasks than time."""
    lot = Random(seed)
    starts = [at("09:00") + timedelta(minutes=15 * lot.randrange(35)) for _ in range(lot.randint(1, 3))]
    return Day(
        date=MONDAY,
        tz=AMSTERDAM,
        start=at("09:00"),
        end=at("18:00"),
        busy=tuple(Busy(start, start + timedelta(minutes=lot.choice((30, 60, 90)))) for start in starts),
        lunch=LunchWish("lunch-2026-03-02", at("12:30"), 45),
        works=tuple(
            Work(
                f"t{n}",
                f"Task {n}",
                lot.choice((45, 60, 90, 120, 180)),
                details=DEEP if lot.random() < 0.6 else SHALLOW,
                first=n == 0,
            )
            for n in range(lot.randint(5, 8))
        ),
    )


def contended_day() -> Day:
    """Return a day on which two more hours go to the report, which matters more, and leave no room for the trip."""
    works = (
        Work("report", "Report", 240, details=DEEP),
        Work("talk", "Talk", 90, details=DEEP, first=True),
        Work("thesis", "Thesis", 120, details=DEEP),
        Work("mail", "Mail", 60, details=SHALLOW),
        Work("trip", "Trip", 120, details=DEEP),
    )
    meetings = (Busy(at("10:00"), at("11:00")), Busy(at("14:00"), at("16:00")))
    return replace(full_day(0), busy=meetings, works=works)


def evenings_off() -> Told:
    record = record_of(
        None, name="Nothing after four", description="Nothing after four", necessity="must", rule_kind="avoid_window",
        windows=[{"kind": "avoid", "start": "16:00", "end": "18:00"}],
    )  # fmt: skip
    return Told(uid="evenings", constraint_record=ConstraintRecord.model_validate(record))


def there(result: Draft, day: Day) -> set[str]:
    ids = [work.id for work in day.works]
    return {task_of(block.key, ids) or block.key for block in resolve(result.plan) if block.event.name != "Shut down"}


def after(day: Day, told: tuple[Told, ...], task: str, choice: PlacementOption) -> set[str]:
    """Return the tasks that have a place once the option is taken."""
    match choice.way:
        case "extend":
            assert choice.minutes is not None
            day = replace(day, end=day.end + timedelta(minutes=choice.minutes))
        case "relax":
            told = tuple(each for each in told if each.id != choice.rule)
        case "shrink":
            works = tuple(replace(w, minutes=choice.minutes) if w.id == task else w for w in day.works)
            day = replace(day, works=works)
        case _:
            day = replace(
                day, works=tuple(replace(w, details=w.details.allow_pieces()) if w.id == task else w for w in day.works)
            )
    return there(day.draft(told), day)


@pytest.mark.extra
@pytest.mark.parametrize("told", [(), (evenings_off(),)], ids=["free", "with a rule"])
def test_each_way_out_gives_its_task_a_place(told: tuple[Told, ...]) -> None:
    offered: list[OptionKind] = []
    for day in (contended_day(), *(full_day(seed) for seed in range(2))):
        result = day.draft(told)
        for left in result.unplaced:
            for choice in left.choices:
                if choice.way in PROMISES:
                    offered.append(choice.way)
                    now = after(day, told, left.id, choice)
                    assert left.id in now, (day.works, left.id)
                    lost = {work.title for work in day.works if work.id in there(result, day) - now}
                    assert all(f"“{title}” then waits" in choice.cost for title in lost), (day.works, left.id)
                    assert len(lost) == choice.cost.count("then waits")
    assert "extend" in offered
    assert ("relax" in offered) is bool(told)
