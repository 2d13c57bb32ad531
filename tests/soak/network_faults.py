"""Trouble with everything that the program depends on, from the first moment of a spell until its end.

Each kind of trouble is made outside the program: in the requests that it sends, in its database, or to its process.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sqlite3
import threading
from collections import Counter
from collections.abc import MutableMapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal

from starlette.responses import JSONResponse, PlainTextResponse, Response
from tests.factories.told_rules import NOTHING
from tests.factories.words import wants
from tests.fakes.openai_server import ReceivedRequest, ScriptedAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.postgres import PostgresServer, Shutdown
    from tests.scenarios.program import Program

Kind = Literal["refused", "limited", "lost", "held", "held after"]
REQUESTS: tuple[Kind, ...] = ("refused", "limited", "lost", "held", "held after")
SHARE = 0.7
"""Share of the requests in a spell that meet trouble."""
LONGEST = 20.0
"""Seconds that a spell may hold something, so that a soak that fails ends."""


@dataclass
class NetworkFaults:
    """A connection to a server. In a spell, some requests below ``path`` meet trouble, before or after they take effect."""

    app: Any
    rng: Random
    path: str = "/"
    kind: Kind | None = None
    met: Counter[str] = field(default_factory=Counter)
    _calm: threading.Event = field(default_factory=threading.Event)

    def worsen(self, kind: Kind) -> None:
        self._calm = threading.Event()
        self.kind = kind

    def calm(self) -> None:
        self.kind = None
        self._calm.set()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        kind, calm = self.kind, self._calm
        meets = kind and scope["type"] == "http" and scope["path"].startswith(self.path) and self.rng.random() < SHARE
        if not meets or kind is None:
            await self.app(scope, receive, send)
            return
        self.met[kind] += 1
        if kind in {"lost", "held after"}:
            await self.app(scope, receive, _forget)
        if kind in {"held", "held after"}:
            await asyncio.to_thread(calm.wait, LONGEST)
        await _answer(kind)(scope, receive, send)


async def _forget(message: Any) -> None:
    """Lose an answer."""


def _answer(kind: Kind) -> Response:
    if kind == "limited":
        return JSONResponse({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": "1"})
    return PlainTextResponse("out of order", 503)


@dataclass
class Listener:
    """A model that reads every message as a wish to go on, with nothing to remember. In a spell it is busy, answers with
    nonsense, or never finishes."""

    rng: Random
    kind: Literal["busy", "nonsense", "endless"] | None = None
    _calm: threading.Event = field(default_factory=threading.Event)

    def worsen(self, kind: Literal["busy", "nonsense", "endless"]) -> None:
        self._calm = threading.Event()
        self.kind = kind

    def calm(self) -> None:
        self.kind = None
        self._calm.set()

    def script(self, asked: ReceivedRequest) -> ScriptedAnswer:
        match self.kind:
            case "busy":
                return ScriptedAnswer(status=self.rng.choice((429, 500, 503)), text="busy")
            case "nonsense":
                return ScriptedAnswer(
                    self.rng.choice(("", "{", "[]", '{"wishes": 7}', "Sure!", '{"wishes": [{}], "x": 1}'))
                )
            case "endless":
                return ScriptedAnswer(status=503, text="too late", until=self._calm)
        if "The message:" not in asked.last:
            return ScriptedAnswer(status=404, text="This one only reads.")  # a draft: then the program makes its own
        return ScriptedAnswer(json.dumps(NOTHING if "should_extract" in asked.system else wants("proceed")))


@contextmanager
def full_disk(program: Program) -> Iterator[None]:
    """Let no file of the program grow, as on a full disk."""
    assert program.process is not None
    pid = program.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        yield
    finally:
        if program.process is not None and program.process.pid == pid:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, before)


@contextmanager
def lock_database(file: Path) -> Iterator[None]:
    """Let another process write to the SQLite database all the time."""
    connection = sqlite3.connect(file, timeout=30, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")
    finally:
        connection.close()


@contextmanager
def hung_up(server: PostgresServer, database: str) -> Iterator[None]:
    """Let the PostgreSQL database end all connections and accept no new ones, as when it restarts."""
    server.command(f"ALTER DATABASE {database} WITH ALLOW_CONNECTIONS false")
    try:
        server.hang_up(database)
        yield
    finally:
        server.command(f"ALTER DATABASE {database} WITH ALLOW_CONNECTIONS true")


@contextmanager
def stop_server(server: PostgresServer, how: Shutdown) -> Iterator[None]:
    """Stop the PostgreSQL server, and start it again."""
    server.stop(how)
    try:
        yield
    finally:
        server.start()


@dataclass
class FaultPeriod:
    """The troubles at one time, and how they end."""

    stack: ExitStack = field(default_factory=ExitStack)
    names: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return ", ".join(self.names) or "calm"
