"""People with accounts at Google and Microsoft, and the program that they sign in to."""

from __future__ import annotations

import asyncio
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from tests.command_line import run_program
from tests.emulators.google.accounts import Client
from tests.emulators.google.emulator import GoogleEmulator
from tests.emulators.microsoft.emulator import MicrosoftEmulator
from tests.fakes.asgi_server import serve_app
from tests.scenarios.caldav import CalDav
from tests.scenarios.chat import APP_TOKEN, BOT_TOKEN
from tests.scenarios.day import STEPS
from tests.scenarios.gate import Gate, pass_on
from tests.scenarios.person import Person, eventually
from tests.scenarios.program import Program
from tests.scenarios.radicale import Radicale, free_port

from fateforger.adapters.clock import ShiftedClock
from fateforger.slack.manifest import app_manifest
from localslack import DEFAULT_USERS, WorkspaceConfig, create_workspace
from localslack.people import WorkspaceUser

MONDAY = "2026-03-02T07:00:00+01:00"


def run(
    program: Program, *arguments: str, password: str = "", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command of the command line on the data directory of the program."""
    environment = {"FATEFORGER_NOW": MONDAY, **(environment or {})}
    command = (*arguments, "--data-dir", str(program.data))
    return subprocess.CompletedProcess(command, *run_program(*command, given=f"{password}\n", environment=environment))


def second(first: Person) -> Person:
    """Return the page's second person."""
    people = [p["id"] for p in first.state()["users"] if not p["is_bot"]]
    return Person(first.base, people[1], http=first.http)


def plan(person: Person) -> None:
    for _, step in STEPS:
        step(person)


def link(person: Person) -> str:
    """Return the newest link that the person can read in their messages."""
    found = re.findall(r"http://[^\s|>']+/connect/[\w=-]+", f"{person.roots()} {person.thread()}")
    return str(found[-1])


def fill(page: str, /, **fields: str | list[str]) -> httpx.Response:
    return httpx.post(page, data=fields, trust_env=False, timeout=60)


@contextmanager
def serve(app: Any, *, port: int = 0, websockets: bool = False) -> Iterator[str]:
    """Serve an emulator in a thread of its own, and give its address."""
    loop, stop, ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()
    found: list[str] = []

    async def run() -> None:
        async with serve_app(app, port=port, websockets=websockets) as address:
            found.append(address)
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),), daemon=True)
    thread.start()
    assert ready.wait(20)
    try:
        yield found[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()


@dataclass
class Providers:
    """Google and Microsoft, and the program that people sign in to with either."""

    google: GoogleEmulator
    microsoft: MicrosoftEmulator
    program: Program

    def sign_in(self, person: Person, provider: str) -> str:
        """Connect a person's account on the page as a browser does, and return what the page says."""
        if "/connect/" not in f"{person.roots()} {person.thread()}":
            person.slash("/timebox", "connect")
            eventually(lambda: "/connect/" in str(person.roots()), "a link")
        with httpx.Client(trust_env=False, timeout=60) as browser:
            answer = browser.get(f"{link(person)}/{provider}")
            # Over https, a browser gives back a cookie that is only for https, too.
            away, cookie = answer.headers["location"], answer.headers["set-cookie"].partition(";")[0]
            if provider == "google":
                back = self.google.accounts.consent(away, self.google.accounts.people[0])
            else:
                back = browser.get(away).headers["location"]
            return browser.get(back, headers={"Cookie": cookie}).text

    def deliver(self) -> None:
        """Send the notices that are due, as providers do by themselves."""
        asyncio.run(self.google.deliver())
        asyncio.run(self.microsoft.subscriptions.deliver(self.microsoft.mailboxes))

    def lists(self, provider: str) -> list[str]:
        """Return each list of events that the provider was asked for: those of a ``day``, or only its ``changes``."""
        if provider == "google":
            asked = [ask.query for ask in self.google.asked if ask.method == "GET" and ask.path.endswith("/events")]
            return ["changes" if "syncToken" in query else "day" for query in asked if "fields" not in query]
        paths = [path for method, path in self.microsoft.requests if method == "GET" and "/calendarView" in path]
        return ["changes" if path.endswith("/delta") else "day" for path in paths]


def build_emulators() -> tuple[GoogleEmulator, MicrosoftEmulator]:
    """Build both providers, with channels by the clock of the program."""
    clock = ShiftedClock(datetime.fromisoformat(MONDAY))
    google, microsoft = GoogleEmulator(now=clock.now), MicrosoftEmulator()
    microsoft.subscriptions.now = clock.now
    return google, microsoft


def build_settings(google: GoogleEmulator, microsoft: MicrosoftEmulator, *, port: int) -> dict[str, str]:
    """Let both providers know a program at that port, and return what it needs to know of them but their addresses."""
    back = f"http://127.0.0.1:{port}/connect"
    google.accounts.client = Client(redirects=(f"{back}/google/callback",))
    microsoft.sign_in.apps["the-client"].redirects = (f"{back}/microsoft/callback",)
    return {
        "FATEFORGER_NOW": MONDAY,
        "FATEFORGER_GOOGLE_CLIENT_ID": google.accounts.client.id,
        "FATEFORGER_GOOGLE_CLIENT_SECRET": google.accounts.client.secret,
        "FATEFORGER_MICROSOFT_CLIENT_ID": "the-client",
        "FATEFORGER_MICROSOFT_CLIENT_SECRET": "the-secret",
    }


@contextmanager
def open_providers(folder: Path, *, port: int = 0, **more: str) -> Iterator[Providers]:
    """Start both providers, and a program at which people can sign in with either; ``more`` are its settings."""
    port, (google, microsoft) = port or free_port(), build_emulators()
    settings = build_settings(google, microsoft, port=port) | more
    with serve(google.app()) as at_google, serve(microsoft.app()) as at_microsoft:
        places = {"FATEFORGER_GOOGLE_URL": at_google, "FATEFORGER_MICROSOFT_URL": at_microsoft}
        program = Program(folder / "data", environment=settings | places, port=port).start()
        yield Providers(google, microsoft, program)
        if program.process is not None:
            program.kill()


class ConnectedProgram(Program):
    """The program with the tokens of a workspace: it has no page of its own."""

    def _address(self, offset: int) -> str | None:
        super()._address(offset)  # which fails when the program ended
        printed = self.log.read_bytes()[offset:].decode(errors="replace") if self.log.exists() else ""
        return f"http://127.0.0.1:{self.port}" if "Ready: type /timebox in Slack." in printed else None


SAM = WorkspaceUser("U0000SAM", "sam", "Sam Lindqvist", "Europe/Amsterdam", "sam@example.com")


@dataclass
class ThreePeople(Providers):
    """Alex has a calendar at Microsoft, Robin at Google, and Sam by CalDAV. All writes pass a gate."""

    alex: Person
    robin: Person
    sam: Person
    caldav: CalDav
    way: str
    """The URL of the CalDAV calendar behind its gate."""
    gates: dict[str, Gate]

    @property
    def people(self) -> tuple[Person, Person, Person]:
        return (self.alex, self.robin, self.sam)

    def connect_caldav(self, person: Person) -> None:
        """Connect the CalDAV calendar for a person."""
        where = ("--user", person.user, "--address", self.way, "--account", "me")
        done = run(self.program, "calendars", "connect", *where, password="any")
        assert done.returncode == 0, done.stderr

    def titles(self) -> dict[str, list[str]]:
        """Return the titles on each of the three calendars."""
        return {
            "google": sorted(event.summary for event in self.google.calendars["primary"].get_live_events().values()),
            "microsoft": sorted(str(item.values["subject"]) for item in self.microsoft.mailbox.items.values()),
            "caldav": sorted(self.caldav.titles()),
        }


@contextmanager
def open_three_people(folder: Path, radicale: Radicale) -> Iterator[ThreePeople]:
    """Start a workspace, three calendars, and the program, without any connections."""
    port, at_slack = free_port(), free_port()
    google, microsoft = build_emulators()
    gates = {
        "google": Gate(google.app(), "before", "/events"),
        "microsoft": Gate(microsoft.app(), "lost", "/events"),
        "caldav": Gate(pass_on(f"http://127.0.0.1:{radicale.port}"), "late"),
    }
    url = f"http://127.0.0.1:{at_slack}"
    config = WorkspaceConfig(
        database=folder / "workspace.sqlite",
        public_url=url,
        bot_token=BOT_TOKEN,
        app_token=APP_TOKEN,
        manifest=app_manifest(),
        users=(*DEFAULT_USERS, SAM),
    )
    workspace = create_workspace(config, now=lambda: datetime.now(UTC))
    with ExitStack() as stack:
        stack.callback(workspace.close)
        stack.enter_context(serve(workspace.app, port=at_slack, websockets=True))
        places = {name: stack.enter_context(serve(gate)) for name, gate in gates.items()}
        settings = build_settings(google, microsoft, port=port) | {
            "SLACK_BOT_TOKEN": BOT_TOKEN,
            "SLACK_APP_TOKEN": APP_TOKEN,
            "SLACK_API_BASE_URL": f"{url}/api/",
            "FATEFORGER_PICTURE": "off",
            "FATEFORGER_PUBLIC_URL": f"http://127.0.0.1:{port}",
            "FATEFORGER_CALDAV_PRIVATE": "true",
            "FATEFORGER_GOOGLE_URL": places["google"],
            "FATEFORGER_MICROSOFT_URL": places["microsoft"],
        }
        program = ConnectedProgram(folder / "data", environment=settings, port=port).start()
        stack.callback(lambda: program.kill() if program.process is not None else None)
        alex, robin, sam = (Person(url, user.id) for user in config.users)
        alex.wait_connected()
        way = f"{places['caldav']}/me/calendar/"
        three = ThreePeople(google, microsoft, program, alex, robin, sam, CalDav(radicale.calendar), way, gates)
        three.connect_caldav(sam)
        for person, provider in ((robin, "google"), (alex, "microsoft")):
            page = three.sign_in(person, provider)
            assert "Your calendar is connected." in page, page
        yield three
        for gate in gates.values():
            gate.open()
