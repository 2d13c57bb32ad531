"""Find changes that improve a plan.

Each candidate is applied and graded; only those that help and do no harm are offered.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from pydantic import ValidationError

from fateforger.drafting.instance import Instance
from fateforger.drafting.model import UnplacedItem
from fateforger.drafting.naming import task_of
from fateforger.errors import UserError
from fateforger.ops import AddBlocks, Patch, apply
from fateforger.plan import Resolved, TBPlan
from fateforger.quality.grade import grade_view
from fateforger.quality.model import Criterion, Finding, Fix, Quality
from fateforger.quality.moves import Move, Timeline
from fateforger.quality.remedies import Case, remedies
from fateforger.quality.view import View, begin, build_view, finish

MOST = 3
Rank = tuple[int, int]
"""Sort key of a fix: the negated level that it reaches, then the number of findings that remain."""
_HARD = frozenset({Criterion.OVERLAP, Criterion.MEETING, Criterion.MUST})
"""Criteria of a valid plan: while one of these fails, no other fix can make the plan valid."""
_MOST_TRIED = {Criterion.SHOULD: 1, Criterion.WISH: 1}
"""Limits on the findings tried per criterion, because a constraint needs a search for each."""
_TRIED = 3
_MOST_COMPARED = 4
"""Number of helpful remedies compared for one finding; among equals, the gentlest is offered."""


def find_fixes(
    instance: Instance, plan: TBPlan, left: Sequence[UnplacedItem] = (), *, most: int = MOST
) -> tuple[Fix, ...]:
    """Return the changes that improve the plan, the most helpful first, at most one per finding.

    Pinned blocks and blocks that began before now stay. Raises the same errors as :func:`fateforger.quality.graded`.
    """
    seen = build_view(instance, plan, left)
    now = grade_view(seen)
    board = Timeline(seen)
    found: dict[str, tuple[Rank, Fix]] = {}
    for finding in _findings_to_try(now.findings):
        helping = list(islice(_helpful_fixes(seen, board, finding, now), _MOST_COMPARED))
        if helping:
            rank, fix = min(helping, key=lambda each: each[0])
            found.setdefault(fix.id, (rank, fix))
    ranked = sorted(found.values(), key=lambda each: each[0])
    return tuple(fix for _, fix in ranked[:most])


def _findings_to_try(findings: Sequence[Finding]) -> Iterator[Finding]:
    hard = next((finding for finding in findings if finding.criterion in _HARD), None)
    if hard is not None:
        yield hard
        return
    tried = Counter[Criterion]()
    for finding in findings:
        tried[finding.criterion] += 1
        if tried[finding.criterion] <= _MOST_TRIED.get(finding.criterion, _TRIED):
            yield finding


def _helpful_fixes(seen: View, board: Timeline, finding: Finding, now: Quality) -> Iterator[tuple[Rank, Fix]]:
    """Yield the remedies of a finding that help, each with its rank."""
    for move in remedies(Case(seen, board, finding)):
        tried = _try_move(seen, board, move)
        if tried is None:
            continue
        patch, then = tried
        if _is_better(then, now):
            fix = Fix(
                id=_fix_id(patch),
                label=move.label,
                criterion=finding.criterion,
                keys=finding.keys,
                level=then.level,
                patch=patch,
            )
            yield (-then.level, len(then.findings)), fix


def _try_move(seen: View, board: Timeline, move: Move) -> tuple[Patch, Quality] | None:
    """Apply a move and grade the plan; return ``None`` if the result is not valid."""
    try:
        patch = move.patch(seen)
        after = View(seen.ground, apply(seen.plan, patch).plan, seen.left)
    except (UserError, ValidationError):
        return None  # a block would leave the day or run into another one: no such fix
    return (patch, grade_view(after)) if _is_sound(seen, board, after) else None


def _is_sound(seen: View, board: Timeline, after: View) -> bool:
    """Check the plan after a move.

    Nothing may overlap or hit a meeting, every must is kept, and only movable blocks moved, within the day.
    """
    was = {block.key: (begin(block), finish(block)) for block in seen.blocks}
    for block in after.blocks:
        if was.get(block.key) == (begin(block), finish(block)):
            continue
        if block.key in board.fixed or begin(block) < board.first or finish(block) > seen.end:
            return False
        if not _is_in_time(after, block):
            return False
    hit = any(after.hit_by(block) is not None for block in after.blocks)
    return not (hit or after.overlaps or any(breach.rule.must for breach in after.violations))


def _is_in_time(after: View, block: Resolved) -> bool:
    """Check whether a block respects its task's earliest start, deadline, fixed start, and predecessors."""
    tasks = {task.id: task for task in after.instance.tasks}
    mine = task_of(block.key, tasks)
    if mine is None:
        return True
    task, instant = tasks[mine], after.ground.instant
    if task.not_before is not None and begin(block) < instant(task.not_before):
        return False
    if task.deadline is not None and finish(block) > instant(task.deadline):
        return False
    if task.start is not None and begin(block) != instant(task.start):
        return False
    others = [(task_of(b.key, tasks), b) for b in after.blocks]
    return not any(
        (name in task.after and finish(b) > begin(block))
        or (name is not None and mine in tasks[name].after and begin(b) < finish(block))
        for name, b in others
    )


def _is_better(then: Quality, now: Quality) -> bool:
    return then.level > now.level or (then.level == now.level and len(then.findings) < len(now.findings))


def _fix_id(patch: Patch) -> str:
    """Derive an id from the blocks and their times, not from their names."""
    said = patch.model_dump(mode="json")
    for op, told in zip(patch.ops, said["ops"], strict=True):
        if isinstance(op, AddBlocks):
            told["events"] = [{"key": event.key, "timing": event.timing.model_dump(mode="json")} for event in op.events]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]
