"""Workspaces and people of scenarios; and what a failed one shows: the words of its page and the log of its program, because a
rare failure has no other witness."""

from __future__ import annotations

from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error, Page
from tests.scenarios.chat import Chat, Person, chat_at, workspace_at
from tests.scenarios.program import Program
from tests.scenarios.radicale import Radicale, free_port

from localslack import Workspace


@pytest.fixture
async def workspace(tmp_path: Path) -> AsyncIterator[Workspace]:
    async with workspace_at(tmp_path) as served:
        yield served


@pytest.fixture
async def chat(workspace: Workspace, tmp_path: Path) -> AsyncIterator[Chat]:
    async with chat_at(workspace, tmp_path) as running:
        yield running


@pytest.fixture
async def alex(workspace: Workspace) -> AsyncIterator[Person]:
    person = Person(workspace)
    yield person
    await person.http.aclose()


@pytest.fixture
def radicale(tmp_path: Path) -> Iterator[Radicale]:
    """Yield a CalDAV server with one calendar."""
    server = Radicale(tmp_path / "dav", free_port())
    server.start()
    server.make_calendar()
    yield server
    server.kill()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call" and report.failed and isinstance(item, pytest.Function):
        for name, value in item.funcargs.items():
            if isinstance(value, Page):
                report.sections.append((f"words of {name}", _read_words(value)))
            elif isinstance(value, Program) and value.log.exists():
                report.sections.append((f"log of {name}", value.log.read_text(errors="replace")[-20_000:]))
    return report


def _read_words(page: Page) -> str:
    try:
        return "\n".join(frame.locator("body").inner_text(timeout=5_000) for frame in page.frames)
    except Error as error:
        return f"the page does not answer: {error}"
