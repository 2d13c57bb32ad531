"""One step of the search: a few blocks come off, and they and what was left out go back in another order."""

from __future__ import annotations

from functools import reduce
from operator import or_

from fateforger.drafting.items import Item
from fateforger.drafting.layout import Layout

_WAYS = 8
"""Of so many steps one clears a stretch of time, three take off a few blocks anywhere, and the others clear the place
for something that was left out."""
_CUT = 6
"""One in so many is cut into pieces although it fits whole."""


class Lot:
    """Numbers that look drawn by lot and are always the same (xorshift)."""

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = (seed * 0x9E3779B97F4A7C15 + 0x2545F4914F6CDD1D) & 0xFFFFFFFFFFFFFFFF or 1

    def below(self, bound: int) -> int:
        """A number from 0 to before ``bound``."""
        x = self._state
        x ^= (x << 13) & 0xFFFFFFFFFFFFFFFF
        x ^= x >> 7
        x ^= (x << 17) & 0xFFFFFFFFFFFFFFFF
        self._state = x
        return (x >> 16) % bound


def shaken(layout: Layout, movable: list[Item], lot: Lot) -> Layout:
    """Another layout near to this one; what is required may be missing in it."""
    there = [item for item in movable if layout.placed[item.index]]
    out = [item for item in movable if not layout.placed[item.index]]
    way = lot.below(_WAYS)
    if out and way > 3:
        trial = _forced(layout, there, out[lot.below(len(out))], lot)
    else:
        trial = layout.without(item.index for item in _taken_off(layout, there, way, lot))
    _fill(trial, movable, out, lot)
    return trial


def _taken_off(layout: Layout, there: list[Item], way: int, lot: Lot) -> list[Item]:
    if not there:
        return []
    if way == 0:
        at = layout.placed[there[lot.below(len(there))].index][0][0]
        reach = 6 + lot.below(30)
        return [i for i in there if any(abs(s - at) < reach for s, _ in layout.placed[i.index])]
    return [there[lot.below(len(there))] for _ in range(1 + lot.below(4))]


def _forced(layout: Layout, there: list[Item], item: Item, lot: Lot) -> Layout:
    """The item somewhere where it may lie, and what is in its way there taken off."""
    starts = item.starts(item.slots)
    if not starts:
        return layout.without(())
    for _ in range(lot.below(starts.bit_count())):
        starts &= starts - 1
    start = (starts & -starts).bit_length() - 1
    end = start + item.slots + item.gap
    trial = layout.without(
        i.index for i in there if any(s < end and start < s + n + i.gap for s, n in layout.placed[i.index])
    )
    pieces = ((start, item.slots),)
    if not trial.placed[item.index] and trial.fits(item, pieces):
        trial.take(item, pieces)
    return trial


def _fill(trial: Layout, movable: list[Item], out: list[Item], lot: Lot) -> None:
    """Put back what there is room for, in an order that is drawn by lot."""
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
    everywhere = reduce(or_, (item.domain for item in back), 0)
    room = (everywhere & ~(trial.taken | trial.kept)).bit_count()
    for item in back:
        if item.lengths[-1][0] <= room and trial.insert(item, cut=lot.below(_CUT) == 0):
            room = (everywhere & ~(trial.taken | trial.kept)).bit_count()
