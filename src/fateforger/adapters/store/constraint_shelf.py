"""A cache of people's constraints, so that each row is read only once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

from sqlalchemy import Connection, bindparam, func, select

from fateforger.adapters.store.constraint_rows import VERSION, Damaged, read_version_row
from fateforger.constraints import Version
from fateforger.errors import ConstraintUnreadable

_MINE = VERSION.c.user_id == bindparam("of_user")
_ENDS = select(
    select(func.min(VERSION.c.seq)).where(_MINE).scalar_subquery().label("first"),
    select(func.max(VERSION.c.seq)).where(_MINE).scalar_subquery().label("last"),
)
_SINCE = select(VERSION).where(_MINE, VERSION.c.seq > bindparam("known")).order_by(VERSION.c.seq)


@dataclass(frozen=True)
class KnownRows:
    """A person's rows from the first to the last, readable and damaged."""

    first: int | None = None
    last: int | None = None
    versions: tuple[Version, ...] = ()
    damaged: tuple[Damaged, ...] = ()

    @cached_property
    def lost(self) -> dict[str, Damaged]:
        """The constraints whose newest version cannot be read, by uid. A damaged older one has no effect."""
        newest: dict[str, Version | Damaged] = {}
        rows: list[Version | Damaged] = [*self.versions, *self.damaged]
        for row in sorted(rows, key=lambda row: (row.updated_at, row.seq)):
            newest[row.uid] = row
        return {uid: row for uid, row in newest.items() if isinstance(row, Damaged)}

    def whole(self) -> tuple[Version, ...]:
        """Return all versions. Raises :class:`ConstraintUnreadable`."""
        if self.damaged and self.lost:
            raise build_unreadable_error(self.lost.values())
        return self.versions

    @property
    def readable(self) -> tuple[Version, ...]:
        """All versions except those of the lost constraints."""
        if not self.damaged:
            return self.versions
        return tuple(version for version in self.versions if version.uid not in self.lost)


class ConstraintCache:
    """Keeps the rows of the people who asked last. Called from any thread.

    Each lookup asks the database for two numbers, which tell whether this or another process wrote or deleted rows
    since.
    """

    def __init__(self, people: int = 64) -> None:
        self._people = people
        self._known: OrderedDict[str, KnownRows] = OrderedDict()
        self._lock = Lock()

    def look(self, connection: Connection, user_id: str) -> KnownRows:
        """Return the current rows, as ``connection`` sees them."""
        with self._lock:
            before = self._known.get(user_id, KnownRows())
        ends = connection.execute(_ENDS, {"of_user": user_id}).one()
        if (ends.first, ends.last) == (before.first, before.last):
            return before
        if ends.last is None:
            now = KnownRows()
        elif before.first == ends.first and before.last is not None and before.last < ends.last:
            now = _extend(before, connection, user_id, ends.last)
        else:
            now = _extend(KnownRows(ends.first), connection, user_id, ends.last)
        with self._lock:
            self._known[user_id] = now
            self._known.move_to_end(user_id)
            if len(self._known) > self._people:
                self._known.popitem(last=False)
        return now


def _extend(before: KnownRows, connection: Connection, user_id: str, last: int) -> KnownRows:
    rows = connection.execute(_SINCE, {"of_user": user_id, "known": before.last or 0})
    found = [read_version_row(row) for row in rows]
    return KnownRows(
        before.first,
        last,
        (*before.versions, *(row for row in found if isinstance(row, Version))),
        (*before.damaged, *(row for row in found if isinstance(row, Damaged))),
    )


def build_unreadable_error(rows: Iterable[Damaged]) -> ConstraintUnreadable:
    """Return an error for rows that cannot be read: the first one's message, the number of others, and what to do."""
    first, *others = found = sorted(rows, key=lambda row: row.seq)
    more = f" {len(others)} more cannot be read either." if others else ""
    return ConstraintUnreadable(
        f"{first.why}{more} Say it again or archive it; everything else still counts.",
        names={row.uid: row.name for row in found},
        where=first.uid,
    )
