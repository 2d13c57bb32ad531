"""Consent of a person and of an organization, against Microsoft's half of OAuth, and what the calendar makes of it."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, quote, urlencode, urlsplit

import httpx
import pytest
import pytest_asyncio
from tests.contracts.calendar_contract import HOUR, NINE, fields, make_owned_id, marker
from tests.emulators.microsoft.emulator import ANN, Fault, MicrosoftEmulator
from tests.fakes.asgi_server import serve_app
from tests.fakes.manual_clock import ManualClock
from tests.fakes.stored_tokens import StoredTokens

from fateforger.adapters.microsoft.calendar import MicrosoftCalendar
from fateforger.adapters.microsoft.client import ORGANIZATION_SCOPES, SCOPES, Directory, GraphClient
from fateforger.adapters.oauth import OAuthApp, OAuthClient, Tokens, TokenSource, open_token_source
from fateforger.calendar.ports import Create, Done, Unauthorized, Unknown
from fateforger.errors import CalendarAuthFailed, CalendarNotFound, CalendarUnreachable, ConnectionMisconfigured

CLIENT = OAuthClient("the-client", "the-secret", "https://planner.example/callback")
TENANT = "contoso.example"


@dataclass
class Microsoft:
    emulator: MicrosoftEmulator
    address: str
    clock: ManualClock
    http: httpx.AsyncClient

    @property
    def directory(self) -> Directory:
        return Directory(TENANT, self.address)

    async def visit(self, url: str) -> dict[str, str]:
        """Open a page in the browser, and come back: the query of the address."""
        answer = await self.http.get(url)
        assert answer.status_code == 302, answer.text
        query = parse_qs(urlsplit(answer.headers["location"]).query)
        return {name: values[0] for name, values in query.items()}

    async def connect(self) -> TokenSource:
        """Let Ann consent, and keep her tokens."""
        app = OAuthApp(self.directory.build_provider(), CLIENT, self.clock)
        consent = app.begin()
        back = await self.visit(f"{consent.url}&login_hint={quote(ANN)}")
        assert back["state"] == consent.state
        return open_token_source(app, StoredTokens(await app.exchange(back["code"], consent.verifier)), self.clock)

    def open(self, tokens: TokenSource, user: str | None = None) -> MicrosoftCalendar:
        client = GraphClient(tokens, address=f"{self.address}/v1.0")
        return MicrosoftCalendar(client, key="microsoft/ann", time_zone="Europe/Berlin", user=user)


@pytest_asyncio.fixture
async def microsoft() -> AsyncIterator[Microsoft]:
    clock = ManualClock(datetime(2026, 3, 2, 11, tzinfo=UTC))
    emulator = MicrosoftEmulator(now=lambda: clock.now().timestamp())
    async with serve_app(emulator.app()) as address, httpx.AsyncClient() as http:
        yield Microsoft(emulator, address, clock, http)


async def test_a_person_consents_and_her_calendar_is_written(microsoft: Microsoft) -> None:
    """S311"""
    calendar = microsoft.open(await microsoft.connect())
    assert isinstance(await calendar.write(Create(make_owned_id(), fields(), marker())), Done)
    await calendar.aclose()
    assert [item.values["subject"] for item in microsoft.emulator.mailbox.items.values()] == ["Deep work"]


async def test_only_calendars_are_asked_for(microsoft: Microsoft) -> None:
    """S311: no mail, no contacts, and no data of other people."""
    url = OAuthApp(microsoft.directory.build_provider(), CLIENT, microsoft.clock).begin().url
    asked = parse_qs(urlsplit(url).query)
    assert asked["scope"] == ["offline_access Calendars.ReadWrite"]
    assert (asked["code_challenge_method"], asked["prompt"]) == (["S256"], ["select_account"])
    assert url.startswith(f"{microsoft.address}/{TENANT}/oauth2/v2.0/authorize?")


async def test_tokens_are_renewed_when_they_end(microsoft: Microsoft) -> None:
    calendar = microsoft.open(await microsoft.connect())
    microsoft.clock.at += timedelta(hours=2)
    assert isinstance(await calendar.write(Create(make_owned_id(), fields(), marker())), Done)
    microsoft.emulator.sign_in.expire_tokens()  # sooner than they were said to
    assert len(await calendar.window(NINE, NINE + HOUR)) == 1
    await calendar.aclose()


async def test_a_consent_that_was_withdrawn_is_said(microsoft: Microsoft) -> None:
    """S311: nothing is written, and the person learns that they have to connect again."""
    calendar = microsoft.open(await microsoft.connect())
    microsoft.emulator.sign_in.revoke(ANN)
    sentence = "Microsoft has ended my access to your account. Please connect it again."
    assert await calendar.write(Create(make_owned_id(), fields(), marker())) == Unauthorized(sentence)
    with pytest.raises(CalendarAuthFailed, match=re.escape(sentence)):
        await calendar.window(NINE, NINE + HOUR)
    await calendar.aclose()
    assert microsoft.emulator.mailbox.items == {}


async def test_a_token_that_is_refused_again_ends_the_login(microsoft: Microsoft) -> None:
    calendar = microsoft.open(await microsoft.connect())
    for _ in range(2):
        microsoft.emulator.inject(Fault(401, code="InvalidAuthenticationToken"))
    outcome = await calendar.write(Create(make_owned_id(), fields(), marker()))
    await calendar.aclose()
    assert isinstance(outcome, Unauthorized)
    assert "connect it again" in outcome.reason


async def test_a_sign_in_that_cannot_be_reached_may_work_again(microsoft: Microsoft) -> None:
    tokens = await microsoft.connect()
    microsoft.clock.at += timedelta(hours=2)
    microsoft.emulator.sign_in.is_down = True
    calendar = microsoft.open(tokens)
    assert isinstance(await calendar.write(Create(make_owned_id(), fields(), marker())), Unknown)
    with pytest.raises(CalendarUnreachable, match="cannot sign in at Microsoft"):
        await calendar.get(make_owned_id())
    microsoft.emulator.sign_in.is_down = False
    assert await calendar.get(make_owned_id()) is None
    await calendar.aclose()


def build_admin_consent_url(directory: Directory, state: str) -> str:
    """Return the page on which an administrator consents for the whole directory (docs/microsoft.md)."""
    asked = {"client_id": CLIENT.client_id, "redirect_uri": CLIENT.redirect_uri, "state": state}
    query = urlencode({**asked, "scope": ORGANIZATION_SCOPES[0]})
    return f"{directory.login_url}/{directory.tenant}/v2.0/adminconsent?{query}"


async def test_an_administrator_consents_for_everybody(microsoft: Microsoft) -> None:
    """S311: the program then uses the mailboxes of the directory without a person at the browser."""
    tokens = microsoft.directory.open_app_tokens(CLIENT, microsoft.clock)
    with pytest.raises(ConnectionMisconfigured):
        await tokens.get_token()
    back = await microsoft.visit(build_admin_consent_url(microsoft.directory, "the-state"))
    assert (back["admin_consent"], back["tenant"], back["state"]) == ("True", TENANT, "the-state")
    calendar = microsoft.open(tokens, user=ANN)
    assert isinstance(await calendar.write(Create(make_owned_id(), fields(), marker())), Done)
    stranger = microsoft.open(tokens, user="nobody@contoso.example")
    with pytest.raises(CalendarNotFound):
        await stranger.window(NINE, NINE + HOUR)
    await calendar.aclose()
    await stranger.aclose()


async def test_a_person_who_says_no_gives_no_code(microsoft: Microsoft) -> None:
    microsoft.emulator.sign_in.decision = "deny"
    app = OAuthApp(microsoft.directory.build_provider(), CLIENT, microsoft.clock)
    back = await microsoft.visit(app.begin().url)
    assert (back["error"], "code" in back) == ("access_denied", False)
    admin = await microsoft.visit(build_admin_consent_url(microsoft.directory, "x"))
    assert "admin_consent" not in admin


def test_what_was_granted_is_listed_without_the_offline_access() -> None:
    tokens = Tokens("a", datetime.now(UTC), scopes=("Calendars.ReadWrite",))
    assert tokens.find_missing(SCOPES) == ("offline_access",)


@pytest.mark.process
async def test_one_command_runs_the_emulator() -> None:
    """The line it prints has a token that works."""
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.emulators.microsoft", "--port", "0"), stdout=asyncio.subprocess.PIPE
    )
    assert server.stdout is not None
    try:
        line = (await asyncio.wait_for(server.stdout.readline(), 30)).decode()
        address, token = line.split()[2].rstrip(","), line.split()[-1]
        async with httpx.AsyncClient() as http:
            answer = await http.get(f"{address}/me/calendars", headers={"Authorization": f"Bearer {token}"})
        assert answer.json()["value"][0]["name"] == "Calendar"
    finally:
        server.terminate()
        await server.wait()
