"""Store and index agree after any crash: 400 writers at once, ``kill -9`` of the process that indexes, and a restart.

``INDEX_KILLS`` is the number of kills (one; two or three find work to interrupt). Each costs a process that imports
Mem0.
"""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import pytest
from tests.factories.constraints import version_of
from tests.scenarios.index_process import open_memory

from fateforger.adapters.store.store import Store, open_store
from fateforger.memory.versions import select_newest

pytestmark = [pytest.mark.process, pytest.mark.extra]

BEGIN = datetime(2026, 2, 1, 9, tzinfo=UTC)
WRITERS, PEOPLE, UIDS = 400, 5, 31
KILLS = int(os.environ.get("INDEX_KILLS", "1"))
ROUNDS = 4
SECONDS = 60


@contextmanager
def indexing(folder: Path, *how: str) -> Iterator[None]:
    """Run a process that indexes, and kill it in the end."""
    process = subprocess.Popen([sys.executable, "-m", "tests.scenarios.index_process", str(folder), *how])
    try:
        yield
        assert process.poll() is None
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


async def missing(store: Store) -> int:
    return len(await store.constraints.list_unindexed(limit=1_000))


async def until_missing(store: Store, enough: Callable[[int], bool]) -> int:
    async with asyncio.timeout(SECONDS):
        while not enough(count := await missing(store)):  # noqa: ASYNC110  another process works on it
            await asyncio.sleep(0.1)
    return count


async def write(store: Store, number: int) -> None:
    version = version_of(
        f"c{number % UIDS}",
        user=f"U{number % PEOPLE}",
        at=(BEGIN + timedelta(seconds=number)).isoformat(),
        description=f"what I said in message {number}",
        status=("locked", "proposed", "declined")[number % 3],
    )
    await store.constraints.write([version], cause=f"message {number}")


async def killed_at_work(folder: Path, store: Store, numbers: Iterator[int]) -> None:
    """Let 400 writers write at once, and kill the process when some of it is indexed.

    If all of it was indexed before the first look, do it again.
    """
    for _ in range(ROUNDS):
        writing = asyncio.gather(*(write(store, number) for number in islice(numbers, WRITERS)))
        with indexing(folder):
            await writing
            enough = max(await missing(store) - 10, 0)
            left = await until_missing(store, lambda count: count <= enough)  # noqa: B023  called at once
        if left:
            return
    raise AssertionError("it was always killed when its work was done")


async def test_nothing_is_lost_and_nothing_is_left_over(tmp_path: Path) -> None:
    """Every constraint of everybody, in its newest version, once, after a death in the middle of the work."""
    store = open_store(tmp_path / "state.db")
    numbers = iter(range(KILLS * ROUNDS * WRITERS))
    try:
        for _ in range(KILLS):
            await killed_at_work(tmp_path, store, numbers)
        await store.people.erase("U1", now=datetime.now(UTC))
        with indexing(tmp_path):
            await until_missing(store, lambda count: count == 0)
        known = {
            user: select_newest(await store.constraints.of(user), user) for user in await store.constraints.people()
        }
        memory = open_memory(tmp_path)
        shown = {user: {v.uid: v for v in await memory.all(user)} for user in known}
        count = (await memory.report()).memories
        of_gone = await memory.all("U1")
        await memory.aclose()
    finally:
        await store.aclose()
    assert (len(known), sum(map(len, known.values()))) == (PEOPLE - 1, count)
    assert (shown, of_gone) == (known, ())


EMBEDDED = 150


async def test_vectors_of_an_earlier_embedder_are_replaced_although_the_program_dies(tmp_path: Path) -> None:
    """The index of an existing data directory, made by spelling, is embedded again in the background.

    After ``kill -9`` this continues from where it was.
    """
    store = open_store(tmp_path / "state.db")
    rules = [version_of(f"c{n}", description=f"project {n} gets an hour") for n in range(EMBEDDED)]
    await store.constraints.write([*rules, version_of("food", description="never eat shellfish")], cause="rules")
    with indexing(tmp_path):
        await until_missing(store, lambda count: count == 0)
    with indexing(tmp_path, "meaning"):
        await until_missing(store, lambda count: count > EMBEDDED // 2)
        left = await until_missing(store, lambda count: count <= EMBEDDED // 2)
    assert left > 0
    with indexing(tmp_path, "meaning"):
        again = await until_missing(store, lambda count: count < left)
        assert again > 0  # it goes on, and does not begin again
        await until_missing(store, lambda count: count == 0)
    await store.aclose()
    memory = open_memory(tmp_path, meaning=True)
    report = await memory.report()
    assert (report.embedder, report.memories) == ("local-meaning-1", EMBEDDED + 1)
    assert (await memory.search("U1", "may I order the lobster?"))[0].uid == "food"
    await memory.aclose()
