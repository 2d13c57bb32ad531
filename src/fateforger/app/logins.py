"""The providers at which people can sign in, by the settings."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import aclosing

from pydantic import SecretStr

from fateforger.adapters.oauth import OAuthApp, OAuthClient, TokenSource
from fateforger.app.oauth_login import Account, OAuthLogin
from fateforger.calendar.budgets import Buckets, Budget, SharedBudget
from fateforger.calendar.connections import Connection, Connections, Provider
from fateforger.calendar.ports import Calendar
from fateforger.config import Settings
from fateforger.errors import BadInput
from fateforger.ports.clock import Clock

Logins = Mapping[Provider, OAuthLogin]


def build_logins(settings: Settings, connections: Connections, clock: Clock, address: str, buckets: Buckets) -> Logins:
    """Return the sign-in of each configured provider. ``address`` is that of the connect page, where people return.

    ``buckets`` count the requests of all programs.
    """
    logins = [
        *([_build_google(settings, connections, clock, address, buckets)] if settings.google_client_id else []),
        *([_build_microsoft(settings, connections, clock, address, buckets)] if settings.microsoft_client_id else []),
    ]
    return {login.provider: login for login in logins}


def _build_google(
    settings: Settings, connections: Connections, clock: Clock, address: str, buckets: Buckets
) -> OAuthLogin:
    from fateforger.adapters.google.access import build_provider  # noqa: PLC0415  heavy, and not everybody uses it
    from fateforger.adapters.google.calendars import GoogleCalendar, try_account  # noqa: PLC0415  the same
    from fateforger.adapters.google.client import API_URL, PROJECT, GoogleClient, build_account_bucket  # noqa: PLC0415  the same

    other = settings.google_url
    provider = build_provider() if other is None else build_provider(accounts_url=other, tokens_url=other)
    api = API_URL if other is None else f"{other}/calendar/v3"
    secret = _require_secret("FATEFORGER_GOOGLE_CLIENT_SECRET", settings.google_client_secret)
    client = OAuthClient(str(settings.google_client_id), secret, f"{address}/{Provider.GOOGLE}/callback")

    async def look(tokens: TokenSource) -> Account:
        opened = GoogleClient(tokens, clock, url=api)
        try:
            report = await try_account(opened)
        finally:
            await opened.aclose()
        return Account(report.account, report.account)

    def build(tokens: TokenSource, connection: Connection) -> Calendar:
        budget = SharedBudget(buckets, build_account_bucket(connection.account), PROJECT)
        return GoogleCalendar(
            GoogleClient(tokens, clock, budget=budget, url=api),
            connection.calendar_id,
            time_zone=settings.time_zone,
            key=connection.key,
            also_read=",".join(connection.reads),
        )

    return OAuthLogin(Provider.GOOGLE, OAuthApp(provider, client, clock), connections, clock, look, build)


def _build_microsoft(
    settings: Settings, connections: Connections, clock: Clock, address: str, buckets: Buckets
) -> OAuthLogin:
    from fateforger.adapters.microsoft.access import LOGIN_URL, Directory  # noqa: PLC0415  heavy, not everybody uses it
    from fateforger.adapters.microsoft.calendar import MicrosoftCalendar  # noqa: PLC0415  the same
    from fateforger.adapters.microsoft.client import GRAPH_URL, GraphClient, build_mailbox_bucket  # noqa: PLC0415  the same

    other = settings.microsoft_url
    provider = Directory(settings.microsoft_tenant, other or LOGIN_URL).build_provider()
    api = GRAPH_URL if other is None else f"{other}/v1.0"
    secret = _require_secret("FATEFORGER_MICROSOFT_CLIENT_SECRET", settings.microsoft_client_secret)
    client = OAuthClient(str(settings.microsoft_client_id), secret, f"{address}/{Provider.MICROSOFT}/callback")

    def open_calendar(
        tokens: TokenSource, key: str, calendar_id: str | None, budget: Budget | None = None
    ) -> MicrosoftCalendar:
        graph = GraphClient(tokens, budget=budget, address=api)
        return MicrosoftCalendar(graph, key=key, time_zone=settings.time_zone, calendar_id=calendar_id)

    async def look(tokens: TokenSource) -> Account:
        async with aclosing(open_calendar(tokens, "", None)) as calendar:
            return Account(*await calendar.find_account())

    def build(tokens: TokenSource, connection: Connection) -> Calendar:
        budget = SharedBudget(buckets, build_mailbox_bucket(connection.account))
        return open_calendar(tokens, connection.key, connection.calendar_id, budget)

    return OAuthLogin(Provider.MICROSOFT, OAuthApp(provider, client, clock), connections, clock, look, build)


def _require_secret(setting: str, secret: SecretStr | None) -> str:
    if secret is None:
        raise BadInput(f"{setting} is missing; it belongs to the client id.", where=setting.lower())
    return secret.get_secret_value()
