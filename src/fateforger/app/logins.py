"""The providers at which people can sign in, by the settings."""

from __future__ import annotations

from collections.abc import Mapping

from fateforger.adapters.oauth import OAuthApp, OAuthClient, TokenSource
from fateforger.app.oauth_login import Account, OAuthLogin
from fateforger.calendar.connections import Connection, Connections, Provider
from fateforger.calendar.ports import Calendar
from fateforger.config import Settings
from fateforger.errors import BadInput
from fateforger.ports.clock import Clock

Logins = Mapping[Provider, OAuthLogin]


def build_logins(settings: Settings, connections: Connections, clock: Clock, address: str) -> Logins:
    """Return the sign-in of each configured provider. ``address`` is that of the connect page, where people return."""
    logins = [_build_google(settings, connections, clock, address)] if settings.google_client_id else []
    return {login.provider: login for login in logins}


def _build_google(settings: Settings, connections: Connections, clock: Clock, address: str) -> OAuthLogin:
    from fateforger.adapters.google.access import build_provider  # noqa: PLC0415  heavy, and not everybody uses it
    from fateforger.adapters.google.calendars import GoogleCalendar, try_account  # noqa: PLC0415  the same
    from fateforger.adapters.google.client import API_URL, GoogleClient  # noqa: PLC0415  the same

    other = settings.google_url
    provider = build_provider() if other is None else build_provider(accounts_url=other, tokens_url=other)
    api = API_URL if other is None else f"{other}/calendar/v3"
    if settings.google_client_secret is None:
        raise BadInput(
            "FATEFORGER_GOOGLE_CLIENT_SECRET is missing; Google gives it with the client id.", where="google"
        )
    secret = settings.google_client_secret.get_secret_value()
    client = OAuthClient(str(settings.google_client_id), secret, f"{address}/{Provider.GOOGLE}/callback")

    async def look(tokens: TokenSource) -> Account:
        opened = GoogleClient(tokens, clock, url=api)
        try:
            report = await try_account(opened)
        finally:
            await opened.aclose()
        return Account(report.account, report.account)

    def build(tokens: TokenSource, connection: Connection) -> Calendar:
        return GoogleCalendar(
            GoogleClient(tokens, clock, url=api),
            connection.calendar_id,
            time_zone=settings.time_zone,
            key=connection.key,
            also_read=",".join(connection.reads),
        )

    return OAuthLogin(Provider.GOOGLE, OAuthApp(provider, client, clock), connections, clock, look, build)
