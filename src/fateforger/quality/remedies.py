"""Propose remedies for a finding, by its criterion, the gentlest first.

:mod:`fateforger.quality.fixes` tests whether they help.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from fateforger.drafting import in_words
from fateforger.drafting.instance import Task
from fateforger.drafting.lunch import DRIFT, LUNCH, SHORTEST
from fateforger.drafting.minutes import GRID
from fateforger.drafting.naming import SHUTDOWN, minutes_of, task_of
from fateforger.drafting.retiming import BlockPlace
from fateforger.plan import ET, Resolved
from fateforger.quality.model import Criterion, Finding
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
from fateforger.quality.view import View, begin, finish

BREAK = "Break"
SHUT_DOWN = "Shut down"
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
        """Return the blocks of the finding."""
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
    minutes = minutes_of(task, case.view.policy.block)
    for start in _first_starts(case.board.starts(timedelta(minutes=minutes))):
        if before is None or start <= before:
            new = NewBlock(BlockPlace(start, timedelta(minutes=minutes)), task.id, task.title, task.type, task.notes)
            yield Move(f"Add {quote_short(task.title)} at {clock_label(case.view, start)}", {}, (new,))


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
        yield Move(f"Move {quote_short(one.event.name)} to {clock_label(view, start)}", move_to(one, start))
    earlier = [b for b in view.work if begin(b) <= view.middle and b.key not in board.fixed and b.key != one.key]
    for other in earlier[:_MOST_TRIED]:
        yield Move(f"Swap {quote_short(one.event.name)} and {quote_short(other.event.name)}", swap_places(other, one))
    for other in earlier[:1]:
        for places in board.room(move_to(one, begin(other))):
            yield Move(f"Put {quote_short(one.event.name)} first", places)


# --- breaks ---


def _add_break(case: Case) -> Moves:
    view, (deep, after) = case.view, case.blocks()
    length = timedelta(minutes=view.policy.after_deep)
    title = quote_short(deep.event.name)
    key = f"break-{deep.key}"[:60]
    pause = NewBlock(BlockPlace(finish(deep), length), key, BREAK, ET.REGENERATION)
    for places in case.board.room({key: pause.place}):
        moved = {name: place for name, place in places.items() if name != key}
        yield Move(f"Add a break after {title}", moved, (pause,))
    missing = length - (begin(after) - finish(deep))
    if deep.duration - missing >= _LEAST_LEFT:
        shorter = BlockPlace(begin(deep), deep.duration - missing)
        pause = NewBlock(BlockPlace(shorter.end, length), key, BREAK, ET.REGENERATION)
        yield Move(f"Shorten {title} by {_minutes(missing)} for a break", {deep.key: shorter}, (pause,))


def _make_gap(case: Case) -> Moves:
    """Start the later block a little later, or finish the earlier one a little sooner."""
    view, (before, after) = case.view, case.blocks()
    policy = view.policy
    minutes = policy.after_meal if case.finding.criterion is Criterion.AFTER_MEAL else policy.before_deep
    start = finish(before) + timedelta(minutes=minutes)
    for places in case.board.room(move_to(after, start)):
        yield Move(f"Move {quote_short(after.event.name)} to {clock_label(view, start)}", places)
    sooner = begin(after) - timedelta(minutes=minutes) - before.duration
    yield Move(move_label(view, move_to(before, sooner)), move_to(before, sooner))


def _add_meal(case: Case) -> Moves:
    view, lunch = case.view, case.view.policy.lunch
    if lunch is None:
        return
    wish = view.ground.instant(lunch.start)
    drift = timedelta(minutes=DRIFT)
    key = f"lunch-{view.plan.date.isoformat()}"
    for minutes in sorted({lunch.minutes, max(SHORTEST, lunch.minutes // 2), SHORTEST}, reverse=True):
        length = timedelta(minutes=minutes)
        near = sorted(
            (at for at in case.board.starts(length) if abs(at - wish) <= drift), key=lambda at: (abs(at - wish), at)
        )
        for start in _first_starts(near):
            yield _new_meal(view, NewBlock(BlockPlace(start, length), key, LUNCH, ET.REGENERATION), {})
    length = timedelta(minutes=lunch.minutes)
    for start in sorted({wish, *(finish(b) for b in view.blocks if abs(finish(b) - wish) <= drift)}):
        for places in case.board.room({key: BlockPlace(start, length)}):
            moved = {name: place for name, place in places.items() if name != key}
            yield _new_meal(view, NewBlock(BlockPlace(start, length), key, LUNCH, ET.REGENERATION), moved)


def _new_meal(view: View, meal: NewBlock, moved: Mapping[str, BlockPlace]) -> Move:
    return Move(f"Add lunch at {clock_label(view, meal.place.start)}", moved, (meal,))


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
        yield Move(f"Split {quote_short(deep.event.name)} in two", moved, (second,))
    label = f"Shorten {quote_short(deep.event.name)} to {_minutes(longest)}"
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
            label = f"Add {_minutes(length)} to shut down at {clock_label(view, start)}"
            yield Move(label, {}, (NewBlock(BlockPlace(start, length), key, SHUT_DOWN, ET.PLAN_REVIEW),))


def _first_starts(starts: Iterable[datetime]) -> Iterator[datetime]:
    for tried, start in enumerate(starts):
        if tried == _MOST_TRIED:
            return
        yield start


def _minutes(length: timedelta) -> str:
    return in_words(int(length.total_seconds() // 60))


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
