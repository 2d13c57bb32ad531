"""The rules of a task's workflow, in the thread: what is refused, what is asked, what is looked up (S136, S162)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.table_facts import TableFacts
from tests.unit.conversation.person import Harness, open_harness_at
from tests.unit.conversation.queue.person import QueuePerson, labels

from fateforger.session.forms import FormErrors
from fateforger.session.queue_commands import SettleTask
from fateforger.tasks.task import TaskState
from fateforger.tasks.workflows import Workflows, read_own

TDD = ("write_test", "see_test_fail", "implement", "run_test", "refactor", "verify_tests", "commit")
FEATURE = (
    "capture_user_story", "document_requirements", "define_success_criteria", "design_experiment", "write_tests",
    "see_tests_fail", "plan_implementation", "approve_plan", "implement", "run_tests", "review", "commit", "complete",
    "update_spec",
)  # fmt: skip
DECOMPOSE = (
    "articulate_goal", "document_assumptions", "identify_probes", "create_components", "create_review_task",
)  # fmt: skip
SHIP = """\
workflow: ship
extends: tdd-cycle
description: To the users
actions: [ankündigen]
predicates:
  юристы_согласны:
    title: The lawyers agree
    check: {user_stated: legal}
additional_constraints:
  - BEFORE ankündigen: юристы_согласны
    title: Nothing is announced without the lawyers
    remedy: Ask the lawyers before you announce it.
  - BEFORE close_task: ankündigen
triggers:
  - ON юристы_согласны: PROCEED_TO ankündigen
disable: [commit-before-done]
"""
LOOP = """\
workflow: loop
actions: [test, commit]
triggers: [{rule: "ON test: PROCEED_TO commit", title: A commit follows each test}]
"""


async def begin_task(anna: QueuePerson, workflow: str, **spec: object) -> str:
    task = await anna.adds("Toggle", workflow=workflow, **spec)
    await anna.pulls(task.id)
    return task.id


@pytest.mark.parametrize(("workflow", "plan"), [("tdd-cycle", TDD), ("feature-dev", FEATURE), ("decompose", DECOMPOSE)])
async def test_a_published_plan_runs_to_done(anna: QueuePerson, workflow: str, plan: tuple[str, ...]) -> None:
    """S137, S141: with the steps that it names, and the claim and the end that the queue adds."""
    task_id = await begin_task(anna, workflow)
    assert not isinstance(await anna.fill("queue_done", target=task_id, did=plan), FormErrors)
    task = await anna.task(task_id)
    assert (task.state, [name for step in task.steps for name in step.do]) == (
        TaskState.DONE,
        ["claim_task", *plan, "close_task"],
    )


@pytest.mark.parametrize("workflow", ["tdd-cycle", "feature-dev", "decompose"])
async def test_done_without_a_step_is_refused_and_offers_the_form(anna: QueuePerson, workflow: str) -> None:
    """S162: by the button and by words, which name no step."""
    task_id = await begin_task(anna, workflow)
    assert isinstance(await anna.fill("queue_done", target=task_id), FormErrors)
    await anna.send(SettleTask(**anna.about(), task_id=task_id, word="done"))
    assert "Rule: " in anna.words
    assert "_" not in anna.words
    assert labels(anna.card) == ["Done", "Show my queue"]
    assert (await anna.task(task_id)).state is TaskState.WAITING


async def test_what_changes_the_framework_needs_the_detailed_critic(anna: QueuePerson) -> None:
    """S136: a tag of the task is looked at."""
    task_id = await begin_task(anna, "feature-dev", tags=("framework",))
    refused = await anna.fill("queue_done", target=task_id, did=FEATURE)
    assert isinstance(refused, FormErrors)
    assert "Rule: The detailed critic reviews changes of the framework." in refused.errors["did"]
    order = "\n".join((*FEATURE[:10], "Use detailed critic", *FEATURE[10:-3], "commit + complete", "update spec"))
    assert not isinstance(await anna.fill("queue_done", target=task_id, order=order), FormErrors)
    assert (await anna.task(task_id)).state is TaskState.DONE


async def test_what_is_asked_counts_as_the_person_says(anna: QueuePerson) -> None:
    """S136: an unknown session fact is asked; if the person ticks it, its rule applies."""
    task_id = await begin_task(anna, "feature-dev")
    refused = await anna.fill("queue_done", target=task_id, did=FEATURE, so=("implement_without_plan",))
    assert isinstance(refused, FormErrors)
    assert refused.errors["did"].endswith("Rule: Nothing is implemented without a plan.")


async def test_steps_are_noted_one_by_one(anna: QueuePerson) -> None:
    """S162: a step that a rule forbids is refused at once, and what was noted counts in the end."""
    task_id = await begin_task(anna, "tdd-cycle")
    assert isinstance(await anna.fill("queue_note", target=task_id, did=("implement",)), FormErrors)
    for step in TDD:
        assert not isinstance(await anna.fill("queue_note", target=task_id, did=(step,)), FormErrors), step
    await anna.fill("queue_done", target=task_id)
    assert (await anna.task(task_id)).state is TaskState.DONE


async def test_a_wrong_note_is_taken_back(anna: QueuePerson) -> None:
    """S162: the last one, exactly, and only while nothing was reported since."""
    task_id = await begin_task(anna, "tdd-cycle")
    await anna.fill("queue_note", target=task_id, did=TDD[:2])
    before = await anna.task(task_id)
    await anna.fill("queue_note", target=task_id, did=TDD[2:3])
    await anna.press("Undo the last note")
    after = await anna.task(task_id)
    assert (after.steps, after.standing) == (before.steps, before.standing)
    assert "I took back your last note." in anna.words
    assert "Undo the last note" not in labels(anna.card)
    await anna.send(SettleTask(**anna.about(), task_id=task_id, word="take_back"))
    assert "There is no note about “Toggle” to take back." in anna.words
    assert (await anna.task(task_id)).steps == before.steps


@pytest.fixture
async def looking(tmp_path: Path) -> AsyncIterator[Harness]:
    """Yield a program that may run tests, and has a workflow of the person's own."""
    harness = await open_harness_at(tmp_path)
    harness.facts = TableFacts(files=True, test=True, tests=True)
    harness.workflows = read_own({"ship": SHIP})
    harness.restart()
    yield harness
    await harness.close()


async def test_the_tests_are_run_before_it_is_done(looking: Harness) -> None:
    """S136: a command that fails keeps the task open, against the person's answer too."""
    anna, facts = QueuePerson(looking), looking.facts
    assert isinstance(facts, TableFacts)
    task_id = await begin_task(anna, "tdd-cycle")
    facts.answers["tests"] = False
    await anna.fill("queue_done", target=task_id, did=TDD)
    assert "Rule: All tests pass before a commit." in anna.words
    assert (await anna.task(task_id)).state is TaskState.WAITING
    facts.answers["tests"] = True
    await anna.fill("queue_done", target=task_id, did=TDD)
    assert (await anna.task(task_id)).state is TaskState.DONE


async def test_a_workflow_of_ones_own_rules_a_task(looking: Harness) -> None:
    """S140, S136, S132: it is offered, inherits, has names of any script, and asks for the person's word."""
    anna = QueuePerson(looking)
    form = await anna.opens("queue_add", size=2)
    choices = next(field for field in form.inputs if field.name == "workflow")
    assert [choice.value for choice in getattr(choices, "choices", ())] == [
        "decompose", "feature-dev", "ship", "tdd-cycle",
    ]  # fmt: skip
    task_id = await begin_task(anna, "ship")
    order = (*TDD, "ankündigen")
    wrong = await anna.fill("queue_done", target=task_id, order="write test\nTest passes")
    assert isinstance(wrong, FormErrors)
    assert wrong.errors["order"].startswith(
        "I do not know the step “Test passes”. There are: write test, see test fail, "
    )
    await anna.fill("queue_done", target=task_id, did=order)
    assert "Ask the lawyers before you announce it. Rule: Nothing is announced without the lawyers." in anna.words
    form = await anna.opens("queue_done", target=task_id)
    asked = next(field for field in form.inputs if field.name == "so")
    assert [choice.label for choice in getattr(asked, "choices", ())] == ["The lawyers agree"]
    await anna.fill("queue_done", target=task_id, did=order, so=("юристы_согласны",))
    assert (await anna.task(task_id)).state is TaskState.DONE


async def test_a_step_that_leaves_an_earlier_one_unanswered_is_refused(looking: Harness) -> None:
    """S131, S162, S291: a recorded violation could never be repaired, and the task never be finished."""
    looking.workflows = read_own({"loop": LOOP})
    looking.restart()
    anna = QueuePerson(looking)
    task_id = await begin_task(anna, "loop")
    await anna.fill("queue_note", target=task_id, did=("test",))
    again = await anna.fill("queue_note", target=task_id, did=("test",))
    assert isinstance(again, FormErrors)
    assert again.errors["did"].endswith("Rule: A commit follows each test.")
    await anna.fill("queue_done", target=task_id, order="commit\ntest\ncommit")
    assert (await anna.task(task_id)).state is TaskState.DONE


async def test_rules_that_are_gone_are_said_and_not_skipped(looking: Harness) -> None:
    """S162: neither a pull nor Done passes over them."""
    anna = QueuePerson(looking)
    task_id = await begin_task(anna, "ship")
    looking.workflows = Workflows()
    looking.restart()
    await anna.send(SettleTask(**anna.about(), task_id=task_id, word="done"))
    assert "The rules of “ship” are not there, so I cannot check them." in anna.words
    assert (await anna.task(task_id)).state is TaskState.WAITING


async def test_other_rules_begin_anew(anna: QueuePerson) -> None:
    """S162: steps that kept the old rules prove nothing about the new ones."""
    task_id = await begin_task(anna, "tdd-cycle")
    await anna.fill("queue_note", target=task_id, did=TDD)
    await anna.fill("queue_edit", target=task_id, workflow="feature-dev")
    assert isinstance(await anna.fill("queue_done", target=task_id), FormErrors)
    assert (await anna.task(task_id)).steps == ()
