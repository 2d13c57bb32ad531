"""The Microsoft adapter over the emulator, and the person on the other side of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import httpx
from tests.emulators.microsoft.emulator import ANN, MicrosoftEmulator
from tests.emulators.microsoft.mailbox import Item, Mailbox

from fateforger.adapters.microsoft.calendar import MicrosoftCalendar
from fateforger.adapters.microsoft.client import GraphClient
from fateforger.adapters.microsoft.wire import ID_PROPERTY
from fateforger.calendar.event import OwnedId
from fateforger.errors import ConnectionRevoked

BERLIN = "Europe/Berlin"


@dataclass
class ConsentedTokens:
    """The tokens of a person who consented, until they take it back."""

    emulator: MicrosoftEmulator
    user: str = ANN
    token: str = ""
    revoked: bool = False

    async def get_token(self) -> str:
        if self.revoked:
            raise ConnectionRevoked("Microsoft has ended my access to your account. Please connect it again.")
        self.token = self.token or self.emulator.sign_in.give_token(self.user)
        return self.token

    def report_refused(self, token: str) -> None:
        if token == self.token:
            self.token = ""


def open_over(
    emulator: MicrosoftEmulator,
    *,
    address: str = "https://graph.microsoft.example",
    transport: httpx.AsyncBaseTransport | None = None,
    tokens: ConsentedTokens | None = None,
    key: str = "microsoft/ann",
    time_zone: str = BERLIN,
    **more: Any,
) -> MicrosoftCalendar:
    """Return the adapter over the emulator: without a socket, unless there is another way to its address."""
    client = GraphClient(
        tokens or ConsentedTokens(emulator), address=f"{address}/v1.0", transport=transport or emulator.transport()
    )
    return MicrosoftCalendar(client, key=key, time_zone=time_zone, **more)


def find_item(mailbox: Mailbox, event_id: str) -> Item:
    """Return the event with an id of the port: ours by its property, unless it is a copy."""
    claims = [item for item in mailbox.items.values() if item.extended.get(ID_PROPERTY) == event_id]
    first = [item for item in claims if item.values["transactionId"] == event_id] or claims
    return first[0] if first else mailbox.get(None, event_id)


class OutlookPerson:
    """In Outlook, past the port."""

    def __init__(self, mailbox: Mailbox) -> None:
        self._mailbox = mailbox

    async def creates(self, event_id: str, summary: str, start: datetime | date, end: datetime | date) -> None:
        if OwnedId.is_one(event_id):
            self._mailbox.user_create(summary, start, end, extended={ID_PROPERTY: event_id})
        else:
            self._mailbox.user_create(summary, start, end, event_id=event_id)

    async def fills(self, ids: list[str], start: datetime, each: timedelta, apart: timedelta) -> None:
        for n, event_id in enumerate(ids):
            await self.creates(event_id, "Meeting", start + n * apart, start + n * apart + each)

    async def repeats(self, event_id: str, summary: str, start: datetime, end: datetime, *, days: int) -> None:
        recurrence = _daily(days)
        self._mailbox.user_create(summary, start, end, event_id=event_id, type="seriesMaster", recurrence=recurrence)

    async def renames(self, event_id: str, summary: str) -> None:
        self._mailbox.user_edit(self._id(event_id), subject=summary)

    async def moves(self, event_id: str, by: timedelta) -> None:
        item = find_item(self._mailbox, event_id)
        self._mailbox.user_edit(item.id, start=item.start + by, end=item.end + by)

    async def makes_it_repeat(self, event_id: str) -> None:
        self._mailbox.user_edit(self._id(event_id), recurrence=_daily(3))

    async def deletes(self, event_id: str) -> None:
        self._mailbox.user_delete(self._id(event_id))

    async def copies(self, event_id: str, new_id: str) -> None:
        self._mailbox.user_copy(self._id(event_id), new_id=new_id)

    def _id(self, event_id: str) -> str:
        return find_item(self._mailbox, event_id).id


def _daily(times: int) -> dict[str, Any]:
    return {
        "pattern": {"type": "daily", "interval": 1},
        "range": {"type": "numbered", "startDate": "2026-03-02", "numberOfOccurrences": times},
    }
