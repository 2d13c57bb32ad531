from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.localslack.making import Doors


@pytest.fixture
async def doors(tmp_path: Path) -> AsyncIterator[Doors]:
    opened = Doors(tmp_path)
    yield opened
    await opened.close()
