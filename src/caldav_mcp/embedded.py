"""Radicale in this process: the calendar store when no CalDAV server is configured.

Radicale's WSGI application runs in its own thread behind a loopback socket, so any CalDAV program on the machine can
use the same calendar. Each change is on disk (fsync, then rename) before it is answered, so killing the process loses
nothing.
"""

from __future__ import annotations

import logging
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from wsgiref.simple_server import WSGIServer
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from radicale import config as radicale_config
from radicale.app import Application
from radicale.server import RequestHandler

from caldav_mcp.limits import MAX_BODY_BYTES, MAX_PUT_PROCESS_SECONDS, MAX_PUT_SECONDS
from caldav_mcp.recurrence import is_plain
from caldav_mcp.remembering_storage import RememberingStorage

USER = "me"
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_PATH = f"/{USER}/calendar/"
_CHECKS = "caldav_mcp.radicale_checks"
_TOO_OFTEN = (
    b'<?xml version="1.0" encoding="utf-8"?>'
    b'<D:error xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><C:max-instances/><D:responsedescription>'
    b"This event repeats in a way that takes too long to work out. Please choose a simpler rule."
    b"</D:responsedescription></D:error>"
)
"""The condition of RFC 4791, 5.3.2.1, in the words of which programs tell it."""


class EmbeddedRadicale:
    """A running CalDAV server on 127.0.0.1 that keeps its files under one folder.

    No password is needed: the socket is not reachable from other machines, nor for other web pages.
    """

    def __init__(self, folder: Path, port: int = 0) -> None:
        self._server = _Server(("127.0.0.1", port))
        self._server.set_app(_own_machine_only(build_application(folder)))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="radicale", daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def calendar_url(self) -> str:
        return f"http://127.0.0.1:{self.port}{_PATH}"

    def stop(self) -> None:
        """Stop answering; returns when the requests under way are done, or after 3 s."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._server.wait_for_requests(3.0)


def build_application(folder: Path, *, durable: bool = True) -> WSGIApplication:
    """Return Radicale's application over the files in a folder. It asks for no password.

    If it need not be `durable`, a change may be lost when the machine stops.
    """
    # Its remarks about missing passwords do not apply here; errors still come through.
    logging.getLogger("radicale").setLevel(logging.ERROR)
    settings = radicale_config.load()
    settings.update(
        {
            "auth": {"type": "none"},
            "web": {"type": "none"},
            "storage": {
                "filesystem_folder": str(folder),
                "type": RememberingStorage,
                "_filesystem_fsync": str(durable),
            },
            "server": {"delay_on_error": "0", "max_content_length": str(MAX_BODY_BYTES)},
        },
        "fateforger",
        privileged=True,  # for the option with an underscore
    )
    return _in_good_time(Application(settings))


def _own_machine_only(app: WSGIApplication) -> WSGIApplication:
    """Refuse what a foreign web page sends here: another `Origin`, or a `Host` that is not this machine."""

    def respond(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        sent = [f"//{environ.get('HTTP_HOST', '')}", environ.get("HTTP_ORIGIN", "//localhost")]
        if all(urlsplit(address).hostname in _LOOPBACK for address in sent):
            return app(environ, start_response)
        start_response("403 Forbidden", [("Content-Type", "text/plain"), ("Content-Length", "0")])
        return []

    return respond


def _in_good_time(app: Application) -> WSGIApplication:
    """Refuse an object whose recurrence Radicale could not compute in good time, before Radicale tries."""

    def respond(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        length = environ.get("CONTENT_LENGTH") or "0"
        if environ["REQUEST_METHOD"] != "PUT" or not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            return app(environ, start_response)
        body = environ["wsgi.input"].read(int(length))
        environ["wsgi.input"] = BytesIO(body)
        if is_plain(body.decode("utf-8", "replace")) or _is_computed_in_time(body):
            return app(environ, start_response)
        headers = [("Content-Type", "application/xml; charset=utf-8"), ("Content-Length", str(len(_TOO_OFTEN)))]
        start_response("403 Forbidden", headers)
        return [_TOO_OFTEN]

    return respond


def _is_computed_in_time(body: bytes) -> bool:
    """Let Radicale's own checks of an object run in another process first, which can be stopped."""
    command = [sys.executable, "-m", _CHECKS, str(MAX_PUT_SECONDS)]
    try:
        done = subprocess.run(command, input=body, capture_output=True, timeout=MAX_PUT_PROCESS_SECONDS, check=False)  # noqa: S603  ours
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


class _Handler(RequestHandler):
    timeout = 30
    """Seconds that a connection may stay silent."""


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    # A silent connection must not keep the program from ending: its thread is a daemon, waited for only a while.
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int]) -> None:
        self._under_way = 0
        self._changed = threading.Condition()
        super().__init__(address, _Handler)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._under_way += 1
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def wait_for_requests(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._under_way == 0, seconds)

    def server_bind(self) -> None:
        # The base class looks up its own host name, which can take seconds without a network.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", self.server_address[1]
        self.setup_environ()
