"""The real program, started as a person starts it, and killed as the world kills it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tests.command_line import COMMAND_LINE, programs
from tests.forks import Fork
from tests.scenarios.person import NotSeen, Person, eventually


@dataclass
class Program:
    """``fateforger up`` on a data directory of its own, on the same port after each restart. It is a fork of a process that
    has the program loaded, which saves seconds; with ``cold`` it is started as a person starts it."""

    data: Path
    environment: dict[str, str] = field(default_factory=dict)
    port: int = 0
    cold: bool = not sys.platform.startswith("linux")
    process: subprocess.Popen[bytes] | Fork | None = None
    url: str = ""
    address: str = ""
    """The page's address with its token, as printed for a person."""

    @property
    def log(self) -> Path:
        return self.data.parent / f"{self.data.name}.log"

    def start(self) -> Program:
        offset = self.log.stat().st_size if self.log.exists() else 0
        arguments = ["up", "--port", str(self.port), "--data-dir", str(self.data)]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "FATEFORGER_CALDAV_PORT": "0", **self.environment}
        if self.cold:
            self.process = self._start_process(arguments, environment)
        else:
            self.process = programs().start(COMMAND_LINE, *arguments, environment=environment, output=self.log)
        self.address = eventually(lambda: self._address(offset), "the program's address")
        self.url = self.address.partition("/?")[0]
        self.port = int(self.url.rsplit(":", 1)[1])
        return self

    def _start_process(self, arguments: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        output: IO[bytes]
        with self.log.open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "fateforger", *arguments],
                stdout=output,
                stderr=subprocess.STDOUT,
                env=environment,
            )

    def _address(self, offset: int) -> str | None:
        assert self.process is not None
        said = self.log.read_bytes()[offset:].decode(errors="replace") if self.log.exists() else ""
        if self.process.poll() is not None:
            raise NotSeen(f"the program ended with {self.process.poll()}:\n{said}")
        found = re.search(r"Ready: (http://\S+)\s", said)
        return found.group(1) if found else None

    def kill(self) -> None:
        """Kill the process with SIGKILL: nothing is flushed or reported."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process = None

    def restart(self) -> None:
        self.kill()
        self.start()

    def stop(self) -> int:
        """Stop with Ctrl-C, and wait for the program to end well."""
        if self.process is None:
            return 0
        self.process.send_signal(signal.SIGINT)
        status = self.process.wait(timeout=60)
        self.process = None
        return status

    def person(self) -> Person:
        person = Person(self.address)
        person.wait_connected()
        return person

    def caldav_url(self) -> str:
        """Return the calendar's address as the program printed it, with the name and the password in it."""
        printed = r"CalDAV: http://(\S+)(?: \(user name (\S+), password (\S+)\))?"
        address, user, password = re.findall(printed, self.log.read_text(errors="replace"))[-1]
        return f"http://{user}:{password}@{address}" if user else f"http://{address}"
