"""The whole program in HTTP mode: the workspace calls it, signed as Slack signs, and outlives each of its deaths."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from starlette.applications import Starlette
from tests.fakes.http_proxy import HttpProxy
from tests.scenarios.caldav import CalDav
from tests.scenarios.chat import APP_TOKEN, BOT_TOKEN, chat_at, login, steps, workspace_at
from tests.scenarios.chat import Person as SlackPerson
from tests.scenarios.day import STEPS, all_steps, commit
from tests.scenarios.person import Person, eventually, texts
from tests.scenarios.program import Program
from tests.scenarios.providers import MONDAY, ConnectedProgram, run, serve
from tests.scenarios.radicale import free_port

from fateforger.app.slack import EventsEndpoint
from fateforger.slack.manifest import app_manifest
from localslack import DEFAULT_USERS, Workspace, WorkspaceConfig, create_workspace
from localslack.delivery.transport import sign

pytestmark = [pytest.mark.process, pytest.mark.extra]

SECRET = "signed by the workspace"
OWNER = DEFAULT_USERS[0]


@dataclass
class Slack:
    """A workspace that calls the program, and both of them."""

    workspace: Workspace
    program: Program
    person: Person

    def send(
        self, body: bytes, kind: str, *, at: float | None = None, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """Send the program a request that Slack signed ``at`` some time."""
        signed = sign(body, SECRET, at)
        given = {"Content-Type": kind, **signed, **(headers or {})}
        return httpx.post(f"{self.program.url}/slack/events", content=body, headers=given, trust_env=False, timeout=30)

    def plans(self) -> int:
        """Return the number of plans that were begun."""
        return sum(not message.get("ephemeral") for message in self.person.roots())


@pytest.fixture
def slack(tmp_path: Path) -> Iterator[Slack]:
    port, at_slack = free_port(), free_port()
    config = WorkspaceConfig(
        database=tmp_path / "workspace.sqlite",
        public_url=f"http://127.0.0.1:{at_slack}",
        bot_token=BOT_TOKEN,
        app_token=APP_TOKEN,
        signing_secret=SECRET,
        manifest=app_manifest(f"http://127.0.0.1:{port}"),
    )
    workspace = create_workspace(config, now=lambda: datetime.now(UTC))
    workspace.set_ack_seconds(10)  # Slack's three are too few for a machine that runs many tests
    settings = {
        "FATEFORGER_NOW": MONDAY,
        "FATEFORGER_LOG_LEVEL": "info",
        "FATEFORGER_SLACK_MODE": "http",
        "SLACK_BOT_TOKEN": BOT_TOKEN,
        "SLACK_SIGNING_SECRET": SECRET,
        "SLACK_API_BASE_URL": f"{config.public_url}/api/",
        "FATEFORGER_PUBLIC_URL": f"http://127.0.0.1:{port}",
        "FATEFORGER_CALENDAR_OWNER": OWNER.id,
        "FATEFORGER_PICTURE": "off",
        "FATEFORGER_OPS_PORT": str(free_port()),
    }
    with ExitStack() as stack:
        stack.callback(workspace.close)
        stack.enter_context(serve(workspace.app, port=at_slack, websockets=True))
        program = ConnectedProgram(tmp_path / "data", environment=settings, port=port).start()
        stack.callback(lambda: program.kill() if program.process is not None else None)
        person = Person(config.public_url, OWNER.id)
        person.wait_connected()
        yield Slack(workspace, program, person)


def test_a_day_is_planned_committed_and_taken_back_over_http(slack: Slack) -> None:
    """S332: command, buttons, a form and a message arrive as signed requests; no socket is open."""
    calendar, person = CalDav(slack.program.caldav_url()), slack.person
    for _ in all_steps(person):
        pass
    assert len(calendar.titles()) == 5
    person.press("Undo")
    person.reads("Taken back")
    assert calendar.titles() == []
    assert slack.workspace.hub.connections == 0
    ready = httpx.get(f"{slack.program.environment['FATEFORGER_PUBLIC_URL']}/health", trust_env=False).json()
    assert (ready["ok"], ready["slack"], ready["slack_mode"]) == (True, True, "http")
    ops = f"http://127.0.0.1:{slack.program.environment['FATEFORGER_OPS_PORT']}"
    assert 'fateforger_slack_requests_total{status="200"}' in httpx.get(f"{ops}/metrics", trust_env=False).text
    printed = slack.program.log.read_text()
    assert f"over HTTP at {slack.program.url}/slack/events" in printed
    assert "requests of Slack are answered at /slack/events" in printed
    assert "over HTTP at" in examine(slack)["slack"]["message"]
    assert slack.program.stop() == 0


def examine(slack: Slack, **environment: str) -> dict[str, dict[str, str]]:
    """Return the result of ``doctor`` for each part."""
    found = run(slack.program, "doctor", "--json", environment=slack.program.environment | environment)
    return {check["name"]: check for check in json.loads(found.stdout)["checks"]}


def test_doctor_calls_the_public_address_as_slack_does(slack: Slack) -> None:
    """S332: it finds a program that is not there, an address that leads elsewhere, and another secret."""
    well = examine(slack)["events"]
    assert (well["state"], "answers Slack's challenge" in well["message"]) == ("real", True)
    other = examine(slack, SLACK_SIGNING_SECRET="of another app")["events"]
    assert (other["state"], "another signing secret" in other["message"]) == ("broken", True)
    elsewhere = examine(slack, FATEFORGER_PUBLIC_URL=slack.workspace.config.public_url)["events"]
    assert (elsewhere["state"], "status 404" in elsewhere["message"]) == ("missing", True)
    slack.program.kill()
    gone = examine(slack)["events"]
    assert (gone["state"], "Nothing answers at" in gone["message"]) == ("missing", True)


def test_only_fresh_requests_that_slack_signed_are_heard(slack: Slack) -> None:
    """S333: a forged, an old, a changed and a huge request do nothing, and a replayed one does nothing twice."""
    command: dict[str, Any] = {
        "command": "/timebox",
        "text": "",
        "user_id": OWNER.id,
        "channel_id": slack.person.channel,
        "team_id": "T0000LOCAL",
        "trigger_id": "1.2.secret-words",
        "response_url": f"{slack.workspace.config.public_url}/respond/none",
    }
    body, form = urlencode(command).encode(), "application/x-www-form-urlencoded"
    challenge = json.dumps({"type": "url_verification", "challenge": "tell me"}).encode()
    forged, minutes = {"X-Slack-Signature": "v0=" + "0" * 64}, 60
    refused = [
        slack.send(body, form, headers=forged),
        slack.send(body, form, headers={"X-Slack-Signature": ""}),
        slack.send(body, form, at=time.time() - 6 * minutes),
        slack.send(body, form, at=time.time() + 6 * minutes),
        slack.send(challenge, "application/json", headers=forged),
        slack.send(body, form, headers=sign(body + b"&text=x", SECRET)),
    ]
    assert [answer.status_code for answer in refused] == [401] * 6
    spoiled = [{"type": "event_callback", "event": 5}, {"type": "block_actions", "actions": []}, {"view": None}]
    answers = [slack.send(json.dumps(each).encode(), "application/json") for each in spoiled]
    assert [answer.status_code for answer in answers] == [400] * 3
    assert "Traceback" not in slack.program.log.read_text()
    assert slack.send(b"x" * 2_000_001, form).status_code == 413
    assert slack.send(b"\xff\xfe", "application/json").status_code == 400
    assert slack.send(b'{"type": ', "application/json").status_code in {400, 401}
    assert httpx.get(f"{slack.program.url}/slack/events", trust_env=False).status_code == 405
    assert slack.plans() == 0
    assert "secret-words" not in slack.program.log.read_text()
    answer = slack.send(challenge, "application/json")
    assert (answer.status_code, "tell me" in answer.text) == (200, True)
    now = time.time()
    answers = [slack.send(body, form, at=now) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200] * 3
    slack.person.reads("Plan this day")
    slack.person.press("Plan this day")
    slack.person.reads("the hours of your day")
    assert slack.plans() == 1


def test_killed_between_and_in_the_middle_nothing_is_lost_or_doubled(slack: Slack) -> None:
    """S334: a message to a dead program is sent again and read once; a commit that was cut off is finished."""
    person, program = slack.person, slack.program
    slack.workspace.delivery.retry_seconds = (0.0, *[1.0] * 90)  # more often than Slack, to save a minute
    for _, step in STEPS[:-1]:
        step(person)
    program.kill()
    assert person.write("/tasks")["ok"]
    eventually(lambda: slack.workspace.delivery.waiting()[0].unanswered > 2, "tries that reached nobody")
    program.start()
    person.reads("Your queue")
    eventually(lambda: not slack.workspace.delivery.waiting(), "all events are acknowledged")
    assert re.search(
        r"Slack sent a payload again: retry \d, after (connection_failed|http_error)", program.log.read_text()
    )
    answers = [m for m in person.thread() if any("Your queue" in t for t in texts(m.get("blocks") or []))]
    assert len(answers) == 1
    person.press("Commit to calendar")
    program.restart()
    person.reads("is on your calendar")
    assert len(CalDav(program.caldav_url()).titles()) == 5
    person.press("Undo")
    person.reads("Taken back")
    assert CalDav(program.caldav_url()).titles() == []
    commit(person)
    assert slack.plans() == 1


def test_renamed_commands_are_known_by_their_new_names(tmp_path: Path) -> None:
    """S337: in Slack, in the thread, in what the bot says, and on its page."""
    names = {"FATEFORGER_NOW": MONDAY, "FATEFORGER_COMMANDS": "timebox=/plan-day,tasks=/plan-tasks"}
    program = Program(tmp_path / "data", environment=names).start()
    try:
        person = program.person()
        assert person.slash("/timebox") == {"ok": False, "error": "/timebox is not a command here."}
        assert person.slash("/plan-day") == {"ok": True}
        person.reads("Plan this day")
        person.write("/plan-tasks")
        person.reads("Your queue is empty")
        person.write("/tasks")
        person.reads("I don't know that command. `/plan-day` plans a day, `/pull` takes", "`/plan-tasks` lists")
        page = httpx.get(f"{program.url}/connect/none", trust_env=False)
        assert "Ask me for a new one: /plan-day connect." in page.text
    finally:
        program.kill()


async def test_what_came_over_a_socket_is_not_done_again_over_http(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S333: the ids of what is recorded come from the payloads, not from the way that they took."""
    async with workspace_at(tmp_path) as workspace:
        alex, sent = SlackPerson(workspace), list[dict[str, Any]]()
        deliver = workspace.delivery.add

        def keep(payload: dict[str, Any]) -> None:
            sent.append(payload)
            deliver(payload)

        monkeypatch.setattr(workspace.delivery, "add", keep)
        async with chat_at(workspace, tmp_path):
            ts = await alex.start()
            await alex.say("by socket", ts)
            await alex.sees(ts, "by socket")
        first = next(p for p in sent if p["event"].get("text") == "by socket")
        again = {**first["event"], "text": "by http", "blocks": [], "ts": "1900000000.000100"}
        second = {**first, "event_id": "Ev2", "event": again}
        async with chat_at(workspace, tmp_path, changes={"app_token": None, "signing_secret": SECRET}) as chat:
            endpoint = EventsEndpoint()
            endpoint.slack = chat.room
            app = Starlette(routes=endpoint.routes(login(workspace, signing_secret=SECRET)))
            transport = httpx.ASGITransport(app)
            async with httpx.AsyncClient(transport=transport, base_url="http://program") as http:
                for retry, payload in enumerate((first, second, first, second)):
                    body = json.dumps(payload).encode()
                    headers = sign(body, SECRET) | {"X-Slack-Retry-Num": str(retry), "Content-Type": "application/json"}
                    assert (await http.post("/slack/events", content=body, headers=headers)).status_code == 200
            card = await alex.sees(ts, "by http")
            assert steps(card) == ["by socket", "by http"]
        await alex.http.aclose()


async def test_everything_that_goes_to_slack_takes_the_proxy(tmp_path: Path) -> None:
    """S338: calls and sockets; the host is known to the proxy alone."""
    async with workspace_at(tmp_path) as workspace, HttpProxy(workspace.config.public_url).serve() as proxy:
        changes = {"base_url": "http://slack.invalid/api/", "proxy": proxy.url}
        alex = SlackPerson(workspace)
        async with alex.http, chat_at(workspace, tmp_path, changes=changes):
            await alex.start()
        asked = {(host, path.rpartition("/")[0] if host == "127.0.0.1" else path) for host, path in proxy.asked}
        assert {("slack.invalid", "/api/auth.test"), ("slack.invalid", "/api/chat.postMessage")} <= asked
        assert ("127.0.0.1", "/link") in asked
