"""The data about people in the database: export, and erasure in one commit."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Row,
    Select,
    Table,
    Text,
    and_,
    delete,
    func,
    insert,
    or_,
    select,
    text,
    update,
)
from sqlmodel import Field

from fateforger.adapters.store.agents import CLIENT, PROPOSAL, AgentCall
from fateforger.adapters.store.calendars import OWNER, close_calendar
from fateforger.adapters.store.connections import CHANNEL, CONNECTION
from fateforger.adapters.store.constraints import (
    UNINDEXED,
    VERSION,
    ConstraintVersion,
    Damaged,
    put_all_on_list,
    read_version_row,
)
from fateforger.adapters.store.database import Database, read_clock
from fateforger.adapters.store.homes import HOME, LANGUAGE, STANDING, ZONE
from fateforger.adapters.store.inbox import get_job_id, list_jobs
from fateforger.adapters.store.jobs import RECEIPT
from fateforger.adapters.store.journal import GENERATION, HEAD, LEASE, OP, TX
from fateforger.adapters.store.sessions import OUTBOX, SESSION
from fateforger.adapters.store.tables import Base, Instant, iter_keys, list_tables, parse_mapping, table
from fateforger.adapters.store.talks import MESSAGE, RITUAL, RITUAL_MARK, RULE_REPLY, TALK, find_settings
from fateforger.adapters.store.tasks import BLOCKER, DURATION, TASK
from fateforger.adapters.store.usage import OPERATOR_ACTION, FeedbackRow
from fateforger.calendar.transactions import TxState
from fateforger.errors import CalendarBusy, StillAtWork
from fateforger.memory.documents import check_person, write_version
from fateforger.ports.people import ERASING_LANE, Counts
from fateforger.slack.ids import find_ids, get_bare
from fateforger.values import replace


class Erasure(Base, table=True):
    """An erasure, with the number of rows of each kind. No column says who was erased."""

    __tablename__ = "erasure"

    id: str = Field(primary_key=True, sa_type=Text)
    at: datetime = Field(sa_type=Instant)
    counts: str = Field(sa_type=Text)


UNFINISHED = (
    "A change to their calendar is not finished, so nothing was erased: let fateforger run until it is, then try again."
)
AT_WORK = "I am carrying out something of theirs just now, so nothing was erased; try again in a moment."

_RECEIPTS = select(RECEIPT).order_by(RECEIPT.c.lane, RECEIPT.c.dedupe)
_EPOCH = datetime.fromtimestamp(0, UTC)
_DIRECT = "D"
"""The first letter of Slack's ids of direct messages, conversations of the bot with one person."""


@dataclass(frozen=True)
class Names:
    """The names of a person: their id, sessions, proposals, and the threads and channels where they talk to the bot."""

    user_id: str
    sessions: frozenset[str]
    proposals: frozenset[str]
    threads: frozenset[tuple[str, str | None]]
    direct: frozenset[str]

    @cached_property
    def _all(self) -> frozenset[str]:
        return self.sessions | self.proposals | self.direct | {self.user_id}

    @cached_property
    def _odd(self) -> tuple[re.Pattern[str], ...]:
        """The names that are not one id."""
        odd = (name for name in self._all if list(find_ids(name)) != [name])
        return tuple(re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.ASCII) for name in odd)

    def occur_in(self, text: str) -> bool:
        """Check whether a text contains one of the names as a word of its own."""
        return not self._all.isdisjoint(find_ids(text)) or any(odd.search(text) for odd in self._odd)


def collect_names(
    user_id: str,
    sessions: Mapping[str, tuple[str, str | None]],
    proposals: Mapping[str, str | None],
    rituals: Collection[str],
) -> Names:
    """Return the names of a person.

    ``sessions`` gives channel and thread of each session, ``proposals`` the channel of each proposal's card.
    ``rituals`` are the channels of messages that the bot sends by itself.
    """
    channels = {*(channel for channel, _ in sessions.values()), *(filter(None, proposals.values())), *rituals}
    return Names(
        user_id=user_id,
        sessions=frozenset(sessions),
        proposals=frozenset(proposals),
        threads=frozenset((channel, thread) for channel, thread in sessions.values() if thread is not None),
        direct=frozenset(channel for channel in channels if _is_direct(channel)),
    )


def _is_direct(channel: str) -> bool:
    return get_bare(channel).startswith(_DIRECT)


@dataclass(frozen=True, slots=True)
class JobShare:
    """A person's jobs by number, and receipts by lane and name."""

    jobs: tuple[int, ...]
    receipts: tuple[tuple[str, str], ...]


def find_job_share(connection: Connection, names: Names, *, now: datetime | None) -> JobShare:
    """Return a person's share of the jobs. With ``now``, raises ``StillAtWork`` while one of them is running."""
    stored = [job for job in list_jobs(connection, now or _EPOCH) if job.lane != ERASING_LANE]
    rows = [(job, parse_mapping(job.payload, f"Job {job.id}")) for job in stored]
    said = {str(p["channel"]) for _, p in rows if p.get("user_id") == names.user_id and p.get("channel")}
    names = replace(names, direct=names.direct | {channel for channel in said if _is_direct(channel)})
    theirs = [row for row, payload in rows if _concerns(names, row.key, payload)]
    marks = [(mark.lane, mark.dedupe) for mark in connection.execute(_RECEIPTS) if names.occur_in(mark.dedupe)]
    if now is not None and any(row.is_running for row in theirs):
        raise StillAtWork(AT_WORK)
    return JobShare(tuple(row.id for row in theirs), tuple(marks))


def _concerns(names: Names, key: str, payload: Mapping[str, Any]) -> bool:
    """Check whether a job is about the person it names; if it names none, use its session, proposal, place or key.

    Quoted text proves nothing, since people mention each other.
    """
    if isinstance(person := payload.get("user_id"), str):
        return person == names.user_id
    channel = payload.get("channel")
    return (
        payload.get("session_id") in names.sessions
        or payload.get("proposal") in names.proposals
        or channel in names.direct
        or (channel, payload.get("thread_ts")) in names.threads
        or names.occur_in(key)
    )


_UNFINISHED = frozenset({TxState.APPLYING.value, TxState.PAUSED.value})
_TRANSACTIONS = select(TX.c.id, TX.c.calendar, TX.c.day, TX.c.state, TX.c.undoes, TX.c.session_id)
_LEASES = select(LEASE.c.calendar, LEASE.c.expires_at)


@dataclass(frozen=True, slots=True)
class JournalShare:
    """A person's part of the journal.

    ``calendars`` are theirs alone; of the others, ``days`` are those on which only they wrote.
    """

    transactions: tuple[str, ...]
    calendars: frozenset[str]
    days: frozenset[tuple[str, date]]


def find_journal_share(
    connection: Connection, user_id: str, sessions: Collection[str], *, calendar: str | None, now: datetime | None
) -> JournalShare:
    """Return a person's part of the journal.

    A transaction without a session belongs to the person of the calendar if there is only one, or to the only person
    there is. ``calendar`` is known to be theirs. With ``now``, raises ``CalendarBusy`` while one of their writes is
    running, paused, or cut off.
    """
    is_only = _is_only_person(connection, user_id)
    written = _find_calendars(connection, sessions) | ({calendar} if calendar is not None else set())
    names = sorted(written) if not is_only else list(iter_keys(connection, TX.c.calendar))
    rows = sorted(_find_of(connection, _TRANSACTIONS.add_columns(TX.c.seq), TX.c.calendar, names), key=lambda r: r.seq)
    leased = names if not is_only else list(iter_keys(connection, LEASE.c.calendar))
    leases = _find_of(connection, _LEASES, LEASE.c.calendar, leased)
    named = sorted({row.session_id for row in rows if row.session_id is not None})
    owners = {row.id: row.user_id for row in _find_of(connection, _OWNERS, SESSION.c.id, named)}
    writers: dict[str, str | None] = {}
    people: dict[str, set[str]] = {row.calendar: set() for row in (*rows, *leases)}
    if calendar is not None:
        people[calendar] = {user_id}
    for row in rows:
        writer = writers.get(row.undoes) if row.session_id is None else owners.get(row.session_id)
        writers[row.id] = writer
        people[row.calendar].update(() if writer is None else (writer,))
    if is_only:
        people = {name: found or {user_id} for name, found in people.items()}
    alone = frozenset(name for name, found in people.items() if found == {user_id})
    theirs = [r for r in rows if writers[r.id] == user_id or (writers[r.id] is None and r.calendar in alone)]
    ids = {row.id for row in theirs}
    others = {(row.calendar, row.day) for row in rows if row.id not in ids}
    touched = alone | {row.calendar for row in theirs}
    if now is not None:
        at = read_clock(connection, now)
        held = any(row.calendar in touched and row.expires_at is not None and row.expires_at > at for row in leases)
        if held or any(row.state in _UNFINISHED for row in theirs):
            raise CalendarBusy(UNFINISHED)
    return JournalShare(
        transactions=tuple(row.id for row in theirs),
        calendars=alone,
        days=frozenset({(row.calendar, row.day) for row in theirs if row.calendar not in alone} - others),
    )


_OWNERS = select(SESSION.c.id, SESSION.c.user_id)


def _is_only_person(connection: Connection, user_id: str) -> bool:
    """Check whether all sessions that there are belong to one person."""
    people = (SESSION.c.user_id < user_id, SESSION.c.user_id > user_id, SESSION.c.user_id == user_id)
    before, after, theirs = (
        connection.execute(select(SESSION.c.id).where(one).limit(1)).first() is not None for one in people
    )
    return theirs and not before and not after


def _find_calendars(connection: Connection, sessions: Collection[str]) -> set[str]:
    """Return the calendars that sessions wrote to."""
    found = select(TX.c.calendar).distinct()
    return {row.calendar for row in _find_of(connection, found, TX.c.session_id, sorted(sessions))}


def _find_of(
    connection: Connection, query: Select[Any], column: Column[Any], values: Sequence[str]
) -> Sequence[Row[Any]]:
    return [row for one in _match_any(column, values) for row in connection.execute(query.where(one))]


CALL, RATING = table(AgentCall), table(FeedbackRow)

_DOCUMENTS = frozenset(
    {
        "session",
        "message",
        "payload",
        "plan",
        "context",
        "op",
        "observed",
        "head",
        "task",
        "proposal",
        "record",
        "settings",
        "lines",
    }
)
"""Columns that hold JSON texts."""
_WITHHELD = frozenset({"token_hash", "code_hash", "code_salt", "closed_for", "secret"})
_AT_ONCE = 400
"""The most values in one statement; databases accept some thousands."""

_SESSIONS = select(SESSION.c.id, SESSION.c.channel, SESSION.c.thread_ts)


@dataclass(frozen=True, slots=True)
class Share:
    """The rows of one table that are about a person, as disjoint ``conditions``."""

    kind: str
    table: Table
    conditions: tuple[ColumnElement[bool], ...]


def find_shares(
    connection: Connection, user_id: str, *, calendar: str | None, now: datetime | None = None
) -> tuple[Share, ...]:
    """Return all data about a person that ``connection`` sees, in an order in which it can be deleted.

    With ``now``, raises ``CalendarBusy`` or ``StillAtWork`` while any of it is in use.
    """
    theirs = connection.execute(_SESSIONS.where(SESSION.c.user_id == user_id)).all()
    sessions = {row.id: (row.channel, row.thread_ts) for row in theirs}
    mine = select(PROPOSAL.c.id, PROPOSAL.c.channel).where(PROPOSAL.c.user_id == user_id)
    proposals = {row.id: row.channel for row in connection.execute(mine)}
    rituals = [settings.channel for settings in find_settings(connection, user_id)]
    journal = find_journal_share(connection, user_id, sessions, calendar=calendar, now=now)
    names = collect_names(user_id, sessions, proposals, rituals)
    jobs = find_job_share(connection, names, now=now)
    return tuple(_iter_shares(names, journal, jobs, get_job_id(connection)))


def _iter_shares(names: Names, journal: JournalShare, jobs: JobShare, job_id: Column[Any]) -> Iterator[Share]:
    user_id, sessions = names.user_id, names.sessions
    tasks = select(TASK.c.id).where(TASK.c.user_id == user_id)
    yield Share("constraints", VERSION, (VERSION.c.user_id == user_id,))
    yield Share("task_order", BLOCKER, (or_(BLOCKER.c.task_id.in_(tasks), BLOCKER.c.blocker_id.in_(tasks)),))
    yield Share("tasks", TASK, (TASK.c.user_id == user_id,))
    yield Share("durations", DURATION, (DURATION.c.user_id == user_id,))
    yield Share("messages", OUTBOX, _match_any(OUTBOX.c.session_id, sessions))
    yield Share("sessions", SESSION, (SESSION.c.user_id == user_id,))
    yield Share("thread_messages", MESSAGE, _match_any(MESSAGE.c.channel, names.direct))
    yield Share("jobs", job_id.table, _match_any(job_id, jobs.jobs))
    yield Share("receipts", RECEIPT, _match_pairs(RECEIPT.c.lane, RECEIPT.c.dedupe, jobs.receipts))
    yield Share("ratings", RATING, (RATING.c.user_id == user_id,))
    yield Share("calendar_ops", OP, _match_any(OP.c.tx_id, journal.transactions))
    yield Share("calendar_writes", TX, _match_any(TX.c.id, journal.transactions))
    days, texts = journal.days, {(name, day.isoformat()) for name, day in journal.days}
    yield Share(
        "calendar_blocks", HEAD, (*_match_calendars(HEAD, journal), *_match_pairs(HEAD.c.calendar, HEAD.c.day, days))
    )
    ids = (*_match_calendars(GENERATION, journal), *_match_pairs(GENERATION.c.calendar, GENERATION.c.day, texts))
    yield Share("event_ids", GENERATION, ids)
    yield Share("calendars", LEASE, _match_calendars(LEASE, journal))
    yield Share("agents", CLIENT, (CLIENT.c.user_id == user_id,))
    yield Share("agent_calls", CALL, (CALL.c.user_id == user_id,))
    yield Share("proposals", PROPOSAL, (PROPOSAL.c.user_id == user_id,))
    yield Share("operator_actions", OPERATOR_ACTION, (OPERATOR_ACTION.c.user_id == user_id,))
    yield Share("ownership", OWNER, (OWNER.c.person == user_id,))
    yield Share("connection", CONNECTION, (CONNECTION.c.user_id == user_id,))
    yield Share("channels", CHANNEL, (CHANNEL.c.user_id == user_id,))
    yield Share("language", LANGUAGE, (LANGUAGE.c.user_id == user_id,))
    yield Share("standing", STANDING, (STANDING.c.user_id == user_id,))
    yield Share("time_zone", ZONE, (ZONE.c.user_id == user_id,))
    yield Share("talk", TALK, (TALK.c.user_id == user_id,))
    yield Share("replies", RULE_REPLY, (RULE_REPLY.c.user_id == user_id,))
    yield Share("rituals", RITUAL, (RITUAL.c.user_id == user_id,))
    yield Share("home", HOME, (HOME.c.user_id == user_id,))
    yield Share("ritual_marks", RITUAL_MARK, (RITUAL_MARK.c.user_id == user_id,))


def _match_calendars(of: Table, journal: JournalShare) -> tuple[ColumnElement[bool], ...]:
    return _match_any(of.c.calendar, sorted(journal.calendars))


def _match_any(column: Column[Any], values: Collection[Any]) -> tuple[ColumnElement[bool], ...]:
    given = list(values)
    return tuple(column.in_(given[first : first + _AT_ONCE]) for first in range(0, len(given), _AT_ONCE))


def _match_pairs(
    one: Column[Any], two: Column[Any], values: Collection[tuple[Any, Any]]
) -> tuple[ColumnElement[bool], ...]:
    given = sorted(values)
    groups = (given[first : first + _AT_ONCE] for first in range(0, len(given), _AT_ONCE))
    return tuple(or_(*(and_(one == a, two == b) for a, b in group)) for group in groups)


def to_values(share: Share, row: Row[Any]) -> dict[str, Any]:
    """Return a row as plain JSON values. A readable constraint becomes the line of an export."""
    if share.table is VERSION and not isinstance(
        version := read_version_row(ConstraintVersion(**row._asdict())), Damaged
    ):
        return write_version(version)
    return {name: _to_plain(name, value) for name, value in row._asdict().items() if name not in _WITHHELD}


def _to_plain(name: str, value: Any) -> Any:
    if isinstance(value, datetime | date):
        return value.isoformat()
    if name not in _DOCUMENTS or not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value  # damaged, but still theirs


ERASURE = table(Erasure)

_INSERT = insert(ERASURE)


class SqlPeople:
    """Implements :class:`fateforger.ports.people.People` over a :class:`Database`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._after: Callable[[], None] = lambda: None

    def on_erase(self, after: Callable[[], None]) -> None:
        """Call ``after`` whenever this object has erased a person, since the index has to follow."""
        self._after = after

    async def count_held(self, user_id: str, *, calendar: str | None = None) -> Counts:
        check_person(user_id)
        return await self._database.read(lambda connection: _count_held(connection, user_id, calendar))

    async def export(self, user_id: str, *, calendar: str | None = None) -> Mapping[str, tuple[Mapping[str, Any], ...]]:
        check_person(user_id)
        return await self._database.read(lambda connection: _export(connection, user_id, calendar))

    async def check_idle(self, user_id: str, *, now: datetime, calendar: str | None = None) -> None:
        check_person(user_id)
        await self._database.read(lambda connection: find_shares(connection, user_id, calendar=calendar, now=now))

    async def erase(
        self, user_id: str, *, now: datetime, calendar: str | None = None, closing: str | None = None
    ) -> Counts:
        check_person(user_id)
        erasure = secrets.token_hex(8)
        counts = await self._database.write(
            lambda connection: _erase(_lock_tables(connection), user_id, calendar, now, erasure, closing)
        )
        await self._database.scrub()
        self._after()
        return counts

    async def pending(self, user_id: str) -> int:
        check_person(user_id)
        return await self._database.read(lambda connection: _count_pending(connection, user_id))

    async def scrub(self) -> None:
        await self._database.scrub()


def _lock_tables(connection: Connection) -> Connection:
    """Return the connection once it is the only writer to the tables that hold people's data.

    PostgreSQL takes its snapshot only after it has the locks; SQLite has one writer at a time.
    """
    if connection.dialect.name != "sqlite":
        names = ", ".join(each.name for each in list_tables("postgresql"))
        connection.execute(text(f"LOCK TABLE {names} IN SHARE ROW EXCLUSIVE MODE"))
    return connection


def _count_held(connection: Connection, user_id: str, calendar: str | None) -> Counts:
    counts = {share.kind: _count(connection, share) for share in find_shares(connection, user_id, calendar=calendar)}
    return _drop_zeros({**counts, "index": _count_pending(connection, user_id)})


def _export(connection: Connection, user_id: str, calendar: str | None) -> dict[str, tuple[Mapping[str, Any], ...]]:
    shares = find_shares(connection, user_id, calendar=calendar)
    return {share.kind: rows for share in shares if (rows := _read_rows(connection, share))}


def _erase(
    connection: Connection, user_id: str, calendar: str | None, now: datetime, erasure: str, closing: str | None
) -> Counts:
    shares = find_shares(connection, user_id, calendar=calendar, now=now)
    put_all_on_list(connection, user_id)
    counts = _drop_zeros({share.kind: _delete(connection, share) for share in shares})
    if closing is not None:
        close_calendar(connection, closing, now)
    if counts:
        connection.execute(_INSERT, {"id": erasure, "at": now, "counts": json.dumps(dict(counts))})
    return counts


def _delete(connection: Connection, share: Share) -> int:
    if share.table is TX:
        # An undo refers to its transaction; clear the reference, so that the rows can be deleted in any order.
        for one in share.conditions:
            connection.execute(update(TX).where(one).values(undoes=None))
    if share.table is OWNER:
        nobody = {"person": None, "origin": None, "since": None}
        return sum(connection.execute(update(OWNER).where(one).values(nobody)).rowcount for one in share.conditions)
    return sum(connection.execute(delete(share.table).where(one)).rowcount for one in share.conditions)


def _count(connection: Connection, share: Share) -> int:
    counts = (select(func.count()).select_from(share.table).where(one) for one in share.conditions)
    return sum(connection.execute(query).scalar_one() for query in counts)


def _read_rows(connection: Connection, share: Share) -> tuple[Mapping[str, Any], ...]:
    order = tuple(share.table.primary_key)
    found = (select(share.table).where(one).order_by(*order) for one in share.conditions)
    return tuple(to_values(share, row) for query in found for row in connection.execute(query))


def _count_pending(connection: Connection, user_id: str) -> int:
    return connection.execute(select(func.count()).where(UNINDEXED.c.user_id == user_id)).scalar_one()


def _drop_zeros(counts: dict[str, int]) -> Counts:
    return {kind: count for kind, count in counts.items() if count}
