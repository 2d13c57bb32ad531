from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.caldav_mcp.clients import OtherProgram, ToolClient, open_tools

from caldav_mcp import embedded, expansion


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow a busy machine more time to start a process; the limits on computing time stay."""
    monkeypatch.setattr(expansion, "MAX_PROCESS_SECONDS", 60)
    monkeypatch.setattr(embedded, "MAX_PUT_PROCESS_SECONDS", 60)


@pytest.fixture
async def tools(tmp_path: Path) -> AsyncIterator[ToolClient]:
    async with open_tools(tmp_path) as at_the_tools:
        yield at_the_tools


@pytest.fixture
async def other(tools: ToolClient) -> AsyncIterator[OtherProgram]:
    async with OtherProgram(tools.calendar.caldav_url) as program:
        yield program
