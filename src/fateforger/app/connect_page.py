"""The web page on which a person connects their own calendar, so that no password passes through Slack."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from fateforger.adapters.oauth import Consent
from fateforger.adapters.store.connections import SecretUnreadable
from fateforger.app.caldav_login import Accounts, CalDavServers, choose_calendars, choose_only, list_rows
from fateforger.app.calendars import Access
from fateforger.app.logins import Delegations
from fateforger.app.oauth_login import PATH, VALID, ConnectLinks
from fateforger.calendar.connections import Connection, Provider
from fateforger.calendar.directory import CalendarEntry
from fateforger.errors import BadInput, CalendarError, ConnectionFailed
from fateforger.limits import MAX_CONNECT_BODY_BYTES
from fateforger.slack.mrkdwn import strip_marks
from fateforger.text import gettext as _
from fateforger.text import join_sentences, mark_message, name_commands, use_language
from fateforger.ui.connection_cards import DISCONNECT, describe_connection
from fateforger.values import replace
from fateforger.workers.people import LanguageService

SERVERS = (("iCloud", "https://caldav.icloud.com/"), ("Fastmail", "https://caldav.fastmail.com/"))
"""Servers whose address is the same for everybody."""
OLD_LINK = mark_message("This link is too old, or not whole. Ask me for a new one: {timebox} connect.")
EXPIRED = mark_message("This link is too old.")
SENT = mark_message("I have sent you a new link in our direct messages.")
CONNECTED = mark_message("Your calendar is connected.")
BACK = mark_message("You can go back to Slack now.")
COOKIE = "fateforger_connect"
HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; "
    "frame-ancestors 'none'",
}
"""The address holds the right to connect, so it must not leave the page.

Without any referrer, browsers do not say either where a form comes from, and the server refuses it.
"""

Filled = Sequence[tuple[str, str]]
"""The fields of a form that was sent, in order; a name may come several times."""


@dataclass(frozen=True, slots=True)
class ConnectPage:
    """Shows a person's connection, tries a new one before it is kept, changes its calendars, and disconnects.

    A link opens nothing once its person has left, or their workspace has removed the app (``is_reachable``).
    ``send_link`` has a new link sent to a person in Slack. With ``local``, servers without encryption are accepted,
    since everything is on one machine.
    """

    links: ConnectLinks
    is_reachable: Callable[[str], Awaitable[bool]]
    access: Access
    servers: CalDavServers
    delegations: Delegations
    languages: LanguageService
    send_link: Callable[[str], Awaitable[None]]
    local: bool

    @property
    def routes(self) -> tuple[Route, ...]:
        return (
            Route(f"{PATH}/{{provider:str}}/callback", self._return),
            Route(f"{PATH}/{{token:str}}/{{provider:str}}", self._leave),
            Route(f"{PATH}/{{token:str}}", self._answer, methods=["GET", "POST"]),
        )

    # --- the provider's own page

    async def _leave(self, request: Request) -> Response:
        """Send a person to the provider's page, and keep what their return is checked with in their browser."""
        token = request.path_params["token"]
        login = self.access.logins.get(request.path_params["provider"])
        if login is None or await self._read_link(token) is None:
            return _refuse()
        consent = login.begin()
        asked = json.dumps({"token": token, "state": consent.state, "verifier": consent.verifier})
        answer = RedirectResponse(consent.url, status_code=303, headers=HEADERS)
        answer.set_cookie(
            COOKIE,
            self.links.vault.encrypt(asked),
            max_age=int(VALID.total_seconds()),
            path=PATH,
            httponly=True,
            samesite="lax",
            secure=not self.local,
        )
        return answer

    async def _return(self, request: Request) -> Response:
        """Show the calendars of the account of a person who comes back from the provider's page."""
        login = self.access.logins.get(request.path_params["provider"])
        asked = self._read_cookie(request.cookies.get(COOKIE, ""))
        user_id = None if asked is None else await self._read_link(asked["token"])
        given = request.query_params
        if login is None or asked is None or user_id is None:
            return _refuse()
        use_language((await self.languages.of(user_id)).code)
        consent = Consent("", asked["state"], asked["verifier"])
        if not consent.is_answered_by(given.get("state", "")):
            return _refuse()
        if "code" not in given:
            denied = _("{service} did not give me access, so nothing is connected.", service=login.name)
            return await self._show(user_id, {}, error=denied, status=422)
        try:
            answer = await self._begin_choice(await login.finish(user_id, given["code"], consent))
        except (BadInput, CalendarError, ConnectionFailed) as problem:
            return await self._show(user_id, {}, error=problem.message, status=422)
        answer.delete_cookie(COOKIE, path=PATH)
        return answer

    def _read_cookie(self, cookie: str) -> dict[str, str] | None:
        try:
            found = json.loads(self.links.vault.decrypt(cookie))
        except (SecretUnreadable, ValueError):
            return None
        return {name: str(found.get(name, "")) for name in ("token", "state", "verifier")}

    async def _read_link(self, token: str) -> str | None:
        """Return the person of a valid link, if they may connect a calendar."""
        user_id = self.links.read(token)
        return user_id if user_id is not None and await self.is_reachable(user_id) else None

    # --- the page itself

    async def _answer(self, request: Request) -> Response:
        token = request.path_params["token"]
        user_id = await self._read_link(token)
        filled = await _read_form(request) if request.method == "POST" else ()
        if user_id is None:
            return await self._answer_old(token, filled)
        use_language((await self.languages.of(user_id)).code)
        if filled is None:
            return await self._show(user_id, {}, error=_("That is too long."), status=413)
        if not filled:
            return await self._show(user_id, {})
        fields = dict(filled)
        match fields.get("do", ""):
            case "disconnect":
                return await self._show(user_id, {"asks": DISCONNECT.localize().confirm})
            case "disconnect-now":
                return await self._show(user_id, {"news": await self.access.disconnect(user_id)})
            case "choose":
                return await self._change(user_id)
            case "save":
                return await self._save(user_id, filled)
            case _:
                return await self._log_in(user_id, fields)

    async def _answer_old(self, token: str, filled: Filled | None) -> Response:
        """Offer a new link to the person of an old one. It reaches them in Slack, not here."""
        user_id = self.links.read_old(token)
        if user_id is None or not await self.is_reachable(user_id):
            return _refuse()
        use_language((await self.languages.of(user_id)).code)
        if ("do", "link") not in (filled or ()):
            return _render({"renews": f"{PATH}/{token}"}, error=_(EXPIRED), status=410)
        await self.send_link(user_id)
        return _render({"news": _(SENT), "closed": True})

    async def _show(self, user_id: str, filled: dict[str, Any], *, error: str = "", status: int = 200) -> Response:
        connection = await self.access.connections.of(user_id)
        if connection is not None and connection.problem and connection.provider is Provider.CALDAV:
            filled = {"address": connection.address, "account": connection.account, **filled}
        services = [(provider.value, login.name) for provider, login in self.access.logins.items()]
        described = "" if connection is None else strip_marks(describe_connection(connection))
        here = self.links.build(user_id)
        shown = {"connection": connection, "described": described, "services": services, "here": here, **filled}
        return _render(shown, error=error, status=status)

    async def _log_in(self, user_id: str, fields: dict[str, str]) -> Response:
        """Show the calendars of the CalDAV account that the person typed."""
        again = {name: fields.get(name, "") for name in ("address", "account")}
        try:
            return await self._begin_choice(self._read_login(user_id, fields))
        except (BadInput, CalendarError) as problem:
            return await self._show(user_id, again, error=problem.message, status=422)

    # --- the choice of calendars

    async def _begin_choice(self, wanted: Connection) -> Response:
        """Show the calendars of an account that is not kept yet. If it has only one, keep it at once."""
        accounts = self._get_accounts(wanted)
        entries = await accounts.list_calendars(wanted)
        only = choose_only(wanted, entries)
        if only is not None:
            return await self._keep(only)
        before = await self.access.connections.of(wanted.user_id)
        if before is not None and _is_same_account(before, wanted):
            wanted = replace(wanted, calendar_id=before.calendar_id, reads=before.reads)
        return await self._show_choice(wanted, entries, kept=self.links.seal(wanted))

    async def _change(self, user_id: str) -> Response:
        """Show the calendars of the account that is connected."""
        connection = await self.access.connections.of(user_id)
        if connection is None or connection.has_ended:
            return await self._show(user_id, {})
        try:
            entries = await self._get_accounts(connection).list_calendars(connection)
        except (BadInput, CalendarError, ConnectionFailed) as problem:
            return await self._show(user_id, {}, error=problem.message, status=422)
        return await self._show_choice(connection, entries)

    async def _save(self, user_id: str, filled: Filled) -> Response:
        """Keep an account with the calendars that were ticked, if all of them can be read."""
        fields = dict(filled)
        kept = fields.get("kept", "")
        base = self.links.unseal(kept, user_id) if kept else await self.access.connections.of(user_id)
        if base is None or base.has_ended:
            return await self._show(user_id, {}, error=_("That took too long. Please begin again."), status=422)
        entries: Sequence[CalendarEntry] = ()
        try:
            entries = await self._get_accounts(base).list_calendars(base)
            reads = [value for name, value in filled if name == "read"]
            chosen = choose_calendars(base, entries, reads=reads, written=fields.get("write", ""))
            return await self._keep(chosen)
        except (BadInput, CalendarError, ConnectionFailed) as problem:
            if not entries:
                return await self._show(user_id, {}, error=problem.message, status=422)
            return await self._show_choice(base, entries, kept=kept, error=problem.message)

    async def _show_choice(
        self, connection: Connection, entries: Sequence[CalendarEntry], *, kept: str = "", error: str = ""
    ) -> Response:
        rows = list_rows(entries, connection)
        if not any(row.entry.writable for row in rows):
            error = _("This account has no calendar that I may write to. Please use another one.")
            return await self._show(connection.user_id, {}, error=error, status=422)
        here = self.links.build(connection.user_id)
        shown = {"rows": rows, "account": connection.account, "kept": kept, "here": here}
        return _render(shown, error=error, status=422 if error else 200)

    async def _keep(self, chosen: Connection) -> Response:
        """Keep a connection that works, and end the access to another account that it replaces."""
        accounts, connections = self._get_accounts(chosen), self.access.connections
        await accounts.check(replace(chosen, problem=""))
        before = await connections.of(chosen.user_id)
        if before is not None and before.has_same_login(chosen):  # only the calendars change
            chosen = replace(chosen, connected_at=before.connected_at)
        await connections.keep(replace(chosen, problem=""))
        other = before is not None and not before.has_ended and not _is_same_account(before, chosen)
        remains = await self.access.end(before) if before is not None and other else ""
        news = join_sentences(_(CONNECTED), remains, _(BACK))
        return await self._show(chosen.user_id, {"news": news})

    def _get_accounts(self, connection: Connection) -> Accounts:
        """Return the accounts that a connection belongs to. Raises ``BadInput`` if they are no longer set up."""
        provider = connection.provider
        if provider is Provider.CALDAV:
            return self.servers
        found = self.delegations.get(provider) if connection.delegated else self.access.logins.get(provider)
        if found is None:
            raise BadInput(_("Calendars of {service} are not set up here.", service=provider.service))
        return found

    def _read_login(self, user_id: str, fields: dict[str, str]) -> Connection:
        address, account = fields.get("address", "").strip(), fields.get("account", "").strip()
        secret = fields.get("password", "")
        if not (address and account and secret):
            raise BadInput(_("Please fill in the address, the user name and the password."))
        parts = urlsplit(address)
        if not parts.hostname or parts.scheme not in ({"https", "http"} if self.local else {"https"}):
            raise BadInput(_("The address has to begin with https://, because each request contains your password."))
        return Connection(
            user_id=user_id,
            provider=Provider.CALDAV,
            account=account,
            calendar_id="",
            connected_at=self.links.clock.now(),
            address=address,
            secret=secret,
        )


def _is_same_account(one: Connection, other: Connection) -> bool:
    return (one.provider, one.account, one.address) == (other.provider, other.account, other.address)


async def _read_form(request: Request) -> Filled | None:
    """Return the fields of a form; ``None`` if it is too long."""
    body = await request.body()
    if len(body) > MAX_CONNECT_BODY_BYTES:
        return None
    return parse_qsl(body.decode(errors="replace"), keep_blank_values=True)


_TEMPLATES = Environment(loader=PackageLoader("fateforger.app"), autoescape=True, undefined=StrictUndefined)


def _refuse() -> Response:
    return _render({}, error=name_commands(OLD_LINK), status=410)


def _render(values: dict[str, Any], *, error: str = "", status: int = 200) -> Response:
    given: dict[str, Any] = {"connection": None, "services": (), "rows": (), "closed": status == 410}
    given |= dict.fromkeys(("news", "here", "kept", "address", "account", "asks", "renews", "described"), "")
    page = _TEMPLATES.get_template("connect.html").render(given | values, error=error, servers=SERVERS, _=_)
    return HTMLResponse(page, status_code=status, headers=HEADERS)
