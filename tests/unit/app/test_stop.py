"""The program stops without noise, even while its pages are open."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import httpx
import pytest

from fateforger.app.program import open_app
from fateforger.config import read_settings


async def test_a_page_that_waits_for_news_is_answered(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """At once, while the calendar is still there; nothing is cut off in the middle."""
    settings = read_settings(data_dir=tmp_path, port=0)
    async with httpx.AsyncClient(trust_env=False) as http:
        async with open_app(settings) as program:
            opened = await http.get(str(program.page_url), follow_redirects=True)
            address = str(opened.url.copy_with(path="/day/changes"))
            known = (await http.get(address)).json()
            waiting = asyncio.create_task(http.get(address, params={"since": known["version"]}))
            (await http.get(opened.url.copy_with(path="/ui/state"))).raise_for_status()
        answer = (await waiting).json()
        assert (answer["reachable"], answer["version"] != known["version"]) == (True, True)
        with pytest.raises(httpx.ConnectError):
            await http.get(address)
    assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == []
