"""An ASGI app behind a real socket on a free port, for as long as a ``with`` lasts."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from typing import Any

import uvicorn


@contextlib.asynccontextmanager
async def serve_app(
    app: Any,
    *,
    port: int = 0,
    listener: socket.socket | None = None,
    lifespan: bool = True,
    websockets: bool = False,
) -> AsyncIterator[str]:
    """Serve on 127.0.0.1, or at a socket that is bound, and yield the base URL. Connections still open at the end are cut.

    ``lifespan``: the app gets events of its start and end. ``websockets``: it accepts them.
    """
    listener = listener or bind_socket(port)
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",
        ws="websockets-sansio" if websockets else "none",
        lifespan="on" if lifespan else "off",
        timeout_graceful_shutdown=0,
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    # Not ``serve()``: that takes over the signal handlers, and looks only now and then whether it shall end.
    await server.startup(sockets=[listener])
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        # First no further connections: asyncio forgets one that it has accepted when its server closes at that moment.
        asyncio.get_running_loop().remove_reader(listener)
        await asyncio.sleep(0)
        await server.shutdown(sockets=[listener])
        # It cancels requests without waiting for them, and overlooks connections that have just begun.
        await asyncio.gather(*server.server_state.tasks, return_exceptions=True)
        for connection in list(server.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)  # let the event loop close the sockets


def bind_socket(port: int = 0, *, shared: bool = False) -> socket.socket:
    """Return a socket at a port of 127.0.0.1, which others may use as well if it is ``shared``; 0 is a free port.

    With the protocol named, the event loop switches Nagle's algorithm off; else each answer may wait 40 ms.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT if shared else socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    return listener
