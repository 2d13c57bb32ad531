"""What would make a plan better, tried: only what helps and harms nothing is offered."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from pydantic import ValidationError

from fateforger.drafting.instance import Instance
from fateforger.drafting.model import Left
from fateforger.drafting.naming import task_of
from fateforger.errors import UserError
from fateforger.ops import AddBlocks, Patch, apply
from fateforger.plan import Resolved, TBPlan
from fateforger.quality.grade import grade
from fateforger.quality.model import Criterion, Finding, Fix, Quality
from fateforger.quality.moves import Board, Move
from fateforger.quality.remedies import Case, remedies
from fateforger.quality.view import View, begin, finish, view

MOST = 3
Rank = tuple[int, int]
"""The level that a fix leads to, the higher the smaller; and the findings that are left."""
_HARD = frozenset({Criterion.OVERLAP, Criterion.MEETING, Criterion.MUST})
"""While there is one of these, nothing else can make the plan valid."""
_MOST_TRIED = {Criterion.SHOULD: 1, Criterion.WISH: 1}
"""Findings of one criterion that are looked into; for a constraint that takes a search of its own."""
_TRIED = 3
_MOST_COMPARED = 4
"""Remedies of one finding of which the best is offered, of equal ones the gentlest."""


def fixes(instance: Instance, plan: TBPlan, left: Sequence[Left] = (), *, most: int = MOST) -> tuple[Fix, ...]:
    """The changes that make the plan better, the most helpful first, one for each finding at most. Blocks that are
    pinned or began before now stay. Raises as :func:`fateforger.quality.graded`."""
    seen = view(instance, plan, left)
    now = grade(seen)
    board = Board(seen)
    found: dict[str, tuple[Rank, Fix]] = {}
    for finding in _worth_trying(now.findings):
        helping = list(islice(_helping(seen, board, finding, now), _MOST_COMPARED))
        if helping:
            rank, fix = min(helping, key=lambda each: each[0])
            found.setdefault(fix.id, (rank, fix))
    ranked = sorted(found.values(), key=lambda each: each[0])
    return tuple(fix for _, fix in ranked[:most])


def _worth_trying(findings: Sequence[Finding]) -> Iterator[Finding]:
    hard = next((finding for finding in findings if finding.criterion in _HARD), None)
    if hard is not None:
        yield hard
        return
    tried = Counter[Criterion]()
    for finding in findings:
        tried[finding.criterion] += 1
        if tried[finding.criterion] <= _MOST_TRIED.get(finding.criterion, _TRIED):
            yield finding


def _helping(seen: View, board: Board, finding: Finding, now: Quality) -> Iterator[tuple[Rank, Fix]]:
    """The remedies of a finding that help, with how much."""
    for move in remedies(Case(seen, board, finding)):
        tried = _tried(seen, board, move)
        if tried is None:
            continue
        patch, then = tried
        if _better(then, now):
            fix = Fix(
                id=_id(patch),
                label=move.label,
                criterion=finding.criterion,
                keys=finding.keys,
                level=then.level,
                patch=patch,
            )
            yield (-then.level, len(then.findings)), fix


def _tried(seen: View, board: Board, move: Move) -> tuple[Patch, Quality] | None:
    """The plan with the change, if it is valid."""
    try:
        patch = move.patch(seen)
        after = View(seen.ground, apply(seen.plan, patch).plan, seen.left)
    except (UserError, ValidationError):
        return None  # a block that would leave the day or run into another one: no such fix
    return (patch, grade(after)) if _sound(seen, board, after) else None


def _sound(seen: View, board: Board, after: View) -> bool:
    """Whether nothing overlaps or hits a meeting, each must is kept, and only what may move did, within the day."""
    was = {block.key: (begin(block), finish(block)) for block in seen.blocks}
    for block in after.blocks:
        if was.get(block.key) == (begin(block), finish(block)):
            continue
        if block.key in board.fixed or begin(block) < board.first or finish(block) > seen.end:
            return False
        if not _in_time(after, block):
            return False
    hit = any(after.hit_by(block) is not None for block in after.blocks)
    return not (hit or after.overlaps or any(breach.rule.must for breach in after.breaches))


def _in_time(after: View, block: Resolved) -> bool:
    """Whether a block keeps what its task asks for: not too early, not too late, and behind what comes first."""
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


def _better(then: Quality, now: Quality) -> bool:
    return then.level > now.level or (then.level == now.level and len(then.findings) < len(now.findings))


def _id(patch: Patch) -> str:
    """From what moves where, not from what it is called."""
    said = patch.model_dump(mode="json")
    for op, told in zip(patch.ops, said["ops"], strict=True):
        if isinstance(op, AddBlocks):
            told["events"] = [{"key": event.key, "timing": event.timing.model_dump(mode="json")} for event in op.events]
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]
