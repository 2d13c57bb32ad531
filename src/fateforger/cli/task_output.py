"""The output of ``fateforger tasks``: a task as JSON, as a line, and in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fateforger.cli.output import echo, write_json
from fateforger.planning.task_details import PLAIN, list_facts
from fateforger.tasks.queue import blockers
from fateforger.tasks.task import STATES, QueuedTask, priority_words
from fateforger.workflow.definition import Workflow


def build_task_document(task: QueuedTask, tasks: Sequence[QueuedTask]) -> dict[str, Any]:
    """Return a task for output; ``waits_for`` are those of ``tasks`` (all of the person's) that come first."""
    return {**task.model_dump(mode="json"), "waits_for": [first.id for first in blockers(task, tasks)]}


def print_answer(sentence: str, task: QueuedTask, tasks: Sequence[QueuedTask], *, as_json: bool) -> None:
    """Print the answer of a command that changed a task."""
    if as_json:
        write_json({"message": sentence, "task": build_task_document(task, tasks)})
    else:
        echo(sentence)


def format_task(task: QueuedTask, tasks: Sequence[QueuedTask]) -> str:
    """Return a task as one line."""
    first = blockers(task, tasks)
    after = f", after {', '.join(t.id for t in first)}" if first else ""
    where = f"{priority_words(task.spec.priority)}, {STATES[task.state]}{after}"
    return f"{task.id}  {' '.join(task.spec.title.split())}\n           {where}"


def describe_task(task: QueuedTask, tasks: Sequence[QueuedTask], workflow: Workflow | None) -> Iterator[str]:
    """Yield the lines of a task in full, without its empty fields."""
    spec = task.spec
    yield format_task(task, tasks)
    for label, text in (
        ("Kind", spec.work.kind.replace("_", " ")),
        ("Details", "" if spec.details == PLAIN else "; ".join((spec.details.kind.value, *list_facts(spec.details)))),
        ("Items", "\n  ".join(f"[{'x' if item.done else ' '}] {item.title}" for item in spec.details.items)),
        ("Project", spec.project),
        ("Tags", ", ".join(spec.tags)),
        ("Part of", task.goal or ""),
        ("Context", spec.context),
        ("Relevant files", "\n  ".join(spec.relevant_files)),
        ("Acceptance criteria", "\n  ".join(f"{n}. {text}" for n, text in enumerate(spec.acceptance_criteria, 1))),
        ("Workflow", spec.workflow),
        ("Rules", "\n  ".join(list_rule_texts(workflow))),
        ("Done so far", "; ".join(", ".join(step.do) for step in task.steps if step.do)),
        ("Outcome", task.outcome),
        ("From", f"{task.origin.door} {task.origin.reference}".strip()),
    ):
        if text:
            yield f"{label}:\n  {text}" if "\n" in text else f"{label}: {text}"


def list_rule_texts(workflow: Workflow | None) -> list[str]:
    """Return the rules of a workflow as they are written, with the names that ``--did`` takes."""
    return [] if workflow is None else [rule.text for rule in workflow.rules]
