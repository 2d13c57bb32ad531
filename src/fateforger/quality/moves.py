"""Alternative layouts of a day: blocks in other places, with room made for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from fateforger.drafting.instance import Pin, Told
from fateforger.drafting.solver import repair_plan
from fateforger.memory.vocabulary import Necessity
from fateforger.planning.patch import AddBlocks, Patch
from fateforger.planning.plan import ET, Resolved, TBEvent
from fateforger.planning.task_details import WAY, BlockPlace, place_of, retime_blocks, to_timing
from fateforger.planning.timing import GRID, ceil, find_next_fit, instant, zone
from fateforger.quality.rubric import MEAL, View, begin, finish
from fateforger.text import gettext as _
from fateforger.text import join_words, ngettext, quote_title
from fateforger.values import replace

_STEP = timedelta(minutes=GRID)
_KEPT = timedelta(minutes=15)
"""Longest gap that counts as a break, which moves along with the block after it."""
_MEND_STEPS = 300
_LONGEST = 75
_TITLE = 32
Places = Mapping[str, BlockPlace]


@dataclass(frozen=True, slots=True)
class NewBlock:
    """A block to be added."""

    place: BlockPlace
    key: str
    name: str
    kind: ET
    notes: str = ""


@dataclass(frozen=True)
class Move:
    """A candidate fix: the new places of blocks, by key, and the blocks to add."""

    label: str
    places: Places
    added: tuple[NewBlock, ...] = ()

    def patch(self, view: View) -> Patch:
        """Return the move as ops on the view's plan.

        Raises pydantic's ``ValidationError`` for times that no block can have.
        """
        moves = retime_blocks(view.plan, self.places)
        added = tuple(
            AddBlocks(events=(_event(view, new),), after=_block_before(view, new.place)) for new in self.added
        )
        return Patch(ops=(*moves, *added))


class Timeline:
    """A plan on the time line: its fixed blocks, its movable blocks, and its free time."""

    def __init__(self, view: View) -> None:
        self.view = view
        now = view.context.now
        pinned = {pin.key for pin in view.instance.pinned}
        self.fixed = {
            b.key for b in view.blocks if b.key in pinned or _is_commute(b) or (now is not None and begin(b) < now)
        }
        self.first = view.start if now is None else max(view.start, now)
        self.busy = [
            (event.start.astimezone(UTC), event.end.astimezone(UTC))
            for event in view.context.events
            if event.start.astimezone(UTC) < event.end.astimezone(UTC)
        ]

    def taken_times(self, *but: str) -> list[tuple[datetime, datetime]]:
        """Return the times of events and blocks, except those of the given blocks."""
        return [*self.busy, *((begin(b), finish(b)) for b in self.view.blocks if b.key not in but)]

    def starts(self, length: timedelta, *but: str) -> Iterator[datetime]:
        """Yield each start on the grid at which ``length`` is free."""
        taken = self.taken_times(*but)
        at = _round_to_grid(self.first)
        while at + length <= self.view.end:
            hit = [end for start, end in taken if start < at + length and at < end]
            if not hit:
                yield at
            at = max(at + _STEP, _round_to_grid(max(hit))) if hit else at + _STEP

    def make_room(self, placed: Places, *, gaps: bool) -> dict[str, BlockPlace] | None:
        """Return these places, and those of later blocks that have to move back.

        With ``gaps``, breaks between blocks are kept, and a break follows each placed block. Returns ``None`` when
        the day is too short.
        """
        walls = [*self.busy, *((begin(b), finish(b)) for b in self.view.blocks if b.key in self.fixed - placed.keys())]
        walls += [(p.start, p.end + (self._tail(key) if gaps else timedelta())) for key, p in placed.items()]
        result = dict(placed)
        before: tuple[datetime, datetime] | None = None
        for block in self.view.blocks:
            if block.key in self.fixed or block.key in placed:
                continue
            start = begin(block)
            if before is not None and before[1] > before[0]:
                gap = start - before[0]
                start = max(start, before[1] + (max(timedelta(), min(gap, _KEPT)) if gaps else timedelta()))
            start = find_next_fit(walls, start, block.duration)
            if start != begin(block):
                result[block.key] = BlockPlace(start, block.duration)
                if start + block.duration > self.view.end:
                    return None
            before = finish(block), start + block.duration
        return result

    def room(self, placed: Places) -> Iterator[dict[str, BlockPlace]]:
        """Yield the arrangements that make room, those that keep breaks first."""
        for gaps in (True, False):
            if (found := self.make_room(placed, gaps=gaps)) is not None:
                yield found

    def _tail(self, key: str) -> timedelta:
        """Return the length of the break that belongs after a block."""
        block = next((b for b in self.view.blocks if b.key == key), None)
        if block is None:
            return timedelta()
        if block.event.type is ET.DEEP_WORK:
            return timedelta(minutes=self.view.policy.after_deep)
        meal = block.event.type is ET.REGENERATION and block.duration >= MEAL
        return timedelta(minutes=self.view.policy.after_meal if meal else 0)


def find_repair(view: View, board: Timeline, also: str | None = None) -> Move | None:
    """Return the fewest and smallest moves after which nothing overlaps and every must is kept.

    The constraint ``also`` is treated as a must. Returns ``None`` where no such moves exist.
    """
    told = tuple(_as_must(each, also) for each in view.instance.constraints)
    musts = tuple(each for each in told if each.constraint_record.necessity is Necessity.MUST)
    pinned = tuple(Pin(key=key) for key in sorted(board.fixed))
    instance = replace(view.instance, constraints=musts, pinned=pinned, previous=None)
    result = repair_plan(view.plan, instance, steps=_MEND_STEPS)
    if not result.moved:
        return None
    was = {block.key: block for block in view.blocks}
    places = {each.key: BlockPlace(each.after.astimezone(UTC), was[each.key].duration) for each in result.moved}
    return Move(move_label(view, places), places)


def _is_commute(block: Resolved) -> bool:
    """Check whether the block is travel to or from an event."""
    return block.event.type is ET.COMMUTE and block.key.startswith(WAY)


def _as_must(told: Told, uid: str | None) -> Told:
    if told.id != uid:
        return told
    record = replace(told.constraint_record, necessity=Necessity.MUST)
    return replace(told, constraint_record=record)


def move_label(view: View, places: Places) -> str:
    """Return the button label for moving these blocks."""
    titles = {block.key: block.event.name for block in view.blocks}
    told = [
        _("{title} to {time}", title=quote_short(titles[key]), time=clock_label(view, place.start))
        for key, place in places.items()
    ]
    label = _("Move {moves}", moves=join_words(told))
    if len(told) < 3 and len(label) <= _LONGEST:
        return label
    return ngettext("Move {count} block out of the way", "Move {count} blocks out of the way", len(told))


def quote_short(title: str) -> str:
    """Quote a title, cut to the length that a button has room for."""
    return quote_title(title, _TITLE)


def clock_label(view: View, when: datetime) -> str:
    """Return a time like ``12:30``, in the plan's zone."""
    return f"{when.astimezone(zone(view.plan.tz)):%H:%M}"


def swap_places(early: Resolved, late: Resolved) -> dict[str, BlockPlace]:
    """Return the places of two blocks that trade places.

    The late one starts where the early one did; the early one ends where the late one did.
    """
    return {
        late.key: BlockPlace(begin(early), late.duration),
        early.key: BlockPlace(finish(late) - early.duration, early.duration),
    }


def move_to(block: Resolved, start: datetime) -> dict[str, BlockPlace]:
    return {block.key: replace(place_of(block), start=start)}


def _event(view: View, new: NewBlock) -> TBEvent:
    timing = to_timing(new.place, view.plan)
    return TBEvent(name=new.name, description=new.notes, type=new.kind, timing=timing, key=new.key)


def _block_before(view: View, place: BlockPlace) -> str | None:
    """Return the key of the block after which a new one is listed."""
    earlier = [block for block in view.resolved_blocks if begin(block) <= place.start]
    return earlier[-1].key if earlier else None


def _round_to_grid(when: datetime) -> datetime:
    return instant(ceil(when))
