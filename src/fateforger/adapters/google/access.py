"""Access to Google: what is asked of a person on the consent page, and service accounts of a Workspace domain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from authlib.integrations.httpx_client import AsyncAssertionClient  # type: ignore[import-untyped]  # it ships no types
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey

from fateforger.adapters.answers import limit_answers
from fateforger.adapters.oauth import (
    CALL_SECONDS,
    OAuthProvider,
    RenewedTokens,
    Tokens,
    TokenSource,
    read_tokens,
    translate_errors,
)
from fateforger.errors import BadInput
from fateforger.limits import MAX_LOGIN_ANSWER_BYTES
from fateforger.ports.clock import Clock
from fateforger.text import gettext as _

_AUTH = "https://www.googleapis.com/auth/calendar"
SCOPES = (f"{_AUTH}.events.owned", f"{_AUTH}.events.readonly", f"{_AUTH}.calendarlist.readonly")
"""Change events on calendars that the person owns, read events on all of theirs, and list those: nothing else."""
ACCOUNTS_URL = "https://accounts.google.com"
TOKENS_URL = "https://oauth2.googleapis.com"


def build_provider(*, accounts_url: str = ACCOUNTS_URL, tokens_url: str = TOKENS_URL) -> OAuthProvider:
    """Return Google's addresses and the access that is asked for, also while the person is away."""
    return OAuthProvider(
        name="Google",
        authorize_url=f"{accounts_url}/o/oauth2/v2/auth",
        token_url=f"{tokens_url}/token",
        scopes=SCOPES,
        revoke_url=f"{tokens_url}/revoke",
        # Google gives a refresh token only at the first consent, unless the page is asked for again.
        consent_parameters={"access_type": "offline", "prompt": "consent select_account"},
    )


@dataclass(frozen=True, slots=True)
class ServiceAccount:
    """A service account whose client id an administrator authorized for the whole domain, for :data:`SCOPES`."""

    email: str
    private_key: str = field(repr=False)
    token_url: str = f"{TOKENS_URL}/token"


def read_service_account(content: str) -> ServiceAccount:
    """Read the key file that Google's console gives for a service account. Raises ``BadInput``."""
    try:
        found = json.loads(content)
        account = ServiceAccount(found["client_email"], found["private_key"], found["token_uri"])
        usable = RSAKey.import_key(account.private_key).is_private
    except (ValueError, KeyError, TypeError, JoseError):
        usable = False
    if not usable:
        raise BadInput(_("That is not the key file of a service account of Google."))
    return account


def open_delegated_tokens(
    account: ServiceAccount, person: str, clock: Clock, *, scopes: Sequence[str] = SCOPES
) -> TokenSource:
    """Return tokens for the calendar of ``person``, an address in the domain, without their consent."""
    provider = OAuthProvider("Google", "", account.token_url, tuple(scopes))

    async def renew(_refused: str) -> Tokens:
        now = clock.now()
        client = AsyncAssertionClient(
            account.token_url,
            issuer=account.email,
            subject=person,
            claims={"scope": " ".join(scopes)},
            header={"alg": "RS256"},
            key=RSAKey.import_key(account.private_key),
            issued_at=int(now.timestamp()),
            timeout=CALL_SECONDS,
        )
        limit_answers(client, MAX_LOGIN_ANSWER_BYTES)
        async with translate_errors(provider.name), client:
            return read_tokens(await client.refresh_token(), provider, now)

    return RenewedTokens(renew, clock)
