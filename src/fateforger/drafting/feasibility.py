"""Feasibility of the hard rules by an exact search in time order, and minimal conflicts between musts.

It is enough to search placements pushed to the left: each block begins where a stretch that is open to it begins, or
right after the block before it. A state found impossible, with the same items left from the same moment on, is
remembered.

A minimal set of conflicting musts is found by QuickXplain: its members cannot all be kept, but without any one of them
the rest can.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from fateforger.drafting.axis import slot_range, spread
from fateforger.drafting.compilation import compile_problem
from fateforger.drafting.context import DraftContext, must_ids
from fateforger.drafting.model import Member, MustConflict
from fateforger.drafting.problem import Item, Placed, Problem, empty_placement
from fateforger.memory.vocabulary import Status
from fateforger.text import format_date, format_length, join_words, quote_title
from fateforger.text import gettext as _

NODES = 6_000


Feasibility = Literal["yes", "no", "unknown"]
"""Result of a feasibility check; unknown means that the steps ran out."""


class _OutOfSteps(Exception):
    pass


def check_feasibility(problem: Problem, nodes: int = NODES) -> tuple[Feasibility, Placed | None]:
    """Search a placement of all required items that satisfies every hard rule.

    Other items are placed only where a rule demands more.
    """
    search = _ExactSearch(problem, nodes)
    try:
        placed = search.run()
    except _OutOfSteps:
        return "unknown", None
    return ("no", None) if placed is None else ("yes", placed)


Remaining = tuple[tuple[int, int, int], ...]
"""Items still to be placed, as index, slots, and most pieces, by deadline."""


@dataclass
class _ExactSearch:
    problem: Problem
    nodes: int
    infeasible: set[tuple[int, Remaining, tuple[int, ...]]] = field(default_factory=set)

    def run(self) -> Placed | None:
        problem = self.problem
        self.minimums = [cap for cap in problem.caps if cap.over is None and cap.least is not None]
        hard = [cap for cap in problem.caps if cap.over is None]
        self.maximums = [cap for cap in hard if cap.most is not None or cap.count is not None]
        wanted = {i.index for i in problem.items if i.required}
        self.required = frozenset(wanted)
        for cap in self.minimums:
            wanted |= cap.members
        while more := {n for i in wanted for n in problem.items[i].precedence.needs} - wanted:
            wanted |= more
        items = [problem.items[i] for i in wanted]
        if any(not self._is_possible(item) for item in items if item.required):
            return None
        self.starts: dict[tuple[int, int], int] = {}
        self.open = {item.index: self._open(item) for item in items}
        self._tighten(items)
        self.symmetries = {item.index: self._equivalence_key(item) for item in items}
        items.sort(key=lambda i: (not i.required, self.open[i.index].bit_length(), -i.slots, i.index))
        left = tuple((item.index, item.slots, item.bounds.most) for item in items)
        return self._place_from(0, left, empty_placement(problem.items), 0)

    def _tighten(self, items: Sequence[Item]) -> None:
        """Tighten the domain of an item that precedes a required one."""
        required = [item for item in items if item.required]
        pairs = [(n, item.index) for item in required for n in item.precedence.needs if n in self.open]
        always = (sum(day.slots for day in self.problem.days),)
        for order in self.problem.orders:
            if order.points is None and order.days == always:
                ends = ((f, t) for f in order.first & self.required for t in order.then & self.required)
                pairs += [pair for pair in ends if pair[0] != pair[1]]
        for _round in range(len(required)):
            for first, then in pairs:
                latest = self.open[then].bit_length() - self.problem.items[then].slots
                self.open[first] &= slot_range(0, latest)

    def _open(self, item: Item) -> int:
        """Return the slots that an item can cover at all."""
        if item.bounds.most > 1:
            return item.domain
        starts = self._start_slots(item, item.slots)
        return spread(starts, item.slots)

    def _is_possible(self, item: Item) -> bool:
        if item.starts(item.slots):
            return True
        return item.bounds.most > 1 and bool(item.starts(item.bounds.shortest))

    def _place_from(self, at: int, left: Remaining, placed: Placed, kept: int) -> Placed | None:
        """Place the remaining items after slot ``at``; ``kept`` slots after the last block stay free."""
        if not any(i in self.required or placed[i] for i, _, _ in left) and not self.problem.violated_caps(placed):
            return placed
        self.nodes -= 1
        if self.nodes < 0:
            raise _OutOfSteps
        if not self._can_finish(at + kept, left, placed):
            return None
        key = (at + kept, left, self._state(placed))
        if key in self.infeasible:
            return None
        for place, start, length in self._moves(at + kept, left, placed):
            index, slots, most = left[place]
            rest = ((index, slots - length, most - 1),) if slots > length else ()
            then = list(placed)
            then[index] = (*then[index], (start, length))
            after = (*left[:place], *rest, *left[place + 1 :])
            found = self._place_from(start + length, after, then, self.problem.items[index].gap)
            if found is not None:
                return found
        self.infeasible.add(key)
        return None

    def _state(self, placed: Placed) -> tuple[int, ...]:
        """Return the rest of the state that matters.

        It holds the use of each hard cap per day and, when there are several days, the days of ordered items.
        """
        used: list[int] = []
        if len(self.problem.days) > 1:
            for order in self.problem.orders:
                used += [self.problem.day_of(s) for m in sorted(order.first | order.then) for s, _ in placed[m]]
        for cap in (*self.maximums, *self.minimums):
            for on in cap.days:
                pieces = [n for m in sorted(cap.members) for s, n in placed[m] if on >> s & 1]
                used += [sum(pieces), len(pieces)]
        return tuple(used)

    def _can_finish(self, at: int, left: Remaining, placed: Placed) -> bool:
        """Check whether there is enough open time up to each deadline, counted together."""
        needed = union = 0
        for index, slots, *_rest in left:
            if index in self.required:
                domain = self.open[index] >> at
                union |= domain
                needed += slots
                if domain.bit_count() < slots or union.bit_count() < needed:
                    return False
        return (not self.minimums or self._can_reach_minimums(left, placed)) and (
            not self.maximums or self._has_room(left, placed)
        )

    def _has_room(self, left: Remaining, placed: Placed) -> bool:
        """Check whether the caps leave room for all required items still to be placed."""
        for cap in self.maximums:
            coming = [slots for index, slots, _ in left if index in cap.members and index in self.required]
            if not coming or not all(cap.days):
                continue
            used = [self.problem.usage(cap, placed, day) for day in range(len(cap.days))]
            if cap.most is not None and sum(max(0, cap.most - slots) for slots, _ in used) < sum(coming):
                return False
            if cap.count is not None and sum(max(0, cap.count - blocks) for _, blocks in used) < len(coming):
                return False
        return True

    def _can_reach_minimums(self, left: Remaining, placed: Placed) -> bool:
        """Check whether the remaining items can still reach the minimum of each rule that has one."""
        for cap in self.minimums:
            more = sum(slots for index, slots, _ in left if index in cap.members)
            for day, on in enumerate(cap.days):
                if on:
                    there = sum(n for m in cap.members for s, n in placed[m] if on >> s & 1) + cap.taken[day][0]
                    if there + more < (cap.least or 0):
                        return False
        return True

    def _moves(self, begin: int, left: Remaining, placed: Placed) -> Iterator[tuple[int, int, int]]:
        """Yield the possible next pieces: position in ``left``, start, and length."""
        waiting = {index for index, _, _ in left if index in self.required}
        seen: set[tuple[int, ...]] = set()
        for place, (index, slots, most) in enumerate(left):
            if self.symmetries[index] in seen:
                continue
            seen.add(self.symmetries[index])
            item = self.problem.items[index]
            if waiting.intersection(item.precedence.predecessors):
                continue
            bound = item.coupling.constrained
            for length in self._lengths(item, slots, most):
                for start in self._starts(self._start_slots(item, length), begin):
                    if not bound or (
                        self.problem.is_ordered(placed, item, start, length)
                        and self.problem.has_room_in_caps(placed, item, start, length)
                    ):
                        yield place, start, length

    def _start_slots(self, item: Item, length: int) -> int:
        begins = self.starts.get((item.index, length))
        if begins is None:
            begins = self.starts[item.index, length] = item.starts(length)
        return begins

    def _equivalence_key(self, item: Item) -> tuple[int, ...]:
        """Return a key that is equal for interchangeable items."""
        plain = item.index in self.required and item.firm is None and item.bounds.most == 1
        if plain and not item.coupling.constrained:
            return item.slots, item.domain, item.gap
        return (-item.index - 1,)

    @staticmethod
    def _lengths(item: Item, slots: int, most: int) -> Iterator[int]:
        if item.bounds.most == 1:
            yield slots
            return
        if slots >= item.bounds.shortest or slots == item.slots:
            yield slots
        if most > 1:
            for length in range(min(slots - item.bounds.shortest, item.bounds.longest), item.bounds.shortest - 1, -1):
                if slots - length <= (most - 1) * item.bounds.longest:
                    yield length

    @staticmethod
    def _starts(starts: int, begin: int) -> Iterator[int]:
        """Yield ``begin`` if it is a start, and the start of each later stretch."""
        if starts >> begin & 1:
            yield begin
        heads = (starts & ~(starts << 1)) >> (begin + 1)
        at = begin + 1
        while heads:
            skip = (heads & -heads).bit_length() - 1
            at += skip
            yield at
            heads >>= skip + 1
            at += 1


_QUICK = 1_200
"""Steps per feasibility check while the set is narrowed down."""
_ASSUMED, _TASK, _SAID, _PINNED = range(4)


def find_conflict(
    context: DraftContext, relaxed: frozenset[str] = frozenset(), nodes: int = NODES
) -> MustConflict | None:
    """Return a minimal set of conflicting musts.

    Returns ``None`` when there is none, or none that ``nodes`` steps per check can prove.
    """
    musts = [must for must in must_ids(context) if must not in relaxed]

    def can_keep(some: Sequence[str], steps: int = _QUICK) -> bool:
        left_out = frozenset(musts).difference(some) | relaxed
        return check_feasibility(compile_problem(context, left_out), steps)[0] != "no"

    if can_keep(musts, nodes):
        return None
    members = _minimize(can_keep, [], [], musts)
    # An undecided quick check may leave too much in the set: check the few members for longer.
    for member in tuple(members):
        fewer = [other for other in members if other != member]
        if not can_keep(fewer, nodes):
            members = fewer
    described = [_describe_must(context, each) for each in members]
    told = [member for _, member in described]
    _, least = min(described, key=lambda each: each[0])
    return MustConflict(tuple(told), least.id, _sentence(told, least))


def _minimize(
    can_keep: Callable[[Sequence[str]], bool], kept: Sequence[str], added: Sequence[str], rest: list[str]
) -> list[str]:
    """Return the part of ``rest`` that is needed for the conflict with ``kept``.

    ``added`` is the newest part of ``kept``.
    """
    if added and not can_keep(kept):
        return []
    if len(rest) == 1:
        return rest
    one, other = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    second = _minimize(can_keep, [*kept, *one], one, other)
    first = _minimize(can_keep, [*kept, *second], second, one)
    return [*first, *second]


def _describe_must(context: DraftContext, must: str) -> tuple[tuple[int, int, float], Member]:
    """Return a must with its sort key: first assumed rules, then the least important task, stated rules, and pins."""
    rule = next((r for r in context.rules if r.id == must and r.must), None)
    if rule is not None:
        record = rule.told.constraint_record
        said = quote_title(rule.words)
        if rule.told.said_on is not None:
            said = _("{rule} (you said so on {day})", rule=said, day=format_date(rule.told.said_on))
        kind = _ASSUMED if record.status is Status.PROPOSED else _SAID
        member = Member(must, rule.words, said, _("let this rule go for the day"))
        return (kind, 0, 1.0 if record.confidence is None else record.confidence), member
    task = next((t for t in context.instance.tasks if t.id == must and t.required), None)
    if task is not None:
        long = format_length(task.length(context.instance.policy))
        title = quote_title(task.title)
        if task.deadline is None:
            said = _("{title} has to be done ({length})", title=title, length=long)
        else:
            due = f"{task.deadline:%H:%M}"
            said = _("{title} has to be done ({length}, due by {time})", title=title, length=long, time=due)
        return (_TASK, -task.priority, 0.0), Member(must, task.title, said, _("let it wait"))
    pin = next(p for p in context.instance.pinned if p.key == must)
    title = pin.title or next((b.event.name for b in context.previous if b.key == pin.key), pin.key)
    return (_PINNED, 0, 0.0), Member(
        must, title, _("{title} stays where it is", title=quote_title(title)), _("let it move")
    )


def _sentence(members: Sequence[Member], least: Member) -> str:
    if len(members) == 1:
        return _("There is no way to keep this on that day: {what}.", what=members[0].said)
    what = join_words([member.said for member in members])
    return _(
        "These cannot all be kept: {what}. The easiest to give up is {title}: {remedy}.",
        what=what,
        title=quote_title(least.words),
        remedy=least.remedy,
    )
