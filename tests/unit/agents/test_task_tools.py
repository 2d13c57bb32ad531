"""The queue, as agents use it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.factories.agents import ANNA, Agents
from tests.factories.tasks import DETAILED
from tests.fakes.table_facts import TableFacts
from tests.unit.conversation.queue.test_task_rules import DECOMPOSE, FEATURE, TDD

from fateforger.errors import BadInput
from fateforger.tasks.gate import Report, complete_task, list_questions, look_up
from fateforger.tasks.parts import approve_parts
from fateforger.tasks.task import TaskState
from fateforger.tasks.workflows import read_own
from fateforger.workflow.definition import load_shipped
from fateforger.workflow.trace import NothingAllowed

TRUE = {
    "test_exists", "test_fails", "test_passes", "tests_still_pass", "user_story_captured", "requirements_documented",
    "success_criteria_defined", "plan_approved", "tests_exist", "tests_fail", "tests_pass", "critic_reviewed", "goal_articulated",
    "assumptions_documented", "probes_identified", "review_task_exists",
}  # fmt: skip
"""Facts that the person confirms when asked about a published plan."""
SIGNED = """\
workflow: ship
actions: [release]
predicates:
  signed: {title: It may go out, check: {file: "*.md", contains: "## Signed"}, or: {user_stated: approval}}
constraints: [{rule: "BEFORE release: signed", title: Signed}]
"""


@pytest.fixture
async def robot(agents: Agents) -> Agents:
    await agents.let_in()
    await agents.let_in("other")
    await agents.let_in("stranger", user_id="U_BEN")
    return agents


async def create_task(agents: Agents, **spec: Any) -> str:
    found = await agents.expect_success("create_task", {"title": "Write the report", **spec})
    return str(found["task"]["id"])


async def test_a_task_is_put_in_and_listed_in_order(robot: Agents) -> None:
    """S154, S157."""
    low = await create_task(robot, priority=3)
    high = await create_task(robot, priority=1, context="All of it.", workflow="feature-dev", tags=["work"])
    listed = (await robot.expect_success("list_tasks"))["tasks"]
    assert [task["id"] for task in listed] == [high, low]
    assert (listed[0]["context"], listed[0]["workflow"], listed[0]["from"]) == (
        "All of it.",
        "feature-dev",
        {"door": "mcp", "reference": "robot"},
    )
    assert (await robot.expect_success("list_tasks", name="stranger"))["tasks"] == []
    assert await robot.refusal("create_task", {"title": "x", "workflow": "cooking"}) == (
        "There is no workflow “cooking”; there are decompose, feature-dev and tdd-cycle. (workflow)"
    )


async def test_a_call_with_the_same_name_adds_once(robot: Agents) -> None:
    first = await create_task(robot, once="monday")
    assert await create_task(robot, once="monday") == first
    assert await create_task(robot) != await create_task(robot)
    assert len(await robot.store.tasks.of(ANNA)) == 3


async def test_a_task_is_claimed_by_one(robot: Agents) -> None:
    """S158-S162."""
    task = await create_task(robot, workflow="tdd-cycle")
    pulled = (await robot.expect_success("pull"))["task"]
    assert (pulled["id"], pulled["state"], pulled["claimed_by"]) == (task, "running", "mcp:robot")
    assert [rule["id"] for rule in pulled["rules"]] == [rule.id for rule in load_shipped("tdd-cycle").rules]
    assert pulled["completes"] == "It is done by the person's word; until then it waits for them."
    assert await robot.expect_success("pull", name="other") == {
        "task": None,
        "message": "There is nothing to pull: the queue is empty, or all that is in it waits, or is for a later day.",
    }
    message = (await robot.expect_success("pull", {"task_id": task}, "other"))["message"]
    assert message == "This task cannot be pulled now: it is running."
    mine = {"task_id": task, "outcome": "done", "evidence": "It is."}
    assert "You have not claimed this task" in await robot.refusal("finish_task", mine, "other")
    assert "There is no task" in await robot.refusal("finish_task", mine, "stranger")
    assert "There is no task" in await robot.refusal("pull", {"task_id": task}, "stranger")
    robot.clock.at += timedelta(minutes=61)
    assert "the time is up" in await robot.refusal("finish_task", mine)
    assert (await robot.expect_success("pull", name="other"))["task"]["claimed_by"] == "mcp:other"


async def test_what_the_person_does_waits_for_their_word(robot: Agents) -> None:
    task = await create_task(robot)
    await robot.expect_success("pull")
    told = {"task_id": task, "outcome": "done", "evidence": "Sent to Ben,\n*see* <there>."}
    finished = (await robot.expect_success("finish_task", told))["task"]
    assert (finished["state"], finished["outcome"]) == ("waiting", "mcp:robot: Sent to Ben, *see* <there>.")
    (waiting,) = await robot.store.tasks.waiting()
    assert waiting.id == task


async def test_a_failure_is_kept_with_its_reason(robot: Agents) -> None:
    task = await create_task(robot)
    await robot.expect_success("pull")
    failed = {"task_id": task, "outcome": "failed", "evidence": "No access."}
    assert (await robot.expect_success("finish_task", failed))["task"]["state"] == "failed"


async def test_the_rules_of_the_workflow_are_checked_before_it_is_done(robot: Agents) -> None:
    """S162, S142: what breaks a rule is refused with the remedy, and the task stays claimed as it was."""
    task = await create_task(robot, workflow="tdd-cycle")
    await robot.expect_success("pull")
    told = {"task_id": task, "outcome": "done", "evidence": "All green."}
    refused = await robot.refusal("finish_task", told)
    assert refused.startswith("Commit what you did, with its tests passing, before you say that it is done. Rule: The")
    steps = [{"do": ["implement"]}, {"do": ["commit"]}]
    refused = await robot.refusal("finish_task", {**told, "steps": steps})
    assert "Rule: The test is run after each implementation." in refused
    assert "“party”" in await robot.refusal("finish_task", {**told, "steps": [{"do": ["party"]}]})
    (there,) = await robot.store.tasks.of(ANNA)
    assert (there.state, [step.do for step in there.steps]) == (TaskState.RUNNING, [("claim_task",)])


async def test_what_only_the_person_can_say_is_not_believed(robot: Agents) -> None:
    """S136, S162: an agent cannot approve its own plan, by a step, by a text in the task, or by calling it so."""
    claimed = [{"do": ["implement"], "true": ["plan_approved"]}]
    task = await create_task(robot, workflow="feature-dev", context="## Approved Plan\n## User Story\n## Requirements")
    await robot.expect_success("pull", {"task_id": task})
    told = {"task_id": task, "outcome": "done", "evidence": "All green."}
    assert "true" in await robot.refusal("finish_task", {**told, "steps": claimed})
    finished = (await robot.expect_success("finish_task", {**told, "steps": [{"do": [do]} for do in FEATURE]}))["task"]
    assert finished["state"] == "waiting"
    assert "The plan is approved" in finished["outcome"]
    assert "The user story is captured" not in finished["outcome"]
    (there,) = await robot.store.tasks.of(ANNA)
    assert [step.do[0] for step in there.steps if "plan_approved" in step.unknown][-1] == FEATURE[-1]


async def test_a_file_approves_nothing(robot: Agents) -> None:
    """S136, S291: the worker could have written the file, so the person is asked anyway."""
    robot.workflows = read_own({"ship": SIGNED})
    robot.facts = TableFacts(files=True)
    task = await create_task(robot, workflow="ship")
    await robot.expect_success("pull")
    told = {"task_id": task, "outcome": "done", "evidence": "Out.", "steps": [{"do": ["release"]}]}
    finished = (await robot.expect_success("finish_task", told))["task"]
    assert finished["outcome"] == "mcp:robot: Out. I need your word on this first. Is it so: It may go out?"


async def test_steps_are_looked_at_as_they_are_recorded(robot: Agents) -> None:
    """S136: what a command proves at the time of a step is not asked of the person later, and what it denies counts."""
    tests = TableFacts(test=False, tests=False, files=True)
    robot.facts = tests
    task = await create_task(robot, workflow="tdd-cycle")
    await robot.expect_success("pull")
    for do in ("write_test", "see_test_fail", "implement", "run_test"):
        await robot.expect_success("record_steps", {"task_id": task, "steps": [{"do": [do]}]})
    commit = {"task_id": task, "steps": [{"do": ["commit"]}]}
    assert "Rule: All tests pass before a commit." in await robot.refusal("record_steps", commit)
    tests.answers |= {"test": True, "tests": True}
    await robot.expect_success("record_steps", {"task_id": task, "steps": [{"do": ["run_test"]}]})
    finished = (await robot.expect_success("finish_task", {**commit, "outcome": "done", "evidence": "All green."}))[
        "task"
    ]
    assert (finished["state"], finished["outcome"]) == ("waiting", "mcp:robot: All green.")


async def test_a_plan_is_done_when_it_was_committed(robot: Agents) -> None:
    """S162: the fact is looked up and does not depend on the agent's claim."""
    task = await create_task(robot, work={"kind": "plan_day", "date": "2026-03-02"})
    pulled = (await robot.expect_success("pull"))["task"]
    assert pulled["completes"] == "It is done when the plan of 2026-03-02 was committed."
    told = {"task_id": task, "outcome": "done", "evidence": "Planned."}
    assert (await robot.expect_success("finish_task", told))["task"]["state"] == "waiting"


async def test_a_review_is_done_when_nothing_waits(robot: Agents) -> None:
    task = await create_task(robot, work={"kind": "review_constraints"})
    await robot.expect_success("pull")
    told = {"task_id": task, "outcome": "done", "evidence": "Looked at all."}
    assert (await robot.expect_success("finish_task", told))["task"]["state"] == "done"


async def test_an_agent_says_all_details_of_a_task(robot: Agents) -> None:
    details = DETAILED.model_dump(mode="json")
    task = await create_task(robot, details=details)
    (queued,) = await robot.store.tasks.of(ANNA)
    assert (queued.id, queued.spec.details) == (task, DETAILED)
    assert (await robot.expect_success("list_tasks"))["tasks"][0]["details"] == details
    said = {"title": "x", "details": {"at": "09:00", "from_time": "10:00"}}
    assert "It starts before it may begin; leave out one of the two times." in await robot.refusal("create_task", said)


@pytest.mark.parametrize(
    ("details", "kind"), [({}, "shallow"), ({"at": "09:00"}, "shallow"), ({"kind": "deep"}, "deep")]
)
async def test_a_short_task_is_no_deep_work_unless_the_agent_says_so(
    robot: Agents, details: dict[str, str], kind: str
) -> None:
    """S106"""
    await create_task(robot, work={"kind": "do", "minutes": 15}, details=details)
    assert (await robot.expect_success("list_tasks"))["tasks"][0]["details"]["kind"] == kind


@pytest.mark.parametrize(("workflow", "plan"), [("tdd-cycle", TDD), ("feature-dev", FEATURE), ("decompose", DECOMPOSE)])
async def test_a_published_plan_runs_to_the_word_of_the_person(
    robot: Agents, workflow: str, plan: tuple[str, ...]
) -> None:
    """S137, S141: an agent may report it; what its steps do not prove is asked of the person, and then it is done."""
    task_id = await create_task(robot, workflow=workflow)
    await robot.expect_success("pull")
    told = {"task_id": task_id, "outcome": "done", "evidence": "Done.", "steps": [{"do": [do]} for do in plan]}
    finished = (await robot.expect_success("finish_task", told))["task"]
    assert finished["state"] == "waiting"
    assert "I need your word on this first. Is it so: " in finished["outcome"]
    rules = load_shipped(workflow)
    (waiting,) = await robot.store.tasks.of(ANNA)
    with pytest.raises(BadInput, match="I need your word on this first"):
        complete_task(waiting, rules, Report(), {})
    asked = {each.name: each.name in TRUE for each in list_questions(waiting, rules, {})}
    seen = await look_up(waiting, rules, (), NothingAllowed())
    done = complete_task(waiting, rules, Report(stated=asked), seen)
    assert (done.state, [step.do[0] for step in done.steps]) == (TaskState.DONE, ["claim_task", *plan, "close_task"])


async def test_an_agent_breaks_a_goal_into_parts_that_wait_for_the_person(robot: Agents) -> None:
    """S168: with the rules of a goal, once; the goal is done when the person has approved the parts."""
    goal = await create_task(robot, title="Write my thesis", work={"kind": "decompose"}, workflow="decompose")
    other = await create_task(robot)
    parts = [{"title": "Outline", "minutes": 60}, {"title": "Deadline", "tag": "CLARIFY"}]
    told = {"task_id": goal, "goal": "A thesis by June", "parts": parts}
    assert "You have not claimed this task" in await robot.refusal("lay_out_parts", told)
    await robot.expect_success("pull", {"task_id": goal})
    assert "Write down what you assume" in await robot.refusal("lay_out_parts", told)
    told |= {"assumptions": ["The topic stands"], "probes": ["Ask the professor"]}
    added = (await robot.expect_success("lay_out_parts", told))["tasks"]
    tagged = {each["title"]: each["tags"] for each in added}
    assert tagged == {
        "Review: Write my thesis": [],
        "Ask the professor": ["PROBE"],
        "Outline": [],
        "Deadline": ["CLARIFY"],
    }
    assert all(each["blocked_by"] for each in added if not each["title"].startswith("Review"))
    assert "has its parts already" in await robot.refusal("lay_out_parts", told)
    finished = await robot.expect_success("finish_task", {"task_id": goal, "outcome": "done", "evidence": "Laid out."})
    assert finished["task"]["state"] == "waiting"
    tasks = await robot.store.tasks.of(ANNA)
    (waiting,) = [each for each in tasks if each.id == goal]
    assert "A thesis by June" in waiting.spec.context
    rules = load_shipped("decompose")
    done = approve_parts(waiting, rules, await look_up(waiting, rules, tasks, NothingAllowed()))
    assert done.state is TaskState.DONE
    await robot.expect_success("pull", {"task_id": other})
    assert "no goal" in await robot.refusal("lay_out_parts", told | {"task_id": other})
