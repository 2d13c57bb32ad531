"""People's constraints in SQL: their versions, a cache, and the list of those that the index does not show."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from threading import Lock

from pydantic import ValidationError
from sqlalchemy import Connection, Index, Text, UniqueConstraint, delete, exists, func
from sqlmodel import Field, select
from sqlmodel.sql.expression import SelectOfScalar

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.homes import build_reachable, mark_home
from fateforger.adapters.store.tables import (
    CONSTRAINT_VERSION,
    AutoNumber,
    Base,
    Instant,
    expect_version,
    find_rows,
    iter_keys,
    open_rows,
    parse,
    table,
)
from fateforger.errors import ConstraintUnreadable, InternalError, StoreUnavailable, VersionConflict
from fateforger.limits import MAX_CAUSE_CHARS
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
UNINDEXED = table(ConstraintUnindexed)


@dataclass(frozen=True, slots=True)
class Damaged:
    """A row that cannot be read. Its columns still give the constraint and the time it was written."""

    uid: str
    name: str
    updated_at: datetime
    seq: int
    why: str


def build_version_row(version: Version, cause: str, place: int) -> ConstraintVersion:
    """Return the row of the ``place``-th version written for ``cause``."""
    record = version.record
    return ConstraintVersion(
        user_id=version.user_id,
        uid=version.uid,
        cause=cause,
        place=place,
        created_at=version.created_at,
        written_at=version.updated_at,
        action=version.event.action.value,
        reason=version.event.reason,
        session_id=version.session_id,
        name=record.name.replace("\x00", "\ufffd"),
        status=record.status.value,
        scope=record.scope.value,
        valid_from=record.applicability.start_date,
        valid_until=record.applicability.end_date,
        schema_version=CONSTRAINT_VERSION,
        record=json.dumps(write_record(record), separators=(",", ":")),  # ASCII only, so that any database takes it
    )


def read_version_row(row: ConstraintVersion) -> Version | Damaged:
    """Return the version, or the reason it cannot be read."""
    what = f"The constraint “{row.name}” ({row.uid})"
    try:
        return _parse_version(row, what)
    except StoreUnavailable as error:
        why = error.message
    except ValidationError:
        why = f"{what} cannot be read from the database: its columns do not go together."
    return Damaged(row.uid, row.name, row.written_at, row.seq or 0, why)


def _parse_version(row: ConstraintVersion, what: str) -> Version:
    expect_version(what, row.schema_version, CONSTRAINT_VERSION)
    record = parse(ConstraintRecord, row.record, what)
    if record.lifecycle.uid != row.uid:
        raise StoreUnavailable(f"{what} cannot be read from the database: its text is that of another one.")
    return Version(
        user_id=row.user_id,
        record=record,
        created_at=row.created_at,
        updated_at=row.written_at,
        event=Event.model_validate({"action": row.action, "reason": row.reason}),
        session_id=row.session_id,
        seq=row.seq or 0,
    )


def put_on_list(connection: Connection, user_id: str, uids: Iterable[str]) -> None:
    """List constraints that the index has to process again."""
    with open_rows(connection) as rows:
        rows.add_all(ConstraintUnindexed(user_id=user_id, uid=uid) for uid in uids)


def put_all_on_list(connection: Connection, user_id: str, *, again: bool = False) -> int:
    """List all constraints of a person; return their number. With ``again``, each is listed once."""
    uids = select(VERSION.c.uid).where(VERSION.c.user_id == user_id).distinct().order_by(VERSION.c.uid)
    found = connection.execute(uids).scalars().all()
    if again:
        connection.execute(delete(UNINDEXED).where(UNINDEXED.c.user_id == user_id))
    put_on_list(connection, user_id, found)
    return len(found)


def _list_waiting(connection: Connection, limit: int) -> tuple[IndexTask, ...]:
    """Return the tasks that have waited longest.

    A constraint that cannot be read keeps its place and blocks no other.
    """
    twin = UNINDEXED.alias("twin")
    is_same = (twin.c.user_id == UNINDEXED.c.user_id) & (twin.c.uid == UNINDEXED.c.uid)
    latest = select(func.max(twin.c.place)).where(is_same).scalar_subquery().label("latest")
    first = select(UNINDEXED.c.place, UNINDEXED.c.user_id, UNINDEXED.c.uid, latest).where(
        ~exists().where(is_same, twin.c.place < UNINDEXED.c.place)
    )
    found: list[IndexTask] = []
    after = 0
    while len(found) < limit:
        rows = connection.execute(first.where(UNINDEXED.c.place > after).order_by(UNINDEXED.c.place).limit(limit)).all()
        for row in rows:
            newest = next(iter(find_rows(connection, _select_newest(row.user_id, row.uid))), None)
            version = None if newest is None else read_version_row(newest)
            if not isinstance(version, Damaged):
                found.append(IndexTask(row.user_id, row.uid, row.latest, version))
        if len(rows) < limit:
            break
        after = rows[-1].place
    return tuple(found[:limit])


def _remove_from_list(connection: Connection, tasks: Sequence[IndexTask]) -> int:
    """Remove tasks from the list, unless the constraint was listed again since; return how many were there."""
    removed = 0
    for task in tasks:
        is_same = (UNINDEXED.c.user_id == task.user_id) & (UNINDEXED.c.uid == task.uid)
        done = connection.execute(delete(UNINDEXED).where(is_same, UNINDEXED.c.place <= task.seq))
        removed += done.rowcount > 0
    return removed


def _select_newest(user_id: str, uid: str) -> SelectOfScalar[ConstraintVersion]:
    """Return the query for the newest version of a constraint."""
    query = select(ConstraintVersion).where(VERSION.c.user_id == user_id, VERSION.c.uid == uid)
    return query.order_by(VERSION.c.written_at.desc(), VERSION.c.seq.desc()).limit(1)


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


_CACHED_PEOPLE = 64


class ConstraintCache:
    """Keeps the rows of the people who asked last. Called from any thread.

    Each lookup asks the database for two numbers, which tell whether this or another process wrote or deleted rows
    since.
    """

    def __init__(self) -> None:
        self._known: OrderedDict[str, KnownRows] = OrderedDict()
        self._lock = Lock()

    def look(self, connection: Connection, user_id: str) -> KnownRows:
        """Return the current rows, as ``connection`` sees them."""
        with self._lock:
            before = self._known.get(user_id, KnownRows())
        # Two subqueries, each of which reads one entry of the index.
        first, last = (
            select(end(VERSION.c.seq)).where(VERSION.c.user_id == user_id).scalar_subquery()
            for end in (func.min, func.max)
        )
        ends = connection.execute(select(first.label("first"), last.label("last"))).one()
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
            if len(self._known) > _CACHED_PEOPLE:
                self._known.popitem(last=False)
        return now


def _extend(before: KnownRows, connection: Connection, user_id: str, last: int) -> KnownRows:
    query = select(ConstraintVersion).where(VERSION.c.user_id == user_id, VERSION.c.seq > (before.last or 0))
    found = [read_version_row(row) for row in find_rows(connection, query.order_by(VERSION.c.seq))]
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

    async def people(self, *, reachable: bool = False) -> tuple[str, ...]:
        def find(connection: Connection) -> tuple[str, ...]:
            conditions = build_reachable(connection, VERSION.c.user_id) if reachable else ()
            return tuple(iter_keys(connection, VERSION.c.user_id, *conditions))

        return await self._database.read(find)

    async def list_unindexed(self, *, limit: int = 100) -> tuple[IndexTask, ...]:
        return await self._database.read(lambda connection: _list_waiting(connection, limit))

    async def mark_indexed(self, tasks: Sequence[IndexTask]) -> int:
        if not tasks:
            return 0
        removed = await self._database.write(lambda connection: _remove_from_list(connection, tasks))
        if any(task.version is None for task in tasks):
            await self._database.scrub()
        return removed

    async def reindex(self, user_id: str | None = None) -> int:
        people = await self.people() if user_id is None else (check_person(user_id),)
        return sum([await self._put_on_list(person) for person in people])

    async def _put_on_list(self, user_id: str) -> int:
        count = await self._database.write_alone(
            user_id, lambda connection: put_all_on_list(connection, user_id, again=True)
        )
        self._after()
        return count


def _require_one_person(versions: Sequence[Version]) -> str:
    user_id, *others = {version.user_id for version in versions}
    if others:
        raise InternalError("Constraints of several people cannot be written as one.")
    return user_id


def _check_cause(cause: str) -> None:
    if not 0 < len(cause) <= MAX_CAUSE_CHARS:
        raise InternalError(f"The cause of a constraint needs a name of 1 to {MAX_CAUSE_CHARS} characters.")


def _write(
    connection: Connection, user_id: str, versions: Sequence[Version], cause: str, expected: Mapping[str, int]
) -> tuple[Version, ...]:
    before = _find_written(connection, user_id, cause)
    if before:
        return before
    newest = {uid: next(iter(find_rows(connection, _select_newest(user_id, uid))), None) for uid in expected}
    for uid, seq in expected.items():
        found = newest[uid]
        if (0 if found is None else found.seq) != seq:
            raise VersionConflict("This constraint was changed in the meantime.", where=uid)
    done = tuple(_insert(connection, version, newest.get(version.uid), cause, n) for n, version in enumerate(versions))
    put_on_list(connection, user_id, dict.fromkeys(version.uid for version in done))
    mark_home(connection, user_id)
    return done


def _insert(
    connection: Connection, version: Version, newest: ConstraintVersion | None, cause: str, place: int
) -> Version:
    """Insert a version, with a time no earlier than the newest one's, so that order holds if the clock is behind."""
    if newest is not None and version.updated_at < newest.written_at:
        version = replace(version, updated_at=newest.written_at)
    row = build_version_row(version, cause, place)
    with open_rows(connection) as rows:
        rows.add(row)
        rows.flush()
        return replace(version, seq=row.seq or 0)


def _find_written(connection: Connection, user_id: str, cause: str) -> tuple[Version, ...]:
    query = select(ConstraintVersion).where(VERSION.c.user_id == user_id, VERSION.c.cause == cause)
    rows = [read_version_row(row) for row in find_rows(connection, query.order_by(VERSION.c.place))]
    damaged = [row for row in rows if isinstance(row, Damaged)]
    if damaged:
        raise build_unreadable_error(damaged)
    return tuple(row for row in rows if isinstance(row, Version))
