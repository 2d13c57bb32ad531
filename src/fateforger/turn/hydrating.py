"""Convert a model's reading of a message outside any session into a value that code acts on (S153)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from fateforger.session.commands import TimeboxingUserReply
from fateforger.tasks import BlockTime, Decompose, Do, PlanDay, QueuedTask, ReviewConstraints, TaskSpec, Work
from fateforger.tasks.hydrated import ExecutionPath, HydratedMessage, Purpose, path_of
from fateforger.tasks.model import NORMAL, TEXT_LENGTH, TITLE_LENGTH
from fateforger.turn.reading.facts import Table, cut
from fateforger.turn.reading.values import StartWords, WorkWords
from fateforger.workflow import list_shipped, load_shipped

MOST_TASKS = 25
OWN = "timeboxing"
"""Workflow of the program itself, which no task uses."""
DECOMPOSE = "decompose"


def hydrate(reply: TimeboxingUserReply, words: StartWords, queue: Sequence[QueuedTask]) -> HydratedMessage | None:
    """Convert the words into a request; ``None`` if there is nothing to do and nothing to say."""
    path = path_of(words.wants, changes=words.changes)
    named = _find_task_id(words.number, queue)
    if words.wants is Purpose.WORK and words.work is not None and path is ExecutionPath.ENQUEUE:
        spec = _build_spec(reply, words.work)
        return HydratedMessage(
            intent=words.wants,
            execution_path=path,
            workflow=spec.workflow,
            spec=spec,
            simple=words.work.simple,
            haste=words.work.haste,
        )
    if words.wants in _OF_ONE and words.number is not None and named is None:
        # A task that does not exist must not start or end another one: the queue is shown instead (S223).
        return HydratedMessage(intent=Purpose.TASKS, execution_path=path_of(Purpose.TASKS))
    if words.wants is Purpose.DONE and named is None:
        return None
    if path is ExecutionPath.ENQUEUE or (words.wants in _TALK and not words.answer):
        return None
    return HydratedMessage(intent=words.wants, execution_path=path, task_id=named, answer=words.answer or "")


_OF_ONE = frozenset({Purpose.PULL, Purpose.DONE})
_TALK = frozenset({Purpose.QUESTION, Purpose.CONVERSATION, Purpose.WORK})


def queue_table(queue: Sequence[QueuedTask]) -> Table:
    """Return a person's queue as a table, numbered from 1."""
    rows = [
        {
            "number": number,
            "title": cut(task.spec.title),
            "state": task.state.value,
            "priority": task.spec.priority,
        }
        for number, task in enumerate(queue[:MOST_TASKS], 1)
    ]
    return "queue", rows, len(queue) - len(rows)


def workflow_table() -> Table:
    """Return the workflows whose rules can apply to a task."""
    rows = [{"name": name, "for": "; ".join(load_shipped(name).applies_when)} for name in list_shipped() if name != OWN]
    return "workflows", rows, 0


def _find_task_id(number: int | None, queue: Sequence[QueuedTask]) -> str | None:
    if number is None or not 1 <= number <= min(len(queue), MOST_TASKS):
        return None
    return queue[number - 1].id


def _build_spec(reply: TimeboxingUserReply, words: WorkWords) -> TaskSpec:
    """Build the task. Values that cannot be used are left out rather than guessed."""
    work = _build_work(words)
    known = words.workflow if words.workflow in list_shipped() and words.workflow != OWN else None
    given = {
        "title": words.title,
        "work": work,
        "project": words.project or "",
        "priority": NORMAL if words.priority is None else words.priority,
        "tags": tuple(dict.fromkeys(tag for tag in words.tags if tag))[:20],
        "context": (words.context or reply.text)[:TEXT_LENGTH],
        "relevant_files": tuple(name for name in words.files if name)[:50],
        "acceptance_criteria": tuple(text for text in words.criteria if text)[:50],
        "workflow": DECOMPOSE if isinstance(work, Decompose) else known or "",
    }
    try:
        return TaskSpec.model_validate(given)
    except ValidationError:
        return TaskSpec(title=words.title[:TITLE_LENGTH], work=work, context=reply.text[:TEXT_LENGTH])


def _build_work(words: WorkWords) -> Work:
    minutes = words.minutes if words.minutes is not None and 0 < words.minutes <= 24 * 60 else None
    match words.kind:
        case "plan_day" if words.date is not None:
            return PlanDay(date=words.date)
        case "block_time" if words.date is not None and minutes is not None:
            return BlockTime(date=words.date, minutes=minutes, start=words.start)
        case "decompose":
            return Decompose()
        case "review_rules":
            return ReviewConstraints()
        case _:
            return Do(minutes=minutes)
