"""Proof that a draft is the best one, or a better one, by CP-SAT in a process of its own.

The same draft gives the same result on every machine: CP-SAT counts its own work instead of time, works with one
thread, and begins with a fixed seed. OR-tools is optional: ``pip install 'fateforger[solver]'``.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import logging
import sys

from fateforger.adapters.optimizer.solving import Limits
from fateforger.drafting.solver import Optimum, Solution

log = logging.getLogger(__name__)


def is_installed() -> bool:
    """Check whether OR-tools is installed."""
    return importlib.util.find_spec("ortools") is not None


async def optimize(solution: Solution, limits: Limits = Limits()) -> Optimum | None:  # noqa: B008  it is frozen
    """Return the best placement found and how good any can be, or ``None`` when the process failed.

    The process is killed when the caller is canceled.
    """
    request = {
        "instance": solution.context.instance.model_dump(mode="json"),
        "relaxed": solution.relaxed,
        "placed": solution.placed,
        "work": limits.work,
        "megabytes": limits.megabytes,
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "fateforger.adapters.optimizer",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        output, errors = await process.communicate(json.dumps(request).encode())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode != 0:
        # The last line names the error; the lines before it could quote the person.
        kind = errors.decode(errors="replace").strip().rpartition("\n")[2].partition(":")[0]
        log.warning("the optimizer ended with code %s (%s)", process.returncode, kind)
        return None
    answer = json.loads(output)
    return Optimum([tuple((start, length) for start, length in pieces) for pieces in answer["placed"]], answer["least"])
