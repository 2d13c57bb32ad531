"""The program stops without a word about it, whoever is looking at its pages."""

from __future__ import annotations

import asyncio
import logging
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from fateforger.app.program import open_integrations
from fateforger.app.resources import build_clock, open_state
from fateforger.config import read_settings


async def health(_request: Request) -> Response:
    return PlainTextResponse("well")


async def test_a_page_that_waits_for_news_is_answered(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """At once, while the calendar is still there; nothing is cut off in the middle."""
    settings = read_settings(data_dir=tmp_path, port=0)
    async with httpx.AsyncClient(trust_env=False) as http:
        async with AsyncExitStack() as stack:
            store = await open_state(settings)
            stack.push_async_callback(store.aclose)
            health_route = Route("/health", health)
            around = await open_integrations(stack, settings, build_clock(settings), health_route, store.quota)
            address = f"{around.page_url}/day/changes"
            known = (await http.get(address)).json()
            waiting = asyncio.create_task(http.get(address, params={"since": known["version"]}))
            (await http.get(f"{around.page_url}/ui/state")).raise_for_status()
        answer = (await waiting).json()
        assert (answer["reachable"], answer["version"] != known["version"]) == (True, True)
        with pytest.raises(httpx.ConnectError):
            await http.get(address)
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []
