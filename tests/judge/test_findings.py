"""Each judge sees the mistake that it is for, and is silent about a day without it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.judge.day import Day, runs
from tests.judge.findings import JUDGES, fewest_switches, find_all

ONE = {"thesis": {"one_thing": True}}
NO_LATE_WORK = {
    "uid": "late",
    "constraint_record": {
        "name": "No work after four",
        "necessity": "must",
        "payload": {"rule_kind": "avoid_window", "windows": [{"kind": "avoid", "start": "16:00", "end": "23:00"}]},
        "applies_event_types": ["DW", "SW"],
    },
}
MOST_DEEP = {
    "uid": "most",
    "constraint_record": {
        "name": "At most two hours of deep work",
        "necessity": "must",
        "payload": {"rule_kind": "capacity", "scalar_params": {"duration_max": 120}},
        "applies_event_types": ["DW"],
    },
}


def build_day(
    *blocks: str,
    events: Sequence[str] = (),
    tasks: Mapping[str, Mapping[str, Any]] | None = None,
    left: Mapping[str, str] | None = None,
    rules: Sequence[Mapping[str, Any]] = (),
    frame: str = "09:00-17:00",
    **policy: Any,
) -> Day:
    """Build a day from lines such as ``09:00-10:30 DW thesis``. A task is as long as its blocks by default."""
    placed = []
    for n, (start, end, kind, name) in enumerate(map(read_line, blocks)):
        minutes = minutes_of(end) - minutes_of(start)
        key = {"id": name, "key": f"{name}-{n}", "title": name}
        placed.append({**key, "type": kind, "start": f"2026-11-24T{start}:00+01:00", "minutes": minutes})
    told = {name: dict(task) for name, task in (tasks or {}).items()}
    for block in placed:
        if not str(block["id"]).startswith(("lunch-", "shutdown-", "way-")):
            task = told.setdefault(str(block["id"]), {})
            task.setdefault("type", block["type"])
            if "minutes" not in (tasks or {}).get(str(block["id"]), {}):
                task["minutes"] = task.get("minutes", 0) + block["minutes"]
    begin, _, end = frame.partition("-")
    instance = {
        "date": "2026-11-24",
        "tz": "Europe/Amsterdam",
        "frame": {"start": begin, "end": end},
        "immovables": [
            {"title": title, "type": kind, "start": start, "end": end}
            for start, end, kind, title in map(read_line, events)
        ],
        "tasks": [{"id": name, "title": name, **task} for name, task in told.items()],
        "constraints": list(rules),
        "policy": {"lunch": None, "shutdown": 0, **policy},
    }
    unplaced = [{"id": name, "title": name, "reason": reason} for name, reason in (left or {}).items()]
    return Day(instance, {"placed": placed, "unplaced": unplaced, "relaxed": []})


def read_line(line: str) -> tuple[str, str, str, str]:
    hours, kind, name = line.split(" ", 2)
    start, _, end = hours.partition("-")
    return start, end, kind, name


def minutes_of(clock: str) -> int:
    return int(clock[:2]) * 60 + int(clock[3:])


GOOD_DAY = build_day(
    "09:00-10:30 DW thesis",
    "10:45-11:45 DW slides",
    "12:30-13:15 R lunch-1",
    "13:30-14:15 SW mail",
    "15:00-15:30 SW forms",
    "15:30-16:00 PR shutdown-1",
    events=["14:30-15:00 M review"],
    tasks=ONE,
    lunch={},
    shutdown=30,
)

GOOD: dict[str, list[Day]] = {
    "frame": [build_day("09:00-10:00 DW thesis"), build_day("08:30-09:00 C way-1", events=["09:00-10:00 M visit"])],
    "required": [build_day("09:00-10:00 DW thesis", tasks={"thesis": {"required": True}})],
    "musts": [
        build_day("15:00-16:00 DW thesis", rules=[NO_LATE_WORK]),
        build_day("16:00-17:00 H run", rules=[NO_LATE_WORK]),
        build_day("09:00-11:00 DW thesis", rules=[MOST_DEEP]),
        build_day("09:00-10:00 DW thesis", tasks={"thesis": {"deadline": "10:00", "not_before": "09:00"}}),
    ],
    "one thing": [
        build_day("09:00-10:30 DW thesis", "10:40-12:00 DW slides", tasks=ONE),
        # A gap of a quarter of an hour before a meeting is no place for it.
        build_day("09:00-09:15 DW slides", "10:00-11:00 DW thesis", events=["09:15-10:00 M review"], tasks=ONE),
        # Its prerequisites come first, and so do tasks that are due.
        build_day(
            "09:00-10:00 DW data",
            "10:10-11:40 DW thesis",
            tasks={"thesis": {"one_thing": True, "after": ["data"]}},
        ),
        build_day("09:00-10:00 DW column", "10:10-11:40 DW thesis", tasks={**ONE, "column": {"deadline": "11:00"}}),
        # Early is within the hours that the person named.
        build_day(
            "15:00-16:30 DW thesis",
            tasks={"thesis": {"one_thing": True, "energy": [{"start": "14:30", "end": "17:00"}]}},
        ),
        build_day("09:00-11:00 DW thesis", tasks=ONE, longest_focus=120),
        build_day(tasks={"thesis": {"one_thing": True, "minutes": 120}}, events=["09:00-16:00 M course"]),
    ],
    "lunch": [
        build_day("12:30-13:15 R lunch-1", lunch={}),
        build_day("12:30-13:00 R lunch-1", lunch={}, events=["09:00-12:30 M one", "13:00-17:00 M two"]),
        build_day("13:30-14:15 R lunch-1", lunch={}, events=["11:00-13:30 M one"]),
        build_day(lunch={}, events=["09:00-12:30 M one", "12:55-17:00 M two"]),
        build_day("12:30-12:50 R lunch-1", lunch={"minutes": 20}),
        build_day(),
    ],
    "pauses": [
        build_day("09:00-10:30 DW thesis", "10:40-12:10 DW slides"),
        build_day("09:00-11:00 DW thesis", longest_focus=120),
        build_day("09:00-10:30 DW thesis", "10:30-11:00 H walk", "11:00-12:00 DW slides"),
        build_day("09:00-12:00 DW exam", tasks={"exam": {"splittable": False}}),
    ],
    "meetings": [
        build_day("11:10-12:00 DW thesis", events=["09:00-10:00 M one", "10:00-11:00 M two"]),
        build_day("11:00-11:30 R lunch-1", events=["09:00-10:00 M one", "10:00-11:00 M two"]),
        build_day("11:00-11:30 PR shutdown-1", events=["09:00-10:00 M one", "10:00-11:00 M two"]),
        build_day("10:00-11:00 DW thesis", events=["09:00-10:00 M one"]),
        build_day("10:15-11:00 DW thesis", events=["09:00-09:30 M one", "09:40-10:15 M two"]),
    ],
    "order": [
        build_day("09:00-10:30 DW thesis", "10:40-11:40 SW mail"),
        # After three hours of deep work a batch of small things is welcome.
        build_day("09:00-10:30 DW a", "10:40-12:10 DW b", "12:10-13:00 SW mail", "14:00-15:00 DW c"),
        # The person said so: a time, a due time, an order, best hours.
        build_day("09:00-10:00 SW mail", "10:00-11:00 DW thesis", tasks={"mail": {"start": "09:00"}}),
        build_day("09:00-10:00 SW mail", "10:00-11:00 DW thesis", tasks={"mail": {"deadline": "11:00"}}),
        build_day("09:00-10:00 SW mail", "10:00-11:00 DW thesis", tasks={"thesis": {"after": ["mail"]}}),
        build_day("09:00-10:00 SW mail", "13:00-14:00 DW thesis", focus=[{"start": "13:00", "end": "17:00"}]),
        build_day("09:00-09:30 SW mail", "10:00-11:00 DW thesis", events=["09:30-10:00 M one"]),
    ],
    "best hours": [
        build_day("09:00-10:30 DW thesis", focus=[{"start": "09:00", "end": "12:00"}]),
        build_day("13:00-14:00 H run", tasks={"run": {"energy": [{"start": "12:00", "end": "14:00"}]}}),
        build_day("12:00-13:00 DW thesis", events=["09:00-12:00 M one"], focus=[{"start": "09:00", "end": "12:00"}]),
        build_day(
            "09:00-12:00 DW thesis",
            "13:00-14:00 DW slides",
            focus=[{"start": "09:00", "end": "12:00"}],
            longest_focus=None,
        ),
        build_day("14:00-15:00 DW thesis"),
    ],
    "switches": [
        build_day("09:00-10:00 DW a", "10:00-10:30 SW b", "11:00-12:00 DW c", "13:00-14:00 SW d"),
        # Twenty minutes between two meetings hold no deep work.
        build_day(
            "09:00-10:00 DW a",
            "10:30-10:50 SW b",
            "11:30-12:30 DW c",
            "13:00-13:20 SW d",
            "14:00-15:00 DW e",
            events=["10:00-10:30 M v", "10:50-11:30 M w", "12:30-13:00 M x", "13:20-14:00 M y"],
        ),
    ],
    "slack": [
        build_day("09:00-15:00 DW a"),
        build_day("09:00-17:00 DW a", tasks={"a": {"required": True}}),
        build_day(events=["09:00-17:00 M one"]),
    ],
    "shutdown": [
        build_day("09:00-12:00 DW a", "12:00-12:30 PR shutdown-1", shutdown=30),
        build_day("16:00-16:30 DW a", events=["16:30-17:00 M one"], shutdown=30),
        build_day("09:00-10:00 H walk", shutdown=30),
        build_day("09:00-12:00 DW a", "12:30-13:00 PR shutdown-1", "14:00-15:00 R dinner", shutdown=30),
        build_day("09:00-12:00 DW a"),
    ],
    "left out": [
        build_day(
            "09:00-09:30 SW forms",
            tasks={"forms": {"priority": 4}, "mail": {"type": "SW", "minutes": 45, "priority": 3}},
            left={"mail": "the day is full"},
        ),
    ],
    "due": [
        build_day(
            "14:30-14:50 SW upload",
            "15:00-16:00 DW review",
            tasks={"review": {"priority": 4}, "upload": {"required": True, "deadline": "17:00", "priority": 1}},
        ),
    ],
    "due today": [
        build_day(
            "09:00-16:00 DW thesis",
            tasks={"thesis": {"required": True}, "tax": {"minutes": 90, "deadline": "17:00"}},
            left={"tax": "the day is full"},
        ),
        build_day("09:00-12:00 DW thesis", tasks={"tax": {"minutes": 90}}, left={"tax": "the day is full"}),
    ],
    "reasons": [
        build_day(
            "09:00-16:30 DW a",
            tasks={"b": {"minutes": 60}},
            left={"b": "it needs 1 h, and the longest stretch still free is 30 min"},
        ),
        build_day(tasks={"b": {"minutes": 60}}, left={"b": "it comes after “a”, which found no place"}),
        build_day(
            events=["09:00-16:00 M one"],
            tasks={"b": {"minutes": 60}},
            rules=[NO_LATE_WORK],
            left={"b": "“No work after four” leaves it no 1 h"},
        ),
        build_day(
            events=["10:00-17:00 M one"],
            lunch={},
            left={"lunch-1": "meetings leave no 20 minutes free around that time"},
        ),
    ],
}

BAD: dict[str, list[tuple[Day, str]]] = {
    "frame": [(build_day("16:30-17:30 DW thesis"), "“thesis” (16:30–17:30) is outside the planned time")],
    "required": [
        (
            build_day(tasks={"thesis": {"required": True}}, left={"thesis": "the day is full"}),
            "“thesis” is required and is left out",
        )
    ],
    "musts": [
        (
            build_day("15:30-16:30 DW thesis", rules=[NO_LATE_WORK]),
            "must “No work after four”: “thesis” lies in closed time",
        ),
        (
            build_day("09:00-11:30 DW thesis", rules=[MOST_DEEP]),
            "must “At most two hours of deep work”: 150 minutes are too much",
        ),
        (build_day("09:00-10:00 DW a", "09:30-10:30 DW b"), "“a” and “b” overlap at 09:30"),
        (build_day("09:00-10:00 DW a", events=["09:45-10:30 M one"]), "“a” and “one” overlap at 09:45"),
        (
            build_day("09:00-10:00 DW a", tasks={"a": {"deadline": "09:45"}}),
            "“a” is outside the limits that the person gave it",
        ),
        (build_day("09:00-10:00 DW a", tasks={"a": {"minutes": 90}}), "“a” gets 60 of 90 minutes"),
        (
            build_day("09:00-10:00 DW a", "10:00-11:00 DW b", tasks={"a": {"after": ["b"]}}),
            "“a” is outside the limits that the person gave it",
        ),
    ],
    "one thing": [
        (
            build_day("14:00-15:30 DW thesis", tasks=ONE),
            "“thesis” is the one thing and begins at 14:00, in the second half of its time",
        ),
        (
            build_day("09:00-10:00 DW slides", "10:10-11:40 DW thesis", tasks=ONE),
            "“slides” (09:00–10:00) comes before the one thing, “thesis”",
        ),
        (build_day("09:00-11:00 DW thesis", tasks=ONE), "“thesis” lasts 120 minutes in one piece (09:00–11:00)"),
        (
            build_day("09:00-12:00 DW thesis", tasks=ONE, longest_focus=180),
            "“thesis” lasts 180 minutes in one piece (09:00–12:00)",
        ),
        (
            build_day(tasks={"thesis": {"one_thing": True, "minutes": 120}}, left={"thesis": "the day is full"}),
            "“thesis” is the one thing and is left out",
        ),
    ],
    "lunch": [
        (
            build_day(lunch={}, events=["09:00-12:30 M one", "13:00-17:00 M two"]),
            "there is no lunch, although meetings leave 12:30–13:00 free",
        ),
        (
            build_day("12:30-12:55 R lunch-1", lunch={}),
            "lunch is cut to 25 minutes, although meetings leave 10:30–15:15 free",
        ),
        (
            build_day("12:30-12:50 R lunch-1", lunch={}, events=["09:00-12:30 M one", "13:00-17:00 M two"]),
            "lunch is cut to 20 minutes, although meetings leave 12:30–13:00 free",
        ),
        (
            build_day("11:20-12:05 R lunch-1", lunch={}),
            "lunch is at 11:20 instead of 12:30, and no meeting moved it",
        ),
        (
            build_day("15:00-15:45 R lunch-1", lunch={}, events=["10:00-15:00 M one"]),
            "lunch is at 15:00–15:45, outside its window",
        ),
    ],
    "pauses": [
        (
            build_day("09:00-10:30 DW thesis", "10:35-11:35 DW slides"),
            "150 minutes of focus without a pause (09:00–11:35)",
        ),
        # Neither e-mail nor a meeting is a pause.
        (
            build_day("09:00-10:00 DW a", "10:00-10:30 SW mail", "10:30-11:15 DW b"),
            "105 minutes of focus without a pause (09:00–11:15)",
        ),
        (
            build_day("09:00-10:00 DW a", "11:00-12:00 DW b", events=["10:00-11:00 M one"]),
            "120 minutes of focus without a pause (09:00–12:00)",
        ),
        (build_day("09:00-10:00 DW a", longest_focus=45), "60 minutes of focus without a pause (09:00–10:00)"),
    ],
    "meetings": [
        (
            build_day("11:05-12:00 DW thesis", events=["09:00-10:00 M one", "10:00-11:00 M two"]),
            "“thesis” begins at 11:05 without a pause after 2 meetings in a row",
        )
    ],
    "order": [
        (
            build_day("09:00-10:00 SW mail", "10:00-11:00 DW thesis"),
            "“mail” (09:00–10:00) comes before the deep work “thesis”",
        ),
        (
            build_day("09:00-09:30 SW a", "09:30-10:00 SW b", "13:00-14:00 DW thesis", events=["10:00-13:00 M one"]),
            "“a”, “b” (09:00–10:00) comes before the deep work “thesis”",
        ),
    ],
    "best hours": [
        (
            build_day("09:00-10:30 SW mail", "13:00-14:00 DW thesis", focus=[{"start": "09:00", "end": "12:00"}]),
            "“thesis” is at 13:00–14:00, outside its best hours, although there is room at 09:00–12:00",
        ),
        (
            build_day("09:00-10:00 H run", tasks={"run": {"energy": [{"start": "12:00", "end": "14:00"}]}}),
            "“run” is at 09:00–10:00, outside its best hours, although there is room at 12:00–14:00",
        ),
    ],
    "switches": [
        (
            build_day(
                "09:00-09:30 SW a", "09:30-10:30 DW b", "10:30-11:00 SW c", "11:00-12:00 DW d", "12:00-12:30 SW e"
            ),
            "the day switches 4 times between deep and shallow work, where 1 would do",
        )
    ],
    "slack": [(build_day("09:00-16:00 DW a"), "60 of 480 free minutes stay free (12 %)")],
    "shutdown": [
        (
            build_day("09:00-12:00 DW a", shutdown=30),
            "the work has no end: there is no shutdown, although 09:00–17:00 is free of meetings",
        ),
        (
            build_day("12:00-12:30 PR shutdown-1", "13:00-14:00 SW mail", shutdown=30),
            "“mail” comes at 13:00, after the shutdown",
        ),
        (
            build_day("09:00-12:00 DW a", "16:30-17:00 PR shutdown-1", shutdown=30),
            "the shutdown is at 16:30, and the work ends at 12:00",
        ),
    ],
    "left out": [
        (
            build_day(
                "09:00-10:00 SW forms",
                tasks={"forms": {"priority": 4}, "mail": {"type": "SW", "minutes": 45, "priority": 3}},
                left={"mail": "the day is full"},
            ),
            "“mail” is left out, and the less important “forms” has a place for it",
        )
    ],
    "due": [
        (
            build_day(
                "15:00-16:00 DW review",
                "16:00-16:20 SW upload",
                tasks={"review": {"priority": 4}, "upload": {"required": True, "deadline": "17:00", "priority": 1}},
            ),
            "“review” (15:00–16:00) comes before “upload”, which is due soon after",
        )
    ],
    "due today": [
        (
            build_day(
                "09:00-16:00 DW thesis",
                tasks={"tax": {"minutes": 90, "deadline": "17:00"}},
                left={"tax": "15% of the day stays free, and the rest of it is taken"},
            ),
            "“tax” is due today and left out, although it has a place without work that can wait",
        )
    ],
    "reasons": [
        (
            build_day(
                "09:00-16:00 DW a",
                tasks={"b": {"minutes": 60}},
                left={"b": "it needs 1 h, and the longest stretch still free is 30 min"},
            ),
            "“b”: it needs 1 h, and the longest stretch still free is 30 min; yet the plan leaves 16:00–17:00 free",
        ),
        (
            build_day(
                "12:30-13:00 DW a",
                lunch={},
                events=["09:00-12:30 M one", "13:00-17:00 M two"],
                left={"lunch-1": "meetings leave no 20 minutes free around that time"},
            ),
            "“lunch-1”: meetings leave no 20 minutes free around that time; yet without other tasks it has 12:30–13:00",
        ),
        # The due time stood in the way, not the rule.
        (
            build_day(
                tasks={"b": {"minutes": 60, "deadline": "09:40"}},
                rules=[NO_LATE_WORK],
                left={"b": "“No work after four” leaves it no 1 h"},
            ),
            "“b”: “No work after four” leaves it no 1 h; yet without that rule it would have no room either",
        ),
    ],
}


@pytest.mark.parametrize(("point", "day"), [(point, day) for point, days in GOOD.items() for day in days])
def test_a_day_without_the_mistake_has_no_finding(point: str, day: Day) -> None:
    assert list(JUDGES[point](day)) == []


@pytest.mark.parametrize(
    ("point", "day", "finding"), [(point, day, finding) for point, days in BAD.items() for day, finding in days]
)
def test_the_mistake_is_found(point: str, day: Day, finding: str) -> None:
    assert list(JUDGES[point](day)) == [finding]


def test_each_judge_is_tried_both_ways() -> None:
    assert list(GOOD) == list(BAD) == list(JUDGES)


def test_a_good_day_has_no_findings() -> None:
    assert find_all(GOOD_DAY) == []


def test_findings_name_their_point() -> None:
    assert find_all(build_day("16:30-17:30 DW thesis")) == ["frame: “thesis” (16:30–17:30) is outside the planned time"]


def test_the_fewest_switches_leave_each_stretch_its_amount_of_work() -> None:
    day = build_day("09:00-10:00 SW a", "11:00-12:00 DW b", "12:00-12:30 SW c", events=["10:00-11:00 M one"])
    assert fewest_switches(day, day.blocks) == 1
    meetings = ["10:00-11:00 M one", "11:20-12:00 M two"]
    day = build_day("09:00-10:00 DW a", "11:00-11:20 SW b", "12:00-13:00 DW c", events=meetings)
    assert fewest_switches(day, day.blocks) == 2


def test_stretches_of_minutes() -> None:
    assert runs([1, 2, 3, 7, 9, 8]) == [range(1, 4), range(7, 10)]
    assert runs([]) == []


def test_a_night_and_the_hour_that_it_repeats() -> None:
    """The clocks go back on 25 October 2026 at three: the night is an hour longer."""
    instance = {"date": "2026-10-24", "tz": "Europe/Amsterdam", "frame": {"start": "22:00", "end": "06:00"}}
    day = Day(instance, {"placed": [], "unplaced": []})
    assert day.length == 9 * 60
    assert [day.describe(run) for run in runs(day.within([{"start": "23:00", "end": "04:00"}]))] == ["23:00–04:00"]
    assert len(day.within([{"start": "23:00", "end": "04:00"}])) == 6 * 60
