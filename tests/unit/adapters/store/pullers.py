"""Many processes that pull the tasks of one person, killed at random and replaced, until everything is done;
:mod:`tests.forks` starts :func:`run`.

Each process notes what it does in the log, one line at a time: ``begin`` when a claim is its own, ``end`` when it was
settled, ``lost`` when it was not, each with the task, the fence and its own name. The parent, which forks them before it
has a connection or a thread, notes ``killed``.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path
from random import Random

from fateforger.adapters.store.store import Store, open_store
from fateforger.errors import StoreUnavailable
from fateforger.tasks.task import QueuedTask, TaskState

USER = "U1"
LEASE = 3.0
LOOK = 0.01


def note(log: str, *words: object) -> None:
    """Append a line, whole."""
    handle = os.open(log, os.O_WRONLY | os.O_APPEND)
    os.write(handle, f"{' '.join(map(str, words))}\n".encode())
    os.close(handle)


async def pull(where: str, log: str, me: str, seed: int) -> None:
    """Pull until there is no open task left. Half of those that take the place of a killed one take back its claim
    first, as the program does that starts again; the other claims run out."""
    dice = Random(seed)
    store: Store | None = None
    again = dice.random() < 0.5
    while True:
        try:
            store = store or open_store(where)
            if again:
                await store.tasks.take_back(me, now=datetime.now(UTC))
                again = False
            task = await store.tasks.claim(USER, me, now=datetime.now(UTC), lease_seconds=LEASE)
            if task is not None:
                await work(log, store, task, me, dice)
            elif not await store.tasks.of(USER):
                return
            else:
                await asyncio.sleep(LOOK)
        except StoreUnavailable:
            await asyncio.sleep(LOOK)  # too many processes write to the file, so this took too long


async def work(log: str, store: Store, task: QueuedTask, me: str, dice: Random) -> None:
    note(log, "begin", task.id, task.fence, me)
    await asyncio.sleep(dice.uniform(0, LOOK))

    def mark_done(now: QueuedTask) -> QueuedTask:
        return now.model_copy(update={"state": TaskState.DONE, "outcome": f"{now.fence} {me}"})

    settled = await store.tasks.settle(task, mark_done, now=datetime.now(UTC))
    note(log, "lost" if settled is None else "end", task.id, task.fence, me)


def fork_puller(where: str, log: str, me: str, seed: int) -> int:
    """Start another process that pulls, and return its id."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        asyncio.run(pull(where, log, me, seed))
        status = 0
    except BaseException:  # noqa: BLE001  the outermost edge of a fork: the parent's own code must not go on in it
        traceback.print_exc()
    finally:
        os._exit(status)


def main(where: str, log: str, pullers: int, kills: int, lines: int, seed: int) -> None:
    """Kill ``kills`` times while a puller is left, each time after at most ``lines`` more lines in the log.

    Fail when a puller ends badly by itself.
    """
    dice = Random(seed)
    names = {fork_puller(where, log, f"w{n}", dice.randrange(10**9)): f"w{n}" for n in range(pullers)}
    seen = 0
    while names and kills:
        until = seen + dice.randint(1, lines)
        while (seen := Path(log).read_bytes().count(b"\n")) < until and not _reap(names):
            time.sleep(LOOK / 10)  # between two looks at the condition
        if not names:
            break
        threading.Event().wait(dice.uniform(0, LOOK))  # somewhere in what its line led to
        pid = dice.choice(list(names))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        me = names.pop(pid)
        note(log, "killed", me)
        names[fork_puller(where, log, me, dice.randrange(10**9))] = me
        kills -= 1
    while names:
        _reap(names, block=True)


def _reap(names: dict[int, str], *, block: bool = False) -> bool:
    """Forget those that ended; whether all have."""
    pid, status = os.waitpid(-1, 0 if block else os.WNOHANG)
    if pid:
        if status:
            raise SystemExit(f"{names[pid]} ended with {status}")
        del names[pid]
    return not names


def run(where: str, log: str, *numbers: str) -> int:
    main(where, log, *map(int, numbers))
    return 0
