"""Constraints when several processes write at once, and when they are killed while they do.

``CONSTRAINT_KILLS`` says how often a writing process is killed on each database (3, unless it says more).
"""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.contracts.stores import Kind, new_database
from tests.unit.adapters.store.test_processes import Running, program

from fateforger.adapters.store.store import Store, open_store
from fateforger.memory.versions import Version, select_newest

pytestmark = [pytest.mark.process, pytest.mark.timeout(3_600)]
KILLS = int(os.environ.get("CONSTRAINT_KILLS", "3"))
WRITES = 400


@pytest.mark.parametrize("kind", ["file", "postgres"])
async def test_400_writers_in_two_processes_lose_nothing(
    request: pytest.FixtureRequest, tmp_path: Path, kind: Kind
) -> None:
    """S186: of constraints of their own and of those they share; and a reader in a third process misses none."""
    with new_database(kind, request, tmp_path) as where:
        reader = open_store(where)
        with (
            program("remember", where, "a", WRITES // 2) as a,
            program("remember", where, "b", WRITES // 2) as b,
        ):
            processes = (a, b)
            told = [asyncio.ensure_future(asyncio.to_thread(read_acknowledged, process)) for process in processes]
            seen = await growing(reader, told)
            said = {cause for part in await asyncio.gather(*told) for cause in part}
            assert [await asyncio.to_thread(process.fork.wait, 60) for process in processes] == [0, 0]
        assert said == {f"{me}-{n}" for me in "ab" for n in range(WRITES // 2)}
        await is_whole(reader, where, said)
        rows = await reader.constraints.of("U1")
        assert [rows[: len(part)] for part in seen] == seen
        await reader.aclose()


@pytest.mark.parametrize("kind", ["file", "postgres"])
async def test_writers_killed_at_random_lose_nothing_acknowledged(
    request: pytest.FixtureRequest, tmp_path: Path, kind: Kind
) -> None:
    """Each time after another number of acknowledgements, while many calls are under way: whole or not at all."""
    dice, said = random.Random(), set[str]()
    with new_database(kind, request, tmp_path) as where:
        for n in range(KILLS):
            with program("remember", where, f"k{n}", WRITES) as process:
                stop = dice.randrange(1, 60)
                for _ in range(stop):
                    said.add(process.stdout.readline().split()[1])
                process.kill()
                said |= {line.split()[1] for line in process.stdout if line.endswith("\n")}
            store = open_store(where)
            await is_whole(store, where, said)
            await store.aclose()
    assert len(said) < KILLS * WRITES


def read_acknowledged(process: Running) -> list[str]:
    return [line.split()[1] for line in process.stdout]


async def growing(reader: Store, told: Sequence[asyncio.Future[list[str]]]) -> list[tuple[Version, ...]]:
    """Read again and again until all writers are done, and return every reading."""
    seen = [await reader.constraints.of("U1")]
    while not all(future.done() for future in told):
        seen.append(await reader.constraints.of("U1"))
        await asyncio.wait(told, timeout=0.1, return_when=asyncio.FIRST_COMPLETED)
    return seen


async def is_whole(store: Store, where: str, said: set[str]) -> None:
    """Check that no acknowledged write is missing, none is half there, and the index gets all of them."""
    rows = await store.constraints.of("U1")
    causes = Counter(version.record.name for version in rows)
    assert said <= causes.keys()
    assert set(causes.values()) == {3}
    for cause in [*causes][::20]:
        assert [v.uid for v in await store.constraints.find_written("U1", cause)][::2] == [
            f"own-{cause}",
            "everybody's",
        ]
    tasks = await store.constraints.list_unindexed(limit=10_000)
    assert {task.uid: task.version for task in tasks} == select_newest(rows, "U1")
    if "://" not in where:
        with sqlite3.connect(where) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
