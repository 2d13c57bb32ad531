"""Why a block of any plan is where it is: each cause named is one without which it could begin elsewhere."""

from __future__ import annotations

from datetime import date, time, timedelta

import pytest

from fateforger.drafting.explanations import explain_place
from fateforger.drafting.instance import Frame, Immovable, Instance, Policy, Task
from fateforger.planning.plan import ET, TBEvent, TBPlan
from fateforger.planning.timing import FixedStart

MONDAY, TZ = date(2026, 3, 2), "Europe/Amsterdam"


def block(key: str, start: str, minutes: int, kind: ET = ET.SHALLOW_WORK) -> TBEvent:
    timing = FixedStart(start=time.fromisoformat(start), duration=timedelta(minutes=minutes))
    return TBEvent(name=key.capitalize(), type=kind, timing=timing, key=key)


def plan(*events: TBEvent) -> TBPlan:
    return TBPlan(date=MONDAY, tz=TZ, events=events)


def day(*meetings: str, tasks: tuple[str, ...] = ("mail",)) -> Instance:
    spans = (m.split("-") for m in meetings)
    return Instance(
        date=MONDAY,
        tz=TZ,
        frame=Frame(start=time(9), end=time(18)),
        immovables=tuple(Immovable(title="Standup", start=time.fromisoformat(a), end=time.fromisoformat(b)) for a, b in spans),
        tasks=tuple(Task(id=t, title=t.capitalize(), minutes=30, type=ET.SHALLOW_WORK) for t in tasks),
        policy=Policy(lunch=None, shutdown=0),
    )  # fmt: skip


def texts(instance: Instance, given: TBPlan, key: str) -> list[str]:
    return [reason.text for reason in explain_place(given, instance, key)]


def test_what_lies_before_it() -> None:
    there = plan(block("mail", "09:30", 30))
    assert texts(day("09:00-09:30"), there, "mail") == [
        "It comes after “Standup”; without that it would begin at 09:00."
    ]
    assert texts(day(), plan(block("mail", "09:00", 30)), "mail") == [
        "It is the earliest time that is free and long enough for it."
    ]


def test_a_block_of_the_persons_own_counts_as_one() -> None:
    there = plan(block("walk", "09:00", 30, ET.REGENERATION), block("mail", "09:30", 30))
    assert texts(day(), there, "mail") == ["It comes after “Walk”; without that it would begin at 09:00."]
    assert texts(day(), there, "walk") == ["It is the earliest time that is free and long enough for it."]


@pytest.mark.parametrize("key", ["mail", "nobody"])
def test_a_block_that_could_as_well_be_elsewhere_has_no_reason(key: str) -> None:
    assert texts(day("09:00-09:30"), plan(block("mail", "14:00", 30)), key) == []


def test_background_and_what_overlaps_is_no_trouble() -> None:
    there = plan(block("radio", "09:00", 60, ET.BACKGROUND), block("mail", "09:00", 30))
    assert texts(day("09:00-09:30"), there, "radio") == []
    assert texts(day("09:00-09:30"), there, "mail") == []


def test_every_piece_of_a_task_is_known_by_its_key() -> None:
    there = plan(block("mail", "09:00", 15), block("mail-2", "10:00", 15))
    assert texts(day("09:15-10:00"), there, "mail-2") == [
        "It comes after “Standup”; without that it would begin at 09:15."
    ]
