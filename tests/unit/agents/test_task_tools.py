"""The queue through the door of agents."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.factories.agents import ANNA, Agents
from tests.factories.tasks import DETAILED

from fateforger.tasks.task import TaskState
from fateforger.workflow.definition import load_shipped


@pytest.fixture
async def robot(agents: Agents) -> Agents:
    await agents.let_in()
    await agents.let_in("other")
    await agents.let_in("stranger", user_id="U_BEN")
    return agents


async def created(agents: Agents, **spec: Any) -> str:
    found = await agents.done("create_task", {"title": "Write the report", **spec})
    return str(found["task"]["id"])


async def test_a_task_is_put_in_and_listed_in_order(robot: Agents) -> None:
    """S154, S157."""
    low = await created(robot, priority=3)
    high = await created(robot, priority=1, context="All of it.", workflow="feature-dev", tags=["work"])
    listed = (await robot.done("list_tasks"))["tasks"]
    assert [task["id"] for task in listed] == [high, low]
    assert (listed[0]["context"], listed[0]["workflow"], listed[0]["from"]) == (
        "All of it.",
        "feature-dev",
        {"door": "mcp", "reference": "robot"},
    )
    assert (await robot.done("list_tasks", name="stranger"))["tasks"] == []
    assert await robot.refusal("create_task", {"title": "x", "workflow": "cooking"}) == (
        "There is no workflow “cooking”. Workflows are decompose, feature-dev, tdd-cycle, timeboxing. (workflow)"
    )


async def test_a_call_with_the_same_name_adds_once(robot: Agents) -> None:
    first = await created(robot, once="monday")
    assert await created(robot, once="monday") == first
    assert await created(robot) != await created(robot)
    assert len(await robot.store.tasks.of(ANNA)) == 3


async def test_a_task_is_claimed_by_one(robot: Agents) -> None:
    """S158-S162."""
    task = await created(robot, workflow="tdd-cycle")
    pulled = (await robot.done("pull"))["task"]
    assert (pulled["id"], pulled["state"], pulled["claimed_by"]) == (task, "running", "mcp:robot")
    assert [rule["id"] for rule in pulled["rules"]] == [rule.id for rule in load_shipped("tdd-cycle").rules]
    assert pulled["completes"] == "It is done by the person's word; until then it waits for them."
    assert await robot.done("pull", name="other") == {
        "task": None,
        "message": "There is nothing to pull: the queue is empty, or all that is in it waits for something.",
    }
    message = (await robot.done("pull", {"task_id": task}, "other"))["message"]
    assert message == "This task cannot be pulled now: it is running."
    mine = {"task_id": task, "outcome": "done", "evidence": "It is."}
    assert "You have not claimed this task" in await robot.refusal("finish_task", mine, "other")
    assert "There is no task" in await robot.refusal("finish_task", mine, "stranger")
    assert "There is no task" in await robot.refusal("pull", {"task_id": task}, "stranger")
    robot.clock.at += timedelta(minutes=61)
    assert "the time is up" in await robot.refusal("finish_task", mine)
    assert (await robot.done("pull", name="other"))["task"]["claimed_by"] == "mcp:other"


async def test_what_the_person_does_waits_for_their_word(robot: Agents) -> None:
    task = await created(robot)
    await robot.done("pull")
    told = {"task_id": task, "outcome": "done", "evidence": "Sent to Ben,\n*see* <there>."}
    finished = (await robot.done("finish_task", told))["task"]
    assert (finished["state"], finished["outcome"]) == ("waiting", "mcp:robot: Sent to Ben, *see* <there>.")
    (waiting,) = await robot.store.tasks.waiting()
    assert waiting.id == task


async def test_a_failure_is_kept_with_its_reason(robot: Agents) -> None:
    task = await created(robot)
    await robot.done("pull")
    failed = {"task_id": task, "outcome": "failed", "evidence": "No access."}
    assert (await robot.done("finish_task", failed))["task"]["state"] == "failed"


async def test_the_rules_of_the_workflow_are_checked_before_it_is_done(robot: Agents) -> None:
    """S162, S142: code before its test is refused with the remedy, and the task stays claimed."""
    task = await created(robot, workflow="tdd-cycle")
    await robot.done("pull")
    told = {"task_id": task, "outcome": "done", "evidence": "All green."}
    steps = [{"do": ["implement"]}, {"do": ["write_test"]}]
    refused = await robot.refusal("finish_task", {**told, "steps": steps})
    assert refused.startswith("By the rules of tdd-cycle this is not done yet. ")
    assert "“party”" in await robot.refusal("finish_task", {**told, "steps": [{"do": ["party"]}]})
    (there,) = await robot.store.tasks.of(ANNA)
    assert (there.state, there.steps) == (TaskState.RUNNING, ())


async def test_what_only_the_person_can_say_is_not_believed(robot: Agents) -> None:
    """feature-dev wants a plan that was approved before anything is implemented: in the task, or by the person."""
    names = load_shipped("feature-dev").predicates
    steps = [{"do": ["implement"], "true": sorted(names)}]
    told = {"outcome": "done", "evidence": "All green.", "steps": steps}
    bare = await created(robot, workflow="feature-dev")
    await robot.done("pull", {"task_id": bare})
    refused = await robot.refusal("finish_task", {**told, "task_id": bare})
    assert "is unknown" in refused


async def test_a_plan_is_done_when_it_was_committed(robot: Agents) -> None:
    """S162: the fact is looked up, whatever the agent says."""
    task = await created(robot, work={"kind": "plan_day", "date": "2026-03-02"})
    pulled = (await robot.done("pull"))["task"]
    assert pulled["completes"] == "It is done when the plan of 2026-03-02 was committed."
    told = {"task_id": task, "outcome": "done", "evidence": "Planned."}
    assert (await robot.done("finish_task", told))["task"]["state"] == "waiting"


async def test_a_review_is_done_when_nothing_waits(robot: Agents) -> None:
    task = await created(robot, work={"kind": "review_constraints"})
    await robot.done("pull")
    told = {"task_id": task, "outcome": "done", "evidence": "Looked at all."}
    assert (await robot.done("finish_task", told))["task"]["state"] == "done"


async def test_an_agent_says_all_details_of_a_task(robot: Agents) -> None:
    details = DETAILED.model_dump(mode="json")
    task = await created(robot, details=details)
    (queued,) = await robot.store.tasks.of(ANNA)
    assert (queued.id, queued.spec.details) == (task, DETAILED)
    assert (await robot.done("list_tasks"))["tasks"][0]["details"] == details
    said = {"title": "x", "details": {"at": "09:00", "from_time": "10:00"}}
    assert "It starts before it may begin; leave out one of the two times." in await robot.refusal("create_task", said)
