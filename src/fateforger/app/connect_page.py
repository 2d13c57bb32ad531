"""The web page on which a person connects their own calendar, so that no password passes through Slack."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from fateforger.adapters.store.vault import SecretUnreadable, Vault
from fateforger.app.caldav_login import AmbiguousCalendar, try_caldav
from fateforger.calendar.connections import Connection, Connections, Provider
from fateforger.errors import BadInput, CalendarError
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

    With ``local``, servers without encryption are accepted, since everything is on one machine.
    """

    links: ConnectLinks
    connections: Connections
    languages: LanguageService
    vault: Vault
    clock: Clock
    time_zone: str
    local: bool

    @property
    def route(self) -> Route:
        return Route(f"{PATH}/{{token:str}}", self._answer, methods=["GET", "POST"])

    async def _answer(self, request: Request) -> Response:
        user_id = self.links.read(request.path_params["token"])
        if user_id is None:
            return _render({}, error=_(OLD_LINK), status=410)
        use_language((await self.languages.of(user_id)).code)
        if request.method == "GET":
            return await self._show(user_id, {})
        body = await request.body()
        if len(body) > LONGEST_BODY:
            raise BadInput(_("That is too long."))
        filled = dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))
        if filled.get("do") == "disconnect":
            return await self._disconnect(user_id)
        return await self._connect(user_id, filled)

    async def _show(self, user_id: str, filled: dict[str, Any], *, error: str = "", status: int = 200) -> Response:
        connection = await self.connections.of(user_id)
        return _render({"connection": connection, **filled}, error=error, status=status)

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
        return await self._show(user_id, {"news": _("Your calendar is connected. You can go back to Slack now.")})

    async def _disconnect(self, user_id: str) -> Response:
        connection = await self.connections.of(user_id)
        if connection is not None:
            await self.connections.keep(replace(connection, secret="", problem=""))
        news = _("Your calendar is disconnected, and I have forgotten its password. Events stay where they are.")
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


_TEMPLATES = Environment(loader=PackageLoader("fateforger.app"), autoescape=True, undefined=StrictUndefined)


def _render(values: dict[str, Any], *, error: str = "", status: int = 200) -> Response:
    given = {"connection": None, "news": "", "choices": (), "kept": "", "address": "", "account": "", "calendar": ""}
    page = _TEMPLATES.get_template("connect.html").render(
        given | values, error=error, servers=SERVERS, expired=status == 410, _=_
    )
    return HTMLResponse(page, status_code=status, headers=HEADERS)
