"""Short transactions outside the event loop."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

from fateforger.adapters.store.faults import IN_EACH_OTHERS_WAY, get_sqlstate, translate_errors
from fateforger.adapters.store.place import POOL_SIZE, READING, describe_database
from fateforger.errors import StoreUnavailable

log = logging.getLogger(__name__)

T = TypeVar("T")
_PAUSES = tuple(0.002 * 2**n for n in range(10))
"""The longest random pause in seconds before each new try of a transaction that conflicted with another; 2 in total."""

_LOCK = text("SELECT pg_advisory_xact_lock(:number)")


class Database:
    """Runs functions of a connection, each as one transaction.

    The transaction is durable when the call returns, and had no effect when the call raised. With SQLite, transactions
    run one after the other in one thread. A call that is cancelled while it runs is carried out all the same; only its
    result is lost.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.place = describe_database(engine.url)
        self._readers = engine.execution_options(**READING)
        self._alone = _with_read_committed(engine)
        self._threads = ThreadPoolExecutor(1 if engine.dialect.name == "sqlite" else POOL_SIZE, "store")
        self._closed = False

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run ``work``, which only reads. Raises ``StoreUnavailable``."""
        return await self._in_thread(self._readers, work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` and commit; an exception rolls back. Raises ``StoreUnavailable``."""
        return await self._in_thread(self.engine, work)

    async def write_alone(self, key: str, work: Callable[[Connection], T]) -> T:
        """Like :meth:`write`, but serialized per ``key`` across processes.

        For one key, the order of commits is the order in which the database counts. Callers queue and never have to try
        again.
        """
        return await self._in_thread(self._alone, lambda connection: work(_lock(connection, key)))

    async def scrub(self) -> None:
        """Remove deleted rows from the files of SQLite by folding its log into the database file and truncating it.

        While another program reads, this is left to the next time, and logged. A database server cleans up by itself.
        """
        if self.engine.dialect.name == "sqlite":
            await asyncio.get_running_loop().run_in_executor(self._threads, self._cut_log)

    def _cut_log(self) -> None:
        with translate_errors(self.place):
            raw = self.engine.raw_connection()
            try:
                busy, *_ = raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            finally:
                raw.close()
        if busy:
            log.warning("what was deleted stays in the log of %s for now: it is being read", self.place)

    async def aclose(self) -> None:
        """Finish running transactions and close the database. Calling it again does nothing."""
        if self._closed:
            return
        self._closed = True
        await asyncio.get_running_loop().run_in_executor(self._threads, self.engine.dispose)
        self._threads.shutdown(wait=False)

    async def _in_thread(self, engine: Engine, work: Callable[[Connection], T]) -> T:
        if self._closed:
            raise StoreUnavailable(f"The database {self.place} is closed.")
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._run, engine, work)

    def _run(self, engine: Engine, work: Callable[[Connection], T]) -> T:
        with translate_errors(self.place):
            for pause in _PAUSES:
                try:
                    return self._once(engine, work)
                except DBAPIError as error:
                    if get_sqlstate(error) not in IN_EACH_OTHERS_WAY:
                        raise
                time.sleep(random.uniform(0, pause))  # noqa: S311  not a secret
            return self._once(engine, work)

    @staticmethod
    def _once(engine: Engine, work: Callable[[Connection], T]) -> T:
        with engine.begin() as connection:
            return work(connection)


def _with_read_committed(engine: Engine) -> Engine:
    """Return an engine with which a transaction that waited for a lock sees what the previous holder committed."""
    if engine.dialect.name == "sqlite":
        return engine
    return engine.execution_options(isolation_level="READ COMMITTED")


def _lock(connection: Connection, key: str) -> Connection:
    """Return the connection once it holds the lock of that name. SQLite has one writer at a time."""
    if connection.dialect.name != "sqlite":
        number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big", signed=True)
        connection.execute(_LOCK, {"number": number})
    return connection
