"""Ownership of events: the ids that we choose, and the proof that an event is ours.

A block always gets the same id, and a used id is never used again.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Mapping
from datetime import date, datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from fateforger.calendar.event import OWNED_PREFIX, REPEATS, EventFields, EventImage, OwnedId
from fateforger.calendar.model import Head, Ledger, Snapshot
from fateforger.text import gettext as _

_MOST_PLACES = 400
"""Positions to try when an id has to be traced back to its seed without a record."""


def build_seed(day: date, name: str, start: datetime, index: int) -> str:
    """Return ``date|name|start|index`` (S73).

    ``start`` is the wall clock in its own zone, ``index`` the place in the plan.
    """
    return f"{day.isoformat()}|{name}|{start.time().isoformat()}|{index}"


def mint(seed: str, generation: int = 0) -> OwnedId:
    """Return ``fftb`` and the lowercase base32hex of the seed's SHA-1.

    A later generation appends ``|1``, ``|2``, ... to the seed.
    """
    text = seed if generation == 0 else f"{seed}|{generation}"
    digest = hashlib.sha1(text.encode(), usedforsecurity=False).digest()
    return OwnedId(OWNED_PREFIX + base64.b32hexencode(digest).decode().lower().rstrip("="))


def next_generation(seed: str, generations: Mapping[str, int], taken: Collection[str]) -> int:
    """Return the lowest generation of a seed above all used ones whose id is not in ``taken``."""
    generation = generations.get(seed, -1) + 1
    while mint(seed, generation) in taken:
        generation += 1
    return generation


def list_minted(generations: Mapping[str, int]) -> frozenset[str]:
    """Return every id ever minted, according to the ledger."""
    return frozenset(mint(seed, g) for seed, highest in generations.items() for g in range(highest + 1))


def trace_seed(
    event_id: str, generation: int, generations: Mapping[str, int], day: date, fields: EventFields, tz: ZoneInfo
) -> str:
    """Return the seed of an event's id: one from the ledger, or one built from its own name and start.

    An id that cannot be traced gets the seed of a block at the front of the plan.
    """
    for seed, highest in generations.items():
        if generation <= highest and mint(seed, generation) == event_id:
            return seed
    start = fields.start.astimezone(tz)
    guesses = (build_seed(day, fields.summary, start, index) for index in range(_MOST_PLACES))
    found = next((seed for seed in guesses if mint(seed, generation) == event_id), None)
    return found or build_seed(day, fields.summary, start, 0)


class Owned(NamedTuple):
    """One of our live events that belongs to the day. ``obstacle`` says why it must not be written to, if so.

    ``is_known`` is false if the ledger neither has it nor minted its id: our mark alone may be from another database.
    """

    event: EventImage
    key: str
    is_known: bool
    head: Head | None
    obstacle: str | None

    @property
    def generation(self) -> int:
        """The generation of the event's id."""
        if self.head is not None:
            return self.head.generation
        return 0 if self.event.marker is None else self.event.marker.generation


def sort_sides(snapshot: Snapshot, ledger: Ledger) -> tuple[tuple[Owned, ...], tuple[EventImage, ...]]:
    """Return our live events, and the person's timed ones that are shown as busy, each ordered by start, then id.

    An event is ours if the ledger has it for the day, or if its id has our form *and* it has our marker for that day.
    Everything else is foreign: copies with our marker, occurrences of series, events of another day's plan.
    """
    live = snapshot.live
    heads = {h.event_id: h for h in ledger.heads}
    ours = {i for i, e in live.items() if e.has_owned_id and (i in heads or _is_marked(e, snapshot.day))}
    minted = frozenset[str]() if ours <= heads.keys() else list_minted(ledger.generations)
    series = {e.series_id for e in live.values() if e.series_id is not None}
    owned: list[Owned] = []
    foreign: list[EventImage] = []
    for event_id, event in live.items():
        if event_id in ours:
            head = heads.get(event_id)
            key = head.key if head is not None else event.marker.key if event.marker is not None else event_id
            obstacle = _(REPEATS) if event_id in series else event.obstacle
            owned.append(Owned(event, key, head is not None or event_id in minted, head, obstacle))
        elif event.is_timed and event.busy:
            foreign.append(event)
    return tuple(owned), tuple(foreign)


def _is_marked(event: EventImage, day: date) -> bool:
    return event.marker is not None and event.marker.day == day
