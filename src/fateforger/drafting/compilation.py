"""Compilation of a day into the problem: its items, their closed slots and prices, and what they share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Any

from fateforger.drafting import weights
from fateforger.drafting.axis import (
    PlannedDay,
    run_starts,
    slot_range,
    spread,
    stretches,
    wall_instant,
)
from fateforger.drafting.context import DailyLimits, DraftContext, SlotRule, must_ids
from fateforger.drafting.instance import LUNCH_TITLE, Between, Pin, Policy, Task
from fateforger.drafting.problem import (
    REST,
    Cap,
    Item,
    PieceBounds,
    Preferences,
    Price,
    Problem,
    SoftGap,
    Source,
)
from fateforger.drafting.routines import build_orders, members_of, open_hours, soft_points
from fateforger.errors import BadInput
from fateforger.memory.vocabulary import Necessity
from fateforger.planning.plan import ET, WORK, Resolved
from fateforger.planning.task_details import LUNCH, SHUTDOWN, WAY, WAY_FROM, task_of
from fateforger.planning.timing import GRID, zone
from fateforger.text import gettext as _
from fateforger.values import replace

_FULL_DAY = 288
_SPLITTABLE = 60
_DUE_SOON = 24
"""Slots before the end of the time of a required task that are kept for what goes wrong."""
_SHORT_DAY = 36
"""Open slots of a day on which the end of work is worth less than the work."""
_SHUTDOWN_EARLY = 24
"""Slots before the end of a day whose last meeting leaves no time for a shutdown."""


@dataclass
class _Items:
    """Items of a day, without relaxed pins and requirements."""

    context: DraftContext
    relaxed: frozenset[str]
    items: list[Item] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.instance = self.context.instance
        self.policy = self.instance.policy
        self.axis = self.context.axis
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
        for block in self.context.previous:
            own = not _is_generated(block) or self._leads_home(block)
            if task_of(block.key, self.ids) is None and block.key not in pinned and own:
                self._add_own(block)
        self._meals()
        return self.items

    def _eagerness(self, place: int) -> tuple[bool, bool, int, int]:
        task = self.instance.tasks[place]
        return not task.one_thing, task.type is not ET.DEEP_WORK, task.priority, place

    def _add(self, source: Source, **given: Any) -> Item:
        item = Item(index=len(self.items), source=source, **given)
        self.items.append(item)
        return item

    def _pin(self, pin: Pin) -> None:
        was = next((b for b in (*self.context.previous, *self.context.past) if b.key == pin.key), None)
        if was is not None and was in self.context.past and pin.start is None:
            return
        if pin.start is not None and pin.minutes is not None:
            start, minutes = self.context.instant(pin.start), pin.minutes
        elif was is not None:
            start, minutes = was.start, pin.minutes or was.minutes
        else:
            raise BadInput(f"The pinned block “{pin.key}” is not in the previous plan; give its start and minutes.")
        name = pin.task or task_of(pin.key, self.ids)
        task = next((t for t in self.instance.tasks if t.id == name), None)
        way = 0 if task is None else -(-task.travel // GRID)
        around = timedelta(minutes=way * GRID)
        mask = self.axis.slots_touching(start - around, start + timedelta(minutes=minutes) + around)
        length = mask.bit_count()
        source = Source(
            pin.key,
            name,
            pin.title or (was.event.name if was else task.title if task else pin.key),
            pin.type or (was.event.type if was else task.type if task else ET.DEEP_WORK),
            key=pin.key,
            notes=was.event.description if was else "",
            over=length * GRID - minutes,
            one=task is not None and task.one_thing,
            pinned=True,
            way=way,
        )
        self._add(
            source,
            lengths=((length, 0),),
            reward=0,
            rank=0,
            domain=mask & ~self.context.busy,
            firm=mask & -mask,
            required=True,
            bounds=PieceBounds(longest=max(1, length)),
        )

    def _task(self, task: Task, rank: int, pinned: set[str]) -> None:
        done = sum(b.minutes for b in self.context.past if task_of(b.key, self.ids) == task.id)
        done += sum(i.slots * GRID - i.source.over for i in self.items if i.source.pinned and i.source.task == task.id)
        minutes = task.length(self.policy) - done
        if minutes <= 0:
            return
        way = -(-task.travel // GRID)
        slots = -(-minutes // GRID) + 2 * way
        split = task.splittable
        if way:
            split = False
        elif split is None:
            split = task.type is ET.DEEP_WORK and task.length(self.policy) >= _SPLITTABLE
        was = [b for b in self.context.previous if task_of(b.key, self.ids) == task.id and b.key not in pinned]
        reward, slot = _reward_of(self.context, task)
        firm = None if task.start is None else 1 << max(0, self.axis.slot(self.context.instant(task.start)) - way)
        bounds = PieceBounds(task.max_pieces if split else 1, -(-task.min_chunk // GRID), _FULL_DAY)
        if split and self.policy.longest_focus and task.type is ET.DEEP_WORK:
            bounds.comfort = self.policy.longest_focus // GRID
        over = slots * GRID - minutes
        item = self._add(
            Source(task.id, task.id, task.title, task.type, notes=task.notes, over=over, one=task.one_thing, way=way),
            lengths=((slots, 0),),
            reward=reward + slot * (slots - 2 * way),
            rank=rank,
            domain=(self.context.free | _open_at_start(self.context, task, slots))
            & spread(self.context.limits(task) >> way, 2 * way + 1),
            firm=firm,
            required=task.required and task.id not in self.relaxed,
            bounds=bounds,
        )
        item.domain |= open_hours(self.context, task, item.domain, slots)
        self._set_previous(item, was)
        if self.context.mending:
            self._hold_in_place(item)

    def _leads_home(self, block: Resolved) -> bool:
        """Check whether the block is the way back from a task that was done before the plan is made."""
        task = block.key.removeprefix(WAY_FROM)
        return task != block.key and any(task_of(b.key, self.ids) == task for b in self.context.past)

    def _hold_in_place(self, item: Item) -> None:
        """Make a block of a plan in use keep its slots: only the place of such a block is worth more than a move."""
        if item.preferences.previous:
            item.reward += weights.KEPT
        item.preferences.moved, item.preferences.far = (weights.MENDED, 1), _FULL_DAY
        if len(item.preferences.previous) == 1:
            ((start, length),) = item.preferences.previous
            item.source = replace(item.source, over=item.source.over + (length - item.slots) * GRID)
            item.lengths = ((length, 0),)
            item.domain |= slot_range(start, start + length) & ~self.context.busy

    def _add_own(self, block: Resolved) -> None:
        """Add a block that the person put on the plan."""
        slots = -(-block.minutes // GRID)
        over, event = slots * GRID - block.minutes, block.event
        item = self._add(
            Source(block.key, None, event.name, event.type, block.key, event.description, over),
            lengths=((slots, 0),),
            reward=weights.PLACED + weights.PLACED_SLOT[1] * slots,
            rank=64,
            domain=self.context.free,
        )
        self._set_previous(item, [block])

    def _set_previous(self, item: Item, blocks: Sequence[Resolved]) -> None:
        """Record the place of an item in the previous plan."""
        way = timedelta(minutes=item.source.way * GRID)
        masks = [(self.axis.slots_touching(b.start - way, b.end + way), b.key) for b in blocks]
        there = sorted((next(stretches(mask)), key) for mask, key in masks if mask)
        item.preferences.previous = tuple(piece for piece, _ in there)
        item.preferences.previous_keys = tuple(key for _, key in there)
        if there:
            item.reward += weights.STAYS

    def _meals(self) -> None:
        """Add lunch and shutdown, on each day whose frame has room for them."""
        for day in self.context.days:
            lunch = self.policy.lunch
            if lunch is not None:
                dates = (day.date, day.date + timedelta(days=1))  # a frame over midnight reaches the next one
                walls = (self.axis.slot(wall_instant(each, lunch.start, zone(self.instance.tz))) for each in dates)
                at = next((slot for slot in walls if day.frame >> slot & 1), None)
                if at is not None:
                    drift = lunch.drift // GRID
                    lengths = [-(-minutes // GRID) for minutes in lunch.lengths]
                    starts = slot_range(at - drift, at + drift + 1)
                    self._daily(LUNCH, day, lengths, starts, at)
            if self.policy.shutdown and self._has_work():
                self._shutdown(day, -(-self.policy.shutdown // GRID))

    def _shutdown(self, day: PlannedDay, slots: int) -> None:
        """Add the shutdown: after the last meeting and work at a given time, or before those that take the end."""
        end = self._find_end_of_work(day)
        given = [times for item in self.items if (times := item.given_slots & day.slots) & slot_range(0, end)]
        left = ~reduce(or_, given, 0)
        wish = self._find_end_of_meetings(day, end)
        starts = slot_range(wish, end - slots + 1) & run_starts(left, slots)
        if not starts >> max((times.bit_length() for times in given), default=wish):
            wish = end - _SHUTDOWN_EARLY
            starts = slot_range(wish, end - slots + 1) & run_starts(left, slots)
        if self._goes_on_after_tasks(day):
            wish = end - slots
        self._daily(SHUTDOWN, day, [slots], starts, wish)

    def _has_work(self) -> bool:
        """Check whether there is work to end: days of habits and meals need no shutdown."""
        meetings = any(each.busy and each.type is ET.MEETING for each in self.instance.immovables)
        return meetings or any(item.work for item in self.items)

    def _find_end_of_work(self, day: PlannedDay) -> int:
        """Return the slot at which the person wants to end work, by their rules or the end of the day."""
        closed = 0
        for rule in self.context.rules:
            if rule.necessity is not Necessity.PREFER and rule.applies_to(ET.PLAN_REVIEW, None):
                closed |= rule.closed
        return (day.frame & ~closed).bit_length() or self.axis.slot(day.end)

    def _find_end_of_meetings(self, day: PlannedDay, end: int) -> int:
        """Return the slot at which the last meeting ends that begins before the end of work."""
        meetings = (e.mask & day.slots for e in self.context.events if e.kind is ET.MEETING)
        ends = (mask.bit_length() for mask in meetings if mask & slot_range(0, end))
        return max(ends, default=self.axis.slot(day.start))

    def _goes_on_after_tasks(self, day: PlannedDay) -> bool:
        """Check whether the frame is for work alone, and tasks and meetings take less than half of it."""
        tasks = self.instance.tasks
        if any(task.type not in WORK for task in tasks):
            return False
        meetings = reduce(or_, (e.mask for e in self.context.events if e.kind is ET.MEETING), 0) & day.slots
        frame = (day.end - day.start) // timedelta(minutes=1)
        lengths = (task.length(self.policy) for task in tasks)
        work = sum(minutes for minutes in lengths if minutes <= frame) // len(self.context.days)
        return 2 * (work + meetings.bit_count() * GRID) < frame

    def _daily(self, what: str, day: PlannedDay, lengths: list[int], starts: int, wish: int) -> None:
        title, kind, reward, away = _(LUNCH_TITLE), ET.REGENERATION, weights.LUNCH, weights.LUNCH_SLOT
        if what == SHUTDOWN:
            short = (self.context.open_to(ET.PLAN_REVIEW) & day.slots).bit_count() <= _SHORT_DAY
            title, kind, away = _("Shut down"), ET.PLAN_REVIEW, weights.SHUTDOWN_SLOT
            reward = weights.SHUTDOWN_SHORT if short else weights.SHUTDOWN
        key = f"{what}-{day.date.isoformat()}"
        if any(b.key == key for b in self.context.past) or any(i.source.key == key for i in self.items):
            return
        item = self._add(
            Source(key, None, title, kind, key),
            lengths=tuple((n, weights.LUNCH_SHORT * place) for place, n in enumerate(lengths)),
            reward=reward,
            rank=64,
            domain=self.context.free,
            firm=starts,
            preferences=Preferences(start=(wish, away)),
        )
        self._set_previous(item, [b for b in self.context.previous if b.key == key])


def _reward_of(context: DraftContext, task: Task) -> tuple[int, int]:
    """Return the reward for a place of a task, and that for each of its slots."""
    reward, slot = weights.PLACED, weights.PLACED_SLOT[task.priority]
    if task.deadline is not None:
        can_wait = context.days[-1].next_start < context.instant(task.deadline)
        slot += weights.DUE_SLOT if can_wait else weights.DUE_TODAY_SLOT
    if task.type in {ET.REGENERATION, ET.HABIT}:
        reward += weights.MEAL if task.type is ET.REGENERATION else weights.HABIT
    if task.one_thing:
        reward, slot = weights.ONE_THING, weights.ONE_THING_SLOT
    return reward if task.start is None else reward + weights.TIMED, slot


def _is_generated(block: Resolved) -> bool:
    """Check whether a draft generates the block itself: lunch, shutdown, and commutes."""
    return block.key.startswith((f"{LUNCH}-", f"{SHUTDOWN}-", WAY)) or block.event.type in {
        ET.BACKGROUND,
        ET.COMMUTE,
    }


@dataclass(frozen=True)
class _Closing:
    """Domain, gap, bounds, and prices of each item, by the rules and the policy of a day."""

    context: DraftContext
    rules: Sequence[SlotRule]
    seen: dict[tuple[Between, ...], int] = field(default_factory=dict)

    def apply(self, item: Item) -> None:
        """Apply each rule to an item, as a cut of its domain or as a price."""
        prices: list[Price] = []
        for rule in self.rules:
            if near := rule.slots_near_meetings(self.context, item.source.task):
                self._close(item, rule, near, prices)
            if rule.applies_to(item.source.kind, item.source.task):
                self._hold(item, rule, prices)
        if item.slots < item.bounds.shortest and item.bounds.most > 1:
            item.bounds.most = 1
        task = next((t for t in self.context.instance.tasks if t.id == item.source.task), None)
        everywhere = slot_range(0, self.context.axis.slots)
        if task is not None and task.energy:
            hours = min(
                weights.ENERGY_SLOT, weights.PLACED_SLOT[task.priority] // 2
            )  # work is worth more than its hours
            points = (hours, 0) if item.work else (weights.RHYTHM_SLOT, weights.RHYTHM)
            prices.append(Price(everywhere & ~self._windows(task.energy), *points))
        if task is not None and task.required and task.deadline is not None:
            due = self.context.axis.slot(self.context.instant(task.deadline))
            prices.append(Price(slot_range(due - _DUE_SOON, due), weights.DUE_SOON_SLOT))
        policy = self.context.instance.policy
        if policy.focus and item.deep and not (task is not None and task.energy):
            prices.append(Price(everywhere & ~self._windows(policy.focus), weights.FOCUS_SLOT))
        if policy.around_meetings and item.work:
            near = self.context.near_meetings(-(-policy.around_meetings // GRID))
            prices.append(Price(near, weights.BREAK_SLOT))
        if policy.after_meetings and item.work:
            after = self.context.after_meeting_rows(-(-policy.after_meetings // GRID))
            prices.append(Price(after, 0, weights.AFTER_MEETINGS))
        item.preferences.prices = tuple(prices)
        item.clear = ~self.context.busy & slot_range(0, self.context.axis.slots + _FULL_DAY)

    def _hold(self, item: Item, rule: SlotRule, prices: list[Price]) -> None:
        self._close(item, rule, rule.closed | self._wrong_side_of_meetings(item, rule), prices)
        if rule.must:
            item.gap = max(item.gap, rule.gap)
        if rule.whole:
            item.bounds.most = 1
        if rule.longest is not None:
            if rule.must:
                item.bounds.longest = min(item.bounds.longest, rule.longest)
            item.bounds.comfort = (
                rule.longest if item.bounds.comfort is None else min(item.bounds.comfort, rule.longest)
            )
        if rule.shortest is not None:
            item.bounds.shortest = max(item.bounds.shortest, rule.shortest)
            if rule.must and item.slots < rule.shortest:
                item.domain = 0

    def _close(self, item: Item, rule: SlotRule, closed: int, prices: list[Price]) -> None:
        if rule.must:
            item.domain &= ~closed
        elif closed:
            slot, base = soft_points(rule)
            prices.append(Price(closed, slot, base))

    def _wrong_side_of_meetings(self, item: Item, rule: SlotRule) -> int:
        """Return the slots closed to an item by an order of types that includes meetings."""
        if ET.MEETING not in rule.order or item.source.kind not in rule.order or item.source.kind is ET.MEETING:
            return 0
        closed = 0
        first = rule.order.index(item.source.kind) < rule.order.index(ET.MEETING)
        for day in self.context.days:
            masks = [e.mask for e in self.context.events if e.kind is ET.MEETING and e.mask & day.slots & rule.on]
            if masks and first:
                closed |= day.slots & ~slot_range(0, min((m & -m).bit_length() - 1 for m in masks))
            elif masks:
                closed |= day.slots & slot_range(0, max(m.bit_length() for m in masks))
        return closed

    def _windows(self, windows: tuple[Between, ...]) -> int:
        if windows not in self.seen:
            self.seen[windows] = self.context.windows(windows)
        return self.seen[windows]


def _soft_gaps(policy: Policy, rules: Sequence[SlotRule], items: Sequence[Item]) -> Iterator[SoftGap]:
    deep = frozenset(i.index for i in items if i.deep)
    work = frozenset(i.index for i in items if i.work)
    meals = frozenset(i.index for i in items if i.source.id.startswith(f"{LUNCH}-"))
    for members, minutes in ((deep, policy.after_deep), (meals, policy.after_meal)):
        if members and minutes:
            yield SoftGap(members, work, -(-minutes // GRID), weights.BREAK_SLOT)
    if deep and policy.before_deep:
        slots = -(-policy.before_deep // GRID)
        yield SoftGap(deep, work, slots, weights.BREAK_SLOT, ahead=True)
    everyone = frozenset(range(len(items)))
    for rule in rules:
        if rule.gap and not rule.must:
            slot, base = soft_points(rule)
            yield SoftGap(members_of(rule, items), everyone, rule.gap, slot, base=base)


def _caps(context: DraftContext, rules: Sequence[SlotRule], items: Sequence[Item]) -> Iterator[Cap]:
    for rule in rules:
        if rule.daily == DailyLimits():
            continue
        members = members_of(rule, items)
        if not rule.types:
            members = frozenset(i for i in members if items[i].source.kind not in {ET.REGENERATION, ET.BUFFER})
        days = tuple(day.slots & rule.on for day in context.days)
        slot, base = soft_points(rule)
        yield Cap(
            rule.id,
            members,
            days,
            tuple(_usage_of(context, rule, on) for on in days),
            rule.daily.most,
            rule.daily.least,
            rule.daily.count,
            None if rule.must else slot,
            base,
        )


def _usage_of(context: DraftContext, rule: SlotRule, on: int) -> tuple[int, int]:
    """Return the slots and blocks that a rule's types already take."""
    ids = [task.id for task in context.instance.tasks]
    masks = [e.mask for e in (*context.events, *context.ways) if e.kind in rule.types and not e.late]
    masks += [
        context.axis.slots_touching(b.start, b.end)
        for b in context.past
        if rule.applies_to(b.event.type, task_of(b.key, ids))
    ]
    there = [mask & on for mask in masks if mask & on]
    union = 0
    for mask in there:
        union |= mask
    return union.bit_count(), len(there)


def compile_problem(context: DraftContext, relaxed: frozenset[str] = frozenset()) -> Problem:
    """Return the problem without the musts of those ids.

    A must is a constraint, a required task, or a pinned block.
    """
    in_force = frozenset(must_ids(context)) - relaxed
    rules = context.rules_in_force(in_force)
    items = _Items(context, relaxed).all()
    _connect(_predecessors(context, rules), items)
    closing = _Closing(context, rules)
    for item in items:
        closing.apply(item)
    return Problem(
        axis=context.axis,
        days=context.days,
        policy=context.instance.policy,
        items=items,
        soft_gaps=tuple(_soft_gaps(context.instance.policy, rules, items)),
        caps=tuple(_caps(context, rules, items)),
        orders=tuple(build_orders(context, rules, items)),
        in_force=in_force,
        late=_late_starts(context, items) if context.instance.policy.one_thing_early else {},
        restless=_restless_slots(context),
    )


def _restless_slots(context: DraftContext) -> int:
    """Return the slots of events and past blocks that are no rest."""
    restless = 0
    for event in context.events:
        restless |= 0 if event.kind in REST else event.mask
    for block in context.past:
        restless |= 0 if block.event.type in REST else context.axis.slots_touching(block.start, block.end)
    return restless


def _open_at_start(context: DraftContext, task: Task, slots: int) -> int:
    """Return the slots that a task takes at the start that the person gave it: also outside of the frame."""
    start = None if task.start is None else context.instant(task.start)
    if start is None or (context.now is not None and start < context.now):
        return 0
    first = max(0, context.axis.slot(start) + task.travel // -GRID)
    return slot_range(first, max(first, min(first + slots, context.axis.slots))) & ~context.busy


def _late_starts(context: DraftContext, items: Sequence[Item]) -> dict[int, int]:
    """Return the starts that are late for the one thing, by its item."""
    tasks = {task.id: task for task in context.instance.tasks if task.one_thing}
    found = ((i.index, tasks.get(i.source.task or "")) for i in items if not i.source.pinned)
    return {index: context.late_starts(task) for index, task in found if task is not None}


def _predecessors(context: DraftContext, rules: Sequence[SlotRule]) -> dict[str, tuple[str, ...]]:
    """Return the tasks that each task comes after, by its own word or by a must that orders named tasks.

    A task that is left out is done later, so the tasks after it cannot be placed either.
    """
    after = {task.id: task.after for task in context.instance.tasks}
    always = sum(day.slots for day in context.days)
    for rule in rules:
        if rule.must and rule.on == always:
            for task, later in pairwise(each for each in rule.task_order if each in after):
                after[later] = (*after[later], task)
    return after


def _connect(after: Mapping[str, tuple[str, ...]], items: Sequence[Item]) -> None:
    """Link items that come after one another.

    An item that a required one needs becomes required, too.
    """
    _follow(after, items)
    needed = {n for item in items if item.required for n in item.precedence.needs}
    while more := {n for i in needed for n in items[i].precedence.needs} - needed:
        needed |= more
    for index in needed:
        items[index].required = True


def _follow(after: Mapping[str, tuple[str, ...]], items: Sequence[Item]) -> None:
    loose = {item.source.task: item for item in items if item.source.task is not None and not item.source.pinned}
    pinned: dict[str, list[Item]] = {}
    for item in items:
        if item.source.pinned and item.source.task is not None:
            pinned.setdefault(item.source.task, []).append(item)
    for task, others in after.items():
        for other in others:
            for first in (*pinned.get(other, ()), *([loose[other]] if other in loose else ())):
                if task in loose:
                    _link(first, loose[task], needs=True)
            for then in pinned.get(task, ()):
                if other in loose:
                    _link(loose[other], then, needs=False)


def _link(first: Item, then: Item, *, needs: bool) -> None:
    first.precedence.successors = (*first.precedence.successors, then.index)
    then.precedence.predecessors = (*then.precedence.predecessors, first.index)
    if needs:
        then.precedence.needs = (*then.precedence.needs, first.index)
