"""Radicale in this process: the calendar store when no CalDAV server is configured.

Radicale's WSGI application runs in its own thread behind a loopback socket, so any CalDAV program on the machine can use
the same calendar. Each change is on disk (fsync, then rename) before it is answered, so killing the process loses nothing.
"""

from __future__ import annotations

import logging
import socketserver
import threading
from pathlib import Path
from wsgiref.simple_server import WSGIServer

from radicale import Application
from radicale import config as radicale_config
from radicale.server import RequestHandler

USER = "me"
_PATH = f"/{USER}/calendar/"


class EmbeddedRadicale:
    """A running CalDAV server on 127.0.0.1 that keeps its files under one folder.

    Nobody is asked for a password: the socket is not reachable from other machines.
    """

    def __init__(self, folder: Path, port: int = 0) -> None:
        # Its remarks about missing passwords do not apply here; errors still come through.
        logging.getLogger("radicale").setLevel(logging.ERROR)
        settings = radicale_config.load()
        settings.update(
            {
                "auth": {"type": "none"},
                "web": {"type": "none"},
                "storage": {"filesystem_folder": str(folder)},
                "server": {"delay_on_error": "0"},
            },
            "fateforger",
        )
        self._server = _Server(("127.0.0.1", port), RequestHandler)
        self._server.set_app(Application(settings))
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="radicale", daemon=True
        )
        self._thread.start()

    @property
    def calendar_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}{_PATH}"

    def stop(self) -> None:
        """Stop answering; returns when the requests under way are done."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(socketserver.ThreadingMixIn, WSGIServer):
    daemon_threads = False
    block_on_close = True
    request_queue_size = 64

    def server_bind(self) -> None:
        # The base class looks up its own host name, which can take seconds without a network.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "localhost", self.server_address[1]
        self.setup_environ()
