from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.unit.local.calendar.making import AtTheTools, OtherProgram, opened


@pytest.fixture
async def tools(tmp_path: Path) -> AsyncIterator[AtTheTools]:
    async with opened(tmp_path) as at_the_tools:
        yield at_the_tools


@pytest.fixture
async def other(tools: AtTheTools) -> AsyncIterator[OtherProgram]:
    async with OtherProgram(tools.calendar.caldav_url) as program:
        yield program
