"""Select the rows of each table that are about a person, and convert them to plain values."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Row, Table, and_, or_, select

from fateforger.adapters.store.constraint_rows import VERSION, Damaged, read_version_row
from fateforger.adapters.store.jobs import JOB, RECEIPT
from fateforger.adapters.store.journal_rows import GENERATION, HEAD, OP, TX
from fateforger.adapters.store.leases import LEASE
from fateforger.adapters.store.outbox import OUTBOX
from fateforger.adapters.store.owners import OWNER
from fateforger.adapters.store.person_jobs import JobShare, collect_names, find_job_share
from fateforger.adapters.store.person_journal import JournalShare, find_journal_share
from fateforger.adapters.store.proposals import CLIENT, PROPOSAL
from fateforger.adapters.store.sessions import SESSION
from fateforger.adapters.store.tables import AgentCall, FeedbackRow, table
from fateforger.adapters.store.task_rows import BLOCKER, TASK
from fateforger.constraints import write_version

CALL, RATING = table(AgentCall), table(FeedbackRow)

_DOCUMENTS = frozenset(
    {"session", "message", "payload", "plan", "context", "op", "observed", "head", "task", "proposal", "record"}
)
"""Columns that hold JSON texts."""
_WITHHELD = frozenset({"token_hash", "code_hash", "code_salt", "closed_for"})
_AT_ONCE = 400
"""The most values in one statement; databases accept some thousands."""

_SESSIONS = select(SESSION.c.id, SESSION.c.user_id, SESSION.c.channel, SESSION.c.thread_ts)


@dataclass(frozen=True, slots=True)
class Share:
    """The rows of one table that are about a person, as disjoint ``conditions``."""

    kind: str
    table: Table
    conditions: tuple[ColumnElement[bool], ...]


@dataclass(frozen=True, slots=True)
class Holding:
    """All shares of a person, in an order in which they can be deleted."""

    shares: tuple[Share, ...]
    journal: JournalShare
    jobs: JobShare


def find_holding(connection: Connection, user_id: str, *, calendar: str | None, now: datetime | None = None) -> Holding:
    """Return all data about a person that ``connection`` sees. With ``now``, also check whether any of it is in use."""
    every = connection.execute(_SESSIONS).all()
    sessions = {row.id: (row.channel, row.thread_ts) for row in every if row.user_id == user_id}
    mine = select(PROPOSAL.c.id, PROPOSAL.c.channel).where(PROPOSAL.c.user_id == user_id)
    proposals = {row.id: row.channel for row in connection.execute(mine)}
    owners = {row.id: row.user_id for row in every}
    journal = find_journal_share(connection, user_id, owners, calendar=calendar, now=now)
    jobs = find_job_share(connection, collect_names(user_id, sessions, proposals), now=now)
    return Holding(tuple(_iter_shares(user_id, tuple(sessions), journal, jobs)), journal, jobs)


def _iter_shares(user_id: str, sessions: Collection[str], journal: JournalShare, jobs: JobShare) -> Iterator[Share]:
    tasks = select(TASK.c.id).where(TASK.c.user_id == user_id)
    yield Share("constraints", VERSION, (VERSION.c.user_id == user_id,))
    yield Share("task_order", BLOCKER, (or_(BLOCKER.c.task_id.in_(tasks), BLOCKER.c.blocker_id.in_(tasks)),))
    yield Share("tasks", TASK, (TASK.c.user_id == user_id,))
    yield Share("messages", OUTBOX, _match_any(OUTBOX.c.session_id, sessions))
    yield Share("sessions", SESSION, (SESSION.c.user_id == user_id,))
    yield Share("jobs", JOB, _match_any(JOB.c.seq, jobs.jobs))
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
    yield Share("ownership", OWNER, (OWNER.c.person == user_id,))


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
    if share.table is VERSION and not isinstance(version := read_version_row(row), Damaged):
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
