"""Access to Microsoft: what is asked of a person or of an organization, and tokens of the program itself."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

from authlib.integrations.httpx_client import AsyncOAuth2Client  # type: ignore[import-untyped]  # it ships no types

from fateforger.adapters.answers import limit_answers
from fateforger.adapters.oauth import (
    CALL_SECONDS,
    OAuthClient,
    OAuthProvider,
    RenewedTokens,
    Tokens,
    TokenSource,
    read_tokens,
    translate_errors,
)
from fateforger.limits import MAX_LOGIN_ANSWER_BYTES
from fateforger.ports.clock import Clock

NAME = "Microsoft"
LOGIN_URL = "https://login.microsoftonline.com"
SCOPES = ("offline_access", "Calendars.ReadWrite")
"""Read and change one's own calendars, also while the person is away. Microsoft does not repeat ``offline_access`` in
the list of what was granted."""
ORGANIZATION_SCOPES = ("https://graph.microsoft.com/.default",)
"""All application permissions that an administrator granted to this program."""


@dataclass(frozen=True, slots=True)
class Directory:
    """The sign-in of a Microsoft Entra directory.

    ``tenant`` is the directory's id or domain, ``organizations`` for any work or school account, ``consumers`` for any
    personal account, or ``common`` for both.
    """

    tenant: str = "common"
    login_url: str = LOGIN_URL

    def build_provider(self) -> OAuthProvider:
        """Return the addresses for people, who consent for themselves.

        Microsoft has no address to revoke tokens: people withdraw their consent on a page of their account.
        """
        return OAuthProvider(
            name=NAME,
            authorize_url=self._build_url("oauth2/v2.0/authorize"),
            token_url=self._build_url("oauth2/v2.0/token"),
            scopes=SCOPES,
            consent_parameters={"prompt": "select_account"},
        )

    def build_admin_consent_url(self, client: OAuthClient, state: str) -> str:
        """Return the page on which an administrator consents for the whole directory.

        The browser comes back with ``admin_consent=True``, ``tenant`` and ``state``, or with ``error``.
        """
        asked = {"client_id": client.client_id, "redirect_uri": client.redirect_uri, "state": state}
        return f"{self._build_url('v2.0/adminconsent')}?{urlencode({**asked, 'scope': ORGANIZATION_SCOPES[0]})}"

    def open_app_tokens(self, client: OAuthClient, clock: Clock) -> TokenSource:
        """Return tokens of this program itself, with which it may use the mailboxes that an administrator allowed."""
        provider = OAuthProvider(NAME, "", self._build_url("oauth2/v2.0/token"), ORGANIZATION_SCOPES)

        async def renew(_refused: str) -> Tokens:
            opened = AsyncOAuth2Client(
                client.client_id,
                client.client_secret,
                token_endpoint_auth_method="client_secret_post",  # noqa: S106  the name of a method
                scope=" ".join(ORGANIZATION_SCOPES),
                timeout=CALL_SECONDS,
            )
            limit_answers(opened, MAX_LOGIN_ANSWER_BYTES)
            async with translate_errors(NAME), opened:
                token = await opened.fetch_token(provider.token_url, grant_type="client_credentials")
            return read_tokens(token, provider, clock.now())

        return RenewedTokens(renew, clock)

    def _build_url(self, path: str) -> str:
        return f"{self.login_url}/{quote(self.tenant, safe='')}/{path}"
