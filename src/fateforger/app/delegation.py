"""Access that an administrator gives to the calendars of a domain: people use theirs with one tap, without sign-in."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass

from fateforger.adapters.oauth import TokenSource
from fateforger.app.calendar_choice import choose_calendars
from fateforger.app.oauth_login import LOOK, Service, WatchedTokens
from fateforger.calendar.connections import Connection, Connections, Provider
from fateforger.calendar.directory import CalendarEntry
from fateforger.calendar.ports import Calendar
from fateforger.errors import BadInput, CalendarError, ConnectionFailed
from fateforger.ports.clock import Clock
from fateforger.text import gettext as _
from fateforger.text import join_sentences, mark_message
from fateforger.ui.connection_cards import describe_use

JOINED = mark_message("I plan on your calendar from now on.")
ALREADY = mark_message("Your calendar is connected.")
NOT_ALLOWED = mark_message("No administrator has opened your calendar to me. Please connect it yourself.")
NOTHING_TO_WRITE = mark_message("This account has no calendar that I may write to. Please use another one.")


@dataclass(frozen=True, slots=True)
class Delegation:
    """An administrator's access to the calendars of everybody in ``domains``, at one provider.

    Implements :class:`fateforger.app.calendar_choice.Accounts`. ``open_tokens`` returns tokens for an address. The
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
        """Open a person's calendar."""
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
