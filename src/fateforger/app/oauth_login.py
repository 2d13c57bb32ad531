"""Links to the connect page, and sign-in of people at Google or Microsoft on it."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta

from fateforger.adapters.oauth import Consent, OAuthApp, Tokens, TokenSource, open_token_source
from fateforger.adapters.store.connections import SecretUnreadable, Vault
from fateforger.calendar.connections import Connection, Connections, Provider
from fateforger.calendar.directory import CalendarEntry
from fateforger.calendar.ports import AccountCalendar
from fateforger.errors import BadInput, CalendarError, ConnectionFailed, ConnectionRevoked
from fateforger.ports.clock import Clock
from fateforger.text import gettext as _

PATH = "/connect"
VALID = timedelta(minutes=30)
"""Time for which a link works."""


@dataclass(frozen=True, slots=True)
class ConnectLinks:
    """Links to the page, each for one person and for a limited time. They are encrypted, and not stored."""

    vault: Vault
    base_url: str
    clock: Clock

    def build(self, user_id: str) -> str:
        until = (self.clock.now() + VALID).timestamp()
        return f"{self.base_url}{PATH}/{self.vault.encrypt(json.dumps({'connects': user_id, 'until': until}))}"

    def read(self, token: str) -> str | None:
        """Return the person of a link; ``None`` if it is too old or was not made here."""
        found = self._open(token)
        return None if found is None or self._is_over(found[1]) else found[0]

    def read_old(self, token: str) -> str | None:
        """Return the person of a link of any age; an old one gives a right only to a new one in Slack."""
        found = self._open(token)
        return None if found is None else found[0]

    def seal(self, wanted: Connection) -> str:
        """Return a connection that is not kept yet, for the form in which its person chooses calendars."""
        until = (self.clock.now() + VALID).timestamp()
        fields = {"provider": wanted.provider.value, "account": wanted.account, "address": wanted.address}
        return self.vault.encrypt(
            json.dumps({"chooses": wanted.user_id, "until": until, "secret": wanted.secret, **fields})
        )

    def unseal(self, sealed: str, user_id: str) -> Connection | None:
        """Return a person's sealed connection; ``None`` if it is too old, of somebody else, or was not made here."""
        found = self._decrypt(sealed)
        try:
            if found["chooses"] != user_id or self._is_over(float(found["until"])):
                return None
            return Connection(
                user_id=user_id,
                provider=Provider(found["provider"]),
                account=found["account"],
                calendar_id="",
                connected_at=self.clock.now(),
                address=found["address"],
                secret=found["secret"],
            )
        except (KeyError, ValueError):
            return None

    def _open(self, token: str) -> tuple[str, float] | None:
        found = self._decrypt(token)
        try:
            return str(found["connects"]), float(found["until"])
        except (KeyError, ValueError):
            return None

    def _decrypt(self, token: str) -> Mapping[str, str]:
        """Return the decrypted fields; empty if they were not encrypted here."""
        try:
            found = json.loads(self.vault.decrypt(token))
        except (SecretUnreadable, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _is_over(self, until: float) -> bool:
        return datetime.fromtimestamp(until, self.clock.now().tzinfo) < self.clock.now()


log = logging.getLogger(__name__)

LOOK = timedelta(minutes=1)
"""The span of time that is read to see whether a calendar can be."""
OFFLINE = "offline_access"
"""A scope that Microsoft does not repeat among those granted; the refresh token shows that it was."""


@dataclass(frozen=True, slots=True)
class Account:
    """An account that answers: its name, and its calendars, the main one first."""

    name: str
    calendars: Sequence[CalendarEntry]


@dataclass(frozen=True, slots=True)
class Service:
    """The calendars of one provider, without the access to them.

    ``look`` looks into an account: the one whose tokens these are, or the one with an address. ``build`` returns the
    calendar of a connection. Both raise ``CalendarError`` and ``ConnectionFailed``.
    """

    provider: Provider
    look: Callable[[TokenSource, str | None], Awaitable[Account]]
    build: Callable[[TokenSource, Connection], AccountCalendar]


@dataclass(frozen=True, slots=True)
class OAuthLogin:
    """Connects the accounts of one provider. Implements :class:`fateforger.app.caldav_login.Accounts`.

    The methods raise ``CalendarError``, ``ConnectionFailed`` and ``StoreError``.
    """

    service: Service
    app: OAuthApp
    connections: Connections
    clock: Clock

    @property
    def provider(self) -> Provider:
        return self.service.provider

    @property
    def name(self) -> str:
        """The name of the service, as people know it."""
        return self.app.provider.name

    def begin(self) -> Consent:
        """Return a new request for a person's consent."""
        return self.app.begin()

    async def finish(self, user_id: str, code: str, consent: Consent) -> Connection:
        """Return the account of a person who came back with a code, without calendars yet. Raises ``BadInput``."""
        tokens = await self.app.exchange(code, consent.verifier)
        missing = set(tokens.find_missing(self.app.provider.scopes)) - {OFFLINE}
        if missing or not tokens.refresh_token:
            raise BadInput(
                _("{service} did not give me all that I asked for. Please allow all of it.", service=self.name)
            )
        account = await self.service.look(_Given(tokens), None)
        return Connection(
            user_id=user_id,
            provider=self.service.provider,
            account=account.name,
            calendar_id="",
            connected_at=self.clock.now(),
            secret=_dump(tokens),
        )

    async def list_calendars(self, connection: Connection) -> Sequence[CalendarEntry]:
        return (await self.service.look(await self._open_tokens(connection), None)).calendars

    async def check(self, connection: Connection) -> None:
        async with aclosing(self.service.build(await self._open_tokens(connection), connection)) as calendar:
            now = self.clock.now()
            await calendar.window(now, now + LOOK)

    async def revoke(self, connection: Connection) -> bool:
        """Stop the notices, and end the access at the provider; return ``False`` if it does not offer that."""
        try:
            async with self.open(connection) as calendar:
                await calendar.end_signals()
        except (CalendarError, ConnectionFailed) as problem:  # without access there are no notices either
            log.info("notices of %s were not ended: %s", self.name, type(problem).__name__)
        await self.app.revoke(_load(connection.secret))
        return bool(self.app.provider.revoke_url)

    @asynccontextmanager
    async def open(self, connection: Connection) -> AsyncIterator[AccountCalendar]:
        async with aclosing(self.service.build(self._open_kept_tokens(connection.user_id), connection)) as calendar:
            yield calendar

    async def _open_tokens(self, connection: Connection) -> TokenSource:
        """Return the tokens of a connection that may not be kept yet."""
        kept = await self.connections.of(connection.user_id)
        is_kept = kept is not None and kept.secret == connection.secret
        return self._open_kept_tokens(connection.user_id) if is_kept else _Given(_load(connection.secret))

    def _open_kept_tokens(self, user_id: str) -> TokenSource:
        kept = KeptTokens(self.connections, user_id, self.name)
        return WatchedTokens(open_token_source(self.app, kept, self.clock), self.connections, user_id)


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


class WatchedTokens:
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
