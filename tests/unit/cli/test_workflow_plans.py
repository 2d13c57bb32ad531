"""``workflow check --plan`` and ``workflow list``: plans by their actions, and what workflows are for (S132, S135, S137)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.cli.test_plan_commands import CommandLine
from tests.unit.conversation.queue.test_task_rules import SHIP

from fateforger.workflow.rules import NAMING

USUAL = (
    "one_task_in_progress", "changes_tracked_in_task", "critic_spawned", "tests_fail_unexpectedly", "plan_needed",
    "tests_needed", "review_needed", "unknown_discovered",
)  # fmt: skip


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(tmp_path)


def build_facts(*, approved: bool = False) -> str:
    """Return the facts other than the plan, in the form of the published tables."""
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
    cli: CommandLine, workflow: str, steps: str, *, approved: bool, broken: list[str]
) -> None:
    """S137, S141: the plan holds actions alone and uses the known facts; no states are written out."""
    plan, facts = cli.file("plan.txt", "\n".join(steps.split())), cli.file("known.json", build_facts(approved=approved))
    ends = () if "close_task" in steps else ("--open",)
    status, document = cli.json("workflow", "check", workflow, "--plan", plan, "--known", facts, *ends)
    assert (status, [rule["id"] for rule in document["rules"] if rule["verdict"] == "violated"]) == (0, broken)


HEAD = "workflow: w\nactions: [a]\npredicates: {p: %s}\n"
KIND = "“%s” is declared as %s, and stands here as %s."


@pytest.mark.parametrize(
    ("rules", "mistake", "where"),
    [
        (
            HEAD % "" + "triggers: ['ON a: PROCEED_TO p']\n",
            "PROCEED_TO needs an action, and “p” is a state.",
            "4, column 30",
        ),
        (HEAD % "" + "triggers: ['ON a: INVOKE p']\n", "INVOKE needs an action, and “p” is a state.", "4, column 26"),
        (HEAD % "{set_by: [a, p]}", "“p” is no declared action.", "3, column 30"),
        (HEAD % "" + "constraints:\n  - BEFORE a: п\n", "Nothing is declared with the name “п”.", "5, column 15"),
        (HEAD % "" + "constraints: ['BEFORE a²: p']\n", f"I cannot read “²” here: {NAMING}.", "4, column 24"),
    ],
)
def test_a_mistaken_name_is_refused_with_its_place(cli: CommandLine, rules: str, mistake: str, where: str) -> None:
    """S292; R6, R7: in a file of one's own, of the wrong kind or of a look; names of any script are names."""
    plan = cli.file("plan.txt", "a\n")
    error = cli.json("workflow", "check", cli.file("w.yaml", rules), "--plan", plan)[1]["error"]
    assert (error["message"], error["where"].endswith(f"w.yaml, line {where}")) == (mistake, True), error


def test_a_name_of_the_wrong_kind_is_refused_in_plans_traces_and_steps(cli: CommandLine) -> None:
    """S292; R6: each error names its place."""
    plan = cli.file("plan.txt", "write_test\ncommit + test_passes\n")
    trace = cli.file("trace.jsonl", '{"do":[]}\n{"do":["commit"],"true":["commit"]}\n')
    told = []
    for given in (("--plan", plan), ("--trace", trace), ("--evaluate", "--do", "test_passes")):
        status, document = cli.json("workflow", "check", "tdd-cycle", *given)
        told.append((status, document["error"]["message"], document["error"]["where"].rpartition("/")[2]))
    assert told == [
        (2, KIND % ("test_passes", "a state", "an action"), "plan.txt, line 2"),
        (2, KIND % ("commit", "an action", "a state"), "trace.jsonl, line 2, true"),
        (2, KIND % ("test_passes", "a state", "an action"), "--do"),
    ]


def test_proceed_to_is_another_spelling(cli: CommandLine) -> None:
    """S132: the same verdicts."""
    verdicts = []
    for word in ("INVOKE", "PROCEED_TO"):
        rules = f"workflow: w\nactions: [a, b]\npredicates: {{p: {{set_by: [a]}}}}\ntriggers: ['ON p: {word} b']\n"
        file, plan = cli.file("w.yaml", rules), cli.file("plan.txt", "a\na\nb\n")
        verdicts.append(cli.json("workflow", "check", file, "--plan", plan)[1]["verdict"])
    assert verdicts == ["satisfied", "satisfied"]


def test_workflows_are_listed_with_what_they_are_for(cli: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    """S135, S140: those that ship and one's own, which inherits what it does not say; and it is checked by its name."""
    folder = Path(cli.file("ship.yaml", SHIP)).parent
    monkeypatch.setenv("FATEFORGER_WORKFLOWS", str(folder))
    document = cli.json("workflow", "list")[1]
    assert [row["workflow"] for row in document["workflows"]] == ["decompose", "feature-dev", "ship", "tdd-cycle"]
    ship = document["workflows"][2]
    assert (ship["own"], ship["description"], ship["not_when"]) == (
        True, "To the users", ["documentation or configuration only", "exploratory work"],
    )  # fmt: skip
    assert "  not for documentation or configuration only; exploratory work" in cli.run("workflow", "list")[1]
    plan = cli.file("plan.txt", "ankündigen\n")
    rules = cli.json("workflow", "check", "ship", "--plan", plan)[1]["rules"]
    assert "commit-before-done" not in {rule["id"] for rule in rules}
