"""Measure the cost of durability: calls of the store, each a commit that survives a crash.

The peer, in the same run and taking turns with us: plain ``sqlite3`` on the event loop's thread, writing the same
bytes in the same number of commits, with the same settings (WAL, ``synchronous=FULL``). ``journal op`` is two commits:
the intent, and the outcome with the block's new head. Opening is compared with opening a connection.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path

from tests.contracts.journal_examples import create, head, image, make_applied, transaction
from tests.contracts.session_examples import message, session

from fateforger.adapters.store.store import Store, open_store
from fateforger.calendar.transactions import OpState
from fateforger.ports.jobs import NewJob

ROUNDS = 400
WARM_UP = 20

_PEER_TABLES = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE op (id TEXT PRIMARY KEY, state TEXT, op TEXT, observed TEXT);
CREATE TABLE head (key TEXT PRIMARY KEY, head TEXT);
CREATE TABLE session (id TEXT PRIMARY KEY, version INTEGER, session TEXT);
CREATE TABLE outbox (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, message TEXT);
CREATE TABLE job (seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT, payload TEXT, fence INTEGER);
CREATE TABLE receipt (dedupe TEXT PRIMARY KEY);
INSERT INTO session VALUES ('s1', 0, '');
"""


class Ours:
    """The store, driven as the program drives it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.saved = session()

    async def prepare(self) -> None:
        ops = [create(n) for n in range(ROUNDS)]
        await self.store.journal.begin(transaction(ops=ops))
        self.saved = await self.store.sessions.save(session(), expected=0)

    async def journal_op(self, n: int) -> None:
        op = create(n)
        await self.store.journal.mark("t1", [op.op_id], OpState.INFLIGHT)
        await self.store.journal.settle("t1", make_applied(op, image(n)), head=head(n))

    async def save(self, n: int) -> None:
        self.saved = await self.store.sessions.save(
            self.saved, expected=self.saved.version, outgoing=[message(f"m{n}")]
        )

    async def enqueue(self, n: int) -> None:
        await self.store.jobs.enqueue(NewJob("turns", "k", f"j{n}", {"text": "x" * 500}), now=datetime.now(UTC))

    async def work(self, n: int) -> None:  # noqa: ARG002  any next job
        job = await self.store.jobs.claim("turns", "w", now=datetime.now(UTC), lease_seconds=60)
        assert job is not None
        assert await self.store.jobs.finish(job)


class Peer:
    """The same bytes by hand."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.executescript(_PEER_TABLES)
        self.connection.executemany(
            "INSERT INTO op VALUES (?, 'pending', ?, NULL)",
            [(op.op_id, op.model_dump_json()) for op in map(create, range(ROUNDS))],
        )

    def commit(self, *statements: tuple[str, tuple[object, ...]]) -> None:
        self.connection.execute("BEGIN IMMEDIATE")
        for sql, values in statements:
            self.connection.execute(sql, values)
        self.connection.execute("COMMIT")

    async def journal_op(self, n: int) -> None:
        op = create(n)
        self.commit(("UPDATE op SET state = 'inflight' WHERE id = ?", (op.op_id,)))
        ended = (op.model_dump_json(), image(n).model_dump_json(), op.op_id)
        self.commit(
            ("UPDATE op SET state = 'applied', op = ?, observed = ? WHERE id = ?", ended),
            ("INSERT OR REPLACE INTO head VALUES (?, ?)", (op.key, head(n).model_dump_json())),
        )

    async def save(self, n: int) -> None:
        self.commit(
            ("UPDATE session SET version = version + 1, session = ? WHERE id = 's1'", (session().model_dump_json(),)),
            ("INSERT INTO outbox (id, message) VALUES (?, ?)", (f"m{n}", message(f"m{n}").model_dump_json())),
        )

    async def enqueue(self, n: int) -> None:
        self.commit(
            ("INSERT INTO receipt VALUES (?)", (f"j{n}",)),
            ("INSERT INTO job (key, payload, fence) VALUES ('k', ?, 0)", ("x" * 500,)),
        )

    async def work(self, n: int) -> None:  # noqa: ARG002  any next job
        (seq,) = self.connection.execute("SELECT min(seq) FROM job").fetchone()
        self.commit(("UPDATE job SET fence = fence + 1 WHERE seq = ?", (seq,)))
        self.commit(("DELETE FROM job WHERE seq = ?", (seq,)))


async def measure(call: Callable[[int], Awaitable[None]], peer: Callable[[int], Awaitable[None]]) -> list[list[float]]:
    """Return the milliseconds of each call, ours and the peer's."""
    times: list[list[float]] = [[], []]
    for n in range(ROUNDS):
        for measured, which in zip(times, (call, peer), strict=True):
            started = time.perf_counter()
            await which(n)
            measured.append((time.perf_counter() - started) * 1000)
    return [measured[WARM_UP:] for measured in times]


async def measure_opening(folder: Path) -> list[list[float]]:
    """Return the milliseconds to open an up-to-date database, ours and a plain connection that reads one row."""

    async def ours(n: int) -> None:  # noqa: ARG001  always the same file
        open_store(folder / "ours.db").database.engine.dispose()

    async def peer(n: int) -> None:  # noqa: ARG001  always the same file
        connection = sqlite3.connect(folder / "peer.db")
        connection.execute("SELECT version FROM session").fetchone()
        connection.close()

    return await measure(ours, peer)


def quantile(values: list[float], share: float) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[round(share * 100) - 1]


async def run() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        store = open_store(folder / "ours.db")
        ours, peer = Ours(store), Peer(folder / "peer.db")
        await ours.prepare()
        measured = {
            "journal op": await measure(ours.journal_op, peer.journal_op),
            "save session": await measure(ours.save, peer.save),
            "enqueue": await measure(ours.enqueue, peer.enqueue),
            "claim, finish": await measure(ours.work, peer.work),
        }
        await store.aclose()
        measured["open"] = await measure_opening(folder)
        peer.connection.close()
    print(f"{'':14}{'p50':>9}{'p95':>9}   sqlite3 p50{'p95':>9}   ratio p50")
    result = {}
    for what, (times, peer_times) in measured.items():
        row = {
            "p50_ms": quantile(times, 0.5),
            "p95_ms": quantile(times, 0.95),
            "peer_p50_ms": quantile(peer_times, 0.5),
            "peer_p95_ms": quantile(peer_times, 0.95),
        }
        row["ratio_p50"] = row["p50_ms"] / row["peer_p50_ms"]
        result[what] = row
        print(
            f"{what:14}{row['p50_ms']:7.2f}ms{row['p95_ms']:7.2f}ms{row['peer_p50_ms']:12.2f}ms"
            f"{row['peer_p95_ms']:7.2f}ms{row['ratio_p50']:10.1f}"
        )
    json.dump({"store": result}, sys.stdout)
    print()


if __name__ == "__main__":
    asyncio.run(run())
