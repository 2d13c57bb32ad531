"""Event ids that we choose: a block always gets the same id, and a used id is never used again."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Collection, Mapping
from datetime import date, datetime
from zoneinfo import ZoneInfo

from fateforger.sync.model import OWNED_PREFIX, EventFields, OwnedId

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
