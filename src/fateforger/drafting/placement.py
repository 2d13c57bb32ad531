"""Placement under construction, as sets of slots, and its cost.

The cost is defined only for placements that satisfy the hard rules; lower is better.
"""

from __future__ import annotations

from collections.abc import Iterable

from fateforger.drafting import weights
from fateforger.drafting.axis import run_starts, slot_range, slots_of, spread, stretches
from fateforger.drafting.problem import (
    PAUSE,
    Cap,
    Item,
    Masks,
    Order,
    Piece,
    Pieces,
    Placed,
    Problem,
    empty_placement,
)
from fateforger.planning.timing import GRID

_SITTING = 18
"""Slots of a good sitting: 90 minutes."""


class Placement:
    """A placement under construction.

    ``placed`` holds pieces by item. ``taken`` slots are covered; ``kept`` slots must stay free after a block.
    ``covers`` are the slots that each group of the problem covers, ``wanted`` those that each soft gap wants free.
    """

    __slots__ = ("covers", "kept", "placed", "problem", "taken", "wanted")

    def __init__(self, problem: Problem, placed: Placed | None = None) -> None:
        self.problem = problem
        self.placed = empty_placement(problem.items) if placed is None else list(placed)
        self._rebuild()

    def _rebuild(self) -> None:
        self.taken = self.kept = 0
        self.wanted = [0] * len(self.problem.soft_gaps)
        self.covers = [0] * len(self.problem.groups)
        for item, pieces in zip(self.problem.items, self.placed, strict=True):
            if pieces:
                self._mark(item, pieces)

    def mark(self, item: Item, pieces: Pieces) -> Masks:
        """Return the slots that these pieces of an item take, cached."""
        mark = item.cache.masks.get(pieces)
        if mark is None:
            mark = item.cache.masks[pieces] = self._compute_mark(item, pieces)
        return mark

    def _mark(self, item: Item, pieces: Pieces) -> None:
        bits, kept, wanted = item.cache.masks.get(pieces) or self.mark(item, pieces)
        self.taken |= bits
        self.kept |= kept
        for group in item.coupling.groups:
            self.covers[group] |= bits
        for number, free in wanted:
            self.wanted[number] |= free

    def _compute_mark(self, item: Item, pieces: Pieces) -> Masks:
        """Return the slots that these pieces cover, must keep free after them, and want free by soft gap."""
        taken = kept = 0
        wanted = dict.fromkeys((number for number, _, _ in item.coupling.soft_gaps), 0)
        for start, length in pieces:
            taken |= slot_range(start, start + length)
            kept |= slot_range(start + length, start + length + item.gap)
            for number, slots, ahead in item.coupling.soft_gaps:
                at = max(0, start - slots) if ahead else start + length
                wanted[number] |= slot_range(at, at + slots)
        return taken, kept, tuple(wanted.items())

    def take(self, item: Item, pieces: Pieces) -> None:
        self.placed[item.index] = pieces
        self._mark(item, pieces)

    def remove_items(self, indexes: Iterable[int]) -> Placement:
        """Return the placement without these items and all that needs them; pinned items stay."""
        placed = list(self.placed)
        for index in indexes:
            for removed in self.problem.items[index].coupling.dependents:
                if not self.problem.items[removed].source.pinned:
                    placed[removed] = ()
        return Placement(self.problem, placed)

    def copy(self) -> Placement:
        """Return a copy of the placement that can be changed."""
        other = Placement.__new__(Placement)
        other.problem, other.placed = self.problem, list(self.placed)
        other.taken, other.kept = self.taken, self.kept
        other.wanted, other.covers = list(self.wanted), list(self.covers)
        return other

    def spots(self, item: Item, length: int) -> int:
        """Return the slots at which a piece can begin, considering only time."""
        spots = run_starts(item.domain & ~(self.taken | self.kept), length)
        if item.gap and spots:
            spots &= run_starts(~self.taken, item.gap) >> length
        return spots

    def fits(self, item: Item, pieces: Pieces) -> bool:
        """Check whether these pieces satisfy every hard rule."""
        trial = self.copy()
        for start, length in pieces:
            if not (
                trial.spots(item, length) >> start & 1
                and start in item.prices_at(length)
                and self.problem.is_ordered(trial.placed, item, start, length)
                and self.problem.has_room_in_caps(trial.placed, item, start, length)
            ):
                return False
            trial.take(item, tuple(sorted((*trial.placed[item.index], (start, length)))))
        return True

    def find_best(self, item: Item, length: int, ceiling: int | None = None) -> tuple[int, int] | None:
        """Return the cheapest start of a piece, as cost and slot.

        Returns ``None`` when there is none below the ceiling.
        """
        self.problem.effort += 1
        spots = self.spots(item, length)
        if spots and item.coupling.constrained:
            spots &= self._permitted_starts(item, length)
        if not spots:
            return None
        self.problem.effort += 2
        found: tuple[int, int] | None = None
        late = length * item.rank
        levels = item.levels(length)
        for extra, area, rough in self._beside(item, length, spots):
            for points, where in levels:
                least = (points + extra) * weights.SCALE
                if ceiling is not None and least >= ceiling:
                    break
                hit = area & where
                if not hit:
                    continue
                if rough:
                    total, start = self._find_roomiest(item, length, hit, least)
                else:
                    start = (hit & -hit).bit_length() - 1
                    total = least + start * late
                if ceiling is None or total < ceiling:
                    found, ceiling = (total, start), total
                if not rough:
                    break
        return found

    def _find_roomiest(self, item: Item, length: int, starts: int, least: int) -> tuple[int, int]:
        """Return the start with the most room around it, among equally priced ones, with its cost."""
        late, usual = length * item.rank, item.coupling.tight
        return min(
            (least + start * late + (self._soft_gap_points(item, start, length) - usual) * weights.SCALE, start)
            for start in slots_of(starts)
        )

    def _permitted_starts(self, item: Item, length: int) -> int:
        """Return the starts that satisfy hard orders and caps."""
        problem, placed = self.problem, self.placed
        problem.effort += 1
        if not item.coupling.ordered:
            return ~problem.full_starts(placed, item, length)
        first, last = 0, problem.axis.slots
        for need in item.precedence.needs:
            if not placed[need]:
                return 0
        for other in (*item.precedence.needs, *item.precedence.predecessors):
            if placed[other]:
                first = max(first, sum(placed[other][-1]))
        for other in item.precedence.successors:
            if placed[other]:
                last = min(last, placed[other][0][0])
        spots = slot_range(first, last - length + 1)
        for order in item.coupling.hard_orders:
            if not spots:
                return 0
            spots &= ~self._wrong_starts(order, item, length)
        return spots if not spots else spots & ~problem.full_starts(placed, item, length)

    def _wrong_starts(self, order: Order, item: Item, length: int) -> int:
        """Return the starts on the wrong side of an order."""
        first = item.index in order.first
        others = self.covers[order.groups[1] if first else order.groups[0]]
        wrong = 0
        for on in order.days:
            there = others & on
            if there and first:
                wrong |= on & ~slot_range(0, (there & -there).bit_length() - length)
            elif there:
                wrong |= on & slot_range(0, there.bit_length())
        return wrong

    def _beside(self, item: Item, length: int, spots: int) -> list[tuple[int, int, bool]]:
        """Group starts by what their neighbors cost there, in points, the cheapest first.

        Where the flag is true, the cost of soft gaps varies within the group and is computed per start.
        """
        free = spots
        problem = self.problem
        if item.coupling.alone:
            return [(0, spots, False)]
        wanted = 0
        for number in item.coupling.avoided:
            wanted |= self.wanted[number]
        if wanted:
            free &= run_starts(~wanted, length)
        for number, slots, ahead in item.coupling.soft_gaps:
            covered = self.covers[problem.avoiding[number]]
            if covered:
                room = run_starts(~covered, slots)
                free &= room << slots if ahead else room >> length
        areas = [(0, free, False)]
        if free != spots:
            areas.append((item.coupling.tight, spots & ~free, True))
        for order in item.coupling.soft_orders:
            wrong = self._wrong_starts(order, item, length)
            if wrong & spots:
                areas = _split(areas, wrong, order.points or 0)
        if item.coupling.late & spots:
            areas = _split(areas, item.coupling.late, weights.ONE_THING_LATE)
        areas.sort()
        return areas

    def _soft_gap_points(self, item: Item, start: int, length: int) -> int:
        """Return points for the slots that soft gaps want free, those of others and its own."""
        points = 0
        problem = self.problem
        problem.effort += 2
        bits = ((1 << length) - 1) << start
        hits = dict.fromkeys(item.coupling.avoided, 0)
        for number in hits:
            hits[number] = (bits & self.wanted[number]).bit_count()
        for number, slots, ahead in item.coupling.soft_gaps:
            at = max(0, start - slots) if ahead else start + length
            own = ((1 << slots) - 1) << at
            hits[number] = hits.get(number, 0) + (own & self.covers[problem.avoiding[number]]).bit_count()
        for number, hit in hits.items():
            if hit:
                points += hit * problem.soft_gaps[number].points + problem.soft_gaps[number].base
        return points

    def insert(self, item: Item, *, cut: bool = False, quick: bool = False) -> bool:
        """Place an item where it is cheapest, in one piece if possible.

        ``cut`` also tries pieces; otherwise ``quick`` tries at most two pieces.
        """
        if item.coupling.constrained and self.problem.is_hopeless(self.placed, item):
            self.problem.effort += 2
            return False
        found: Pieces = ()
        ceiling = None
        if not item.required:
            slack = self.slots_over(item.lengths[-1][0]) * weights.SLACK_SLOT
            ceiling = item.coupling.lost + 1 - (slack + self._price_of_block(item)) * weights.SCALE
            if ceiling <= 0:
                self.problem.effort += 1
                return False
        spot = self.whole(item, ceiling)
        if spot is not None:
            ceiling, found = spot[0], (spot[1],)
        if item.bounds.most > 1 and (
            not found or cut or (item.bounds.comfort is not None and item.slots > item.bounds.comfort)
        ):
            most = 2 if quick and not cut else item.bounds.most
            pieces = self.cut(item, item.slots, most, ceiling)
            if pieces is not None:
                found = pieces[1]
        if found:
            self.take(item, tuple(sorted(found)))
        return bool(found)

    def slots_over(self, slots: int) -> int:
        """Return how many of so many slots more would be slack, on the day with the most time left."""
        over = [
            max(0, (self.taken & opened).bit_count() + slots - most) - max(0, (self.taken & opened).bit_count() - most)
            for opened, most in self.problem.slack
        ]
        return min(over, default=0)

    def _price_of_block(self, item: Item) -> int:
        """Return the points for one more block of deep work, on the day with the fewest of them."""
        most = self.problem.policy.deep_blocks
        if most is None or not item.deep or self.problem.deep_block == weights.DEEP_BLOCK:
            return 0  # the usual price never costs a task
        starts = [start for m in self.problem.groups[self.problem.deep] for start, _ in self.placed[m]]
        there = min(sum(day.slots >> start & 1 for start in starts) for day in self.problem.days)
        return self.problem.deep_block if there >= most else 0

    def whole(self, item: Item, ceiling: int | None = None) -> tuple[int, Piece] | None:
        """Return the cheapest way to place an item in one piece, as cost and piece."""
        found: tuple[int, Piece] | None = None
        for length, price in item.lengths:
            more = price * weights.SCALE
            spot = self.find_best(item, length, None if ceiling is None else ceiling - more)
            if spot is not None:
                ceiling = spot[0] + more
                found = ceiling, (spot[1], length)
        return found

    def cut(self, item: Item, slots: int, most: int, ceiling: int | None) -> tuple[int, Pieces] | None:
        """Return the cheapest way found to place ``slots`` in two pieces or more."""
        found: tuple[int, Pieces] | None = None
        if ceiling is not None and ceiling <= weights.PIECE * weights.SCALE:
            return None
        for length in self._lengths(item, slots):
            spot = self.find_best(item, length, ceiling)
            if spot is None:
                continue
            rest = self.copy()
            rest.take(item, tuple(sorted((*rest.placed[item.index], (spot[1], length)))))
            cost = spot[0] + weights.PIECE * weights.SCALE
            left = None if ceiling is None else ceiling - cost
            last = rest.find_best(item, slots - length, left)
            more: tuple[int, Pieces] | None = None if last is None else (last[0], ((last[1], slots - length),))
            if more is None and most > 2:
                more = rest.cut(item, slots - length, most - 1, left)
            if more is not None and (ceiling is None or cost + more[0] < ceiling):
                ceiling = cost + more[0]
                found = ceiling, ((spot[1], length), *more[1])
        return found

    def _lengths(self, item: Item, slots: int) -> list[int]:
        """Return first pieces worth trying.

        These are a good sitting, a half, the shortest piece, and lengths that fill a free stretch.
        """
        shortest, longest = item.bounds.shortest, min(slots - item.bounds.shortest, item.bounds.longest)
        if longest < shortest:
            return []
        room = item.domain & ~(self.taken | self.kept)
        if not self._has_room(item, room, slots):
            return []
        rooms = {n - item.gap for _, n in stretches(room) if n - item.gap >= shortest}
        widest = sorted(rooms, reverse=True)[:2]
        comfort = item.bounds.comfort or _SITTING
        even = -(-slots // max(2, -(-slots // comfort)))
        tried = (*widest, comfort, even, shortest)
        if slots == item.slots:
            tried = (*tried, _SITTING, (slots + 1) // 2, item.bounds.comfort or longest)
        return list(dict.fromkeys(min(max(n, shortest), longest) for n in tried))

    def _has_room(self, item: Item, room: int, slots: int) -> bool:
        """Check whether pieces of sufficient length can cover ``slots`` slots of the room."""
        starts = run_starts(room, item.bounds.shortest + item.gap)
        if starts and item.coupling.constrained:
            starts &= self._permitted_starts(item, item.bounds.shortest)
        wide = spread(starts, item.bounds.shortest + item.gap)
        if not item.gap:
            return wide.bit_count() >= slots
        return wide.bit_count() - item.gap * (wide & ~(wide << 1)).bit_count() >= slots


def _split(areas: list[tuple[int, int, bool]], where: int, points: int) -> list[tuple[int, int, bool]]:
    """Return the areas with ``points`` more in a part of them."""
    parts = []
    for extra, area, rough in areas:
        if area & ~where:
            parts.append((extra, area & ~where, rough))
        if area & where:
            parts.append((extra + points, area & where, rough))
    return parts


def cost(placement: Placement, limit: int | None = None) -> int:
    """Return the cost in fractions of a point.

    It adds up what is left out, the place of each item, its pieces, and what items share. Once the cost reaches
    ``limit``, some value of at least ``limit`` is returned.
    """
    problem = placement.problem
    total = 0
    for item, pieces in zip(problem.items, placement.placed, strict=True):
        if not pieces:
            total += item.coupling.lost
            continue
        own = item.cache.costs.get(pieces)
        if own is None:
            own = sum(item.prices_at(length)[start] for start, length in pieces)
            own = item.cache.costs[pieces] = own + shape_points(item, pieces) * weights.SCALE
        total += own
    return total if limit is not None and total >= limit else total + shared_points(placement) * weights.SCALE


def points(placement: Placement) -> int:
    """Return the cost in whole points, without the price of later starts."""
    problem = placement.problem
    total = shared_points(placement)
    for item, pieces in zip(problem.items, placement.placed, strict=True):
        if pieces:
            total += shape_points(item, pieces) + sum(item.points(*piece) for piece in pieces)
        else:
            total += item.reward
    return total


def shape_points(item: Item, pieces: Pieces) -> int:
    """Return points for the pieces of an item, its length, and a late start of the one thing."""
    total = weights.PIECE * (len(pieces) - 1)
    if len(item.lengths) > 1:
        total += next((price for length, price in item.lengths if length == pieces[0][1]), 0)
    if item.coupling.late >> pieces[0][0] & 1:
        total += weights.ONE_THING_LATE
    return total


def shared_points(placement: Placement) -> int:
    """Return points for costs that several items share."""
    problem = placement.problem
    total = sum(_soft_gap_points(placement, number) for number in range(len(problem.soft_gaps)))
    for cap in problem.caps:
        if cap.over is not None:
            total += _excess(placement, cap, cap.over)
    for order in problem.orders:
        if order.points is not None:
            total += order.points * _count_swapped(placement, order)
    if problem.policy.shallow_percent is not None or problem.policy.deep_blocks is not None:
        total += _macro(placement)
    for opened, most in problem.slack:
        total += weights.SLACK_SLOT * max(0, (placement.taken & opened).bit_count() - most)
    if problem.policy.longest_focus is not None:
        total += weights.FOCUS_RUN_SLOT * _count_long_focus(placement, problem.policy.longest_focus // GRID)
    return total


def _count_long_focus(placement: Placement, longest: int) -> int:
    """Return the slots of focus beyond what a person holds without a pause.

    Focus continues through a meeting or shallow work. A single piece as long as the person wants it is no run.
    """
    problem = placement.problem
    deep = placement.covers[problem.deep]
    if deep.bit_count() <= longest:
        return 0
    active = placement.covers[problem.active] | problem.restless
    quiet = ~active & slot_range(0, problem.axis.slots)
    total = 0
    for start, length in stretches(active | (quiet & ~spread(run_starts(quiet, PAUSE), PAUSE))):
        run = deep & slot_range(start, start + length)
        over = run.bit_count() - longest
        if over > 0:
            pieces = (p for m in problem.groups[problem.deep] for p in placement.placed[m] if run >> p[0] & 1)
            total += min(over, run.bit_count() - max(n for _, n in pieces))
    return total


def _soft_gap_points(placement: Placement, number: int) -> int:
    """Return points for the slots of a soft gap that other items cover.

    Room ahead is not needed before the first block of a day.
    """
    problem, soft_gap = placement.problem, placement.problem.soft_gaps[number]
    covered = placement.covers[problem.avoiding[number]]
    wanted = placement.wanted[number]
    if soft_gap.ahead and wanted & covered:
        wanted = 0
        for on in problem.days:
            begins = sorted(s for m in soft_gap.members for s, _ in placement.placed[m] if on.slots >> s & 1)
            for start in begins[1:]:
                wanted |= ((1 << soft_gap.slots) - 1) << max(0, start - soft_gap.slots)
    hit = (wanted & covered).bit_count()
    return soft_gap.base + soft_gap.points * hit if hit else 0


def _excess(placement: Placement, cap: Cap, over: int) -> int:
    """Return points for what exceeds a cap or falls short of it."""
    total = 0
    for day, on in enumerate(cap.days):
        if not on:
            continue
        slots, blocks = placement.problem.usage(cap, placement.placed, day)
        off = 0
        if cap.most is not None and slots > cap.most:
            off += slots - cap.most
        if cap.count is not None and blocks > cap.count:
            off += 3 * (blocks - cap.count)
        if cap.least is not None and slots < cap.least:
            off += cap.least - slots
        if off:
            total += cap.base + off * over
    return total


def _count_swapped(placement: Placement, order: Order) -> int:
    """Return the number of pairs in the wrong order."""
    wrong = 0
    for on in order.days:
        firsts, thens = (placement.covers[group] & on for group in order.groups)
        if firsts and thens and firsts.bit_length() > (thens & -thens).bit_length() - 1:
            ends = [s + n for m in order.first for s, n in placement.placed[m] if on >> s & 1]
            begins = [s for m in order.then for s, _ in placement.placed[m] if on >> s & 1]
            wrong += sum(end > start for end in ends for start in begins)
    return wrong


def _macro(placement: Placement) -> int:
    """Return points for too much shallow work, and for too many blocks of deep work."""
    problem, policy, total = placement.problem, placement.problem.policy, 0
    for day in problem.days:
        deep, shallow = ((placement.covers[group] & day.slots).bit_count() for group in (problem.deep, problem.shallow))
        if policy.shallow_percent is not None:
            over = shallow * 100 - policy.shallow_percent * (deep + shallow)
            total += weights.SHALLOW_SLOT * -(-over // 100) if over > 0 else 0
        if policy.deep_blocks is not None and deep:
            members = problem.groups[problem.deep]
            blocks = sum(day.slots >> s & 1 for m in members for s, _ in placement.placed[m])
            total += problem.deep_block * max(0, blocks - policy.deep_blocks)
    return total
