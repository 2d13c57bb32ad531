"""A workspace behind a real socket on a free port, and a bare Socket Mode client for it."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from tests.localslack.workspaces import ALEX, APP_TOKEN, BOT_TOKEN, DM, MANIFEST, settings
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from localslack import Workspace, create_workspace, listening_socket

Json = dict[str, Any]
DEADLINE = 60.0


class _Server(uvicorn.Server):
    """Leaves the test runner's signal handlers alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


@dataclass
class Running:
    """A served workspace and a page's HTTP client for it."""

    workspace: Workspace
    url: str
    http: httpx.AsyncClient

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    async def act(self, deed: str, *, user: str = ALEX.id, **given: Any) -> Json:
        return dict((await self.http.post(f"/ui/{deed}", json={"user": user, **given})).json())

    async def see(self, what: str, *, user: str = ALEX.id, **query: str) -> Json:
        return dict((await self.http.get(f"/ui/{what}", params={"user": user, **query})).json())

    async def say(self, text: str, channel: str = DM, **more: Any) -> str:
        return str((await self.act("message", channel=channel, text=text, **more))["message"]["ts"])

    async def messages(self, channel: str = DM, **query: str) -> list[Json]:
        return list((await self.see("messages", channel=channel, **query))["messages"])

    async def call(self, method: str, *, token: str = BOT_TOKEN, **arguments: Any) -> Json:
        headers = {"authorization": f"Bearer {token}"}
        return dict((await self.http.post(f"/api/{method}", json=arguments, headers=headers)).json())

    async def connect_socket(self) -> ClientConnection:
        """Return a Socket Mode connection that has received its hello."""
        socket = await self.open_socket()
        assert json.loads(await socket.recv())["type"] == "hello"
        return socket

    async def open_socket(self) -> ClientConnection:
        answer = await self.call("apps.connections.open", token=APP_TOKEN)
        return await connect(answer["url"], proxy=None)


@contextlib.asynccontextmanager
async def running(
    folder: Path,
    *,
    port: int = 0,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
    manifest: Mapping[str, Any] = MANIFEST,
) -> AsyncIterator[Running]:
    """Serve the workspace whose file is in this folder; connections still open at the end are cut."""
    listening = listening_socket(port)
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    workspace = create_workspace(settings(folder, url, manifest), now=now)
    server = _Server(uvicorn.Config(workspace.app, log_config=None, timeout_graceful_shutdown=0))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=DEADLINE) as http:
        await until(lambda: server.started)
        try:
            yield Running(workspace, url, http)
        finally:
            workspace.close()
            server.should_exit = True
            await serving


async def until(condition: Callable[[], Any]) -> Any:
    """Return the first true result of the condition; fail the test after the deadline."""
    async with asyncio.timeout(DEADLINE):
        while not (seen := condition()):  # noqa: ASYNC110 - a look at parts that announce nothing
            await asyncio.sleep(0.002)
        return seen


async def frame(socket: ClientConnection) -> Json:
    """Return the next frame on this socket."""
    async with asyncio.timeout(DEADLINE):
        return dict(json.loads(await socket.recv()))


async def acknowledge(socket: ClientConnection, envelope: Json, payload: Json | None = None) -> None:
    answer: Json = {"envelope_id": envelope["envelope_id"]}
    await socket.send(json.dumps(answer if payload is None else {**answer, "payload": payload}))


async def wait_closed(socket: ClientConnection) -> bool:
    """Wait until the other side has closed the socket; frames that still come are read away."""
    async with asyncio.timeout(DEADLINE):
        with contextlib.suppress(ConnectionClosed):
            while True:
                await socket.recv()
    return True
