"""The settings of a list of tasks elsewhere, and what ``doctor`` says of it."""

from __future__ import annotations

import pytest
from tests.fakes.task_server import TOKEN, TaskServer

from fateforger.app.health import LIST_FIX, check_lists
from fateforger.app.resources import Check
from fateforger.config import read_settings
from fateforger.errors import BadInput


async def test_doctor_reads_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await check_lists(read_settings()) == ()
    async with TaskServer(answer={"result": [{"id": 1, "title": "Taxes"}]}, token=TOKEN).listening() as server:
        monkeypatch.setenv("TICKTICK_MCP_URL", server.url)
        (refused,) = await check_lists(read_settings(), seconds=30)
        monkeypatch.setenv("TICKTICK_MCP_TOKEN", TOKEN)
        settings = read_settings()
        assert await check_lists(settings, seconds=30) == (Check("ticktick", "real", "1 open task can be offered."),)
    said = "I could not read your TickTick list just now. The reason: HTTP 401: the login was refused."
    assert refused == Check("ticktick", "broken", said, LIST_FIX)
    assert settings.secrets == (TOKEN, f"{TOKEN}-in-the-address")
    assert TOKEN not in repr(settings.ticktick_mcp_token)


def test_what_is_no_address_is_refused_where_it_came_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TICKTICK_MCP_URL", "ticktick.com")
    with pytest.raises(BadInput, match="it should be an address like http://"):
        read_settings()
