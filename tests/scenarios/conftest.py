"""What a failed scenario shows: the words of its page and the log of its program, because a rare failure has no other witness."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from playwright.sync_api import Error, Page
from tests.scenarios.program import Program


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
