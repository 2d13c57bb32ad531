"""Radicale in this process: the calendar store when no CalDAV server is configured.

Radicale's WSGI application runs in its own thread behind a loopback socket, so any CalDAV program on the machine can
use the same calendar. Each change is on disk (fsync, then rename) before it is answered, so killing the process loses
nothing.
"""

from __future__ import annotations

import logging
import re
import socket
import socketserver
import subprocess
import sys
import threading
import time
from base64 import b64decode
from collections.abc import Iterable
from contextlib import suppress
from hmac import compare_digest
from io import BytesIO
from pathlib import Path
from typing import Any
from wsgiref.simple_server import WSGIServer
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from radicale import config as radicale_config
from radicale.app import Application
from radicale.server import RequestHandler

from caldav_mcp.limits import (
    MAX_BODY_BYTES,
    MAX_PUT_PROCESS_SECONDS,
    MAX_PUT_SECONDS,
    MAX_REQUEST_SECONDS,
    MAX_UNFINISHED,
)
from caldav_mcp.recurrence import is_plain
from caldav_mcp.remembering_storage import RememberingStorage

USER = "me"
_LOG = logging.getLogger(__name__)
_OWN_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.ASCII)
_REALM = 'Basic realm="fateforger calendar", charset="UTF-8"'
_WRONG_LOGIN = (
    b"This calendar needs the user name and password that fateforger up printed. fateforger doctor shows them again."
)
_HEADERS = [
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"),
]
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

    Its one user logs in with the `password`. Other machines and other web pages cannot reach it.
    """

    def __init__(self, folder: Path, port: int = 0, *, password: str) -> None:
        self._server = _Server(("127.0.0.1", port))
        self._server.set_app(_own_machine_only(_with_login(build_application(folder), password)))
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
    """Refuse requests of other web pages: those with another `Origin`, or a `Host` that is not this machine.

    Every answer forbids browsers to show it in a frame.
    """

    def respond(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        def start(status: str, headers: list[tuple[str, str]], *more: Any) -> Any:
            return start_response(status, [*headers, *_HEADERS], *more)

        host = environ.get("HTTP_HOST", "").lower()
        is_own = _OWN_HOST.fullmatch(host) and environ.get("HTTP_ORIGIN", f"http://{host}").lower() == f"http://{host}"
        return (
            app(environ, start)
            if is_own
            else _refuse(start, "403 Forbidden", b"This calendar only answers to its own address.")
        )

    return respond


def _with_login(app: WSGIApplication, password: str) -> WSGIApplication:
    """Check the user name and the password before the body of a request is read."""
    login = f"{USER}:{password}".encode()

    def respond(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        scheme, _, given = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
        try:
            is_right = scheme.lower() == "basic" and compare_digest(b64decode(given), login)
        except ValueError:  # not Base64
            is_right = False
        if is_right:
            return app(environ, start_response)
        return _refuse(start_response, "401 Unauthorized", _WRONG_LOGIN, ("WWW-Authenticate", _REALM))

    return respond


def _refuse(start_response: StartResponse, status: str, body: bytes, *more: tuple[str, str]) -> Iterable[bytes]:
    headers = [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body))), *more]
    start_response(status, headers)
    return [body]


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
    server: _Server

    def parse_request(self) -> bool:
        is_request = super().parse_request()
        self.server.finish_arrival(self.connection)
        return is_request

    def log_error(self, format_: str, *args: Any) -> None:
        # Any program can connect and send nonsense; that is not an error of this one.
        _LOG.info(format_, *args)


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    # A silent connection must not keep the program from ending: its thread is a daemon, waited for only a while.
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int]) -> None:
        self._under_way = 0
        self._changed = threading.Condition()
        self._unfinished: dict[socket.socket, float] = {}
        """Start times of the connections whose request has not arrived yet, oldest first."""
        super().__init__(address, _Handler)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._under_way += 1
        try:
            super().process_request_thread(request, client_address)
        finally:
            with self._changed:
                self._unfinished.pop(request, None)
                self._under_way -= 1
                self._changed.notify_all()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._unfinished[request] = time.monotonic()
            if len(self._unfinished) > MAX_UNFINISHED:
                self._cut(next(iter(self._unfinished)))
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """Close connections whose request is late; the base class calls this a few times a second."""
        with self._changed:
            latest = time.monotonic() - MAX_REQUEST_SECONDS
            for late in [each for each, began in self._unfinished.items() if began < latest]:
                self._cut(late)

    def finish_arrival(self, request: socket.socket) -> None:
        with self._changed:
            self._unfinished.pop(request, None)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if isinstance(sys.exception(), OSError):
            _LOG.info("a connection to the calendar ended in the middle of a request")
        else:
            super().handle_error(request, client_address)

    def _cut(self, request: socket.socket) -> None:
        """Stop reading from a connection; its thread then closes it."""
        del self._unfinished[request]
        with suppress(OSError):  # the other side has gone
            request.shutdown(socket.SHUT_RDWR)

    def wait_for_requests(self, seconds: float) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._under_way == 0, seconds)

    def server_bind(self) -> None:
        # The base class looks up its own host name, which can take seconds without a network.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", self.server_address[1]
        self.setup_environ()
