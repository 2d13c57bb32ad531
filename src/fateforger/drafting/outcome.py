"""Convert a placement to blocks and plans, reusing the keys of earlier blocks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from fateforger.drafting.clock import clock_at
from fateforger.drafting.ground import DraftContext
from fateforger.drafting.items import Item
from fateforger.drafting.minutes import GRID
from fateforger.drafting.model import Block
from fateforger.drafting.naming import task_of
from fateforger.drafting.problem import Placed, Problem
from fateforger.plan import FixedStart, TBEvent, TBPlan, zone
from fateforger.plan.model import MAX_NAME
from fateforger.values import replace


def blocks_of(ground: DraftContext, problem: Problem, placed: Placed) -> tuple[Block, ...]:
    """Return all blocks of the plan in time order: the past, commutes, and placed items."""
    ids = [task.id for task in ground.instance.tasks]
    fixed = [
        Block(task_of(b.key, ids) or b.key, b.key, b.event.name, b.event.type, b.start, b.minutes) for b in ground.past
    ]
    for way in ground.ways:
        if not way.late:
            minutes = int((way.end - way.start).total_seconds() // 60)
            fixed.append(Block(way.id, way.id, way.title, way.kind, way.start, minutes))
    used = {block.key for block in fixed} | {i.key for i in problem.items if i.pinned and i.key}
    loose: list[Block] = []
    for item in problem.items:
        loose += _pieces(problem, item, placed, used)
    numbered = _number_pieces([*fixed, *loose], {b.key for b in fixed} | {i.key for i in problem.items if i.key}, ids)
    local = zone(ground.instance.tz)
    blocks = (replace(b, start=b.start.astimezone(local)) for b in numbered)
    return tuple(sorted(blocks, key=lambda b: (b.start.timestamp(), b.key)))


def _pieces(problem: Problem, item: Item, placed: Placed, used: set[str]) -> Iterator[Block]:
    """Yield the blocks of an item.

    A piece that did not move keeps its key; the others get the free ones in order.
    """
    pieces = placed[item.index]
    names = {was: key for was, key in zip(item.previous, item.previous_keys, strict=True) if was in pieces}
    names = {was: key for was, key in names.items() if key not in used}
    used |= set(names.values())
    free = _free_keys(item, used)
    for number, piece in enumerate(pieces, 1):
        key = names.get(piece) or item.key or next(free)
        used.add(key)
        start, length = piece
        minutes = length * GRID - (item.over if number == len(pieces) else 0)
        yield Block(item.task or item.id, key, item.title, item.kind, problem.axis.when(start), minutes)


def _free_keys(item: Item, used: set[str]) -> Iterator[str]:
    number = 1
    while True:
        key = item.id if number == 1 else f"{item.id}-{number}"
        if key not in used:
            yield key
        number += 1


def _number_pieces(blocks: list[Block], named: set[str], ids: list[str]) -> Iterator[Block]:
    """Number the pieces of each task in their titles; earlier blocks keep their names."""
    pieces: dict[str, list[Block]] = {}
    for block in sorted(blocks, key=lambda b: b.start):
        pieces.setdefault(block.id if block.id in ids else block.key, []).append(block)
    for same in pieces.values():
        for number, block in enumerate(same, 1):
            if len(same) > 1 and block.key not in named:
                part = f" ({number}/{len(same)})"
                yield replace(block, title=f"{block.title[: MAX_NAME - len(part)]}{part}")
            else:
                yield block


def plans_of(ground: DraftContext, problem: Problem, blocks: tuple[Block, ...]) -> tuple[TBPlan, ...]:
    """Return a plan for each day, its blocks in time order."""
    notes = {item.task or item.id: item.notes for item in problem.items}
    kept = {b.key: b.event for b in ground.past}
    plans = []
    for number, day in enumerate(ground.days):
        events = []
        for block in blocks:
            if problem.day_of(problem.axis.slot(block.start)) == number:
                timing = FixedStart(
                    start=clock_at(block.start, day.date, ground.instance.tz),
                    duration=timedelta(minutes=block.minutes),
                )
                was = kept.get(block.key)
                described = was.description if was is not None else notes.get(block.id, "")
                events.append(
                    TBEvent(name=block.title, description=described, type=block.type, timing=timing, key=block.key)
                )
        plans.append(TBPlan(date=day.date, tz=ground.instance.tz, events=tuple(events)))
    return tuple(plans)
