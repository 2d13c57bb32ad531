"""The providers at which people can sign in, by themselves or for a domain, and their notices of changes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from fateforger.adapters.oauth import OAuthApp, OAuthClient, TokenSource
from fateforger.adapters.store.store import Store
from fateforger.app.caldav_login import choose_calendars
from fateforger.app.oauth_login import LOOK, Account, OAuthLogin, Service, WatchedTokens
from fateforger.calendar.calls import SharedBudget
from fateforger.calendar.channels import ChannelApi, Channels, PushSignals
from fateforger.calendar.connections import Connection, Connections, Provider
from fateforger.calendar.directory import CalendarEntry
from fateforger.calendar.group import CalendarGroup
from fateforger.calendar.ports import AccountCalendar, Calendar
from fateforger.config import Settings
from fateforger.errors import BadInput, CalendarError, ConnectionFailed
from fateforger.limits import MAX_NOTICE_BODY_BYTES, MAX_NOTICE_TOKEN_CHARS, MAX_NOTICES
from fateforger.ports.clock import Clock
from fateforger.text import gettext as _
from fateforger.text import join_sentences, mark_message
from fateforger.ui.connection_cards import describe_use
from fateforger.values import replace

if TYPE_CHECKING:
    from fateforger.adapters.microsoft.client import Directory


NOTICES_PATH = "/changes"


@dataclass(slots=True)
class ChangeNotices:
    """Counts the notices that carry the secret of a channel, and tells whose calendar changed."""

    channels: Channels
    _listeners: list[Callable[[str], None]] = field(init=False, default_factory=list)

    def on_change(self, listener: Callable[[str], None]) -> None:
        """Call ``listener`` with the person of each notice. It must not block and must not fail."""
        self._listeners.append(listener)

    @property
    def routes(self) -> tuple[Route, ...]:
        return (
            Route(f"{NOTICES_PATH}/{Provider.GOOGLE}", self._hear_google, methods=["POST"]),
            Route(f"{NOTICES_PATH}/{Provider.MICROSOFT}", self._hear_microsoft, methods=["POST"]),
        )

    async def _hear_google(self, request: Request) -> Response:
        headers = request.headers
        if headers.get("x-goog-resource-state") == "sync":  # the greeting of a new channel, which tells of no change
            return Response(status_code=204)
        known = await self._hear(headers.get("x-goog-channel-id", ""), headers.get("x-goog-channel-token", ""))
        return Response(status_code=204 if known else 404)

    async def _hear_microsoft(self, request: Request) -> Response:
        if (asked := request.query_params.get("validationToken")) is not None:
            # Graph makes sure that the address is meant for it: it wants its token back, as plain text.
            return PlainTextResponse(asked[:MAX_NOTICE_TOKEN_CHARS], headers={"X-Content-Type-Options": "nosniff"})
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > MAX_NOTICE_BODY_BYTES:
                return Response(status_code=413)
        known = [await self._hear(*state) for state in _read_states(bytes(body))]
        return Response(status_code=202 if any(known) else 404)

    async def _hear(self, channel_id: str, secret: str) -> bool:
        user_id = await self.channels.count_notice(channel_id, secret)
        if user_id is None:
            return False
        for listener in self._listeners:
            listener(user_id)
        return True


def _read_states(body: bytes) -> Iterator[tuple[str, str]]:
    """Yield the id and the secret of each channel that a request of Graph names, once."""
    try:
        states = {str(notice["clientState"]) for notice in json.loads(body)["value"][:MAX_NOTICES]}
    except (ValueError, KeyError, TypeError):
        return
    for state in sorted(states):
        channel_id, _dot, secret = state.partition(".")
        yield channel_id, secret


JOINED = mark_message("I plan on your calendar from now on.")
ALREADY = mark_message("Your calendar is connected.")
NOT_ALLOWED = mark_message("No administrator has opened your calendar to me. Please connect it yourself.")
NOTHING_TO_WRITE = mark_message("This account has no calendar that I may write to. Please use another one.")


@dataclass(frozen=True, slots=True)
class Delegation:
    """An administrator's access to the calendars of everybody in ``domains``, at one provider.

    Implements :class:`fateforger.app.caldav_login.Accounts`. ``open_tokens`` returns tokens for an address. The
    methods raise ``CalendarError``, ``ConnectionFailed`` and ``StoreError``.
    """

    service: Service
    domains: frozenset[str]
    connections: Connections
    clock: Clock
    open_tokens: Callable[[str], TokenSource]

    @property
    def provider(self) -> Provider:
        return self.service.provider

    def covers(self, address: str) -> bool:
        """Check whether an address belongs to one of the domains."""
        return address.rpartition("@")[2].lower() in self.domains

    async def list_calendars(self, connection: Connection) -> Sequence[CalendarEntry]:
        self._check(connection)
        return (await self.service.look(self.open_tokens(connection.account), connection.account)).calendars

    async def check(self, connection: Connection) -> None:
        self._check(connection)
        async with aclosing(self.service.build(self.open_tokens(connection.account), connection)) as calendar:
            now = self.clock.now()
            await calendar.window(now, now + LOOK)

    @asynccontextmanager
    async def open(self, connection: Connection) -> AsyncIterator[Calendar]:
        self._check(connection)
        tokens = WatchedTokens(self.open_tokens(connection.account), self.connections, connection.user_id)
        async with aclosing(self.service.build(tokens, connection)) as calendar:
            yield calendar

    def _check(self, connection: Connection) -> None:
        """Refuse an address whose domain is no longer in the settings. Raises ``CalendarError``."""
        if not self.covers(connection.account):
            raise CalendarError(_(NOT_ALLOWED))


Delegations = Mapping[Provider, Delegation]


@dataclass(frozen=True, slots=True)
class Organization:
    """Connects people of the domains whose administrators have opened their calendars."""

    delegations: Delegations
    connections: Connections
    clock: Clock

    def find(self, address: str) -> Delegation | None:
        """Return the access that covers an address; ``None`` if there is none."""
        return next((each for each in self.delegations.values() if each.covers(address)), None)

    async def join(self, user_id: str, address: str) -> str:
        """Connect the main calendar of a person with this address, and return what to tell them.

        ``address`` is known to be theirs. Raises ``StoreError``.
        """
        delegation, before = self.find(address), await self.connections.of(user_id)
        if delegation is None:
            return _(NOT_ALLOWED)
        if before is not None and before.is_open:  # a button of an earlier card, or an earlier try of the same request
            return join_sentences(_(ALREADY), describe_use(before))
        wanted = Connection(user_id, delegation.provider, address, "", self.clock.now(), delegated=True)
        try:
            entries = await delegation.list_calendars(wanted)
            chosen = choose_calendars(wanted, entries, reads=(), written=_find_main(entries))
            await delegation.check(chosen)
        except (BadInput, CalendarError, ConnectionFailed) as problem:
            return problem.message
        await self.connections.keep(chosen)
        return join_sentences(_(JOINED), describe_use(chosen))


def _find_main(entries: Iterable[CalendarEntry]) -> str:
    """Return the id of the first calendar that can be written to. Raises ``BadInput``."""
    for entry in entries:
        if entry.writable:
            return entry.id
    raise BadInput(_(NOTHING_TO_WRITE))


Logins = Mapping[Provider, OAuthLogin]
Opener = Callable[[Connection], AbstractAsyncContextManager[Calendar]]
"""Opens the calendar of a connection for as long as the block runs. Raises ``CalendarError``."""
Openers = Mapping[tuple[Provider, bool], Opener]
"""Opens the calendars of each provider, by whether an administrator gave the access."""


def build_openers(open_caldav: Opener, logins: Logins, delegations: Delegations) -> Openers:
    """Return the opener of each kind of connection."""
    return {
        (Provider.CALDAV, False): open_caldav,
        **{(each, False): login.open for each, login in logins.items()},
        **{(each, True): delegation.open for each, delegation in delegations.items()},
    }


def build_logins(settings: Settings, connections: Connections, clock: Clock, address: str, store: Store) -> Logins:
    """Return the sign-in of each configured provider. ``address`` is that of the connect page, where people return.

    ``store`` keeps what all programs share: the count of requests, and the channels for notices of changes.
    """
    logins = [
        *([_build_google(settings, connections, clock, address, store)] if settings.google_client_id else []),
        *([_build_microsoft(settings, connections, clock, address, store)] if settings.microsoft_client_id else []),
    ]
    return {login.provider: login for login in logins}


def build_delegations(settings: Settings, connections: Connections, clock: Clock, store: Store) -> Delegations:
    """Return the access that administrators gave, by provider. Raises ``BadInput``."""
    found = [
        *([_delegate_google(settings, connections, clock, store)] if settings.google_service_account else []),
        *([_delegate_microsoft(settings, connections, clock, store)] if _split(settings.microsoft_domains) else []),
    ]
    return {each.provider: each for each in found}


def _delegate_google(settings: Settings, connections: Connections, clock: Clock, store: Store) -> Delegation:
    from fateforger.adapters.google.client import (  # noqa: PLC0415  heavy, and not everybody uses it
        open_delegated_tokens,
        read_service_account,
    )

    domains = _split(settings.google_domains)
    if not domains:
        raise BadInput(
            "FATEFORGER_GOOGLE_DOMAINS is missing; it belongs to the service account.", where="google_domains"
        )
    given = settings.google_service_account.get_secret_value() if settings.google_service_account else ""
    try:
        content = given if given.lstrip().startswith("{") else Path(given).read_text(encoding="utf-8")
    except OSError as error:
        message = f"I cannot read the key file of the service account: {error.strerror}."
        raise BadInput(message, where="google_service_account") from None
    account = read_service_account(content)
    if settings.google_url is not None:
        account = replace(account, token_url=f"{settings.google_url}/token")
    service = _build_google_service(settings, clock, store)
    return Delegation(
        service, domains, connections, clock, lambda person: open_delegated_tokens(account, person, clock)
    )


def _delegate_microsoft(settings: Settings, connections: Connections, clock: Clock, store: Store) -> Delegation:
    directory, client = _open_directory(settings), _read_microsoft_client(settings, "")
    tokens = directory.open_app_tokens(client, clock)
    domains = _split(settings.microsoft_domains)
    service = _build_microsoft_service(settings, clock, store)
    return Delegation(service, domains, connections, clock, lambda _person: tokens)


def _split(names: str) -> frozenset[str]:
    return frozenset(name.strip().lower().lstrip("@") for name in names.split(",") if name.strip())


def _build_google(settings: Settings, connections: Connections, clock: Clock, address: str, store: Store) -> OAuthLogin:
    from fateforger.adapters.google.client import build_provider  # noqa: PLC0415  heavy, and not everybody uses it

    other = settings.google_url
    provider = build_provider() if other is None else build_provider(accounts_url=other, tokens_url=other)
    secret = _require_secret("FATEFORGER_GOOGLE_CLIENT_SECRET", settings.google_client_secret)
    client = OAuthClient(str(settings.google_client_id), secret, f"{address}/{Provider.GOOGLE}/callback")
    service = _build_google_service(settings, clock, store)
    return OAuthLogin(service, OAuthApp(provider, client, clock), connections, clock)


def _build_google_service(settings: Settings, clock: Clock, store: Store) -> Service:
    from fateforger.adapters.google.calendars import (  # noqa: PLC0415  the same
        GoogleCalendar,
        GoogleChannels,
        try_account,
    )
    from fateforger.adapters.google.client import (  # noqa: PLC0415  the same
        API_URL,
        PROJECT,
        GoogleClient,
        build_account_bucket,
    )

    api = API_URL if settings.google_url is None else f"{settings.google_url}/calendar/v3"
    notices, build_signals = _build_notices_url(settings, Provider.GOOGLE), _build_signals(store, clock)

    async def look(tokens: TokenSource, _address: str | None) -> Account:
        opened = GoogleClient(tokens, clock, url=api)
        try:
            name, calendars = await try_account(opened)
        finally:
            await opened.aclose()
        return Account(name, calendars)

    def build(tokens: TokenSource, connection: Connection) -> AccountCalendar:
        budget = SharedBudget(store.buckets, build_account_bucket(connection.account), PROJECT)
        opened = GoogleClient(tokens, clock, budget=budget, url=api)
        return GoogleCalendar(
            opened,
            connection.calendar_id,
            time_zone=settings.time_zone,
            key=connection.key,
            also_read=",".join(connection.reads),
            signals=None if notices is None else build_signals(GoogleChannels(opened, notices), connection),
        )

    return Service(Provider.GOOGLE, look, build)


def _build_microsoft(
    settings: Settings, connections: Connections, clock: Clock, address: str, store: Store
) -> OAuthLogin:
    app = OAuthApp(_open_directory(settings).build_provider(), _read_microsoft_client(settings, address), clock)
    return OAuthLogin(_build_microsoft_service(settings, clock, store), app, connections, clock)


def _open_directory(settings: Settings) -> Directory:
    from fateforger.adapters.microsoft.client import LOGIN_URL, Directory  # noqa: PLC0415  heavy, not everybody uses it

    return Directory(settings.microsoft_tenant, settings.microsoft_url or LOGIN_URL)


def _read_microsoft_client(settings: Settings, address: str) -> OAuthClient:
    secret = _require_secret("FATEFORGER_MICROSOFT_CLIENT_SECRET", settings.microsoft_client_secret)
    return OAuthClient(str(settings.microsoft_client_id), secret, f"{address}/{Provider.MICROSOFT}/callback")


def _build_microsoft_service(settings: Settings, clock: Clock, store: Store) -> Service:
    from fateforger.adapters.microsoft.calendar import MicrosoftCalendar, MicrosoftChannels  # noqa: PLC0415  the same
    from fateforger.adapters.microsoft.client import GRAPH_URL, GraphClient, build_mailbox_bucket  # noqa: PLC0415  the same

    api = GRAPH_URL if settings.microsoft_url is None else f"{settings.microsoft_url}/v1.0"

    notices, build_signals = _build_notices_url(settings, Provider.MICROSOFT), _build_signals(store, clock)

    async def look(tokens: TokenSource, user: str | None) -> Account:
        graph = GraphClient(tokens, address=api)
        async with aclosing(MicrosoftCalendar(graph, key="", time_zone=settings.time_zone, user=user)) as calendar:
            address, _main = await calendar.find_account()
            return Account(address, await calendar.list_calendars())

    def build(tokens: TokenSource, connection: Connection) -> AccountCalendar:
        budget = SharedBudget(store.buckets, build_mailbox_bucket(connection.account))
        graph = GraphClient(tokens, budget=budget, address=api)
        signals = None if notices is None else build_signals(MicrosoftChannels(graph, notices), connection)

        def open_calendar(calendar_id: str) -> MicrosoftCalendar:
            return MicrosoftCalendar(
                graph,
                key=connection.key,
                time_zone=settings.time_zone,
                user=connection.account if connection.delegated else None,
                calendar_id=calendar_id,
                signals=signals,
            )

        main = open_calendar(connection.calendar_id)
        others = {entry: open_calendar(entry.id) for entry in list_others(connection)}
        return CalendarGroup(main, others, time_zone=settings.time_zone) if others else main

    return Service(Provider.MICROSOFT, look, build)


def list_others(connection: Connection) -> tuple[CalendarEntry, ...]:
    """Return the calendars that a connection reads along, by the names that they had when they were chosen."""
    return tuple(CalendarEntry(each, connection.name_of(each), None, "reader") for each in connection.reads)


def _build_notices_url(settings: Settings, provider: Provider) -> str | None:
    """Return the address for notices of changes; ``None`` if a provider cannot reach this program."""
    public = settings.public_url
    return None if public is None else f"{public.rstrip('/')}{NOTICES_PATH}/{provider}"


def _build_signals(store: Store, clock: Clock) -> Callable[[ChannelApi, Connection], PushSignals]:
    return lambda api, connection: PushSignals(api, store.channels, connection.user_id, clock)


def _require_secret(setting: str, secret: SecretStr | None) -> str:
    if secret is None:
        raise BadInput(f"{setting} is missing; it belongs to the client id.", where=setting.lower())
    return secret.get_secret_value()
