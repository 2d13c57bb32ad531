"""Python programs in forks of one that has loaded already what takes long to load: importing is most of what a start of the
real program, or a run of a few tests, costs. A fork has its own memory, environment and output, and can be killed.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BROKEN = 70
"""The status of a program that ended with an exception."""
Json = dict[str, Any]


class Forks:
    """Starts programs; ``loaded`` are the modules that each of them finds loaded. They end with this process."""

    def __init__(self, *loaded: str, environment: Mapping[str, str] | None = None) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-m", "tests.forks", *loaded],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._turn = threading.Lock()
        atexit.register(self.close)

    def start(
        self,
        call: str,
        *arguments: str,
        environment: Mapping[str, str],
        output: Path,
        errors: Path | None = None,
        given: Path | None = None,
    ) -> Fork:
        """Call ``module:function`` in a fork, which ends with the status that it gives. ``environment`` is all there is of
        it; what the program says is appended to ``output``, errors too unless they have a file of their own; ``given`` is
        its input."""
        order = {
            "call": call,
            "arguments": arguments,
            "environment": {**environment},
            "files": [str(given or os.devnull), str(output), str(errors or output)],
        }
        return Fork(self.ask(start=order)["pid"], self)

    def ask(self, **order: object) -> Json:
        """For :class:`Fork`."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        with self._turn:
            self._server.stdin.write(json.dumps(order) + "\n")
            self._server.stdin.flush()
            answer: Json = json.loads(self._server.stdout.readline())
        return answer

    def kill(self) -> None:
        """Kill all programs that still run."""
        self.ask(kill=True)

    def close(self) -> None:
        atexit.unregister(self.close)
        with self._server as server:  # at the end of its input it kills what still runs
            assert server.stdin is not None
            server.stdin.close()


@dataclass(frozen=True, slots=True)
class Fork:
    """A program under way, as far as tests need a ``subprocess.Popen``."""

    pid: int
    forks: Forks

    def poll(self) -> int | None:
        """Return the status if the process has ended: negative for a signal."""
        status: int | None = self.forks.ask(ended=self.pid)["status"]
        return status

    def wait(self, timeout: float = 600) -> int:
        ends = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > ends:
                raise TimeoutError(f"process {self.pid} goes on")
            time.sleep(0.02)  # between two looks at the condition
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:  # only this process waits for its end, so its id is not reused yet
            os.kill(self.pid, number)


def _serve(loaded: Sequence[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those of other packages, which have no listener here
        for name in loaded:
            importlib.import_module(name)
    if threading.active_count() > 1:
        raise RuntimeError(f"a fork would lose {threading.enumerate()}")
    gc.freeze()  # so that forks share it
    statuses: dict[int, int | None] = {}
    for line in sys.stdin:
        order = json.loads(line)
        if "start" in order:
            child = os.fork()
            if child == 0:
                _become(order["start"])
            statuses[child] = None
            answer: Json = {"pid": child}
        elif "kill" in order:
            _kill(statuses)
            answer = {}
        else:
            answer = {"status": _poll_child(statuses, order["ended"])}
        print(json.dumps(answer), flush=True)  # noqa: T201  the answer
    _kill(statuses)


def _kill(statuses: dict[int, int | None]) -> None:
    for child in statuses:
        if _poll_child(statuses, child) is None:
            os.kill(child, signal.SIGKILL)


def _poll_child(statuses: dict[int, int | None], child: int) -> int | None:
    if statuses[child] is None:
        gone, status = os.waitpid(child, os.WNOHANG)
        statuses[child] = os.waitstatus_to_exitcode(status) if gone else None
    return statuses[child]


def _become(order: Json) -> None:
    """Run the function in the fork; never return."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where a shell began the tests in the background
    for number, (path, mode) in enumerate(zip(order["files"], ("rb", "ab", "ab"), strict=True)):
        with Path(path).open(mode) as file:
            os.dup2(file.fileno(), number)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115  for good, and without what the other one had read ahead
    sys.stdout = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115  for good; it is no path
    os.environ.clear()
    os.environ.update(order["environment"])
    status = BROKEN
    try:
        module, _, name = order["call"].partition(":")
        call: Callable[..., int] = getattr(importlib.import_module(module), name)
        status = call(*order["arguments"])
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else BROKEN
    except BaseException:  # noqa: BLE001  the outermost edge of the fork, which must not go on as the server
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status or 0)


if __name__ == "__main__":
    _serve(sys.argv[1:])
