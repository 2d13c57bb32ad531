"""Lineages: the blocks of a history while it is undone in memory, with their current and their future state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fateforger.calendar.event import (
    MANAGED,
    Canon,
    EventExtras,
    EventImage,
    find_missing_extras,
)
from fateforger.calendar.model import Head, Ledger, Snapshot, Standing, SyncOp
from fateforger.planning.timing import zone
from fateforger.text import gettext as _
from fateforger.text import quote_title


@dataclass
class Lineage:
    """One block.

    ``event`` and ``head`` are the actual state and stay. ``now`` is the block's simulated state (``None``: absent) and
    ``known`` the record to compare it with. Both change step by step, from the latest op to the first; ``first`` is the
    earliest op seen so far.
    """

    event: EventImage | None
    head: Head | None
    first: SyncOp
    now: Canon | None = None
    known: Head | None = None
    key: str = ""
    """The key of the block once all steps are undone."""
    extras: EventExtras | None = None
    """The simulated extras; ``None`` when nothing of them is left."""
    released: bool = False
    brought_back: bool = False
    """True if the person brought it back after its record had passed to another event."""
    keeps_color: bool = False
    """True if it has to keep our color, because the calendar cannot remove it."""
    told: list[str] = field(default_factory=list)
    ids: dict[str, None] = field(default_factory=dict)
    """All its event ids, as an ordered set."""

    def __post_init__(self) -> None:
        self.known = self.head
        if self.event is not None and self.event.is_timed:
            self.now = self.event.canon
            self.extras = self.event.extras

    @property
    def current(self) -> Canon | None:
        """The block as the calendar shows it, if it does, as a timed event."""
        return self.event.canon if self.event is not None and self.event.is_timed else None

    @property
    def is_gone(self) -> bool:
        """Check whether nothing of it is left in the simulation."""
        return self.now is None and (self.event is None or self.event.is_timed)

    @property
    def was_removed(self) -> bool:
        """Check whether it is gone because we removed it, as an interrupted undo may have."""
        return self.now is None and self.known is not None and self.known.standing is Standing.REMOVED

    @property
    def was_brought_back(self) -> bool:
        """Check whether the person brought its event back: a record of it, now or in the simulation, has it as gone."""
        gone = {Standing.REMOVED, Standing.DELETED}
        records = (self.head, self.known)
        known = any(head is not None and head.standing in gone for head in records)
        return self.brought_back or (self.event is not None and known)

    @property
    def was_released(self) -> bool:
        """Check whether it was left to the person before, now or in the simulation."""
        return any(head is not None and head.standing is Standing.RELEASED for head in (self.head, self.known))

    @property
    def stays(self) -> bool:
        """Check whether an event of it will be on the calendar."""
        return self.now is not None or not self.is_gone

    @property
    def obstacle(self) -> str | None:
        """The reason the existing event must not be written to, if any."""
        return None if self.event is None else self.event.obstacle

    @property
    def may_change(self) -> bool:
        """Check whether there is an event that may be written to."""
        return self.current is not None and self.obstacle is None and not self.released

    @property
    def key_known(self) -> str:
        """The key of the block before the earliest op, or in it."""
        return self.first.key if self.known is None else self.known.key

    def has_restored(self, event_id: str) -> bool:
        """Check whether its own simulated record says that it brought that event back."""
        return self.known is not None and self.known.event_id in self.ids and event_id in self.known.restores

    def holds_more_than(self, other: Lineage) -> bool:
        """Check whether its simulated state has extras that the other's event lacks and that an update cannot write."""
        if self.extras is None or other.event is None:
            return False
        return bool(find_missing_extras(self.extras, other.event.extras))

    def take_over(self, other: Lineage) -> None:
        """Take over the simulated state of another lineage that has no event left."""
        self.now, self.known = other.now, other.known
        self.told += other.told
        self.ids |= other.ids
        other.now, other.told = None, []

    def changed_since(self, left: Canon) -> frozenset[str]:
        """Return the managed fields in which its simulated state differs from what we ``left``.

        A field that an undo could not restore is not the person's as long as the calendar shows what we wrote.
        """
        head, shown, now = self.head, self.current, self.now
        if now is None:
            return frozenset()
        differing = {name for name in MANAGED if getattr(now, name) != getattr(left, name)}
        if head is not None and shown is not None and differing & {*head.unrestored}:
            base = head.base.canon
            ours = {n for n in head.unrestored if getattr(base, n) == getattr(shown, n) == getattr(now, n)}
            differing -= ours
        return frozenset(differing)

    def keep_color(self) -> None:
        """Keep our color where there was none before: the calendar can change a color but not remove it."""
        if self.now is None or self.current is None or self.now.color_id is not None or self.current.color_id is None:
            return
        self.now = self.now._replace(color_id=self.current.color_id)
        self.keeps_color = True
        self.told.append(
            _(
                "{title} keeps the color I gave it. Your calendar lets me change a color, but not take it away.",
                title=quote_title(self.now.summary),
            )
        )

    def release(self, sentence: str) -> None:
        """Leave it to the person from now on."""
        self.released = True
        self.told.append(sentence)

    def known_as(self, head: Head | None) -> None:
        """Go back to the record before an op."""
        if head is not None:
            self.known = head
            self.ids |= dict.fromkeys(head.restores if head.event_id in self.ids else ())


class Lineages:
    """All blocks that a history touched. An event that was brought back under another id is found by its old id."""

    def __init__(self, snapshot: Snapshot, ledger: Ledger) -> None:
        self.day = snapshot.day
        self.tz = zone(snapshot.tz)
        self.generations = dict(ledger.generations)
        self.add_salt = ledger.add_salt
        self.taken = {*snapshot.asked_ids, *(h.event_id for h in ledger.heads)}
        self._live = snapshot.live
        self._brought_back = ledger.brought_back
        self._heads = {head.key: head for head in ledger.heads}
        self._by_id: dict[str, Lineage] = {}

    def __iter__(self) -> Iterator[Lineage]:
        """Iterate over the lineages once each, by time, then by the id of the first event."""
        each = {id(lineage): lineage for lineage in self._by_id.values()}
        return iter(sorted(each.values(), key=_sort_key))

    def of(self, op: SyncOp) -> Lineage:
        """Return the lineage of an op, and set the op as its earliest."""
        lineage = self._by_id.get(op.event_id) or self._find_lineage(op)
        lineage.first = op
        lineage.ids[op.event_id] = None
        self._by_id[op.event_id] = lineage
        return lineage

    def has(self, key: str) -> bool:
        """Check whether a block of that key is on the calendar in the simulation.

        This is one that was planned again since, or one that comes back and is left to the person.
        """
        if any(each.released and each.stays and each.key_known == key for each in self):
            return True
        head = self._heads.get(key)
        if head is None or head.event_id not in self._live:
            return False
        lineage = self._by_id.get(head.event_id)
        return lineage is None or (lineage.stays and lineage.key_known == key)

    def join(self) -> None:
        """Let a block that comes back take over the event of the same block that would go.

        A block that was planned again since need not go for the older one, unless the older one had extras that it
        lacks.
        """
        going = {other.key_known: other for other in self if other.now is None and other.may_change}
        for lineage in self:
            if lineage.event is None and lineage.now is not None:
                other = going.get(lineage.key_known)
                if other is not None and not lineage.holds_more_than(other):
                    del going[lineage.key_known]
                    other.take_over(lineage)

    def give_keys(self) -> frozenset[str]:
        """Give every block the key of its earlier record, unless another one has it; return all keys in use.

        In a history, keys pass from block to block.
        """
        mine = {id(lineage.head) for lineage in self}
        used = {key for key, head in self._heads.items() if id(head) not in mine and head.event_id in self._live}
        for lineage in self:
            records = (lineage.known, lineage.head)
            keys = [*(head.key for head in records if head is not None), lineage.first.key]
            options = [*([] if lineage.brought_back else keys), lineage.first.event_id]
            lineage.key = next((key for key in options if key not in used), options[-1])
            if lineage.stays:
                used.add(lineage.key)
        return frozenset(used)

    def _find_lineage(self, op: SyncOp) -> Lineage:
        """Return the lineage of the op's event, or of the one that brought it back.

        The current records are searched first, then the simulated records of blocks that come back.
        """
        head = next((h for h in self._heads.values() if op.event_id in {h.event_id, *h.restores}), None)
        if head is None:
            back = (each for each in self._by_id.values() if each.now is not None and each.has_restored(op.event_id))
            if (lineage := next(back, None)) is not None:
                return lineage
        current = op.event_id if head is None else head.event_id
        if current not in self._by_id:
            ids = dict.fromkeys(() if head is None else (head.event_id, *head.restores))
            event, brought_back = self._live.get(current), current in self._brought_back
            self._by_id[current] = Lineage(event, head, op, ids=ids, brought_back=brought_back)
        return self._by_id[current]


def _sort_key(lineage: Lineage) -> tuple[str, str]:
    shape = lineage.now or lineage.current
    return "" if shape is None else shape.start.isoformat(), lineage.first.event_id
