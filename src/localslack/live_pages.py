"""Open pages and the changes they are told of."""

import asyncio
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect

from localslack.frames import FrameQueue
from localslack.store.database import Database, dump


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
