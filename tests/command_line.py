"""``fateforger ...`` as programs see it: arguments and input in; status, output and errors out."""

from __future__ import annotations

import functools
import importlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.forks import Forks

COMMAND_LINE = "tests.command_line:command_line"
LOADED = (
    "tests.command_line", "fateforger.cli.program", "fateforger.app.program", "fateforger.adapters.calendar.calendars",
    "fateforger.adapters.google", "fateforger.adapters.microsoft", "fateforger.conversation.graph", "alembic.command",
    "alembic.config", "anyio._backends._asyncio", "babel.dates", "caldav_mcp.local_calendar", "fontTools.ttLib", "httpcore",
    "httpcore2", "mcp.client.streamable_http", "procrastinate", "resvg_py", "slack_bolt.listener_matcher.async_builtins",
    "sqlalchemy.dialects.sqlite", "uvicorn.lifespan.off", "uvicorn.protocols.http.h11_impl",
    "uvicorn.protocols.websockets.websockets_sansio_impl", "tests.warm",
    "deepdiff", "fateforger.adapters.model.client", "openai.resources.chat.chat", "qdrant_client",
)  # fmt: skip
"""Modules that the program loads until it is ready, or while it plans. Each start loads those that are missing here."""
SEEDED = "SEEDED_BUG"
"""Environment variable with a module and its broken source, for the tests in ``tests/mutants``."""


@functools.cache
def programs() -> Forks:
    """Return the fork server that starts :data:`COMMAND_LINE`."""
    return Forks(*LOADED)


def command_line(*arguments: str) -> int:
    """Run the program with its arguments inside the fork."""
    from fateforger.cli import main

    if bug := os.environ.pop(SEEDED, None):
        from tests.mutants.swap import break_module

        module, broken = json.loads(bug)
        break_module(importlib.import_module(module), broken)
    main(arguments)
    return 0


def run_program(*arguments: str, given: str = "", environment: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Run the program in a process of its own and return its status, output and errors."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("given", "output", "errors")]
        paths[0].write_text(given)
        fork = programs().start(
            COMMAND_LINE,
            *arguments,
            environment={**os.environ, **(environment or {})},
            given=paths[0],
            output=paths[1],
            errors=paths[2],
        )
        return fork.wait(), paths[1].read_text(), paths[2].read_text()
