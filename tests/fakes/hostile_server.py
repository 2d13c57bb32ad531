"""A server that answers every request without end, too slowly, or with a short text that unpacks into a very long one."""

from __future__ import annotations

import gzip
import socket
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Final

BOMB_BYTES: Final = 200_000_000
MANNERS: Final = ("endless", "slow", "slow head", "bomb", "bomb in a bomb")


@cache
def _bomb() -> bytes:
    packed = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    spaces = b" " * 1_000_000
    return b"".join(packed.compress(spaces) for _ in range(BOMB_BYTES // len(spaces))) + packed.flush()


@dataclass
class HostileServer:
    """``manner`` says how it answers. ``hung_up`` counts the answers that a client did not read to their end."""

    manner: str = "endless"
    url: str = ""
    asked: int = 0
    hung_up: int = 0
    longest: int = 0
    """Most bytes of an answer that one client accepted."""
    ended: threading.Event = field(default_factory=threading.Event)
    bomb: bytes = field(default_factory=_bomb, repr=False)

    def answer(self, connection: socket.socket) -> None:
        sent = 0
        with connection, suppress(OSError):
            connection.settimeout(120)
            if not connection.recv(65_536):
                return
            self.asked += 1
            try:
                for part in self._parts():
                    connection.sendall(part)
                    sent += len(part)
                    self.longest = max(self.longest, sent)
            except OSError:
                self.hung_up += 1

    def _parts(self) -> Iterator[bytes]:
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
        match self.manner:
            case "endless":
                yield head + b"\r\n"
                while not self.ended.is_set():
                    yield b" " * 65_536
            case "slow":
                yield head + b"\r\n"
                while not self.ended.wait(0.1):
                    yield b" "
            case "slow head":
                yield head
                while not self.ended.wait(0.1):
                    yield b"X"
            case "bomb":
                yield head + b"Content-Encoding: gzip\r\n\r\n" + self.bomb
            case _:
                yield head + b"Content-Encoding: gzip, gzip\r\n\r\n" + gzip.compress(self.bomb)


@contextmanager
def hostile_server() -> Iterator[HostileServer]:
    server = HostileServer()
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)

    def accept() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=server.answer, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    server.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    try:
        yield server
    finally:
        server.ended.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
