"""Open pages and the changes they are told of."""

import asyncio
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from localslack.store.database import Database, dump

_MAX_WAITING = 10_000


class FrameQueue:
    """The sending half of a socket: frames are put synchronously and sent in order.

    A reader that falls hopelessly behind is cut off and starts afresh.
    """

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


class LivePages:
    """Sends each change, once it is stored, to the pages of those who may see it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._pages: dict[str, list[FrameQueue]] = {}

    def tell(self, users: list[str], frame: dict[str, Any]) -> None:
        text = dump(frame)
        self._database.after_commit(lambda: self._send(users, text))

    def tell_all(self, frame: dict[str, Any]) -> None:
        self.tell(list(self._pages), frame)

    def watching(self) -> list[str]:
        """Return the users whose pages are open, once for each page."""
        return [user for user, pages in self._pages.items() for _ in pages]

    def close(self) -> None:
        for pages in self._pages.values():
            for page in pages:
                page.finish()

    async def serve(self, socket: WebSocket, user: str) -> None:
        """Run one page's socket until the page goes away."""
        await socket.accept()
        page = FrameQueue(socket)
        pump = asyncio.create_task(page.pump())
        self._pages.setdefault(user, []).append(page)
        try:
            while True:
                await socket.receive_text()
        except WebSocketDisconnect:
            return
        finally:
            self._pages[user].remove(page)
            page.finish()
            await pump

    def _send(self, users: list[str], text: str) -> None:
        for user in users:
            for page in self._pages.get(user, ()):
                page.put(text)
