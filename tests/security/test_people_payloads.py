"""Forged payloads of every kind, from other teams, strangers, guests, bots and other people: none has an effect."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from tests.scenarios.scripted_coordinator import ScriptedCoordinator

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.store.connections import Vault, new_key
from fateforger.adapters.store.installations import SqlInstallations
from fateforger.adapters.store.store import Store, open_store
from fateforger.session.cards import Button, Card, Controls
from fateforger.session.model import Session
from fateforger.slack.access import People
from fateforger.slack.admission import Admission, Standing
from fateforger.slack.blocks import render
from fateforger.slack.client import OAuthApp, SlackLogin, new_app, new_session
from fateforger.slack.forms import FormHandler
from fateforger.slack.handlers import RequestHandler
from fateforger.slack.home import Home
from fateforger.slack.ids import FormAddress
from fateforger.slack.installations import Installation
from fateforger.slack.limits import Pace
from fateforger.slack.listeners import Listeners
from fateforger.slack.notices import build_sentence_handler
from fateforger.slack.payloads import Place
from fateforger.slack.poster import Poster
from fateforger.slack.progress import DEFAULT_TIMING
from fateforger.slack.workspaces import Workspaces
from fateforger.text import SOURCE
from fateforger.workers.lanes import SENTENCE
from fateforger.workers.people import LanguageService
from fateforger.workers.supervisor import BackgroundTasks

AT = datetime(2026, 3, 5, 8, tzinfo=UTC)
OURS, THEIRS = "T1", "T9"
ALEX, MALLORY = "U1", "U2"
ALEX_DIRECT, MALLORY_DIRECT = "D1", "D2"
Json = dict[str, Any]


@dataclass
class WorkspaceApp:
    """The app in one workspace, in which Alex has a plan. ``calls`` are those that reach Slack."""

    app: AsyncApp
    store: Store
    coordinator: ScriptedCoordinator
    background: BackgroundTasks
    people: People
    calls: list[tuple[str, Json]] = field(default_factory=list)

    async def send(self, body: Json) -> tuple[int, str]:
        response = await self.app.async_dispatch(AsyncBoltRequest(mode="socket_mode", body=deepcopy(body)))
        await self.background.close(seconds=5)
        sentences = build_sentence_handler(self.people)
        while (job := await self.store.jobs.claim(SENTENCE.name, "w", now=AT, lease_seconds=5)) is not None:
            await sentences.perform(job)
            await self.store.jobs.finish(job)
        return response.status, response.body

    async def list_jobs(self) -> list[str]:
        rows = await self.store.database.read(
            lambda c: c.exec_driver_sql("SELECT lane || ' ' || payload FROM job").all()
        )
        return [row[0] for row in rows]

    @property
    def told(self) -> list[tuple[str, Json]]:
        """Messages that were sent."""
        return [(method, given) for method, given in self.calls if method.startswith("chat.")]


@pytest.fixture
async def room(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WorkspaceApp]:
    store, http, clock = open_store(":memory:"), new_session(), SystemClock()
    session = Session(
        id="s1",
        user_id=ALEX,
        channel=ALEX_DIRECT,
        thread_ts="1.0",
        created_at=AT,
        touched_at=AT,
        tz="Etc/UTC",
        date=AT.date(),
    )
    await store.sessions.save(session, expected=0)
    installations = SqlInstallations(store.database, Vault(new_key()))
    await installations.keep(Installation(OURS, "Ours", OURS, AT, token="xoxb-1"))
    login = SlackLogin(None, "xapp-1", "http://127.0.0.1:9/api/", oauth=OAuthApp("1.2", "secret"))
    workspaces = Workspaces(login, http, installations, clock)
    client, background = workspaces.client, BackgroundTasks()
    languages = LanguageService(store.languages, SOURCE)
    people = People(client, clock, languages, store.zones, Admission(store.standings))
    poster, coordinator = Poster(client, Pace(), store.messages), ScriptedCoordinator(store.sessions)
    requests = RequestHandler(
        coordinator, store.jobs, store.feedbacks, people, background, poster, client, store.outbox, clock=clock
    )
    forms = FormHandler(coordinator, requests, client, background, timing=DEFAULT_TIMING)
    home = Home(coordinator, store.homes, people, poster, client, background, clock)
    listeners = Listeners(requests, forms, home, languages, clock=clock, people=people)
    app = new_app(client, workspaces.build_authorize())
    workspaces.register(app)
    listeners.register(app)
    found = WorkspaceApp(app, store, coordinator, background, people)

    async def call(method: str, **details: Any) -> AsyncSlackResponse:
        given: Json = next((details[held] for held in ("json", "params", "data") if details.get(held)), {})
        found.calls.append((method, dict(given)))
        answer: Json = {"ok": True, "ts": "9.9"}
        if method == "conversations.open":
            answer["channel"] = {"id": MALLORY_DIRECT if MALLORY in str(given["users"]) else ALEX_DIRECT}
        if method == "users.info":
            answer["user"] = {"id": given["user"], "team_id": OURS, "tz": "Etc/UTC"}
        return AsyncSlackResponse(
            client=None, http_verb="POST", api_url=method, req_args={}, data=answer, headers={}, status_code=200
        )

    monkeypatch.setattr(client, "api_call", call)
    yield found
    await http.close()
    await store.aclose()


def build_click(user: str) -> Json:
    button = Button(label="Count", action="count", target="b1")
    (block,) = render(Card(text="Card", parts=(Controls(items=(button,)),)), session="s1", v="v1").blocks
    element = block["elements"][0]
    return {
        "type": "block_actions",
        "user": {"id": user, "team_id": OURS},
        "team": {"id": OURS},
        "channel": {"id": ALEX_DIRECT},
        "container": {"type": "message", "message_ts": "2.0", "thread_ts": "1.0"},
        "trigger_id": "t",
        "response_url": "http://127.0.0.1:9/response",
        "actions": [{k: element[k] for k in ("type", "action_id", "value")} | {"block_id": block["block_id"]}],
    }


def build_view(user: str) -> Json:
    return {
        "id": "V1",
        "hash": "h",
        "type": "modal",
        "callback_id": "form",
        "app_installed_team_id": OURS,
        "private_metadata": FormAddress(form="tasks", session="s1").pack(),
        "state": {"values": {}},
    }


def build_submission(user: str) -> Json:
    actor = {"user": {"id": user, "team_id": OURS}, "team": {"id": OURS}}
    return {"type": "view_submission", **actor, "view": build_view(user), "trigger_id": "t"}


def build_form_click(user: str) -> Json:
    return build_click(user) | {"view": build_view(user), "container": {"type": "view", "view_id": "V1"}}


def build_shortcut(user: str) -> Json:
    actor = {"user": {"id": user, "team_id": OURS}, "team": {"id": OURS}}
    return {"type": "shortcut", "callback_id": "timebox.start", **actor, "trigger_id": "t"}


def build_message_shortcut(user: str) -> Json:
    message = {"ts": "2.0", "text": "A task of Alex"}
    said = {"channel": {"id": ALEX_DIRECT}, "message": message}
    return build_shortcut(user) | {"type": "message_action", "callback_id": "queue.save_as_task", **said}


def build_options(user: str) -> Json:
    asked = {"action_id": "field", "block_id": "b", "value": "x", "container": {"type": "view", "view_id": "V1"}}
    return build_shortcut(user) | {"type": "block_suggestion", **asked}


def build_closing(user: str) -> Json:
    return build_submission(user) | {"type": "view_closed", "is_cleared": False}


def build_command(user: str) -> Json:
    return {
        "command": "/timebox",
        "team_id": OURS,
        "user_id": user,
        "channel_id": ALEX_DIRECT,
        "text": "",
        "trigger_id": "t",
        "response_url": "http://127.0.0.1:9/response",
    }


def build_event(user: str, **fields: Any) -> Json:
    event = {"type": "message", "channel": ALEX_DIRECT, "channel_type": "im", "user": user, "user_team": OURS}
    event |= {"text": "yes", "ts": "3.0", "thread_ts": "1.0", **fields}
    authorization = {"team_id": OURS, "user_id": "UBOT", "enterprise_id": None, "is_enterprise_install": False}
    return {"type": "event_callback", "team_id": OURS, "authorizations": [authorization], "event": event}


KINDS: dict[str, Callable[[str], Json]] = {
    "click": build_click,
    "click in a form": build_form_click,
    "form": build_submission,
    "closed form": build_closing,
    "shortcut": build_shortcut,
    "message shortcut": build_message_shortcut,
    "options": build_options,
    "command": build_command,
    "message": build_event,
    "mention": lambda user: build_event(user, type="app_mention", text="<@UBOT> yes", channel="C1", channel_type=None),
    "home": lambda user: build_event(user, type="app_home_opened", tab="home"),
}
kinds = pytest.mark.parametrize("kind", KINDS)


def change_team(body: Json, team: str) -> Json:
    """Return the payload as another workspace sends it."""
    return {name: _swap(value, team) for name, value in deepcopy(body).items()}


def _swap(value: Any, team: str) -> Any:
    if isinstance(value, dict):
        return {name: _swap(each, team) for name, each in value.items()}
    if isinstance(value, list):
        return [_swap(each, team) for each in value]
    return team if value == OURS else value


def change_actor(body: Json) -> Json:
    """Return the payload with a person of another organization, in our workspace."""
    forged = deepcopy(body)
    if "event" in forged:
        forged["event"]["user_team"] = THEIRS
    else:
        forged["user"]["team_id"] = THEIRS
    return forged


@kinds
@pytest.mark.attack("Slack payloads", "Alex's id in a payload of a workspace without the app", "7b", "held")
async def test_another_team_gets_nothing(room: WorkspaceApp, kind: str) -> None:
    """S384: no answer either: Bolt would send one to the address that the payload names."""
    status, body = await room.send(change_team(KINDS[kind](ALEX), THEIRS))
    assert (status, body) == (200, "")
    assert (await room.list_jobs(), room.calls) == ([], [])


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "command"])
@pytest.mark.attack("Slack payloads", "Alex's id with the team of another organization", "7b", "mended")
async def test_a_person_of_another_team_gets_nothing(room: WorkspaceApp, kind: str) -> None:
    """S384: a command is always of the workspace in which it was typed, which the test above covers."""
    status, _body = await room.send(change_actor(KINDS[kind](ALEX)))
    assert status == 200
    assert await room.list_jobs() == []
    assert await room.store.standings.of(ALEX) is None, "what somebody else sends does not shut Alex out"
    for method, given in room.told:
        assert "organization that installed me" in given["text"], (method, given)
    assert await room.send(build_click(ALEX)) == (200, "")


@kinds
@pytest.mark.parametrize("standing", [Standing.CHANNEL_GUEST, Standing.STRANGER, Standing.BOT, Standing.DEACTIVATED])
@pytest.mark.attack("Slack payloads", "guests, strangers, bots and people who left", "7b", "held")
async def test_who_may_not_plan_is_told_so_and_no_more(room: WorkspaceApp, kind: str, standing: Standing) -> None:
    await room.store.standings.keep(MALLORY, standing)
    status, _body = await room.send(KINDS[kind](MALLORY))
    assert status == 200
    assert await room.list_jobs() == []
    check_places(room)


@kinds
@pytest.mark.attack("Slack payloads", "Alex's session, form and thread, used by Mallory", "-", "held")
async def test_another_person_reaches_no_plan(room: WorkspaceApp, kind: str) -> None:
    """S384: Mallory is a member; what they may do for themselves happens in their own direct messages."""
    status, body = await room.send(KINDS[kind](MALLORY))
    assert status == 200
    for job in await room.list_jobs():
        assert '"s1"' not in job
        assert ALEX not in job
    check_places(room)
    assert "Alex" not in body
    saved = await room.store.sessions.load("s1")
    assert saved is not None
    assert saved.version == 1


def check_places(room: WorkspaceApp) -> None:
    """Check that refusals do not appear in Alex's conversation with the bot, which the payload names."""
    for method, given in room.told:
        assert given["channel"] != ALEX_DIRECT, (method, given)
        assert given.get("user", MALLORY) == MALLORY


@pytest.mark.attack("Slack messages", "a link or a mention in quoted text", "-", "mended")
@pytest.mark.parametrize("channel", [None, MALLORY_DIRECT, "C1"])
async def test_a_sentence_neither_pings_nor_links_nor_unfurls(room: WorkspaceApp, channel: str | None) -> None:
    await room.people.send_ephemeral(MALLORY, Place(channel), "I cannot find “<!channel> <@U1> <http://x|y>”.")
    (method, given) = room.told[-1]
    assert "<" not in given["text"]
    if method == "chat.postMessage":
        assert (given["unfurl_links"], given["unfurl_media"]) == (False, False)
