"""Requests for access to Google, and a service account that acts for the people of a domain."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from urllib.parse import parse_qs, urlsplit

import pytest
import pytest_asyncio
from joserfc.jwk import RSAKey
from tests.contracts.calendar_contract import HOUR, NINE, put
from tests.emulators.google.accounts import Robot
from tests.emulators.google.emulator import GoogleEmulator
from tests.fakes.asgi_server import serve_app
from tests.fakes.manual_clock import ManualClock

from fateforger.adapters.google.calendars import GoogleCalendar, try_account
from fateforger.adapters.google.client import (
    SCOPES,
    GoogleClient,
    ServiceAccount,
    build_provider,
    open_delegated_tokens,
    read_service_account,
)
from fateforger.adapters.oauth import OAuthApp, OAuthClient
from fateforger.errors import BadInput, ConnectionMisconfigured, ConnectionRevoked

pytestmark = pytest.mark.asyncio
ROBOT = "planner@project.iam.gserviceaccount.com"


@pytest.fixture(scope="module")
def secret() -> RSAKey:
    return RSAKey.generate_key(2048)


@pytest_asyncio.fixture
async def account(google: GoogleEmulator, secret: RSAKey) -> AsyncIterator[ServiceAccount]:
    """Yield a service account that the administrator of example.com has authorized."""
    google.accounts.robots.append(Robot(ROBOT, secret, "example.com", SCOPES))
    async with serve_app(google.app()) as base:
        content = {
            "client_email": ROBOT,
            "private_key": secret.as_pem(private=True).decode(),
            "token_uri": f"{base}/token",
        }
        yield read_service_account(json.dumps(content))


async def test_the_consent_page_asks_for_the_least_and_for_the_time_when_nobody_is_there(clock: ManualClock) -> None:
    app = OAuthApp(build_provider(), OAuthClient("id", "secret", "https://example.com/connected"), clock)
    url = urlsplit(app.begin().url)
    asked = parse_qs(url.query)
    assert (url.netloc, url.path) == ("accounts.google.com", "/o/oauth2/v2/auth")
    assert (asked["access_type"], asked["prompt"]) == (["offline"], ["consent select_account"])
    assert [scope.rpartition("/")[2] for scope in asked["scope"][0].split()] == [
        "calendar.events.owned",
        "calendar.events.readonly",
        "calendar.calendarlist.readonly",
    ]


async def test_a_service_account_plans_for_a_person_of_its_domain(
    account: ServiceAccount, google: GoogleEmulator, clock: ManualClock
) -> None:
    """S305"""
    tokens = open_delegated_tokens(account, "owner@example.com", clock)
    base = account.token_url.removesuffix("/token")
    async with aclosing(GoogleClient(tokens, clock, url=f"{base}/calendar/v3")) as client:
        assert (await try_account(client))[0] == "owner@example.com"
        calendar = GoogleCalendar(client, "primary", time_zone="Europe/Berlin", key="google/owner")
        await put(calendar)
        google.accounts.expire_access()  # and gets another token by itself
        assert len(await calendar.window(NINE, NINE + HOUR)) == 1
    assert google.accounts.renewals == 2


async def test_nobody_outside_the_domain(account: ServiceAccount, clock: ManualClock) -> None:
    """S305"""
    with pytest.raises(ConnectionRevoked):
        await open_delegated_tokens(account, "someone@elsewhere.org", clock).get_token()


async def test_more_than_the_administrator_allowed(account: ServiceAccount, clock: ManualClock) -> None:
    wanted = (*SCOPES, "https://www.googleapis.com/auth/calendar")
    with pytest.raises(ConnectionMisconfigured, match="unauthorized_client"):
        await open_delegated_tokens(account, "owner@example.com", clock, scopes=wanted).get_token()


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"client_email": "x", "private_key": "y", "token_uri": "z"}'])
async def test_another_file_than_a_key(content: str) -> None:
    with pytest.raises(BadInput, match="not the key file of a service account"):
        read_service_account(content)


async def test_the_key_is_not_shown(account: ServiceAccount) -> None:
    assert account.private_key not in repr(account)
