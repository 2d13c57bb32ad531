"""The sockets an app has open: tickets, hello, round-robin sending, acknowledgements on any of them."""

import asyncio
import json
import secrets
from collections.abc import Callable
from typing import Any, Literal

from starlette.websockets import WebSocket, WebSocketDisconnect

from localslack.delivery.transport import Acknowledgement, Failure
from localslack.directory import APP_ID
from localslack.frames import FrameQueue
from localslack.store.database import dump

MAX_CONNECTIONS = 10
_CONNECTION_SECONDS = 18_060


class SocketHub:
    """All Socket Mode connections of the one app; none stays open when Socket Mode is not `enabled`."""

    timeout_reason = "timeout"

    def __init__(self, public_url: str, *, enabled: bool = True) -> None:
        self._enabled = enabled
        self._url = "ws" + public_url.removeprefix("http") + "/link/"
        self._tickets: set[str] = set()
        self._connections: list[FrameQueue] = []
        self._turn = 0
        self.on_acknowledged: list[Acknowledgement] = []
        self.on_failed: list[Callable[[Failure], None]] = []
        self.on_connections_changed: list[Callable[[], None]] = []

    @property
    def connected(self) -> bool:
        return bool(self._connections)

    @property
    def connections(self) -> int:
        return len(self._connections)

    def issue_url(self) -> str:
        """Return a WebSocket URL that opens one connection."""
        ticket = secrets.token_urlsafe(18)
        self._tickets.add(ticket)
        return f"{self._url}?ticket={ticket}&app_id={APP_ID}"

    def send(self, frame: dict[str, Any]) -> bool:
        """Put a frame on the next connection in turn; False when there is none."""
        if not self._connections:
            return False
        self._turn = (self._turn + 1) % len(self._connections)
        self._connections[self._turn].put(dump(frame))
        return True

    def disconnect(self, reason: Literal["warning", "refresh_requested", "link_disabled"]) -> None:
        """Tell every connection to go, as Slack does before a refresh or when Socket Mode is switched off."""
        for connection in tuple(self._connections):
            connection.put(dump({"type": "disconnect", "reason": reason, "debug_info": {}}))

    def drop(self) -> None:
        """Close every connection without a word."""
        for connection in tuple(self._connections):
            connection.finish()

    async def serve(self, socket: WebSocket) -> None:
        """Run one connection from its ticket to its end."""
        ticket = socket.query_params.get("ticket", "")
        if ticket not in self._tickets:
            await socket.close(code=4404, reason="unknown or used ticket")
            return
        self._tickets.discard(ticket)
        await socket.accept()
        outgoing = FrameQueue(socket)
        pump = asyncio.create_task(outgoing.pump())
        try:
            if not self._enabled or len(self._connections) >= MAX_CONNECTIONS:
                reason = "too_many_websockets" if self._enabled else "link_disabled"
                outgoing.put(dump({"type": "disconnect", "reason": reason, "debug_info": {}}))
                outgoing.finish()
            else:
                self._join(outgoing)
            await self._receive(socket)
        finally:
            self._leave(outgoing)
            outgoing.finish()
            await pump

    def _join(self, connection: FrameQueue) -> None:
        self._connections.append(connection)
        connection.put(
            dump(
                {
                    "type": "hello",
                    "num_connections": len(self._connections),
                    "connection_info": {"app_id": APP_ID},
                    "debug_info": {"host": "local", "approximate_connection_time": _CONNECTION_SECONDS},
                }
            )
        )
        for listener in self.on_connections_changed:
            listener()

    def _leave(self, connection: FrameQueue) -> None:
        if connection in self._connections:
            self._connections.remove(connection)
            for listener in self.on_connections_changed:
                listener()

    async def _receive(self, socket: WebSocket) -> None:
        while True:
            try:
                text = await socket.receive_text()
            except WebSocketDisconnect:
                return
            try:
                frame = json.loads(text)
            except json.JSONDecodeError:
                continue  # Slack ignores what is not an acknowledgement; so does the hub
            if isinstance(frame, dict) and isinstance(frame.get("envelope_id"), str):
                for listener in self.on_acknowledged:
                    listener(frame["envelope_id"], frame.get("payload"))
