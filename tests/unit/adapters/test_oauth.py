"""Consent, tokens and their renewal, against Google's half of OAuth."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import pytest_asyncio
from tests.emulators.google.emulator import Fault, GoogleEmulator
from tests.fakes.asgi_server import serve_app
from tests.fakes.manual_clock import ManualClock
from tests.fakes.stored_tokens import StoredTokens

from fateforger.adapters import oauth
from fateforger.adapters.oauth import OAuthApp, OAuthClient, OAuthProvider, Tokens, open_token_source
from fateforger.errors import ConnectionFailed, ConnectionMisconfigured, ConnectionRevoked, ConnectionUnreachable
from fateforger.values import replace

pytestmark = pytest.mark.asyncio
SCOPES = ("https://www.googleapis.com/auth/calendar.events", "https://www.googleapis.com/auth/calendar.readonly")
OWNER = "owner@example.com"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 3, 2, 11, tzinfo=UTC))


@pytest.fixture
def google(clock: ManualClock) -> GoogleEmulator:
    return GoogleEmulator(now=clock.now)


@pytest_asyncio.fixture
async def app(google: GoogleEmulator, clock: ManualClock) -> AsyncIterator[OAuthApp]:
    async with serve_app(google.app()) as base:
        provider = OAuthProvider(
            "Google",
            f"{base}/o/oauth2/v2/auth",
            f"{base}/token",
            SCOPES,
            f"{base}/revoke",
            {"access_type": "offline", "prompt": "consent"},
        )
        yield OAuthApp(provider, client_of(google), clock)


def client_of(google: GoogleEmulator) -> OAuthClient:
    known = google.accounts.client
    return OAuthClient(known.id, known.secret, known.redirects[0])


async def connect(app: OAuthApp, google: GoogleEmulator, scopes: tuple[str, ...] | None = None) -> Tokens:
    consent = app.begin()
    back = parse_qs(urlsplit(google.accounts.consent(consent.url, OWNER, scopes=scopes)).query)
    assert consent.is_answered_by(back["state"][0])
    assert not consent.is_answered_by(app.begin().state)
    return await app.exchange(back["code"][0], consent.verifier)


async def test_a_person_connects(app: OAuthApp, google: GoogleEmulator, clock: ManualClock) -> None:
    tokens = await connect(app, google)
    assert google.accounts.account_of(tokens.access_token, SCOPES) == OWNER
    assert tokens.expires_at == clock.now() + timedelta(seconds=3599)
    assert (tokens.refresh_token, tokens.scopes) == (google.accounts.grants[0].refresh_token, SCOPES)


async def test_the_page_shows_the_accounts_and_what_is_asked_for(app: OAuthApp, google: GoogleEmulator) -> None:
    google.accounts.people.append("second@example.com")
    async with httpx.AsyncClient(trust_env=False) as browser:
        page = await browser.get(f"{app.begin().url}&login_hint=second%40example.com")
    assert page.status_code == 200
    assert all(words in page.text for words in (OWNER, 'value="second@example.com" checked', *SCOPES))


async def test_the_request_for_consent_is_bound_to_its_answer(app: OAuthApp) -> None:
    """PKCE and state: other values each time, and the verifier is nowhere in the address."""
    one, other = app.begin(), app.begin()
    asked = parse_qs(urlsplit(one.url).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert (asked["access_type"], asked["scope"]) == (["offline"], [" ".join(SCOPES)])
    assert one.verifier not in one.url
    assert len({one.state, other.state, one.verifier, other.verifier}) == 4


async def test_a_stolen_code_is_worth_nothing(app: OAuthApp, google: GoogleEmulator) -> None:
    consent = app.begin()
    code = parse_qs(urlsplit(google.accounts.consent(consent.url, OWNER)).query)["code"][0]
    with pytest.raises(ConnectionRevoked):
        await app.exchange(code, app.begin().verifier)


async def test_a_code_is_good_once(app: OAuthApp, google: GoogleEmulator) -> None:
    consent = app.begin()
    code = parse_qs(urlsplit(google.accounts.consent(consent.url, OWNER)).query)["code"][0]
    await app.exchange(code, consent.verifier)
    with pytest.raises(ConnectionRevoked):
        await app.exchange(code, consent.verifier)


async def test_a_person_who_leaves_a_scope_out_is_noticed(app: OAuthApp, google: GoogleEmulator) -> None:
    tokens = await connect(app, google, SCOPES[:1])
    assert tokens.find_missing(SCOPES) == SCOPES[1:]


async def test_a_token_is_renewed_before_it_expires(app: OAuthApp, google: GoogleEmulator, clock: ManualClock) -> None:
    kept = StoredTokens(await connect(app, google))
    source = open_token_source(app, kept, clock)
    first = await source.get_token()
    assert (await source.get_token(), google.accounts.renewals) == (first, 0)
    clock.at += timedelta(seconds=3599 - 59)
    second = await source.get_token()
    assert google.accounts.account_of(second, SCOPES) == OWNER
    assert (second != first, google.accounts.renewals, [t.access_token for t in kept.saved]) == (True, 1, [second])
    assert (kept.tokens.refresh_token, kept.tokens.scopes) == (google.accounts.grants[0].refresh_token, SCOPES)


async def test_many_callers_renew_once(app: OAuthApp, google: GoogleEmulator, clock: ManualClock) -> None:
    source = open_token_source(app, StoredTokens(await connect(app, google)), clock)
    clock.at += timedelta(hours=2)
    assert len(set(await asyncio.gather(*(source.get_token() for _ in range(8))))) == 1
    assert google.accounts.renewals == 1


async def test_a_refused_token_is_not_given_again(app: OAuthApp, google: GoogleEmulator, clock: ManualClock) -> None:
    source = open_token_source(app, StoredTokens(await connect(app, google)), clock)
    first = await source.get_token()
    google.accounts.expire_access()
    source.report_refused(first)
    assert google.accounts.account_of(await source.get_token(), SCOPES) == OWNER


async def test_a_rotated_refresh_token_is_kept(app: OAuthApp, google: GoogleEmulator, clock: ManualClock) -> None:
    google.accounts.rotating = True
    kept = StoredTokens(await connect(app, google))
    source = open_token_source(app, kept, clock)
    for _ in range(3):
        clock.at += timedelta(hours=2)
        await source.get_token()
    assert len({t.refresh_token for t in kept.saved}) == 3


async def test_a_caller_that_gives_up_loses_no_rotated_token(
    app: OAuthApp, google: GoogleEmulator, clock: ManualClock
) -> None:
    """The old refresh token is worth nothing by then, and the new one has to reach the store."""
    google.accounts.rotating = True
    reached, go_on = asyncio.Event(), asyncio.Event()

    class Slow(StoredTokens):
        async def save(self, tokens: Tokens) -> None:
            reached.set()
            await go_on.wait()
            await super().save(tokens)

    kept = Slow(await connect(app, google))
    source = open_token_source(app, kept, clock)
    clock.at += timedelta(hours=2)
    caller = asyncio.create_task(source.get_token())
    await reached.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    go_on.set()
    assert await source.get_token() == kept.tokens.access_token
    assert (kept.tokens.refresh_token, google.accounts.renewals) == (google.accounts.grants[0].refresh_token, 1)


@pytest.mark.parametrize("looks", [1, 2])
async def test_another_process_may_have_rotated_it(
    app: OAuthApp, google: GoogleEmulator, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, looks: int
) -> None:
    """The other process renewed after the look into the store, and may still be saving. What it saves is used."""
    monkeypatch.setattr(oauth, "SAVED_AFTER", (0.0, 0.0))
    google.accounts.rotating = True
    old = await connect(app, google)
    clock.at += timedelta(hours=2)
    newer = await app.refresh(old)

    class Behind(StoredTokens):
        loads = 0

        async def load(self) -> Tokens:
            self.loads += 1
            return old if self.loads <= looks else newer

    assert await open_token_source(app, Behind(old), clock).get_token() == newer.access_token


@pytest.mark.parametrize("how", ["withdrawn", "seven days", "revoked"])
async def test_access_that_ended_has_a_name(
    app: OAuthApp, google: GoogleEmulator, clock: ManualClock, how: str
) -> None:
    """S303: The consent is withdrawn, or the consent screen is in "Testing" and a week has passed."""
    google.accounts.testing = True
    kept = StoredTokens(await connect(app, google))
    source = open_token_source(app, kept, clock)
    clock.at += timedelta(hours=2)
    if how == "withdrawn":
        google.accounts.withdraw(OWNER)
    elif how == "revoked":
        await app.revoke(kept.tokens)
        await app.revoke(kept.tokens)  # once more is no error
    else:
        await source.get_token()
        clock.at += timedelta(days=7)
    with pytest.raises(ConnectionRevoked, match="Google has ended my access to your account"):
        await source.get_token()


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(503), ConnectionUnreachable),
        (Fault(429, "Too many"), ConnectionUnreachable),
        (Fault(0), ConnectionUnreachable),
    ],
    ids=["503", "429", "cut"],
)
async def test_a_service_in_trouble_ends_nothing(
    app: OAuthApp, google: GoogleEmulator, clock: ManualClock, fault: Fault, error: type[ConnectionFailed]
) -> None:
    """S303: And the next try gets a token."""
    source = open_token_source(app, StoredTokens(await connect(app, google)), clock)
    clock.at += timedelta(hours=2)
    google.inject(fault, path="/token")
    with pytest.raises(error):
        await source.get_token()
    assert google.accounts.account_of(await source.get_token(), SCOPES) == OWNER


async def test_a_wrong_secret_is_the_operators_matter(
    app: OAuthApp, google: GoogleEmulator, clock: ManualClock
) -> None:
    tokens = await connect(app, google)
    wrong = OAuthApp(app.provider, replace(client_of(google), client_secret="wrong"), clock)
    with pytest.raises(ConnectionMisconfigured, match="invalid_client"):
        await wrong.refresh(tokens)


async def test_nobody_listens(google: GoogleEmulator, clock: ManualClock) -> None:
    provider = OAuthProvider("Google", "http://127.0.0.1:9/a", "http://127.0.0.1:9/t", SCOPES)
    with pytest.raises(ConnectionUnreachable):
        await OAuthApp(provider, client_of(google), clock).exchange("code", "verifier")


async def test_no_secret_is_shown(app: OAuthApp, google: GoogleEmulator) -> None:
    consent, tokens = app.begin(), await connect(app, google)
    shown = f"{tokens!r} {consent!r} {client_of(google)!r}"
    hidden = (tokens.access_token, tokens.refresh_token, consent.verifier, google.accounts.client.secret)
    assert not any(secret in shown for secret in hidden)
