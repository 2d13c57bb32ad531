"""The blocks of a history while it is taken back on paper: what is there, and what will be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fateforger.plan import zone
from fateforger.sync.canonical import Canon, canon, is_timed
from fateforger.sync.model import EventImage, Head, Ledger, Snapshot, SyncOp
from fateforger.sync.ownership import obstacle_to


@dataclass
class Lineage:
    """One block: ``event`` and ``head`` are as they stand, and stay; ``now`` is how it shows on paper (``None``: not
    at all) and ``known`` the record from which the plan before will be read. It changes step by step, from the
    latest op to the first; ``first`` is the earliest op seen so far.
    """

    event: EventImage | None
    head: Head | None
    first: SyncOp
    now: Canon | None = None
    known: Head | None = None
    released: bool = False
    told: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.known = self.head
        if self.event is not None and is_timed(self.event):
            self.now = canon(self.event)

    @property
    def shown(self) -> Canon | None:
        """How the calendar shows it, if it does, as a timed event."""
        return canon(self.event) if self.event is not None and is_timed(self.event) else None

    @property
    def gone(self) -> bool:
        """Whether nothing of it is left, on paper."""
        return self.now is None and (self.event is None or is_timed(self.event))

    @property
    def obstacle(self) -> str | None:
        """Why the event that is there must not be written to, if so."""
        return None if self.event is None else obstacle_to(self.event)

    def release(self, sentence: str) -> None:
        """Leave it to the person from now on."""
        self.released = True
        self.told.append(sentence)

    def known_as(self, head: Head | None) -> None:
        """Go back to the record as it stood before an op."""
        if head is not None:
            self.known = head


class Lineages:
    """All blocks that a history touched. An event that was re-created since is found by the key of its block."""

    def __init__(self, snapshot: Snapshot, ledger: Ledger) -> None:
        self.day = snapshot.day
        self.tz = zone(snapshot.tz)
        self.generations = dict(ledger.generations)
        self.taken = {e.id for e in snapshot.events} | set(snapshot.fetched) | {h.event_id for h in ledger.heads}
        seen = (*snapshot.events, *filter(None, snapshot.fetched.values()))
        self._live = {event.id: event for event in seen if not event.gone}
        self._heads = {head.key: head for head in ledger.heads}
        self._by_id: dict[str, Lineage] = {}

    def __iter__(self) -> Iterator[Lineage]:
        """Each once, by when it was or will be, then by the id of its first event."""
        each = {id(lineage): lineage for lineage in self._by_id.values()}
        return iter(sorted(each.values(), key=_place))

    def of(self, op: SyncOp) -> Lineage:
        """The lineage that an op belongs to, with the op noted as its earliest."""
        current = self._current_id(op)
        lineage = self._by_id.get(op.event_id) or self._by_id.get(current)
        if lineage is None:
            head = next((h for h in self._heads.values() if h.event_id == current), None) or self._heads.get(op.key)
            lineage = Lineage(self._live.get(current), head, op)
        lineage.first = op
        self._by_id[op.event_id] = self._by_id[current] = lineage
        return lineage

    def free_key(self, lineage: Lineage, key: str) -> bool:
        """Whether a block may be known by a key: no other event on the calendar is."""
        holder = self._heads.get(key)
        return holder is None or holder is lineage.head or holder.event_id not in self._live

    def _current_id(self, op: SyncOp) -> str:
        """The op's event, or the live one that its block has by now."""
        if op.event_id in self._live:
            return op.event_id
        keys = [op.key] if op.head_before is None else [op.key, op.head_before.key]
        heads = [head for key in keys if (head := self._heads.get(key)) is not None]
        return next((head.event_id for head in heads if head.event_id in self._live), op.event_id)


def _place(lineage: Lineage) -> tuple[str, str]:
    shape = lineage.now or lineage.shown
    return "" if shape is None else shape.start.isoformat(), lineage.first.event_id
