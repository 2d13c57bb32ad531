"""Addresses of Microsoft's sign-in, and the access that this program asks for."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode

LOGIN = "https://login.microsoftonline.com"
GRAPH = "https://graph.microsoft.com/v1.0"

PERSON_SCOPES = ("offline_access", "https://graph.microsoft.com/Calendars.ReadWrite")
"""Access to one's own calendar, also later: what each person consents to."""

ORGANIZATION_SCOPES = ("https://graph.microsoft.com/.default",)
"""All application permissions that an administrator granted; docs/microsoft.md says how to limit them."""


@dataclass(frozen=True, slots=True)
class Directory:
    """The addresses of a Microsoft Entra directory.

    ``tenant`` is the directory's id or domain, ``organizations`` for any work or school account, ``consumers`` for any
    personal account, or ``common`` for both.
    """

    tenant: str = "common"
    login: str = LOGIN

    @property
    def authorize_url(self) -> str:
        return self._build_url("oauth2/v2.0/authorize")

    @property
    def token_url(self) -> str:
        return self._build_url("oauth2/v2.0/token")

    def build_admin_consent_url(self, client_id: str, redirect_uri: str, state: str) -> str:
        """Return the page on which an administrator consents for everyone in the directory.

        The browser comes back with ``admin_consent=True``, ``tenant`` and ``state``, or with ``error``.
        """
        scope = " ".join(ORGANIZATION_SCOPES)
        asked = {"client_id": client_id, "redirect_uri": redirect_uri, "state": state, "scope": scope}
        return f"{self._build_url('v2.0/adminconsent')}?{urlencode(asked)}"

    def _build_url(self, path: str) -> str:
        return f"{self.login}/{quote(self.tenant, safe='')}/{path}"
