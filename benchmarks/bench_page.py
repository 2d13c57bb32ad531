"""Measure the time that a person waits at the page: for the first reply to ``/timebox``, and for the reply to a button.

The peer, measured in the same run on the same machine and the same local workspace: a bare Bolt app that posts one
message on a slash command and updates it on a button. Times are from the request leaving the page until the changed
message arrives on the page's live socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from tests.scenarios.person import Person, controls, label
from tests.scenarios.program import Program
from websockets.asyncio.client import connect

from localslack.config import WorkspaceConfig
from localslack.server import create_workspace

ROUNDS = 40
Times = dict[str, list[float]]
"""Milliseconds, by what was measured."""


@dataclass
class Page:
    """A page that only measures: the HTTP API and the live socket."""

    base: str
    user: str
    channel: str
    http: httpx.AsyncClient
    frames: asyncio.Queue[dict[str, Any]]

    async def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        while True:
            frame = await asyncio.wait_for(self.frames.get(), 20)
            if frame["type"] == "message" and wanted(frame["message"]):
                message: dict[str, Any] = frame["message"]
                return message

    async def measure_time(
        self, act: Callable[[], Awaitable[Any]], wanted: Callable[[dict[str, Any]], bool]
    ) -> tuple[float, dict[str, Any]]:
        """Return the milliseconds from an action until the wanted message arrives."""
        while not self.frames.empty():
            self.frames.get_nowait()
        began = time.perf_counter()
        acting = asyncio.ensure_future(act())
        message = await self.until(wanted)
        took = (time.perf_counter() - began) * 1000
        await acting
        return took, message

    async def slash(self, command: str) -> None:
        body = {"user": self.user, "channel": self.channel, "command": command, "text": ""}
        answer = await self.http.post(f"{self.base}/ui/slash", json=body)
        assert answer.json()["ok"], answer.text

    async def press(self, message: dict[str, Any], wanted: str) -> None:
        block_id, element = next((b, e) for b, e in controls(message["blocks"]) if label(e).startswith(wanted))
        action = {k: element[k] for k in ("type", "action_id", "value") if k in element} | {"block_id": block_id}
        surface = {"type": "message", "channel": self.channel, "ts": message["ts"]}
        body = {"user": self.user, "surface": surface, "action": action, "state": {}}
        answer = await self.http.post(f"{self.base}/ui/action", json=body)
        assert answer.json()["ok"], answer.text


@contextlib.asynccontextmanager
async def open_page(address: str) -> AsyncIterator[Page]:
    person = await asyncio.to_thread(Person, address)
    await asyncio.to_thread(person.wait_connected)
    frames: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    cookies = dict(person.http.cookies)
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
    live = f"{person.base.replace('http', 'ws', 1)}/ui/ws?user={person.user}"
    async with (
        httpx.AsyncClient(timeout=20, trust_env=False, cookies=cookies) as http,
        connect(live, proxy=None, additional_headers=headers) as socket,
    ):

        async def listen() -> None:
            async for text in socket:
                frames.put_nowait(json.loads(text))

        listening = asyncio.ensure_future(listen())
        try:
            yield Page(person.base, person.user, person.channel, http, frames)
        finally:
            listening.cancel()


def has(message: dict[str, Any], wanted: str) -> bool:
    return any(label(e).startswith(wanted) for _, e in controls(message.get("blocks") or []))


Press = tuple[str, str]
"""A button, and the control that the answer has."""


async def measure(
    page: Page, command: str, first: str, opening: tuple[Press, ...], turns: tuple[Press, Press]
) -> Times:
    """Measure first replies to a slash command; then, after an opening, two buttons pressed in turn."""
    replies: list[float] = []
    message: dict[str, Any] = {}
    for _ in range(max(10, ROUNDS // 4)):
        took, message = await page.measure_time(lambda: page.slash(command), lambda m: has(m, first))
        replies.append(took)
    pressed: list[float] = []
    for number, (button, answer) in enumerate((*opening, *(turns * (ROUNDS // 2)))):
        took, message = await page.measure_time(
            lambda m=message, b=button: page.press(m, b),  # type: ignore[misc]  # early binding on purpose
            lambda m, c=answer: has(m, c),  # type: ignore[misc]  # early binding on purpose
        )
        if number >= len(opening):
            pressed.append(took)
    return {"first_reply": replies, "button": pressed}


@contextlib.asynccontextmanager
async def bare_bolt(folder: Path) -> AsyncIterator[str]:
    """Run the peer: the same workspace, and an app that only answers."""
    from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
    from slack_bolt.async_app import AsyncApp
    from slack_sdk.web.async_client import AsyncWebClient

    server = uvicorn.Server(uvicorn.Config(lambda *_: None, host="127.0.0.1", port=0, log_level="error"))
    sock = server.config.bind_socket()
    base = f"http://127.0.0.1:{sock.getsockname()[1]}"
    manifest = {
        "display_information": {"name": "Echo"},
        "features": {
            "bot_user": {"display_name": "echo"},
            "slash_commands": [{"command": "/echo", "description": "x"}],
        },
        "oauth_config": {"scopes": {"bot": ["chat:write", "commands", "im:history"]}},
        "settings": {"interactivity": {"is_enabled": True}, "socket_mode_enabled": True},
    }
    config = WorkspaceConfig(folder / "bare.sqlite", base, "xoxb-bare", "xapp-bare", manifest)
    workspace = create_workspace(config, now=lambda: datetime.now(UTC))
    server.config.app = workspace.app
    server.config.loaded = False
    serving = asyncio.ensure_future(server.serve(sockets=[sock]))
    app = AsyncApp(client=AsyncWebClient(token="xoxb-bare", base_url=f"{base}/api/"))

    def blocks(button: str) -> list[dict[str, Any]]:
        text = {"type": "plain_text", "text": button}
        return [
            {"type": "section", "text": {"type": "mrkdwn", "text": "echo"}},
            {"type": "actions", "elements": [{"type": "button", "action_id": button, "text": text, "value": button}]},
        ]

    @app.command("/echo")
    async def slash(ack: Any, command: Any, client: Any) -> None:
        await ack()
        await client.chat_postMessage(channel=command["channel_id"], text="echo", blocks=blocks("Ping"))

    async def flip(ack: Any, body: Any, client: Any, action: Any) -> None:
        await ack()
        other = "Pong" if action["action_id"] == "Ping" else "Ping"
        await client.chat_update(
            channel=body["channel"]["id"], ts=body["message"]["ts"], text="echo", blocks=blocks(other)
        )

    app.action("Ping")(flip)
    app.action("Pong")(flip)
    handler = AsyncSocketModeHandler(app, "xapp-bare")
    while not server.started:  # noqa: ASYNC110  uvicorn offers no event to wait for
        await asyncio.sleep(0.01)
    await handler.connect_async()  # type: ignore[no-untyped-call]  # Bolt has no annotation here
    try:
        yield base
    finally:
        await handler.close_async()  # type: ignore[no-untyped-call]  # Bolt has no annotation here
        server.should_exit = True
        await serving
        workspace.close()


def quantile(values: list[float], share: float) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[round(share * 100) - 1]


async def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with bare_bolt(Path(folder)) as base, open_page(base) as page:
            peer = await measure(page, "/echo", "Ping", (), (("Ping", "Pong"), ("Pong", "Ping")))
        program = Program(Path(folder) / "data").start()
        try:
            async with open_page(program.address) as page:
                ours = await measure(
                    page,
                    "/timebox",
                    "Plan this day",
                    (("Plan this day", "Continue"),),
                    (("Continue", "Add tasks"), ("Back", "Edit hours")),
                )
        finally:
            program.stop()
    print(f"{'':14}{'p50':>9}{'p95':>9}   bare Bolt p50{'p95':>9}   ratio p50")
    result: dict[str, Any] = {}
    for name, values in ours.items():
        row = {
            "p50_ms": quantile(values, 0.5),
            "p95_ms": quantile(values, 0.95),
            "peer_p50_ms": quantile(peer[name], 0.5),
            "peer_p95_ms": quantile(peer[name], 0.95),
        }
        row["ratio_p50"] = row["p50_ms"] / row["peer_p50_ms"]
        result[name] = row
        print(
            f"{name:14}{row['p50_ms']:8.1f}ms{row['p95_ms']:7.1f}ms{row['peer_p50_ms']:14.1f}ms"
            f"{row['peer_p95_ms']:7.1f}ms{row['ratio_p50']:10.1f}"
        )
    json.dump({"page": result}, sys.stdout)
    print()


if __name__ == "__main__":
    asyncio.run(run())
