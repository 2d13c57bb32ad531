"""Wishes that give way to others, on days that a person can check by hand."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from fateforger.drafting.instance import Task, read_instance
from fateforger.drafting.model import Draft
from fateforger.drafting.solver import draft_instance, refit_plan, repair_plan
from fateforger.planning.plan import resolve
from fateforger.planning.task_details import start_at

Document = dict[str, Any]


def task(name: str, minutes: int, **more: object) -> Document:
    return {"id": name.lower(), "title": name, "type": "DW", "minutes": minutes, **more}


def draft_tasks(*tasks: Document, start: str = "09:00", end: str = "17:00", **policy: object) -> Draft:
    frame = {"start": start, "end": end}
    document = {"date": "2026-03-02", "tz": "Europe/Amsterdam", "frame": frame, "tasks": list(tasks), "policy": policy}
    return draft_instance(read_instance(document))


def names(draft: Draft) -> list[str]:
    return [block.event.name for block in resolve(draft.plan)]


def test_work_before_a_one_thing_that_comes_late_is_not_left_out() -> None:
    """S206: the one thing has its own hour, so the morning is free for what matters less."""
    late = task("Talk", 120, one_thing=True, start="14:00")
    draft = draft_tasks(late, task("Notes", 30, priority=5), task("Essay", 60, priority=4))
    assert draft.unplaced == ()
    assert {"Notes", "Essay", "Talk"} <= set(names(draft))


def test_the_shutdown_never_comes_before_work() -> None:
    """S208: where the last work ends with the day there is none, rather than one with work after it."""
    shown = names(draft_tasks(task("Talk", 120, one_thing=True, start="15:00"), task("Report", 60)))
    assert {"Report", "Talk"} <= set(shown)
    assert "Shut down" not in shown


def test_the_number_of_deep_blocks_is_kept_where_the_person_set_it() -> None:
    work = [task(name, 60) for name in ("Report", "Essay", "Talk", "Code")]
    assert len([name for name in names(draft_tasks(*work)) if name in {"Report", "Essay", "Talk", "Code"}]) == 4
    for most in (2, 3):
        said = draft_tasks(*work, deep_blocks=most)
        assert len([name for name in names(said) if name in {"Report", "Essay", "Talk", "Code"}]) == most
        reasons = {each.reason for each in said.unplaced}
        assert reasons == {f"a day has at most {most} blocks of deep work, and they are taken"}


def test_a_refit_moves_a_trip_as_a_whole() -> None:
    """S259: a meeting comes in the middle of the way there."""
    trip = task("Dentist", 40, type="H", travel=20)
    first = draft_tasks(trip, task("Report", 60), start="09:00", end="13:00")
    spans = {b.event.name: (b.start, b.end) for b in resolve(first.plan)}
    leave = spans["Way to Dentist"][0]
    document = {
        "date": "2026-03-02",
        "tz": "Europe/Amsterdam",
        "frame": {"start": "09:00", "end": "17:00"},
        "immovables": [
            {"title": "Fire drill", "start": leave.isoformat(), "end": (leave + timedelta(minutes=10)).isoformat()}
        ],
    }
    for revised in (repair_plan(first.plan, read_instance(document)), refit_plan(first.plan, read_instance(document))):
        after = {b.event.name: (b.start, b.end) for b in resolve(revised.plan)}
        assert after["Way to Dentist"][0] >= leave + timedelta(minutes=10)
        assert after["Way to Dentist"][1] == after["Dentist"][0]
        assert after["Way from Dentist"][0] == after["Dentist"][1]


def test_a_task_at_a_time_that_is_taken_says_by_what() -> None:
    """S253: with its way, and without."""
    document = {
        "date": "2026-03-02",
        "tz": "Europe/Amsterdam",
        "frame": {"start": "09:00", "end": "17:00"},
        "immovables": [{"title": "Review", "start": "2026-03-02T13:00", "end": "2026-03-02T13:50"}],
    }
    for at, travel, with_way in (("14:00", 20, " with the way there and back"), ("13:30", 0, "")):
        (left,) = (
            each
            for each in draft_instance(
                read_instance({**document, "tasks": [task("Dentist", 40, start=at, travel=travel)]})
            ).unplaced
            if each.title == "Dentist"
        )
        assert left.reason == f"it is wanted at {at}{with_way}, when there is “Review”"


def test_a_meeting_is_the_reason_and_not_the_task_that_uses_the_rest_of_the_time() -> None:
    """S253"""
    document = {
        "date": "2026-03-02",
        "tz": "Europe/Amsterdam",
        "frame": {"start": "09:00", "end": "13:00"},
        "immovables": [{"title": "Interview", "start": "10:00", "end": "11:00"}],
        "tasks": [task("Talk", 60, start="10:30"), task("Report", 120)],
    }
    (left,) = (each for each in draft_instance(read_instance(document)).unplaced if each.title == "Talk")
    assert left.reason == "it is wanted at 10:30, when there is “Interview”"


def test_a_block_that_the_person_put_there_is_the_reason() -> None:
    """S253: the draft would have put it elsewhere."""
    plan = draft_tasks(task("Report", 60, type="SW"), start="09:00", end="12:00", lunch=None, shutdown=0).plan
    moved = start_at(plan, "report", datetime(2026, 3, 2, 10, tzinfo=ZoneInfo("Europe/Amsterdam")))
    document = {
        "date": "2026-03-02",
        "tz": "Europe/Amsterdam",
        "frame": {"start": "09:00", "end": "12:00"},
        "policy": {"lunch": None, "shutdown": 0},
        "previous": json.loads(moved.model_dump_json(by_alias=True, exclude_none=True)),
        "pinned": [{"key": "report"}],
    }
    thesis = Task.model_validate(task("Thesis", 120, splittable=False))
    for placed, reason in ((["report"], "you put “Report” at 10:00, where there would be room for it"), ([], None)):
        revised = refit_plan(moved, read_instance({**document, "placed": placed}), [thesis])
        (left,) = revised.unplaced
        assert left.title == "Thesis"
        assert (left.reason == reason) is bool(placed)


def test_a_block_that_had_to_move_is_not_called_the_persons_place() -> None:
    plan = draft_tasks(task("Report", 60, type="SW"), start="09:00", end="12:00", lunch=None, shutdown=0).plan
    moved = start_at(plan, "report", datetime(2026, 3, 2, 10, tzinfo=ZoneInfo("Europe/Amsterdam")))
    document = {
        "date": "2026-03-02",
        "tz": "Europe/Amsterdam",
        "frame": {"start": "09:00", "end": "12:00"},
        "immovables": [{"title": "Call", "start": "2026-03-02T09:45", "end": "2026-03-02T10:45"}],
        "placed": ["report"],
    }
    thesis = Task.model_validate(task("Thesis", 60, splittable=False))
    (left,) = refit_plan(moved, read_instance(document), [thesis]).unplaced
    assert left.title == "Thesis"
    assert "you put" not in left.reason


def test_work_that_is_wanted_after_hours_has_its_place() -> None:
    """The day ends with the work of the frame, and what the person wants later comes later."""
    shown = names(draft_tasks(task("Report", 60), task("Novel", 60, start="20:00"), end="17:30"))
    assert shown[-2:] == ["Shut down", "Novel"]


def test_the_day_shuts_down_before_work_at_a_given_time_that_takes_its_end() -> None:
    """S440: also with two such tasks in a row, and with the way there; after them where there is time."""
    report, gym = task("Report", 90), task("Gym", 60, type="SW", start="17:00")
    call = task("Call", 30, type="SW", start="16:30")
    assert names(draft_tasks(report, gym, end="18:00"))[-2:] == ["Shut down", "Gym"]
    assert names(draft_tasks(report, call, gym, end="18:00"))[-3:] == ["Shut down", "Call", "Gym"]
    assert names(draft_tasks(report, {**gym, "travel": 20}, end="18:00"))[-4:-2] == ["Shut down", "Way to Gym"]
    assert names(draft_tasks(report, call, end="18:00"))[-2:] == ["Call", "Shut down"]


def test_the_evening_begins_at_six() -> None:
    """S442: dinner is then, even after the end of the day; work has the last hour of a day that ends before."""
    dinner = task("Dinner", 45, details={"kind": "meal", "best": "evening"})
    novel = task("Novel", 60, details={"kind": "deep", "best": "evening"})
    for end, start in (("15:00", "14:00"), ("18:00", "17:00"), ("22:00", "18:00")):
        draft = draft_tasks(dinner, novel, end=end, shutdown=0, focus=[])
        shown = {block.event.name: f"{block.start:%H:%M}" for block in resolve(draft.plan)}
        assert shown["Dinner"] >= "18:00"
        assert shown["Novel"] >= start


def test_a_declined_part_of_the_policy_stays_declined_in_the_document_of_a_day() -> None:
    """S245: the optimizer, the command line, and the thread read the same policy."""
    policy = {"lunch": None, "longest_focus": None, "deep_blocks": 3}
    day = read_instance(
        {
            "date": "2026-03-02",
            "tz": "Europe/Amsterdam",
            "frame": {"start": "09:00", "end": "17:00"},
            "policy": policy,
        }
    )
    written = day.model_dump(mode="json", by_alias=True, exclude_none=True)
    assert written["policy"] == policy
    assert read_instance(written).policy == day.policy


def test_small_tasks_use_the_time_before_the_best_hours() -> None:
    """A person who writes in the evening answers mails in the afternoon, not at midnight."""
    night = [{"start": "19:00", "end": "23:00"}]
    day = draft_tasks(
        task("Novel", 90), task("Mail", 30, type="SW"), start="13:00", end="23:30", lunch=None, focus=night
    )
    assert names(day) == ["Mail", "Novel", "Shut down"]


def test_other_deep_work_goes_before_the_best_hours_of_the_one_thing() -> None:
    afternoon = [{"start": "14:00", "end": "17:00"}]
    shown = names(draft_tasks(task("Talk", 60, one_thing=True, energy=afternoon), task("Report", 60)))
    assert shown.index("Report") < shown.index("Talk")


def test_what_the_person_said_outranks_that_the_one_thing_comes_first() -> None:
    """S415: small work comes last, even if it is the one thing, which still lies in the first half of the day."""
    record = {
        "name": "small last",
        "description": "deep work before small work",
        "necessity": "should",
        "payload": {"rule_kind": "sequencing"},
        "applies_event_types": ["DW", "SW"],
    }
    document = {
        "date": "2026-03-02",
        "tz": "Europe/Amsterdam",
        "frame": {"start": "09:00", "end": "17:00"},
        "tasks": [task("Call the bank", 30, type="SW", one_thing=True), task("Report", 90, priority=1)],
    }
    assert names(draft_instance(read_instance(document)))[0] == "Call the bank"
    said = draft_instance(read_instance(document | {"constraints": [{"uid": "c1", "constraint_record": record}]}))
    assert names(said)[:2] == ["Report", "Call the bank"]
    assert said.broken == ()


def test_work_that_is_due_today_comes_before_more_important_work_that_can_wait() -> None:
    """S435"""
    room = {"start": "09:00", "end": "11:00", "lunch": None, "shutdown": 0, "slack_percent": None}
    logo = task("Logo", 90, type="SW", priority=2)
    icons = task("Icons", 90, type="SW", priority=3)
    assert names(draft_tasks(logo, icons, **room)) == ["Logo"]  # type: ignore[arg-type]
    assert names(draft_tasks(logo, {**icons, "deadline": "11:00"}, **room)) == ["Icons"]  # type: ignore[arg-type]
    assert names(draft_tasks(logo, {**icons, "deadline": "2026-03-04T11:00"}, **room)) == ["Logo"]  # type: ignore[arg-type]
    assert names(draft_tasks({**logo, "priority": 1}, {**icons, "deadline": "11:00"}, **room)) == ["Icons"]  # type: ignore[arg-type]


def test_work_that_is_due_today_takes_the_time_that_stays_free() -> None:
    """S511: tomorrow it is too late, while the rest can wait."""
    invoice = task("Invoice", 20, type="SW", priority=5)
    rest = [task(name, 90, priority=1) for name in ("Proposal", "Logo", "Copy")] + [task("Pitch", 60, priority=1)]
    later, today = (draft_tasks(*rest, {**invoice, **due}) for due in ({}, {"deadline": "12:00"}))
    assert [each.title for each in later.unplaced] == ["Invoice"]
    assert today.unplaced == ()


def test_the_day_of_work_ends_before_an_evening_that_the_person_keeps_free_of_work() -> None:
    """S436: what is on the calendar after that is no meeting to wait for."""
    window = {"kind": "avoid", "start": "17:30", "end": "23:59"}
    for necessity in ("must", "should"):
        rule: Document = {"name": "No work after 17:30", "necessity": necessity, "status": "locked"}
        rule |= {
            "payload": {"rule_kind": "avoid_window", "windows": [window]},
            "applies_event_types": ["DW", "SW", "PR"],
        }
        document = {
            "date": "2026-03-02",
            "tz": "Europe/Amsterdam",
            "frame": {"start": "09:00", "end": "21:00"},
            "immovables": [
                {"title": "Stand-up", "start": "15:00", "end": "15:30"},
                {"title": "Bedtime", "start": "19:15", "end": "20:00"},
            ],
            "tasks": [task("Report", 60), task("Yoga", 30, type="H")],
            "constraints": [{"uid": "evening", "constraint_record": rule}],
        }
        draft = draft_instance(read_instance(document))
        ends = {b.event.name: f"{b.start:%H:%M}" for b in resolve(draft.plan)}
        assert (ends["Shut down"], draft.unplaced) == ("15:30", ())
