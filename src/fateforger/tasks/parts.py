"""Parts, assumptions, and probes of a goal; the parts wait for a review (S168)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.errors import BadInput
from fateforger.tasks.queue import NewTask
from fateforger.tasks.rules import objections, with_steps
from fateforger.tasks.task import TEXT_LENGTH, TITLE_LENGTH, Do, Origin, QueuedTask, ReviewParts, TaskSpec
from fateforger.values import replace
from fateforger.workflow.conformance import explain_refusal

_FROZEN = ConfigDict(frozen=True, extra="forbid")
COARSE = 7
"""Most parts that can be reviewed at once."""
PROBE = "PROBE"
REVIEW = "review"
Line = Annotated[str, Field(min_length=1, max_length=TITLE_LENGTH)]


class Part(BaseModel):
    """One part. TBD: nobody can say yet what exactly it is; CLARIFY: somebody has to be asked first."""

    model_config = _FROZEN
    title: Line
    tag: Literal["", "TBD", "CLARIFY"] = ""
    minutes: Annotated[int, Field(gt=0, le=24 * 60)] | None = None


class Parts(BaseModel):
    """``probes`` are the cheapest ways to find out whether what is assumed is so."""

    model_config = _FROZEN
    goal: Annotated[str, Field(max_length=1000)] = ""
    assumptions: tuple[Line, ...] = Field((), max_length=20)
    probes: tuple[Line, ...] = Field((), max_length=5)
    parts: tuple[Part, ...] = Field((), max_length=20)


def lay_out_parts(task: QueuedTask, parts: Parts) -> tuple[QueuedTask, tuple[NewTask, ...]]:
    """Return the goal with its new steps, and the tasks to add: probes, parts, and their review.

    The probes and parts wait for the review.

    Raises :class:`BadInput` with the remedy when a rule of the workflow objects.
    """
    facts = {
        "over_decomposed": len(parts.parts) > COARSE,
        "requirements_ambiguous": any(part.tag for part in parts.parts),
    }
    for actions in _workflow_actions(parts):
        against = objections(task, *actions, facts=facts)
        if against:
            raise BadInput(" ".join(explain_refusal(against)))
        task = with_steps(task, actions, facts=facts)
    body = "\n\n".join(
        (
            f"## Goal\n{parts.goal}",
            "## Assumptions\n" + "\n".join(f"- {each}" for each in parts.assumptions),
            "## Probes\n" + "\n".join(f"- {each}" for each in parts.probes),
        )
    )
    spec = replace(task.spec, context=body[:TEXT_LENGTH])
    return replace(task, spec=spec), _new_tasks(task, parts)


def _workflow_actions(parts: Parts) -> list[tuple[str, ...]]:
    """Return the workflow's actions that writing down these parts amounts to."""
    done: list[tuple[str, ...]] = []
    if parts.goal:
        done.append(("articulate_goal",))
    if parts.assumptions:
        done.append(("document_assumptions",))
    if parts.probes:
        done.append(("identify_probes",))
    made = ["create_components"]
    if any(part.tag for part in parts.parts):
        made.append("create_placeholder")
    if parts.probes:
        made.append("create_probe")
    return [*done, tuple(made), ("create_review_task",)]


def _new_tasks(task: QueuedTask, parts: Parts) -> tuple[NewTask, ...]:
    origin = Origin(door="task", reference=task.id)
    review = NewTask(
        TaskSpec(
            title=f"Review: {task.spec.title}"[:TITLE_LENGTH],
            work=ReviewParts(goal=task.id),
            priority=task.spec.priority,
            project=task.spec.project,
            context=parts.goal[:TEXT_LENGTH],
        ),
        origin,
        key=REVIEW,
        goal=task.id,
    )
    children = [Part(title=probe) for probe in parts.probes]
    tags = [PROBE] * len(parts.probes) + [part.tag for part in parts.parts]
    return (
        review,
        *(
            NewTask(
                TaskSpec(
                    title=part.title,
                    work=Do(minutes=part.minutes),
                    priority=task.spec.priority,
                    project=task.spec.project,
                    tags=(tag,) if tag else (),
                ),
                origin,
                goal=task.id,
                blocked_by=(REVIEW,),
            )
            for part, tag in zip((*children, *parts.parts), tags, strict=True)
        ),
    )
