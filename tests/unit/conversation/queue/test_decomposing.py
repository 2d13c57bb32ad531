"""A goal in parts: proposed by a model or written down, and nothing is worked on before its review (S168)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import open_harness_at
from tests.unit.conversation.queue.person import QueuePerson, labels

from fateforger.conversation.queue.work import BY_HAND, NO_ANSWER, NO_USE, TOO_SLOW
from fateforger.errors import ModelTimedOut, ModelUnreachable
from fateforger.session.forms import FormErrors
from fateforger.session.queue_commands import DoTaskNow
from fateforger.tasks.task import Decompose, QueuedTask, ReviewParts, TaskState

PARTS = {
    "goal": "A thesis that is handed in",
    "assumptions": ["The topic stands"],
    "probes": ["Ask the supervisor about the topic"],
    "parts": [
        {"title": "Literature review scope", "tag": "TBD", "minutes": None},
        {"title": "Data source decisions", "tag": "CLARIFY", "minutes": None},
        {"title": "Chapter outline", "tag": "", "minutes": 90},
    ],
}
STEPS = [
    ("claim_task",),
    ("articulate_goal",),
    ("document_assumptions",),
    ("identify_probes",),
    ("create_components", "create_placeholder", "create_probe"),
    ("create_review_task",),
]


@pytest.fixture
async def queue_person(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[QueuePerson]:
    """Yield a person of a queue, with a model that says the line that the test gives."""
    line: Line = request.param
    harness = await open_harness_at(tmp_path, model=ScriptedModel(line, line))
    yield QueuePerson(harness)
    await harness.close()


async def goal(queue_person: QueuePerson) -> QueuedTask:
    return await queue_person.adds("Write my thesis", work=Decompose(), workflow="decompose")


@pytest.mark.parametrize("queue_person", [PARTS], indirect=True)
async def test_a_model_proposes_parts_that_wait_for_their_review(queue_person: QueuePerson) -> None:
    """S168: goal, assumptions, probes, tagged children, and a review that blocks the rest; S162: under the rules."""
    task = await goal(queue_person)
    await queue_person.pulls()
    review, probe, scope, data, outline = (t for t in await queue_person.tasks() if t.goal == task.id)
    assert isinstance(review.spec.work, ReviewParts)
    assert [t.spec.tags for t in (probe, scope, data, outline)] == [("PROBE",), ("TBD",), ("CLARIFY",), ()]
    assert {t.blocked_by for t in (probe, scope, data, outline)} == {(review.id,)}
    after = await queue_person.task(task.id)
    assert [step.do for step in after.steps] == STEPS
    assert "## Assumptions\n- The topic stands" in after.spec.context
    assert "[TBD] **Literature review scope**" in queue_person.words
    assert labels(queue_person.card) == ["Pull the review", "Put it back", "Show my queue"]
    await queue_person.pulls(outline.id)
    assert "has to wait: “Review: Write my thesis”" in queue_person.words


@pytest.mark.parametrize("queue_person", [PARTS], indirect=True)
async def test_approving_the_parts_lets_them_go_and_ends_the_goal(queue_person: QueuePerson) -> None:
    task = await goal(queue_person)
    await queue_person.pulls()
    await queue_person.press("Pull the review")
    assert "Are these the right parts?" in queue_person.words
    await queue_person.press("Approve the parts")
    await queue_person.looks()
    after = await queue_person.task(task.id)
    assert (after.state, after.steps[-1].do) == (TaskState.DONE, ("approve_review", "close_task"))
    await queue_person.pulls()
    assert "**Ask the supervisor about the topic**" in queue_person.words
    assert labels(queue_person.card) == ["Done", "Block time", "Put it back", "Show my queue"]


@pytest.mark.parametrize("queue_person", [ModelUnreachable("Down."), "no idea"], indirect=True)
async def test_where_no_model_can_the_person_writes_the_parts_down(queue_person: QueuePerson) -> None:
    task = await goal(queue_person)
    await queue_person.pulls()
    assert labels(queue_person.card) == ["Write down the parts", "Put it back", "Show my queue"]
    hidden = await queue_person.fill("queue_parts", target=task.id, parts="Outline\nData")
    assert isinstance(hidden, FormErrors)
    assert "Write down what you assume" in hidden.errors["parts"]
    assert "Rule: Assumptions are documented and probes found before there are parts." in hidden.errors["parts"]
    whole: dict[str, Any] = {
        "assumptions": "The topic stands",
        "probes": "Ask",
        "parts": "Outline\nData",
        "open": "Method",
        "ask": "Deadline",
    }
    assert not isinstance(await queue_person.fill("queue_parts", target=task.id, **whole), FormErrors)
    titles = {t.spec.title: t.spec.tags for t in await queue_person.tasks() if t.goal == task.id}
    assert titles == {
        "Review: Write my thesis": (), "Ask": ("PROBE",), "Outline": (), "Data": (), "Method": ("TBD",),
        "Deadline": ("CLARIFY",),
    }  # fmt: skip
    assert labels(queue_person.card) == ["Pull the review", "Put it back", "Show my queue"]


@pytest.mark.parametrize(
    ("queue_person", "reason"),
    [(ModelTimedOut("Slow."), TOO_SLOW), ("no idea", NO_USE), (ModelUnreachable("Down."), NO_ANSWER)],
    indirect=["queue_person"],
)
async def test_the_person_reads_why_no_parts_are_proposed(queue_person: QueuePerson, reason: str) -> None:
    """S168"""
    await goal(queue_person)
    await queue_person.pulls()
    assert f"{reason} {BY_HAND}" in queue_person.words


@pytest.mark.parametrize("queue_person", [ModelUnreachable("Down.")], indirect=True)
async def test_too_many_parts_at_once_are_refused_with_the_remedy(queue_person: QueuePerson) -> None:
    """S162: the rule of the workflow, in its own words."""
    task = await goal(queue_person)
    await queue_person.pulls()
    many: dict[str, Any] = {"assumptions": "a", "probes": "p", "parts": "\n".join(f"Part {n}" for n in range(9))}
    refused = await queue_person.fill("queue_parts", target=task.id, **many)
    assert refused == FormErrors(
        errors={"parts": "Keep the parts coarse; three to seven are enough for a start. Rule: The parts stay coarse."}
    )


@pytest.mark.parametrize("queue_person", [PARTS], indirect=True)
async def test_a_goal_that_is_pulled_again_is_broken_up_once(queue_person: QueuePerson) -> None:
    task = await goal(queue_person)
    await queue_person.pulls()
    await queue_person.press("Put it back")
    await queue_person.pulls(task.id)
    assert len([t for t in await queue_person.tasks() if t.goal == task.id]) == 5


@pytest.mark.parametrize("queue_person", [PARTS], indirect=True)
async def test_who_insists_gets_the_parts_as_words(queue_person: QueuePerson) -> None:
    """S165: there is no task, so none of it is stored."""
    task = await goal(queue_person)
    await queue_person.send(DoTaskNow(**queue_person.about(), task_id=task.id, insists=True))
    assert "[TBD] Literature review scope" in queue_person.words.replace("\\", "")
    assert [t.goal for t in await queue_person.tasks()] == []
