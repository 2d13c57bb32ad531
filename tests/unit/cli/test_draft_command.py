"""``plan draft`` and ``plan check --constraints`` as programs see them (S10, S106; shapes of the documents)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from fateforger.cli.plan import plan_command
from fateforger.drafting.instance import instance_schema
from fateforger.errors import FateforgerError

ROOT = Path(__file__).resolve().parents[3]
DAY: dict[str, Any] = {
    "date": "2026-03-02",
    "tz": "Europe/Amsterdam",
    "frame": {"start": "09:00", "end": "12:00"},
    "immovables": [{"id": "m", "title": "Standup", "start": "09:30", "end": "10:00"}],
    "tasks": [
        {"id": "mail", "title": "Mail", "minutes": 30, "type": "SW"},
        {"id": "report", "title": "Report", "minutes": 90, "one_thing": True},
        {"id": "book", "title": "Book", "minutes": 90},
    ],
    "policy": {"lunch": None, "shutdown": 0},
}
TWO_HOURS = [
    f"{minutes // 60:02}:{minutes % 60:02} T{n} 10"
    for n, minutes in enumerate([*range(540, 570, 10), *range(600, 690, 10)])
]
"""The first twelve of two hundred, around the standup; the rest of the time stays free."""


def make_rule(necessity: str, start: str, end: str, uid: str = "c1", **more: Any) -> dict[str, Any]:
    payload = {"rule_kind": "avoid_window", "windows": [{"kind": "avoid", "start": start, "end": end}]}
    record = {"name": uid, "description": f"nothing from {start}", "necessity": necessity, "payload": payload, **more}
    return {"uid": uid, "constraint_record": record}


def run(document: Any, *options: str) -> Result:
    text = document if isinstance(document, str) else json.dumps(document)
    return CliRunner().invoke(plan_command, ["draft", "-", *options], input=text)


def run_draft(document: Any, *options: str) -> Any:
    result = run(document, "--json", *options)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def list_blocks(result: Any) -> list[str]:
    return [f"{b['start'][11:16]} {b['title']} {b['minutes']}" for b in result["placed"]]


@pytest.mark.core
def test_draft_has_the_shape_of_the_contract() -> None:
    result = run_draft(DAY)
    assert list_blocks(result) == ["09:00 Mail 30", "10:00 Report 90"]
    assert [e["key"] for e in result["plan"]["events"]] == ["mail", "report"]
    assert [(u["id"], u["reason"]) for u in result["unplaced"]] == [
        ("book", "it needs 1 h 30 min, and the longest stretch still free is 30 min")
    ]
    assert (result["conflict"], result["finished"], result["relaxed"]) == (None, True, [])
    assert [choice["way"] for choice in result["unplaced"][0]["choices"]] == ["defer", "drop", "extend"]


def test_a_batch_answers_line_by_line() -> None:
    lines = "\n".join([json.dumps(DAY), "{", json.dumps({**DAY, "tz": "Mars"})])
    result = CliRunner().invoke(plan_command, ["draft", "--batch", "-"], input=lines)
    documents = [json.loads(line) for line in result.stdout.splitlines()]
    assert [sorted(d) == ["error"] for d in documents] == [False, True, True]
    assert documents[0] == run_draft(DAY)


def test_a_budget_of_nothing_still_gives_a_plan_and_says_so() -> None:
    result = run_draft(DAY, "--budget", "0")
    assert (result["finished"], len(result["placed"])) == (False, 2)
    assert "Time was up" in run(DAY, "--budget", "0").output


def test_several_days() -> None:
    result = run_draft(
        {**DAY, "tasks": [{**t, "id": f"{t['id']}{n}"} for t in DAY["tasks"] for n in range(2)]}, "--days", "2"
    )
    assert [plan["date"] for plan in result["plans"]] == ["2026-03-02", "2026-03-03"]
    assert result["plans"][0] == result["plan"]
    assert all(plan["events"] for plan in result["plans"])


def test_for_people_nights_and_changed_clocks_are_marked_and_each_day_is_named() -> None:
    """S230, S231: where a clock time alone would mislead."""
    night = {**DAY, "date": "2026-10-25", "frame": {"start": "00:00", "end": "04:00"}, "immovables": []}
    only = {"splittable": False, "not_before": "02:10"}
    watch = {**night, "tasks": [{"id": "w", "title": "Watch", "minutes": 90, **only}]}
    assert "02:10 CEST–02:40 CET Watch  (deep work, 90 min)" in run(watch).output
    late = {**DAY, "frame": {"start": "21:00", "end": "2026-03-03T03:00:00+01:00"}, "immovables": []}
    assert (
        "21:00–02:00⁺¹ Watch  (deep work, 300 min)"
        in run({**late, "tasks": [{"id": "w", "title": "Watch", "minutes": 300, "splittable": False}]}).output
    )
    full = {**DAY, "tasks": [{"id": f"t{n}", "title": "T", "minutes": 30} for n in range(12)]}
    shut = run({**full, "policy": {"lunch": None, "shutdown": 60, "slack_percent": None}}, "--days", "2").output
    left = [line.partition(":")[0] for line in shut.splitlines() if line.startswith("✗ Shut down")]
    assert left == ["✗ Shut down on Monday", "✗ Shut down on Tuesday"]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"tasks": [{"id": "a", "title": "A", "minutes": -5}]}, "“minutes” has to be 1 or more."),
        ({"tasks": [{"id": f"t{n}", "title": "T"} for n in range(301)]}, "“tasks” can hold 300 at most, and here are 301."),
        ({"frame": {"start": "18:00", "end": "09:00"}}, "The day ends before it starts; choose an end after the start."),
        ({"frame": {"start": "09:00", "end": "09:00"}}, "The day ends before it starts; choose an end after the start."),
        ({"tasks": [{"id": "a", "title": "A"}] * 2}, "Two tasks are called “a”; each needs its own id."),
        ({"tasks": [{"id": "a", "title": "A", "after": ["b"]}]}, "A task comes after “b”, and there is no such task."),
        ({"immovables": [{"title": "M"}]}, "“M” needs a start and an end, or all_day."),
        ({"tz": "Mars"}, "“Mars” is not a time zone I know; use an IANA name such as Europe/Amsterdam."),
        ({"colour": "red"}, "“colour” is not a field I know here."),
        ({"pinned": [{"key": "x"}]}, "The pinned block “x” is not in the previous plan; give its start and minutes."),
    ],
)  # fmt: skip
def test_bad_input_gets_one_sentence(change: dict[str, Any], sentence: str) -> None:
    error = run({**DAY, **change}, "--json").exception
    assert isinstance(error, FateforgerError)
    assert error.message == sentence


@pytest.mark.parametrize(
    ("change", "placed"),
    [
        ({"tasks": [{"id": "a", "title": "A", "minutes": 1800}]}, []),
        (
            {"tasks": [{"id": f"t{n}", "title": f"T{n}", "minutes": 10, "type": "SW"} for n in range(200)]},
            TWO_HOURS,
        ),
        ({"immovables": [{"title": "Trip", "all_day": True}]}, []),
        ({"immovables": [{"title": "Birthday", "all_day": True, "busy": False}]}, 2),
        ({"immovables": [{"start": "09:00", "end": "11:00"}, {"start": "10:00", "end": "11:20"}]}, ["11:30 Mail 30"]),
        ({"tasks": []}, []),
        ({"date": "2026-03-29", "frame": {"start": "01:00", "end": "04:00"}}, ["01:00 Mail 30", "03:00 Report 60"]),
    ],
    ids=["30 hours", "200 tasks", "all day", "birthday", "overlapping", "nothing", "spring"],
)
def test_strange_days_get_a_plan(change: dict[str, Any], placed: Any) -> None:
    """Issue: bad input gets a clear answer each."""
    document = {**DAY, **change}
    if "date" in change:
        document["tasks"] = [DAY["tasks"][0], {**DAY["tasks"][1], "minutes": 60, "splittable": False}]
        document["immovables"] = [{"start": "01:30", "end": "03:00"}]
    result = run_draft(document)
    assert (len(result["placed"]) if isinstance(placed, int) else list_blocks(result)) == placed
    assert len(result["unplaced"]) == len(document["tasks"]) - len(result["placed"])


def test_musts_that_cannot_be_kept_are_named_in_the_persons_words() -> None:
    document = {
        **DAY,
        "tasks": [{"id": "report", "title": "Report", "minutes": 90, "required": True, "splittable": False}],
        "constraints": [make_rule("must", "09:45", "11:00"), make_rule("should", "09:00", "09:30", uid="c2")],
    }
    result = run_draft(document)
    assert result["conflict"] == ["c1", "report"]
    assert result["conflict_text"] == (
        "These cannot all be kept: “nothing from 09:45” and “Report” has to be done (1 h 30 min)."
        " The easiest to give up is “nothing from 09:45”: let this rule go for the day."
    )
    assert (result["relaxed"], list_blocks(result)) == (["c1"], ["10:00 Report 90"])


def about(uid: str, kind: str, tasks: list[str], **numbers: int) -> dict[str, Any]:
    """Return a must about named tasks."""
    record = {"name": uid, "necessity": "must", "payload": {"rule_kind": kind, "scalar_params": numbers}}
    return {"uid": uid, "tasks": tasks, "constraint_record": record}


@pytest.mark.parametrize(("due", "conflict"), [("2026-03-02T12:00", ["order", "draft"]), ("2026-03-03T12:00", None)])
def test_an_order_of_named_tasks_holds_across_days(due: str, conflict: list[str] | None) -> None:
    """The draft is due on Monday and the outline cannot begin before Tuesday."""
    document = {
        **DAY,
        "days": 2,
        "tasks": [
            {"id": "draft", "title": "Draft", "minutes": 60, "required": True, "deadline": due},
            {"id": "outline", "title": "Outline", "minutes": 60, "not_before": "2026-03-03T09:00"},
        ],
        "constraints": [about("order", "sequencing", ["outline", "draft"])],
        "immovables": [],
    }
    result = run_draft(document)
    assert result["conflict"] == conflict
    assert conflict or list_blocks(result) == ["09:00 Outline 60", "10:10 Draft 60"]


def test_an_order_that_cannot_be_kept_across_days_is_told() -> None:
    """The order is only a wish, so the draft is valid."""
    wish = about("order", "sequencing", ["outline", "draft"])
    wish["constraint_record"]["necessity"] = "should"
    document = {
        **DAY,
        "days": 2,
        "tasks": [
            {"id": "draft", "title": "Draft", "minutes": 60, "required": True, "deadline": "2026-03-02T12:00"},
            {"id": "outline", "title": "Outline", "minutes": 60, "required": True, "not_before": "2026-03-03T09:00"},
        ],
        "constraints": [wish],
        "immovables": [],
    }
    result = run_draft(document)
    assert (result["conflict"], list_blocks(result)) == (None, ["09:00 Draft 60", "09:00 Outline 60"])
    assert [each["id"] for each in result["broken"]] == ["order"]


def test_a_task_waits_for_the_task_that_is_ordered_before_it() -> None:
    tasks = [{"id": name, "title": name.title(), "minutes": 60} for name in ("outline", "draft")]
    result = run_draft(
        {
            **DAY,
            "tasks": [{**tasks[0], "not_before": "11:30"}, tasks[1]],
            "constraints": [about("order", "sequencing", ["outline", "draft"])],
        }
    )
    assert (list_blocks(result), result["conflict"]) == ([], None)
    assert result["unplaced"][1]["reason"] == "it comes after “Outline”, which found no place"


def test_a_buffer_for_one_task_leaves_the_others_alone() -> None:
    """Neither side of a meeting is closed to e-mail by a rule about stretching."""
    meetings = [{"start": "10:00", "end": "10:15"}, {"start": "11:00", "end": "11:15"}]
    tasks = [
        {"id": "stretch", "title": "Stretching", "minutes": 15, "type": "H"},
        {"id": "mail", "title": "E-mail", "minutes": 45, "type": "SW", "required": True},
    ]
    rule = about("buffer", "buffer", ["stretch"], duration_min=20)
    result = run_draft({**DAY, "immovables": meetings, "tasks": tasks, "constraints": [rule]})
    assert (list_blocks(result), result["conflict"]) == (["09:00 E-mail 45", "11:35 Stretching 15"], None)
    assert result["broken"] == []
    alone = run_draft({**DAY, "immovables": meetings, "tasks": tasks, "constraints": [{**rule, "tasks": []}]})
    assert alone["conflict"] == ["buffer", "mail"]


def ways(document: Any) -> dict[str, list[tuple[str, str]]]:
    """Return the choices of each task that is left out, with their costs."""
    left = run_draft(document)["unplaced"]
    return {each["title"]: [(c["label"], c.get("cost", "")) for c in each["choices"]] for each in left}


WAIT = [("Another day", ""), ("Drop it", "")]


@pytest.mark.parametrize(
    ("due", "longer"), [("12:00", []), ("19:00", [("Work 30 min longer: your day ends at 17:30", "")])]
)
def test_a_longer_day_is_offered_only_where_it_helps(due: str, longer: list[tuple[str, str]]) -> None:
    """A workshop takes most of the time before noon, or most of the day; the offer is in half hours."""
    until = "11:30" if due == "12:00" else "16:45"
    document = {
        **DAY,
        "frame": {"start": "09:00", "end": "17:00"},
        "immovables": [{"title": "Workshop", "start": "09:00", "end": until}],
        "tasks": [{"id": "a", "title": "Figures", "minutes": 40, "deadline": due, "splittable": False}],
    }
    shorter = [("Make it 30 min", "")] if due == "12:00" else []
    assert ways(document)["Figures"] == [*WAIT, *shorter, *longer]


def test_no_work_late_at_night_is_offered() -> None:
    document = {**DAY, "frame": {"start": "20:00", "end": "22:00"}, "immovables": []}
    assert ways({**document, "tasks": [{"id": "a", "title": "A", "minutes": 150, "splittable": False}]}) == {
        "A": [*WAIT, ("Make it 2 h", "")]
    }


def test_a_choice_says_what_it_costs() -> None:
    """Without the rule the report has a place, and it is that of the e-mail."""
    document = {
        **DAY,
        "immovables": [],
        "frame": {"start": "20:00", "end": "22:00"},
        "tasks": [
            {"id": "mail", "title": "E-mail", "minutes": 60, "type": "SW"},
            {"id": "report", "title": "Report", "minutes": 90, "splittable": False, "priority": 1},
        ],
        "constraints": [make_rule("must", "20:00", "23:00", applies_event_types=["DW"])],
    }
    relax = ("Just today without “nothing from 20:00”", "“E-mail” then waits for another day")
    assert ways(document)["Report"] == [*WAIT, relax]
    assert "nothing from 20:00” (“E-mail” then waits for another day)" in run(document).output
    result = run_draft({**document, "constraints": []})
    assert ([b["title"] for b in result["placed"]], [u["title"] for u in result["unplaced"]]) == (
        ["Report"],
        ["E-mail"],
    )


def test_a_task_that_a_should_pushes_out_has_a_choice_without_it() -> None:
    rule = make_rule("should", "10:00", "20:00", applies_event_types=["DW"])
    task = {"id": "book", "title": "Book", "minutes": 90, "splittable": False}
    result = run_draft({**DAY, "immovables": [], "tasks": [task], "constraints": [rule]})
    left = result["unplaced"][0]
    assert left["reason"] == "the only time left for it is not what you want: “nothing from 10:00”"
    assert left["choices"][-1] == {"way": "relax", "label": "Just today without “nothing from 10:00”", "rule": "c1"}
    assert list_blocks(run_draft({**DAY, "immovables": [], "tasks": [task]})) == ["09:00 Book 90"]


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([("12:00", "15:00")], "meetings leave no 20 minutes free around that time"),
        ([], "your tasks take the time around it"),
    ],
)
def test_the_reason_for_no_lunch_is_what_took_its_time(events: list[tuple[str, str]], reason: str) -> None:
    document = {
        **DAY,
        "frame": {"start": "12:00", "end": "15:00"},
        "immovables": [{"start": start, "end": end} for start, end in events],
        "tasks": [] if events else [{"id": "a", "title": "A", "minutes": 170, "required": True}],
        "policy": {"shutdown": 0},
    }
    assert [each["reason"] for each in run_draft(document)["unplaced"]] == [reason]


def test_a_reason_names_the_times_of_the_task_rather_than_a_rule() -> None:
    """The rule about the afternoon changes nothing for what is due at half past nine."""
    task = {"id": "a", "title": "A", "minutes": 60, "deadline": "09:30", "splittable": False}
    result = run_draft({**DAY, "tasks": [task], "constraints": [make_rule("must", "11:00", "12:00")]})
    assert result["unplaced"][0]["reason"] == "it needs 1 h, and there is not that much time free before 09:30"
    late = {**DAY, "tasks": [{**task, "deadline": "11:30"}], "constraints": [make_rule("must", "10:00", "11:00")]}
    assert run_draft(late)["unplaced"][0]["reason"] == "“nothing from 10:00” leaves it no 1 h"


def check(plan: Any, said: Any, tmp_path: Path) -> Any:
    (tmp_path / "said.json").write_text(json.dumps(said))
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    arguments = ["check", str(tmp_path / "plan.json"), "--constraints", str(tmp_path / "said.json"), "--json"]
    return json.loads(CliRunner().invoke(plan_command, arguments).stdout)


def test_check_asks_a_plan_for_nothing_that_only_an_instance_has() -> None:
    """S50: a plan names no tasks, so none can be the one thing; an instance is refused with the right command."""
    plan = json.dumps(run_draft(DAY)["plan"])
    result = CliRunner().invoke(plan_command, ["check", "-", "--json"], input=plan)
    told = [finding["message"] for finding in json.loads(result.stdout)["findings"]]
    assert [text for text in told if "one thing" in text] == []
    wrong = CliRunner().invoke(plan_command, ["check", "-"], input=json.dumps(DAY)).exception
    assert isinstance(wrong, FateforgerError)
    assert wrong.message == "This is an instance, which plan draft takes; plan check takes a plan."


def test_check_holds_a_plan_to_what_was_said(tmp_path: Path) -> None:
    """A must is an error, a should a finding; records alone, or what ``constraints query`` prints."""
    plan = run_draft(DAY)["plan"]
    broken = {
        "message": "You said “nothing from 10:00”, and “Report” (10:00) lies in the time that this is about.",
        "events": [1],
    }
    must = check(plan, [make_rule("must", "10:00", "11:00")], tmp_path)
    assert (must["ok"], must["errors"]) == (False, [broken])
    should = check(plan, {"constraints": [make_rule("should", "10:00", "11:00")]}, tmp_path)
    assert (should["ok"], should["errors"], broken in should["findings"]) == (True, [], True)
    assert check(plan, [make_rule("must", "11:30", "12:00")["constraint_record"]], tmp_path)["ok"]


def test_a_task_of_a_document_says_what_one_of_the_queue_says() -> None:
    details = {"kind": "family", "at": "20:00", "people": ["Ann"]}
    dinner = {"id": "dinner", "title": "Dinner", "minutes": 90, "details": details}
    after = {"id": "walk", "title": "Walk", "minutes": 20, "type": "H", "details": {"after": ["report"]}}
    result = run_draft({**DAY, "tasks": [*DAY["tasks"][1:2], dinner, after]})
    placed = {b["title"]: (b["start"][11:16], b["type"]) for b in result["placed"]}
    assert placed == {"Report": ("10:00", "DW"), "Walk": ("11:30", "H"), "Dinner": ("20:00", "H")}
    wrong = run({**DAY, "tasks": [{**dinner, "details": {"at": "09:00", "from_time": "10:00"}}]}, "--json")
    assert "It starts before it may begin; leave out one of the two times" in str(wrong.exception)


def test_the_schema_in_the_repository_is_the_one_that_holds() -> None:
    assert json.loads((ROOT / "docs" / "instance.schema.json").read_text()) == instance_schema()
