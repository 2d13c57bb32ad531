"""Sort the events of a snapshot into ours, with the proof, and foreign ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from fateforger.sync.canonical import is_timed
from fateforger.sync.ids import list_minted
from fateforger.sync.model import EventImage, Head, Ledger, Marker, OwnedId, Snapshot


class Proof(Enum):
    """The evidence that an event is ours."""

    HEAD = "the ledger says so"
    MINTED = "it has our mark and an id that this ledger minted"
    MARKED = "it has our mark, but this ledger knows nothing of it"


class Owned(NamedTuple):
    """A live event of ours that belongs to the day. ``obstacle`` says why it must not be written to, if so."""

    event: EventImage
    key: str
    proof: Proof
    head: Head | None
    obstacle: str | None

    @property
    def generation(self) -> int:
        """The generation of the event's id."""
        if self.head is not None:
            return self.head.generation
        return 0 if self.event.marker is None else self.event.marker.generation


@dataclass(frozen=True, slots=True)
class Sides:
    """A snapshot sorted by owner.

    ``owned`` and ``foreign`` are ordered by start, then id. ``foreign`` holds live timed events that are shown as busy;
    ``live`` is every live event by its id.
    """

    owned: tuple[Owned, ...]
    foreign: tuple[EventImage, ...]
    live: Mapping[str, EventImage]


def sort_sides(snapshot: Snapshot, ledger: Ledger) -> Sides:
    """Sort a snapshot.

    An event is ours if the ledger has it for the day, or if its id has our form *and* it has our marker for that day.
    Everything else is foreign: copies with our marker, occurrences of series, events of another day's plan.
    """
    live = {e.id: e for e in (*snapshot.events, *filter(None, snapshot.fetched.values())) if not e.gone}
    heads = {h.event_id: h for h in ledger.heads}
    ours = {i for i, e in live.items() if OwnedId.is_one(i) and (i in heads or _is_marked(e, snapshot))}
    minted = frozenset[str]() if ours <= heads.keys() else list_minted(ledger.generations)
    series = {e.series_id for e in live.values() if e.series_id is not None}
    owned: list[Owned] = []
    foreign: list[EventImage] = []
    for event in sorted(live.values(), key=_sort_key):
        if event.id in ours:
            head = heads.get(event.id)
            proof = Proof.HEAD if head is not None else Proof.MINTED if event.id in minted else Proof.MARKED
            key = head.key if head is not None else event.marker.key if event.marker is not None else event.id
            owned.append(Owned(event, key, proof, head, find_obstacle(event, is_series=event.id in series)))
        elif is_timed(event) and event.busy:
            foreign.append(event)
    return Sides(tuple(owned), tuple(foreign), live)


def find_obstacle(event: EventImage, *, is_series: bool = False) -> str | None:
    """Return the reason an event with an id of ours must not be written to, if any."""
    if is_series or event.series_id is not None or event.raw.get("recurrence"):
        return "it repeats now"
    if event.event_type != "default" or not event.organized_by_me:
        return "it is of another kind now"
    if Marker.find_day(event.properties) is None:
        return "it lost the mark that makes it ours"
    if not is_timed(event):
        return "it is an all-day event now"
    return None


def _is_marked(event: EventImage, snapshot: Snapshot) -> bool:
    return Marker.find_day(event.properties) == snapshot.day


def _sort_key(event: EventImage) -> tuple[int, float, str]:
    """Return the sort key: all-day events first, then by start and id."""
    start = event.start
    return (1, start.timestamp(), event.id) if isinstance(start, datetime) else (0, start.toordinal(), event.id)
