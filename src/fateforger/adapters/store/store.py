"""All durable state in one database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fateforger.adapters.store.agents import SqlCalls, SqlClients, SqlProposals
from fateforger.adapters.store.calendars import SqlOwners, SqlQuota
from fateforger.adapters.store.constraints import SqlConstraints
from fateforger.adapters.store.database import (
    Database,
    describe_database,
    make_engine,
    migrate_database,
    parse_database_url,
    translate_errors,
)
from fateforger.adapters.store.jobs import SqlJobs
from fateforger.adapters.store.journal import SqlJournal
from fateforger.adapters.store.people import SqlPeople
from fateforger.adapters.store.sessions import SqlOutbox, SqlSessions
from fateforger.adapters.store.tasks import SqlTasks
from fateforger.adapters.store.usage import SqlFeedbacks, SqlUsage


@dataclass(frozen=True, slots=True)
class Store:
    """The ports that one database serves."""

    database: Database
    journal: SqlJournal
    sessions: SqlSessions
    outbox: SqlOutbox
    jobs: SqlJobs
    feedbacks: SqlFeedbacks
    usage: SqlUsage
    constraints: SqlConstraints
    tasks: SqlTasks
    clients: SqlClients
    calls: SqlCalls
    proposals: SqlProposals
    people: SqlPeople
    quota: SqlQuota
    owners: SqlOwners

    async def aclose(self) -> None:
        """Finish running transactions and close the database. Calling it again does nothing."""
        await self.database.aclose()


def open_store(where: str | Path) -> Store:
    """Open the database at a path or URL (see :func:`parse_database_url`), creating or migrating its tables if needed.

    This blocks for some milliseconds, or about a second for a migration. Raises ``BadInput`` for anything that cannot
    be a database, ``StoreUnavailable`` for one that cannot be used or belongs to a newer fateforger.
    """
    url = parse_database_url(where)
    with translate_errors(describe_database(url)):
        engine = make_engine(url)
    database = Database(engine)
    try:
        migrate_database(engine, database.place)
    except BaseException:
        engine.dispose()
        raise
    return Store(
        database=database,
        journal=SqlJournal(database),
        sessions=SqlSessions(database),
        outbox=SqlOutbox(database),
        jobs=SqlJobs(database),
        feedbacks=SqlFeedbacks(database),
        usage=SqlUsage(database),
        constraints=SqlConstraints(database),
        tasks=SqlTasks(database),
        clients=SqlClients(database),
        calls=SqlCalls(database),
        proposals=SqlProposals(database),
        people=SqlPeople(database),
        quota=SqlQuota(database),
        owners=SqlOwners(database),
    )
