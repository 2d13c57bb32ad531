"""Durable state in SQL: one SQLite file, or PostgreSQL by URL."""

from fateforger.adapters.store.journal import SqlJournal
from fateforger.adapters.store.store import Store, open_store

__all__ = ["SqlJournal", "Store", "open_store"]
