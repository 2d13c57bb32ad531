"""``fateforger ...`` as programs see it: arguments and input in; status, output and errors out."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tests.forks import Forks

COMMAND_LINE = "tests.doors:command_line"
LOADED = (
    "tests.doors", "fateforger.cli.program", "fateforger.app.program", "caldav_mcp", "alembic.command",
    "alembic.config", "mcp.client.streamable_http", "sqlalchemy.dialects.sqlite", "resvg_py", "uvicorn.protocols.http.h11_impl",
)  # fmt: skip
"""What the program loads until it is ready. What is missing here is loaded by each start."""


@functools.cache
def programs() -> Forks:
    """Where :data:`COMMAND_LINE` can be started."""
    return Forks(*LOADED)


def command_line(*arguments: str) -> int:
    """In the fork: what the program does with its arguments."""
    from fateforger.cli import main

    main(arguments)
    return 0


def through_the_door(
    *arguments: str, given: str = "", environment: Mapping[str, str] | None = None
) -> tuple[int, str, str]:
    """Status, output and errors of the program, in a process of its own."""
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
