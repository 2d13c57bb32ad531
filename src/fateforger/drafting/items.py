"""Items to be placed: pinned blocks, tasks, the person's own blocks, lunch, and shutdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from fateforger.drafting import weights
from fateforger.drafting.axis import GRID, Axis, run_starts, slot_range, slots_of, stretches, wall_instant
from fateforger.drafting.context import LUNCH, SHUTDOWN, DraftContext, minutes_of, task_of
from fateforger.drafting.instance import Pin, Task
from fateforger.errors import BadInput
from fateforger.planning.plan import ET, Resolved
from fateforger.planning.timing import zone

Piece = tuple[int, int]
"""First slot and number of slots."""
Pieces = tuple[Piece, ...]
Mark = tuple[int, int, tuple[tuple[int, int], ...]]
"""Slots covered by pieces of an item, slots kept free after them, and slots wanted free by breather."""
WORK = frozenset({ET.DEEP_WORK, ET.SHALLOW_WORK})


@dataclass(frozen=True, slots=True)
class Price:
    """A price for covering slots.

    A block costs ``slot`` points for each slot of ``where`` that it covers, and ``base`` once for covering any.
    ``rule`` is the cause.
    """

    where: int
    slot: int
    base: int = 0
    rule: str = ""


@dataclass(slots=True, eq=False)
class Item:
    """An item to be placed.

    ``lengths`` are the slots that it may take in one piece, each with its points; the first is the full length.
    ``domain`` are the slots where it may lie. ``firm`` are the only slots at which a pinned or fixed item may begin.
    """

    index: int
    id: str
    task: str | None
    title: str
    kind: ET
    lengths: tuple[tuple[int, int], ...]
    reward: int
    rank: int
    domain: int
    prices: tuple[Price, ...] = ()
    wish: tuple[int, int] | None = None
    """Preferred start, with the points for each slot away from it."""
    firm: int | None = None
    most_pieces: int = 1
    shortest: int = 1
    longest: int = 288
    comfort: int | None = None
    """Length above which a piece costs points for each slot more."""
    gap: int = 0
    """Slots after it that must stay free."""
    clear: int = -1
    """Slots that may follow it within its gap: all but busy ones."""
    required: bool = False
    pinned: bool = False
    one: bool = False
    needs: tuple[int, ...] = ()
    before: tuple[int, ...] = ()
    """Items that, where placed, must end before it begins."""
    behind: tuple[int, ...] = ()
    previous: Pieces = ()
    previous_keys: tuple[str, ...] = ()
    moved: tuple[int, int] = (weights.MOVED, weights.MOVED_SLOT)
    """Points for a piece that moved, and for each slot that it moved."""
    far: int = weights.MOVED_FAR
    """Number of slots beyond which a longer move costs no more."""
    horizon: int = 0
    """Slot after all days."""
    over: int = 0
    """Minutes by which its slots exceed its length."""
    key: str | None = None
    notes: str = ""
    costs: dict[Pieces, int] = field(default_factory=dict, repr=False)
    """Cache of the cost of its pieces."""
    marks: dict[Pieces, Mark] = field(default_factory=dict, repr=False)
    """Cache of the slots that its pieces take."""
    _tables: dict[int, tuple[dict[int, int], list[tuple[int, int]]]] = field(default_factory=dict, repr=False)

    @property
    def slots(self) -> int:
        return self.lengths[0][0]

    @property
    def smallest(self) -> tuple[int, int]:
        """Fewest slots that it takes in total, and in a row."""
        least = self.lengths[-1][0]
        return least, least if self.most_pieces == 1 else min(least, self.shortest)

    @property
    def deep(self) -> bool:
        return self.kind is ET.DEEP_WORK

    @property
    def work(self) -> bool:
        return self.kind in WORK

    def starts(self, length: int) -> int:
        """Return the slots at which a piece of that length may begin on an otherwise empty day."""
        if length > self.longest:
            return 0
        at = run_starts(self.domain, length)
        if self.gap:
            at &= run_starts(self.clear, self.gap) >> length
        return at if self.firm is None else at & self.firm

    def prices_at(self, length: int) -> dict[int, int]:
        """Return the cost of a piece of that length at each start, in fractions of a point."""
        return self._table(length)[0]

    def levels(self, length: int) -> list[tuple[int, int]]:
        """Return the costs of a piece in whole points with their starts, the cheapest first."""
        return self._table(length)[1]

    def _table(self, length: int) -> tuple[dict[int, int], list[tuple[int, int]]]:
        table = self._tables.get(length)
        if table is None:
            prices: dict[int, int] = {}
            levels: dict[int, int] = {}
            for start in slots_of(self.starts(length)):
                points = self.points(start, length)
                prices[start] = points * weights.SCALE + start * length * self.rank
                levels[points] = levels.get(points, 0) | 1 << start
            table = self._tables[length] = prices, sorted(levels.items())
        return table

    def points(self, start: int, length: int) -> int:
        """Return the cost of a piece in whole points, without the price of a later start."""
        covered = ((1 << length) - 1) << start
        points = 0
        for price in self.prices:
            hit = (covered & price.where).bit_count()
            if hit:
                points += price.base + hit * price.slot
        if self.wish is not None:
            points += abs(start - self.wish[0]) * self.wish[1]
        if self.comfort is not None and length > self.comfort:
            points += (length - self.comfort) * weights.LONG_SLOT
        if self.previous:
            points += self._move_cost(start, length)
        return points

    def _move_cost(self, start: int, length: int) -> int:
        if (start, length) in self.previous:
            return 0
        away = min(abs(start - was) for was, _ in self.previous)
        return self.moved[0] + min(away, self.far) * self.moved[1]

    def cost_of_omission(self) -> int:
        """Return the cost of leaving it out.

        It is priced as if it lay after everything, so the first of equal items stays.
        """
        return self.reward * weights.SCALE + self.horizon * self.slots * self.rank


def covered_slots(placed: Iterable[Pieces]) -> int:
    """Return the slots that these pieces cover."""
    covered = 0
    for pieces in placed:
        for start, length in pieces:
            covered |= ((1 << length) - 1) << start
    return covered


_SPLITTABLE = 60
_FULL_DAY = 288


def collect_items(ground: DraftContext, relaxed: frozenset[str]) -> list[Item]:
    """Return the items of a day, without relaxed pins and requirements."""
    return _Items(ground, relaxed).all()


@dataclass
class _Items:
    ground: DraftContext
    relaxed: frozenset[str]
    items: list[Item] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.instance = self.ground.instance
        self.policy = self.instance.policy
        self.axis = self.ground.axis
        self.ids = [task.id for task in self.instance.tasks]

    def all(self) -> list[Item]:
        pinned = {pin.key for pin in self.instance.pinned}
        for pin in self.instance.pinned:
            if pin.key not in self.relaxed:
                self._pin(pin)
        order = sorted(range(len(self.ids)), key=self._eagerness)
        ranks = {self.ids[place]: 127 - 63 * n // max(1, len(order)) for n, place in enumerate(order)}
        for task in self.instance.tasks:
            self._task(task, ranks[task.id], pinned)
        for block in self.ground.previous:
            if task_of(block.key, self.ids) is None and block.key not in pinned and not _is_generated(block):
                self._add_own(block)
        self._meals()
        return self.items

    def _eagerness(self, place: int) -> tuple[bool, bool, int, int]:
        task = self.instance.tasks[place]
        return not task.one_thing, task.type is not ET.DEEP_WORK, task.priority, place

    def _add(self, **given: Any) -> Item:
        item = Item(index=len(self.items), horizon=self.axis.slots, **given)
        self.items.append(item)
        return item

    def _pin(self, pin: Pin) -> None:
        was = next((b for b in (*self.ground.previous, *self.ground.past) if b.key == pin.key), None)
        if was is not None and was in self.ground.past and pin.start is None:
            return
        if pin.start is not None and pin.minutes is not None:
            start, minutes = self.ground.instant(pin.start), pin.minutes
        elif was is not None:
            start, minutes = was.start, pin.minutes or was.minutes
        else:
            raise BadInput(f"The pinned block “{pin.key}” is not in the previous plan; give its start and minutes.")
        mask = self.axis.slots_touching(start, start + timedelta(minutes=minutes))
        length = mask.bit_count()
        task = pin.task or task_of(pin.key, self.ids)
        self._add(
            id=pin.key,
            task=task,
            title=pin.title or (was.event.name if was else self._title(task) or pin.key),
            kind=pin.type or (was.event.type if was else self._kind(task)),
            lengths=((length, 0),),
            reward=0,
            rank=0,
            domain=mask & ~self.ground.busy,
            firm=mask & -mask,
            longest=max(1, length),
            required=True,
            pinned=True,
            over=length * GRID - minutes,
            key=pin.key,
            notes=was.event.description if was else "",
        )

    def _title(self, task: str | None) -> str | None:
        return next((t.title for t in self.instance.tasks if t.id == task), None)

    def _kind(self, task: str | None) -> ET:
        return next((t.type for t in self.instance.tasks if t.id == task), ET.DEEP_WORK)

    def _task(self, task: Task, rank: int, pinned: set[str]) -> None:
        done = sum(b.minutes for b in self.ground.past if task_of(b.key, self.ids) == task.id)
        done += sum(i.slots * GRID - i.over for i in self.items if i.pinned and i.task == task.id)
        minutes = minutes_of(task, self.policy.block) - done
        if minutes <= 0:
            return
        slots = -(-minutes // GRID)
        split = task.splittable
        if split is None:
            split = task.type is ET.DEEP_WORK and minutes_of(task, self.policy.block) >= _SPLITTABLE
        was = [b for b in self.ground.previous if task_of(b.key, self.ids) == task.id and b.key not in pinned]
        reward, slot = weights.PLACED, weights.PLACED_SLOT[task.priority]
        if task.deadline is not None:
            slot += weights.DUE_SLOT
        if task.one_thing:
            reward, slot = weights.ONE_THING, weights.ONE_THING_SLOT
        firm = None if task.start is None else 1 << max(0, self.axis.slot(self.ground.instant(task.start)))
        item = self._add(
            id=task.id,
            task=task.id,
            title=task.title,
            kind=task.type,
            lengths=((slots, 0),),
            reward=reward + slot * slots,
            rank=rank,
            domain=self.ground.free & self._allowed_slots(task),
            firm=firm,
            most_pieces=task.max_pieces if split else 1,
            shortest=-(-task.min_chunk // GRID),
            longest=_FULL_DAY,
            comfort=self.policy.longest_focus // GRID
            if split and self.policy.longest_focus and task.type is ET.DEEP_WORK
            else None,
            required=task.required and task.id not in self.relaxed,
            one=task.one_thing,
            over=slots * GRID - minutes,
            notes=task.notes,
        )
        self._set_previous(item, was)
        if self.ground.mending:
            self._hold_in_place(item)

    def _allowed_slots(self, task: Task) -> int:
        allowed = slot_range(0, self.axis.slots)
        if task.not_before is not None:
            allowed &= ~slot_range(0, _ceil_slot(self.axis, self.ground.instant(task.not_before)))
        if task.deadline is not None:
            allowed &= slot_range(0, self.axis.slot(self.ground.instant(task.deadline)))
        return allowed

    def _hold_in_place(self, item: Item) -> None:
        """Make a block of a repaired plan keep its slots; moving costs more than anything else."""
        item.moved, item.far = (weights.MENDED, 1), _FULL_DAY
        if len(item.previous) == 1:
            ((start, length),) = item.previous
            item.over += (length - item.slots) * GRID
            item.lengths = ((length, 0),)
            item.domain |= slot_range(start, start + length) & ~self.ground.busy

    def _add_own(self, block: Resolved) -> None:
        """Add a block that the person put on the plan."""
        slots = -(-block.minutes // GRID)
        item = self._add(
            id=block.key,
            task=None,
            title=block.event.name,
            kind=block.event.type,
            lengths=((slots, 0),),
            reward=weights.PLACED + weights.PLACED_SLOT[1] * slots,
            rank=64,
            domain=self.ground.free,
            over=slots * GRID - block.minutes,
            key=block.key,
            notes=block.event.description,
        )
        self._set_previous(item, [block])

    def _set_previous(self, item: Item, blocks: Sequence[Resolved]) -> None:
        """Record the place of an item in the previous plan."""
        masks = [(self.axis.slots_touching(b.start, b.end), b.key) for b in blocks]
        there = sorted((next(stretches(mask)), key) for mask, key in masks if mask)
        item.previous = tuple(piece for piece, _ in there)
        item.previous_keys = tuple(key for _, key in there)
        if there:
            item.reward += weights.STAYS

    def _meals(self) -> None:
        """Add lunch and shutdown, on each day whose frame has room for them."""
        for day in self.ground.days:
            lunch = self.policy.lunch
            if lunch is not None:
                at = self.axis.slot(wall_instant(day.date, lunch.start, zone(self.instance.tz)))
                if day.frame >> at & 1:
                    drift = lunch.drift // GRID
                    lengths = sorted(
                        {-(-m // GRID) for m in (lunch.minutes, lunch.minutes // 2, lunch.shortest) if m}, reverse=True
                    )
                    lengths = [n for n in lengths if n * GRID >= min(lunch.shortest, lunch.minutes)]
                    starts = slot_range(at - drift, at + drift + 1)
                    self._daily(LUNCH, "Lunch", ET.REGENERATION, day.date.isoformat(), lengths, starts, at)
            if self.policy.shutdown:
                slots = -(-self.policy.shutdown // GRID)
                end = self.axis.slot(day.end)
                starts = slot_range(end - 24, end - slots + 1)
                self._daily(SHUTDOWN, "Shut down", ET.PLAN_REVIEW, day.date.isoformat(), [slots], starts, end - slots)

    def _daily(self, what: str, title: str, kind: ET, day: str, lengths: list[int], starts: int, wish: int) -> None:
        key = f"{what}-{day}"
        if any(b.key == key for b in self.ground.past) or any(i.key == key for i in self.items):
            return
        item = self._add(
            id=key,
            task=None,
            title=title,
            kind=kind,
            lengths=tuple((n, weights.LUNCH_SHORT * place) for place, n in enumerate(lengths)),
            reward=weights.LUNCH if what == LUNCH else weights.SHUTDOWN,
            rank=64,
            domain=self.ground.free,
            firm=starts,
            wish=(wish, weights.LUNCH_SLOT if what == LUNCH else 1),
            key=key,
        )
        self._set_previous(item, [b for b in self.ground.previous if b.key == key])


def _is_generated(block: Resolved) -> bool:
    """Check whether a draft generates the block itself: lunch, shutdown, and commutes."""
    return block.key.startswith((f"{LUNCH}-", f"{SHUTDOWN}-", "way-")) or block.event.type in {
        ET.BACKGROUND,
        ET.COMMUTE,
    }


def _ceil_slot(axis: Axis, when: datetime) -> int:
    slot = axis.slot(when)
    return slot if axis.when(slot) == when else slot + 1
