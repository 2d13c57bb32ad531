"""Programs for the tests that kill processes; :mod:`tests.forks` starts them."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.contracts.journal_examples import create, event_id, head, image, make_applied, transaction
from tests.contracts.session_examples import message, session
from tests.factories.constraints import version_of

from fateforger.adapters.store.inbox import list_jobs
from fateforger.adapters.store.store import open_store
from fateforger.calendar.transactions import OpState, TxState
from fateforger.ports.jobs import NewJob
from fateforger.session.store import Sent

LEASE = 2.0


def now() -> datetime:
    return datetime.now(UTC)


def say(word: str, what: object) -> None:
    print(word, what, flush=True)  # noqa: T201  to the test that started us


async def write(path: str) -> None:
    """Write to every port in turn and say so after each call, until killed."""
    store = open_store(path)
    saved = await store.sessions.save(session(), expected=0)
    for n in itertools.count():
        tx, op = f"t{n}", create(n, tx=f"t{n}")
        await store.journal.begin(transaction(tx, [op]))
        say("begun", n)
        await store.journal.mark(tx, [op.op_id], OpState.INFLIGHT)
        say("inflight", n)
        await store.journal.settle(tx, make_applied(op, image(n)), head=head(n))
        say("settled", n)
        await store.journal.close(tx, TxState.COMMITTED, now())
        say("closed", n)
        saved = await store.sessions.save(saved, expected=saved.version, outgoing=[message(f"m{n}", f"slot{n}")])
        say("saved", n)
        await store.outbox.mark_sent(f"m{n}", Sent("D1", event_id(n)), now=now())
        say("sent", n)
        await store.jobs.enqueue(NewJob("turns", f"k{n}", f"j{n}"), now=now())
        say("enqueued", n)


async def work(path: str, log: str, me: str) -> None:
    """Work off lane ``turns``: note each beginning, what is about to end, and each end that counted, until there is no job left."""
    store = open_store(path)
    with Path(log).open("a", buffering=1) as notes:  # noqa: ASYNC230  one line each, appended whole
        while await store.database.read(lambda connection: list_jobs(connection, now())):
            job = await store.jobs.claim("turns", me, now=now(), lease_seconds=LEASE)
            if job is None:
                await store.jobs.wait("turns", seconds=0.02)
                continue
            notes.write(f"begin {job.key} {job.dedupe} {me}\n")
            await asyncio.sleep(0)
            if job.payload.get("fatal") and job.attempts == 1:
                say("stuck", job.dedupe)
                await asyncio.sleep(3600)
            notes.write(f"ending {job.key} {job.dedupe} {me}\n")
            if await store.jobs.finish(job):
                notes.write(f"end {job.key} {job.dedupe} {me}\n")
    await store.aclose()


async def remember(path: str, me: str, writes: str) -> None:
    """Write three versions of one cause ``writes`` times, twenty calls at once, and print each acknowledged cause.

    One version is of a constraint of this writer, two are of constraints that all writers share.
    """
    store = open_store(path)
    ready = asyncio.Semaphore(20)

    async def one(n: int) -> None:
        async with ready:
            cause = f"{me}-{n}"
            versions = [version_of(uid, name=cause) for uid in (f"own-{cause}", f"shared{n % 5}", "everybody's")]
            written = await store.constraints.write(versions, cause=cause)
            assert len(written) == 3
            say("written", cause)

    await asyncio.gather(*map(one, range(int(writes))))
    await store.aclose()


PROGRAMS: dict[str, Callable[..., Coroutine[Any, Any, None]]] = {"write": write, "work": work, "remember": remember}


def run(name: str, *arguments: str) -> int:
    asyncio.run(PROGRAMS[name](*arguments))
    return 0
