"""Sign-in of people at Google or Microsoft on the connect page, and their calendars opened with the kept tokens."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fateforger.adapters.oauth import Consent, OAuthApp, Tokens, TokenSource, open_token_source
from fateforger.calendar.connections import Connection, Connections, Provider
from fateforger.calendar.ports import Calendar
from fateforger.errors import BadInput, ConnectionRevoked
from fateforger.ports.clock import Clock
from fateforger.text import gettext as _

OFFLINE = "offline_access"
"""A scope that Microsoft does not repeat among those granted; the refresh token shows that it was."""


@dataclass(frozen=True, slots=True)
class Account:
    """An account that answers: its name, and the id of its main calendar."""

    name: str
    calendar_id: str


class AccountCalendar(Calendar, Protocol):
    """A calendar of an account, whose provider may tell of changes."""

    async def end_signals(self) -> None:
        """Close the channels by which the provider tells of changes."""
        ...


@dataclass(frozen=True, slots=True)
class OAuthLogin:
    """Connects the accounts of one provider.

    ``try_account`` looks into an account with new tokens, and ``build`` returns the calendar of a connection. The
    methods raise ``CalendarError``, ``ConnectionFailed`` and ``StoreError``.
    """

    provider: Provider
    app: OAuthApp
    connections: Connections
    clock: Clock
    try_account: Callable[[TokenSource], Awaitable[Account]]
    build: Callable[[TokenSource, Connection], AccountCalendar]

    @property
    def name(self) -> str:
        """The name of the service, as people know it."""
        return self.app.provider.name

    def begin(self) -> Consent:
        """Return a new request for a person's consent."""
        return self.app.begin()

    async def finish(self, user_id: str, code: str, consent: Consent) -> Connection:
        """Keep the account of a person who came back with a code, if its calendar answers. Raises ``BadInput``."""
        tokens = await self.app.exchange(code, consent.verifier)
        missing = set(tokens.find_missing(self.app.provider.scopes)) - {OFFLINE}
        if missing or not tokens.refresh_token:
            raise BadInput(
                _("{service} did not give me all that I asked for. Please allow all of it.", service=self.name)
            )
        account = await self.try_account(_Given(tokens))
        connection = Connection(
            user_id=user_id,
            provider=self.provider,
            account=account.name,
            calendar_id=account.calendar_id,
            connected_at=self.clock.now(),
            secret=_dump(tokens),
        )
        await self.connections.keep(connection)
        return connection

    async def revoke(self, connection: Connection) -> None:
        """Stop the notices, and end the access at the provider, if it offers that."""
        async with self.open(connection) as calendar:
            await calendar.end_signals()
        await self.app.revoke(_load(connection.secret))

    @asynccontextmanager
    async def open(self, connection: Connection) -> AsyncIterator[AccountCalendar]:
        """Open a person's calendar."""
        kept = KeptTokens(self.connections, connection.user_id, self.name)
        tokens = _Watched(open_token_source(self.app, kept, self.clock), self.connections, connection.user_id)
        async with aclosing(self.build(tokens, connection)) as calendar:
            yield calendar


class KeptTokens:
    """The tokens of a person's connection. Implements :class:`fateforger.adapters.oauth.TokenStore`."""

    def __init__(self, connections: Connections, user_id: str, service: str) -> None:
        self._connections = connections
        self._user_id = user_id
        self._service = service
        self._secret = ""

    async def load(self) -> Tokens:
        connection = await self._connections.of(self._user_id)
        if connection is None or not connection.secret:
            raise ConnectionRevoked(_("Your calendar is not connected any more. Please connect it again."))
        self._secret = connection.secret
        return _load(connection.secret)

    async def save(self, tokens: Tokens) -> None:
        """Keep renewed tokens. Those that another process, or a new connection, has kept since are not replaced."""
        secret = _dump(tokens)
        if await self._connections.replace_secret(self._user_id, self._secret, secret):
            self._secret = secret


class _Given:
    """Tokens that were just given, for the first look into an account."""

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens

    async def get_token(self) -> str:
        return self._tokens.access_token

    def report_refused(self, token: str) -> None:
        """Do nothing: these tokens are not renewed."""


class _Watched:
    """A token source that notes when the access has ended, so that the person is asked to connect again."""

    def __init__(self, tokens: TokenSource, connections: Connections, user_id: str) -> None:
        self._tokens = tokens
        self._connections = connections
        self._user_id = user_id

    async def get_token(self) -> str:
        try:
            return await self._tokens.get_token()
        except ConnectionRevoked as error:
            await self._connections.note_problem(self._user_id, error.message)
            raise

    def report_refused(self, token: str) -> None:
        self._tokens.report_refused(token)


def _dump(tokens: Tokens) -> str:
    return json.dumps(
        {
            "access": tokens.access_token,
            "until": tokens.expires_at.isoformat(),
            "refresh": tokens.refresh_token,
            "scopes": tokens.scopes,
        }
    )


def _load(secret: str) -> Tokens:
    found = json.loads(secret)
    return Tokens(found["access"], datetime.fromisoformat(found["until"]), found["refresh"], tuple(found["scopes"]))
