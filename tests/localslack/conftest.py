from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.localslack.workspaces import Api


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    opened = Api(tmp_path)
    yield opened
    await opened.close()
