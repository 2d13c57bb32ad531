"""A CalDAV server of its own that can be killed, and a slow way to it."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
from tests.scenarios.person import eventually

_HOP = {"connection", "transfer-encoding", "content-length", "content-encoding", "keep-alive", "server", "date"}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Radicale:
    """A CalDAV server of its own, that can be killed."""

    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    @property
    def calendar(self) -> str:
        return f"http://127.0.0.1:{self.port}/me/calendar/"

    def start(self) -> None:
        self.process = subprocess.Popen(
            [
                sys.executable, "-m", "radicale", "--server-hosts", f"127.0.0.1:{self.port}", "--auth-type", "none",
                "--storage-filesystem-folder", str(self.folder), "--logging-level", "error",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        eventually(self._answers, "Radicale answers")

    def make_calendar(self) -> None:
        httpx.request("MKCALENDAR", self.calendar, trust_env=False, auth=("me", "")).raise_for_status()

    def _answers(self) -> bool:
        try:
            return httpx.get(self.calendar, trust_env=False, auth=("me", "")).status_code < 500
        except httpx.HTTPError:
            return False

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None


@dataclass
class SlowWay:
    """``url`` is where it begins; ``written`` is set when a request that writes comes by."""

    url: str = ""
    written: threading.Event = field(default_factory=threading.Event)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Ignore errors: the client was killed meanwhile."""


@contextmanager
def slow_way(to: str, seconds: float, heard: Callable[[bytes], bytes] = bytes) -> Iterator[SlowWay]:
    """Run a calendar server that passes every request on to the one at ``to``, and takes ``seconds`` for it.

    Half of the time passes before the request takes effect, half before its answer arrives. ``heard`` reads a
    request's body.
    """
    way, target, pause = SlowWay(), httpx.URL(to), threading.Event()

    class ProxyHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            return

        def pass_on(self) -> None:
            if self.command in {"PUT", "DELETE"}:
                way.written.set()
            body = heard(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            pause.wait(seconds / 2)
            headers = {k: v for k, v in self.headers.items() if k.lower() not in _HOP}
            # On a connection of its own: one that all share could be closed while this one is made, and stay open.
            answer = httpx.request(
                self.command, target.join(self.path), content=body, headers=headers, trust_env=False, timeout=30
            )
            pause.wait(seconds / 2)
            self.send_response(answer.status_code)
            for name, value in answer.headers.items():
                if name.lower() not in _HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

    for method in ("GET", "HEAD", "PUT", "DELETE", "REPORT", "PROPFIND", "OPTIONS"):
        setattr(ProxyHandler, f"do_{method}", ProxyHandler.pass_on)
    server = _Server(("127.0.0.1", 0), ProxyHandler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        way.url = str(target.copy_with(port=server.server_address[1]))
        yield way
    finally:
        pause.set()
        server.shutdown()
        thread.join()
        server.server_close()
