"""From an instance's ground to the problem that is searched, with some of the musts left out where that is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from fateforger.constraints.kinds import Necessity
from fateforger.drafting import weights
from fateforger.drafting.axis import span, stretches, wall, window
from fateforger.drafting.ground import Ground
from fateforger.drafting.instance import Pin, Task
from fateforger.drafting.items import WORK, Item, Price
from fateforger.drafting.minutes import GRID
from fateforger.drafting.policy import Between
from fateforger.drafting.problem import Breather, Cap, Order, Problem
from fateforger.drafting.rules import Rule
from fateforger.errors import BadInput
from fateforger.plan import ET, Resolved, zone

USUAL_DEEP = 60
USUAL_SHALLOW = 30
SPLITTABLE = 60
LUNCH = "lunch"
SHUTDOWN = "shutdown"
_FULL_DAY = 288


def compiled(ground: Ground, relaxed: frozenset[str] = frozenset()) -> Problem:
    """The problem without the musts of those ids: constraints, tasks that are required, pinned blocks."""
    return _Compiler(ground, relaxed).problem()


def must_ids(ground: Ground) -> tuple[str, ...]:
    """The musts of an instance by their ids: constraints, then required tasks, then pinned blocks."""
    rules = (rule.id for rule in ground.rules if rule.must)
    tasks = (task.id for task in ground.instance.tasks if task.required)
    return (*rules, *tasks, *(pin.key for pin in ground.instance.pinned))


def minutes_of(task: Task, block: int) -> int:
    """What a task takes: its minutes, its blocks, or the usual time (S106)."""
    if task.minutes is not None:
        return task.minutes
    if task.blocks is not None:
        return task.blocks * block
    return USUAL_DEEP if task.type is ET.DEEP_WORK else USUAL_SHALLOW


def task_of(key: str, tasks: Iterable[str]) -> str | None:
    """Whose block a key names: a task's id, perhaps with the number of the piece."""
    ids = set(tasks)
    if key in ids:
        return key
    stem, _, number = key.rpartition("-")
    return stem if stem in ids and number.isdigit() else None


@dataclass
class _Compiler:
    ground: Ground
    relaxed: frozenset[str]
    items: list[Item] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.instance = self.ground.instance
        self.policy = self.instance.policy
        self.axis = self.ground.axis
        self.ids = [task.id for task in self.instance.tasks]
        self.rules = [rule for rule in self.ground.rules if not (rule.must and rule.id in self.relaxed)]
        self.pins = [pin for pin in self.instance.pinned if pin.key not in self.relaxed]
        self.meetings = self._near(0)

    def problem(self) -> Problem:
        pinned = {pin.key for pin in self.instance.pinned}
        for pin in self.pins:
            self._pin(pin)
        order = sorted(range(len(self.ids)), key=self._eagerness)
        ranks = {self.ids[place]: 127 - 63 * n // max(1, len(order)) for n, place in enumerate(order)}
        for task in self.instance.tasks:
            self._task(task, ranks[task.id], pinned)
        for block in self.ground.previous:
            if task_of(block.key, self.ids) is None and block.key not in pinned and not self._ours(block):
                self._own(block)
        self._meals()
        self._connect()
        for item in self.items:
            self._price(item)
        single = self.policy.one_thing_early
        return Problem(
            axis=self.axis,
            tz=self.instance.tz,
            days=self.ground.days,
            busy=self.ground.busy,
            items=self.items,
            rules=tuple(self.rules),
            breathers=tuple(self._breathers()),
            caps=tuple(self._caps()),
            orders=tuple(self._orders()),
            shallow_percent=self.policy.shallow_percent,
            deep_blocks=self.policy.deep_blocks,
            early=tuple(self._middle(n) for n in range(len(self.ground.days))) if single else (),
            in_force=frozenset(must_ids(self.ground)) - self.relaxed,
        )

    # --- items ---

    def _eagerness(self, place: int) -> tuple[bool, bool, int, int]:
        task = self.instance.tasks[place]
        return not task.one_thing, task.type is not ET.DEEP_WORK, task.priority, place

    def _middle(self, number: int) -> int:
        """The last slot of the first half of a day's frame, whatever the clock says now."""
        day = self.ground.days[number]
        return self.axis.slot(day.start + (day.end - day.start) / 2)

    def _add(self, **given: Any) -> Item:
        item = Item(index=len(self.items), **given)
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
        mask = self.axis.outward(start, start + timedelta(minutes=minutes))
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
            split = task.type is ET.DEEP_WORK and minutes_of(task, self.policy.block) >= SPLITTABLE
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
            domain=self.ground.free & self._allowed(task),
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
        self._lay(item, was)
        if self.ground.mending:
            self._mend(item)

    def _allowed(self, task: Task) -> int:
        allowed = span(0, self.axis.slots)
        if task.not_before is not None:
            allowed &= ~span(0, _ceil_slot(self, self.ground.instant(task.not_before)))
        if task.deadline is not None:
            allowed &= span(0, self.axis.slot(self.ground.instant(task.deadline)))
        return allowed

    def _ours(self, block: Resolved) -> bool:
        """What a draft makes anew: lunch, shutting down, ways."""
        return block.key.startswith((f"{LUNCH}-", f"{SHUTDOWN}-", "way-")) or block.event.type in {
            ET.BACKGROUND,
            ET.COMMUTE,
        }

    def _mend(self, item: Item) -> None:
        """A block of a plan that is mended: it takes the slots that it took, and moving costs more than anything."""
        item.moved, item.far = (weights.MENDED, 1), _FULL_DAY
        if len(item.previous) == 1:
            ((start, length),) = item.previous
            item.over += (length - item.slots) * GRID
            item.lengths = ((length, 0),)
            item.domain |= span(start, start + length) & ~self.ground.busy

    def _own(self, block: Resolved) -> None:
        """A block that the person has put on the plan themselves."""
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
        self._lay(item, [block])

    def _lay(self, item: Item, blocks: Sequence[Resolved]) -> None:
        """Where an item lay in the previous plan."""
        masks = [(self.axis.outward(b.start, b.end), b.key) for b in blocks]
        there = sorted((next(stretches(mask)), key) for mask, key in masks if mask)
        item.previous = tuple(piece for piece, _ in there)
        item.previous_keys = tuple(key for _, key in there)
        if there:
            item.reward += weights.STAYS

    def _meals(self) -> None:
        """Lunch and shutting down, on each day whose frame has them."""
        for day in self.ground.days:
            lunch = self.policy.lunch
            if lunch is not None:
                at = self.axis.slot(wall(day.date, lunch.start, zone(self.instance.tz)))
                if day.frame >> at & 1:
                    drift = lunch.drift // GRID
                    lengths = sorted(
                        {-(-m // GRID) for m in (lunch.minutes, lunch.minutes // 2, lunch.shortest) if m}, reverse=True
                    )
                    lengths = [n for n in lengths if n * GRID >= min(lunch.shortest, lunch.minutes)]
                    starts = span(at - drift, at + drift + 1)
                    self._daily(LUNCH, "Lunch", ET.REGENERATION, day.date.isoformat(), lengths, starts, at)
            if self.policy.shutdown:
                slots = -(-self.policy.shutdown // GRID)
                end = self.axis.slot(day.end)
                starts = span(end - 24, end - slots + 1)
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
        self._lay(item, [b for b in self.ground.previous if b.key == key])

    # --- what was said ---

    def _connect(self) -> None:
        """What comes after what; what a required task needs is required as well."""
        self._follow()
        needed = {n for item in self.items if item.required for n in item.needs}
        while more := {n for i in needed for n in self.items[i].needs} - needed:
            needed |= more
        for index in needed:
            self.items[index].required = True

    def _follow(self) -> None:
        places = {item.task: item.index for item in self.items if item.task is not None and not item.pinned}
        pinned: dict[str, list[int]] = {}
        for item in self.items:
            if item.pinned and item.task is not None:
                pinned.setdefault(item.task, []).append(item.index)
        for task in self.instance.tasks:
            for other in task.after:
                if task.id in places and other in places:
                    self._link(places[other], places[task.id], needs=True)
                for first in pinned.get(other, ()):
                    if task.id in places:
                        self._link(first, places[task.id], needs=True)
                for then in pinned.get(task.id, ()):
                    if other in places:
                        self._link(places[other], then, needs=False)

    def _link(self, first: int, then: int, *, needs: bool) -> None:
        self.items[first].behind = (*self.items[first].behind, then)
        self.items[then].before = (*self.items[then].before, first)
        if needs:
            self.items[then].needs = (*self.items[then].needs, first)

    def _near(self, slots: int) -> int:
        """Within so many slots of a meeting, and not in one."""
        near = within = 0
        for event in self.ground.events:
            if event.kind is ET.MEETING:
                within |= event.mask
                near |= event.mask << slots
                for n in range(slots + 1):
                    near |= event.mask >> n
                    near |= event.mask << n
        return near & ~within

    def _price(self, item: Item) -> None:
        """What each rule means for an item: cuts where it may lie, or prices."""
        prices: list[Price] = []
        for rule in self.rules:
            if rule.around:
                self._close(item, rule, self._near(rule.around) & rule.on, prices)
            if rule.about(item.kind, item.task):
                self._hold(item, rule, prices)
        if item.slots < item.shortest and item.most_pieces > 1:
            item.most_pieces = 1
        task = next((t for t in self.instance.tasks if t.id == item.task), None)
        everywhere = span(0, self.axis.slots)
        if task is not None and task.energy:
            prices.append(Price(everywhere & ~self._windows(task.energy), weights.ENERGY_SLOT, rule="energy"))
        if self.policy.focus and item.deep:
            prices.append(Price(everywhere & ~self._windows(self.policy.focus), weights.FOCUS_SLOT, rule="focus"))
        if self.policy.around_meetings and item.work:
            near = self._near(-(-self.policy.around_meetings // GRID))
            prices.append(Price(near, weights.BREAK_SLOT, rule="around_meetings"))
        item.prices = tuple(prices)
        item.clear = ~self.ground.busy & span(0, self.axis.slots + _FULL_DAY)

    def _hold(self, item: Item, rule: Rule, prices: list[Price]) -> None:
        self._close(item, rule, rule.closed | self._beside_meetings(item, rule), prices)
        if rule.must:
            item.gap = max(item.gap, rule.gap)
        if rule.whole:
            item.most_pieces = 1
        if rule.longest is not None:
            if rule.must:
                item.longest = min(item.longest, rule.longest)
            item.comfort = rule.longest if item.comfort is None else min(item.comfort, rule.longest)
        if rule.shortest is not None:
            item.shortest = max(item.shortest, rule.shortest)
            if rule.must and item.slots < rule.shortest:
                item.domain = 0

    def _close(self, item: Item, rule: Rule, closed: int, prices: list[Price]) -> None:
        if rule.must:
            item.domain &= ~closed
        elif closed:
            slot, base = _soft(rule)
            prices.append(Price(closed, slot, base, rule.id))

    def _beside_meetings(self, item: Item, rule: Rule) -> int:
        """Where an order of types that names meetings leaves no room for an item."""
        if ET.MEETING not in rule.order or item.kind not in rule.order or item.kind is ET.MEETING:
            return 0
        closed = 0
        first = rule.order.index(item.kind) < rule.order.index(ET.MEETING)
        for day in self.ground.days:
            masks = [e.mask for e in self.ground.events if e.kind is ET.MEETING and e.mask & day.slots & rule.on]
            if masks and first:
                closed |= day.slots & ~span(0, min((m & -m).bit_length() - 1 for m in masks))
            elif masks:
                closed |= day.slots & span(0, max(m.bit_length() for m in masks))
        return closed

    def _windows(self, windows: Sequence[Between]) -> int:
        mask = 0
        for day in self.ground.days:
            for near in (-1, 0, 1):
                on = day.date + timedelta(days=near)
                for each in windows:
                    mask |= window(self.axis, on, each.start, each.end, zone(self.instance.tz), whole=True)
        return mask

    # --- what items share ---

    def _of(self, rule: Rule) -> frozenset[int]:
        return frozenset(i.index for i in self.items if rule.about(i.kind, i.task))

    def _breathers(self) -> Iterator[Breather]:
        deep = frozenset(i.index for i in self.items if i.deep)
        work = frozenset(i.index for i in self.items if i.kind in WORK)
        meals = frozenset(i.index for i in self.items if i.id.startswith(f"{LUNCH}-"))
        policy = self.policy
        behind = ((deep, policy.after_deep, "after_deep"), (meals, policy.after_meal, "after_meal"))
        for members, minutes, name in behind:
            if members and minutes:
                yield Breather(members, work, -(-minutes // GRID), weights.BREAK_SLOT, name)
        if len(deep) > 0 and policy.before_deep:
            slots = -(-policy.before_deep // GRID)
            yield Breather(deep, work, slots, weights.BREAK_SLOT, "before_deep", ahead=True)
        everyone = frozenset(range(len(self.items)))
        for rule in self.rules:
            if rule.gap and not rule.must:
                slot, base = _soft(rule)
                yield Breather(self._of(rule), everyone, rule.gap, slot, rule.id, base=base)

    def _caps(self) -> Iterator[Cap]:
        for rule in self.rules:
            if rule.most is None and rule.least is None and rule.count is None:
                continue
            members = self._of(rule)
            if not rule.types:
                members = frozenset(i for i in members if self.items[i].kind not in {ET.REGENERATION, ET.BUFFER})
            days = tuple(day.slots & rule.on for day in self.ground.days)
            taken = tuple(self._taken(rule, on) for on in days)
            slot, base = _soft(rule)
            yield Cap(
                rule.id,
                members,
                days,
                taken,
                None if rule.most is None else rule.most,
                rule.least,
                rule.count,
                None if rule.must else slot,
                base,
            )

    def _taken(self, rule: Rule, on: int) -> tuple[int, int]:
        """What is there already of a rule's types, in slots and blocks."""
        masks = [e.mask for e in (*self.ground.events, *self.ground.ways) if e.kind in rule.types and not e.late]
        masks += [
            self.axis.outward(b.start, b.end)
            for b in self.ground.past
            if rule.about(b.event.type, task_of(b.key, self.ids))
        ]
        there = [mask & on for mask in masks if mask & on]
        union = 0
        for mask in there:
            union |= mask
        return union.bit_count(), len(there)

    def _orders(self) -> Iterator[Order]:
        for rule in self.rules:
            days = tuple(day.slots & rule.on for day in self.ground.days)
            points = None if rule.must else _soft(rule)[1]
            for n, first in enumerate(rule.order):
                for then in rule.order[n + 1 :]:
                    yield Order(rule.id, self._kinds(first, rule), self._kinds(then, rule), days, points)
            if not rule.order and rule.kind is not None and rule.kind.value == "sequencing":
                for n, one in enumerate(rule.tasks):
                    for other in rule.tasks[n + 1 :]:
                        yield Order(rule.id, self._tasks(one), self._tasks(other), days, points)

    def _kinds(self, kind: ET, rule: Rule) -> frozenset[int]:
        return frozenset(i.index for i in self.items if i.kind is kind and (not rule.tasks or i.task in rule.tasks))

    def _tasks(self, task: str) -> frozenset[int]:
        return frozenset(i.index for i in self.items if i.task == task)


def _soft(rule: Rule) -> tuple[int, int]:
    """Points for each slot, and once."""
    if rule.necessity is Necessity.SHOULD:
        return weights.SHOULD_SLOT, weights.SHOULD
    return weights.PREFER_SLOT, weights.PREFER


def _ceil_slot(compiler: _Compiler, when: datetime) -> int:
    axis = compiler.axis
    slot = axis.slot(when)
    return slot if axis.when(slot) == when else slot + 1
