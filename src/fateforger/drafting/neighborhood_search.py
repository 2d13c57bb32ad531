"""Large neighborhood search: greedy construction, then destroy and repair, then local search.

Worse neighbors are accepted as in simulated annealing.

The same steps lead to the same plan on every machine. If time runs out first, the result is the best plan so far.

A lower bound on the cost ends the search early. For it, each item lies at its cheapest place as if it were alone, and
as much is left out as does not fit into the day.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from fateforger.drafting import weights
from fateforger.drafting.axis import longest_run, slot_range
from fateforger.drafting.placement import Placement
from fateforger.drafting.placement import cost as cost_of
from fateforger.drafting.problem import Item, Piece, Pieces, Placed, Problem


def lower_bound(problem: Problem) -> int:
    """Return the points that every placement costs at least."""
    alone = {item.index: _cost_alone(item) for item in problem.items}
    total = sum(alone.values())
    return total + _cost_of_excess(problem, alone)


def _cost_alone(item: Item) -> int:
    """Return the least that an item can cost.

    This is its cheapest place in one piece, or the cost of leaving it out; an item that may be cut counts as free if
    it fits at all.
    """
    if item.bounds.most > 1:
        return 0 if item.domain.bit_count() >= item.slots else item.reward
    costs = [
        price + min((item.points(start, length) for start in item.prices_at(length)), default=item.reward)
        for length, price in item.lengths
    ]
    return min(item.reward, *costs)


def _cost_of_excess(problem: Problem, alone: dict[int, int]) -> int:
    """Return the least cost of what must be left out for lack of time.

    The cheapest slots are left out first, parts of items included.
    """
    room = 0
    for item in problem.items:
        room |= item.domain
    shortest = {item.index: min(length for length, _ in item.lengths) for item in problem.items}
    over = sum(shortest[item.index] for item in problem.items) - room.bit_count()
    if over <= 0:
        return 0
    worth = sorted(
        ((item.reward - alone[item.index]), shortest[item.index]) for item in problem.items if not item.required
    )
    worth.sort(key=lambda pair: pair[0] / pair[1])
    lost = 0
    for points, slots in worth:
        if over <= 0:
            break
        part = min(slots, over)
        lost += points * part // slots
        over -= part
    return lost


_OPERATORS = 8
"""Number of equally likely destroy operators.

Operator 0 clears a stretch of time, 1 to 3 remove a few blocks anywhere, and the rest clear a place for an item
that was left out.
"""
_AGAIN = 9
"""One in this many steps of the last kind clears a place for an item that is placed already."""
_PIECE = 3
"""One in this many splittable items gets a place for a first piece of any length."""
_CUT = 6
"""One in this many items is cut into as many pieces as allowed, although it fits in one."""


class PseudoRandom:
    """Deterministic pseudorandom numbers (xorshift)."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = (seed * 0x9E3779B97F4A7C15 + 0x2545F4914F6CDD1D) & 0xFFFFFFFFFFFFFFFF or 1

    def below(self, bound: int) -> int:
        """Return a number from 0 up to, but not including, ``bound``."""
        x = self._state
        x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 7
        x ^= (x << 17) & 0xFFFFFFFFFFFFFFFF
        self._state = x
        return (x >> 16) % bound


def destroy_and_repair(placement: Placement, movable: list[Item], rng: PseudoRandom, spare: int) -> Placement | None:
    """Return a neighboring placement; required items may be missing from it.

    Returns ``None`` once its cost is known to exceed ``spare``, in fractions of a point.
    """
    placed = [item for item in movable if placement.placed[item.index]]
    omitted = [item for item in movable if not placement.placed[item.index]]
    trial = _destroy(placement, placed, omitted, rng)
    for item in placed:
        spare -= item.cache.costs.get(trial.placed[item.index], 0)
    return trial if _repair(trial, movable, omitted, rng, spare) else None


def _destroy(placement: Placement, placed: list[Item], omitted: list[Item], rng: PseudoRandom) -> Placement:
    """Return the placement without some of the placed items, by a random operator."""
    operator = rng.below(_OPERATORS)
    if operator > 3 and (omitted or placed):
        some = omitted if omitted and (not placed or rng.below(_AGAIN)) else placed
        return _force_item(placement, placed, some[rng.below(len(some))], rng)
    if not placed:
        return placement.remove_items(())
    if operator == 0:
        at = placement.placed[placed[rng.below(len(placed))].index][0][0]
        reach = 6 + rng.below(30)
        removed = [i for i in placed if any(abs(s - at) < reach for s, _ in placement.placed[i.index])]
    else:
        removed = [placed[rng.below(len(placed))] for _ in range(1 + rng.below(4))]
    return placement.remove_items(item.index for item in removed)


def _force_item(placement: Placement, there: list[Item], item: Item, rng: PseudoRandom) -> Placement:
    """Place an item at a random start and remove what is in the way.

    Of two such starts, the one that displaces less is used.
    """
    length = item.lengths[rng.below(len(item.lengths))][0]
    if item.bounds.most > 1 and length >= 2 * item.bounds.shortest and not rng.below(_PIECE):
        length = item.bounds.shortest + rng.below(length - 2 * item.bounds.shortest + 1)
    starts = item.starts(length)
    if not starts:
        return placement.remove_items(())
    places = [_find_obstacles(placement, there, _choose_slot(starts, rng), length, item.gap) for _ in range(2)]
    _, start, removed = min(places)
    full = item.slots if length == item.slots or item.bounds.most > 1 else length
    removed += _find_spenders(placement, there, item, removed, full, rng)
    trial = placement.remove_items((*removed, item.index))
    piece = (start, length)
    if trial.placed[item.index] or not trial.fits(item, (piece,)):
        return trial
    if length == item.slots or item.bounds.most == 1:
        trial.take(item, (piece,))
        return trial
    begun = trial.copy()
    begun.take(item, (piece,))
    rest = begun.find_best(item, item.slots - length)
    if rest is not None:
        trial.take(item, tuple(sorted((piece, (rest[1], item.slots - length)))))
    return trial


def _find_spenders(
    placement: Placement, there: list[Item], item: Item, removed: list[int], slots: int, rng: PseudoRandom
) -> list[int]:
    """Return placed items of little worth without which an item leaves enough time free."""
    if placement.placed[item.index] or not placement.problem.slack:
        return []
    gone = set(removed)
    over = placement.slots_over(slots - sum(_count_covered(placement, index) for index in gone))
    others = [i for i in there if i.index not in gone and not i.required and i.source.task is not None]
    others.sort(key=lambda i: i.reward // i.slots)
    more: list[int] = []
    while over > 0 and others:
        spender = others.pop(rng.below(min(4, len(others))))
        over -= _count_covered(placement, spender.index)
        more.append(spender.index)
    return more


def _count_covered(placement: Placement, index: int) -> int:
    return sum(length for _, length in placement.placed[index])


def _choose_slot(slots: int, rng: PseudoRandom) -> int:
    for _ in range(rng.below(slots.bit_count())):
        slots &= slots - 1
    return (slots & -slots).bit_length() - 1


def _find_obstacles(
    placement: Placement, there: list[Item], start: int, slots: int, gap: int
) -> tuple[int, int, list[int]]:
    """Return the reward of the items in the way, the start, and their indexes."""
    piece, place = slot_range(start, start + slots), slot_range(start, start + slots + gap)
    worth, removed = 0, []
    for item in there:
        taken, kept, _ = placement.mark(item, placement.placed[item.index])
        if taken & place or kept & piece:
            worth += item.reward
            removed.append(item.index)
    return worth, start, removed


def _repair(trial: Placement, movable: list[Item], omitted: list[Item], rng: PseudoRandom, spare: int) -> bool:
    """Reinsert what there is room for, in random order.

    Returns false once more than ``spare`` is lost.
    """
    back = [item for item in movable if not trial.placed[item.index]]
    order = rng.below(4)
    if order == 0:
        back.sort(key=lambda i: (not i.required, -i.slots, i.index))
    elif order == 1:
        back.sort(key=lambda i: (not i.required, -i.reward, i.index))
    else:
        for place in range(len(back) - 1, 0, -1):
            other = rng.below(place + 1)
            back[place], back[other] = back[other], back[place]
        if order == 2 and omitted:
            back.sort(key=lambda i: i not in omitted)
    everywhere = trial.problem.everywhere
    room, longest = _room(trial, everywhere)
    for item in back:
        least, shortest = item.smallest
        if least <= room and shortest <= longest and trial.insert(item, cut=not rng.below(_CUT), quick=True):
            room, longest = _room(trial, everywhere)
            continue
        spare -= item.coupling.lost
        if spare < 0:
            return False
    return True


def _room(placement: Placement, everywhere: int) -> tuple[int, int]:
    """Return the number of open slots and the longest run of them."""
    free = everywhere & ~(placement.taken | placement.kept)
    return free.bit_count(), longest_run(free)


_TEMPERATURE = 1_600
"""Points by which a step may worsen a plan at the start, about the worth of a task; it cools to zero."""


def greedy_placement(problem: Problem) -> Placement:
    """Return the best of several greedy placements.

    Items are inserted by rank, by reward, by length, and by tightness.
    """
    best: tuple[int, int, Placement] | None = None
    staying = [True, False] if any(item.preferences.previous for item in problem.items) else [False]
    for stay, order in ((stay, order) for stay in staying for order in _orders(problem)):
        placement = _fill_greedily(problem, order, stay=stay)
        missing = sum(item.required and not placement.placed[item.index] for item in problem.items)
        missing += len(problem.violated_caps(placement.placed))
        cost = cost_of(placement)
        if best is None or (missing, cost) < best[:2]:
            best = missing, cost, placement
        if all(placement.placed) and not stay:
            break
    assert best is not None  # noqa: S101  there always is an order
    return best[2]


def _fill_greedily(problem: Problem, order: list[Item], *, stay: bool) -> Placement:
    """Insert pinned blocks, then blocks that stay, then the others in order.

    The order is tried twice, since some items depend on others.
    """
    placement = Placement(problem)
    for item in problem.items:
        if item.source.pinned:
            placement.insert(item)
    if stay:
        _keep_previous(placement)
    for item in (*order, *order):
        if not placement.placed[item.index]:
            placement.insert(item)
    return placement


def _keep_previous(placement: Placement) -> None:
    """Keep items at their previous places, as many as are compatible."""
    problem = placement.problem
    there = [item for item in problem.items if item.preferences.previous and not item.source.pinned]
    for item in sorted(there, key=lambda i: (not i.required, sum(i.preferences.previous[-1]), i.index)):
        if sum(length for _, length in item.preferences.previous) == item.slots and placement.fits(
            item, item.preferences.previous
        ):
            placement.take(item, item.preferences.previous)


def _orders(problem: Problem) -> list[list[Item]]:
    loose = [item for item in problem.items if not item.source.pinned]
    eager = sorted(loose, key=lambda i: (not i.source.one, not i.required, -i.reward // max(1, i.slots), i.index))
    long = sorted(loose, key=lambda i: (not i.source.one, not i.required, -i.slots, i.index))
    tight = sorted(loose, key=lambda i: (not i.required, i.starts(i.slots).bit_count() // 4, -i.reward, i.index))
    ranked = sorted(loose, key=lambda i: (i.source.task is not None, not i.source.one, -i.rank, i.index))
    return [ranked, eager, long, tight]


def improve_placement(
    problem: Problem,
    placement: Placement,
    steps: int,
    stop: Callable[[], bool] | None = None,
    seen: Callable[[int], None] | None = None,
) -> tuple[Placed, bool]:
    """Improve a placement until ``steps`` units of effort are spent; return it, and whether they all were.

    ``stop`` is polled to end the search early; ``seen`` is called with the effort spent.
    """
    best = current = placement
    best_cost = current_cost = cost_of(placement)
    rng = PseudoRandom(len(problem.items) + 1)
    movable = [item for item in problem.items if not item.source.pinned]
    must = [item.index for item in problem.items if item.required and placement.placed[item.index]]
    held = problem.violated_caps(placement.placed)
    watched = any(cap.over is None and cap.least is not None for cap in problem.caps)
    finished = True
    good = (lower_bound(problem) + 1) * weights.SCALE
    begun = problem.effort
    while movable and best_cost >= good and (done := problem.effort - begun) < steps:
        if stop is not None and stop():
            finished = False
            break
        if seen is not None:
            seen(done)
        problem.effort += 1 + 3 * sum(map(bool, current.placed)) // 4
        temperature = _TEMPERATURE * weights.SCALE * (steps - done) // steps
        limit = current_cost + rng.below(temperature + 1)
        trial = destroy_and_repair(current, movable, rng, limit)
        if trial is None or trial.placed == current.placed or not all(trial.placed[index] for index in must):
            continue
        if watched and len(problem.violated_caps(trial.placed)) > len(held):
            continue
        cost = cost_of(trial, limit)
        if cost < limit:
            current, current_cost = trial, cost
            if cost < best_cost:
                best, best_cost = trial, cost
    return optimize_locally(best, stop), finished


_LOCAL_STEPS = 30_000
"""Most effort of a local search: half a second, ten times what days of twenty tasks need. It grows fast with tasks."""


def optimize_locally(placement: Placement, stop: Callable[[], bool] | None = None) -> Placed:
    """Return the placement once no neighbor of these kinds is cheaper; each kind is searched until it has none.

    A day with so many tasks that this would take long is left as it is after some effort.
    """
    best, cost = placement, cost_of(placement)
    ends = placement.problem.effort + _LOCAL_STEPS
    kinds = (_start_earlier, _reinsert, _exchange, _reorder, _shift, _substitute)
    unchanged = 0

    def is_over() -> bool:
        return placement.problem.effort >= ends or (stop is not None and stop())

    while unchanged < len(kinds):
        for kind in kinds:
            unchanged += 1
            while not is_over() and (found := _find_cheaper(kind(best), best, cost, ends)) is not None:
                best, cost = found
                unchanged = 1
            if unchanged == len(kinds) or is_over():
                return best.placed
    return best.placed


def _find_cheaper(
    neighbors: Iterable[Placement], than: Placement, cost: int, ends: int
) -> tuple[Placement, int] | None:
    """Return the first neighbor that is cheaper and satisfies as much, with its cost, before the effort ``ends``."""
    problem = than.problem
    must = [item.index for item in problem.items if item.required and than.placed[item.index]]
    held = len(problem.violated_caps(than.placed))
    for trial in neighbors:
        if problem.effort >= ends:
            return None
        now = cost_of(trial, cost)
        if (
            now < cost
            and all(trial.placed[index] for index in must)
            and len(problem.violated_caps(trial.placed)) <= held
        ):
            return trial, now
    return None


_EARLIER = 12
"""Largest number of slots by which a piece is moved to an earlier start."""
_SHIFTS = (-2, -1, 1, 2)
"""Slots by which a row of pieces is moved."""


def _list_movable(placement: Placement, *, there: bool) -> list[Item]:
    """Return the items that are not pinned, and that are placed (``there``) or left out."""
    items = placement.problem.items
    return [item for item in items if not item.source.pinned and bool(placement.placed[item.index]) is there]


def _start_earlier(placement: Placement) -> Iterator[Placement]:
    """Move a piece to an earlier start.

    Insertion does not see what items share beyond their neighbors, such as a pause in a run of focus.
    """
    for item in _list_movable(placement, there=True):
        for piece in placement.placed[item.index]:
            for start in range(max(0, piece[0] - _EARLIER), piece[0]):
                if item.starts(piece[1]) >> start & 1 and (trial := _move(placement, [(item, piece, start)])):
                    yield trial


def _reinsert(placement: Placement) -> Iterator[Placement]:
    """Take an item out, and insert it and what was left out."""
    for item in _list_movable(placement, there=True):
        trial = placement.remove_items((item.index,))
        for each in _list_movable(trial, there=False):
            trial.insert(each)
        yield trial


def _exchange(placement: Placement) -> Iterator[Placement]:
    """Put a piece ahead of the one or two before it."""
    row = _list_pieces(placement)
    for last in range(1, len(row)):
        for first in range(max(0, last - 2), last):
            *others, (mover, moved) = row[first : last + 1]
            later = sum(moved) - sum(others[-1][1])
            moves = [(item, piece, piece[0] + later) for item, piece in others]
            if trial := _move(placement, [(mover, moved, others[0][1][0]), *moves]):
                yield trial


def _reorder(placement: Placement) -> Iterator[Placement]:
    """Take out two pieces of work that lie out of rank order on one day, and insert the later one first."""
    problem = placement.problem
    there = sorted(
        (item for item in _list_movable(placement, there=True) if item.work), key=lambda i: placement.placed[i.index]
    )
    days = [problem.day_of(placement.placed[item.index][0][0]) for item in there]
    for n, early in enumerate(there):
        for m in range(n + 1, len(there)):
            if early.rank < there[m].rank and days[n] == days[m]:
                trial = placement.remove_items((early.index, there[m].index))
                for item in (there[m], early):
                    trial.insert(item)
                yield trial


def _shift(placement: Placement) -> Iterator[Placement]:
    """Move a piece by a slot or two, with those that it runs into; insert what there is room for then."""
    pieces = _list_pieces(placement)
    for by in _SHIFTS:
        row = pieces if by > 0 else pieces[::-1]
        for first in range(len(row)):
            moves: list[tuple[Item, Piece, int]] = []
            for item, piece in row[first:]:
                if moves and not _runs_into(moves[-1][1], piece, by):
                    break
                moves.append((item, piece, piece[0] + by))
            if trial := _move(placement, moves):
                _fill(trial)
                yield trial


def _runs_into(moved: Piece, other: Piece, by: int) -> bool:
    """Check whether a piece that is moved by some slots runs into another one."""
    return sum(moved) + by > other[0] if by > 0 else moved[0] + by < sum(other)


def _substitute(placement: Placement) -> Iterator[Placement]:
    """Take an item out for one that was left out, and insert what there is room for then."""
    for out in _list_movable(placement, there=False):
        for item in _list_movable(placement, there=True):
            trial = placement.remove_items((item.index,))
            if trial.insert(out):
                trial.insert(item)
                _fill(trial)
                yield trial


def _fill(placement: Placement) -> None:
    """Insert what was left out, as far as there is room."""
    everywhere = placement.problem.everywhere
    room, longest = _room(placement, everywhere)
    for item in sorted(_list_movable(placement, there=False), key=lambda i: -i.reward):
        least, shortest = item.smallest
        if least <= room and shortest <= longest and placement.insert(item, quick=True):
            room, longest = _room(placement, everywhere)


def _list_pieces(placement: Placement) -> list[tuple[Item, Piece]]:
    """Return all pieces in time order."""
    pieces = [(item, piece) for item in placement.problem.items for piece in placement.placed[item.index]]
    return sorted(pieces, key=lambda each: each[1])


def _move(placement: Placement, moves: list[tuple[Item, Piece, int]]) -> Placement | None:
    """Return the placement with pieces of these items at other starts, or ``None`` where that is impossible."""
    after: dict[int, Pieces] = {}
    for item, piece, start in moves:
        if start < 0:
            return None  # before the first slot of the axis
        pieces = after.get(item.index, placement.placed[item.index])
        after[item.index] = tuple((start, piece[1]) if each == piece else each for each in pieces)
    trial = placement.remove_items(after)
    if any(trial.placed[n] or not placement.placed[n] for n in after) or sum(map(bool, trial.placed)) != sum(
        map(bool, placement.placed)
    ) - len(after):
        return None  # one of them is pinned, or others need it
    for index, pieces in after.items():
        item = placement.problem.items[index]
        if not trial.fits(item, pieces):
            return None
        trial.take(item, tuple(sorted(pieces)))
    return trial
