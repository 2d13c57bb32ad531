"""Compile a day into the problem for the search, optionally without some musts."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.drafting.closing import close_slots
from fateforger.drafting.ground import DraftContext
from fateforger.drafting.instance import Instance
from fateforger.drafting.items import Item
from fateforger.drafting.loose import collect_items
from fateforger.drafting.naming import must_ids
from fateforger.drafting.problem import Problem
from fateforger.drafting.sharing import Sharing


def compile_problem(ground: DraftContext, relaxed: frozenset[str] = frozenset()) -> Problem:
    """Return the problem without the musts of those ids.

    A must is a constraint, a required task, or a pinned block.
    """
    rules = [rule for rule in ground.rules if not (rule.must and rule.id in relaxed)]
    items = collect_items(ground, relaxed)
    _connect(ground.instance, items)
    close_slots(ground, rules, items)
    sharing = Sharing(ground, rules, items)
    policy = ground.instance.policy
    return Problem(
        axis=ground.axis,
        tz=ground.instance.tz,
        days=ground.days,
        busy=ground.busy,
        items=items,
        rules=tuple(rules),
        breathers=tuple(sharing.breathers()),
        caps=tuple(sharing.caps()),
        orders=tuple(sharing.orders()),
        shallow_percent=policy.shallow_percent,
        deep_blocks=policy.deep_blocks,
        early=_middles(ground) if policy.one_thing_early else (),
        in_force=frozenset(must_ids(ground)) - relaxed,
    )


def _middles(ground: DraftContext) -> tuple[int, ...]:
    """Return the last slot of the first half of each day's frame, regardless of the current time."""
    return tuple(ground.axis.slot(day.start + (day.end - day.start) / 2) for day in ground.days)


def _connect(instance: Instance, items: Sequence[Item]) -> None:
    """Link items that come after one another.

    An item that a required one needs becomes required, too.
    """
    _follow(instance, items)
    needed = {n for item in items if item.required for n in item.needs}
    while more := {n for i in needed for n in items[i].needs} - needed:
        needed |= more
    for index in needed:
        items[index].required = True


def _follow(instance: Instance, items: Sequence[Item]) -> None:
    loose = {item.task: item for item in items if item.task is not None and not item.pinned}
    pinned: dict[str, list[Item]] = {}
    for item in items:
        if item.pinned and item.task is not None:
            pinned.setdefault(item.task, []).append(item)
    for task in instance.tasks:
        for other in task.after:
            for first in (*pinned.get(other, ()), *([loose[other]] if other in loose else ())):
                if task.id in loose:
                    _link(first, loose[task.id], needs=True)
            for then in pinned.get(task.id, ()):
                if other in loose:
                    _link(loose[other], then, needs=False)


def _link(first: Item, then: Item, *, needs: bool) -> None:
    first.behind = (*first.behind, then.index)
    then.before = (*then.before, first.index)
    if needs:
        then.needs = (*then.needs, first.index)
