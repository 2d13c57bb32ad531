"""All durable state in one database, and how long its rows are kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from sqlalchemy import Column, ColumnElement, Connection, Table, delete, literal_column, select, tuple_, update

from fateforger.adapters.store import installations  # noqa: F401  its tables belong to the database as well
from fateforger.adapters.store.agents import CALL, SqlCalls, SqlClients, SqlProposals
from fateforger.adapters.store.calendars import USE, SqlBuckets, SqlOwners, SqlQuota
from fateforger.adapters.store.connections import CHANNEL, SqlChannels
from fateforger.adapters.store.constraints import SqlConstraints
from fateforger.adapters.store.database import Database, OnDatabase, open_database
from fateforger.adapters.store.homes import SqlHomes, SqlLanguages, SqlStandings
from fateforger.adapters.store.inbox import has_open_job, open_jobs, prune_dead
from fateforger.adapters.store.jobs import RECEIPT, LeaseJobs
from fateforger.adapters.store.journal import OP, TX, SqlJournal
from fateforger.adapters.store.people import SqlPeople
from fateforger.adapters.store.sessions import OUTBOX, SESSION, SqlOutbox, SqlSessions
from fateforger.adapters.store.tables import Base, table
from fateforger.adapters.store.talks import (
    RITUAL_MARK,
    RULE_REPLY,
    SqlRituals,
    SqlRuleReplies,
    SqlTalks,
    SqlThreadMessages,
    SqlZones,
)
from fateforger.adapters.store.tasks import SqlDurations, SqlTasks
from fateforger.adapters.store.usage import OPERATOR_ACTION, FeedbackRow, SqlFeedbacks, SqlOperatorLog, SqlUsage
from fateforger.agents.clients import KEPT_FOR
from fateforger.calendar.transactions import TxState
from fateforger.ports.people import OPERATOR_LOG_KEPT

RECEIPTS_KEPT = timedelta(days=7)
"""Slack repeats an event for an hour, or for a day if delayed; the program's own jobs are tried for three days."""
DEAD_JOBS_KEPT = timedelta(days=30)
"""Time in which an operator can look at a job that was given up, and retry it."""
SENT_KEPT = timedelta(days=90)
"""If somebody presses an older card, it is posted again, not edited."""
MARKS_KEPT = timedelta(days=60)
"""A message at a chosen time is looked up for a week."""
REPLIES_KEPT = timedelta(days=1)
"""The form that shows a reply is open for minutes."""
EXPIRED_KEPT = timedelta(days=1)
"""An expired push channel or request does nothing any more."""

UNFINISHED = (TxState.APPLYING.value, TxState.PAUSED.value)
RATING = table(FeedbackRow)

BATCH = 500
"""Rows that one transaction deletes."""
MOST_BATCHES = 20
"""Batches of one table in a round; the next round goes on."""


@dataclass(frozen=True, slots=True)
class Horizon:
    """The time for which the rows of a table are kept, counted from an indexed instant of each."""

    table: Table
    instant: Column[datetime]
    kept: timedelta
    also: tuple[ColumnElement[bool], ...] = ()


HORIZONS = (
    Horizon(OUTBOX, OUTBOX.c.sent_at, SENT_KEPT, (OUTBOX.c.state == literal_column("'sent'"),)),
    Horizon(RITUAL_MARK, RITUAL_MARK.c.at, MARKS_KEPT),
    Horizon(RULE_REPLY, RULE_REPLY.c.at, REPLIES_KEPT),
    Horizon(CHANNEL, CHANNEL.c.expires_at, EXPIRED_KEPT),
    Horizon(USE, USE.c.counts_until, EXPIRED_KEPT),
    Horizon(CALL, CALL.c.at, KEPT_FOR),
)


class SqlRetention(OnDatabase):
    """Deletes what is older than its horizon."""

    async def prune(self, *, now: datetime, operator_log: timedelta = OPERATOR_LOG_KEPT) -> int:
        """Delete a bounded number of rows and return their number.

        ``operator_log`` is the time for which actions of the operator are kept. Raises ``StoreError``.
        """
        horizons = (*HORIZONS, Horizon(OPERATOR_ACTION, OPERATOR_ACTION.c.at, operator_log))
        works: list[Callable[[Connection], int]] = [
            partial(prune_dead, before=now - DEAD_JOBS_KEPT, limit=BATCH),
            partial(_delete_receipts, now=now),
            *(partial(_delete_batch, horizon=horizon, now=now) for horizon in horizons),
        ]
        return sum([await self._repeat(work) for work in works])

    async def prune_sessions(self, *, before: datetime) -> int:
        """Delete a bounded number of past days that were last touched before an instant; return their number.

        Their messages, ratings and calendar writes are deleted too, so that no row names a missing day. A day with an
        unfinished write stays. Raises ``StoreError``.
        """
        return await self._repeat(partial(_delete_sessions, before=before))

    async def _repeat(self, work: Callable[[Connection], int]) -> int:
        count = 0
        for _ in range(MOST_BATCHES):
            deleted = await self._database.write(work)
            count += deleted
            if deleted < BATCH:
                break
        return count


def _delete_receipts(connection: Connection, now: datetime) -> int:
    horizon = Horizon(RECEIPT, RECEIPT.c.accepted_at, RECEIPTS_KEPT, (~has_open_job(connection),))
    return _delete_batch(connection, horizon, now)


def _delete_sessions(connection: Connection, before: datetime) -> int:
    unfinished = select(TX.c.session_id).where(TX.c.state.in_(UNFINISHED), TX.c.session_id.is_not(None))
    is_old = (SESSION.c.touched_at < before, SESSION.c.day < before.date(), SESSION.c.id.not_in(unfinished))
    query = select(SESSION.c.id).where(*is_old).order_by(SESSION.c.touched_at).limit(BATCH)
    old = list(connection.scalars(query))
    writes = list(connection.scalars(select(TX.c.id).where(TX.c.session_id.in_(old))))
    writes += connection.scalars(select(TX.c.id).where(TX.c.undoes.in_(writes), TX.c.session_id.is_(None)))
    # An undo refers to its write; without the reference, the rows can go in any order.
    connection.execute(update(TX).where(TX.c.undoes.in_(writes)).values(undoes=None))
    for one in (
        delete(OP).where(OP.c.tx_id.in_(writes)),
        delete(TX).where(TX.c.id.in_(writes)),
        delete(OUTBOX).where(OUTBOX.c.session_id.in_(old)),
        delete(RATING).where(RATING.c.session_id.in_(old)),
        delete(SESSION).where(SESSION.c.id.in_(old)),
    ):
        connection.execute(one)
    return len(old)


def _delete_batch(connection: Connection, horizon: Horizon, now: datetime) -> int:
    key = tuple(horizon.table.primary_key)
    is_old = (horizon.instant < now - horizon.kept, *horizon.also)
    old = connection.execute(select(*key).where(*is_old).order_by(horizon.instant).limit(BATCH)).all()
    if not old:
        return 0
    return connection.execute(delete(horizon.table).where(tuple_(*key).in_([tuple(row) for row in old]))).rowcount


metadata = Base.metadata
"""All tables, because every module that declares one is imported above."""


class Store:
    """The ports that one open database serves."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.journal = SqlJournal(database)
        self.sessions = SqlSessions(database)
        self.outbox = SqlOutbox(database)
        self.messages = SqlThreadMessages(database)
        self.jobs = open_jobs(database)
        self.feedbacks = SqlFeedbacks(database)
        self.usage = SqlUsage(database)
        self.constraints = SqlConstraints(database)
        self.tasks = SqlTasks(database)
        self.durations = SqlDurations(database)
        self.clients = SqlClients(database)
        self.calls = SqlCalls(database)
        self.proposals = SqlProposals(database)
        self.people = SqlPeople(database)
        self.operator_log = SqlOperatorLog(database)
        self.languages = SqlLanguages(database)
        self.talks = SqlTalks(database)
        self.rituals = SqlRituals(database, self.jobs)
        self.quota = SqlQuota(database)
        self.buckets = SqlBuckets(database)
        self.channels = SqlChannels(database)
        self.owners = SqlOwners(database)
        self.standings = SqlStandings(database)
        self.zones = SqlZones(database)
        self.homes = SqlHomes(database)
        self.replies = SqlRuleReplies(database)
        self.retention = SqlRetention(database)

    async def take_back(self, owner: str) -> None:
        """End the claims of a dead process of that name at once, where processes keep their names (SQLite).

        Jobs that wait for another try become due. On PostgreSQL, claims end when the process was not heard of for the
        seconds of a lease, and the database's clock sets retry times.
        """
        if isinstance(self.jobs, LeaseJobs):
            await self.jobs.take_back(owner)

    async def aclose(self) -> None:
        """Give up what this process has claimed, finish running transactions, and close the database.

        Calling it again does nothing.
        """
        await self.jobs.aclose()
        await self.database.aclose()


def open_store(where: str | Path) -> Store:
    """Open the database; see :func:`~fateforger.adapters.store.database.open_database`."""
    return Store(open_database(where))
