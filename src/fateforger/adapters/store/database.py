"""Short transactions away from the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from fateforger.adapters.store.faults import SERIALIZATION_FAILURES, sqlstate, translated
from fateforger.adapters.store.place import POOL_SIZE, READING, spoken
from fateforger.errors import StoreUnavailable

T = TypeVar("T")
_TRIES = 8


class Database:
    """Runs functions of a connection, each as one transaction: it is durable when the call returns, and did nothing
    when the call raised. With SQLite they run one after the other in one thread.

    A call that is cancelled while it runs is carried out all the same; only its answer is lost.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.place = spoken(engine.url)
        self._readers = engine.execution_options(**READING)
        self._threads = ThreadPoolExecutor(1 if engine.dialect.name == "sqlite" else POOL_SIZE, "store")
        self._closed = False

    async def read(self, work: Callable[[Connection], T]) -> T:
        """Run ``work``, which only reads. Raises ``StoreUnavailable``."""
        return await self._in_thread(self._readers, work)

    async def write(self, work: Callable[[Connection], T]) -> T:
        """Run ``work`` and commit. What it raises rolls back. Raises ``StoreUnavailable``."""
        return await self._in_thread(self.engine, work)

    async def aclose(self) -> None:
        """Wait for what is under way and let go of the database; calling it again does nothing."""
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
        with translated(self.place):
            for last in (*[False] * (_TRIES - 1), True):
                try:
                    with engine.begin() as connection:
                        return work(connection)
                except DBAPIError as error:
                    if last or sqlstate(error) not in SERIALIZATION_FAILURES:
                        raise
        raise AssertionError("the last try returns or raises")
