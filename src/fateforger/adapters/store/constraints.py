"""People's constraints in SQL: their versions, a cache, and the list of those that the index does not show."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from threading import Lock
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Connection, Index, Row, Text, UniqueConstraint, bindparam, delete, exists, func, insert, select
from sqlmodel import Field

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.documents import CONSTRAINT_VERSION, expect_version, parse
from fateforger.adapters.store.tables import AutoNumber, Base, Instant, table
from fateforger.errors import ConstraintUnreadable, InternalError, StoreUnavailable, VersionConflict
from fateforger.memory.documents import check_person, check_version, write_record
from fateforger.memory.ports import IndexTask
from fateforger.memory.record import ConstraintRecord
from fateforger.memory.versions import Event, Version
from fateforger.values import replace


class ConstraintVersion(Base, table=True):
    """A version of a person's constraint; rows are only added, and deleted when the person is erased.

    ``written_at`` (system time), event, session and person override the text. The columns between them (name, status,
    scope, valid days) repeat the text for queries by hand.
    """

    __tablename__ = "constraint_version"
    __table_args__ = (
        Index("ix_constraint_version_person", "user_id", "seq"),
        Index("ix_constraint_version_uid", "user_id", "uid", "seq"),
        UniqueConstraint("user_id", "cause", "place"),
        {"sqlite_autoincrement": True},
    )

    seq: int | None = Field(default=None, primary_key=True, sa_type=AutoNumber)
    user_id: str = Field(sa_type=Text)
    uid: str = Field(sa_type=Text)
    cause: str = Field(sa_type=Text)
    place: int
    created_at: datetime = Field(sa_type=Instant)
    written_at: datetime = Field(sa_type=Instant)
    action: str = Field(sa_type=Text)
    reason: str | None = Field(default=None, sa_type=Text)
    session_id: str | None = Field(default=None, sa_type=Text)
    name: str = Field(sa_type=Text)
    status: str = Field(sa_type=Text)
    scope: str = Field(sa_type=Text)
    valid_from: date | None = None
    valid_until: date | None = None
    schema_version: int
    record: str = Field(sa_type=Text)


class ConstraintUnindexed(Base, table=True):
    """A constraint that the index does not show yet. It may be listed several times; ``place`` is the order."""

    __tablename__ = "constraint_unindexed"
    __table_args__ = (Index("ix_constraint_unindexed", "user_id", "uid", "place"), {"sqlite_autoincrement": True})

    place: int | None = Field(default=None, primary_key=True, sa_type=AutoNumber)
    user_id: str = Field(sa_type=Text)
    uid: str = Field(sa_type=Text)


VERSION = table(ConstraintVersion)


@dataclass(frozen=True, slots=True)
class Damaged:
    """A row that cannot be read. Its columns still give the constraint and the time it was written."""

    uid: str
    name: str
    updated_at: datetime
    seq: int
    why: str


def build_version_values(version: Version, cause: str, place: int) -> dict[str, Any]:
    """Return the row of the ``place``-th version written for ``cause``."""
    record = version.record
    return {
        "user_id": version.user_id,
        "uid": version.uid,
        "cause": cause,
        "place": place,
        "created_at": version.created_at,
        "written_at": version.updated_at,
        "action": version.event.action.value,
        "reason": version.event.reason,
        "session_id": version.session_id,
        "name": record.name.replace("\x00", "\ufffd"),
        "status": record.status.value,
        "scope": record.scope.value,
        "valid_from": record.applicability.start_date,
        "valid_until": record.applicability.end_date,
        "schema_version": CONSTRAINT_VERSION,
        "record": json.dumps(write_record(record), separators=(",", ":")),  # ASCII only, so that any database takes it
    }


def read_version_row(row: Row[Any]) -> Version | Damaged:
    """Return the version, or the reason it cannot be read."""
    what = f"The constraint “{row.name}” ({row.uid})"
    try:
        return _parse_version(row, what)
    except StoreUnavailable as error:
        why = error.message
    except ValidationError:
        why = f"{what} cannot be read from the database: its columns do not go together."
    return Damaged(row.uid, row.name, row.written_at, row.seq, why)


def _parse_version(row: Row[Any], what: str) -> Version:
    expect_version(what, row.schema_version, CONSTRAINT_VERSION)
    record = parse(ConstraintRecord, row.record, what)
    if record.lifecycle.uid != row.uid:
        raise StoreUnavailable(f"{what} cannot be read from the database: its text is that of another one.")
    return Version(
        user_id=row.user_id,
        record=record,
        created_at=row.created_at,
        updated_at=row.written_at,
        event=Event(action=row.action, reason=row.reason),
        session_id=row.session_id,
        seq=row.seq,
    )


UNINDEXED = table(ConstraintUnindexed)

_UNINDEXED_OF_USER = UNINDEXED.c.user_id == bindparam("of_user")
_UNINDEXED_SAME = _UNINDEXED_OF_USER & (UNINDEXED.c.uid == bindparam("of_uid"))
_INSERT_UNINDEXED = insert(UNINDEXED)
_REMOVE_UNINDEXED = delete(UNINDEXED).where(_UNINDEXED_SAME, UNINDEXED.c.place <= bindparam("up_to"))
_FORGET_UNINDEXED = delete(UNINDEXED).where(_UNINDEXED_OF_USER)
_ALL_UIDS = select(VERSION.c.uid).where(VERSION.c.user_id == bindparam("of_user")).distinct().order_by(VERSION.c.uid)

_twin = UNINDEXED.alias("twin")
_twins = (_twin.c.user_id == UNINDEXED.c.user_id) & (_twin.c.uid == UNINDEXED.c.uid)
_NEXT_UNINDEXED = (
    select(
        UNINDEXED.c.place,
        UNINDEXED.c.user_id,
        UNINDEXED.c.uid,
        select(func.max(_twin.c.place)).where(_twins).scalar_subquery().label("latest"),
    )
    .where(UNINDEXED.c.place > bindparam("after"), ~exists().where(_twins, _twin.c.place < UNINDEXED.c.place))
    .order_by(UNINDEXED.c.place)
    .limit(bindparam("at_most"))
)
_NEWEST_VERSION = (
    select(VERSION)
    .where(VERSION.c.user_id == bindparam("of_user"), VERSION.c.uid == bindparam("of_uid"))
    .order_by(VERSION.c.written_at.desc(), VERSION.c.seq.desc())
    .limit(1)
)


def put_on_list(connection: Connection, user_id: str, uids: Iterable[str]) -> None:
    """List constraints that the index has to process again."""
    rows = [{"user_id": user_id, "uid": uid} for uid in uids]
    if rows:
        connection.execute(_INSERT_UNINDEXED, rows)


def put_all_on_list(connection: Connection, user_id: str) -> int:
    """List all constraints of a person once each; return their number."""
    uids = connection.execute(_ALL_UIDS, {"of_user": user_id}).scalars().all()
    connection.execute(_FORGET_UNINDEXED, {"of_user": user_id})
    put_on_list(connection, user_id, uids)
    return len(uids)


def list_waiting(connection: Connection, limit: int) -> tuple[IndexTask, ...]:
    """Return the tasks that have waited longest.

    A constraint that cannot be read keeps its place and blocks no other.
    """
    found: list[IndexTask] = []
    after = 0
    while len(found) < limit:
        rows = connection.execute(_NEXT_UNINDEXED, {"after": after, "at_most": limit}).all()
        found += (task for row in rows if (task := _to_task(connection, row)) is not None)
        if len(rows) < limit:
            break
        after = rows[-1].place
    return tuple(found[:limit])


def remove_from_list(connection: Connection, tasks: Sequence[IndexTask]) -> None:
    """Remove tasks from the list, unless the constraint was listed again since."""
    for task in tasks:
        connection.execute(_REMOVE_UNINDEXED, {"of_user": task.user_id, "of_uid": task.uid, "up_to": task.seq})


def _to_task(connection: Connection, row: Row[Any, Any, Any, Any]) -> IndexTask | None:
    newest = connection.execute(_NEWEST_VERSION, {"of_user": row.user_id, "of_uid": row.uid}).first()
    version = None if newest is None else read_version_row(newest)
    return None if isinstance(version, Damaged) else IndexTask(row.user_id, row.uid, row.latest, version)


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


MAX_CAUSE = 400
_LONG_AGO = datetime.min.replace(tzinfo=UTC)

_INSERT = insert(VERSION)
_BY_CAUSE = select(VERSION).where(_MINE, VERSION.c.cause == bindparam("of_cause")).order_by(VERSION.c.place)
_NEWEST_SEQ = (
    select(VERSION.c.seq, VERSION.c.written_at)
    .where(_MINE, VERSION.c.uid == bindparam("of_uid"))
    .order_by(VERSION.c.written_at.desc(), VERSION.c.seq.desc())
    .limit(1)
)
_PEOPLE = select(VERSION.c.user_id).distinct()
_UIDS = select(VERSION.c.uid).where(_MINE).distinct().order_by(VERSION.c.uid)
_FORGET = delete(VERSION).where(_MINE)


class SqlConstraints:
    """Implements :class:`fateforger.memory.ports.Constraints` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cache = ConstraintCache()
        self._after: Callable[[], None] = lambda: None

    def on_write(self, after: Callable[[], None]) -> None:
        """Call ``after`` whenever this object adds to the list of constraints to index."""
        self._after = after

    async def of(self, user_id: str) -> tuple[Version, ...]:
        check_person(user_id)
        known = await self._database.read(lambda connection: self._cache.look(connection, user_id))
        return known.whole()

    async def readable(self, user_id: str) -> tuple[Version, ...]:
        check_person(user_id)
        known = await self._database.read(lambda connection: self._cache.look(connection, user_id))
        return known.readable

    async def write(
        self, versions: Sequence[Version], *, cause: str, expected: Mapping[str, int] | None = None
    ) -> tuple[Version, ...]:
        if not versions:
            return ()
        user_id = _require_one_person(versions)
        _check_cause(cause)
        new = tuple(check_version(version) for version in versions)
        written = await self._database.write_alone(
            user_id, lambda connection: _write(connection, user_id, new, cause, expected or {})
        )
        self._after()
        return written

    async def find_written(self, user_id: str, cause: str) -> tuple[Version, ...]:
        check_person(user_id)
        _check_cause(cause)
        return await self._database.read(lambda connection: _find_written(connection, user_id, cause))

    async def people(self) -> tuple[str, ...]:
        found = await self._database.read(lambda connection: connection.execute(_PEOPLE).scalars().all())
        return tuple(sorted(found))

    async def forget(self, user_id: str) -> int:
        check_person(user_id)
        count = await self._database.write_alone(user_id, lambda connection: _forget(connection, user_id))
        await self._database.scrub()
        self._after()
        return count

    async def list_unindexed(self, *, limit: int = 100) -> tuple[IndexTask, ...]:
        return await self._database.read(lambda connection: list_waiting(connection, limit))

    async def mark_indexed(self, tasks: Sequence[IndexTask]) -> None:
        if not tasks:
            return
        await self._database.write(lambda connection: remove_from_list(connection, tasks))
        if any(task.version is None for task in tasks):
            await self._database.scrub()

    async def reindex(self, user_id: str | None = None) -> int:
        people = await self.people() if user_id is None else (check_person(user_id),)
        return sum([await self._put_on_list(person) for person in people])

    async def _put_on_list(self, user_id: str) -> int:
        count = await self._database.write_alone(user_id, lambda connection: put_all_on_list(connection, user_id))
        self._after()
        return count


def _require_one_person(versions: Sequence[Version]) -> str:
    user_id, *others = {version.user_id for version in versions}
    if others:
        raise InternalError("Constraints of several people cannot be written as one.")
    return user_id


def _check_cause(cause: str) -> None:
    if not 0 < len(cause) <= MAX_CAUSE:
        raise InternalError(f"What leads to a constraint needs a name of 1 to {MAX_CAUSE} characters.")


def _write(
    connection: Connection, user_id: str, versions: Sequence[Version], cause: str, expected: Mapping[str, int]
) -> tuple[Version, ...]:
    before = _find_written(connection, user_id, cause)
    if before:
        return before
    newest = {uid: _find_newest(connection, user_id, uid) for uid in expected}
    for uid, seq in expected.items():
        if newest[uid][0] != seq:
            raise VersionConflict("This constraint was changed in the meantime.", where=uid)
    later = [
        _postpone_to(version, newest[version.uid][1]) if version.uid in newest else version for version in versions
    ]
    done = tuple(_insert(connection, version, cause, place) for place, version in enumerate(later))
    put_on_list(connection, user_id, dict.fromkeys(version.uid for version in done))
    return done


def _find_newest(connection: Connection, user_id: str, uid: str) -> tuple[int, datetime]:
    """Return the seq of the newest version, 0 for none, and the time it was written."""
    row = connection.execute(_NEWEST_SEQ, {"of_user": user_id, "of_uid": uid}).first()
    return (0, _LONG_AGO) if row is None else (row.seq, row.written_at)


def _postpone_to(version: Version, instant: datetime) -> Version:
    """Return the version with a time no earlier than ``instant``, so that order holds even if the clock is behind."""
    return version if version.updated_at >= instant else replace(version, updated_at=instant)


def _insert(connection: Connection, version: Version, cause: str, place: int) -> Version:
    key = connection.execute(_INSERT, build_version_values(version, cause, place)).inserted_primary_key
    assert key is not None  # noqa: S101  for the type checker: an insert of one row has one
    return replace(version, seq=key.seq)


def _find_written(connection: Connection, user_id: str, cause: str) -> tuple[Version, ...]:
    rows = [read_version_row(row) for row in connection.execute(_BY_CAUSE, {"of_user": user_id, "of_cause": cause})]
    damaged = [row for row in rows if isinstance(row, Damaged)]
    if damaged:
        raise build_unreadable_error(damaged)
    return tuple(row for row in rows if isinstance(row, Version))


def _forget(connection: Connection, user_id: str) -> int:
    mine = {"of_user": user_id}
    put_on_list(connection, user_id, connection.execute(_UIDS, mine).scalars().all())
    return connection.execute(_FORGET, mine).rowcount
