"""Implementation of :class:`Memory` with Mem0; all calls run one by one on the index thread."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from fateforger.adapters.memory.vectors import Embedded, Embedder, Place
from fateforger.errors import FateforgerError, MemoryUnavailable, RebuildNeeded
from fateforger.memory.ports import Contents, MemoryReport, Recollection
from fateforger.memory.versions import Version

if TYPE_CHECKING:
    from fateforger.adapters.memory.index import Index


def configure_mem0(home: Path) -> None:
    """Turn telemetry off, keep Mem0's files in ``home``, and keep people's words out of the log.

    Vectors this short are multiplied fastest by one thread; numpy reads the number when it is first imported.
    """
    home.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["MEM0_TELEMETRY"] = "false"
    os.environ["MEM0_DIR"] = str(home)
    # Mem0 logs the text of each write, and each failure with its traceback. Failures are reported once, as our errors.
    for name in ("mem0", "psycopg.pool"):
        logging.getLogger(name).setLevel(logging.CRITICAL)


_LONGEST = 200


def translate_error(error: Exception, place: Place) -> MemoryUnavailable:
    """Return the error to raise instead."""
    said = " ".join(str(error).split())[:_LONGEST].rstrip(".") or type(error).__name__
    if not isinstance(place, Embedded):
        return MemoryUnavailable(f"The index of constraints cannot be used: {place.words} says: {said}.")
    if isinstance(error, OSError | sqlite3.OperationalError | ImportError):
        return MemoryUnavailable(f"The index of constraints cannot be used: {said}.")
    return RebuildNeeded("The files of the index of constraints are damaged; it has to be rebuilt.")


_T = TypeVar("_T")


class Mem0Memory:
    """The index, opened by the first call on its own thread; the first in a process takes about two seconds.

    ``home`` is the folder for Mem0's own files.
    """

    def __init__(self, place: Place, embedder: Embedder, *, home: Path) -> None:
        self._place = place
        self._embedder = embedder
        self._home = home
        self._owner = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memory")
        self._index: Index | None = None

    def is_there(self) -> bool:
        return isinstance(self._place, Embedded) and self._place.folder.exists()

    async def put(self, *versions: Version) -> None:
        await self._do(lambda index: index.put(versions))

    async def drop(self, user_id: str, uid: str) -> None:
        await self._do(lambda index: index.drop(user_id, uid))

    async def all(self, user_id: str) -> tuple[Version, ...]:
        return await self._do(lambda index: index.all(user_id))

    async def list_everything(self) -> Contents:
        return await self._run(self._list_everything)

    async def search(self, user_id: str, text: str, *, limit: int = 10) -> tuple[Recollection, ...]:
        return await self._do(lambda index: index.search(user_id, text, limit))

    async def report(self) -> MemoryReport:
        return await self._do(lambda index: index.look())

    async def wipe(self) -> None:
        await self._run(self._wipe)

    async def scrub(self) -> None:
        await self._run(self._scrub)

    async def aclose(self) -> None:
        await self._run(self._close_all)
        self._owner.shutdown(wait=False)

    async def _do(self, work: Callable[[Index], _T]) -> _T:
        return await self._run(lambda: work(self._get_index()))

    async def _run(self, work: Callable[[], _T]) -> _T:
        return await asyncio.get_running_loop().run_in_executor(self._owner, self._run_translated, work)

    def _run_translated(self, work: Callable[[], _T]) -> _T:
        try:
            return work()
        except FateforgerError:
            raise
        except Exception as error:  # Mem0 lets errors of all its libraries through
            raise translate_error(error, self._place) from error

    def _get_index(self) -> Index:
        if self._index is None:
            index = self._connect()
            try:
                index.look()
            except BaseException:  # whatever it is, the folder does not stay locked
                index.close()
                raise
            self._index = index
        return self._index

    def _list_everything(self) -> Contents:
        """List the memories, even those that another embedder found, which need no vectors to be read."""
        if self._index is not None:
            return self._index.list_everything()
        index = self._connect()
        try:
            return index.list_everything()
        finally:
            index.close()

    def _connect(self) -> Index:
        configure_mem0(self._home)
        from fateforger.adapters.memory.index import Index  # noqa: PLC0415  imports Mem0

        if isinstance(self._place, Embedded):
            _check_unlocked(self._place.folder)
        return Index(self._place, self._embedder)

    def _wipe(self) -> None:
        """Delete everything, even an index that cannot be opened.

        An embedded store is deleted with its files; a server's collection is recreated.
        """
        self._close()
        if isinstance(self._place, Embedded):
            _remove(self._place.folder)
        else:
            index = self._connect()
            try:
                index.wipe()
            finally:
                index.close()
        self._get_index()

    def _scrub(self) -> None:
        """Rewrite the files of embedded Qdrant, which only marks deleted rows as free."""
        if not isinstance(self._place, Embedded):
            return
        self._close()
        _check_unlocked(self._place.folder)
        for file in sorted(self._place.folder.glob("collection/*/storage.sqlite")):
            with closing(sqlite3.connect(file, isolation_level=None)) as connection:
                connection.execute("VACUUM")

    def _close_all(self) -> None:
        self._close()
        self._embedder.close()

    def _close(self) -> None:
        if self._index is not None:
            index, self._index = self._index, None
            index.close()


def _remove(folder: Path) -> None:
    """Remove the files of an embedded store, unless another program has them open."""
    _check_unlocked(folder)
    if folder.exists():
        shutil.rmtree(folder)


def _check_unlocked(folder: Path) -> None:
    """Check that no other program has the folder locked.

    Qdrant checks the lock only after it has read the whole folder, and leaves a file open.
    """
    lock = folder / ".lock"
    if not lock.exists():
        return
    import portalocker  # noqa: PLC0415  comes with Qdrant, and is only needed here

    try:
        with portalocker.Lock(lock, "r+", timeout=0, fail_when_locked=True):
            return
    except portalocker.LockException:
        raise MemoryUnavailable("The index of constraints is in use by another program.") from None
