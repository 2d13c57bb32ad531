"""Reasons of items without a place: what keeps them out first, from the frame of the day to the other items.

Each reason is tested: without the rules that it names there is room, and without what it does not name there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fateforger.drafting.axis import longest_run, run_starts, slot_range, stretches
from fateforger.drafting.compilation import compile_problem
from fateforger.drafting.context import DraftContext, SlotRule, must_ids
from fateforger.drafting.instance import Policy, Task
from fateforger.drafting.model import PlacementOption, UnplacedItem, explain_length
from fateforger.drafting.neighborhood_search import improve_placement
from fateforger.drafting.placement import Placement
from fateforger.drafting.problem import Item, Placed, Problem
from fateforger.planning.task_details import LUNCH
from fateforger.planning.timing import GRID, zone
from fateforger.text import format_length, format_percent, join_words, ngettext, quote_title
from fateforger.text import gettext as _
from fateforger.values import replace

DO_WITHOUT = (PlacementOption("drop", "Do without"),)
WAIT_OR_DROP = (PlacementOption("defer", "Another day"), PlacementOption("drop", "Drop it"))


TRIAL_STEPS = 3_300
"""Steps of a search that only tests whether there is a place: a few hundredths of a second."""


@dataclass(frozen=True)
class RelaxedProblems:
    """A solved problem without some of its rules, compiled when it is first asked for."""

    context: DraftContext
    problem: Problem
    placed: Placed
    known: dict[frozenset[str], Problem] = field(default_factory=dict)

    def without(self, rules: Iterable[SlotRule]) -> Problem:
        """Return the problem without these rules."""
        gone = frozenset(rule.id for rule in rules)
        if gone not in self.known:
            kept = tuple(rule for rule in self.context.rules if rule.id not in gone)
            self.known[gone] = compile_problem(replace(self.context, rules=kept), self._given_up)
        return self.known[gone]

    @property
    def _given_up(self) -> frozenset[str]:
        return frozenset(must_ids(self.context)) - self.problem.in_force

    @cached_property
    def slack_takers(self) -> frozenset[int]:
        """Items without a place that have one on a day without slack."""
        policy = self.context.instance.policy
        return self._placed_under(replace(policy, slack_percent=None)) if self.problem.slack else frozenset()

    @cached_property
    def takers_of_more_blocks(self) -> frozenset[int]:
        """Items without a place that have one on a day with any number of blocks of deep work."""
        policy = self.context.instance.policy
        return self._placed_under(replace(policy, deep_blocks=None)) if policy.deep_blocks else frozenset()

    def _placed_under(self, policy: Policy) -> frozenset[int]:
        """Return the items without a place that have one where the day follows another policy."""
        if all(self.placed):
            return frozenset()
        instance = self.context.instance
        full = compile_problem(replace(self.context, instance=replace(instance, policy=policy)), self._given_up)
        found, _ = improve_placement(full, Placement(full, self.placed), TRIAL_STEPS)
        return frozenset(n for n, (there, was) in enumerate(zip(found, self.placed, strict=True)) if there and not was)

    def rules_about(self, item: Item) -> list[SlotRule]:
        """Return the rules in force that can stand in the way of an item."""
        kind, task = item.source.kind, item.source.task
        return [
            rule
            for rule in self.context.rules_in_force(self.problem.in_force)
            if rule.applies_to(kind, task) or rule.gap or rule.slots_near_meetings(self.context, task)
        ]

    def same_item(self, problem: Problem, item: Item) -> Item | None:
        """Return an item in a looser problem; ``None`` if the items are not the same ones there."""
        if len(problem.items) != len(self.problem.items):
            return None
        return next((i for i in problem.items if i.source.id == item.source.id and not i.source.pinned), None)


MOST_NAMED = 3
"""Most rules that a reason names."""


def find_left_out(looser: RelaxedProblems) -> tuple[UnplacedItem, ...]:
    """Return the items without a place, in their order, and commutes that collide with an event.

    Their options are only those that promise no place.
    """
    placed = looser.placed
    left = _LeftOut(looser.context, Placement(looser.problem, placed), looser)
    found = [
        UnplacedItem(
            item.source.id,
            item.source.title,
            left.explain(item),
            DO_WITHOUT if item.source.task is None else WAIT_OR_DROP,
        )
        for item in looser.problem.items
        if not placed[item.index]
    ]
    found += [
        UnplacedItem(way.id, way.title, _("another event leaves no time for it"), DO_WITHOUT)
        for way in looser.context.ways
        if way.late
    ]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _LeftOut:
    context: DraftContext
    placement: Placement
    looser: RelaxedProblems

    def explain(self, item: Item) -> str:
        placed = self.placement.placed
        items = self.placement.problem.items
        missing = [items[n].source.title for n in item.precedence.needs if not placed[n]]
        if missing:
            titles = join_words([quote_title(t) for t in missing])
            return ngettext(
                "it comes after {titles}, which found no place",
                "it comes after {titles}, which found no place",
                len(missing),
                titles=titles,
            )
        if (reason := self._explain_fixed(item)) is not None:
            return reason
        free = self.context.free
        if not _has_room(item, free):
            return self._explain_events(item)
        if not _has_room(item, free & self._find_allowed_slots(item)):
            where = _where(self.context, item)
            if where:
                return _("{needs}, and there is not that much time free {when}", needs=_needs(item), when=where)
            return _("{needs}, and there is not that much time free", needs=_needs(item))
        if not self._fits_alone(self.placement.problem, item):
            rules = self._rules_without_which(self._fits_alone, item)
            if rules:
                return _explain_rules(rules, item)
        return self._explain_others(item)

    def _explain_fixed(self, item: Item) -> str | None:
        """Explain a task whose own start meets something else, or ``None``."""
        task = task_of_item(self.context, item)
        if not item.firm or task is None or task.start is None or item.source.pinned:
            return None
        begin = self.context.instant(task.start).astimezone(zone(self.context.instance.tz))
        if self.context.now is not None and begin < self.context.now:
            return _("it is wanted at {time}, and that has passed", time=f"{begin:%H:%M}")
        start = item.firm.bit_length() - 1
        span = slot_range(start, start + item.slots)
        # Without the events it would have had the time of any other task that is there now.
        there = [event.title for event in self.context.events if event.mask & span] or [
            other.source.title
            for other in self.placement.problem.items
            if any(slot_range(s, s + n) & span for s, n in self.placement.placed[other.index])
        ]
        if not there:
            return None
        titles = join_words([quote_title(title) for title in dict.fromkeys(there)], MOST_NAMED)
        if item.source.way:
            return _(
                "it is wanted at {time} with the way there and back, when there is {titles}",
                time=f"{begin:%H:%M}",
                titles=titles,
            )
        return _("it is wanted at {time}, when there is {titles}", time=f"{begin:%H:%M}", titles=titles)

    def _explain_events(self, item: Item) -> str:
        """Explain an item for which the frame, or what is on the calendar, leaves no room."""
        if item.source.task is None and item.source.key is not None:
            meetings = _has_room(item, sum(day.frame for day in self.context.days))
            if _is_lunch(item):
                minutes = _lunch_minutes(item)
                return (
                    _("meetings leave no {minutes} minutes free around that time", minutes=minutes)
                    if meetings
                    else _("the day leaves no {minutes} minutes free around that time", minutes=minutes)
                )
            length = format_length(item.minutes)
            return (
                _("meetings leave it no {length} at the end of the day", length=length)
                if meetings
                else _("the day leaves it no {length} at the end of the day", length=length)
            )
        frame = sum(day.frame.bit_count() for day in self.context.days)
        total, longest = self.context.free.bit_count(), longest_run(self.context.free)
        if item.slots <= frame and item.bounds.most > 1 and 0 < total < item.slots:
            return _(
                "{needs}, and the day has {free} free in all", needs=_needs(item), free=format_length(total * GRID)
            )
        return explain_length(item.minutes, frame * GRID, longest * GRID, 0)

    def _explain_others(self, item: Item) -> str:
        """Explain an item that would have room on an otherwise empty day."""
        placement = self.placement
        if item.index in self.looser.slack_takers and placement.slots_over(item.slots) > 0:
            return self._explain_slack()
        price = find_cost(placement, item)
        if price is not None and price > item.coupling.lost:
            if item.deep and item.index in self.looser.takers_of_more_blocks:
                return ngettext(
                    "a day has at most one block of deep work, and it is taken",
                    "a day has at most {count} blocks of deep work, and they are taken",
                    self.context.instance.policy.deep_blocks or 0,
                )
            rules = self._rules_without_which(self._is_worth_it, item)
            if not rules and _fits_into_slack(placement, item):
                return self._explain_slack()
            return _explain_price(rules, item)
        if price is not None:
            if _fits_into_slack(placement, item):
                return self._explain_slack()
            return _("the search ended before it found a place for it")
        rules = self._rules_without_which(self._fits_now, item)
        if rules:
            return ngettext(
                "{rules} rules out the time that is still free",
                "{rules} rule out the time that is still free",
                len(rules),
                rules=_join_rules(rules),
            )
        if (mine := self._person_blocks_in_the_way(item)) is not None:
            return mine
        open_ = item.domain & ~(placement.taken | placement.kept)
        if _has_room(item, open_):
            return self._explain_order(item, open_)
        return self._explain_free_time(item, open_)

    def _explain_slack(self) -> str:
        share = format_percent(self.context.instance.policy.slack_percent or 0)
        return _("{share} of the day stays free, and the rest of it is taken", share=share)

    def _explain_free_time(self, item: Item, open_: int) -> str:
        """Explain an item for which the slots ``open_`` that are still free are too few."""
        if _is_lunch(item):
            return _("your tasks take the time around it")
        if item.source.task is None:
            return _("your tasks take the time at the end of the day")
        left, where = longest_run(open_), _where(self.context, item)
        if where:
            if not left:
                return _("no time is left {when}", when=where)
            longest = format_length(left * GRID)
            return _(
                "{needs}, and the longest stretch still free {when} is {free}",
                needs=_needs(item),
                when=where,
                free=longest,
            )
        return explain_length(item.minutes, item.minutes, item.minutes, left * GRID)

    def _person_blocks_in_the_way(self, item: Item) -> str | None:
        """Name the block that the person put where an item would have room, or return ``None``."""
        problem, placed = self.placement.problem, self.placement.placed
        for other in problem.items:
            stays = other.source.pinned or placed[other.index] == other.preferences.previous
            if other.source.id not in self.context.instance.placed or not placed[other.index] or not stays:
                continue
            less = [() if each is other else pieces for each, pieces in zip(problem.items, placed, strict=True)]
            if find_cost(Placement(problem, less), item) is not None:
                start = self.context.axis.when(placed[other.index][0][0] + other.source.way)
                clock = f"{start.astimezone(zone(self.context.instance.tz)):%H:%M}"
                title = quote_title(other.source.title)
                return _("you put {title} at {time}, where there would be room for it", title=title, time=clock)
        return None

    def _explain_order(self, item: Item, open_: int) -> str:
        """Explain an item with time that is on the wrong side of what it comes before or after."""
        problem, placed = self.placement.problem, self.placement.placed
        earlier = [problem.items[n] for n in item.precedence.predecessors if placed[n]]
        end = max((sum(placed[each.index][-1]) for each in earlier), default=0)
        left = open_ & ~slot_range(0, end)
        if not earlier or _has_room(item, left):
            return _("what it has to come before or after takes the time")
        titles = join_words([quote_title(each.source.title) for each in earlier])
        if not left:
            return _("it comes after {titles}, and no time is left after that", titles=titles)
        return _(
            "it comes after {titles}, and the longest stretch still free after that is {free}",
            titles=titles,
            free=format_length(longest_run(left) * GRID),
        )

    def _find_allowed_slots(self, item: Item) -> int:
        """Return the slots that the task's own times allow."""
        task, axis = task_of_item(self.context, item), self.context.axis
        allowed = slot_range(0, axis.slots)
        if task is not None and task.not_before is not None:
            allowed &= ~slot_range(0, axis.slot(self.context.instant(task.not_before)))
        if task is not None and task.deadline is not None:
            allowed &= slot_range(0, axis.slot(self.context.instant(task.deadline)))
        return allowed

    def _fits_alone(self, problem: Problem, item: Item) -> bool:
        """Check whether an item has a place with only pinned blocks and what it comes after."""
        there = {*item.precedence.needs, *item.precedence.predecessors}
        alone = [
            pieces if each.source.pinned or each.index in there else ()
            for each, pieces in zip(problem.items, self.placement.placed, strict=True)
        ]
        return find_cost(Placement(problem, alone), item) is not None

    def _fits_now(self, problem: Problem, item: Item) -> bool:
        return find_cost(Placement(problem, self.placement.placed), item) is not None

    def _is_worth_it(self, problem: Problem, item: Item) -> bool:
        price = find_cost(Placement(problem, self.placement.placed), item)
        return price is not None and price <= item.coupling.lost

    def _rules_without_which(self, test: Callable[[Problem, Item], bool], item: Item) -> list[SlotRule]:
        """Return the rules without each of which an item passes a test, or else a smallest set without all of them."""

        def passes(gone: Sequence[SlotRule]) -> bool:
            problem = self.looser.without(gone)
            same = self.looser.same_item(problem, item)
            return same is not None and test(problem, same)

        rules = self.looser.rules_about(item)
        single = [rule for rule in rules if passes([rule])]
        if single or not passes(rules):
            return single[:MOST_NAMED]
        for rule in tuple(rules):
            fewer = [other for other in rules if other is not rule]
            rules = fewer if passes(fewer) else rules
        return rules


def _has_room(item: Item, open_: int) -> bool:
    """Check whether an item, in pieces if it may be cut, has room in these slots."""
    starts = run_starts(open_, item.lengths[-1][0])
    if starts if item.firm is None else starts & item.firm:
        return True
    lengths = sorted((n for _, n in stretches(open_) if n >= item.bounds.shortest), reverse=True)
    return item.bounds.most > 1 and item.firm is None and sum(lengths[: item.bounds.most]) >= item.slots


def _fits_into_slack(placement: Placement, item: Item) -> bool:
    """Check whether there is time for an item as the plan is, but for what should stay free."""
    return placement.slots_over(item.slots) > 0 and _has_room(item, item.domain & ~(placement.taken | placement.kept))


def find_cost(placement: Placement, item: Item) -> int | None:
    """Return the least cost of placing an item, in pieces if it may be cut, with all others unmoved."""
    whole = placement.whole(item)
    pieces = placement.cut(item, item.slots, item.bounds.most, None) if item.bounds.most > 1 else None
    return min((found[0] for found in (whole, pieces) if found is not None), default=None)


def _explain_price(rules: Sequence[SlotRule], item: Item) -> str:
    """Explain why an item is left out although there is time for it."""
    if rules:
        return _("the only time left for it is not what you want: {rules}", rules=_join_rules(rules))
    if item.work:
        return _("the only time left for it is needed for pauses")
    return _("the only time left for it is not the time of day that you named for it")


def _needs(item: Item) -> str:
    length = format_length(item.minutes)
    if item.source.way:
        return _("it needs {length} with the way there and back", length=length)
    return _("it needs {length}", length=length)


def _explain_rules(rules: Sequence[SlotRule], item: Item) -> str:
    """Explain an item for which rules leave no room."""
    count, named, length = len(rules), _join_rules(rules), format_length(item.minutes)
    if _is_lunch(item):
        return ngettext(
            "{rules} leaves no {minutes} minutes free around that time",
            "{rules} leave no {minutes} minutes free around that time",
            count,
            rules=named,
            minutes=_lunch_minutes(item),
        )
    if item.source.task is None:
        return ngettext(
            "{rules} leaves it no {length} at the end of the day",
            "{rules} leave it no {length} at the end of the day",
            count,
            rules=named,
            length=length,
        )
    return ngettext("{rules} leaves it no {length}", "{rules} leave it no {length}", count, rules=named, length=length)


def _lunch_minutes(item: Item) -> int:
    return item.lengths[-1][0] * GRID


def _is_lunch(item: Item) -> bool:
    return item.source.id.startswith(f"{LUNCH}-")


def _join_rules(rules: Iterable[SlotRule]) -> str:
    return join_words([quote_title(rule.words) for rule in rules])


def _where(context: DraftContext, item: Item) -> str:
    """Return the times that a task may lie at, such as ``before 12:00``, or nothing."""
    task = task_of_item(context, item)
    if task is None:
        return ""
    local = zone(context.instance.tz)
    start, begin, due = (
        None if clock is None else f"{context.instant(clock).astimezone(local):%H:%M}"
        for clock in (task.start, task.not_before, task.deadline)
    )
    if start is not None:
        return _("at {time}", time=start)
    if begin is not None and due is not None:
        return _("between {begin} and {due}", begin=begin, due=due)
    if due is not None:
        return _("before {time}", time=due)
    return "" if begin is None else _("after {time}", time=begin)


def task_of_item(context: DraftContext, item: Item) -> Task | None:
    return next((task for task in context.instance.tasks if task.id == item.source.task), None)
