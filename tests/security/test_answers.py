"""Services that answer without end, a byte at a time, or with a bomb: each client gives up and tells the person."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest
from tests.contracts.calendar_contract import HOUR, NINE
from tests.fakes.hostile_server import BOMB_BYTES, MANNERS, HostileServer, hostile_server
from tests.scenarios.day import STEPS
from tests.scenarios.program import Program

from caldav_mcp.dav import Dav
from caldav_mcp.errors import ServiceError
from fateforger.adapters import oauth
from fateforger.adapters.calendar.calendars import open_mcp_calendar
from fateforger.adapters.calendar.connection import HttpEndpoint
from fateforger.adapters.clock import SystemClock
from fateforger.adapters.google.client import GoogleClient
from fateforger.adapters.memory import vectors
from fateforger.adapters.memory.vectors import OpenAiEmbeddings
from fateforger.adapters.microsoft.client import GraphClient
from fateforger.adapters.model.client import open_model
from fateforger.adapters.model.endpoint import PROVIDERS, Endpoint
from fateforger.adapters.notion import client as notion
from fateforger.adapters.oauth import OAuthApp, OAuthClient, OAuthProvider
from fateforger.adapters.tasklists import TickTick
from fateforger.calendar.refusals import Refused
from fateforger.errors import (
    CalendarUnreachable,
    ConnectionUnreachable,
    MemoryUnavailable,
    ModelError,
    SourceUnavailable,
    TasksUnavailable,
)
from fateforger.ports.model import Prompt, Role
from fateforger.slack import client as slack
from fateforger.slack.client import SlackLogin, TransientSlackError

SECONDS = 1.0
PATIENCE = 60.0
MOST_HELD = 100_000_000
"""Bytes of memory: half of what the bomb unpacks to, and several times the longest answer that is read."""


@pytest.fixture
def server() -> Iterator[HostileServer]:
    with hostile_server() as server:
        yield server


class FixedToken:
    async def get_token(self) -> str:
        return "token"

    def report_refused(self, token: str) -> None:
        raise AssertionError(f"{token} was not refused")


async def ask_google(url: str) -> None:
    async with aclosing(GoogleClient(FixedToken(), SystemClock(), url=url, call_seconds=SECONDS)) as client:
        assert isinstance(await client.read("/users/me/calendarList"), Refused)


async def ask_microsoft(url: str) -> None:
    async with aclosing(GraphClient(FixedToken(), address=url, call_seconds=SECONDS)) as client:
        assert isinstance(await client.request("GET", "/me/calendars"), Refused)


async def ask_for_a_login(url: str) -> None:
    provider = OAuthProvider("Google", f"{url}/a", f"{url}/t", ("calendar",), f"{url}/r")
    with pytest.raises(ConnectionUnreachable):
        await OAuthApp(provider, OAuthClient("id", "secret", f"{url}/back"), SystemClock()).exchange("code", "v" * 50)


async def ask_a_calendar_server(url: str) -> None:
    async with aclosing(open_mcp_calendar(url, time_zone="Europe/Berlin", call_seconds=SECONDS)) as calendar:
        with pytest.raises(CalendarUnreachable):
            await calendar.window(NINE, NINE + HOUR)


async def ask_caldav(url: str) -> None:
    async with Dav(time_limit=SECONDS, longest_answer=16_000_000, on_this_machine=True, sleep=rest) as dav:
        with pytest.raises(ServiceError):
            await dav.request("PROPFIND", url)


async def ask_a_model(url: str) -> None:
    await _complete(Endpoint(url, "some-model"))


async def ask_ollama(url: str) -> None:
    await _complete(Endpoint(f"{url}/v1", "some-model", provider=PROVIDERS["ollama"]))


async def _complete(endpoint: Endpoint) -> None:
    model = open_model(endpoint)
    with pytest.raises(ModelError):
        await model.complete(Prompt("decide/1", Role.DECIDE, "Answer.", "Hello"), seconds=3 * SECONDS)
    await model.aclose()


async def ask_for_vectors(url: str) -> None:
    embeddings = OpenAiEmbeddings(url, "tiny")
    with pytest.raises(MemoryUnavailable):
        await asyncio.to_thread(embeddings.embed, "swimming")
    embeddings.close()


async def ask_a_task_list(url: str) -> None:
    with pytest.raises(TasksUnavailable):
        await TickTick(url, tz="Europe/Berlin", seconds=3 * SECONDS).open_tasks()


async def ask_notion(url: str) -> None:
    pages = notion.NotionPages("token", url=url, clock=SystemClock(), sleep=rest)
    with pytest.raises(SourceUnavailable):
        await pages.database("d" * 32)
    await pages.aclose()


async def ask_slack(url: str) -> None:
    session = slack.new_session()
    with pytest.raises(TransientSlackError):
        await slack.call_slack(slack.new_client(SlackLogin("xoxb-1", base_url=f"{url}/api/"), session).auth_test())
    await session.close()


async def rest(_seconds: float) -> None:
    """Wait no time between two tries."""


CLIENTS: tuple[Callable[[str], Awaitable[None]], ...] = (
    ask_google,
    ask_microsoft,
    ask_for_a_login,
    ask_a_calendar_server,
    ask_caldav,
    ask_a_model,
    ask_ollama,
    ask_for_vectors,
    ask_a_task_list,
    ask_notion,
    ask_slack,
)


@pytest.mark.attack("services", "an answer without end, or one that unpacks into 200 MB", "7h", "mended")
@pytest.mark.attack("services", "an answer or its headers at ten bytes a second", "-", "mended")
@pytest.mark.asyncio
@pytest.mark.parametrize("manner", MANNERS)
@pytest.mark.parametrize("ask", CLIENTS, ids=lambda ask: ask.__name__)
async def test_a_hostile_answer_is_given_up(
    ask: Callable[[str], Awaitable[None]], manner: str, server: HostileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oauth, "CALL_SECONDS", SECONDS)
    monkeypatch.setattr(notion, "CALL_SECONDS", SECONDS)
    monkeypatch.setattr(notion, "TRIES", 2)
    monkeypatch.setattr(slack, "CALL_SECONDS", SECONDS)
    monkeypatch.setattr(vectors, "_SECONDS", SECONDS)
    monkeypatch.setattr(HttpEndpoint, "open_seconds", 10 * SECONDS)  # its libraries are loaded first
    server.manner = manner
    if manner == "slow head" and ask is ask_for_vectors:
        pytest.skip("its library has no time limit for a whole head; a thread waits for it, but no person")
    tracemalloc.start()
    try:
        async with asyncio.timeout(PATIENCE):
            await ask(server.url)
        assert tracemalloc.get_traced_memory()[1] < MOST_HELD
    finally:
        tracemalloc.stop()
    assert server.asked
    assert server.longest < BOMB_BYTES


@pytest.mark.attack("services", "endless or slow answers, or bombs, while a day is planned", "-", "mended")
@pytest.mark.process
@pytest.mark.parametrize("manner", ["endless", "slow", "bomb in a bomb"])
def test_a_day_is_planned_with_hostile_services(manner: str, server: HostileServer, tmp_path: Path) -> None:
    """S397: the program tells the person, who goes on with buttons; memory stays bounded."""
    server.manner = manner
    program = Program(
        tmp_path / "data",
        environment={
            "FATEFORGER_CALENDAR_URL": f"{server.url}/mcp",
            "FATEFORGER_MODEL": "some-model",
            "FATEFORGER_MODEL_URL": f"{server.url}/v1",
            "FATEFORGER_MODEL_KEY": "sk-test",
        },
    ).start()
    try:
        person = program.person()
        before = _peak(program)
        for _, step in STEPS[:2]:
            step(person)
        person.reads("I could not read your calendar", "Try again")
        person.write("I start at half past nine")
        person.reads("language model")
        assert _peak(program) - before < MOST_HELD
    finally:
        program.kill()


def _peak(program: Program) -> int:
    """Return the most memory that the program has used, in bytes."""
    assert program.process is not None
    status = Path(f"/proc/{program.process.pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024
