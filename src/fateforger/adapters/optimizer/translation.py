"""Translation of a problem into an integer program with the same cost, to the point.

A Boolean variable says that an item has a piece at a start with a length; what such a piece costs is asked of the item
itself. What several items share becomes further variables, which the objective keeps as small as the constraints allow.
The price of later starts, which breaks ties, is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from fateforger.drafting import weights
from fateforger.drafting.axis import slots_of, stretches
from fateforger.drafting.problem import Cap, Item, Piece, Placed, Problem, SoftGap, empty_placement
from fateforger.planning.timing import GRID

Sum = Sequence[tuple[int, int]]
"""Variables, each with its factor."""
_FAR = 1 << 40


class Model:
    """An integer program whose objective is minimized.

    Variables are numbers. The negation of a Boolean variable ``x`` is ``~x``, as in CP-SAT.
    """

    def __init__(self) -> None:
        from ortools.sat import cp_model_pb2  # noqa: PLC0415  optional, and slow to import

        self.message: Any = cp_model_pb2.CpModelProto()
        self._points: dict[int, int] = {}
        self._offset = 0
        self._floors: list[tuple[int, Sum, int, int]] = []

    def boolean(self, points: int = 0) -> int:
        """Add a Boolean variable that costs these points when it is true."""
        return self.integer(1, points)

    def integer(self, most: int, points: int = 0) -> int:
        """Add a variable from 0 to ``most`` that costs these points for each unit."""
        number = len(self.message.variables)
        self.message.variables.add().domain.extend((0, most))
        self.charge(number, points)
        return number

    def charge(self, variable: int, points: int) -> None:
        """Add to the points of a variable."""
        if points:
            self._points[variable] = self._points.get(variable, 0) + points

    def pay(self, points: int) -> None:
        """Add points that are always charged."""
        self._offset += points

    def at_most_one(self, literals: Iterable[int]) -> None:
        self.message.constraints.add().at_most_one.literals.extend(literals)

    def within(self, terms: Sum, least: int | None, most: int | None) -> None:
        linear = self.message.constraints.add().linear
        linear.vars.extend(variable for variable, _ in terms)
        linear.coeffs.extend(factor for _, factor in terms)
        linear.domain.extend((-_FAR if least is None else least, _FAR if most is None else most))

    def raise_to(self, variable: int, terms: Sum, less: int = 0, per: int = 1) -> None:
        """Make a variable at least a sum less a number, divided by ``per``; the objective keeps it no larger."""
        self._floors.append((variable, terms, less, per))
        self.within([(variable, per), *((v, -f) for v, f in terms)], -less, None)

    def finish(self, hint: dict[int, int]) -> Any:
        """Return the message.

        ``hint`` suggests the variables that are true of those not raised to anything; the others follow from it.
        """
        values = [0] * len(self.message.variables)
        for variable, value in hint.items():
            values[variable] = value
        for variable, terms, less, per in self._floors:
            least = sum(f * values[v] for v, f in terms) - less
            values[variable] = max(values[variable], -(-least // per))
        self.message.solution_hint.vars.extend(range(len(values)))
        self.message.solution_hint.values.extend(values)
        objective = self.message.objective
        objective.scaling_factor, objective.offset = 1, self._offset
        objective.vars.extend(self._points)
        objective.coeffs.extend(self._points.values())
        return self.message


BySlot = dict[int, list[int]]
"""Variables of pieces that do something at a slot, of which at most one is true."""


@dataclass(frozen=True)
class _Pieces:
    """Variables of an item: one for each possible piece, whether it is placed, and whether it covers a slot."""

    item: Item
    present: int
    cut: int | None = None
    """True when it is placed in several pieces."""
    at: dict[Piece, int] = field(default_factory=dict)
    covers: dict[int, int] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """True when it has one piece at most."""
        return self.cut is None


class Translation:
    """An integer program, and the pieces that its variables stand for."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.model = Model()
        self.items = [self._add_item(item) for item in problem.items]
        self._everyone = range(len(self.items))
        self._counts: dict[tuple[int, int, int], dict[int, int]] = {}
        self._separate_pieces()
        self._order_items()
        self._limit_days()
        self._charge_late_start()
        self._charge_gaps()
        self._charge_caps()
        self._charge_orders()
        self._charge_kinds()
        self._charge_slack()
        self._charge_long_focus()

    def message(self, placed: Placed) -> Any:
        """Return the program with a placement as its hint."""
        there = zip(self.items, placed, strict=True)
        hint: dict[int, int] = {}
        for pieces, mine in there:
            hint[pieces.present] = int(bool(mine))
            if pieces.cut is not None:
                hint[pieces.cut] = int(len(mine) > 1)
            for piece in mine:
                hint[pieces.at[piece]] = 1
                hint |= {pieces.covers[slot]: 1 for slot in _list_covered(*piece)}
        return self.model.finish(hint)

    def read(self, values: Sequence[int]) -> Placed:
        """Return the placement in a solution."""
        return [tuple(sorted(piece for piece, x in pieces.at.items() if values[x])) for pieces in self.items]

    # --- pieces and hard rules ---

    def _add_item(self, item: Item) -> _Pieces:
        model, most = self.model, item.bounds.most
        model.pay(item.reward)
        pieces = _Pieces(item, model.boolean(-item.reward), model.boolean() if most > 1 else None)
        present, cut = pieces.present, pieces.cut
        for length, price in _lengths(item):
            for start in slots_of(item.starts(length)):
                pieces.at[start, length] = model.boolean(item.points(start, length) + price)
        whole = [(x, 1) for (_, n), x in pieces.at.items() if cut is None or n == item.slots]
        if cut is None:
            model.within([(present, -1), *whole], 0, 0)
        else:
            parts = [(x, n) for (_, n), x in pieces.at.items() if n < item.slots]
            model.within([(present, -1), (cut, 1), *whole], 0, 0)
            model.within([(cut, -item.slots), *parts], 0, 0)
            model.within([(cut, -most), *((x, 1) for x, _ in parts)], None, 0)
            model.within([(cut, -2), *((x, 1) for x, _ in parts)], 0, None)
            for x, _ in parts:
                model.charge(x, weights.PIECE)
            model.charge(cut, -weights.PIECE)
        if item.required:
            model.within([(present, 1)], 1, 1)
        elif self.problem.is_hopeless(empty_placement(self.problem.items), item):
            model.within([(present, 1)], 0, 0)
        self._cover(pieces)
        return pieces

    def _cover(self, pieces: _Pieces) -> None:
        """Add a variable for each slot that says whether the item covers it."""
        slots: BySlot = {}
        for (start, length), x in pieces.at.items():
            for slot in _list_covered(start, length):
                slots.setdefault(slot, []).append(x)
        for slot, literals in slots.items():
            pieces.covers[slot] = covered = self.model.boolean()
            self.model.within([(covered, -1), *((x, 1) for x in literals)], 0, 0)
            if not pieces.whole:
                self.model.within([(covered, 1), (pieces.present, -1)], None, 0)

    def _separate_pieces(self) -> None:
        """Let at most one piece cover a slot or keep it free."""
        slots = self._list_coverage(self._everyone)
        for pieces in self.items:
            for (start, length), x in pieces.at.items():
                for slot in range(start + length, start + length + pieces.item.gap):
                    slots.setdefault(slot, []).append(x)
        for literals in slots.values():
            self.model.at_most_one(literals)

    def _list_coverage(self, members: Iterable[int]) -> BySlot:
        """Return the variables that say, by slot, which of these items cover it."""
        slots: BySlot = {}
        for member in sorted(members):
            for slot, x in self.items[member].covers.items():
                slots.setdefault(slot, []).append(x)
        return slots

    def _order_items(self) -> None:
        """Keep the order of tasks and of hard rules."""
        for pieces in self.items:
            for need in pieces.item.precedence.needs:
                self.model.within([(self.items[need].present, 1), (pieces.present, -1)], 0, None)
            for first in pieces.item.precedence.predecessors:
                self._forbid_swap([first], [pieces.item.index], -1)
        for order in self.problem.orders:
            if order.points is None:
                for on in order.days:
                    self._forbid_swap(order.first, order.then, on)

    def _forbid_swap(self, first: Iterable[int], then: Iterable[int], on: int) -> None:
        """Let pieces of ``first`` end before pieces of ``then`` begin."""
        begun, unended = self._mark_begun(then, on), self._mark_unended(first, on)
        for slot, literal in begun.items():
            if slot in unended:
                self.model.at_most_one((literal, unended[slot]))

    def _limit_days(self) -> None:
        for cap in self.problem.caps:
            if cap.over is None:
                for slots, blocks, (there, number) in self._usage(cap):
                    if cap.most is not None:
                        self.model.within(slots, None, cap.most - there)
                    if cap.count is not None:
                        self.model.within(blocks, None, cap.count - number)
                    if cap.least is not None:
                        self.model.within(slots, cap.least - there, None)

    # --- costs that items share ---

    def _charge_late_start(self) -> None:
        """Charge for the one thing when its first piece is late."""
        for pieces in self.items:
            for first, slots in stretches(pieces.item.coupling.late):
                on = [x for (start, _), x in pieces.at.items() if first <= start < first + slots]
                before = [(x, -1) for (start, _), x in pieces.at.items() if start < first]
                is_late = self.model.boolean(weights.ONE_THING_LATE)
                for x in on:
                    self.model.raise_to(is_late, [(x, 1), *before])

    def _charge_gaps(self) -> None:
        """Charge for the slots of soft gaps that others cover."""
        for gap in self.problem.soft_gaps:
            covers = self._list_coverage(gap.avoiding)
            broken = self.model.boolean(gap.base) if gap.base else None
            for slot, wanted in self._wanted_ahead(gap) if gap.ahead else self._wanted_behind(gap):
                if slot in covers:
                    hit = self.model.boolean(gap.points)
                    for terms, less in wanted:
                        self.model.raise_to(hit, [*terms, *((x, 1) for x in covers[slot])], less)
                    if broken is not None:
                        self.model.raise_to(broken, [(hit, 1)])

    def _wanted_behind(self, gap: SoftGap) -> Iterator[tuple[int, list[tuple[Sum, int]]]]:
        """Yield the slots that are wanted free, with what makes them so, each as a sum of at most one."""
        ends = self._by_slot(gap.members, -1, _end)
        apart = all(n >= gap.slots for m in gap.members for _, n in self.items[m].at)
        for slot in sorted({end + n for end in ends for n in range(gap.slots)}):
            near = [[(x, 1) for x in ends[end]] for end in range(slot - gap.slots + 1, slot + 1) if end in ends]
            yield slot, [(terms, 1) for terms in ([[x for each in near for x in each]] if apart else near)]

    def _wanted_ahead(self, gap: SoftGap) -> Iterator[tuple[int, list[tuple[Sum, int]]]]:
        """Yield the slots wanted free before a block that is not the first of its day."""
        for day in self.problem.days:
            starts = self._by_slot(gap.members, day.slots, _start)
            begun = self._mark_begun(gap.members, day.slots)
            for slot in sorted({start - n for start in starts for n in range(1, gap.slots + 1)}):
                near = [start for start in range(slot + 1, slot + gap.slots + 1) if start in starts]
                yield slot, [([*((x, 1) for x in starts[at]), (begun[at - 1], 1)], 2) for at in near if at - 1 in begun]

    def _charge_caps(self) -> None:
        for cap in self.problem.caps:
            if cap.over is None:
                continue
            for slots, blocks, (there, number) in self._usage(cap):
                off: list[tuple[int, Sum, int]] = []
                if cap.most is not None:
                    off.append((1, slots, cap.most - there))
                if cap.count is not None:
                    off.append((3, blocks, cap.count - number))
                if cap.least is not None:
                    off.append((1, [(x, -n) for x, n in slots], there - cap.least))
                broken = self.model.boolean(cap.base)
                for times, terms, less in off:
                    most = max(0, sum(n for _, n in terms if n > 0) - less)
                    if most:
                        excess = self.model.integer(most, cap.over * times)
                        self.model.raise_to(excess, terms, less)
                        self.model.raise_to(broken, [(excess, 1)], per=most)

    def _charge_orders(self) -> None:
        """Charge for each pair of pieces in the wrong order."""
        for order in self.problem.orders:
            if order.points is not None:
                for on in order.days:
                    for first in order.first:
                        for then in order.then:
                            self._charge_swap(self.items[first], self.items[then], on, order.points)

    def _charge_swap(self, first: _Pieces, then: _Pieces, on: int, points: int) -> None:
        if first is then:
            return
        begun, unended = self._count_begun(then, on), self._count_unended(first, on)
        both = [slot for slot in begun if slot in unended]
        if not both:
            return
        if first.whole or then.whole:
            # One of them has one piece: once it is on the wrong side, the pieces of the other that are there count.
            most = max(first.item.bounds.most, then.item.bounds.most)
            factors = (most, 1) if then.whole else (1, most)
            swapped = self.model.integer(most, points)
            for slot in both:
                terms = zip((begun[slot], unended[slot]), factors, strict=True)
                self.model.raise_to(swapped, list(terms), most)
            return
        for slot, literals in self._by_slot([then.item.index], on, _start).items():
            if slot in unended:
                most = first.item.bounds.most
                number = self.model.integer(most, points)
                self.model.raise_to(number, [(unended[slot], 1), *((x, most) for x in literals)], most)

    def _charge_kinds(self) -> None:
        """Charge for too much shallow work, and for too many blocks of deep work."""
        problem, policy, model = self.problem, self.problem.policy, self.model
        for day in problem.days:
            deep, shallow = (
                [
                    (x, 1)
                    for m in problem.groups[group]
                    for slot, x in self.items[m].covers.items()
                    if day.slots >> slot & 1
                ]
                for group in (problem.deep, problem.shallow)
            )
            if policy.shallow_percent is not None and shallow:
                part = policy.shallow_percent
                over = model.integer(problem.axis.slots, weights.SHALLOW_SLOT)
                model.raise_to(
                    over, [*((x, (100 - part) * n) for x, n in shallow), *((x, -part * n) for x, n in deep)], 0, 100
                )
            if policy.deep_blocks is not None and deep:
                blocks = self._by_slot(problem.groups[problem.deep], day.slots, _start).values()
                over = model.integer(problem.axis.slots, problem.deep_block)
                model.raise_to(over, [(x, 1) for literals in blocks for x in literals], policy.deep_blocks)

    def _charge_slack(self) -> None:
        """Charge for the slots beyond those that may be taken before slack is."""
        for opened, most in self.problem.slack:
            taken = [(x, 1) for pieces in self.items for slot, x in pieces.covers.items() if opened >> slot & 1]
            over = self.model.integer(self.problem.axis.slots, weights.SLACK_SLOT)
            self.model.raise_to(over, taken, most)

    def _charge_long_focus(self) -> None:
        """Charge for focus without a pause beyond what a person holds, run by run.

        A run goes on at a slot that is taken or lies between two taken ones. Its slots of focus are counted up to its
        end; one longer piece in it, chosen by the solver, raises what it may hold.
        """
        problem, model, longest = self.problem, self.model, self.problem.policy.longest_focus
        if longest is None or not problem.groups[problem.deep]:
            return
        longest //= GRID
        last, most = problem.axis.slots, problem.axis.slots
        deep = self._list_coverage(problem.groups[problem.deep])
        taken = self._list_coverage(problem.groups[problem.active])
        goes_on = [model.boolean() for _ in range(last)]
        spared = self._spare_long_pieces(longest, goes_on)
        before: int | None = None
        for slot in range(min(deep, default=last), last):
            for terms, less in self._goings_on(taken, slot):
                model.raise_to(goes_on[slot], terms, less)
            focus = model.integer(most)
            terms = [(x, 1) for x in deep.get(slot, ())] + [(x, -n) for x, n in spared.get(slot, ())]
            if before is not None:
                terms += [(before, 1), (goes_on[slot], most)]
            model.raise_to(focus, terms, 0 if before is None else most)
            over = model.integer(most, weights.FOCUS_RUN_SLOT)
            ends = [] if slot + 1 == last else [(goes_on[slot + 1], -most)]
            model.raise_to(over, [(focus, 1), *ends], longest)
            before = focus

    def _goings_on(self, taken: BySlot, slot: int) -> list[tuple[Sum, int]]:
        """Return what makes a run go on at a slot, as sums with what has to be taken off each."""
        there = [self._count_taken(taken, at) for at in (slot - 1, slot, slot + 1)]
        (left, known_left), (here, known_here), (right, known_right) = there
        return [(here, -known_here), ([*left, *right], 1 - known_left - known_right)]

    def _count_taken(self, taken: BySlot, slot: int) -> tuple[Sum, int]:
        """Return the pieces that take a slot, or one if it is taken anyway; none is a pause outside of the axis."""
        known = not 0 <= slot < self.problem.axis.slots or bool(self.problem.restless >> slot & 1)
        return ([], 1) if known else ([(x, 1) for x in taken.get(slot, ())], 0)

    def _spare_long_pieces(self, longest: int, goes_on: list[int]) -> dict[int, list[tuple[int, int]]]:
        """Return by last slot the pieces that may be spared, with their slots beyond the longest; one in a run."""
        spared: dict[int, list[tuple[int, int]]] = {}
        for m in self.problem.groups[self.problem.deep]:
            for (start, n), x in self.items[m].at.items():
                if n > longest:
                    spare = self.model.boolean()
                    self.model.within([(spare, 1), (x, -1)], None, 0)
                    spared.setdefault(start + n - 1, []).append((spare, n - longest))
        before: int | None = None
        for slot in range(min(spared, default=len(goes_on)), len(goes_on)):
            number = self.model.boolean()
            terms = [(spare, 1) for spare, _ in spared.get(slot, ())]
            if before is not None:
                terms += [(before, 1), (goes_on[slot], 1)]
            self.model.raise_to(number, terms, 0 if before is None else 1)
            before = number
        return spared

    # --- what pieces do at slots ---

    def _by_slot(self, members: Iterable[int], on: int, reached: Any) -> BySlot:
        """Return the pieces that begin on certain slots by the slots that each reaches."""
        slots: BySlot = {}
        for member in sorted(members):
            for (start, length), x in self.items[member].at.items():
                if on >> start & 1:
                    for slot in reached(start, length):
                        slots.setdefault(slot, []).append(x)
        return slots

    def _mark_begun(self, members: Iterable[int], on: int) -> dict[int, int]:
        """Return variables that say, by slot, that a piece began there or before."""
        return self._chain(self._by_slot(members, on, _start), 1)

    def _mark_unended(self, members: Iterable[int], on: int) -> dict[int, int]:
        """Return variables that say, by slot, that a piece ends later."""
        return self._chain(self._last_slots(members, on), -1)

    def _count_begun(self, pieces: _Pieces, on: int) -> dict[int, int]:
        """Return by slot how many pieces of an item began there or before."""
        key = pieces.item.index, on, 1
        if key not in self._counts:
            self._counts[key] = self._chain(self._by_slot([key[0]], on, _start), 1, pieces.item.bounds.most)
        return self._counts[key]

    def _count_unended(self, pieces: _Pieces, on: int) -> dict[int, int]:
        """Return by slot how many pieces of an item end later."""
        key = pieces.item.index, on, -1
        if key not in self._counts:
            self._counts[key] = self._chain(self._last_slots([key[0]], on), -1, pieces.item.bounds.most)
        return self._counts[key]

    def _last_slots(self, members: Iterable[int], on: int) -> BySlot:
        return {end - 1: literals for end, literals in self._by_slot(members, on, _end).items()}

    def _chain(self, events: BySlot, step: int, most: int | None = None) -> dict[int, int]:
        """Return by slot whether an event was reached, or how many were, of at most so many."""
        chain: dict[int, int] = {}
        if events:
            last = self.problem.axis.slots if step > 0 else -1
            before: int | None = None
            for slot in range(min(events) if step > 0 else max(events), last, step):
                reached = [(x, 1) for x in events.get(slot, ())]
                number = self.model.integer(most or 1)
                if before is not None and most is not None:
                    self.model.raise_to(number, [(before, 1), *reached])
                elif before is not None:
                    self.model.raise_to(number, [(before, 1)])
                if reached and (before is None or most is None):
                    self.model.raise_to(number, reached)
                chain[slot] = before = number
        return chain

    def _usage(self, cap: Cap) -> Iterator[tuple[Sum, Sum, tuple[int, int]]]:
        """Yield the slots and blocks of a cap's items for each day, and what is there already."""
        for on, taken in zip(cap.days, cap.taken, strict=True):
            if on:
                pieces = [
                    (x, n) for m in sorted(cap.members) for (start, n), x in self.items[m].at.items() if on >> start & 1
                ]
                yield pieces, [(x, 1) for x, _ in pieces], taken


def _lengths(item: Item) -> Iterator[tuple[int, int]]:
    """Yield the lengths that a piece may have, each with its points."""
    yield from item.lengths
    if item.bounds.most > 1:
        shortest = item.bounds.shortest
        yield from ((n, 0) for n in range(shortest, item.slots - shortest + 1))


def _start(start: int, _: int) -> tuple[int]:
    return (start,)


def _end(start: int, length: int) -> tuple[int]:
    return (start + length,)


def _list_covered(start: int, length: int) -> range:
    return range(start, start + length)
