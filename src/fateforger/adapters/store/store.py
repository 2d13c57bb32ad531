"""All durable state in one database."""

from __future__ import annotations

from pathlib import Path

from fateforger.adapters.store import installations  # noqa: F401  its tables belong to the database as well
from fateforger.adapters.store.agents import SqlCalls, SqlClients, SqlProposals
from fateforger.adapters.store.calendars import SqlBuckets, SqlOwners, SqlQuota
from fateforger.adapters.store.connections import SqlChannels
from fateforger.adapters.store.constraints import SqlConstraints
from fateforger.adapters.store.database import Database, open_database
from fateforger.adapters.store.homes import SqlHomes, SqlLanguages
from fateforger.adapters.store.inbox import open_jobs
from fateforger.adapters.store.jobs import LeaseJobs
from fateforger.adapters.store.journal import SqlJournal
from fateforger.adapters.store.operator_log import SqlOperatorLog
from fateforger.adapters.store.people import SqlPeople
from fateforger.adapters.store.retention import SqlRetention
from fateforger.adapters.store.rituals import SqlRituals
from fateforger.adapters.store.sessions import SqlOutbox, SqlSessions
from fateforger.adapters.store.tables import Base
from fateforger.adapters.store.talks import SqlRuleReplies, SqlTalks, SqlThreadMessages
from fateforger.adapters.store.tasks import SqlDurations, SqlTasks
from fateforger.adapters.store.usage import SqlFeedbacks, SqlUsage
from fateforger.adapters.store.workspaces import SqlStandings, SqlZones

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
