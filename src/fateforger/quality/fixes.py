"""Fixes: remedies for a finding, the gentlest first, each tried before it is offered.

Each candidate is applied and graded; only those that help and do no harm are offered.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from pydantic import ValidationError

from fateforger.drafting.instance import LUNCH_DRIFT, LUNCH_TITLE, Instance, Task
from fateforger.drafting.model import UnplacedItem
from fateforger.errors import UserError
from fateforger.planning.patch import AddBlocks, Patch, apply
from fateforger.planning.plan import ET, Resolved, TBPlan
from fateforger.planning.task_details import SHUTDOWN, BlockPlace, task_of
from fateforger.planning.timing import GRID
from fateforger.quality.model import Criterion, Finding, Fix, Quality
from fateforger.quality.moves import (
    Move,
    NewBlock,
    Timeline,
    clock_label,
    find_repair,
    move_label,
    move_to,
    quote_short,
    swap_places,
)
from fateforger.quality.rubric import View, begin, build_view, finish, grade_view
from fateforger.text import format_length, mark_message
from fateforger.text import gettext as _

BREAK = mark_message("Break")
SHUT_DOWN = mark_message("Shut down")
_SHORTEST_SHUTDOWN = 15
_LEAST_LEFT = timedelta(minutes=30)
"""Shortest length to which work is cut for a break."""
_MOST_TRIED = 8
"""Number of places tried for one block."""
Moves = Iterator[Move]


@dataclass(frozen=True, slots=True)
class Case:
    """A finding, and the day it was found on."""

    view: View
    board: Timeline
    finding: Finding

    def blocks(self) -> list[Resolved]:
        known = {block.key: block for block in self.view.blocks}
        return [known[key] for key in self.finding.keys if key in known]

    @property
    def task(self) -> Task | None:
        """Task behind the finding."""
        return next((t for t in self.view.instance.tasks if t.id == self.finding.cause), None)


def remedies(case: Case) -> Moves:
    """Yield the possible remedies."""
    return _REMEDIES.get(case.finding.criterion, _no_remedy)(case)


def _no_remedy(_: Case) -> Moves:
    return iter(())


# --- constraints and overlaps ---


def _repair(case: Case) -> Moves:
    return _only_move(find_repair(case.view, case.board))


def _keep_constraint(case: Case) -> Moves:
    return _only_move(find_repair(case.view, case.board, case.finding.cause))


def _only_move(move: Move | None) -> Moves:
    return iter(() if move is None else (move,))


# --- missing blocks ---


def _add_any_task(case: Case) -> Moves:
    for task in case.view.instance.tasks[:_MOST_TRIED]:
        yield from _add_task(case, task)


def _place_task(case: Case) -> Moves:
    if case.task is not None:
        yield from _add_task(case, case.task)


def _add_task(case: Case, task: Task, before: datetime | None = None) -> Moves:
    minutes = task.length(case.view.policy)
    for start in _first_starts(case.board.starts(timedelta(minutes=minutes))):
        if before is None or start <= before:
            new = NewBlock(BlockPlace(start, timedelta(minutes=minutes)), task.id, task.title, task.type, task.notes)
            label = _("Add {title} at {time}", title=quote_short(task.title), time=clock_label(case.view, start))
            yield Move(label, {}, (new,))


# --- the one thing ---


def _move_early(case: Case) -> Moves:
    if case.task is None:
        return
    view, board = case.view, case.board
    blocks = case.blocks()
    if not blocks:
        yield from _add_task(case, case.task, view.middle)
        return
    one = blocks[0]
    for start in _first_starts(at for at in board.starts(one.duration, one.key) if at <= view.middle):
        label = _("Move {title} to {time}", title=quote_short(one.event.name), time=clock_label(view, start))
        yield Move(label, move_to(one, start))
    earlier = [b for b in view.work if begin(b) <= view.middle and b.key not in board.fixed and b.key != one.key]
    for other in earlier[:_MOST_TRIED]:
        label = _("Swap {one} and {other}", one=quote_short(one.event.name), other=quote_short(other.event.name))
        yield Move(label, swap_places(other, one))
    for other in earlier[:1]:
        for places in board.room(move_to(one, begin(other))):
            yield Move(_("Put {title} first", title=quote_short(one.event.name)), places)


# --- breaks ---


def _add_break(case: Case) -> Moves:
    view, (deep, after) = case.view, case.blocks()
    length = timedelta(minutes=view.policy.after_deep)
    title = quote_short(deep.event.name)
    key = f"break-{deep.key}"[:60]
    pause = NewBlock(BlockPlace(finish(deep), length), key, _(BREAK), ET.REGENERATION)
    for places in case.board.room({key: pause.place}):
        moved = {name: place for name, place in places.items() if name != key}
        yield Move(_("Add a break after {title}", title=title), moved, (pause,))
    missing = length - (begin(after) - finish(deep))
    if deep.duration - missing >= _LEAST_LEFT:
        shorter = BlockPlace(begin(deep), deep.duration - missing)
        label = _("Shorten {title} by {length} for a break", title=title, length=_minutes(missing))
        pause = NewBlock(BlockPlace(shorter.end, length), key, _(BREAK), ET.REGENERATION)
        yield Move(label, {deep.key: shorter}, (pause,))


def _make_gap(case: Case) -> Moves:
    """Start the later block a little later, or finish the earlier one a little sooner."""
    view, (before, after) = case.view, case.blocks()
    policy = view.policy
    minutes = policy.after_meal if case.finding.criterion is Criterion.AFTER_MEAL else policy.before_deep
    start = finish(before) + timedelta(minutes=minutes)
    label = _("Move {title} to {time}", title=quote_short(after.event.name), time=clock_label(view, start))
    for places in case.board.room(move_to(after, start)):
        yield Move(label, places)
    sooner = begin(after) - timedelta(minutes=minutes) - before.duration
    yield Move(move_label(view, move_to(before, sooner)), move_to(before, sooner))


def _add_meal(case: Case) -> Moves:
    view, lunch = case.view, case.view.policy.lunch
    if lunch is None:
        return
    wish = view.context.instant(lunch.start)
    drift = timedelta(minutes=LUNCH_DRIFT)
    key = f"lunch-{view.plan.date.isoformat()}"
    for minutes in lunch.lengths:
        length = timedelta(minutes=minutes)
        near = sorted(
            (at for at in case.board.starts(length) if abs(at - wish) <= drift), key=lambda at: (abs(at - wish), at)
        )
        for start in _first_starts(near):
            yield _new_meal(view, NewBlock(BlockPlace(start, length), key, _(LUNCH_TITLE), ET.REGENERATION), {})
    length = timedelta(minutes=lunch.minutes)
    for start in sorted({wish, *(finish(b) for b in view.blocks if abs(finish(b) - wish) <= drift)}):
        for places in case.board.room({key: BlockPlace(start, length)}):
            moved = {name: place for name, place in places.items() if name != key}
            yield _new_meal(view, NewBlock(BlockPlace(start, length), key, _(LUNCH_TITLE), ET.REGENERATION), moved)


def _new_meal(view: View, meal: NewBlock, moved: Mapping[str, BlockPlace]) -> Move:
    return Move(_("Add lunch at {time}", time=clock_label(view, meal.place.start)), moved, (meal,))


# --- the shape of a good day ---


def _split(case: Case) -> Moves:
    view, (deep,) = case.view, case.blocks()
    longest = timedelta(minutes=view.policy.longest_focus or 0)
    half = -(-deep.duration // (2 * _GRID)) * _GRID
    pause = timedelta(minutes=view.policy.after_deep)
    rest = BlockPlace(begin(deep) + half + pause, deep.duration - half)
    key = _piece_key(view, deep.key)
    second = NewBlock(rest, key, deep.event.name, ET.DEEP_WORK, deep.event.description)
    for places in case.board.room({deep.key: BlockPlace(begin(deep), half), key: rest}):
        moved = {name: place for name, place in places.items() if name != key}
        yield Move(_("Split {title} in two", title=quote_short(deep.event.name)), moved, (second,))
    label = _("Shorten {title} to {length}", title=quote_short(deep.event.name), length=_minutes(longest))
    yield Move(label, {deep.key: BlockPlace(begin(deep), longest)})


def _piece_key(view: View, key: str) -> str:
    """Return a free key for another piece of the same work."""
    key = task_of(key, [task.id for task in view.instance.tasks]) or key
    there = {block.key for block in view.resolved_blocks}
    number = 2
    while f"{key}-{number}" in there:
        number += 1
    return f"{key}-{number}"


def _add_shutdown(case: Case) -> Moves:
    view = case.view
    last = max(finish(block) for block in view.work)
    key = f"{SHUTDOWN}-{view.plan.date.isoformat()}"
    for minutes in sorted({view.policy.shutdown, (view.policy.shutdown + 15) // 2, _SHORTEST_SHUTDOWN}, reverse=True):
        length = timedelta(minutes=minutes)
        for start in reversed([at for at in case.board.starts(length) if at >= last][-_MOST_TRIED:]):
            label = _("Add {length} to shut down at {time}", length=_minutes(length), time=clock_label(view, start))
            yield Move(label, {}, (NewBlock(BlockPlace(start, length), key, _(SHUT_DOWN), ET.PLAN_REVIEW),))


def _first_starts(starts: Iterable[datetime]) -> Iterator[datetime]:
    for tried, start in enumerate(starts):
        if tried == _MOST_TRIED:
            return
        yield start


def _minutes(length: timedelta) -> str:
    return format_length(int(length.total_seconds() // 60))


_GRID = timedelta(minutes=GRID)
_REMEDIES: Mapping[Criterion, Callable[[Case], Moves]] = {
    Criterion.WORK: _add_any_task,
    Criterion.OVERLAP: _repair,
    Criterion.MEETING: _repair,
    Criterion.MUST: _repair,
    Criterion.UNPLACED: _place_task,
    Criterion.ONE_THING_EARLY: _move_early,
    Criterion.AFTER_DEEP: _add_break,
    Criterion.MEAL: _add_meal,
    Criterion.SHOULD: _keep_constraint,
    Criterion.FOCUS: _split,
    Criterion.BEFORE_DEEP: _make_gap,
    Criterion.AFTER_MEAL: _make_gap,
    Criterion.SHUTDOWN: _add_shutdown,
    Criterion.WISH: _keep_constraint,
}


MOST = 3
Rank = tuple[int, int]
"""Sort key of a fix: the negated level that it reaches, then the number of findings that remain."""
_HARD = frozenset({Criterion.OVERLAP, Criterion.MEETING, Criterion.MUST})
"""Criteria of a valid plan: while one of these fails, no other fix can make the plan valid."""
_MOST_TRIED_BY_CRITERION = {Criterion.SHOULD: 1, Criterion.WISH: 1}
"""Limits on the findings tried per criterion, because a constraint needs a search for each."""
_TRIED = 3
_MOST_COMPARED = 4
"""Number of helpful remedies compared for one finding; among equals, the gentlest is offered."""


def find_fixes(
    instance: Instance, plan: TBPlan, left: Sequence[UnplacedItem] = (), *, most: int = MOST
) -> tuple[Fix, ...]:
    """Return the changes that improve the plan, the most helpful first, at most one per finding.

    Pinned blocks and blocks that began before now stay. Raises the same errors as
    :func:`fateforger.quality.rubric.grade_plan`.
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
        if tried[finding.criterion] <= _MOST_TRIED_BY_CRITERION.get(finding.criterion, _TRIED):
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
        after = View(seen.context, apply(seen.plan, patch).plan, seen.left)
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
    return not (hit or after.overlaps or any(breach.must for breach in after.violations))


def _is_in_time(after: View, block: Resolved) -> bool:
    """Check whether a block respects its task's earliest start, deadline, fixed start, and predecessors."""
    tasks = {task.id: task for task in after.instance.tasks}
    mine = task_of(block.key, tasks)
    if mine is None:
        return True
    task, instant = tasks[mine], after.context.instant
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
