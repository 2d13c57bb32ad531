"""An ASGI app behind a real socket on a free port, for as long as a ``with`` lasts."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Generator
from typing import Any

import uvicorn


class _Quiet(uvicorn.Server):
    """Leaves the signal handlers of the test runner alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@contextlib.asynccontextmanager
async def served(app: Any, *, port: int = 0) -> AsyncIterator[str]:
    """Serve on 127.0.0.1 and give the base URL. Connections still open at the end are cut."""
    listener = socket.create_server(("127.0.0.1", port))
    config = uvicorn.Config(
        app, log_config=None, log_level="critical", lifespan="on", ws="none", timeout_graceful_shutdown=0
    )
    server = _Quiet(config)
    running = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        while not server.started:
            if running.done():
                running.result()
                raise RuntimeError("the server ended before it began")
            await asyncio.sleep(0)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await running
