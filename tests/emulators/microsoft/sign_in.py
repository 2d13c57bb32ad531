"""Microsoft's sign-in (OAuth 2.0, v2.0 endpoints): consent of a person, consent of an administrator, and tokens.

Access tokens end after an hour. Each renewal gives a new refresh token, and older ones stay valid, as the
documentation says. ``revoke`` ends all tokens of a person.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode

from tests.emulators.microsoft.graph import GraphRequest, GraphResponse
from tests.emulators.microsoft.mailbox import Refusal

_PATH = re.compile(r"/(?P<tenant>[^/]+)/(?P<what>oauth2/v2\.0/authorize|oauth2/v2\.0/token|v2\.0/adminconsent)")
LIFETIME = 3599
APP_ROLE = "Calendars.ReadWrite"


@dataclass
class App:
    """A registration. ``consented`` are the directories whose administrator allowed it to act without a person."""

    secret: str = "the-secret"
    redirects: tuple[str, ...] = ("https://planner.example/callback",)
    consented: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Grant:
    """The grant behind a code or token. Without ``user`` it is the program's own."""

    client: str
    user: str | None
    scopes: tuple[str, ...]
    until: float = 0.0
    redirect: str = ""
    challenge: str = ""


class SignIn:
    """``decision`` is what the person at the browser does: ``grant`` or ``deny``. ``signed_in`` is who that is."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.apps = {"the-client": App()}
        self.signed_in = "ann@contoso.example"
        self.decision = "grant"
        self.tenant = "contoso.example"
        self.is_down = False
        self._now = now
        self._codes: dict[str, Grant] = {}
        self._refreshes: dict[str, Grant] = {}
        self._tokens: dict[str, Grant] = {}
        self._made = 0

    def handles(self, path: str) -> bool:
        return _PATH.fullmatch(path) is not None

    def answer(self, asked: GraphRequest) -> GraphResponse:
        place = _PATH.fullmatch(asked.path)
        assert place is not None
        if self.is_down:
            return GraphResponse(503, {"error": "temporarily_unavailable", "error_description": "AADSTS90033"})
        match asked.method, place["what"]:
            case "GET", "oauth2/v2.0/authorize":
                return self._authorize(asked.query)
            case "GET", "v2.0/adminconsent":
                return self._admin_consent(place["tenant"], asked.query)
            case "POST", "oauth2/v2.0/token":
                return self._token(place["tenant"], dict(parse_qsl(asked.body.decode())))
        return GraphResponse(405, {"error": "invalid_request"})

    def give_token(self, user: str, scopes: tuple[str, ...] = ("Calendars.ReadWrite",)) -> str:
        """Return a token of a person who consented before."""
        return self._keep_token(Grant("the-client", user, scopes))

    def check(self, header: str) -> Grant:
        """Return the grant of a token. Raises :class:`Refusal` with status 401."""
        kind, _, token = header.partition(" ")
        grant = self._tokens.get(token)
        if kind != "Bearer" or grant is None:
            raise Refusal(401, "InvalidAuthenticationToken", "Access token validation failure.")
        if grant.until < self._now():
            raise Refusal(401, "InvalidAuthenticationToken", "Lifetime validation failed, the token is expired.")
        return grant

    def revoke(self, user: str) -> None:
        """Withdraw the consent, as the person or an administrator can: all tokens end."""
        self._tokens = {token: grant for token, grant in self._tokens.items() if grant.user != user}
        self._refreshes = {token: grant for token, grant in self._refreshes.items() if grant.user != user}

    def expire_tokens(self) -> None:
        """End all access tokens; they can be renewed."""
        self._tokens.clear()

    def _authorize(self, query: Mapping[str, str]) -> GraphResponse:
        app = self.apps.get(query.get("client_id", ""))
        if app is None:
            return _page("AADSTS700016: Application was not found in the directory.")
        if query.get("redirect_uri") not in app.redirects:
            return _page("AADSTS50011: The redirect URI specified in the request does not match the ones configured.")
        back = {"state": query["state"]} if "state" in query else {}
        if query.get("response_type") != "code" or not query.get("scope"):
            return _redirect(query["redirect_uri"], {"error": "invalid_request", **back})
        if self.decision == "deny":
            return _redirect(query["redirect_uri"], {"error": "access_denied", "error_subcode": "cancel", **back})
        code = self._mint("code")
        scopes = tuple(query["scope"].split())
        user = query.get("login_hint") or self.signed_in
        self._codes[code] = Grant(
            query["client_id"], user, scopes, redirect=query["redirect_uri"], challenge=query.get("code_challenge", "")
        )
        return _redirect(query["redirect_uri"], {"code": code, **back})

    def _admin_consent(self, tenant: str, query: Mapping[str, str]) -> GraphResponse:
        app = self.apps.get(query.get("client_id", ""))
        if app is None or query.get("redirect_uri") not in app.redirects:
            return _page("AADSTS700016: Application was not found in the directory.")
        back = {"state": query["state"]} if "state" in query else {}
        if self.decision == "deny":
            return _redirect(query["redirect_uri"], {"error": "consent_required", **back})
        named = self.tenant if tenant in {"common", "organizations"} else tenant
        app.consented.add(named)
        granted = {"admin_consent": "True", "tenant": named, "scope": query.get("scope", ""), **back}
        return _redirect(query["redirect_uri"], granted)

    def _token(self, tenant: str, form: Mapping[str, str]) -> GraphResponse:
        app = self.apps.get(form.get("client_id", ""))
        if app is None or form.get("client_secret") != app.secret:
            return _error(401, "invalid_client", "AADSTS7000215: Invalid client secret provided.")
        match form.get("grant_type"):
            case "authorization_code":
                grant = self._codes.pop(form.get("code", ""), None)
                if grant is None or grant.redirect != form.get("redirect_uri"):
                    return _error(
                        400, "invalid_grant", "AADSTS70008: The provided authorization code is expired or invalid."
                    )
                if grant.challenge and grant.challenge != _challenge(form.get("code_verifier", "")):
                    return _error(400, "invalid_grant", "AADSTS501481: The Code_Verifier does not match.")
                return self._give(grant)
            case "refresh_token":
                grant = self._refreshes.get(form.get("refresh_token", ""))
                if grant is None or grant.client != form["client_id"]:
                    return _error(400, "invalid_grant", "AADSTS50173: The provided grant has expired or was revoked.")
                return self._give(grant)
            case "client_credentials":
                if tenant not in app.consented:
                    return _error(
                        400, "unauthorized_client", "AADSTS700016: Application was not found in the directory."
                    )
                return self._give(Grant(form["client_id"], None, (APP_ROLE,)), refresh=False)
        return _error(400, "unsupported_grant_type", "AADSTS70003: The app requested an unsupported grant type.")

    def _give(self, grant: Grant, *, refresh: bool = True) -> GraphResponse:
        body: dict[str, Any] = {
            "token_type": "Bearer",
            "scope": " ".join(scope for scope in grant.scopes if scope != "offline_access"),
            "expires_in": LIFETIME,
            "ext_expires_in": LIFETIME,
            "access_token": self._keep_token(grant),
        }
        if refresh and "offline_access" in grant.scopes:
            body["refresh_token"] = self._mint("refresh")
            self._refreshes[body["refresh_token"]] = grant
        return GraphResponse(200, body)

    def _keep_token(self, grant: Grant) -> str:
        token = self._mint("access")
        scopes = tuple(scope.rsplit("/", 1)[-1] for scope in grant.scopes)
        self._tokens[token] = Grant(grant.client, grant.user, scopes, until=self._now() + LIFETIME)
        return token

    def _mint(self, kind: str) -> str:
        self._made += 1
        return f"{kind}-{self._made:06d}"


def _challenge(verifier: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


def _redirect(where: str, query: Mapping[str, str]) -> GraphResponse:
    return GraphResponse(302, None, {"Location": f"{where}?{urlencode(query)}"})


def _page(text: str) -> GraphResponse:
    return GraphResponse(400, {"error": "invalid_request", "error_description": text})


def _error(status: int, error: str, description: str) -> GraphResponse:
    return GraphResponse(status, {"error": error, "error_description": description, "trace_id": "0"})
