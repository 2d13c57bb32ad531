"""Measure the messages of one sender: the cost of each, and the time that all of them take.

A program with the real outbox and the real chat side runs on PostgreSQL; a workspace without limits is in this process.
This process also saves sessions, each with a message, which the program sends.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

import psycopg
from tests.contracts.session_examples import card, session
from tests.postgres import programs, running_server
from tests.scenarios.chat import eventually, workspace_at
from tests.scenarios.replica import replica

from benchmarks.bench_replicas import Costs, list_users
from fateforger.adapters.store.store import open_store
from fateforger.session.messages import Outgoing

PEOPLE, MESSAGES = 60, 600


async def save_messages(database: str) -> None:
    """Save sessions of many people, each with one message to send."""
    store = open_store(database)
    for n in range(MESSAGES):
        plan = session(f"s{n}", user_id=f"U{n % PEOPLE:04d}", channel=f"D{n % PEOPLE:04d}")
        message = Outgoing(id=f"m{n}", session_id=plan.id, channel=plan.channel, slot="root", card=card(f"Message {n}"))
        await store.sessions.save(plan, expected=0, outgoing=(message,))
    await store.aclose()


async def measure(folder: Path, database: str) -> dict[str, object]:
    async def is_sent() -> bool:
        await asyncio.sleep(0.2)
        with psycopg.connect(database) as connection:
            row = connection.execute("SELECT count(*) FROM outbox WHERE state = 'sent'").fetchone()
        return row == (MESSAGES,)

    async with (
        workspace_at(folder, users=list_users(PEOPLE)) as workspace,
        replica(workspace.config.public_url, database, "sender", limits="") as program,
    ):
        costs = Costs(database, [program.pid])
        await costs.watch_idle()
        began = time.perf_counter()
        await save_messages(database)
        saved = time.perf_counter() - began
        await eventually(is_sent, "all messages are sent", deadline=300)
        took = time.perf_counter() - began
        return {"saved_s": round(saved, 1), "sent_s": round(took, 1), "of a message": costs.find_each(MESSAGES)}


def main() -> int:
    found = programs()
    if found is None:
        print("PostgreSQL is not installed; nothing is measured")
        return 0
    with running_server(found) as server, server.database() as database, tempfile.TemporaryDirectory() as folder:
        print(json.dumps({"messages": MESSAGES, **asyncio.run(measure(Path(folder), database))}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
