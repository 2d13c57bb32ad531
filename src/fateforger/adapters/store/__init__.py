"""Durable state in SQL: one SQLite file, or PostgreSQL by URL."""

from fateforger.adapters.store.jobs import SqlJobs
from fateforger.adapters.store.journal import SqlJournal
from fateforger.adapters.store.outbox import SqlOutbox
from fateforger.adapters.store.sessions import SqlSessions
from fateforger.adapters.store.store import Store, open_store

__all__ = ["SqlJobs", "SqlJournal", "SqlOutbox", "SqlSessions", "Store", "open_store"]
