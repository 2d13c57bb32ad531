"""Deletion of rows that are no longer needed, a few at a time (docs/operations.md lists for how long each is kept)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy import Column, ColumnElement, Connection, Table, delete, literal_column, select, tuple_

from fateforger.adapters.store.agents import CALL
from fateforger.adapters.store.calendars import USE
from fateforger.adapters.store.channels import CHANNEL
from fateforger.adapters.store.database import Database
from fateforger.adapters.store.inbox import has_open_job, prune_dead
from fateforger.adapters.store.receipts import RECEIPT
from fateforger.adapters.store.rituals import RITUAL_MARK
from fateforger.adapters.store.sessions import OUTBOX
from fateforger.agents.clients import KEPT_FOR

RECEIPTS_KEPT = timedelta(days=7)
"""Slack repeats an event for an hour, or for a day if delayed; the program's own jobs are tried for three days."""
DEAD_JOBS_KEPT = timedelta(days=30)
"""Time in which an operator can look at a job that was given up, and retry it."""
SENT_KEPT = timedelta(days=90)
"""If somebody presses an older card, it is posted again, not edited."""
MARKS_KEPT = timedelta(days=60)
"""A message at a chosen time is looked up for a week."""
EXPIRED_KEPT = timedelta(days=1)
"""An expired push channel or request does nothing any more."""

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
    Horizon(CHANNEL, CHANNEL.c.expires_at, EXPIRED_KEPT),
    Horizon(USE, USE.c.counts_until, EXPIRED_KEPT),
    Horizon(CALL, CALL.c.at, KEPT_FOR),
)


class SqlRetention:
    """Deletes what is older than its horizon."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def prune(self, *, now: datetime) -> int:
        """Delete a bounded number of rows, and return how many. Raises ``StoreError``."""
        works: list[Callable[[Connection], int]] = [
            partial(prune_dead, before=now - DEAD_JOBS_KEPT, limit=BATCH),
            partial(_delete_receipts, now=now),
            *(partial(_delete_batch, horizon=horizon, now=now) for horizon in HORIZONS),
        ]
        return sum([await self._repeat(work) for work in works])

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


def _delete_batch(connection: Connection, horizon: Horizon, now: datetime) -> int:
    key = tuple(horizon.table.primary_key)
    is_old = (horizon.instant < now - horizon.kept, *horizon.also)
    old = connection.execute(select(*key).where(*is_old).order_by(horizon.instant).limit(BATCH)).all()
    if not old:
        return 0
    return connection.execute(delete(horizon.table).where(tuple_(*key).in_([tuple(row) for row in old]))).rowcount
