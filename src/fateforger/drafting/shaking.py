"""One destroy-and-repair step: remove a few blocks, then reinsert them in another order."""

from __future__ import annotations

from fateforger.drafting.axis import longest_run, slot_range
from fateforger.drafting.items import Item
from fateforger.drafting.layout import Layout

_WAYS = 8
"""Number of equally likely step types.

Type 0 clears a stretch of time, types 1 to 3 remove a few blocks anywhere, and the rest clear a place for an item
that was left out.
"""
_AGAIN = 9
"""One in this many steps of the last type clears a place for an item that is placed already."""
_PIECE = 3
"""One in this many splittable items gets a place for a first piece of any length."""
_CUT = 6
"""One in this many items is cut into as many pieces as allowed, although it fits in one."""


class PseudoRandom:
    """Deterministic pseudorandom numbers (xorshift)."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = (seed * 0x9E3779B97F4A7C15 + 0x2545F4914F6CDD1D) & 0xFFFFFFFFFFFFFFFF or 1

    def below(self, bound: int) -> int:
        """Return a number from 0 up to, but not including, ``bound``."""
        x = self._state
        x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 7
        x ^= (x << 17) & 0xFFFFFFFFFFFFFFFF
        self._state = x
        return (x >> 16) % bound


def destroy_and_repair(layout: Layout, movable: list[Item], lot: PseudoRandom, spare: int) -> Layout | None:
    """Return a neighboring layout; required items may be missing from it.

    Returns ``None`` once its cost is known to exceed ``spare``, in fractions of a point.
    """
    there = [item for item in movable if layout.placed[item.index]]
    out = [item for item in movable if not layout.placed[item.index]]
    way = lot.below(_WAYS)
    if way > 3 and (out or there):
        some = out if out and (not there or lot.below(_AGAIN)) else there
        trial = _force_item(layout, there, some[lot.below(len(some))], lot)
    else:
        trial = layout.remove_items(item.index for item in _choose_removals(layout, there, way, lot))
    for item in there:
        spare -= item.costs.get(trial.placed[item.index], 0)
    return trial if _reinsert(trial, movable, out, lot, spare) else None


def _choose_removals(layout: Layout, there: list[Item], way: int, lot: PseudoRandom) -> list[Item]:
    if not there:
        return []
    if way == 0:
        at = layout.placed[there[lot.below(len(there))].index][0][0]
        reach = 6 + lot.below(30)
        return [i for i in there if any(abs(s - at) < reach for s, _ in layout.placed[i.index])]
    return [there[lot.below(len(there))] for _ in range(1 + lot.below(4))]


def _force_item(layout: Layout, there: list[Item], item: Item, lot: PseudoRandom) -> Layout:
    """Place an item at a random start and remove what is in the way.

    Of two such starts, the one that displaces less is used.
    """
    length = item.lengths[lot.below(len(item.lengths))][0]
    if item.most_pieces > 1 and length >= 2 * item.shortest and not lot.below(_PIECE):
        length = item.shortest + lot.below(length - 2 * item.shortest + 1)
    starts = item.starts(length)
    if not starts:
        return layout.remove_items(())
    places = [_find_obstacles(layout, there, _choose_slot(starts, lot), length, item.gap) for _ in range(2)]
    _, start, off = min(places)
    trial = layout.remove_items((*off, item.index))
    piece = (start, length)
    if trial.placed[item.index] or not trial.fits(item, (piece,)):
        return trial
    if length == item.slots or item.most_pieces == 1:
        trial.take(item, (piece,))
        return trial
    begun = trial.copy()
    begun.take(item, (piece,))
    rest = begun.find_best(item, item.slots - length)
    if rest is not None:
        trial.take(item, tuple(sorted((piece, (rest[1], item.slots - length)))))
    return trial


def _choose_slot(slots: int, lot: PseudoRandom) -> int:
    for _ in range(lot.below(slots.bit_count())):
        slots &= slots - 1
    return (slots & -slots).bit_length() - 1


def _find_obstacles(layout: Layout, there: list[Item], start: int, slots: int, gap: int) -> tuple[int, int, list[int]]:
    """Return the reward of the items in the way, the start, and their indexes."""
    piece, place = slot_range(start, start + slots), slot_range(start, start + slots + gap)
    worth, off = 0, []
    for item in there:
        taken, kept, _ = layout.mark(item, layout.placed[item.index])
        if taken & place or kept & piece:
            worth += item.reward
            off.append(item.index)
    return worth, start, off


def _reinsert(trial: Layout, movable: list[Item], out: list[Item], lot: PseudoRandom, spare: int) -> bool:
    """Reinsert what there is room for, in random order.

    Returns false once more than ``spare`` is lost.
    """
    back = [item for item in movable if not trial.placed[item.index]]
    way = lot.below(4)
    if way == 0:
        back.sort(key=lambda i: (not i.required, -i.slots, i.index))
    elif way == 1:
        back.sort(key=lambda i: (not i.required, -i.reward, i.index))
    else:
        for place in range(len(back) - 1, 0, -1):
            other = lot.below(place + 1)
            back[place], back[other] = back[other], back[place]
        if way == 2 and out:
            back.sort(key=lambda i: i not in out)
    everywhere = trial.problem.everywhere
    room, longest = _room(trial, everywhere)
    for item in back:
        least, shortest = item.smallest
        if least <= room and shortest <= longest and trial.insert(item, cut=not lot.below(_CUT), quick=True):
            room, longest = _room(trial, everywhere)
            continue
        spare -= trial.problem.lost[item.index]
        if spare < 0:
            return False
    return True


def _room(layout: Layout, everywhere: int) -> tuple[int, int]:
    """Return the number of open slots and the longest run of them."""
    free = everywhere & ~(layout.taken | layout.kept)
    return free.bit_count(), longest_run(free)
