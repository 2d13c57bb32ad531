"""The list of constraints that the index does not show yet, in SQL."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, delete, exists, func, insert, select

from fateforger.adapters.store.constraint_rows import VERSION, Damaged, read_version_row
from fateforger.adapters.store.tables import ConstraintUnindexed, table
from fateforger.ports import IndexTask

UNINDEXED = table(ConstraintUnindexed)

_MINE = UNINDEXED.c.user_id == bindparam("of_user")
_SAME = _MINE & (UNINDEXED.c.uid == bindparam("of_uid"))
_INSERT = insert(UNINDEXED)
_DONE = delete(UNINDEXED).where(_SAME, UNINDEXED.c.place <= bindparam("up_to"))
_NEVER_MIND = delete(UNINDEXED).where(_MINE)
_UIDS = select(VERSION.c.uid).where(VERSION.c.user_id == bindparam("of_user")).distinct().order_by(VERSION.c.uid)

_twin = UNINDEXED.alias("twin")
_twins = (_twin.c.user_id == UNINDEXED.c.user_id) & (_twin.c.uid == UNINDEXED.c.uid)
_NEXT = (
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
_NEWEST = (
    select(VERSION)
    .where(VERSION.c.user_id == bindparam("of_user"), VERSION.c.uid == bindparam("of_uid"))
    .order_by(VERSION.c.written_at.desc(), VERSION.c.seq.desc())
    .limit(1)
)


def put_on_list(connection: Connection, user_id: str, uids: Iterable[str]) -> None:
    """List constraints that the index has to process again."""
    rows = [{"user_id": user_id, "uid": uid} for uid in uids]
    if rows:
        connection.execute(_INSERT, rows)


def put_all_on_list(connection: Connection, user_id: str) -> int:
    """List all constraints of a person once each; return their number."""
    uids = connection.execute(_UIDS, {"of_user": user_id}).scalars().all()
    connection.execute(_NEVER_MIND, {"of_user": user_id})
    put_on_list(connection, user_id, uids)
    return len(uids)


def list_waiting(connection: Connection, limit: int) -> tuple[IndexTask, ...]:
    """Return the tasks that have waited longest.

    A constraint that cannot be read keeps its place and blocks no other.
    """
    found: list[IndexTask] = []
    after = 0
    while len(found) < limit:
        rows = connection.execute(_NEXT, {"after": after, "at_most": limit}).all()
        found += (task for row in rows if (task := _to_task(connection, row)) is not None)
        if len(rows) < limit:
            break
        after = rows[-1].place
    return tuple(found[:limit])


def remove_from_list(connection: Connection, tasks: Sequence[IndexTask]) -> None:
    """Remove tasks from the list, unless the constraint was listed again since."""
    for task in tasks:
        connection.execute(_DONE, {"of_user": task.user_id, "of_uid": task.uid, "up_to": task.seq})


def _to_task(connection: Connection, row: Row[Any, Any, Any, Any]) -> IndexTask | None:
    newest = connection.execute(_NEWEST, {"of_user": row.user_id, "of_uid": row.uid}).first()
    version = None if newest is None else read_version_row(newest)
    return None if isinstance(version, Damaged) else IndexTask(row.user_id, row.uid, row.latest, version)
