"""Explain the place of a block in any plan, drafted or not."""

from __future__ import annotations

from fateforger.drafting.compile import compile_problem
from fateforger.drafting.ground import build_context
from fateforger.drafting.instance import Instance, Task
from fateforger.drafting.items import Pieces
from fateforger.drafting.model import Block, Reason
from fateforger.drafting.naming import task_of
from fateforger.drafting.problem import Placed, Problem
from fateforger.drafting.reasons import reasons_of
from fateforger.plan import ET, Resolved, TBPlan, resolve
from fateforger.values import replace

_FITS = "best"


def explain_place(plan: TBPlan, instance: Instance, key: str) -> tuple[Reason, ...]:
    """Return the causes of a block's place, with all others unmoved.

    Only proved causes are returned, so a block that could as well be elsewhere has none. Raises ``PlanInvalid`` when
    the plan cannot be resolved to instants.
    """
    blocks = [block for block in resolve(plan) if block.event.type is not ET.BACKGROUND]
    there = next((block for block in blocks if block.key == key), None)
    if there is None:
        return ()
    ids = [task.id for task in instance.tasks]
    lunch = f"lunch-{plan.date.isoformat()}"
    more = tuple(_as_task(b) for b in blocks if b.key != lunch and task_of(b.key, ids) is None)
    ground = build_context(replace(instance, tasks=(*instance.tasks, *more), pinned=()))
    problem = compile_problem(ground)
    placed = _current_placement(problem, blocks, [*ids, *(task.id for task in more)])
    start = problem.axis.slot(there.start)
    if not any(piece[0] == start for pieces in placed for piece in pieces):
        return ()
    ((_, reasons),) = reasons_of(ground, problem, placed, (_block(there, ids),), tuple(_block(b, ids) for b in blocks))
    return tuple(reason for reason in reasons if reason.kind != _FITS)


def _block(block: Resolved, ids: list[str]) -> Block:
    task = task_of(block.key, ids) or block.key
    return Block(task, block.key, block.event.name, block.event.type, block.start, block.minutes)


def _current_placement(problem: Problem, blocks: list[Resolved], ids: list[str]) -> Placed:
    def pieces(task: str | None, key: str | None) -> Pieces:
        mine = (b for b in blocks if b.key == key or (task is not None and task_of(b.key, ids) == task))
        masks = [mask for block in mine if (mask := problem.axis.slots_touching(block.start, block.end))]
        return tuple(sorted(((mask & -mask).bit_length() - 1, mask.bit_count()) for mask in masks))

    return [pieces(item.task, item.key) for item in problem.items]


def _as_task(block: Resolved) -> Task:
    return Task(
        id=block.key,
        title=block.event.name,
        minutes=max(1, block.minutes),
        type=block.event.type,
        splittable=False,
    )
