"""The chat side over a scripted coordinator, as a program that tests kill: ``URL DATABASE NAME LIMITS``."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.scenarios.chat import APP_TOKEN, BOT_TOKEN, build_services
from tests.scenarios.scripted_coordinator import ScriptedCoordinator

from fateforger.adapters.store.store import open_store
from fateforger.app.slack import SlackApp, run_slack_app
from fateforger.slack.client import SlackLogin
from fateforger.values import replace
from fateforger.workers.lanes import LANES
from fateforger.workers.supervisor import Supervisor

READY, LIMITED = "ready", "limited"


async def run(url: str, database: str, name: str, limits: str) -> None:
    """Serve the workspace at ``url`` until killed, with the delays of the real program.

    With ``limits`` set to ``limited``, it keeps to Slack's limits.
    """
    store = open_store(database)
    services = build_services(store, ScriptedCoordinator(store.sessions), jobs=store.jobs, outbox=store.outbox)
    login = SlackLogin(bot_token=BOT_TOKEN, app_token=APP_TOKEN, base_url=f"{url}/api/")
    if limits == LIMITED:
        login = replace(login, unlimited=frozenset())
    room = SlackApp(login, services)
    names = {handler.name for handler in room.handlers}
    lanes = [row for row in LANES if row.name in names]
    supervisor = Supervisor(store.jobs, room.handlers, owner=name, clock=services.clock, lanes=lanes)
    async with run_slack_app(room, supervisor):
        print(READY, flush=True)  # noqa: T201  read by the parent process
        await asyncio.Event().wait()


@asynccontextmanager
async def replica(url: str, database: str, name: str, *, limits: str = LIMITED) -> AsyncIterator[subprocess.Popen[str]]:
    """Run such a program, connected. Leaving the block kills it."""
    command = [sys.executable, "-m", "tests.scenarios.replica", url, database, name, limits]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)  # noqa: ASYNC220  it starts in the background
    try:
        assert process.stdout is not None
        assert (await asyncio.to_thread(process.stdout.readline)).strip() == READY
        yield process
    finally:
        process.kill()
        await asyncio.to_thread(process.wait)
        if process.stdout is not None:
            process.stdout.close()


if __name__ == "__main__":
    asyncio.run(run(*sys.argv[1:]))
