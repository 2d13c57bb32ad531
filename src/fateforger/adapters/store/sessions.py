"""Planning sessions and outgoing messages, in SQL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Any, cast

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Connection,
    Index,
    Text,
    delete,
    exists,
    literal,
    literal_column,
    or_,
    tuple_,
    update,
)
from sqlalchemy import select as sql_select
from sqlmodel import Field, select
from sqlmodel.sql.expression import SelectOfScalar

from fateforger.adapters.store.database import OnDatabase
from fateforger.adapters.store.homes import build_reachable, mark_home
from fateforger.adapters.store.inbox import wake
from fateforger.adapters.store.tables import (
    OUTBOX_VERSION,
    SESSION_VERSION,
    AutoNumber,
    Base,
    Instant,
    build_partial_index,
    expect_version,
    find_rows,
    open_rows,
    parse,
    table,
)
from fateforger.adapters.store.talks import look_at_once
from fateforger.errors import InternalError, VersionConflict
from fateforger.ports.jobs import EVER_AFTER
from fateforger.ports.traces import find_position
from fateforger.session.messages import Outgoing
from fateforger.session.model import Session, SessionStatus
from fateforger.session.stages import TimeboxingStage
from fateforger.session.store import (
    LONGEST_RETRY,
    PAGE,
    SENDING_LANE,
    HeadFilter,
    Sent,
    SessionHead,
    Written,
    describe_written,
)
from fateforger.values import replace

# Literal in the statements and the indexes: SQLite uses a partial index only if it sees the same condition.
_ACTIVE = "status = 'active'"
_WRITTEN = "written <> 'no'"
_UNRETURNED = "written = 'yes'"
_UNJUDGED = "status = 'active' AND judged < version"


class SessionRow(Base, table=True):
    """A planning session. ``version``, ``channel`` and ``thread_ts`` override the text.

    ``day``, ``tz``, ``status``, ``stage`` and ``written`` repeat what is in it, for the rounds (decision 094).
    ``judged`` is the version that the round that closes sessions has read. ``stop_asked_at`` is the time at
    which the person asked to stop a turn, until that is answered.
    """

    __tablename__ = "planning_session"
    __table_args__ = (
        Index("ix_planning_session_thread", "channel", "thread_ts"),
        Index("ix_planning_session_user", "user_id", "touched_at"),
        Index("ix_planning_session_day", "user_id", "day"),
        Index("ix_planning_session_touched", "touched_at", "id"),
        build_partial_index("ix_planning_session_active", "touched_at", "id", where=_ACTIVE),
        build_partial_index("ix_planning_session_unjudged", "touched_at", "id", where=_UNJUDGED),
        build_partial_index("ix_planning_session_unreturned", "touched_at", "id", where=_UNRETURNED),
        build_partial_index("ix_planning_session_written", "day", where=_WRITTEN),
    )

    id: str = Field(primary_key=True, sa_type=Text)
    version: int
    user_id: str = Field(sa_type=Text)
    channel: str = Field(sa_type=Text)
    thread_ts: str | None = Field(default=None, sa_type=Text)
    touched_at: datetime = Field(sa_type=Instant)
    schema_version: int
    session: str = Field(sa_type=Text)
    day: date | None = Field(default=None)
    tz: str = Field(sa_type=Text, sa_column_kwargs={"server_default": ""})
    status: str = Field(sa_type=Text, sa_column_kwargs={"server_default": "active"})
    stage: str = Field(sa_type=Text, sa_column_kwargs={"server_default": ""})
    written: str = Field(sa_type=Text, sa_column_kwargs={"server_default": "no"})
    judged: int = Field(default=0, sa_column_kwargs={"server_default": "0"})
    stop_asked_at: datetime | None = Field(default=None, sa_type=Instant)


class OutboxRow(Base, table=True):
    """An outgoing message: ``queued``, then ``sent`` or ``dead``. ``seq`` is the order within a session."""

    __tablename__ = "outbox"
    __table_args__ = (
        build_partial_index("ix_outbox_queued", "session_id", "seq", where="state = 'queued'"),
        build_partial_index("ix_outbox_oldest", "seq", where="state = 'queued'"),
        Index("ix_outbox_slot", "session_id", "slot", "seq"),
        build_partial_index("ix_outbox_sent", "sent_at", where="state = 'sent'"),
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


SESSION = table(SessionRow)
OUTBOX = table(OutboxRow)

# Literal in the statements: SQLite uses a partial index only if it sees the value.
QUEUED: ColumnElement[str] = literal_column("'queued'")
_SENT = "sent"


class SqlOutbox(OnDatabase):
    """Implements :class:`fateforger.session.store.Outbox` over a :class:`Database`.

    Only the last sent message of each slot is kept. A message that can never be sent stays.
    """

    async def pending(self, *, now: datetime, limit: int = 20) -> tuple[Outgoing, ...]:
        earlier = OUTBOX.alias("earlier")
        is_behind = exists().where(
            earlier.c.session_id == OUTBOX.c.session_id, earlier.c.state == QUEUED, earlier.c.seq < OUTBOX.c.seq
        )
        is_beyond = (OUTBOX.c.retry_at > now + LONGEST_RETRY) & (OUTBOX.c.retry_at < EVER_AFTER)
        is_due = or_(OUTBOX.c.retry_at.is_(None), OUTBOX.c.retry_at <= now, is_beyond)
        query = select(OutboxRow).where(OUTBOX.c.state == QUEUED, is_due, ~is_behind)
        return await self._find(query.order_by(OUTBOX.c.seq).limit(limit))

    async def release(self) -> None:
        waiting = (OUTBOX.c.state == QUEUED) & (OUTBOX.c.retry_at < EVER_AFTER)
        release = update(OUTBOX).where(waiting).values(retry_at=None)
        await self._database.write(lambda connection: connection.execute(release))

    async def mark_sent(self, outgoing_id: str, where: Sent, *, now: datetime, shown: Sequence[Outgoing] = ()) -> None:
        await self._database.write(lambda connection: _mark_sent(connection, outgoing_id, where, now, shown))

    async def mark_failed(self, outgoing_id: str, error: str, *, retry_at: datetime | None) -> None:
        state = "dead" if retry_at is None else "queued"
        failed = (
            update(OUTBOX)
            .where(OUTBOX.c.id == outgoing_id, OUTBOX.c.state == QUEUED)
            .values(state=state, retry_at=retry_at, error=error, attempts=OUTBOX.c.attempts + 1)
        )
        await self._database.write(lambda connection: connection.execute(failed))

    async def owes(self, session_id: str) -> bool:
        queued = select(OutboxRow).where(OUTBOX.c.session_id == session_id, OUTBOX.c.state == QUEUED)
        return bool(await self._find(queued.limit(1)))

    async def slot(self, session_id: str, slot: str) -> Sent | None:
        rows = await self._database.read(lambda connection: find_rows(connection, _select_shown(session_id, slot)))
        return Sent(str(rows[0].sent_channel), str(rows[0].sent_ts)) if rows else None

    async def latest(self, session_id: str) -> Outgoing | None:
        sent = await self._find(_select_shown(session_id))
        return next((message for message in sent if not message.beside), None)

    async def find_shown(self, session_id: str, slot: str) -> Outgoing | None:
        return next(iter(await self._find(_select_shown(session_id, slot))), None)

    async def _find(self, query: SelectOfScalar[OutboxRow]) -> tuple[Outgoing, ...]:
        return await self._database.read(lambda connection: tuple(map(_to_outgoing, find_rows(connection, query))))


def _select_shown(session_id: str, slot: str | None = None) -> SelectOfScalar[OutboxRow]:
    """Return the query for what everyone in a thread sees, the newest first; with ``slot``, the newest in it."""
    query = (
        select(OutboxRow)
        .where(OUTBOX.c.session_id == session_id, OUTBOX.c.state == _SENT, OUTBOX.c.ephemeral.is_(False))
        .order_by(OUTBOX.c.seq.desc())
    )
    return query if slot is None else query.where(OUTBOX.c.slot == slot).limit(1)


def _mark_sent(connection: Connection, outgoing_id: str, where: Sent, now: datetime, shown: Sequence[Outgoing]) -> None:
    with open_rows(connection) as rows:
        row = rows.exec(select(OutboxRow).where(OUTBOX.c.id == outgoing_id, OUTBOX.c.state != _SENT)).first()
        if row is None:
            return
        row.state, row.retry_at = _SENT, None
        row.sent_channel, row.sent_ts, row.sent_at = where.channel, where.ts, now
        for message in shown:
            changed = update(OUTBOX).where(OUTBOX.c.id == message.id, OUTBOX.c.session_id == row.session_id)
            rows.exec(changed.values(schema_version=OUTBOX_VERSION, message=message.model_dump_json()))
        earlier = delete(OUTBOX).where(
            OUTBOX.c.session_id == row.session_id,
            OUTBOX.c.slot == row.slot,
            OUTBOX.c.ephemeral == row.ephemeral,
            OUTBOX.c.state == _SENT,
            OUTBOX.c.seq < row.seq,
        )
    connection.execute(earlier)


def _queue_messages(connection: Connection, session_id: str, outgoing: tuple[Outgoing, ...]) -> None:
    """Append messages of one session, in the transaction that saves it. Raises ``InternalError``."""
    if not outgoing:
        return
    if any(message.session_id != session_id for message in outgoing):
        raise InternalError(f"Session {session_id} cannot send messages of another session.")
    known = select(OutboxRow).where(OUTBOX.c.id.in_([message.id for message in outgoing]))
    if find_rows(connection, known):
        raise InternalError(f"Session {session_id} has queued one of these messages before.")
    with open_rows(connection) as rows:
        rows.add_all(
            OutboxRow(
                id=message.id,
                session_id=message.session_id,
                slot=message.slot,
                ephemeral=message.ephemeral_to is not None,
                state="queued",
                attempts=0,
                error="",
                schema_version=OUTBOX_VERSION,
                message=message.model_dump_json(),
            )
            for message in outgoing
        )
    wake(connection, SENDING_LANE)


def _to_outgoing(row: OutboxRow) -> Outgoing:
    what = f"Message {row.id}"
    expect_version(what, row.schema_version, OUTBOX_VERSION)
    return parse(Outgoing, row.message, what)


_LATEST_FIRST = (SESSION.c.touched_at.desc(), SESSION.c.id.desc())
_HEAD_COLUMNS = (
    SESSION.c.id,
    SESSION.c.version,
    SESSION.c.user_id,
    SESSION.c.channel,
    SESSION.c.thread_ts,
    SESSION.c.touched_at,
    SESSION.c.day,
    SESSION.c.tz,
    SESSION.c.status,
    SESSION.c.stage,
    SESSION.c.written,
)


class SqlSessions(OnDatabase):
    """Implements :class:`fateforger.session.store.Sessions` over a :class:`Database`."""

    async def check(self) -> None:
        await self._database.read(lambda connection: connection.execute(select(SESSION.c.id).limit(1)).first())

    async def load(self, session_id: str) -> Session | None:
        return next(iter(await self._find(SESSION.c.id == session_id)), None)

    async def in_thread(self, channel: str, thread_ts: str) -> Session | None:
        found = await self._find(SESSION.c.channel == channel, SESSION.c.thread_ts == thread_ts, limit=1)
        return next(iter(found), None)

    async def of_user(self, user_id: str, *, limit: int = 10) -> tuple[Session, ...]:
        return await self._find(SESSION.c.user_id == user_id, limit=limit)

    async def on_days(self, user_id: str, first: date, last: date | None = None) -> tuple[Session, ...]:
        until = () if last is None else (SESSION.c.day <= last,)
        return await self._find(SESSION.c.user_id == user_id, SESSION.c.day >= first, *until)

    async def list_heads(
        self, wanted: HeadFilter, *, after: SessionHead | None = None, limit: int = PAGE
    ) -> tuple[SessionHead, ...]:
        query = sql_select(*_HEAD_COLUMNS).where(*_match(wanted)).order_by(*_LATEST_FIRST).limit(limit)
        if after is not None:
            query = query.where(
                tuple_(SESSION.c.touched_at, SESSION.c.id)
                < tuple_(literal(after.touched_at, Instant), literal(after.id))
            )
        return await self._database.read(
            lambda connection: tuple(
                map(_to_head, connection.execute(query.where(*build_reachable(connection, SESSION.c.user_id))).all())
            )
        )

    async def mark_judged(self, head: SessionHead) -> None:
        judged = update(SESSION).where(SESSION.c.id == head.id).values(judged=head.version)
        await self._database.write(lambda connection: connection.execute(judged))

    async def save(self, session: Session, *, expected: int, outgoing: Sequence[Outgoing] = ()) -> Session:
        position = find_position()
        messages = tuple(replace(message, trace=position) if position else message for message in outgoing)
        return await self._database.write(lambda connection: _save(connection, session, expected, messages))

    async def is_unanswered(self, session_id: str, at: datetime) -> bool:
        waits_or_came = (OUTBOX.c.state == QUEUED) | (OUTBOX.c.state == _SENT)
        query = select(OutboxRow).where(OUTBOX.c.session_id == session_id, waits_or_came)
        found = await self._database.read(lambda connection: find_rows(connection, query))
        return bool(found) and not any(row.sent_at is not None and row.sent_at <= at for row in found)

    async def attach_thread(self, session_id: str, channel: str, thread_ts: str) -> None:
        await self._database.write(lambda connection: _attach_thread(connection, session_id, channel, thread_ts))

    async def ask_to_stop(self, session_id: str, at: datetime) -> None:
        await self._set_stop(session_id, at)

    async def find_stop(self, session_id: str) -> datetime | None:
        query = sql_select(SESSION.c.stop_asked_at).where(SESSION.c.id == session_id)
        return await self._database.read(lambda connection: connection.execute(query).scalar())

    async def end_stop(self, session_id: str) -> None:
        await self._set_stop(session_id, None)

    async def _set_stop(self, session_id: str, at: datetime | None) -> None:
        change = update(SESSION).where(SESSION.c.id == session_id).values(stop_asked_at=at)
        await self._database.write(lambda connection: connection.execute(change))

    async def _find(self, *conditions: ColumnElement[bool], limit: int | None = None) -> tuple[Session, ...]:
        """Return the sessions that meet the conditions, the last touched first."""
        query = select(SessionRow).where(*conditions).order_by(*_LATEST_FIRST).limit(limit)
        return await self._database.read(lambda connection: tuple(map(_to_session, find_rows(connection, query))))


def _attach_thread(connection: Connection, session_id: str, channel: str, thread_ts: str) -> None:
    user_id = connection.execute(sql_select(SESSION.c.user_id).where(SESSION.c.id == session_id)).scalar()
    if user_id is None:
        raise InternalError(f"There is no session {session_id} to attach a thread to.")
    attach = update(SESSION).where(SESSION.c.id == session_id).values(channel=channel, thread_ts=thread_ts)
    connection.execute(attach)
    mark_home(connection, user_id)


def _match(wanted: HeadFilter) -> Iterator[ColumnElement[bool]]:
    """Yield the conditions of a round, each written as in the index that it is for."""
    yield SESSION.c.touched_at >= wanted.since
    if wanted.user_id is not None:
        yield SESSION.c.user_id == wanted.user_id
    if wanted.until is not None:
        yield SESSION.c.touched_at <= wanted.until
    if wanted.first is not None:
        yield SESSION.c.day >= wanted.first
    if wanted.last is not None:
        yield SESSION.c.day <= wanted.last
    flags = {
        _ACTIVE: wanted.active,
        _WRITTEN: wanted.written,
        _UNRETURNED: wanted.unreturned,
        _UNJUDGED: wanted.unjudged,
    }
    for condition, is_wanted in flags.items():
        if is_wanted:
            yield literal_column(f"({condition})", Boolean)


def _to_head(row: Any) -> SessionHead:
    return SessionHead(
        id=row.id,
        version=row.version,
        user_id=row.user_id,
        channel=row.channel,
        thread_ts=row.thread_ts,
        touched_at=row.touched_at,
        date=row.day,
        tz=row.tz,
        status=SessionStatus(row.status),
        stage=TimeboxingStage(row.stage),
        written=cast("Written", row.written),
    )


def _save(connection: Connection, session: Session, expected: int, outgoing: tuple[Outgoing, ...]) -> Session:
    with open_rows(connection) as rows:
        before = rows.get(SessionRow, session.id)
        if (0 if before is None else before.version) != expected:
            raise VersionConflict("This planning session was changed in the meantime.")
        saved = replace(session, version=expected + 1)
        if before is not None and before.thread_ts is not None:
            # A turn that began before the first message was posted does not know its thread.
            saved = replace(saved, channel=before.channel, thread_ts=before.thread_ts)
        rows.merge(
            SessionRow(
                id=saved.id,
                version=saved.version,
                user_id=saved.user_id,
                channel=saved.channel,
                thread_ts=saved.thread_ts,
                touched_at=saved.touched_at,
                schema_version=SESSION_VERSION,
                session=saved.model_dump_json(),
                day=saved.date,
                tz=saved.tz,
                status=saved.status.value,
                stage=saved.stage.value,
                written=describe_written(saved),
                judged=0 if before is None else before.judged,
                stop_asked_at=None if before is None else before.stop_asked_at,
            )
        )
    _queue_messages(connection, saved.id, outgoing)
    look_at_once(connection, saved.user_id)
    mark_home(connection, saved.user_id)
    return saved


def _to_session(row: SessionRow) -> Session:
    what = f"Planning session {row.id}"
    expect_version(what, row.schema_version, SESSION_VERSION)
    known = parse(Session, row.session, what)
    return replace(known, version=row.version, channel=row.channel, thread_ts=row.thread_ts)
