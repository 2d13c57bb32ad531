"""HTTP mode, seen from an app that answers as each test wants."""

from __future__ import annotations

import asyncio
import copy
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs

from slack_sdk.signature import SignatureVerifier
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from tests.fakes.asgi_server import serve_app
from tests.localslack.workspace_server import Json, Running, running, until, wait_closed
from tests.localslack.workspaces import DM, MANIFEST, SECRET

from localslack.delivery.event_delivery import RETRY_DELAYS_SECONDS

OK = Response()


@dataclass
class ReceivedRequest:
    """A request, with its body as an app reads it."""

    path: str
    headers: dict[str, str]
    body: Json

    @property
    def retry(self) -> tuple[str | None, str | None]:
        return self.headers.get("x-slack-retry-num"), self.headers.get("x-slack-retry-reason")


@dataclass
class App:
    """Checks each signature with Slack's own SDK, and then answers with the next of ``answers``, or 200."""

    heard: list[ReceivedRequest] = field(default_factory=list)
    answers: list[Response | float] = field(default_factory=list)
    ready: bool = True

    async def answer(self, request: Request) -> Response:
        raw = (await request.body()).decode()
        assert SignatureVerifier(SECRET).is_valid_request(raw, dict(request.headers))
        if request.headers["content-type"] == "application/json":
            body = json.loads(raw)
        else:
            form = {name: values[0] for name, values in parse_qs(raw).items()}
            body = json.loads(form["payload"]) if "payload" in form else form
        if body.get("type") == "url_verification":
            return PlainTextResponse(body["challenge"]) if self.ready else Response(status_code=503)
        self.heard.append(ReceivedRequest(request.url.path, dict(request.headers), body))
        answer = self.answers.pop(0) if self.answers else OK
        if isinstance(answer, float):
            await asyncio.sleep(answer)  # longer than the workspace waits
            return OK
        return answer

    def tries(self, text: str) -> list[ReceivedRequest]:
        return [heard for heard in self.heard if heard.body.get("event", {}).get("text") == text]


def http_manifest(url: str) -> Json:
    document = copy.deepcopy(MANIFEST)
    document["settings"]["socket_mode_enabled"] = False
    document["settings"]["event_subscriptions"]["request_url"] = f"{url}/events"
    document["settings"]["interactivity"] |= {
        "request_url": f"{url}/clicks",
        "message_menu_options_url": f"{url}/options",
    }
    document["features"]["slash_commands"][0]["url"] = f"{url}/commands"
    return document


@asynccontextmanager
async def run_with_app(folder: Path, *, ready: bool = True) -> AsyncIterator[tuple[Running, App]]:
    """Yield a workspace that calls an app, which has called it."""
    app = App(ready=ready)
    routes = [Route("/{name}", app.answer, methods=["POST"])]
    async with (
        serve_app(Starlette(routes=routes), lifespan=False) as url,
        running(folder, manifest=http_manifest(url)) as workspace,
    ):
        await workspace.call("auth.test")
        if ready:
            await until(lambda: workspace.workspace.transport.connected)
        yield workspace, app


async def nothing_waits(workspace: Running) -> None:
    await until(lambda: not workspace.workspace.delivery.waiting())


async def test_nothing_is_sent_until_the_address_has_answered_the_challenge(tmp_path: Path) -> None:
    async with run_with_app(tmp_path, ready=False) as (workspace, app):
        await workspace.say("too early")
        assert (await workspace.act("slash", channel=DM, command="/timebox"))["ok"] is False
        assert app.heard == []
        app.ready = True
        await until(lambda: app.tries("too early"))
        await nothing_waits(workspace)
        assert (await workspace.see("state"))["connected"] is True
        (heard,) = app.tries("too early")
        assert (heard.path, heard.retry, heard.body["type"]) == ("/events", (None, None), "event_callback")


async def test_an_event_is_sent_again_as_slack_documents(tmp_path: Path) -> None:
    assert RETRY_DELAYS_SECONDS == (0.0, 60.0, 300.0)
    async with run_with_app(tmp_path) as (workspace, app):
        workspace.workspace.set_ack_seconds(0.3)
        workspace.workspace.delivery.retry_seconds = (0.0, 0.05, 0.1)
        app.answers = [Response(status_code=500), 2.0, Response(status_code=302, headers={"location": "/else"})]
        await workspace.say("again")
        await until(lambda: len(app.tries("again")) == 4)
        await nothing_waits(workspace)
        assert [heard.retry for heard in app.tries("again")] == [
            (None, None),
            ("1", "http_error"),
            ("2", "http_timeout"),
            ("3", "http_error"),
        ]
        assert len({heard.body["event_id"] for heard in app.tries("again")}) == 1


async def test_an_event_is_given_up_after_three_retries_or_when_the_app_says_so(tmp_path: Path) -> None:
    async with run_with_app(tmp_path) as (workspace, app):
        workspace.workspace.delivery.retry_seconds = (0.0, 0.0, 0.0)
        app.answers = [Response(status_code=503) for _ in range(4)]
        await workspace.say("in vain")
        await until(lambda: len(app.tries("in vain")) == 4)
        await nothing_waits(workspace)
        app.answers = [Response(status_code=404, headers={"x-slack-no-retry": "1"})]
        await workspace.say("once")
        await until(lambda: app.tries("once"))
        await nothing_waits(workspace)
        assert len(app.tries("once")) == 1


async def test_a_command_is_a_form_and_its_answer_a_message(tmp_path: Path) -> None:
    answers: list[tuple[Response, str]] = [
        (PlainTextResponse("as text"), "as text"),
        (JSONResponse({"text": "as json"}), "as json"),
    ]
    async with run_with_app(tmp_path) as (workspace, app):
        for answer, text in answers:
            app.answers = [answer]
            assert await workspace.act("slash", channel=DM, command="/timebox", text="a & b") == {"ok": True}
            assert app.heard[-1].path == "/commands"
            assert (app.heard[-1].body["command"], app.heard[-1].body["text"]) == ("/timebox", "a & b")
            assert (await workspace.messages())[-1]["text"] == text


async def test_clicks_and_options_arrive_at_their_addresses(tmp_path: Path) -> None:
    button: Json = {"type": "button", "action_id": "go", "text": {"type": "plain_text", "text": "Go"}}
    select: Json = {
        "type": "external_select",
        "action_id": "find",
        "placeholder": {"type": "plain_text", "text": "Find"},
    }
    async with run_with_app(tmp_path) as (workspace, app):
        blocks = [{"type": "actions", "block_id": "b", "elements": [button, select]}]
        ts = (await workspace.call("chat.postMessage", channel=DM, text="t", blocks=blocks))["ts"]
        place: Json = {"surface": {"type": "message", "channel": DM, "ts": ts}}
        press = place | {"action": {"type": "button", "action_id": "go", "block_id": "b"}}
        assert (await workspace.act("action", **press))["ok"] is True
        option = {"text": {"type": "plain_text", "text": "One"}, "value": "1"}
        app.answers = [JSONResponse({"options": [option]})]
        found = await workspace.act("suggest", **place, action_id="find", block_id="b", value="o")
        assert found["options"] == [option]
        kinds = [(heard.path, heard.body["type"]) for heard in app.heard if heard.path != "/events"]
        assert kinds == [("/clicks", "block_actions"), ("/options", "block_suggestion")]


async def test_the_person_is_told_at_once_what_did_not_arrive(tmp_path: Path) -> None:
    async with run_with_app(tmp_path) as (workspace, app):
        app.answers = [Response(status_code=503)]
        failed = await workspace.act("slash", channel=DM, command="/timebox")
        assert failed == {"ok": False, "error": "That didn't reach the planner. Please try again."}


async def test_no_socket_stays_open(tmp_path: Path) -> None:
    async with run_with_app(tmp_path) as (workspace, _app):
        socket = await workspace.open_socket()
        assert json.loads(await socket.recv())["reason"] == "link_disabled"
        assert await wait_closed(socket)
