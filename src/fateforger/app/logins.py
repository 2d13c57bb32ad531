"""The providers at which people can sign in, by the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import aclosing

from pydantic import SecretStr

from fateforger.adapters.oauth import OAuthApp, OAuthClient, TokenSource
from fateforger.adapters.store.store import Store
from fateforger.app.change_notices import PATH as NOTICES_PATH
from fateforger.app.oauth_login import Account, AccountCalendar, OAuthLogin
from fateforger.calendar.budgets import SharedBudget
from fateforger.calendar.channels import ChannelApi, PushSignals
from fateforger.calendar.connections import Connection, Connections, Provider
from fateforger.config import Settings
from fateforger.errors import BadInput
from fateforger.ports.clock import Clock

Logins = Mapping[Provider, OAuthLogin]


def build_logins(settings: Settings, connections: Connections, clock: Clock, address: str, store: Store) -> Logins:
    """Return the sign-in of each configured provider. ``address`` is that of the connect page, where people return.

    ``store`` keeps what all programs share: the count of requests, and the channels for notices of changes.
    """
    logins = [
        *([_build_google(settings, connections, clock, address, store)] if settings.google_client_id else []),
        *([_build_microsoft(settings, connections, clock, address, store)] if settings.microsoft_client_id else []),
    ]
    return {login.provider: login for login in logins}


def _build_google(settings: Settings, connections: Connections, clock: Clock, address: str, store: Store) -> OAuthLogin:
    from fateforger.adapters.google.access import build_provider  # noqa: PLC0415  heavy, and not everybody uses it
    from fateforger.adapters.google.calendars import GoogleCalendar, try_account  # noqa: PLC0415  the same
    from fateforger.adapters.google.channels import GoogleChannels  # noqa: PLC0415  the same
    from fateforger.adapters.google.client import API_URL, PROJECT, GoogleClient, build_account_bucket  # noqa: PLC0415  the same

    other = settings.google_url
    provider = build_provider() if other is None else build_provider(accounts_url=other, tokens_url=other)
    api = API_URL if other is None else f"{other}/calendar/v3"
    secret = _require_secret("FATEFORGER_GOOGLE_CLIENT_SECRET", settings.google_client_secret)
    notices, build_signals = _build_notices_url(settings, Provider.GOOGLE), _build_signals(store, clock)
    client = OAuthClient(str(settings.google_client_id), secret, f"{address}/{Provider.GOOGLE}/callback")

    async def look(tokens: TokenSource) -> Account:
        opened = GoogleClient(tokens, clock, url=api)
        try:
            report = await try_account(opened)
        finally:
            await opened.aclose()
        return Account(report.account, report.account)

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

    return OAuthLogin(Provider.GOOGLE, OAuthApp(provider, client, clock), connections, clock, look, build)


def _build_microsoft(
    settings: Settings, connections: Connections, clock: Clock, address: str, store: Store
) -> OAuthLogin:
    from fateforger.adapters.microsoft.access import LOGIN_URL, Directory  # noqa: PLC0415  heavy, not everybody uses it
    from fateforger.adapters.microsoft.calendar import MicrosoftCalendar  # noqa: PLC0415  the same
    from fateforger.adapters.microsoft.channels import MicrosoftChannels  # noqa: PLC0415  the same
    from fateforger.adapters.microsoft.client import GRAPH_URL, GraphClient, build_mailbox_bucket  # noqa: PLC0415  the same

    other = settings.microsoft_url
    provider = Directory(settings.microsoft_tenant, other or LOGIN_URL).build_provider()
    api = GRAPH_URL if other is None else f"{other}/v1.0"
    secret = _require_secret("FATEFORGER_MICROSOFT_CLIENT_SECRET", settings.microsoft_client_secret)
    notices, build_signals = _build_notices_url(settings, Provider.MICROSOFT), _build_signals(store, clock)
    client = OAuthClient(str(settings.microsoft_client_id), secret, f"{address}/{Provider.MICROSOFT}/callback")

    async def look(tokens: TokenSource) -> Account:
        graph = GraphClient(tokens, address=api)
        async with aclosing(MicrosoftCalendar(graph, key="", time_zone=settings.time_zone)) as calendar:
            return Account(*await calendar.find_account())

    def build(tokens: TokenSource, connection: Connection) -> AccountCalendar:
        budget = SharedBudget(store.buckets, build_mailbox_bucket(connection.account))
        graph = GraphClient(tokens, budget=budget, address=api)
        return MicrosoftCalendar(
            graph,
            key=connection.key,
            time_zone=settings.time_zone,
            calendar_id=connection.calendar_id,
            signals=None if notices is None else build_signals(MicrosoftChannels(graph, notices), connection),
        )

    return OAuthLogin(Provider.MICROSOFT, OAuthApp(provider, client, clock), connections, clock, look, build)


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
