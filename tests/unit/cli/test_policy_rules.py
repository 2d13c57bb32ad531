"""``plan draft`` follows the person's settings and routines, which are constraints like any other (decision 064)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.unit.cli.test_draft_command import list_blocks, run_draft

MONDAY: dict[str, Any] = {
    "date": "2026-03-02",
    "tz": "Europe/Amsterdam",
    "frame": {"start": "09:00", "end": "18:00"},
    "tasks": [{"id": "mail", "title": "Mail", "minutes": 30, "type": "SW"}],
}


def setting(slot: str, hours: str = "", days: tuple[str, ...] = (), **scalars: int) -> dict[str, Any]:
    """Return a constraint as ``constraints add`` takes it."""
    start, _, end = hours.partition("-")
    windows = [{"kind": "prefer", "start": start, "end": end}] if hours else []
    return {
        "uid": f"c-{slot}-{hours}",
        "constraint_record": {
            "name": slot,
            "scope": "profile",
            "applicability": {"days_of_week": days},
            "payload": {"scalar_params": scalars, "windows": windows},
            "aspect_classification": {"frame_slot": slot},
        },
    }


def blocks(*constraints: dict[str, Any], **changes: Any) -> list[str]:
    return list_blocks(run_draft({**MONDAY, "constraints": list(constraints), **changes}))


def test_lunch_and_the_shutdown_are_where_the_rules_say() -> None:
    """S245"""
    assert "12:30 Lunch 45" in blocks()
    day = blocks(setting("lunch", "13:00-14:00"), setting("shutdown", duration_min=15))
    assert "13:00 Lunch 60" in day
    assert "17:45 Shut down 15" in day


@pytest.mark.parametrize(
    ("constraint", "lunch"),
    [
        (setting("lunch", "12:00-14:00", duration_min=60), "12:30 Lunch 60"),
        (setting("lunch", duration_min=30), "12:30 Lunch 30"),
        (setting("lunch", "13:00-14:00", days=("TU",)), "12:30 Lunch 45"),
    ],
)
def test_lunch_within_a_window_without_a_time_and_on_other_days(constraint: dict[str, Any], lunch: str) -> None:
    assert lunch in blocks(constraint)


def test_no_lunch_and_what_was_given_for_the_day() -> None:
    assert not any("Lunch" in block for block in blocks(setting("lunch", duration_min=0)))
    given = {"lunch": {"start": "12:00", "minutes": 30}}
    assert "12:00 Lunch 30" in blocks(setting("lunch", "13:00-14:00"), policy=given)
    must = setting("lunch", "13:00-14:00")
    must["constraint_record"]["necessity"] = "must"
    assert "13:00 Lunch 60" in blocks(must, setting("lunch", "12:00-12:30"))


def test_a_break_after_an_hour_of_deep_work() -> None:
    """S245"""
    task = {"id": "book", "title": "Book", "minutes": 120}
    longest = [b["minutes"] for b in run_draft({**MONDAY, "tasks": [task]})["placed"] if b["title"].startswith("Book")]
    hour = {**MONDAY, "tasks": [task], "constraints": [setting("longest_focus", duration_max=60)]}
    pieces = [b["minutes"] for b in run_draft(hour)["placed"] if b["title"].startswith("Book")]
    assert max(longest) > 60
    assert max(pieces) <= 60
    assert sum(pieces) == 120


def routine(name: str, hours: str, *days: str, **scalars: int) -> dict[str, Any]:
    document = setting("routine", hours, days, **scalars)
    document["constraint_record"].update(name=name, description=f"{name}, as always")
    return {**document, "uid": f"c-{name}-{hours}"}


def test_routines_are_drafted_by_themselves() -> None:
    """S246"""
    school, gym = routine("School run", "08:10-08:45"), routine("Gym", "17:00-20:00", "MO", "TH", duration_min=45)
    day = blocks(school, gym)
    assert "08:10 School run 35" in day
    assert any(block.endswith("Gym 45") for block in day)
    assert not any("Gym" in block for block in blocks(school, gym, date="2026-03-03"))
    result = run_draft({**MONDAY, "constraints": [school]})
    (key,) = (b["key"] for b in result["placed"] if b["title"] == "School run")
    assert [r["text"] for r in result["reasons"][key]] == ["It is here because of your rule “School run, as always”."]


def test_a_routine_is_not_doubled_and_does_not_stand_where_a_meeting_is() -> None:
    school = routine("School run", "08:10-08:45")
    event = {"title": "school run", "start": "08:00", "end": "08:40"}
    assert not any("School" in block for block in blocks(school, immovables=[event]))
    listed = [{"id": "s", "title": "School run", "minutes": 20, "type": "H"}]
    assert [b for b in blocks(school, tasks=listed) if "School" in b] == ["09:00 School run 20"]
    walk = routine("Walk", "10:00-10:30")
    result = run_draft({**MONDAY, "constraints": [walk], "immovables": [{"start": "10:00", "end": "10:15"}]})
    assert [left["title"] for left in result["unplaced"]] == ["Walk"]
    assert not any("Walk" in block for block in blocks(walk, now="10:20"))
