"""The ASGI application of a workspace: Web API, Socket Mode, response URLs, files and the page."""

import logging
import socket
import sqlite3
from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket

from localslack.config import WorkspaceConfig
from localslack.errors import Refusal
from localslack.page import actions, messages, views
from localslack.page.requests import PageRequest, is_own_page, page_address, read_body
from localslack.respond import answer_response_url
from localslack.web_api.dispatch import answer_call
from localslack.web_api.files import receive_upload, serve_file
from localslack.workspace import Workspace

_LOG = logging.getLogger(__name__)
_STATIC = Path(__file__).parent / "static"
_REVALIDATE = {"cache-control": "no-cache"}
_PAGE_HEADERS = {
    **_REVALIDATE,
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' http: https:; frame-src http: https:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
}
_NOT_STORED = "The workspace could not save that. Is the disk full? Please try again."

PageEndpoint = Callable[[PageRequest], Awaitable[dict[str, Any]]]

_READS: dict[str, PageEndpoint] = {
    "state": views.state,
    "messages": views.messages,
    "home": views.home,
    "modals": views.modals,
}
_DEEDS: dict[str, PageEndpoint] = {
    "message": messages.post,
    "edit": messages.edit,
    "delete": messages.delete,
    "slash": messages.slash,
    "action": actions.act,
    "suggest": actions.suggest,
    "shortcut": actions.use_shortcut,
    "home_opened": actions.open_home,
    "view_submit": actions.submit,
    "view_close": actions.close,
    "react": messages.react,
    "stop": messages.stop,
    "rename": messages.rename,
}


def create_workspace(config: WorkspaceConfig, *, now: Callable[[], datetime]) -> Workspace:
    """Open a workspace, as its database file left it, with `Workspace.app` ready to be served.

    `now` returns aware datetimes and decides all timestamps and expiries; the time an app has to acknowledge runs on
    the event loop's clock. `Workspace.close()` lets go of the file.
    """
    workspace = Workspace(config, now)
    workspace.app = Starlette(routes=_routes(workspace))
    return workspace


def _routes(workspace: Workspace) -> list[BaseRoute]:
    async def api(request: Request) -> Response:
        return await answer_call(workspace, request)

    async def respond(request: Request) -> Response:
        return await answer_response_url(workspace, request)

    async def file(request: Request) -> Response:
        return await receive_upload(workspace, request) if request.method == "POST" else serve_file(workspace, request)

    async def permalink(request: Request) -> Response:
        return RedirectResponse(page_address(request))

    async def link(socket: WebSocket) -> None:
        await workspace.hub.serve(socket)

    async def live(socket: WebSocket) -> None:
        person = workspace.directory.person(socket.query_params.get("user", ""))
        if person is None or not is_own_page(socket):
            await socket.close(code=4403)
        else:
            await workspace.pages.serve(socket, person.id)

    async def page(_request: Request) -> Response:
        return FileResponse(_STATIC / "index.html", headers=_PAGE_HEADERS)

    return [
        Route("/api/{method}", api, methods=["GET", "POST"]),
        Route("/respond/{token}", respond, methods=["POST"]),
        Route("/files/{file_id}", file, methods=["GET", "POST"]),
        Route("/archives/{channel}/p{message:int}", permalink),
        WebSocketRoute("/link/", link),
        WebSocketRoute("/ui/ws", live),
        *(Route(f"/ui/{name}", _endpoint(workspace, read, 404), methods=["GET"]) for name, read in _READS.items()),
        *(Route(f"/ui/{name}", _endpoint(workspace, deed, 200), methods=["POST"]) for name, deed in _DEEDS.items()),
        Route("/", page),
        Mount("/static", _PageFiles(directory=_STATIC, check_dir=False)),
    ]


def _endpoint(workspace: Workspace, run: PageEndpoint, refused_status: int) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        try:
            given = await read_body(request) if request.method == "POST" else request.query_params
            return JSONResponse(await run(PageRequest(workspace, given)))
        except Refusal as refusal:
            return JSONResponse({"ok": False, "error": str(refusal)}, status_code=refused_status)
        except sqlite3.Error:
            _LOG.exception("the workspace's database refused a write")
            return JSONResponse({"ok": False, "error": _NOT_STORED})

    return endpoint


class _PageFiles(StaticFiles):
    """The page's files, revalidated each time so that an upgrade shows at once."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers.update(_REVALIDATE)
        return response


def listening_socket(port: int = 0) -> socket.socket:
    """Return a socket listening on 127.0.0.1, for `uvicorn.Server.serve(sockets=[...])`; port 0 takes a free one.

    A client that connects before the server runs waits instead of being refused.

    The protocol is named because asyncio switches Nagle's algorithm off only on sockets that name it, and without
    that each answer of two writes costs 40 ms.
    """
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind(("127.0.0.1", port))
    bound.listen(128)
    return bound
