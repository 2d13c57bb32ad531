#!/usr/bin/env python3
"""Run the program and note which of its functions are called between two signals.

Started by ``measure_structure.py``. On each SIGUSR1 the calls since the last one are written, as JSON, to the file that
``FATEFORGER_TRACE`` names.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

SOURCE = str(Path(__file__).resolve().parents[1] / "src" / "fateforger") + os.sep


class Tracer:
    """Counts calls of the program's own functions, and calls from one package of it into another."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._calls: Counter[CodeType] = Counter()
        self._crossings: Counter[CodeType] = Counter()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if event != "call" or not frame.f_code.co_filename.startswith(SOURCE):
            return
        self._calls[frame.f_code] += 1
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(SOURCE):
            caller = caller.f_back
        if caller is not None and _package(caller.f_code) != _package(frame.f_code):
            self._crossings[frame.f_code] += 1

    def write(self, *_signal: Any) -> None:
        """Write what was called since the last time, and begin again."""
        calls, self._calls = self._calls, Counter()
        crossings, self._crossings = self._crossings, Counter()
        functions = [
            {
                "file": code.co_filename.removeprefix(SOURCE),
                "name": code.co_qualname,
                "line": code.co_firstlineno,
                "calls": number,
                "crossings": crossings[code],
            }
            for code, number in calls.items()
        ]
        partial = self._out.with_suffix(".partial")
        partial.write_text(json.dumps(functions))
        partial.rename(self._out)


def _package(code: CodeType) -> str:
    return code.co_filename.removeprefix(SOURCE).partition(os.sep)[0]


if __name__ == "__main__":
    tracer = Tracer(Path(os.environ["FATEFORGER_TRACE"]))
    signal.signal(signal.SIGUSR1, tracer.write)
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    from fateforger.cli import main

    main(sys.argv[1:])
