"""A person who connected their account to the program, as they do it in the browser."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from tests.emulators.google.emulator import GoogleEmulator
from tests.fakes.stored_tokens import StoredTokens

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.google.client import build_provider
from fateforger.adapters.oauth import OAuthApp, OAuthClient, TokenSource, open_token_source
from fateforger.ports.clock import Clock


async def connect_person(google: GoogleEmulator, base: str, clock: Clock | None = None) -> TokenSource:
    """Consent to all requested scopes, and return the tokens."""
    known, account = google.accounts.client, google.accounts.people[0]
    provider = build_provider(accounts_url=base, tokens_url=base)
    app = OAuthApp(provider, OAuthClient(known.id, known.secret, known.redirects[0]), clock or SystemClock())
    consent = app.begin()
    code = parse_qs(urlsplit(google.accounts.consent(consent.url, account)).query)["code"][0]
    return open_token_source(app, StoredTokens(await app.exchange(code, consent.verifier)), clock or SystemClock())
