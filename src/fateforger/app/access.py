"""The end of access to calendars that people connected, here and at the provider."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from fateforger.adapters.store.connections import SqlConnections
from fateforger.adapters.store.store import Store
from fateforger.app.logins import Logins, build_logins
from fateforger.app.resources import open_vault
from fateforger.calendar.connections import Connection, Connections, Provider
from fateforger.config import Settings
from fateforger.errors import ConnectionFailed
from fateforger.ports.clock import Clock
from fateforger.text import gettext as _
from fateforger.text import join_sentences, mark_message
from fateforger.values import replace

log = logging.getLogger(__name__)

FORGOTTEN = mark_message(
    "Your calendar is disconnected, and I have forgotten your login. What I put on your calendar stays there, and I"
    " keep the history of it: if you connect the same calendar again, you can still undo it."
)
NOTHING = mark_message("You have no calendar connected.")
UNREACHABLE = mark_message(
    "I could not reach {service} to end my access there. Please remove me in your account: {address}"
)
ONLY_YOU = mark_message("At {service}, only you can end my access. Please remove me in your account: {address}")
APP_PASSWORD = mark_message("If you made an app password for me, you can delete it at your calendar server now.")
OF_ADMINISTRATOR = mark_message(
    "Your administrator gave me access, and only they can take it back. I no longer use it for you."
)


def build_access(settings: Settings, store: Store, clock: Clock) -> Access:
    """Return an :class:`Access` for a command, which has no sign-in page. Raises ``BadInput``."""
    connections = SqlConnections(store.database, open_vault(settings))
    return Access(connections, build_logins(settings, connections, clock, "", store))


@dataclass(frozen=True, slots=True)
class Access:
    """Ends the access to people's calendars. Each method can be repeated after a crash. Raises ``StoreError``."""

    connections: Connections
    logins: Logins

    async def disconnect(self, user_id: str) -> str:
        """Forget a person's login, end the access at the provider, and return what to tell them."""
        connection = await self.connections.of(user_id)
        if connection is None:
            return _(NOTHING)
        if connection.has_ended:  # by an earlier try of the same request
            return _(FORGOTTEN)
        remains = await self.end(connection)
        await self.connections.keep(replace(connection, secret="", delegated=False, problem=""))
        return join_sentences(_(FORGOTTEN), remains)

    async def end_for(self, user_id: str) -> str:
        """End the access to a person's calendar at the provider; return what they have to do themselves, if anything.

        It is for a person whose connection is about to be erased.
        """
        connection = await self.connections.of(user_id)
        return "" if connection is None or connection.has_ended else await self.end(connection)

    async def end(self, connection: Connection) -> str:
        """End the access at the provider; return what the person has to do themselves, if anything."""
        if connection.delegated:
            return _(OF_ADMINISTRATOR)
        if connection.provider is Provider.CALDAV:
            return _(APP_PASSWORD)
        login = self.logins.get(connection.provider)
        if login is None or not connection.secret:  # the settings, or the key of the login, are gone
            return _(UNREACHABLE, service=connection.provider.service, address=connection.provider.account_page)
        try:
            ended = await login.revoke(connection)
        except ConnectionFailed as problem:
            log.warning("access could not be ended at %s: %s", login.name, type(problem).__name__)
            return _(UNREACHABLE, service=login.name, address=connection.provider.account_page)
        return "" if ended else _(ONLY_YOU, service=login.name, address=connection.provider.account_page)
