"""Planning sessions and outgoing messages, in SQL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Index,
    Row,
    Select,
    Text,
    bindparam,
    delete,
    exists,
    insert,
    literal_column,
    or_,
    select,
    text,
    update,
)
from sqlmodel import Field

from fateforger.adapters.store.database import Database
from fateforger.adapters.store.documents import OUTBOX_VERSION, SESSION_VERSION, expect_version, parse
from fateforger.adapters.store.tables import AutoNumber, Base, Instant, table
from fateforger.errors import InternalError, VersionConflict
from fateforger.session.model import Outgoing, Session
from fateforger.session.store import Sent
from fateforger.values import replace


class SessionRow(Base, table=True):
    """A planning session. ``version``, ``channel`` and ``thread_ts`` override the text."""

    __tablename__ = "planning_session"
    __table_args__ = (
        Index("ix_planning_session_thread", "channel", "thread_ts"),
        Index("ix_planning_session_user", "user_id", "touched_at"),
    )

    id: str = Field(primary_key=True, sa_type=Text)
    version: int
    user_id: str = Field(sa_type=Text)
    channel: str = Field(sa_type=Text)
    thread_ts: str | None = Field(default=None, sa_type=Text)
    touched_at: datetime = Field(sa_type=Instant)
    schema_version: int
    session: str = Field(sa_type=Text)


class OutboxRow(Base, table=True):
    """An outgoing message: ``queued``, then ``sent`` or ``dead``. ``seq`` is the order within a session."""

    __tablename__ = "outbox"
    __table_args__ = (
        Index(
            "ix_outbox_queued",
            "session_id",
            "seq",
            sqlite_where=text("state = 'queued'"),
            postgresql_where=text("state = 'queued'"),
        ),
        Index(
            "ix_outbox_oldest",
            "seq",
            sqlite_where=text("state = 'queued'"),
            postgresql_where=text("state = 'queued'"),
        ),
        Index("ix_outbox_slot", "session_id", "slot", "seq"),
        {"sqlite_autoincrement": True},
    )

    seq: int | None = Field(default=None, primary_key=True, sa_type=AutoNumber)
    id: str = Field(unique=True, sa_type=Text)
    session_id: str = Field(foreign_key="planning_session.id", sa_type=Text)
    slot: str = Field(sa_type=Text)
    ephemeral: bool
    state: str = Field(sa_type=Text)
    attempts: int
    error: str = Field(sa_type=Text)
    retry_at: datetime | None = Field(default=None, sa_type=Instant)
    sent_channel: str | None = Field(default=None, sa_type=Text)
    sent_ts: str | None = Field(default=None, sa_type=Text)
    sent_at: datetime | None = Field(default=None, sa_type=Instant)
    schema_version: int
    message: str = Field(sa_type=Text)


OUTBOX = table(OutboxRow)

# Literal in the statements: SQLite uses a partial index only if it sees the value.
_QUEUED: ColumnElement[str] = literal_column("'queued'")
_SENT = "sent"

_earlier = OUTBOX.alias("earlier")
_KNOWN = select(OUTBOX.c.id).where(OUTBOX.c.id.in_(bindparam("of_ids", expanding=True))).limit(1)
_INSERT_MESSAGES = insert(OUTBOX)
_PENDING = (
    select(OUTBOX)
    .where(
        OUTBOX.c.state == _QUEUED,
        or_(OUTBOX.c.retry_at.is_(None), OUTBOX.c.retry_at <= bindparam("now")),
        ~exists().where(
            _earlier.c.session_id == OUTBOX.c.session_id, _earlier.c.state == _QUEUED, _earlier.c.seq < OUTBOX.c.seq
        ),
    )
    .order_by(OUTBOX.c.seq)
    .limit(bindparam("at_most"))
)
_IT = select(OUTBOX.c.session_id, OUTBOX.c.slot, OUTBOX.c.ephemeral, OUTBOX.c.seq).where(
    OUTBOX.c.id == bindparam("of_id"), OUTBOX.c.state != _SENT
)
_ARRIVED = (
    update(OUTBOX)
    .where(OUTBOX.c.seq == bindparam("of_seq"))
    .values(
        state=_SENT, retry_at=None, sent_channel=bindparam("channel"), sent_ts=bindparam("ts"), sent_at=bindparam("at")
    )
)
_OUTLIVED = delete(OUTBOX).where(
    OUTBOX.c.session_id == bindparam("of_session"),
    OUTBOX.c.slot == bindparam("of_slot"),
    OUTBOX.c.ephemeral == bindparam("as_ephemeral"),
    OUTBOX.c.state == _SENT,
    OUTBOX.c.seq < bindparam("of_seq"),
)
_FAILED = (
    update(OUTBOX)
    .where(OUTBOX.c.id == bindparam("of_id"), OUTBOX.c.state == _QUEUED)
    .values(
        state=bindparam("new_state"),
        retry_at=bindparam("again"),
        error=bindparam("why"),
        attempts=OUTBOX.c.attempts + 1,
    )
)
_LATEST = (
    select(OUTBOX)
    .where(OUTBOX.c.session_id == bindparam("of_session"), OUTBOX.c.state == _SENT, OUTBOX.c.ephemeral.is_(False))
    .order_by(OUTBOX.c.seq.desc())
)
_OWED = select(OUTBOX.c.seq).where(OUTBOX.c.session_id == bindparam("of_session"), OUTBOX.c.state == _QUEUED).limit(1)
_SLOT = (
    select(OUTBOX)
    .where(
        OUTBOX.c.session_id == bindparam("of_session"),
        OUTBOX.c.slot == bindparam("of_slot"),
        OUTBOX.c.state == _SENT,
        OUTBOX.c.ephemeral.is_(False),
    )
    .order_by(OUTBOX.c.seq.desc())
    .limit(1)
)


def queue_messages(connection: Connection, session_id: str, outgoing: tuple[Outgoing, ...]) -> None:
    """Append messages of one session, in the transaction that saves it. Raises ``InternalError``."""
    if not outgoing:
        return
    if any(message.session_id != session_id for message in outgoing):
        raise InternalError(f"Session {session_id} cannot send messages of another session.")
    if connection.execute(_KNOWN, {"of_ids": [message.id for message in outgoing]}).first() is not None:
        raise InternalError(f"Session {session_id} has queued one of these messages before.")
    connection.execute(_INSERT_MESSAGES, [_build_message_values(message) for message in outgoing])


class SqlOutbox:
    """Implements :class:`fateforger.session.store.Outbox` over a :class:`Database`.

    Only the last sent message of each slot is kept. A message that can never be sent stays.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def pending(self, *, now: datetime, limit: int = 20) -> tuple[Outgoing, ...]:
        values = {"now": now, "at_most": limit}
        return await self._all(_PENDING, values)

    async def mark_sent(self, outgoing_id: str, where: Sent, *, now: datetime) -> None:
        await self._database.write(lambda connection: _mark_sent(connection, outgoing_id, where, now))

    async def mark_failed(self, outgoing_id: str, error: str, *, retry_at: datetime | None) -> None:
        state = "dead" if retry_at is None else "queued"
        values = {"of_id": outgoing_id, "new_state": state, "again": retry_at, "why": error}
        await self._database.write(lambda connection: connection.execute(_FAILED, values).rowcount)

    async def owes(self, session_id: str) -> bool:
        return await self._database.read(
            lambda connection: connection.execute(_OWED, {"of_session": session_id}).first() is not None
        )

    async def slot(self, session_id: str, slot: str) -> Sent | None:
        values = {"of_session": session_id, "of_slot": slot}
        row = await self._database.read(lambda connection: connection.execute(_SLOT, values).first())
        return None if row is None else Sent(row.sent_channel, row.sent_ts)

    async def latest(self, session_id: str) -> Outgoing | None:
        sent = await self._all(_LATEST, {"of_session": session_id})
        return next((message for message in sent if not message.beside), None)

    async def find_shown(self, session_id: str, slot: str) -> Outgoing | None:
        found = await self._all(_SLOT, {"of_session": session_id, "of_slot": slot})
        return found[0] if found else None

    async def _all(self, query: Select[Any], values: Mapping[str, Any]) -> tuple[Outgoing, ...]:
        return await self._database.read(
            lambda connection: tuple(_to_outgoing(row) for row in connection.execute(query, values))
        )


def _mark_sent(connection: Connection, outgoing_id: str, where: Sent, now: datetime) -> None:
    row = connection.execute(_IT, {"of_id": outgoing_id}).first()
    if row is None:
        return
    connection.execute(_ARRIVED, {"of_seq": row.seq, "channel": where.channel, "ts": where.ts, "at": now})
    same_slot = {"of_session": row.session_id, "of_slot": row.slot, "as_ephemeral": row.ephemeral}
    connection.execute(_OUTLIVED, same_slot | {"of_seq": row.seq})


def _build_message_values(message: Outgoing) -> dict[str, Any]:
    return {
        "id": message.id,
        "session_id": message.session_id,
        "slot": message.slot,
        "ephemeral": message.ephemeral_to is not None,
        "state": "queued",
        "attempts": 0,
        "error": "",
        "schema_version": OUTBOX_VERSION,
        "message": message.model_dump_json(),
    }


def _to_outgoing(row: Row[Any]) -> Outgoing:
    what = f"Message {row.id}"
    expect_version(what, row.schema_version, OUTBOX_VERSION)
    return parse(Outgoing, row.message, what)


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
_INSERT_SESSION = insert(SESSION)
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
    """Implements :class:`fateforger.session.store.Sessions` over a :class:`Database`."""

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
        connection.execute(_INSERT_SESSION, _build_session_values(saved))
    else:
        connection.execute(_SAVE, {"of_id": session.id, "expected": expected} | _build_session_values(saved))
    queue_messages(connection, saved.id, outgoing)
    return saved


def _build_session_values(session: Session) -> dict[str, Any]:
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
