"""``workflow check --plan`` and ``workflow list``: plans by their actions, and what workflows are for (S132, S135, S137)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.cli.test_plan_doors import Door
from tests.unit.conversation.queue.test_task_rules import SHIP

USUAL = (
    "one_task_in_progress", "changes_tracked_in_task", "critic_spawned", "tests_fail_unexpectedly", "plan_needed",
    "tests_needed", "review_needed", "unknown_discovered",
)  # fmt: skip


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path)


def known(*, approved: bool = False) -> str:
    """What is so besides the plan, as the published tables take it."""
    session = dict.fromkeys(USUAL, False) | dict.fromkeys(USUAL[:2], True)
    body = "## Approved Plan\n## Critic Review" if approved else ""
    task = {"body": body, "tags": [], "actionable": "true", "over_decomposed": "false"}
    return json.dumps({"session": session, "task": task, "stated": []})


PUBLISHED = [
    (
        "feature-dev", "claim_task capture_user_story implement write_tests run_tests commit", False,
        ["plan-approved", "tests-first", "reviewed"],
    ),
    ("feature-dev", "claim_task write_tests see_tests_fail implement commit", True,
     ["tests-pass", "commit-with-failing-tests"]),
    ("decompose", "claim_task articulate_goal create_components close_task", False,
     ["assumptions-first", "review-after", "hide-assumptions"]),
    ("tdd-cycle", "claim_task write_test see_test_fail implement run_test refactor verify_tests commit", False, []),
    ("tdd-cycle", "claim_task write_test implement run_test commit", False, ["red-first"]),
    ("tdd-cycle", "claim_task implement write_test run_test commit", False, ["red-first", "implement-before-test"]),
]  # fmt: skip


@pytest.mark.parametrize(("workflow", "steps", "approved", "broken"), PUBLISHED)
def test_published_plans_break_as_many_rules_as_published(
    door: Door, workflow: str, steps: str, *, approved: bool, broken: list[str]
) -> None:
    """S137, S141: by actions alone, with what is known besides; no state is written out."""
    plan, facts = door.file("plan.txt", "\n".join(steps.split())), door.file("known.json", known(approved=approved))
    ends = () if "close_task" in steps else ("--open",)
    status, document = door.json("workflow", "check", workflow, "--plan", plan, "--known", facts, *ends)
    assert (status, [rule["id"] for rule in document["rules"] if rule["verdict"] == "violated"]) == (0, broken)


def test_a_name_of_the_wrong_kind_is_refused_with_its_place(door: Door) -> None:
    """R6, R7: in a plan, and after INVOKE and THEN in a file of one's own."""
    plan = door.file("plan.txt", "write_test\ncommit + test_passes\n")
    status, document = door.json("workflow", "check", "tdd-cycle", "--plan", plan)
    error = document["error"]
    assert (status, error["message"]) == (2, "“test_passes” is declared as a state, and stands here as an action.")
    assert error["where"].endswith("plan.txt, line 2")


def test_proceed_to_is_another_spelling(door: Door) -> None:
    """S132: the same verdicts, and a state after it is refused with its place."""
    verdicts = []
    for word in ("INVOKE", "PROCEED_TO"):
        rules = f"workflow: w\nactions: [a, b]\npredicates: {{p: {{set_by: [a]}}}}\ntriggers: ['ON p: {word} b']\n"
        file, plan = door.file("w.yaml", rules), door.file("plan.txt", "a\na\nb\n")
        verdicts.append(door.json("workflow", "check", file, "--plan", plan)[1]["verdict"])
    assert verdicts == ["satisfied", "satisfied"]
    wrong = door.file("w.yaml", "workflow: w\nactions: [a]\npredicates: {p: }\ntriggers: ['ON a: PROCEED_TO p']\n")
    error = door.json("workflow", "check", wrong, "--plan", plan)[1]["error"]
    assert error["message"] == "PROCEED_TO needs an action, and “p” is a state."
    assert error["where"].endswith("line 4, column 30")


def test_workflows_are_listed_with_what_they_are_for(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """S135, S140: those that ship and one's own, which inherits what it does not say; and it is checked by its name."""
    folder = Path(door.file("ship.yaml", SHIP)).parent
    monkeypatch.setenv("FATEFORGER_WORKFLOWS", str(folder))
    document = door.json("workflow", "list")[1]
    assert [row["workflow"] for row in document["workflows"]] == ["decompose", "feature-dev", "ship", "tdd-cycle"]
    ship = document["workflows"][2]
    assert (ship["own"], ship["description"], ship["not_when"]) == (
        True, "To the users", ["documentation or configuration only", "exploratory work"],
    )  # fmt: skip
    assert "  not for documentation or configuration only; exploratory work" in door.run("workflow", "list")[1]
    plan = door.file("plan.txt", "announce\n")
    rules = door.json("workflow", "check", "ship", "--plan", plan)[1]["rules"]
    assert "commit-before-done" not in {rule["id"] for rule in rules}
