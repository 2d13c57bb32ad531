"""A local workspace and the chat side of the program in this process, and people who use the page's own API."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from starlette.applications import Starlette
from tests.fakes.asgi_server import bind_socket, serve_app
from tests.scenarios.radicale import free_port
from tests.scenarios.scripted_coordinator import ScriptedCoordinator

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.store.store import Store, open_store
from fateforger.app.slack import EventsEndpoint, Services, SlackApp, run_slack_app
from fateforger.conversation.agent_proposals import Approvals
from fateforger.conversation.memory_service import MemoryService
from fateforger.ports.jobs import Jobs
from fateforger.session.store import Outbox
from fateforger.slack.client import SlackLogin
from fateforger.slack.manifest import app_manifest
from fateforger.slack.poster import Render
from fateforger.slack.progress import DEFAULT_TIMING, Timing
from fateforger.text import SOURCE
from fateforger.values import replace
from fateforger.workers.lanes import FOREVER, LANES, SENDING, TURN, Backoff, LanePolicy, Row
from fateforger.workers.people import LanguageService, Ownership, PersonalData
from fateforger.workers.supervisor import Supervisor
from localslack import Workspace, WorkspaceConfig, create_workspace
from localslack.server import listening_socket

BOT_TOKEN, APP_TOKEN, SECRET = "xoxb-scenario", "xapp-scenario", "signed in scenarios"
IN_HTTP_MODE = os.environ.get("SCENARIO_SLACK_MODE") == "http"
DEADLINE = 60.0

Json = dict[str, Any]
T = TypeVar("T")

FAST = LanePolicy(workers=4, tries=3, lease_seconds=3.0, poll_seconds=0.05, backoff=Backoff(0.01, 0.05))
_HURRIED: dict[str, Row] = {
    TURN.name: replace(TURN, policy=FAST),
    SENDING.name: replace(SENDING, policy=replace(FAST, workers=1, tries=FOREVER, grace_seconds=12.0)),
}


async def eventually(look: Callable[[], Awaitable[T | None]], what: str, deadline: float = DEADLINE) -> T:
    """Return the first result of ``look`` that is true."""
    ends = time.monotonic() + deadline
    while True:
        seen = await look()
        if seen:
            return seen
        assert time.monotonic() < ends, f"never seen: {what}"
        await asyncio.sleep(0.005)  # between two looks at the condition


@asynccontextmanager
async def workspace_at(
    folder: Path, manifest: Mapping[str, Any] | None = None, *, agents: bool = True, **settings: Any
) -> AsyncIterator[Workspace]:
    """Serve a workspace over HTTP until the block ends.

    With ``SCENARIO_SLACK_MODE=http`` it calls the chat side, unless the manifest says otherwise.
    """
    listening = listening_socket()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    if manifest is None and IN_HTTP_MODE:
        manifest = app_manifest(f"http://127.0.0.1:{free_port()}")
    config = WorkspaceConfig(
        database=folder / "workspace.sqlite",
        public_url=url,
        bot_token=BOT_TOKEN,
        app_token=APP_TOKEN,
        signing_secret=SECRET,
        manifest=manifest or app_manifest(),
        agents=agents,
        **settings,
    )
    workspace = create_workspace(config, now=lambda: datetime.now(UTC))
    try:
        async with serve_app(workspace.app, listener=listening, websockets=True):
            try:
                yield workspace
            finally:
                workspace.hub.drop()
    finally:
        workspace.close()


async def _true(value: bool) -> bool:  # noqa: FBT001  a condition to wait for
    return value


def login(workspace: Workspace, **changes: Any) -> SlackLogin:
    way = {"app_token": APP_TOKEN} if workspace.http is None else {"signing_secret": SECRET}
    given = {"bot_token": BOT_TOKEN, "base_url": f"{workspace.config.public_url}/api/", **way}
    return SlackLogin(**(given | changes))


@asynccontextmanager
async def answering(workspace: Workspace, room: SlackApp) -> AsyncIterator[None]:
    """Let a chat side answer at the address that the workspace calls in HTTP mode, along with others that do."""
    urls = workspace.directory.app.request_urls
    if urls is None:
        yield
        return
    endpoint = EventsEndpoint()
    endpoint.slack = room
    listener = bind_socket(urlsplit(urls.events).port or 0, shared=True)
    app = Starlette(routes=endpoint.routes(login(workspace)))
    async with serve_app(app, listener=listener, lifespan=False):
        yield


@dataclass
class Chat:
    """A running chat side with its workspace and its store."""

    workspace: Workspace
    store: Store
    coordinator: ScriptedCoordinator
    room: SlackApp


def build_services(
    store: Store, coordinator: ScriptedCoordinator, *, jobs: Jobs, outbox: Outbox, render: Render | None = None
) -> Services:
    """Build the services of the chat side over one store and a scripted coordinator."""
    clock = SystemClock()
    approvals = Approvals(
        proposals=store.proposals,
        sessions=store.sessions,
        memory=MemoryService(store.constraints, jobs, clock),
        jobs=jobs,
        clock=clock,
        carry_out=coordinator.handle,
        said=_say_nothing,
        tz="Etc/UTC",
    )
    owners = Ownership(store.owners, clock, named=None, page=(), real_slack=False)
    return Services(
        coordinator=coordinator,
        jobs=jobs,
        outbox=outbox,
        messages=store.messages,
        sessions=store.sessions,
        feedbacks=store.feedbacks,
        homes=store.homes,
        approvals=approvals,
        personal_data=PersonalData(store.people, None, clock, owners),
        languages=LanguageService(store.languages, SOURCE),
        zones=store.zones,
        clock=clock,
        render=render,
    )


async def _say_nothing(_command_id: str) -> tuple[str, ...]:
    return ()


def build_supervisor(room: SlackApp, services: Services, replica: str, but: Collection[Row] = ()) -> Supervisor:
    """Return the chat side's part of the background work, with short delays, without the lanes ``but``."""
    left = {row.name for row in but}
    handlers = [handler for handler in room.handlers if handler.name not in left]
    names = {handler.name for handler in handlers}
    lanes = [_HURRIED.get(row.name, row) for row in LANES if row.name in names]
    return Supervisor(services.jobs, handlers, owner=replica, clock=services.clock, lanes=lanes)


@asynccontextmanager
async def chat_at(
    workspace: Workspace,
    where: Path | str,
    *,
    jobs: Callable[[Store], Jobs] = lambda store: store.jobs,
    outbox: Callable[[Store], Outbox] = lambda store: store.outbox,
    prepare: Callable[[ScriptedCoordinator], None] = lambda _coordinator: None,
    replica: str = "one",
    timing: Timing | None = None,
    render: Render | None = None,
    personal_data: Callable[[Store], PersonalData] | None = None,
    changes: Mapping[str, Any] | None = None,
    but: Collection[Row] = (),
) -> AsyncIterator[Chat]:
    """Run the chat side over a database, or the one in a folder, connected until the block ends."""
    store = open_store(where if isinstance(where, str) else where / "state.sqlite")
    coordinator = ScriptedCoordinator(store.sessions)
    prepare(coordinator)
    try:
        services = build_services(store, coordinator, jobs=jobs(store), outbox=outbox(store), render=render)
        if personal_data is not None:
            services = replace(services, personal_data=personal_data(store))
        room = SlackApp(login(workspace, **(changes or {})), services, timing=timing or DEFAULT_TIMING)
        async with answering(workspace, room), run_slack_app(room, build_supervisor(room, services, replica, but)):
            if room.mode == "http" and workspace.http is not None:
                await eventually(lambda: _true(workspace.transport.connected), "the workspace reaches the chat side")
            yield Chat(workspace, store, coordinator, room)
    finally:
        await store.aclose()


@dataclass
class Person:
    """A person at the page of a workspace."""

    workspace: Workspace
    user: str = "U0000ALEX"
    channel: str = ""
    http: httpx.AsyncClient = field(default_factory=lambda: httpx.AsyncClient(timeout=60, trust_env=False))

    def __post_init__(self) -> None:
        self.channel = self.channel or f"D{self.user[1:]}"

    # --- looking

    async def get(self, path: str, **query: str) -> Json:
        answer = await self.http.get(self.workspace.config.public_url + path, params={"user": self.user, **query})
        answer.raise_for_status()
        found: Json = answer.json()
        return found

    async def post(self, path: str, **body: Any) -> Json:
        answer = await self.http.post(self.workspace.config.public_url + path, json={"user": self.user, **body})
        answer.raise_for_status()
        found: Json = answer.json()
        return found

    async def roots(self) -> list[Json]:
        found: list[Json] = (await self.get("/ui/messages", channel=self.channel))["messages"]
        return found

    async def thread(self, ts: str) -> list[Json]:
        found: list[Json] = (await self.get("/ui/messages", channel=self.channel, thread_ts=ts))["messages"]
        return found

    async def modal(self) -> Json | None:
        stack: list[Json] = (await self.get("/ui/modals"))["stack"]
        return stack[-1] if stack else None

    async def sees(self, ts: str, text: str) -> Json:
        """Return the first message of a thread that contains a text."""

        async def look() -> Json | None:
            return next((m for m in await self.thread(ts) if text in str(m)), None)

        return await eventually(look, f"“{text}” in {ts}")

    # --- acting

    async def slash(self, text: str = "") -> Json:
        return await self.post("/ui/slash", channel=self.channel, command="/timebox", text=text)

    async def start(self) -> str:
        """Start a plan and return its thread."""
        before = {message["ts"] for message in await self.roots()}
        began = await self.slash()
        assert began["ok"], began

        async def look() -> str | None:
            new = (m["ts"] for m in await self.roots() if m["ts"] not in before and "steps" in m["text"])
            return next(new, None)

        return await eventually(look, "the root of a plan")

    async def say(self, text: str, thread_ts: str | None = None) -> Json:
        return await self.post("/ui/message", channel=self.channel, text=text, thread_ts=thread_ts)

    async def use(self, message: Json, label: str, **chosen: Any) -> Json:
        """Use the control with a label (or of a type) on a message."""
        block_id, element = control(message["blocks"], label)
        surface = {"type": "message", "channel": self.channel, "ts": message["ts"]}
        action = {"type": element["type"], "action_id": element["action_id"], "block_id": block_id, **chosen}
        return await self.post("/ui/action", surface=surface, action=action, state={})

    async def use_in(self, view: Json, label: str, state: Json) -> Json:
        block_id, element = control(view["blocks"], label)
        action = {"type": element["type"], "action_id": element["action_id"], "block_id": block_id}
        surface = {"type": "view", "view_id": view["id"]}
        answer = await self.post("/ui/action", surface=surface, action=action, state=state)
        assert answer["ok"], answer
        return answer

    async def submit(self, view: Json, state: Json) -> Json:
        return await self.post("/ui/view_submit", view_id=view["id"], state=state)

    async def close(self, view: Json) -> Json:
        return await self.post("/ui/view_close", view_id=view["id"])


def control(blocks: list[Json], label: str) -> tuple[str, Json]:
    """Return the block id and the element whose text, or type, is ``label``."""
    for block in blocks:
        for element in [*block.get("elements", []), block.get("accessory"), block.get("element")]:
            if isinstance(element, dict) and label in {
                element["type"],
                element.get("text", {}).get("text") if isinstance(element.get("text"), dict) else None,
            }:
                return block["block_id"], element
    raise AssertionError(f"no control “{label}”")


def steps(message: Json) -> list[str]:
    """Return the lines of the scripted coordinator's state card."""
    text = next(b["text"]["text"] for b in message["blocks"] if b["type"] == "section")
    return [line.removeprefix("• ") for line in text.splitlines() if line.startswith("• ")]
