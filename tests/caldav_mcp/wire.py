"""A wire between the tools and a CalDAV server on which things go wrong on command."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

Fault = int | Literal["reset", "reset after", "hang"]
"""A status to answer with, a connection cut before or after the server did its work, or no answer at all."""


@dataclass
class Wire:
    """Forwards requests one by one to the server at `target`. `faults` meet the next requests with those methods."""

    target: str
    faults: list[tuple[str, Fault]] = field(default_factory=list)
    before: Callable[[str, str], None] = lambda _method, _path: None
    sent: list[str] = field(default_factory=list)
    url: str = ""

    def meets(self, method: str, *faults: Fault) -> None:
        self.faults += [(method, fault) for fault in faults]

    def next_fault(self, method: str) -> Fault | None:
        found = next((entry for entry in self.faults if entry[0] == method), None)
        if found is None:
            return None
        self.faults.remove(found)
        return found[1]

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            request = head + await reader.readexactly(_length(head))
            method, path, _ = head.decode().split(" ", 2)
            self.sent.append(method)
            self.before(method, path)
            await self._answer(self.next_fault(method), request, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.transport.abort()
        finally:
            writer.close()

    async def _answer(self, fault: Fault | None, request: bytes, writer: asyncio.StreamWriter) -> None:
        match fault:
            case "hang":
                await asyncio.Event().wait()
            case "reset":
                writer.transport.abort()
            case "reset after":
                await self._forward(request)
                writer.transport.abort()
            case None:
                writer.write(await self._forward(request))
                await writer.drain()
            case int():
                location = "Location: /elsewhere/\r\n" if fault in {301, 302} else ""
                writer.write(
                    f"HTTP/1.1 {fault} Fault\r\n{location}Content-Length: 0\r\nConnection: close\r\n\r\n".encode()
                )
                await writer.drain()

    async def _forward(self, request: bytes) -> bytes:
        parts = urlsplit(self.target)
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
        try:
            writer.write(request)
            return await reader.read()
        finally:
            await close_connection(writer)


async def close_connection(writer: asyncio.StreamWriter) -> None:
    """Close a connection without sending the rest, and wait until its socket is closed."""
    writer.transport.abort()
    with suppress(ConnectionError):
        await writer.wait_closed()


def _length(head: bytes) -> int:
    fields = [line.split(b":", 1) for line in head.lower().split(b"\r\n") if b":" in line]
    return next((int(value) for name, value in fields if name == b"content-length"), 0)


@asynccontextmanager
async def open_wire(target: str) -> AsyncIterator[Wire]:
    """Yield a wire to a server, for as long as the `with` lasts. Its `url` has the path of `target`."""
    wire = Wire(target)
    under_way: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(wire.carry(reader, writer))
        under_way.add(task)
        task.add_done_callback(under_way.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    wire.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}{urlsplit(target).path}"
    try:
        yield wire
    finally:
        server.close()
        for task in list(under_way):
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await server.wait_closed()
