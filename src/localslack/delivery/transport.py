"""Transports of payloads to the app: requests to its addresses, or the sockets that it has open."""

import asyncio
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol
from urllib.parse import urlencode

import httpx
from starlette.websockets import WebSocket, WebSocketDisconnect

from localslack.directory import APP_ID
from localslack.live_pages import FrameQueue
from localslack.manifest import RequestUrls
from localslack.store.database import dump

Acknowledgement = Callable[[str, Any], None]
"""Told of each acknowledgement: the envelope id and the payload, which is None when there is none."""


@dataclass(frozen=True)
class Failure:
    """Failed try: the app refused it, or could not be reached.

    `retry` counts the tries before it, `reason` is Slack's word for it; `final` if the app wants no other try.
    """

    envelope_id: str
    retry: int
    reason: str
    final: bool = False


class Transport(Protocol):
    """Sends frames to the app, and reports each acknowledgement and failure. A late answer is neither."""

    on_acknowledged: list[Acknowledgement]
    on_failed: list[Callable[[Failure], None]]
    on_connections_changed: list[Callable[[], None]]
    timeout_reason: str

    @property
    def connected(self) -> bool: ...

    def send(self, frame: dict[str, Any]) -> bool:
        """Send a frame; False when there is nowhere to send it."""
        ...


# --- HTTP mode: payloads as requests to the addresses in the app's manifest, signed as Slack signs them ---


VERIFY_SECONDS = 0.2
"""Pause between two challenges to an app that does not answer yet."""

_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"


def sign(body: bytes, secret: str, at: float | None = None) -> dict[str, str]:
    """Return the headers that prove a body to be from Slack, sent `at` (seconds since 1970), by default now."""
    seconds = int(time.time() if at is None else at)
    digest = hmac.new(secret.encode(), b"v0:%d:%s" % (seconds, body), hashlib.sha256).hexdigest()
    return {"X-Slack-Request-Timestamp": str(seconds), "X-Slack-Signature": f"v0={digest}"}


class HttpTransport:
    """Sends each payload once, as a request of its own; the order in which they arrive is not kept, as in Slack."""

    timeout_reason = "http_timeout"

    def __init__(self, urls: RequestUrls, signing_secret: str, *, ack_seconds: float) -> None:
        self.ack_seconds = ack_seconds
        self.on_acknowledged: list[Acknowledgement] = []
        self.on_failed: list[Callable[[Failure], None]] = []
        self.on_connections_changed: list[Callable[[], None]] = []
        self._urls = urls
        self._secret = signing_secret
        self._verified = False
        self._verifying: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        # Nothing stays open between two requests, so there is nothing to close in the end.
        none_kept = httpx.Limits(max_keepalive_connections=0)
        self._http = httpx.AsyncClient(trust_env=False, verify=False, limits=none_kept)  # noqa: S501  loopback

    @property
    def connected(self) -> bool:
        """True once the app has answered the challenge that is sent to its address for events."""
        return self._verified

    def verify(self) -> None:
        """Send the challenge until the app answers it, as Slack does when an address is entered."""
        if not self._verified and self._verifying is None:
            self._verifying = self._start(self._verify())

    def send(self, frame: dict[str, Any]) -> bool:
        self._start(self._deliver(frame))
        return True

    def close(self) -> None:
        for task in self._tasks:
            if not task.get_loop().is_closed():
                task.cancel()

    async def _verify(self) -> None:
        challenge = secrets.token_urlsafe(24)
        body = dump({"type": "url_verification", "token": "unused", "challenge": challenge}).encode()
        while True:
            try:
                answer = await self._post(self._urls.events, body, _JSON, {})
            except (httpx.HTTPError, TimeoutError):
                answer = None
            if answer is not None and answer.status_code == 200 and challenge in answer.text:
                break
            await asyncio.sleep(VERIFY_SECONDS)
        self._verified = True
        for listener in self.on_connections_changed:
            listener()

    async def _deliver(self, frame: Mapping[str, Any]) -> None:
        envelope_id, retry = frame["envelope_id"], frame.get("retry_attempt", 0)
        url, body, kind = self._encode(frame)
        reason = frame.get("retry_reason") or self.timeout_reason
        headers = {"X-Slack-Retry-Num": str(retry), "X-Slack-Retry-Reason": reason} if retry else {}
        try:
            answer = await self._post(url, body, kind, headers)
        except TimeoutError:
            return
        except httpx.HTTPError:
            self._fail(Failure(envelope_id, retry, "connection_failed"))
            return
        if answer.is_success:
            for listener in self.on_acknowledged:
                listener(envelope_id, _read_answer(answer))
        else:
            final = answer.headers.get("x-slack-no-retry") == "1"
            self._fail(Failure(envelope_id, retry, "http_error", final))

    def _encode(self, frame: Mapping[str, Any]) -> tuple[str, bytes, str]:
        """Return the address, the body and its type, which differ by the kind of payload."""
        payload = frame["payload"]
        match frame["type"]:
            case "events_api":
                return self._urls.events, dump(payload).encode(), _JSON
            case "slash_commands":
                return self._urls.commands[payload["command"]], urlencode(payload).encode(), _FORM
            case _:
                suggests = payload.get("type") == "block_suggestion"
                url = self._urls.options if suggests else self._urls.interactivity
                return url, urlencode({"payload": dump(payload)}).encode(), _FORM

    async def _post(self, url: str, body: bytes, kind: str, headers: Mapping[str, str]) -> httpx.Response:
        signed = sign(body, self._secret)
        async with asyncio.timeout(self.ack_seconds):
            return await self._http.post(
                url, content=body, headers={"Content-Type": kind, **signed, **headers}, timeout=None
            )

    def _fail(self, failure: Failure) -> None:
        for listener in self.on_failed:
            listener(failure)

    def _start(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


def _read_answer(answer: httpx.Response) -> Any:
    """Return what the app acknowledged with; a bare text is that of a message."""
    if not answer.text:
        return None
    if answer.headers.get("content-type", "").startswith(_JSON):
        return json.loads(answer.text)
    return {"text": answer.text}


# --- The sockets an app has open: tickets, hello, round-robin sending, acknowledgements on any of them ---


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
