"""The set-up of a team as `docker compose --profile team` makes it, without containers: two programs behind a proxy."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from tests.postgres import PostgresServer
from tests.scenarios.chat import APP_TOKEN, BOT_TOKEN
from tests.scenarios.day import STEPS
from tests.scenarios.person import Person, eventually
from tests.scenarios.providers import ConnectedProgram, Providers, build_emulators, build_settings, serve
from tests.scenarios.radicale import free_port

from fateforger.adapters.store.connections import new_key
from fateforger.slack.manifest import app_manifest
from localslack import DEFAULT_USERS, WorkspaceConfig, create_workspace

pytestmark = [pytest.mark.process, pytest.mark.extra]

ROOT = Path(__file__).parents[2]
SECRET = "signed by the workspace"
WAY_OF_CADDY = re.compile(r"@pages path (.+)")


@dataclass
class Proxy:
    """Passes on the paths of the team's Caddyfile to the programs in turn; if one does not answer, to the other."""

    programs: tuple[int, ...]
    paths: tuple[str, ...]
    turns: Iterator[int] = field(default_factory=count)
    http: httpx.AsyncClient = field(default_factory=lambda: httpx.AsyncClient(trust_env=False, timeout=60))

    def app(self) -> Starlette:
        methods = ["GET", "POST", "HEAD"]
        return Starlette(routes=[Route("/{path:path}", self.pass_on, methods=methods)])

    async def pass_on(self, request: Request) -> Response:
        if not request.url.path.startswith(self.paths):
            return Response(status_code=404)
        first, body = next(self.turns), await request.body()
        for port in (self.programs[(first + n) % len(self.programs)] for n in range(len(self.programs))):
            url = f"http://127.0.0.1:{port}{request.url.path}"
            try:
                answer = await self.http.request(
                    request.method, url, params=request.url.query, content=body, headers=request.headers.raw
                )
            except httpx.ConnectError:
                continue
            return Response(answer.content, answer.status_code, dict(answer.headers))
        return Response(status_code=502)


@dataclass
class Team:
    providers: Providers
    programs: tuple[ConnectedProgram, ConnectedProgram]
    robin: Person

    def count_requests(self) -> list[bool]:
        """Check whether each program has answered requests of Slack."""
        told = [
            httpx.get(f"http://127.0.0.1:{each.environment['FATEFORGER_OPS_PORT']}/metrics", trust_env=False).text
            for each in self.programs
        ]
        return ['fateforger_slack_requests_total{status="200"}' in text for text in told]


def end(program: ConnectedProgram) -> None:
    if program.process is not None:
        program.kill()


def read_compose(database: str) -> dict[str, str]:
    """Return the settings of the team's programs in the compose file, for programs that are not in containers."""
    compose: Any = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    settings = {name: str(value) for name, value in compose["services"]["team"]["environment"].items()}
    assert settings["FATEFORGER_DATABASE_URL"].startswith("postgresql://")
    settings["FATEFORGER_DATABASE_URL"] = database
    # A container has an address, ports and a folder of its own.
    return {name: settings[name] for name in sorted(settings.keys() - {"FATEFORGER_HOST", "FATEFORGER_PORT"})}


@pytest.fixture
def team(tmp_path: Path, vector_server: PostgresServer) -> Iterator[Team]:
    (listed,) = WAY_OF_CADDY.findall((ROOT / "deploy/compose/Caddyfile").read_text())
    ports, at_proxy, at_slack = (free_port(), free_port()), free_port(), free_port()
    proxy = Proxy(ports, tuple(path.removesuffix("*") for path in listed.split()))
    google, microsoft = build_emulators()
    public = f"http://127.0.0.1:{at_proxy}"
    config = WorkspaceConfig(
        database=tmp_path / "workspace.sqlite",
        public_url=f"http://127.0.0.1:{at_slack}",
        bot_token=BOT_TOKEN,
        app_token=APP_TOKEN,
        signing_secret=SECRET,
        manifest=app_manifest(public),
    )
    workspace = create_workspace(config, now=lambda: datetime.now(UTC))
    workspace.set_ack_seconds(10)  # Slack's three are too few for a machine that runs many tests
    with ExitStack() as stack:
        vectors = stack.enter_context(vector_server.database())
        stack.callback(workspace.close)
        stack.enter_context(serve(workspace.app, port=at_slack, websockets=True))
        stack.enter_context(serve(proxy.app(), port=at_proxy))
        # An administrator's .env file, with other addresses and a fixed day for the test.
        settings = read_compose(vectors) | build_settings(google, microsoft, port=at_proxy)
        settings |= {
            "FATEFORGER_PUBLIC_URL": public,
            "FATEFORGER_SECRET_KEYS": new_key(),
            "FATEFORGER_SLACK_MODE": "http",
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_SIGNING_SECRET": SECRET,
            "SLACK_API_BASE_URL": f"{config.public_url}/api/",
            "FATEFORGER_GOOGLE_URL": stack.enter_context(serve(google.app())),
            "FATEFORGER_MICROSOFT_URL": stack.enter_context(serve(microsoft.app())),
        }
        programs = tuple(
            ConnectedProgram(
                tmp_path / f"container{n}", settings | {"FATEFORGER_OPS_PORT": str(free_port())}, port=port
            )
            for n, port in enumerate(ports)
        )
        for program in programs:
            del program.environment["FATEFORGER_DATA_DIR"]  # the folder of the container
            stack.callback(end, program)
            program.start()
        robin = Person(config.public_url, DEFAULT_USERS[1].id)
        robin.wait_connected()
        yield Team(Providers(google, microsoft, programs[0]), (programs[0], programs[1]), robin)


def test_a_newcomer_sets_up_a_team_and_a_day_is_planned_and_taken_back(team: Team) -> None:
    """S367: a person signs in at Google, plans by both programs, and takes all back after the death of either."""
    robin, at_google = team.robin, team.providers.google.calendars["primary"]
    assert "Your calendar is connected." in team.providers.sign_in(robin, "google")
    for _, step in STEPS:
        step(robin)
    assert "Write report" in {event.summary for event in at_google.get_live_events().values()}
    assert team.count_requests() == [True, True]
    team.programs[0].kill()
    robin.press("Undo")
    robin.reads("Taken back")
    assert at_google.get_live_events() == {}
    team.programs[0].start()
    team.programs[1].kill()
    before = len(robin.roots())
    robin.slash("/timebox", "2026-03-03")
    eventually(lambda: len(robin.roots()) > before, "the next day is begun by the other program")
    robin.card_reads("Tuesday 3 March")
