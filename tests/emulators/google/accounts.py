"""Google's half of OAuth: the consent page, tokens, their renewal and their end, and service accounts.

Access tokens live for an hour. A code is good once, for ten minutes, and only with the verifier whose challenge came
with the request. A refresh token comes with offline access, at the first consent or when the page was asked for; while
the consent screen is in "Testing" it ends after seven days.
"""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import RSAKey
from tests.emulators.google.wire import Ask, Json, Refusal, Reply, to_json, to_page

AUTHORIZE, TOKEN, REVOKE = "/o/oauth2/v2/auth", "/token", "/revoke"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
ACCESS_SECONDS = 3599
CODE_LASTS = timedelta(minutes=10)
TESTING_LASTS = timedelta(days=7)


def utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Client:
    """A program that is registered."""

    id: str = "client.apps.googleusercontent.com"
    secret: str = "client-secret"
    redirects: tuple[str, ...] = ("http://127.0.0.1/connected",)


@dataclass(frozen=True)
class Robot:
    """A service account that an administrator let act for the people of a domain, within ``scopes``."""

    email: str
    public_key: RSAKey
    domain: str
    scopes: tuple[str, ...]


@dataclass
class Grant:
    """The scopes that a person granted to a program."""

    account: str
    scopes: tuple[str, ...]
    given_at: datetime
    refresh_token: str = ""
    ended: bool = False


@dataclass(frozen=True)
class _Code:
    grant: Grant
    asked: Mapping[str, str]
    at: datetime


class OAuthRefusal(Exception):
    def __init__(self, error: str, description: str = "", status: int = 400) -> None:
        super().__init__(error)
        self.error = error
        self.description = description
        self.status = status

    def reply(self) -> Reply:
        return to_json({"error": self.error, "error_description": self.description}, self.status)


@dataclass
class GoogleAccounts:
    """The people, the program and the tokens. ``rotating`` gives a new refresh token at each renewal, as other services
    do; Google keeps one."""

    people: list[str] = field(default_factory=lambda: ["owner@example.com"])
    client: Client = field(default_factory=Client)
    robots: list[Robot] = field(default_factory=list)
    testing: bool = False
    rotating: bool = False
    now: Callable[[], datetime] = utc_now
    grants: list[Grant] = field(default_factory=list)
    renewals: int = 0
    _codes: dict[str, _Code] = field(default_factory=dict)
    _access: dict[str, tuple[Grant, datetime]] = field(default_factory=dict)
    _made: int = 0

    def handle(self, ask: Ask) -> Reply | None:
        """Return the answer, or ``None`` for another address."""
        answers: dict[tuple[str, str], Callable[[Ask], Reply]] = {
            ("GET", AUTHORIZE): self._show_page,
            ("POST", AUTHORIZE): self._decide,
            ("POST", TOKEN): self._give_tokens,
            ("POST", REVOKE): self._revoke,
        }
        answer = answers.get((ask.method, ask.path))
        if answer is None:
            return None
        try:
            return answer(ask)
        except OAuthRefusal as refusal:
            return refusal.reply()

    # --- for tests: what a person does ---

    def consent(self, url: str, account: str, *, scopes: tuple[str, ...] | None = None, allow: bool = True) -> str:
        """Return the address to which the browser goes after the person's decision on the page at ``url``."""
        asked = dict(parse_qsl(urlsplit(url).query))
        chosen = asked["scope"].split() if scopes is None else scopes
        form = [("request", urlsplit(url).query), ("account", account), ("allow", "yes" if allow else "")]
        body = urlencode([*form, *(("scope", scope) for scope in chosen)]).encode()
        return self._decide(Ask("POST", AUTHORIZE, body=body)).headers["location"]

    def withdraw(self, account: str) -> None:
        """Remove the program's access, as the person can in their account."""
        for grant in self.grants:
            if grant.account == account:
                grant.ended = True

    def expire_access(self) -> None:
        """End all access tokens before their time."""
        self._access.clear()

    # --- for the calendar's side ---

    def account_of(self, token: str, wanted: tuple[str, ...]) -> str:
        """Return the account of a token. Raises :class:`Refusal` unless it is valid and has one of the scopes."""
        grant, until = self._access.get(token, (None, self.now()))
        if grant is None or grant.ended or self.now() >= until:
            raise Refusal(401, "Invalid Credentials", "authError")
        if not set(wanted) & set(grant.scopes):
            raise Refusal(403, "Request had insufficient authentication scopes.", "insufficientPermissions")
        return grant.account

    # --- the pages ---

    def _show_page(self, ask: Ask) -> Reply:
        refused = self._check_request(ask.query)
        if refused:
            return to_page(f"<h1>Error 400: {html.escape(refused)}</h1>", 400)
        scopes = "".join(
            f'<p><label><input type="checkbox" name="scope" value="{html.escape(scope)}" checked>'
            f" {html.escape(scope)}</label></p>"
            for scope in ask.query["scope"].split()
        )
        hint = ask.query.get("login_hint")
        people = "".join(
            f'<p><label><input type="radio" name="account" value="{html.escape(one)}"'
            f"{' checked' if one == (hint or self.people[0]) else ''}> {html.escape(one)}</label></p>"
            for one in self.people
        )
        return to_page(
            f'<!doctype html><title>Choose an account</title><h1>Choose an account</h1><form method="post">{people}'
            f"<h2>The program asks for</h2>{scopes}"
            f'<input type="hidden" name="request" value="{html.escape(urlencode(ask.query))}">'
            '<button name="allow" value="yes">Allow</button> <button name="allow" value="">Cancel</button></form>'
        )

    def _check_request(self, asked: Mapping[str, str]) -> str:
        if asked.get("client_id") != self.client.id:
            return "invalid_client"
        if asked.get("redirect_uri") not in self.client.redirects:
            return "redirect_uri_mismatch"
        needed = asked.get("response_type") == "code" and asked.get("scope")
        return "" if needed else "invalid_request"

    def _decide(self, ask: Ask) -> Reply:
        items = ask.form_items
        form = dict(items)
        asked = dict(parse_qsl(form["request"]))
        if refused := self._check_request(asked):
            return to_page(f"<h1>Error 400: {html.escape(refused)}</h1>", 400)
        state = {"state": asked["state"]} if "state" in asked else {}
        if form["allow"] != "yes" or form.get("account") not in self.people:
            return _redirect(asked["redirect_uri"], {"error": "access_denied", **state})
        scopes = tuple(value for name, value in items if name == "scope" and value in asked["scope"].split())
        grant = Grant(form["account"], scopes, self.now())
        first = not any(g.account == grant.account and not g.ended for g in self.grants)
        if asked.get("access_type") == "offline" and (first or "consent" in asked.get("prompt", "")):
            grant.refresh_token = self._make("1//refresh")
        self.grants.append(grant)
        code = self._make("4/code")
        self._codes[code] = _Code(grant, asked, self.now())
        return _redirect(asked["redirect_uri"], {"code": code, "scope": " ".join(scopes), **state})

    # --- tokens ---

    def _give_tokens(self, ask: Ask) -> Reply:
        form = ask.form
        match form.get("grant_type"):
            case "authorization_code":
                self._check_client(form)
                grant = self._redeem(form)
                return to_json({**self._access_for(grant), **self._refresh_of(grant)})
            case "refresh_token":
                self._check_client(form)
                grant = self._renew(form.get("refresh_token", ""))
                return to_json({**self._access_for(grant), **(self._refresh_of(grant) if self.rotating else {})})
            case kind if kind == JWT_BEARER:
                return to_json(self._access_for(self._act_for(form.get("assertion", ""))))
            case kind:
                raise OAuthRefusal("unsupported_grant_type", f"Invalid grant_type: {kind}")

    def _check_client(self, form: Mapping[str, str]) -> None:
        if (form.get("client_id"), form.get("client_secret")) != (self.client.id, self.client.secret):
            raise OAuthRefusal("invalid_client", "The provided client secret is invalid.", 401)

    def _redeem(self, form: Mapping[str, str]) -> Grant:
        found = self._codes.pop(form.get("code", ""), None)
        if found is None or self.now() > found.at + CODE_LASTS:
            raise OAuthRefusal("invalid_grant", "Malformed auth code.")
        if form.get("redirect_uri") != found.asked["redirect_uri"]:
            raise OAuthRefusal("redirect_uri_mismatch", "Bad Request")
        if challenge := found.asked.get("code_challenge"):
            digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
            if base64.urlsafe_b64encode(digest).decode().rstrip("=") != challenge:
                raise OAuthRefusal("invalid_grant", "Invalid code verifier.")
        return found.grant

    def _renew(self, token: str) -> Grant:
        grant = next((g for g in self.grants if token and g.refresh_token == token), None)
        if grant is None or grant.ended or (self.testing and self.now() > grant.given_at + TESTING_LASTS):
            raise OAuthRefusal("invalid_grant", "Token has been expired or revoked.")
        self.renewals += 1
        if self.rotating:
            grant.refresh_token = self._make("1//refresh")
        return grant

    def _act_for(self, assertion: str) -> Grant:
        claims, robot = self._read_assertion(assertion)
        person, scopes = str(claims.get("sub", "")), str(claims.get("scope", "")).split()
        if person not in self.people or not person.endswith(f"@{robot.domain}"):
            raise OAuthRefusal("invalid_grant", "Invalid email or User ID")
        if not scopes or not set(scopes) <= set(robot.scopes):
            raise OAuthRefusal("unauthorized_client", "Client is unauthorized to retrieve access tokens.", 401)
        self.renewals += 1
        return Grant(person, tuple(scopes), self.now())

    def _read_assertion(self, assertion: str) -> tuple[dict[str, Any], Robot]:
        for robot in self.robots:
            try:
                claims = jwt.decode(assertion, robot.public_key, algorithms=["RS256"]).claims
            except JoseError:
                continue
            now = self.now().timestamp()
            if claims.get("iss") == robot.email and claims["iat"] - 60 <= now < claims["exp"] <= claims["iat"] + 3600:
                return claims, robot
        raise OAuthRefusal("invalid_grant", "Invalid JWT Signature.")

    def _access_for(self, grant: Grant) -> Json:
        token = self._make("ya29.access")
        self._access[token] = (grant, self.now() + timedelta(seconds=ACCESS_SECONDS))
        return {
            "access_token": token,
            "expires_in": ACCESS_SECONDS,
            "scope": " ".join(grant.scopes),
            "token_type": "Bearer",
        }

    def _refresh_of(self, grant: Grant) -> Json:
        return {"refresh_token": grant.refresh_token} if grant.refresh_token else {}

    def _revoke(self, ask: Ask) -> Reply:
        token = ask.form.get("token") or ask.query.get("token", "")
        held = self._access.get(token)
        grant = held[0] if held else next((g for g in self.grants if token and g.refresh_token == token), None)
        if grant is None or grant.ended:
            raise OAuthRefusal("invalid_token", "Token expired or revoked")
        grant.ended = True
        return to_json({})

    def _make(self, kind: str) -> str:
        self._made += 1
        return f"{kind}-{self._made}"


def _redirect(where: str, answer: Mapping[str, str]) -> Reply:
    return Reply(302, headers={"location": f"{where}?{urlencode(answer)}"})
