"""Connecting where something is wrong with the sockets only."""

from __future__ import annotations

import pytest
from aiohttp import web
from tests.scenarios.chat import build_services, build_supervisor
from tests.scenarios.scripted_coordinator import ScriptedCoordinator

from fateforger.adapters.store.store import open_store
from fateforger.app.slack import SlackApp, run_slack_app
from fateforger.errors import WorldError
from fateforger.slack.client import SlackLogin


async def test_sockets_that_do_not_open_end_in_one_sentence() -> None:
    """The SDK would try for ever."""

    async def answer(_request: web.Request) -> web.Response:
        return web.json_response({"ok": True, "team": "T", "user_id": "UBOT", "url": "ws://127.0.0.1:9/link/"})

    app = web.Application()
    app.router.add_post("/api/{method}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/api/"
    store = open_store(":memory:")
    services = build_services(store, ScriptedCoordinator(store.sessions), jobs=store.jobs, outbox=store.outbox)
    room = SlackApp(SlackLogin("xoxb-1", "xapp-1", url, open_seconds=0.2), services)
    with pytest.raises(WorldError, match="no socket to it can be opened"):
        async with run_slack_app(room, build_supervisor(room, services, "one")):
            raise AssertionError("not reached")
    await store.aclose()
    await runner.cleanup()


def test_tokens_are_never_shown() -> None:
    assert "secret" not in repr(SlackLogin("xoxb-secret", "xapp-secret"))
