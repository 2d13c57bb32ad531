"""Conversations in SQL: what several programs share about threads, and the messages that the bot sends by itself."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import cast

from sqlalchemy import BigInteger, ColumnElement, Connection, Index, Text, delete, update
from sqlalchemy.dialects.postgresql import insert as insert_postgresql
from sqlalchemy.dialects.sqlite import insert as insert_sqlite
from sqlmodel import Field, select

from fateforger.adapters.store.database import Database, OnDatabase, read_clock
from fateforger.adapters.store.homes import ZONE, ZoneRow, build_reachable, mark_home
from fateforger.adapters.store.inbox import enqueue
from fateforger.adapters.store.jobs import LeaseJobs
from fateforger.adapters.store.procrastinate_jobs import ProcrastinateJobs
from fateforger.adapters.store.tables import Base, Instant, find_row, find_rows, open_rows, put_row, table
from fateforger.conversation.rituals.schedule import Due, DueSettings, Outcome, RitualSettings
from fateforger.ports.jobs import NewJob
from fateforger.ports.people import REMINDER_LANE
from fateforger.session.messages import RecentTalk
from fateforger.session.queue_commands import RitualKind
from fateforger.values import replace


class RitualRow(Base, table=True):
    """The choices of a person, as JSON. ``version`` overrides the text.

    Before ``look_at`` nothing is due to them. A new choice, or a change of one of their plans, sets it to 1970.
    """

    __tablename__ = "ritual"
    __table_args__ = (Index("ix_ritual_look", "look_at", "user_id"),)

    user_id: str = Field(primary_key=True, sa_type=Text)
    settings: str = Field(sa_type=Text)
    version: int
    look_at: datetime = Field(sa_type=Instant, sa_column_kwargs={"server_default": "0"})


class RitualMark(Base, table=True):
    """The outcome of a message of a date of a person's calendar. There is at most one."""

    __tablename__ = "ritual_mark"
    __table_args__ = (Index("ix_ritual_mark_at", "at"),)

    user_id: str = Field(primary_key=True, sa_type=Text)
    kind: str = Field(primary_key=True, sa_type=Text)
    day: date = Field(primary_key=True)
    outcome: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=Instant)


RITUAL, RITUAL_MARK = table(RitualRow), table(RitualMark)
AT_ONCE = datetime.fromtimestamp(0, UTC)


class SqlRituals:
    """Implements :class:`fateforger.conversation.rituals.schedule.Rituals` over a :class:`Database`."""

    def __init__(self, database: Database, jobs: LeaseJobs | ProcrastinateJobs) -> None:
        self._database = database
        self._jobs = jobs

    async def list_due(self, now: datetime, *, limit: int) -> tuple[DueSettings, ...]:
        first = (RITUAL.c.look_at, RITUAL.c.user_id)
        query = select(RitualRow).where(RITUAL.c.look_at <= now).order_by(*first).limit(limit)
        rows = await self._database.read(
            lambda connection: find_rows(connection, query.where(*build_reachable(connection, RITUAL.c.user_id)))
        )
        return tuple(DueSettings(_to_settings(row), row.look_at) for row in rows)

    async def look_again(self, due: DueSettings, at: datetime) -> None:
        of = due.settings
        same = (RITUAL.c.version == of.version) & (RITUAL.c.look_at == due.look_at)
        later = update(RITUAL).where(RITUAL.c.user_id == of.user_id, same).values(look_at=at)
        await self._database.write(lambda connection: connection.execute(later))

    async def of(self, user_id: str) -> RitualSettings | None:
        found = await self._database.read(lambda connection: find_settings(connection, user_id))
        return next(iter(found), None)

    async def change(self, user_id: str, change: Callable[[RitualSettings | None], RitualSettings]) -> RitualSettings:
        return await self._database.write(lambda connection: _change(connection, user_id, change))

    async def find_marks(self, user_id: str, since: date) -> frozenset[tuple[RitualKind, date]]:
        return await self._database.read(lambda connection: _find_marks(connection, user_id, since))

    async def mark(
        self, settings: RitualSettings, due: Due, outcome: Outcome, *, now: datetime, job: NewJob | None = None
    ) -> bool:
        marked = await self._database.write(lambda connection: _mark(connection, settings, due, outcome, now, job))
        if marked and job is not None:
            self._jobs.announce(job.lane)
        return marked


class SqlZones(OnDatabase):
    """Implements :class:`fateforger.ports.people.Zones` over a :class:`Database`."""

    async def of(self, user_id: str) -> tuple[str, datetime] | None:
        query = select(ZONE.c.tz, ZONE.c.until).where(ZONE.c.user_id == user_id)
        found = await self._database.read(lambda connection: connection.execute(query).first())
        return None if found is None else (found.tz, found.until)

    async def keep(self, user_id: str, tz: str, *, until: datetime) -> None:
        await self._database.write(lambda connection: _keep_zone(connection, user_id, tz, until))


def _keep_zone(connection: Connection, user_id: str, tz: str, until: datetime) -> None:
    """Keep the zone of a person. Their reminders and the messages that they chose come by its clock from now on."""
    before = connection.execute(select(ZONE.c.tz).where(ZONE.c.user_id == user_id)).scalar()
    put_row(connection, ZoneRow(user_id=user_id, tz=tz, until=until))
    if before is not None and before != tz:
        now = read_clock(connection)
        change = {"user_id": user_id, "before": before, "after": tz}
        name = f"{user_id}/{before}/{tz}/{now.timestamp():.0f}"
        enqueue(connection, NewJob(REMINDER_LANE, user_id, name, change), now)
    known = next(iter(find_settings(connection, user_id)), None)
    if known is not None and known.tz != tz:
        _change(connection, user_id, lambda before: replace(before or known, tz=tz))


def find_settings(connection: Connection, user_id: str) -> tuple[RitualSettings, ...]:
    """Return the settings of a person, if they made a choice."""
    query = select(RitualRow).where(RITUAL.c.user_id == user_id)
    return tuple(map(_to_settings, find_rows(connection, query)))


def look_at_once(connection: Connection, user_id: str) -> None:
    """Have the next round look at a person, because one of their plans has changed."""
    connection.execute(
        update(RITUAL).where(RITUAL.c.user_id == user_id, RITUAL.c.look_at > AT_ONCE).values(look_at=AT_ONCE)
    )


def _to_settings(row: RitualRow) -> RitualSettings:
    return replace(RitualSettings.model_validate_json(row.settings), version=row.version)


def _change(
    connection: Connection, user_id: str, change: Callable[[RitualSettings | None], RitualSettings]
) -> RitualSettings:
    with open_rows(connection) as rows:
        row = rows.get(RitualRow, user_id, with_for_update=True)
        before = None if row is None else _to_settings(row)
        after = change(before)
        after = replace(after, version=1 if before is None else before.version + 1)
        rows.merge(RitualRow(user_id=user_id, settings=after.model_dump_json(), version=after.version, look_at=AT_ONCE))
    mark_home(connection, user_id)
    return after


def _find_marks(connection: Connection, user_id: str, since: date) -> frozenset[tuple[RitualKind, date]]:
    query = select(RitualMark).where(RITUAL_MARK.c.user_id == user_id, RITUAL_MARK.c.day >= since)
    return frozenset((cast("RitualKind", row.kind), row.day) for row in find_rows(connection, query))


def _mark(
    connection: Connection, settings: RitualSettings, due: Due, outcome: Outcome, now: datetime, job: NewJob | None
) -> bool:
    with open_rows(connection) as rows:
        row = rows.get(RitualRow, settings.user_id, with_for_update=True)
        if row is None or row.version != settings.version:
            return False
        if rows.get(RitualMark, (settings.user_id, due.kind, due.day)) is not None:
            return False
        rows.add(RitualMark(user_id=settings.user_id, kind=due.kind, day=due.day, outcome=outcome, at=now))
    if job is not None:
        enqueue(connection, job, now)
    return True


KEPT_FOR = 35 * 24 * 3600 * 10**6
"""Microseconds after which a message is forgotten; a plan that is older than that is closed."""


class ThreadMessageRow(Base, table=True):
    """A message of a thread, by a person or the bot. ``ts`` is Slack's, in microseconds."""

    __tablename__ = "thread_message"

    channel: str = Field(primary_key=True, sa_type=Text)
    thread: int = Field(primary_key=True, sa_type=BigInteger)
    ts: int = Field(primary_key=True, sa_type=BigInteger)


MESSAGE = table(ThreadMessageRow)


class SqlThreadMessages(OnDatabase):
    """Implements :class:`fateforger.session.store.ThreadMessages` over a :class:`Database`."""

    async def observe(self, channel: str, thread_ts: str, *messages: str) -> None:
        await self._database.write(lambda connection: _observe(connection, channel, thread_ts, messages))

    async def forget(self, channel: str, thread_ts: str, ts: str) -> None:
        statement = delete(MESSAGE).where(*_is_in(channel, thread_ts), MESSAGE.c.ts == parse_ts(ts))
        await self._database.write(lambda connection: connection.execute(statement))

    async def count_after(self, channel: str, thread_ts: str, ts: str) -> int | None:
        known = select(MESSAGE.c.ts).where(*_is_in(channel, thread_ts))
        found = set(await self._database.read(lambda connection: connection.execute(known).scalars().all()))
        return sum(each > parse_ts(ts) for each in found) if parse_ts(thread_ts) in found else None


def _is_in(channel: str, thread_ts: str) -> tuple[ColumnElement[bool], ...]:
    return (MESSAGE.c.channel == channel, MESSAGE.c.thread == parse_ts(thread_ts))


def _observe(connection: Connection, channel: str, thread_ts: str, messages: Iterable[str]) -> None:
    insert = insert_sqlite if connection.dialect.name == "sqlite" else insert_postgresql
    thread = parse_ts(thread_ts)
    rows = [{"channel": channel, "thread": thread, "ts": parse_ts(ts)} for ts in messages]
    connection.execute(insert(MESSAGE).on_conflict_do_nothing(), rows)
    if thread in {row["ts"] for row in rows}:
        # A thread begins: a good moment, once a plan, to forget those that are no longer used.
        connection.execute(delete(MESSAGE).where(MESSAGE.c.channel == channel, MESSAGE.c.thread < thread - KEPT_FOR))


def parse_ts(ts: str) -> int:
    """Return the instant of a message of Slack in microseconds, which also orders its messages."""
    return int(Decimal(ts) * 10**6)


class RuleReplyRow(Base, table=True):
    """The reply to a command about a person's rules. ``lines`` is JSON."""

    __tablename__ = "rule_reply"
    __table_args__ = (Index("ix_rule_reply_user", "user_id"), Index("ix_rule_reply_at", "at"))

    command_id: str = Field(primary_key=True, sa_type=Text)
    user_id: str = Field(sa_type=Text)
    lines: str = Field(sa_type=Text)
    at: datetime = Field(sa_type=Instant)


RULE_REPLY = table(RuleReplyRow)


class SqlRuleReplies(OnDatabase):
    """Implements :class:`fateforger.conversation.ports.RuleReplies` over a :class:`Database`."""

    async def of(self, command_id: str) -> tuple[str, ...] | None:
        row = await self._database.read(lambda connection: find_row(connection, RuleReplyRow, command_id))
        return None if row is None else tuple(json.loads(row.lines))

    async def keep(self, user_id: str, command_id: str, lines: Sequence[str], *, at: datetime) -> None:
        row = RuleReplyRow(command_id=command_id, user_id=user_id, lines=json.dumps(list(lines)), at=at)
        await self._database.write(lambda connection: put_row(connection, row))


class TalkRow(Base, table=True):
    """The last exchanges with a person outside of plans, as JSON."""

    __tablename__ = "person_talk"

    user_id: str = Field(primary_key=True, sa_type=Text)
    talk: str = Field(sa_type=Text)


TALK = table(TalkRow)


class SqlTalks(OnDatabase):
    """Implements :class:`fateforger.session.store.Talks` over a :class:`Database`."""

    async def of(self, user_id: str) -> RecentTalk | None:
        row = await self._database.read(lambda connection: find_row(connection, TalkRow, user_id))
        return None if row is None else RecentTalk.model_validate_json(row.talk)

    async def keep(self, user_id: str, talk: RecentTalk) -> None:
        row = TalkRow(user_id=user_id, talk=talk.model_dump_json())
        await self._database.write(lambda connection: put_row(connection, row))
