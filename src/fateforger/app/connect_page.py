"""The web page on which a person connects their own calendar, so that no password passes through Slack."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from fateforger.adapters.oauth import Consent
from fateforger.adapters.store.vault import SecretUnreadable, Vault
from fateforger.app.caldav_login import AmbiguousCalendar, try_caldav
from fateforger.app.oauth_login import OAuthLogin
from fateforger.calendar.connections import Connection, Connections, Provider
from fateforger.errors import BadInput, CalendarError, ConnectionFailed
from fateforger.ports.clock import Clock
from fateforger.text import gettext as _
from fateforger.text import mark_message, use_language
from fateforger.values import replace
from fateforger.workers.people import LanguageService

PATH = "/connect"
VALID = timedelta(minutes=30)
"""Time for which a link works."""
LONGEST_BODY = 20_000
SERVERS = (("iCloud", "https://caldav.icloud.com/"), ("Fastmail", "https://caldav.fastmail.com/"))
"""Servers whose address is the same for everybody."""
OLD_LINK = mark_message("This link is too old, or not whole. Ask me for a new one: /timebox connect.")
CONNECTED = mark_message("Your calendar is connected. You can go back to Slack now.")
COOKIE = "fateforger_connect"
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
}
"""The address holds the right to connect, so it must not leave the page."""


@dataclass(frozen=True, slots=True)
class ConnectLinks:
    """Links to the page, each for one person and for a limited time. They are encrypted, and not stored."""

    vault: Vault
    base_url: str
    clock: Clock

    def build(self, user_id: str) -> str:
        """Return a link for a person."""
        until = (self.clock.now() + VALID).timestamp()
        return f"{self.base_url}{PATH}/{self.vault.encrypt(json.dumps({'connects': user_id, 'until': until}))}"

    def read(self, token: str) -> str | None:
        """Return the person of a link; ``None`` if it is too old or was not made here."""
        try:
            found = json.loads(self.vault.decrypt(token))
            user_id, until = str(found["connects"]), float(found["until"])
        except (SecretUnreadable, ValueError, KeyError, TypeError):
            return None
        return user_id if self.clock.now().timestamp() <= until else None


@dataclass(frozen=True, slots=True)
class ConnectPage:
    """Shows the state of a person's connection, tries a new one before it is kept, and disconnects.

    ``logins`` are the providers at which people can sign in. With ``local``, servers without encryption are accepted,
    since everything is on one machine.
    """

    links: ConnectLinks
    connections: Connections
    languages: LanguageService
    vault: Vault
    clock: Clock
    time_zone: str
    local: bool
    logins: Mapping[Provider, OAuthLogin] = field(default_factory=dict)

    @property
    def routes(self) -> tuple[Route, ...]:
        return (
            Route(f"{PATH}/{{provider:str}}/callback", self._return),
            Route(f"{PATH}/{{token:str}}/{{provider:str}}", self._leave),
            Route(f"{PATH}/{{token:str}}", self._answer, methods=["GET", "POST"]),
        )

    async def _leave(self, request: Request) -> Response:
        """Send a person to the provider's page, and keep what their return is checked with in their browser."""
        token = request.path_params["token"]
        login = self.logins.get(request.path_params["provider"])
        if self.links.read(token) is None or login is None:
            return _render({}, error=_(OLD_LINK), status=410)
        consent = login.begin()
        asked = json.dumps({"token": token, "state": consent.state, "verifier": consent.verifier})
        answer = RedirectResponse(consent.url, status_code=303, headers=HEADERS)
        answer.set_cookie(
            COOKIE,
            self.vault.encrypt(asked),
            max_age=int(VALID.total_seconds()),
            path=PATH,
            httponly=True,
            samesite="lax",
            secure=not self.local,
        )
        return answer

    async def _return(self, request: Request) -> Response:
        """Connect the account of a person who comes back from the provider's page."""
        login = self.logins.get(request.path_params["provider"])
        asked = self._read_cookie(request.cookies.get(COOKIE, ""))
        user_id = None if asked is None else self.links.read(asked["token"])
        given = request.query_params
        if login is None or asked is None or user_id is None:
            return _render({}, error=_(OLD_LINK), status=410)
        use_language((await self.languages.of(user_id)).code)
        consent = Consent("", asked["state"], asked["verifier"])
        if not consent.is_answered_by(given.get("state", "")):
            return _render({}, error=_(OLD_LINK), status=410)
        if "code" not in given:
            denied = _("{service} did not give me access, so nothing is connected.", service=login.name)
            return await self._show(user_id, {}, error=denied, status=422)
        try:
            await login.finish(user_id, given["code"], consent)
        except (BadInput, CalendarError, ConnectionFailed) as problem:
            return await self._show(user_id, {}, error=problem.message, status=422)
        answer = await self._show(user_id, {"news": _(CONNECTED)})
        answer.delete_cookie(COOKIE, path=PATH)
        return answer

    def _read_cookie(self, cookie: str) -> dict[str, str] | None:
        try:
            found = json.loads(self.vault.decrypt(cookie))
        except (SecretUnreadable, ValueError):
            return None
        return {name: str(found.get(name, "")) for name in ("token", "state", "verifier")}

    async def _answer(self, request: Request) -> Response:
        user_id = self.links.read(request.path_params["token"])
        if user_id is None:
            return _render({}, error=_(OLD_LINK), status=410)
        use_language((await self.languages.of(user_id)).code)
        if request.method == "GET":
            return await self._show(user_id, {})
        body = await request.body()
        if len(body) > LONGEST_BODY:
            return await self._show(user_id, {}, error=_("That is too long."), status=413)
        filled = dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))
        if filled.get("do") == "disconnect":
            return await self._disconnect(user_id)
        return await self._connect(user_id, filled)

    async def _show(self, user_id: str, filled: dict[str, Any], *, error: str = "", status: int = 200) -> Response:
        connection = await self.connections.of(user_id)
        services = [(provider.value, login.name) for provider, login in self.logins.items()]
        shown = {"connection": connection, "services": services, "here": self.links.build(user_id), **filled}
        return _render(shown, error=error, status=status)

    async def _connect(self, user_id: str, filled: dict[str, str]) -> Response:
        again = {name: filled.get(name, "") for name in ("address", "account", "calendar")}
        try:
            wanted = self._read(user_id, filled)
            found = await try_caldav(wanted, self.time_zone)
        except AmbiguousCalendar as choice:
            kept = {"choices": choice.names, "kept": self.vault.encrypt(wanted.secret)}
            return await self._show(user_id, {**again, **kept})
        except (BadInput, CalendarError) as problem:
            return await self._show(user_id, again, error=problem.message, status=422)
        await self.connections.keep(found)
        return await self._show(user_id, {"news": _(CONNECTED)})

    async def _disconnect(self, user_id: str) -> Response:
        connection = await self.connections.of(user_id)
        if connection is not None and connection.secret:
            login = self.logins.get(connection.provider)
            if login is not None:
                try:
                    await login.revoke(connection)
                except ConnectionFailed as problem:
                    log.warning("access could not be ended at %s: %s", login.name, type(problem).__name__)
            await self.connections.keep(replace(connection, secret="", problem=""))
        news = _("Your calendar is disconnected, and I have forgotten your login. Events stay where they are.")
        return await self._show(user_id, {"news": news})

    def _read(self, user_id: str, filled: dict[str, str]) -> Connection:
        address = filled.get("address", "").strip()
        account = filled.get("account", "").strip()
        secret = filled.get("password", "")
        if filled.get("kept"):
            try:
                secret = self.vault.decrypt(filled["kept"])
            except SecretUnreadable:
                raise BadInput(_("Please type the password again.")) from None
        if not (address and account and secret):
            raise BadInput(_("Please fill in the address, the user name and the password."))
        parts = urlsplit(address)
        if not parts.hostname or parts.scheme not in ({"https", "http"} if self.local else {"https"}):
            raise BadInput(_("The address has to begin with https://, because each request contains your password."))
        return Connection(
            user_id=user_id,
            provider=Provider.CALDAV,
            account=account,
            calendar_id=filled.get("calendar", "").strip(),
            connected_at=self.clock.now(),
            address=address,
            secret=secret,
        )


log = logging.getLogger(__name__)
_TEMPLATES = Environment(loader=PackageLoader("fateforger.app"), autoescape=True, undefined=StrictUndefined)


def _render(values: dict[str, Any], *, error: str = "", status: int = 200) -> Response:
    given: dict[str, Any] = {"connection": None, "news": "", "services": (), "choices": ()}
    given |= dict.fromkeys(("here", "kept", "address", "account", "calendar"), "")
    page = _TEMPLATES.get_template("connect.html").render(
        given | values, error=error, servers=SERVERS, expired=status == 410, _=_
    )
    return HTMLResponse(page, status_code=status, headers=HEADERS)
