"""An HTTP proxy: passes requests and WebSockets for any host on to one server, and remembers the hosts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from urllib.parse import urlsplit


class HttpProxy:
    """``asked`` has the host and the path of each request."""

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        self._upstream = (parts.hostname, parts.port)
        self.asked: list[tuple[str, str]] = []
        self.url = ""
        self._open: dict[asyncio.Task[None], tuple[asyncio.StreamWriter, ...]] = {}

    @contextlib.asynccontextmanager
    async def serve(self) -> AsyncIterator[HttpProxy]:
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        try:
            yield self
        finally:
            server.close()
            for task, writers in self._open.items():
                task.cancel()
                await asyncio.wait([task])
                for writer in writers:
                    writer.close()
                    with contextlib.suppress(ConnectionError):
                        await writer.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._pass_on(reader, writer))
        self._open[task] = (writer,)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *headers = (await reader.readuntil(b"\r\n\r\n")).split(b"\r\n")
        verb, url, version = first.split(b" ")
        target = urlsplit(url.decode())
        self.asked.append((str(target.hostname), target.path))
        path = f"{target.path}?{target.query}" if target.query else target.path
        if not any(line.lower().startswith(b"upgrade:") for line in headers):
            headers.insert(0, b"Connection: close")  # one request for each connection
        from_server, to_server = await asyncio.open_connection(*self._upstream)
        task = asyncio.current_task()
        assert task is not None
        self._open[task] = (writer, to_server)
        to_server.write(b"\r\n".join((b" ".join((verb, path.encode(), version)), *headers)))
        await asyncio.gather(_copy(reader, to_server), _copy(from_server, writer))


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while part := await source.read(65_536):
            target.write(part)
            await target.drain()
    target.close()
