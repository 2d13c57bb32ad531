"""Frames to one WebSocket, put synchronously and sent in order."""

import asyncio

from starlette.websockets import WebSocket, WebSocketDisconnect

_MAX_WAITING = 10_000


class FrameQueue:
    """The sending half of a socket; a reader that falls hopelessly behind is cut off and starts afresh."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._frames: asyncio.Queue[str | None] = asyncio.Queue()

    def put(self, frame: str) -> None:
        if self._frames.qsize() >= _MAX_WAITING:
            self.finish()
        else:
            self._frames.put_nowait(frame)

    def finish(self) -> None:
        """Close the socket once what was put before has been sent."""
        self._frames.put_nowait(None)

    async def pump(self) -> None:
        """Send until `finish`, or until the other side has gone."""
        try:
            while (frame := await self._frames.get()) is not None:
                await self._socket.send_text(frame)
            await self._socket.close()
        except (WebSocketDisconnect, RuntimeError):
            # Starlette reports a socket that closed under a send in either way; the receiving half sees it too.
            return
