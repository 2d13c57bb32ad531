"""Guarantees when processes die and when several work at once."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import pytest
from tests.command_line import programs
from tests.contracts.journal_examples import CALENDAR, DAY, event_id
from tests.contracts.stores import Kind, new_database, new_file
from tests.forks import Fork
from tests.unit.adapters.store.programs import LEASE

from fateforger.adapters.store.store import Store, open_store
from fateforger.calendar.transactions import OpState, TxState
from fateforger.ports.jobs import NewJob
from fateforger.session.store import Sent

pytestmark = pytest.mark.process
PROGRAM = "tests.unit.adapters.store.programs:run"
STEPS = ["begun", "inflight", "settled", "closed", "saved", "sent", "enqueued"]


@dataclass(frozen=True, slots=True)
class Running:
    """A program of :mod:`tests.unit.adapters.store.programs`, and what it says."""

    fork: Fork
    stdout: IO[str]

    def kill(self) -> None:
        self.fork.send_signal(signal.SIGKILL)


@contextmanager
def program(name: str, *arguments: object) -> Iterator[Running]:
    with TemporaryDirectory() as folder:
        said, errors = Path(folder) / "said", Path(folder) / "errors"
        os.mkfifo(said)
        fork = programs().start(PROGRAM, name, *map(str, arguments), environment=os.environ, output=said, errors=errors)
        with said.open() as stdout:  # as soon as the program has opened it, too
            running = Running(fork, stdout)
            try:
                yield running
            finally:
                running.kill()
                sys.stderr.write(errors.read_text())


@pytest.mark.parametrize("lines", [len(STEPS) * 3 + n for n in range(len(STEPS))])
async def test_a_killed_process_loses_nothing_it_acknowledged(tmp_path: Path, lines: int) -> None:
    """S241. Each run kills after another step. What was under way may be there or not, but only whole."""
    path = new_file(tmp_path)
    with program("write", path) as process:
        told = [process.stdout.readline().split() for _ in range(lines)]
        process.kill()
        told += [line.split() for line in process.stdout if line.endswith("\n")]
    store = open_store(path)
    done = await find_steps(store)
    await store.aclose()
    acknowledged = [(step, int(n)) for step, n in told]
    assert acknowledged == in_order(len(acknowledged))
    assert done in (acknowledged, in_order(len(acknowledged) + 1))


def in_order(count: int) -> list[tuple[str, int]]:
    return [(STEPS[i % len(STEPS)], i // len(STEPS)) for i in range(count)]


async def find_steps(store: Store) -> list[tuple[str, int]]:
    """Return the steps whose whole effect is in the database."""
    steps = []
    heads = {head.key for head in (await store.journal.ledger(CALENDAR, DAY)).heads}
    session = await store.sessions.load("s1")
    saved = 0 if session is None else session.version - 1
    for n, tx in enumerate(reversed(await store.journal.history(CALENDAR, limit=10**6))):
        steps.append(("begun", n))
        state = tx.records[0].state
        assert (f"key{n}" in heads) == (state is OpState.APPLIED)
        steps += [("inflight", n)] * (state is not OpState.PENDING)
        steps += [("settled", n)] * (state is OpState.APPLIED)
        steps += [("closed", n)] * (tx.state is TxState.COMMITTED)
        steps += [("saved", n)] * (saved > n)
        steps += [("sent", n)] * (await store.outbox.slot("s1", f"slot{n}") == Sent("D1", event_id(n)))
        accepted_before = not await store.jobs.enqueue(NewJob("turns", "x", f"j{n}"), now=datetime.now(UTC))
        steps += [("enqueued", n)] * accepted_before
    return steps


@pytest.mark.parametrize("kind", ["file", "postgres"])
async def test_processes_share_the_work_and_take_over_from_the_dead(
    request: pytest.FixtureRequest, tmp_path: Path, kind: Kind
) -> None:
    """S115, S161: first in, first out per key, one at a time, each job finished once, after any crash."""
    with new_database(kind, request, tmp_path) as where:
        await run_workers(where, tmp_path / "log")
    assert_in_order([line.split() for line in (tmp_path / "log").read_text().splitlines()])


async def run_workers(where: str, log: Path) -> None:
    store = open_store(where)
    for n in range(40):
        job = NewJob("turns", f"k{n % 4}", f"j{n:02d}", {"fatal": n == 13})
        assert await store.jobs.enqueue(job, now=datetime.now(UTC))
    with (
        program("work", where, log, "a") as a,
        program("work", where, log, "b") as b,
        program("work", where, log, "c") as c,
    ):
        dead = await first_stuck([a, b, c])
        dead.kill()
        for process in (a, b, c):
            returned = await asyncio.to_thread(process.fork.wait, 30 * LEASE)
            assert (returned == 0) == (process is not dead)
    await store.aclose()


def assert_in_order(lines: list[list[str]]) -> None:
    assert len([line for line in lines if line[:3] == ["begin", "k1", "j13"]]) >= 2
    for k in range(4):
        jobs = [f"j{n:02d}" for n in range(40) if n % 4 == k]
        notes = [(word, name) for word, key, name, _ in lines if key == f"k{k}"]
        once = [note for n, note in enumerate(notes) if note not in notes[:n]]
        # An end is noted after it: the next one may have begun by then.
        in_turn = [(word, name) for word, name in once if word != "end"]
        assert in_turn == [(word, name) for name in jobs for word in ("begin", "ending")]
        assert sorted(name for word, name in notes if word == "end") == jobs


async def first_stuck(processes: list[Running]) -> Running:
    """Return the process that reports to be stuck with the fatal job."""
    said = {asyncio.ensure_future(asyncio.to_thread(readline, process)): process for process in processes}
    done, _ = await asyncio.wait(said, timeout=60, return_when=asyncio.FIRST_COMPLETED)
    spoke = [said[future] for future in done if future.result() == "stuck j13\n"]
    assert len(spoke) == 1
    return spoke[0]


def readline(process: Running) -> str:
    return process.stdout.readline()
