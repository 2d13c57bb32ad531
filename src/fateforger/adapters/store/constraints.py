"""The versions of people's constraints, in SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, bindparam, delete, insert, select

from fateforger.adapters.store.constraint_list import list_waiting, put_all_on_list, put_on_list, remove_from_list
from fateforger.adapters.store.constraint_rows import VERSION, Damaged, build_version_values, read_version_row
from fateforger.adapters.store.constraint_shelf import ConstraintCache, build_unreadable_error
from fateforger.adapters.store.database import Database
from fateforger.constraints import Version, check_person, check_version
from fateforger.errors import InternalError, VersionConflict
from fateforger.ports import IndexTask
from fateforger.values import replace

MAX_CAUSE = 400
_LONG_AGO = datetime.min.replace(tzinfo=UTC)

_MINE = VERSION.c.user_id == bindparam("of_user")
_INSERT = insert(VERSION)
_BY_CAUSE = select(VERSION).where(_MINE, VERSION.c.cause == bindparam("of_cause")).order_by(VERSION.c.place)
_NEWEST = (
    select(VERSION.c.seq, VERSION.c.written_at)
    .where(_MINE, VERSION.c.uid == bindparam("of_uid"))
    .order_by(VERSION.c.written_at.desc(), VERSION.c.seq.desc())
    .limit(1)
)
_PEOPLE = select(VERSION.c.user_id).distinct()
_UIDS = select(VERSION.c.uid).where(_MINE).distinct().order_by(VERSION.c.uid)
_FORGET = delete(VERSION).where(_MINE)


class SqlConstraints:
    """Implements :class:`fateforger.ports.Constraints` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._shelf = ConstraintCache()
        self._after: Callable[[], None] = lambda: None

    def on_write(self, after: Callable[[], None]) -> None:
        """Call ``after`` whenever this object adds to the list of constraints to index."""
        self._after = after

    async def of(self, user_id: str) -> tuple[Version, ...]:
        check_person(user_id)
        known = await self._database.read(lambda connection: self._shelf.look(connection, user_id))
        return known.whole()

    async def readable(self, user_id: str) -> tuple[Version, ...]:
        check_person(user_id)
        known = await self._database.read(lambda connection: self._shelf.look(connection, user_id))
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
    row = connection.execute(_NEWEST, {"of_user": user_id, "of_uid": uid}).first()
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
