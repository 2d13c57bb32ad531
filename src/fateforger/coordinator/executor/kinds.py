"""Carry out each kind of work as far as possible without the person."""

from __future__ import annotations

from typing import assert_never

from fateforger.coordinator.executor.carried import Asker, TaskResult, Tools
from fateforger.coordinator.executor.days import block_time, check_block, check_planned_day, plan_day
from fateforger.coordinator.executor.decomposing import check_approval, list_parts, propose_parts
from fateforger.session.rulebook import RuleBook, unsaved_session
from fateforger.tasks import (
    BlockTime,
    Decompose,
    Do,
    PlanDay,
    QueuedTask,
    ReviewConstraints,
    ReviewParts,
    TaskSpec,
    TaskState,
)

YOURS = "This one is yours. Tell me when it is done."
NO_RULE_WAITS = "No rule waits for your word."


async def carry_out_work(
    tools: Tools, spec: TaskSpec, asker: Asker, *, key: str, task: QueuedTask | None = None
) -> TaskResult:
    """Carry out work, with or without its ``task``; anything that it starts is started once per ``key``.

    Raises ``BadInput`` or ``ModelError`` if that is not possible.
    """
    match spec.work:
        case PlanDay():
            return await plan_day(tools, asker, spec.work, key=key)
        case BlockTime():
            return await block_time(tools, asker, spec.work, spec.title, key=key)
        case ReviewConstraints():
            return await review_rules(tools, asker.user_id, asker.tz)
        case Do():
            return TaskResult(TaskState.WAITING, YOURS)
        case ReviewParts():
            return TaskResult(TaskState.WAITING, "Are these the right parts? Until you approve them, they wait.")
        case Decompose():
            return await list_parts(tools, spec) if task is None else await propose_parts(tools, task, key)
        case _:
            assert_never(spec.work)


async def check_completion(tools: Tools, task: QueuedTask) -> TaskResult | None:
    """Return the result of a waiting task; ``None`` while it is open."""
    work = task.spec.work
    match work:
        case PlanDay():
            return await check_planned_day(tools, task.place, work.date)
        case BlockTime():
            return await check_block(tools, task, work)
        case ReviewConstraints():
            seen = await review_rules(tools, task.user_id, tools.tz)
            return seen if seen.state is TaskState.DONE else None
        case Decompose():
            return await check_approval(tools, task)
        case Do() | ReviewParts():
            return None  # the person decides
        case _:
            assert_never(work)


async def review_rules(tools: Tools, user_id: str, tz: str) -> TaskResult:
    """Return the result for a review: how many rules wait for the person's decision."""
    versions = () if tools.rules is None else await tools.rules.versions(user_id)
    book = RuleBook(unsaved_session(user_id, tz, tools.clock.now()), versions)
    count = sum(row.unsure and not row.retired for row in book.rows)
    if not count:
        return TaskResult(TaskState.DONE, NO_RULE_WAITS)
    rules = "One rule waits" if count == 1 else f"{count} rules wait"
    return TaskResult(TaskState.WAITING, f"{rules} for your word: right, or not?")
