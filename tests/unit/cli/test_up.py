"""``fateforger up`` in this process, with a program that does nothing."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from fateforger.app import program
from fateforger.app.program import App
from fateforger.cli import program as commands
from fateforger.cli.command_line import root_command
from fateforger.config import Settings


def test_what_is_loaded_is_not_collected_again_and_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """S396: a collection that visits all of it takes as long as a round may take."""

    @asynccontextmanager
    async def open_app(_settings: Settings) -> AsyncIterator[App]:
        yield App("http://127.0.0.1:1/?token=x", None, None, (), None, None)

    def stop_at_once() -> asyncio.Event:
        event = asyncio.Event()
        event.set()
        return event

    monkeypatch.setattr(program, "open_app", open_app)
    monkeypatch.setattr(commands, "stop_on_signals", stop_at_once)
    gc.unfreeze()
    CliRunner().invoke(root_command, ["up", "--data-dir", str(tmp_path)], catch_exceptions=False)
    assert gc.get_freeze_count() > len(gc.get_objects())
