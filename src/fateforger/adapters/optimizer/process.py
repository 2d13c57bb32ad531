"""Proof that a draft is the best one, or a better one, by CP-SAT in a process of its own.

The same draft gives the same result on every machine: CP-SAT counts its own work instead of time, works with one
thread, and begins with a fixed seed. OR-tools is optional: ``pip install 'fateforger[solver]'``.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import subprocess
import sys

from fateforger.adapters.optimizer.cp_sat import Limits
from fateforger.drafting.solver import Optimum, Solution

log = logging.getLogger(__name__)


def is_installed() -> bool:
    """Check whether OR-tools is installed."""
    return importlib.util.find_spec("ortools") is not None


_COMMAND = (sys.executable, "-m", "fateforger.adapters.optimizer")
_LIMITS = Limits()


async def optimize(solution: Solution, limits: Limits = _LIMITS) -> Optimum | None:
    """Return the best placement found and how good any can be, or ``None`` when the process failed.

    The process is killed when the caller is canceled.
    """
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*_COMMAND, stdin=pipe, stdout=pipe, stderr=pipe)
    try:
        output, errors = await process.communicate(_write_request(solution, limits))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return _read_answer(process.returncode, output, errors)


def optimize_now(solution: Solution, limits: Limits = _LIMITS) -> Optimum | None:
    """Return what :func:`optimize` does, for a program without an event loop."""
    done = subprocess.run(_COMMAND, input=_write_request(solution, limits), capture_output=True, check=False)  # noqa: S603  our own module
    return _read_answer(done.returncode, done.stdout, done.stderr)


def _write_request(solution: Solution, limits: Limits) -> bytes:
    request = {
        "instance": solution.context.instance.model_dump(mode="json", by_alias=True, exclude_none=True),
        "relaxed": solution.relaxed,
        "placed": solution.placed,
        "work": limits.work,
        "megabytes": limits.megabytes,
    }
    return json.dumps(request).encode()


def _read_answer(code: int | None, output: bytes, errors: bytes) -> Optimum | None:
    if code != 0:
        # The last line names the error; what follows its name could quote the person.
        kind = errors.decode(errors="replace").strip().rpartition("\n")[2].partition(":")[0]
        log.warning("the optimizer ended with code %s (%s)", code, kind)
        return None
    answer = json.loads(output)
    return Optimum([tuple((start, length) for start, length in pieces) for pieces in answer["placed"]], answer["least"])
