"""Parts, assumptions, and probes of a goal; the parts wait for a review (S168)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from fateforger.limits import MAX_MINUTES, MAX_NOTES_CHARS, MAX_OUTCOME_CHARS, MAX_PARTS, MAX_PROBES, MAX_TITLE_CHARS
from fateforger.tasks.gate import CLOSE, Report, Seen, add_report, complete_task, record_steps
from fateforger.tasks.queue import NewTask
from fateforger.tasks.task import COARSE, PROBE, Do, Origin, QueuedTask, ReviewParts, TaskSpec
from fateforger.text import gettext as _
from fateforger.values import Value, replace
from fateforger.workflow.definition import Workflow

REVIEW = "review"
_APPROVE = "approve_review"
Line = Annotated[str, Field(min_length=1, max_length=MAX_TITLE_CHARS)]


class Part(Value):
    """One part. TBD: nobody can say yet what exactly it is; CLARIFY: somebody has to be asked first."""

    title: Line
    tag: Literal["", "TBD", "CLARIFY"] = ""
    minutes: Annotated[int, Field(gt=0, le=MAX_MINUTES)] | None = None


class Parts(Value):
    """``probes`` are the cheapest ways to find out whether what is assumed is so."""

    goal: Annotated[str, Field(max_length=MAX_OUTCOME_CHARS)] = ""
    assumptions: tuple[Line, ...] = Field((), max_length=MAX_PARTS)
    probes: tuple[Line, ...] = Field((), max_length=MAX_PROBES)
    parts: tuple[Part, ...] = Field((), max_length=MAX_PARTS)


def lay_out_parts(
    task: QueuedTask, workflow: Workflow | None, parts: Parts, seen: Seen, *, by_agent: bool = False
) -> tuple[QueuedTask, tuple[NewTask, ...]]:
    """Return the goal with its new steps, and the tasks to add: probes, parts, and their review.

    The probes and parts wait for the review. ``seen`` are the states that were looked up. What is not known of a goal
    that an agent claimed is left for the person, who approves the parts.

    Raises :class:`BadInput` with the remedy when a rule of the workflow objects.
    """
    if workflow is not None:
        task = _record_parts(task, workflow, parts, seen, sure=not by_agent)
    body = "\n\n".join(
        (
            f"## Goal\n{parts.goal}",
            "## Assumptions\n" + "\n".join(f"- {each}" for each in parts.assumptions),
            "## Probes\n" + "\n".join(f"- {each}" for each in parts.probes),
        )
    )
    spec = replace(task.spec, context=body[:MAX_NOTES_CHARS])
    return replace(task, spec=spec), _new_tasks(task, parts)


def _record_parts(task: QueuedTask, workflow: Workflow, parts: Parts, seen: Seen, *, sure: bool) -> QueuedTask:
    """Return the goal with the steps of laying out its parts. Raises ``BadInput`` with the remedy."""
    known = {
        "over_decomposed": len(parts.parts) > COARSE,
        "requirements_ambiguous": any(part.tag for part in parts.parts),
        "unknown_discovered": bool(parts.probes),
    }
    others = {name: holds for name, holds in seen.items() if name not in known}
    begun = _add_known(task, workflow, known)
    return record_steps(begun, workflow, Report(tuple(_workflow_actions(parts))), others, sure=sure)


def approve_parts(goal: QueuedTask, workflow: Workflow | None, seen: Seen) -> QueuedTask:
    """Return the goal as done, because the person approved its parts.

    Raises ``BadInput`` with the remedy if a rule of the workflow objects.
    """
    steps: tuple[tuple[str, ...], ...] = ()
    stated: dict[str, bool] = {}
    if workflow is not None:
        steps = ((_APPROVE, *((CLOSE,) if CLOSE in workflow.actions else ())),)
        # An agent that claimed the goal left this open at each of its steps.
        stated = {name: True for name, state in workflow.predicates.items() if _APPROVE in state.set_by}
    report = Report(steps, tuple(range(len(goal.spec.acceptance_criteria))), stated)
    return complete_task(goal, workflow, report, seen)


def recall_parts(task: QueuedTask, workflow: Workflow) -> QueuedTask:
    """Return a goal whose parts are in the queue already with the steps that laid them out under its rules."""
    known = {"over_decomposed": False, "requirements_ambiguous": True, "unknown_discovered": True}
    return add_report(_add_known(task, workflow, known), workflow, Report(_WHOLE), {})


_WHOLE = (
    ("articulate_goal",),
    ("document_assumptions",),
    ("identify_probes",),
    ("create_components", "create_placeholder", "create_probe"),
    ("create_review_task",),
)


def _add_known(task: QueuedTask, workflow: Workflow, known: Mapping[str, bool]) -> QueuedTask:
    there = {name: holds for name, holds in known.items() if name in workflow.predicates}
    return add_report(task, workflow, Report(), there)


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
            title=_("Review: {title}", title=task.spec.title)[:MAX_TITLE_CHARS],
            work=ReviewParts(goal=task.id),
            priority=task.spec.priority,
            project=task.spec.project,
            context=parts.goal[:MAX_NOTES_CHARS],
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
