"""The commands of the queue: JSON and words out, exit status, sentences that refuse."""

from __future__ import annotations

import asyncio
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.contracts.stores import new_file
from tests.factories.inside import run_inside, without_doubt
from tests.factories.tasks import DETAILED

from fateforger.adapters.store.store import open_store
from fateforger.planning.task_details import PLAIN, TaskDetails
from fateforger.tasks.durations import Observation

NOW = "2026-03-02T09:00:00+00:00"
DAY = date(2026, 3, 2)


class CommandLine:
    """Runs the program as a person would, in this process."""

    def __init__(self, folder: Path) -> None:
        self.data = folder
        new_file(folder).rename(folder / "fateforger.db")

    def text(self, command: str, *arguments: str, user: str | None = "U1") -> tuple[int, str, str]:
        whose = () if user is None else ("--user", user)
        return run_inside("tasks", command, *arguments, *whose, "--data-dir", str(self.data), "--now", NOW)

    def json(self, command: str, *arguments: str) -> Any:
        status, out, err = self.text(command, *arguments, "--json")
        assert (status, without_doubt(err)) == (0, ""), out
        return json.loads(out)

    def expect_output(self, command: str, *arguments: str) -> str:
        status, out, err = self.text(command, *arguments)
        assert (status, without_doubt(err)) == (0, ""), err
        return out.rstrip("\n")

    def expect_refusal(self, command: str, *arguments: str, user: str | None = "U1") -> str:
        status, out, _ = self.text(command, *arguments, "--json", user=user)
        assert status == 2
        sentence: str = json.loads(out)["error"]["message"]
        return sentence

    def add(self, title: str, *arguments: str) -> str:
        task_id: str = self.json("add", title, *arguments)["task"]["id"]
        return task_id

    def list_tasks(self, *arguments: str) -> list[tuple[str, str]]:
        return [(t["spec"]["title"], t["state"]) for t in self.json("list", *arguments)["tasks"]]


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def test_a_task_is_added_with_all_it_says(cli: CommandLine) -> None:
    """S154, S155"""
    first = cli.add("Ask Ann")
    said = cli.json(
        "add", "Dark mode", "--project", "web", "--priority", "1", "--tag", "ui", "--context", "In the settings.",
        "--file", "theme.ts", "--criterion", "It lasts", "--workflow", "feature-dev", "--minutes", "90",
        "--after", first.upper(), "--paused",
    )  # fmt: skip
    task = said["task"]
    assert task["spec"] == {
        "title": "Dark mode",
        "work": {"kind": "do", "minutes": 90},
        "project": "web",
        "priority": 1,
        "tags": ["ui"],
        "context": "In the settings.",
        "relevant_files": ["theme.ts"],
        "acceptance_criteria": ["It lasts"],
        "workflow": "feature-dev",
        "remind_at": None,
        "details": PLAIN.model_dump(mode="json"),
    }
    assert (task["state"], task["blocked_by"], task["waits_for"]) == ("paused", [first], [first])
    assert task["origin"] == {"door": "cli", "reference": ""}
    lines = said["message"].splitlines()
    assert lines[:3] == [
        f"Added {task['id']} “Dark mode”: paused, 1 h 30 min.",
        "Priority: high",
        "Workflow: feature-dev",
    ]
    assert lines[-1] == f"Next: fateforger tasks pull {task['id']}, or /pull {task['id']} in Slack."
    assert "  BEFORE commit: tests_pass" in lines
    shown = cli.json("show", task["id"])
    assert shown["task"] == task
    assert "BEFORE commit: tests_pass" in shown["rules"]


def test_a_title_gives_its_length_and_its_time_as_in_the_form(cli: CommandLine) -> None:
    """S419: and what is given by an option counts."""
    added = cli.json("add", "Report, 2 h at 14:00")["task"]["spec"]
    assert (added["title"], added["work"]["minutes"], added["details"]["at"]) == ("Report", 120, "14:00")
    added = cli.json("add", "Slides, 1 h, before 14:00")["task"]["spec"]
    assert (added["title"], added["details"]["due_time"]) == ("Slides", "14:00")
    added = cli.json("add", "Report, 2 h", "--minutes", "30", "--at", "09:00")["task"]["spec"]
    assert (added["title"], added["work"]["minutes"], added["details"]["at"]) == ("Report, 2 h", 30, "09:00")


def test_a_short_task_is_no_deep_work_unless_the_person_says_so(cli: CommandLine) -> None:
    """S106"""
    kinds = [
        cli.json("add", *said)["task"]["spec"]["details"]["kind"]
        for said in (["Call the tax office, 15 min"], ["Review, 15 min", "--as", "deep"], ["Report, 1 h"], ["Report"])
    ]
    assert kinds == ["shallow", "deep", "deep", "deep"]


def test_the_list_shows_dates_and_the_next_task_is_not_one_for_a_later_day(cli: CommandLine) -> None:
    """S419: as in Slack; it is pulled if it is named."""
    later = cli.add("Groceries, 30 min", "--from", "2026-03-05", "--due", "2026-03-06", "--priority", "1")
    assert cli.expect_output("list").splitlines()[1:] == [
        "           high priority, for Thursday 5 March, 30 min, due Friday 6 March"
    ]
    assert "for a later day" in cli.expect_refusal("pull")
    first = cli.add("Ask Ann")
    assert cli.json("pull")["task"]["id"] == first
    assert cli.json("pull", later)["task"]["state"] == "waiting"


@pytest.mark.parametrize(
    ("arguments", "work"),
    [
        (("--kind", "plan_day", "--date", "2026-03-03"), {"kind": "plan_day", "date": "2026-03-03"}),
        (
            ("--kind", "block_time", "--date", "2026-03-03", "--minutes", "45", "--start", "09:30"),
            {"kind": "block_time", "date": "2026-03-03", "minutes": 45, "start": "09:30:00", "task": None},
        ),
        (("--kind", "decompose"), {"kind": "decompose"}),
        (("--kind", "review_constraints"), {"kind": "review_constraints"}),
    ],
)
def test_kinds_of_tasks(cli: CommandLine, arguments: tuple[str, ...], work: dict[str, object]) -> None:
    assert cli.json("add", "x", *arguments)["task"]["spec"]["work"] == work


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("x", "--kind", "plan_day"), "A task of kind plan_day needs --date."),
        (("x", "--date", "2026-03-03"), "A task of kind do has no --date."),
        (
            ("x", "--workflow", "nothing"),
            "There is no workflow “nothing”; there are decompose, feature-dev and tdd-cycle.",
        ),
        (("x", "--after", "ff-222222"), "There is no task “ff-222222” in this queue."),
        (
            ("x", "--due", "tomorrow"),
            "“tomorrow” is neither a day, like 2026-03-05, nor a time of day, like 09:30.",
        ),
        (("x", "--from", "-3"), "“-3” is not a day; write it like 2026-03-05."),
        (("x", "--due", "2026-02-30 09:30"), "“2026-02-30” is not a day; write it like 2026-03-05."),
        (("x", "--after", "later"), "“later” is no id of a task; they look like ff-7k2m9x."),
    ],
)
def test_what_cannot_be_added_is_refused(cli: CommandLine, arguments: tuple[str, ...], sentence: str) -> None:
    """S508, S517"""
    assert cli.expect_refusal("add", *arguments) == sentence
    assert cli.list_tasks() == []


def test_the_queue_in_words(cli: CommandLine) -> None:
    """S157, S160, S167"""
    assert cli.expect_output("list") == "The queue is empty."
    first = cli.add("Ask Ann")
    second = cli.add("Write", "--after", first, "--priority", "0")
    assert cli.expect_output("list") == (
        f"{second}  Write\n           urgent, after {first}\n{first}  Ask Ann\n           ready"
    )
    third = cli.add("Read", "--tag", "book", "--tag", "slow")
    assert f"{third}  [book] [slow] Read\n           ready" in cli.expect_output("list")
    assert cli.expect_output("show", first.removeprefix("ff-")) == (
        f"{first}  Ask Ann\n           ready\nKind: do\nFrom: cli"
    )


def test_a_task_is_moved_and_changed(cli: CommandLine) -> None:
    """S508: S167"""
    a, b, c = (cli.add(title) for title in "abc")
    assert cli.expect_output("move", c, "first") == "“c” is first now."
    assert cli.expect_output("move", a, "--before", c) == "“a” is first now."
    assert cli.expect_output("move", a, "down") == "“a” is number 2 of 3 now."
    assert cli.json("move", b, "up")["message"] == "“b” is number 2 of 3 now."
    assert cli.expect_output("priority", a, "low") == "“a” has priority low now."
    assert cli.expect_output("priority", a, "1") == "“a” has priority high now."
    assert cli.expect_output("move", b, "first").startswith("“b” is first now. That makes its priority “high”")
    assert cli.expect_output("rename", b, "be") == "It is called “be” now."
    assert cli.expect_output("pause", c) == "“c” is paused. It keeps its place until you resume it."
    assert cli.expect_output("stop", a) == "“a” is stopped. Nothing more happens to it unless you try it again."
    assert cli.list_tasks() == [("be", "active"), ("c", "paused")]
    assert cli.list_tasks("--all") == [("be", "active"), ("a", "stopped"), ("c", "paused")]
    assert cli.expect_output("resume", c) == "“c” can be pulled again."
    assert cli.expect_output("retry", a) == "“a” is back in the queue."
    assert cli.list_tasks() == [("be", "active"), ("a", "active"), ("c", "active")]


def test_what_makes_no_sense_is_refused(cli: CommandLine) -> None:
    a = cli.add("a")
    assert cli.expect_refusal("add", "") == "“title” is empty."
    assert cli.expect_refusal("move", a, "up") == "“a” is first already."
    assert cli.expect_refusal("move", a) == "Say where: first, last, up, down, or --before TASK."
    assert cli.expect_refusal("resume", a) == "“a” is not paused; it can be pulled."
    assert cli.expect_refusal("priority", a, "9").startswith("There is no priority 9")
    gone = "There is no task ff-222222 in this queue; tasks list shows those that are there."
    for command in ("show", "pause", "stop"):
        assert cli.expect_refusal(command, "ff-222222") == gone
    assert cli.expect_refusal("move", "ff-222222", "last") == gone
    assert cli.expect_refusal("stop", a, user="U2") == gone.replace("ff-222222", a)


def test_without_a_person_it_is_the_queue_of_the_calendars_owner(
    cli: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K15: on the local page it is the page's person; with Slack there is none before the calendar has an owner."""
    cli.add("a")
    listed = cli.text("list", "--json", user=None)
    assert (listed[0], json.loads(listed[1])["tasks"]) == (0, [])
    monkeypatch.setenv("FATEFORGER_CALENDAR_OWNER", "U1")
    assert [task["spec"]["title"] for task in json.loads(cli.text("list", "--json", user=None)[1])["tasks"]] == ["a"]
    monkeypatch.delenv("FATEFORGER_CALENDAR_OWNER")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "xoxb-1")
    monkeypatch.setenv("SLACK_APP_TOKEN", "xapp-1")
    assert cli.expect_refusal("list", user=None) == (
        "The calendar has no owner, as fateforger doctor says. Please name a person with --user ID."
    )


def test_the_list_is_that_of_a_tag(cli: CommandLine) -> None:
    """S444"""
    first = cli.add("Write", "--tag", "Deep")
    cli.add("Read", "--tag", "book")
    assert cli.expect_output("list", "--tag", "deep").splitlines() == [f"{first}  [Deep] Write", "           ready"]
    assert cli.expect_output("list", "--tag", "deep", "--tag", "home").count("ff-") == 1
    assert cli.expect_output("list", "--tag", "home") == "No task has the tag home."


def test_what_is_not_done_after_all_comes_back(cli: CommandLine) -> None:
    """S444"""
    task = cli.add("Ask Ann")
    cli.expect_output("pull")
    assert cli.expect_output("done", task) == "“Ask Ann” is done."
    assert cli.expect_output("retry", task) == "“Ask Ann” is back in the queue."
    assert cli.list_tasks() == [("Ask Ann", "active")]


def test_a_task_is_pulled_and_done(cli: CommandLine) -> None:
    """S157-S160, S162: first the next task, then the named one; missing criteria are listed."""
    assert cli.expect_refusal("pull") == "The queue is empty, so there is nothing to pull."
    first = cli.add("Ask Ann", "--criterion", "She knows", "--criterion", "She agrees")
    later = cli.add("Write", "--after", first, "--priority", "0")
    assert cli.expect_refusal("pull", later) == f"“Write” has to wait for “Ask Ann” ({first})."
    assert cli.expect_refusal("done", first) == "“Ask Ann” was not pulled, so it cannot be done yet."
    said = cli.expect_output("pull").splitlines()
    assert said[:2] == [f"{first}  Ask Ann", "           waiting for you"]
    assert "  2. She agrees" in said
    assert said[-1] == f"Say that it is done with: fateforger tasks done {first}"
    assert cli.expect_refusal("pull") == (
        "Nothing can be pulled now: what is in the queue is paused, in hand, for a later day, or waits for others."
    )
    assert cli.expect_refusal("pull", first) == "“Ask Ann” is waiting for you, so it cannot be pulled."
    assert cli.expect_refusal("done", first, "--met", "1") == "It is not done yet. Still open: She agrees."
    assert cli.expect_output("done", first, "--all-met") == "“Ask Ann” is done."
    assert cli.json("pull")["task"]["id"] == later


def test_done_is_checked_by_the_rules_of_the_workflow(cli: CommandLine) -> None:
    """S162"""
    task_id = cli.add("Dark mode", "--workflow", "tdd-cycle")
    pulled = cli.json("pull", task_id)
    assert "BEFORE implement: test_exists AND test_fails" in pulled["rules"]
    refused = cli.expect_refusal("done", task_id, "--did", "implement")
    assert "Rule: A test exists and fails before implementation begins." in refused
    assert cli.expect_refusal("done", task_id, "--did", "nothing") == (
        "“nothing” is nothing that the workflow “tdd-cycle” knows."
    )
    assert cli.expect_refusal("done", task_id) == (
        "Commit what you did, with its tests passing, before you say that it is done. Rule: The work is committed before "
        "it counts as done. Name what you did with --did, in order: write_test, see_test_fail, implement, run_test, "
        "refactor, verify_tests, commit."
    )
    assert cli.list_tasks() == [("Dark mode", "waiting")]
    done = [f"--did={name}" for name in ("write_test", "see_test_fail", "implement", "run_test", "commit")]
    assert cli.expect_output("done", task_id, *done) == "“Dark mode” is done."


def test_what_opens_a_thread_is_not_pulled_here(cli: CommandLine) -> None:
    task_id = cli.add("Plan it", "--kind", "plan_day", "--date", "2026-03-03")
    assert cli.expect_refusal("pull") == (
        f"“Plan it” ({task_id}) is carried out in Slack: write /pull {task_id} there. Or name another task here."
    )
    assert cli.list_tasks() == [("Plan it", "active")]


def test_all_details_of_a_task_are_said_at_the_command_line(cli: CommandLine) -> None:
    task = cli.add(
        "Dentist", "--as", "errand", "--at", "14:00", "--due", "2026-03-06 16:00", "--from", "2026-03-02 13:00",
        "--best", "after_lunch", "--with", "Ann", "--with", "Bob", "--place", "Dr. Ray", "--travel", "20",
        "--in-pieces", "--item", "Card", "--item", "X-ray",
    )  # fmt: skip
    assert TaskDetails.model_validate(cli.json("show", task)["task"]["spec"]["details"]) == DETAILED
    assert "Details: errand; at 14:00; due Friday 6 March at 16:00;" in cli.expect_output("show", task)
    assert "Items:\n  [ ] Card\n  [ ] X-ray" in cli.expect_output("show", task)
    day = cli.json("show", cli.add("Tax", "--due", "2026-03-06"))["task"]["spec"]["details"]
    clock = cli.json("show", cli.add("Shop", "--from", "17:30"))["task"]["spec"]["details"]
    assert (day["due_day"], day["due_time"], clock["from_day"], clock["from_time"]) == (
        "2026-03-06",
        None,
        None,
        "17:30",
    )


def test_details_that_exclude_each_other_are_refused(cli: CommandLine) -> None:
    sentence = "It starts before it may begin; leave out one of the two times."
    assert cli.expect_refusal("add", "Dentist", "--at", "09:00", "--from", "10:00") == sentence


async def test_durations_are_listed_and_forgotten(tmp_path: Path) -> None:
    cli = CommandLine(tmp_path)
    store = open_store(tmp_path / "fateforger.db")
    for user in ("U1", "U2"):
        took = (
            Observation(id=f"{n}", title="Report", deep=True, planned=60, actual=84, day=DAY, source="done")
            for n in range(3)
        )
        await store.durations.keep(user, tuple(took))
    await store.aclose()
    said = await asyncio.to_thread(cli.expect_output, "durations")
    assert said == "deep report: 1.4 times as long as planned, 3 tasks"
    document = await asyncio.to_thread(cli.json, "durations")
    assert document["durations"][0]["minutes"] == 85
    refusal = await asyncio.to_thread(cli.expect_refusal, "durations", "--forget", "talks")
    assert refusal == "I know nothing about “talks”; tasks durations shows what I know."
    gone = await asyncio.to_thread(cli.expect_output, "durations", "--forget", "Reports")
    assert gone == "No kind of task is known well enough; that takes three of them."
    other = await asyncio.to_thread(cli.text, "durations", user="U2")
    assert other[1].rstrip() == said


def test_a_renamed_command_is_named_so(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """S337: at the command line, too."""
    monkeypatch.setenv("FATEFORGER_COMMANDS", "pull=/plan-pull")
    said = cli.json("add", "Dark mode")
    assert said["message"].endswith(f"or /plan-pull {said['task']['id']} in Slack.")
    monkeypatch.delenv("FATEFORGER_COMMANDS")
    assert "/pull" in cli.json("add", "Light mode")["message"]
