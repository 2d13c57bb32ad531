"""Two workspaces with people, channels and messages of the same ids, and one program for both, or several."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
from tests.emulators.slack.teams import LOCAL, SlackTeams
from tests.scenarios.chat import APP_TOKEN, BOT_TOKEN
from tests.scenarios.person import Person
from tests.scenarios.providers import MONDAY, ConnectedProgram, serve
from tests.scenarios.radicale import free_port

from fateforger.slack.manifest import app_manifest
from localslack import Organization, WorkspaceConfig, create_workspace

ONE, TWO, ORGANIZATION = LOCAL, "T2", "E0ORG"
ALEX, ROBIN = "U0000ALEX", "U0000ROBIN"


@dataclass
class TwoTeams:
    """``alex`` and ``other`` have the same id, in the first and in the second workspace."""

    slack: SlackTeams
    program: ConnectedProgram
    urls: dict[str, str]
    others: tuple[ConnectedProgram, ...] = ()
    """More programs on the same database."""

    @property
    def log(self) -> str:
        """The logs of all programs."""
        return "".join(each.log.read_text() for each in (self.program, *self.others))

    def person(self, team: str, user: str = ALEX) -> Person:
        person = Person(self.urls[team], user)
        person.wait_connected()
        return person

    @property
    def alex(self) -> Person:
        return self.person(ONE)

    @property
    def other(self) -> Person:
        return self.person(TWO)

    def install(self, team: str) -> httpx.Response:
        """Install the app as an administrator does in a browser, and return the page at the end."""
        with httpx.Client(trust_env=False, timeout=60) as browser:
            begun = browser.get(f"{self.program.url}/slack/install")
            assert begun.status_code == 302, begun.text
            # Over https, a browser gives back a cookie that is only for https, too.
            cookie = begun.headers["set-cookie"].partition(";")[0]
            consented = browser.get(f"{begun.headers['location']}&team={team}")
            return browser.get(consented.headers["location"], headers={"Cookie": cookie})

    def state_of(self, answer: httpx.Response) -> str:
        return parse_qs(urlsplit(str(answer.url)).query)["state"][0]


@contextmanager
def open_two_teams(
    folder: Path,
    *,
    installed: bool = True,
    programs: int = 1,
    organization: Organization | None = None,
    **more: str,
) -> Iterator[TwoTeams]:
    """Start two workspaces and the program. The first one has a token in the settings; the second is ``installed``.

    The second may be an ``organization``. Several ``programs`` need a shared database in ``more``.
    """
    second = TWO if organization is None else organization.id
    slack, port = SlackTeams(APP_TOKEN), free_port()
    with ExitStack() as stack:
        urls: dict[str, str] = {}
        for team in (ONE, second):
            at = free_port()
            urls[team] = f"http://127.0.0.1:{at}"
            config = WorkspaceConfig(
                database=folder / f"{team}.sqlite",
                public_url=urls[team],
                bot_token=BOT_TOKEN,
                app_token=APP_TOKEN,
                manifest=app_manifest(),
                team_name=f"Team {team}",
                organization=organization if team == second else None,
            )
            workspace = create_workspace(config, now=lambda: datetime.now(UTC))
            stack.callback(workspace.close)
            stack.enter_context(serve(workspace.app, port=at, websockets=True))
            slack.add(team, urls[team], BOT_TOKEN, organization=team == second and organization is not None)
        slack.tokens[BOT_TOKEN] = ONE
        at_slack = stack.enter_context(serve(slack.app(), websockets=True))
        environment = {
            "FATEFORGER_NOW": MONDAY,
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_CLIENT_ID": slack.client_id,
            "SLACK_CLIENT_SECRET": slack.client_secret,
            "SLACK_API_BASE_URL": f"{at_slack}/api/",
            "FATEFORGER_PICTURE": "off",
            "FATEFORGER_PUBLIC_URL": f"http://127.0.0.1:{port}",
            "FATEFORGER_CALENDAR_OWNER": ALEX,
            "FATEFORGER_CALDAV_PRIVATE": "true",
        }
        program = ConnectedProgram(folder / "data", environment=environment | more, port=port)
        program.start()
        stack.callback(lambda: program.kill() if program.process is not None else None)
        two = TwoTeams(slack, program, urls, tuple(_start_others(stack, program, programs - 1)))
        if installed:
            page = two.install(second)
            assert page.status_code == 200, page.text
        yield two


def _start_others(stack: ExitStack, program: ConnectedProgram, count: int) -> Iterator[ConnectedProgram]:
    """Start more programs with the settings of one, each on a port and a folder of its own."""
    for number in range(count):
        other = ConnectedProgram(
            program.data.with_name(f"other{number}"), environment=program.environment, port=free_port()
        )
        other.start()
        stack.callback(other.kill)
        yield other
