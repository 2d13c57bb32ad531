"""A workspace for tests, and callers for it: the Web API as an app uses it, the page's API as the page does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

import localslack as package
from localslack import DEFAULT_USERS, Workspace, WorkspaceConfig, create_workspace
from localslack.directory import GENERAL_ID, direct_channel_id

Json = dict[str, Any]

BOT_TOKEN = "xoxb-test"
APP_TOKEN = "xapp-test"
SECRET = "signed in tests"
URL = "http://127.0.0.1:9"
MANIFEST: Json = json.loads((Path(package.__file__).parent / "sample_manifest.json").read_text(encoding="utf-8"))

ALEX, ROBIN = DEFAULT_USERS
DM = direct_channel_id(ALEX)
ROBINS_DM = direct_channel_id(ROBIN)
GENERAL = GENERAL_ID


class Clock:
    """A clock that does not move by itself."""

    def __init__(self) -> None:
        self.at = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def forward(self, **amount: float) -> None:
        self.at += timedelta(**amount)


def settings(
    folder: Path, url: str = URL, manifest: Mapping[str, Any] = MANIFEST, *, agents: bool = True
) -> WorkspaceConfig:
    return WorkspaceConfig(
        database=folder / "workspace.sqlite",
        public_url=url,
        bot_token=BOT_TOKEN,
        app_token=APP_TOKEN,
        manifest=manifest,
        signing_secret=SECRET,
        agents=agents,
    )


class Api:
    """A workspace without a network: requests go straight into its ASGI application."""

    def __init__(self, folder: Path, manifest: Mapping[str, Any] = MANIFEST, *, agents: bool = True) -> None:
        self.clock = Clock()
        self.config = settings(folder, manifest=manifest, agents=agents)
        self.workspace = create_workspace(self.config, now=self.clock)
        self.http = httpx.AsyncClient(transport=httpx.ASGITransport(self.workspace.app), base_url=URL)

    def reopen(self) -> Workspace:
        """Reopen the same file in a new process, as far as the workspace can tell."""
        self.workspace.close()
        self.workspace = create_workspace(self.config, now=self.clock)
        self.http = httpx.AsyncClient(transport=httpx.ASGITransport(self.workspace.app), base_url=URL)
        return self.workspace

    async def close(self) -> None:
        await self.http.aclose()
        self.workspace.close()

    async def call(self, method: str, *, token: str | None = BOT_TOKEN, **arguments: Any) -> Json:
        """Make one Web API call with a JSON body."""
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        answer = await self.http.post(f"/api/{method}", json=arguments, headers=headers)
        assert answer.status_code == 200
        return dict(answer.json())

    async def say(self, text: str, channel: str = DM, user: str = ALEX.id, thread_ts: str | None = None) -> str:
        """Post as a person; returns the ts."""
        answer = await self.act("message", user=user, channel=channel, text=text, thread_ts=thread_ts)
        assert answer["ok"] is True
        return str(answer["message"]["ts"])

    async def post(self, text: str = "hello", channel: str = DM, **more: Any) -> str:
        """Post as the bot; returns the ts."""
        answer = await self.call("chat.postMessage", channel=channel, text=text, **more)
        assert answer["ok"] is True, answer
        return str(answer["ts"])

    async def act(self, deed: str, *, user: str = ALEX.id, **given: Any) -> Json:
        """Do what a person can do at the page."""
        answer = await self.http.post(f"/ui/{deed}", json={"user": user, **given})
        assert answer.status_code == 200
        return dict(answer.json())

    async def see(self, what: str, *, user: str = ALEX.id, **query: str) -> Json:
        """Read data as the page does."""
        return dict((await self.http.get(f"/ui/{what}", params={"user": user, **query})).json())

    async def messages(self, channel: str = DM, user: str = ALEX.id, **query: str) -> list[Json]:
        return list((await self.see("messages", user=user, channel=channel, **query))["messages"])


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def section(text: str = "hello", **more: Any) -> Json:
    return {"type": "section", "text": {"type": "mrkdwn", "text": text}, **more}


def button(action_id: str = "go", **more: Any) -> Json:
    return {"type": "button", "action_id": action_id, "text": plain("Go"), **more}


def actions(*elements: Json, **more: Any) -> Json:
    return {"type": "actions", "elements": list(elements), **more}


def text_input(block_id: str = "title", action_id: str = "value", *, element: Json | None = None, **more: Any) -> Json:
    field = {"type": "plain_text_input", "action_id": action_id} if element is None else element
    return {"type": "input", "block_id": block_id, "label": plain("Title"), "element": field, **more}


def modal(*blocks: Json, **more: Any) -> Json:
    return {
        "type": "modal",
        "title": plain("A form"),
        "submit": plain("Save"),
        "callback_id": "form",
        "blocks": list(blocks) or [text_input()],
        **more,
    }


def home(*blocks: Json) -> Json:
    return {"type": "home", "blocks": list(blocks) or [section("Today")]}


def option(value: str) -> Json:
    return {"text": plain(value.title()), "value": value}
