"""Planning sessions, in SQL."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, bindparam, insert, select, update

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.documents import SESSION_VERSION, expect_version, parse
from fateforger.adapters.store.outbox import queue_messages
from fateforger.adapters.store.tables import SessionRow, table
from fateforger.errors import InternalError, VersionConflict
from fateforger.session.model import Outgoing, Session
from fateforger.values import replace

SESSION = table(SessionRow)

_LATEST_FIRST = (SESSION.c.touched_at.desc(), SESSION.c.id.desc())
_LOAD = select(SESSION).where(SESSION.c.id == bindparam("of_id"))
_IN_THREAD = (
    select(SESSION)
    .where(SESSION.c.channel == bindparam("of_channel"), SESSION.c.thread_ts == bindparam("of_thread"))
    .order_by(*_LATEST_FIRST)
    .limit(1)
)
_OF_USER = (
    select(SESSION)
    .where(SESSION.c.user_id == bindparam("of_user"))
    .order_by(*_LATEST_FIRST)
    .limit(bindparam("at_most"))
)
_SINCE = select(SESSION).where(SESSION.c.touched_at >= bindparam("moment")).order_by(*_LATEST_FIRST)
_ANY = select(SESSION.c.id).limit(1)
_STANDS = select(SESSION.c.version, SESSION.c.channel, SESSION.c.thread_ts).where(SESSION.c.id == bindparam("of_id"))
_INSERT = insert(SESSION)
_SAVE = (
    update(SESSION)
    .where(SESSION.c.id == bindparam("of_id"), SESSION.c.version == bindparam("expected"))
    .values({column: bindparam(column.name) for column in SESSION.c if column.name != "id"})
)
_ATTACH = (
    update(SESSION)
    .where(SESSION.c.id == bindparam("of_id"))
    .values(channel=bindparam("channel"), thread_ts=bindparam("thread_ts"))
)


class SqlSessions:
    """Implements :class:`fateforger.ports.Sessions` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def check(self) -> None:
        await self._database.read(lambda connection: connection.execute(_ANY).first())

    async def load(self, session_id: str) -> Session | None:
        return await self._first(_LOAD, of_id=session_id)

    async def in_thread(self, channel: str, thread_ts: str) -> Session | None:
        return await self._first(_IN_THREAD, of_channel=channel, of_thread=thread_ts)

    async def of_user(self, user_id: str, *, limit: int = 10) -> tuple[Session, ...]:
        return await self._all(_OF_USER, of_user=user_id, at_most=limit)

    async def touched_since(self, moment: datetime) -> tuple[Session, ...]:
        return await self._all(_SINCE, moment=moment)

    async def save(self, session: Session, *, expected: int, outgoing: Sequence[Outgoing] = ()) -> Session:
        messages = tuple(outgoing)
        return await self._database.write(lambda connection: _save(connection, session, expected, messages))

    async def attach_thread(self, session_id: str, channel: str, thread_ts: str) -> None:
        values = {"of_id": session_id, "channel": channel, "thread_ts": thread_ts}
        if await self._database.write(lambda connection: connection.execute(_ATTACH, values).rowcount) != 1:
            raise InternalError(f"There is no session {session_id} to attach a thread to.")

    async def _first(self, query: Select[Any], **values: Any) -> Session | None:
        found = await self._all(query, **values)
        return found[0] if found else None

    async def _all(self, query: Select[Any], **values: Any) -> tuple[Session, ...]:
        return await self._database.read(
            lambda connection: tuple(_to_session(row) for row in connection.execute(query, values))
        )


def _save(connection: Connection, session: Session, expected: int, outgoing: tuple[Outgoing, ...]) -> Session:
    stands = connection.execute(_STANDS, {"of_id": session.id}).first()
    if (0 if stands is None else stands.version) != expected:
        raise VersionConflict("This planning session was changed in the meantime.")
    saved = replace(session, version=expected + 1)
    if stands is not None and stands.thread_ts is not None:
        # A turn that began before the first message was posted does not know its thread.
        saved = replace(saved, channel=stands.channel, thread_ts=stands.thread_ts)
    if stands is None:
        connection.execute(_INSERT, _to_values(saved))
    else:
        connection.execute(_SAVE, {"of_id": session.id, "expected": expected} | _to_values(saved))
    queue_messages(connection, saved.id, outgoing)
    return saved


def _to_values(session: Session) -> dict[str, Any]:
    return {
        "id": session.id,
        "version": session.version,
        "user_id": session.user_id,
        "channel": session.channel,
        "thread_ts": session.thread_ts,
        "touched_at": session.touched_at,
        "schema_version": SESSION_VERSION,
        "session": session.model_dump_json(),
    }


def _to_session(row: Row[Any]) -> Session:
    what = f"Planning session {row.id}"
    expect_version(what, row.schema_version, SESSION_VERSION)
    known = parse(Session, row.session, what)
    return replace(known, version=row.version, channel=row.channel, thread_ts=row.thread_ts)
