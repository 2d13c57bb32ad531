"""Many processes pull one queue and are killed at random: each task runs to done exactly once (S161).

``TASK_PULLERS``, ``TASK_COUNT`` and ``TASK_KILLS`` make it larger than the suite has time for: see ``make kill-loop``.
50 processes, 500 tasks and up to 100 kills took half a minute on SQLite and two minutes on PostgreSQL, on two cores
with other work.
"""

from __future__ import annotations

import asyncio
import os
from collections import defaultdict
from pathlib import Path

import pytest
from tests.command_line import programs
from tests.contracts.stores import Kind, new_database
from tests.factories.tasks import NOON, new_task

from fateforger.adapters.store.store import open_store
from fateforger.tasks.task import QueuedTask, TaskState

pytestmark = [pytest.mark.process, pytest.mark.timeout(3_600)]
PULLERS = int(os.environ.get("TASK_PULLERS", "6"))
COUNT = int(os.environ.get("TASK_COUNT", "60"))
KILLS = int(os.environ.get("TASK_KILLS", "8"))
SEED = int(os.environ.get("SEED", "1"))


@pytest.mark.parametrize("kind", ["file", "postgres"])
async def test_each_task_runs_to_done_exactly_once(request: pytest.FixtureRequest, tmp_path: Path, kind: Kind) -> None:
    """Each claim of a task has a fence of its own; only the last one counts, and no living client loses its claim."""
    log = tmp_path / "log"
    log.touch()
    with new_database(kind, request, tmp_path) as where:
        store = open_store(where)
        new = [new_task(f"t{n}", priority=n % 5, key=f"k{n}", after=after(n)) for n in range(COUNT)]
        await store.tasks.add("U1", new, cause="m", now=NOON)
        await asyncio.to_thread(run_pullers, where, log)
        tasks = await store.tasks.of("U1", ended=True)
        await store.aclose()
    assert [task.state for task in tasks] == [TaskState.DONE] * COUNT
    lines = [line.split() for line in log.read_text().splitlines()]
    assert [line[0] for line in lines].count("killed") > KILLS // 2
    begun, ended = ran(lines)
    for task in tasks:
        was_run_to_done_once(task, begun[task.id], ended[task.id])


def after(n: int) -> tuple[str, ...]:
    """Let every seventh task wait for the one before it."""
    return (f"k{n - 1}",) if n % 7 == 0 and n else ()


def run_pullers(where: str, log: Path) -> None:
    arguments = (where, log, PULLERS, KILLS, max(2, COUNT // KILLS), SEED)
    said = log.with_name("said")
    fork = programs().start(
        "tests.unit.adapters.store.pullers:run", *map(str, arguments), environment=os.environ, output=said
    )
    assert fork.wait(timeout=3_600) == 0, said.read_text()


Runs = dict[str, list[tuple[int, str]]]


def ran(lines: list[list[str]]) -> tuple[Runs, Runs]:
    """Return, by task, the claims that began and those that were settled: their fences and their owners."""
    begun: Runs = defaultdict(list)
    ended: Runs = defaultdict(list)
    for word, *rest in lines:
        if word in {"begin", "end"}:
            task_id, fence, me = rest
            (begun if word == "begin" else ended)[task_id].append((int(fence), me))
    return begun, ended


def was_run_to_done_once(task: QueuedTask, begun: list[tuple[int, str]], ended: list[tuple[int, str]]) -> None:
    """Check that it was settled by one claim, the last of all, and that no fence was given twice.

    A claim or an end is not in the log when its process was killed before it could write it.
    """
    fences = [fence for fence, _ in begun]
    assert len(set(fences)) == len(fences)
    assert max(fences) == task.fence == task.attempts
    fence, me = task.outcome.split()
    assert (int(fence), me) in begun
    assert int(fence) == task.fence
    assert ended in ([], [(task.fence, me)])
