"""Run an allowed command: exactly its words, without a shell, with a time limit.

Output is discarded; only the status counts.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, Process

from fateforger.adapters.facts.allowed import AllowedCommand
from fateforger.workflow.evaluating import CheckAnswer

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ")
"""The environment variables passed on; settings and keys of this program are not."""


async def run_command(name: str, command: AllowedCommand) -> CheckAnswer:
    """Run a command and report whether it exits with status 0. Everything it started is killed with it."""
    environment = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
    try:
        process = await asyncio.create_subprocess_exec(
            *command.words,
            cwd=command.folder,
            env=environment,
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return CheckAnswer(None, f"“{name}” cannot be started: {error.strerror or error}.")
    try:
        async with asyncio.timeout(command.seconds):
            status = await process.wait()
    except TimeoutError:
        return CheckAnswer(None, f"“{name}” took longer than {command.seconds:g} seconds, so it was ended.")
    finally:
        await _kill_group(process)
    if status < 0:
        return CheckAnswer(None, f"“{name}” was ended by signal {-status}.")
    return CheckAnswer(holds=status == 0, why=f"“{name}” ended with status {status}.")


async def _kill_group(process: Process) -> None:
    """Kill the whole process group, also if the command itself is gone and left a child behind."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
