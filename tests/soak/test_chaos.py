"""A day in which everything fails; ``python -m tests.soak --chaos 100`` plays many of them."""

from __future__ import annotations

import gc
import socket
import warnings
from pathlib import Path

import pytest
from tests.postgres import PostgresServer
from tests.scenarios.gate import pass_on
from tests.scenarios.providers import serve
from tests.soak.chaos import open_chaos

pytestmark = [
    pytest.mark.process,
    pytest.mark.timeout(1_200),  # starts of the program, and its patience
    # Programs die in the middle of requests; what they leave open in the emulators here is closed by the collector.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def live(folder: Path, seed: str, server: PostgresServer | None, days: int, spells: int) -> None:
    with open_chaos(folder, seed, server, spells) as chaos:
        chaos.live(days)
        assert not chaos.breaches, str(chaos)
        assert chaos.counts["days"] == days
    gc.collect()  # now, where its warnings are expected, and not in the next test


def test_nothing_is_lost_doubled_leaked_or_silent(tmp_path: Path) -> None:
    """S391: three people, one program on SQLite, and a few spells of trouble."""
    live(tmp_path, "1", None, days=1, spells=3)


@pytest.mark.extra
def test_nothing_is_lost_doubled_leaked_or_silent_in_a_team(tmp_path: Path, vector_server: PostgresServer) -> None:
    """S391: the same with two programs on PostgreSQL, whose clocks differ, for longer."""
    live(tmp_path, "20", vector_server, days=2, spells=12)


def test_an_emulator_that_ends_closes_its_connections() -> None:
    """Those of a request that waits for the rest of an answer, and one that has just come; or the collector closes them
    in a later test, which then fails."""
    with warnings.catch_warnings(record=True, action="always") as left_open, socket.create_server(LOCAL) as slow:
        with serve(pass_on(f"http://127.0.0.1:{slow.getsockname()[1]}")) as address:
            port = int(address.rpartition(":")[2])
            first = socket.create_connection(("127.0.0.1", port))
            first.sendall(REQUEST)
            upstream, _ = slow.accept()
            upstream.recv(10_000)
            upstream.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
            second = socket.create_connection(("127.0.0.1", port))
            second.sendall(REQUEST)
        for each in (first, second, upstream):
            each.close()
        gc.collect()
    assert [str(warning.message) for warning in left_open] == []


LOCAL = ("127.0.0.1", 0)
REQUEST = b"GET / HTTP/1.1\r\nHost: emulator\r\n\r\n"
