"""The rules of a task's workflow at the command line (S136, S137, S140, S162)."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.cli.test_task_commands import CommandLine
from tests.unit.conversation.queue.test_task_rules import DECOMPOSE, FEATURE, SHIP, TDD

FACTS = (
    "folder: .\nfiles: ['tests/*.py']\ncommands: {test: {run: [test, -e, green]}, tests: {run: [test, -e, green]}}\n"
)
ASKED = (
    "implement_without_plan", "skip_critic_review", "tests_fail_unexpectedly", "plan_needed", "tests_needed",
    "review_needed",
)  # fmt: skip
UNASKED = tuple(f"--not-so={name}" for name in (*ASKED, "unknown_discovered"))


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    own = tmp_path / "workflows"
    own.mkdir()
    (own / "ship.yaml").write_text(SHIP)
    monkeypatch.setenv("FATEFORGER_WORKFLOWS", str(own))
    return CommandLine(tmp_path)


def did(*steps: str) -> tuple[str, ...]:
    return tuple(f"--did={step}" for step in steps)


def begin_task(cli: CommandLine, workflow: str) -> str:
    task_id = cli.add("Toggle", "--workflow", workflow)
    cli.json("pull", task_id)
    return task_id


@pytest.mark.parametrize(
    ("workflow", "plan", "words"),
    [("tdd-cycle", TDD, ()), ("feature-dev", FEATURE, UNASKED[:-1]), ("decompose", DECOMPOSE, UNASKED[-1:])],
)
def test_a_published_plan_runs_to_done(
    cli: CommandLine, workflow: str, plan: tuple[str, ...], words: tuple[str, ...]
) -> None:
    """S137, S141; S136: what only the person knows is asked first, by the names to answer with."""
    task_id = begin_task(cli, workflow)
    if words:
        refused = cli.expect_refusal("done", task_id, *did(*plan))
        assert refused.startswith("I need your word on this first. Is it so: ")
        assert refused.endswith(f"Answer with --so or --not-so: {', '.join(w.partition('=')[2] for w in words)}.")
    assert cli.expect_output("done", task_id, *did(*plan), *words) == "“Toggle” is done."


def test_close_task_alone_is_no_work(cli: CommandLine) -> None:
    """S162: naming the end, or nothing, does not end it."""
    task_id = begin_task(cli, "feature-dev")
    for said in ((), did("close_task"), did("claim_task", "complete", "update_spec"), UNASKED[:-1]):
        assert "Rule: " in cli.expect_refusal("done", task_id, *said)
    assert cli.list_tasks() == [("Toggle", "waiting")]


def test_a_wrong_note_is_taken_back(cli: CommandLine) -> None:
    """S162: the last one; there is no second one to take back."""
    task_id = begin_task(cli, "tdd-cycle")
    cli.expect_output("note", task_id, *did("write_test"))
    assert cli.expect_output("note", task_id, "--undo") == "The last note is taken back from “Toggle”."
    assert cli.expect_refusal("note", task_id, "--undo") == "There is no note about “Toggle” to take back."


def test_files_and_commands_are_looked_at(cli: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S136: real ones, as the file of the owner allows."""
    (tmp_path / "facts.yaml").write_text(FACTS)
    monkeypatch.setenv("FATEFORGER_FACTS", str(tmp_path / "facts.yaml"))
    task_id = begin_task(cli, "tdd-cycle")
    cli.expect_output("note", task_id, *did("write_test", "see_test_fail"))
    assert "Rule: All tests pass before a commit." in cli.expect_refusal(
        "done", task_id, *did("implement", "run_test", "commit")
    )
    (tmp_path / "green").touch()
    assert cli.expect_output("done", task_id, *did("implement", "run_test", "commit")) == "“Toggle” is done."


def test_a_workflow_of_ones_own_is_inherited_and_its_mistakes_are_shown(cli: CommandLine, tmp_path: Path) -> None:
    """S140, S132: a file of the folder is a task's workflow; a mistake in it is refused with its place."""
    task_id = begin_task(cli, "ship")
    steps = did(*TDD, "ankündigen")
    assert "Rule: Nothing is announced without the lawyers." in cli.expect_refusal("done", task_id, *steps)
    wrong = cli.expect_refusal("note", task_id, "--did=test_passes"), cli.expect_refusal("note", task_id, "--so=commit")
    assert wrong[0] == "“test_passes” is a state of “ship”, and no step."
    assert wrong[1].startswith("“commit” is a step of “ship”, and no state. Answer with --so or --not-so: ")
    cli.expect_output("note", task_id, "--so=юристы_согласны")
    assert cli.expect_output("done", task_id, *steps) == "“Toggle” is done."
    (tmp_path / "workflows" / "ship.yaml").write_text(SHIP.replace("BEFORE ankündigen", "BEFORE ankundigen"))
    status, _, err = cli.text("add", "x", "--workflow", "ship")
    assert status == 2
    assert "Nothing is declared with the name “ankundigen”. Did you mean ankündigen?" in err
    assert "ship.yaml, line 10" in err


def test_only_step_by_step_work_has_rules(cli: CommandLine) -> None:
    """S162: what is done here has a condition of its own, and rules would be decoration."""
    said = ("x", "--kind", "plan_day", "--date", "2026-03-03", "--workflow", "tdd-cycle")
    assert cli.expect_refusal("add", *said) == (
        "Only work that somebody does step by step can have the rules of a workflow."
    )
    assert cli.expect_refusal("add", "x", "--kind", "decompose", "--workflow", "tdd-cycle").endswith(
        "“tdd-cycle” does not."
    )
