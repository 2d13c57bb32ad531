"""All durable state in one database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from fateforger.adapters.store.agents import SqlCalls, SqlClients, SqlProposals
from fateforger.adapters.store.calendars import SqlOwners, SqlQuota
from fateforger.adapters.store.constraints import SqlConstraints
from fateforger.adapters.store.database import Database, open_database
from fateforger.adapters.store.jobs import SqlJobs
from fateforger.adapters.store.journal import SqlJournal
from fateforger.adapters.store.people import SqlPeople
from fateforger.adapters.store.sessions import SqlOutbox, SqlSessions
from fateforger.adapters.store.tables import Base
from fateforger.adapters.store.tasks import SqlTasks
from fateforger.adapters.store.usage import SqlFeedbacks, SqlUsage

metadata = Base.metadata
"""All tables, because every module that declares one is imported above."""


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

    @classmethod
    def on(cls, database: Database) -> Self:
        """Return the ports on an open database."""
        return cls(
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

    async def aclose(self) -> None:
        """Finish running transactions and close the database. Calling it again does nothing."""
        await self.database.aclose()


def open_store(where: str | Path) -> Store:
    """Open the database; see :func:`~fateforger.adapters.store.database.open_database`."""
    return Store.on(open_database(where))
