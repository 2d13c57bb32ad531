"""Why a block of any plan is where it is: each cause named is one without which it could begin elsewhere."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest

from fateforger.drafting.explanations import explain_place
from fateforger.drafting.instance import Frame, Immovable, Instance, Policy, Task
from fateforger.planning.plan import ET, TBEvent, TBPlan
from fateforger.planning.timing import FixedStart
from fateforger.values import replace

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


def with_tasks(*tasks: Task, meetings: tuple[str, ...] = ()) -> Instance:
    return replace(day(*meetings), tasks=tasks)


def test_a_block_with_a_way_and_its_way_have_reasons() -> None:
    """S432"""
    errand = Task(id="dentist", title="Dentist", minutes=30, type=ET.HABIT, travel=20)
    there = plan(
        block("way-to-dentist", "09:30", 20, ET.COMMUTE),
        block("dentist", "09:50", 30, ET.HABIT),
        block("way-from-dentist", "10:20", 20, ET.COMMUTE),
        block("mail", "10:40", 30),
    )
    mail = Task(id="mail", title="Mail", minutes=30, type=ET.SHALLOW_WORK)
    instance = with_tasks(errand, mail, meetings=("09:00-09:30",))
    assert texts(instance, there, "dentist") == ["It comes after “Standup”; without that it would begin at 09:20."]
    assert texts(instance, there, "mail") == ["It comes after “Dentist”; without that it would begin at 09:30."]
    way = ["It is as long as the way takes, right before or after what it leads to."]
    assert texts(instance, there, "way-to-dentist") == texts(instance, there, "way-from-dentist") == way


def test_a_time_is_said_on_the_clock_of_the_day() -> None:
    """S432: The thread gives limits as instants."""
    earliest = datetime(2026, 3, 2, 10, tzinfo=UTC)
    mail = Task(id="mail", title="Mail", minutes=30, type=ET.SHALLOW_WORK, not_before=earliest)
    assert texts(with_tasks(mail), plan(block("mail", "11:00", 30)), "mail") == [
        "It is here because it cannot begin before 11:00; otherwise it would begin at 09:00."
    ]


def test_only_the_one_thing_is_called_the_one_thing() -> None:
    """S432"""
    one = Task(id="one", title="One", minutes=60, one_thing=True, not_before=time(10))
    mail = Task(id="mail", title="Mail", minutes=30, type=ET.SHALLOW_WORK)
    there = plan(block("one", "10:00", 60, ET.DEEP_WORK), block("mail", "11:10", 30))
    said = texts(with_tasks(one, mail), there, "mail")
    assert said[0] == "It is here because deep work comes before shallow work; otherwise it would begin at 09:00."
    other = Task(id="other", title="Other", minutes=50)
    there = plan(block("one", "10:00", 60, ET.DEEP_WORK), block("other", "11:10", 50, ET.DEEP_WORK))
    said = texts(with_tasks(one, other), there, "other")
    assert said[0] == "It is here because the one thing that matters comes first; otherwise it would begin at 09:00."


def test_a_neighbor_is_named_for_what_it_keeps_a_block_from() -> None:
    """S432: “before” where it would be later without it, and “after” where it would be earlier."""
    note = Task(id="note", title="Note", minutes=15, type=ET.SHALLOW_WORK)
    deep = Task(id="deep", title="Deep", minutes=60)
    there = plan(block("note", "10:45", 15), block("deep", "13:00", 60, ET.DEEP_WORK))
    meetings = ("09:30-10:45", "11:00-12:45")
    said = texts(with_tasks(note, deep, meetings=meetings), there, "note")
    assert all(text.startswith("It comes after") for text in said)
