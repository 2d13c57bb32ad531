"""People with accounts at Google and Microsoft, and the program that they sign in to."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from tests.emulators.google.accounts import Client, GoogleAccounts
from tests.emulators.google.emulator import GoogleEmulator
from tests.emulators.microsoft.emulator import MicrosoftEmulator
from tests.fakes.serving import served
from tests.scenarios.day import STEPS
from tests.scenarios.person import Person, eventually
from tests.scenarios.program import Program
from tests.scenarios.radicale import free_port

MONDAY = "2026-03-02T07:00:00+01:00"


def run(program: Program, *arguments: str, password: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command of the command line on the data directory of the program."""
    command = [sys.executable, "-m", "fateforger", *arguments, "--data-dir", str(program.data)]
    environment = {**os.environ, "FATEFORGER_NOW": MONDAY}
    return subprocess.run(command, input=f"{password}\n", capture_output=True, text=True, env=environment, check=False)


def second(first: Person) -> Person:
    """The page's second person."""
    people = [p["id"] for p in first.state()["users"] if not p["is_bot"]]
    return Person(first.base, people[1])


def plan(person: Person) -> None:
    for _, step in STEPS:
        step(person)


def link(person: Person) -> str:
    """The newest link that the person can read in their messages."""
    found = re.findall(r"http://[^\s|>]+/connect/[\w=-]+", f"{person.roots()} {person.thread()}")
    return str(found[-1])


def fill(page: str, /, **fields: str) -> httpx.Response:
    return httpx.post(page, data=fields, trust_env=False, timeout=60)


@contextmanager
def serve(app: Any) -> Iterator[str]:
    """Serve an emulator in a thread of its own, and give its address."""
    loop, stop, ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()
    found: list[str] = []

    async def run() -> None:
        async with served(app) as address:
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
            away = browser.get(f"{link(person)}/{provider}").headers["location"]
            if provider == "google":
                back = self.google.accounts.consent(away, self.google.accounts.people[0])
            else:
                back = browser.get(away).headers["location"]
            return browser.get(back).text

    def lists(self, provider: str) -> list[str]:
        """Each list of events that the provider was asked for: those of a ``day``, or only its ``changes``."""
        if provider == "google":
            asked = [ask.query for ask in self.google.asked if ask.method == "GET" and ask.path.endswith("/events")]
            return ["changes" if "syncToken" in query else "day" for query in asked if "fields" not in query]
        paths = [path for method, path in self.microsoft.requests if method == "GET" and "/calendarView" in path]
        return ["changes" if path.endswith("/delta") else "day" for path in paths]


@contextmanager
def open_providers(folder: Path, **more: str) -> Iterator[Providers]:
    """Start both providers, and a program at which people can sign in with either; ``more`` are its settings."""
    port = free_port()
    back = f"http://127.0.0.1:{port}/connect"
    google = GoogleEmulator(accounts=GoogleAccounts(client=Client(redirects=(f"{back}/google/callback",))))
    microsoft = MicrosoftEmulator()
    microsoft.sign_in.apps["the-client"].redirects = (f"{back}/microsoft/callback",)
    with serve(google.app()) as at_google, serve(microsoft.app()) as at_microsoft:
        settings = {
            "FATEFORGER_NOW": MONDAY,
            "FATEFORGER_GOOGLE_CLIENT_ID": google.accounts.client.id,
            "FATEFORGER_GOOGLE_CLIENT_SECRET": google.accounts.client.secret,
            "FATEFORGER_GOOGLE_URL": at_google,
            "FATEFORGER_MICROSOFT_CLIENT_ID": "the-client",
            "FATEFORGER_MICROSOFT_CLIENT_SECRET": "the-secret",
            "FATEFORGER_MICROSOFT_URL": at_microsoft,
            **more,
        }
        program = Program(folder / "data", environment=settings, port=port).start()
        yield Providers(google, microsoft, program)
        if program.process is not None:
            program.kill()
