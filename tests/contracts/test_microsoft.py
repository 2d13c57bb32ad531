"""The Microsoft adapter keeps the contract of calendars, over the emulator of Graph: in one process, and over a socket."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio
from tests.contracts.calendar_contract import EXTRAS, CalendarContract
from tests.contracts.calendar_people import Person
from tests.emulators.microsoft.emulator import ANN, MicrosoftEmulator
from tests.emulators.microsoft.mailbox import Mailbox
from tests.factories.microsoft import OutlookPerson, open_over
from tests.fakes.asgi_server import serve_app

from fateforger.calendar.event import EventExtras
from fateforger.calendar.ports import Calendar

pytestmark = pytest.mark.asyncio(loop_scope="module")


class OverOutlook(CalendarContract):
    """No guests, who would get a mail; one reminder; and nothing that only Google has."""

    taken = EventExtras(
        location=EXTRAS.location,
        reminders=(("popup", 5),),
        visibility=EXTRAS.visibility,
        free=EXTRAS.free,
        properties=EXTRAS.properties,
    )

    @pytest.fixture
    def emulator(self) -> MicrosoftEmulator:
        return MicrosoftEmulator()

    @pytest.fixture
    def person(self, emulator: MicrosoftEmulator) -> Person:
        return OutlookPerson(emulator.mailbox)


class TestMicrosoftCalendar(OverOutlook):
    @pytest.fixture
    def calendar(self, emulator: MicrosoftEmulator) -> Calendar:
        return open_over(emulator)


class TestMicrosoftCalendarInTheBackground(OverOutlook):
    """It asks for changes first, and shows the same."""

    @pytest.fixture
    def calendar(self, emulator: MicrosoftEmulator) -> Calendar:
        return open_over(emulator).in_background()


Served = tuple[MicrosoftEmulator, str, httpx.AsyncBaseTransport]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[Served]:
    emulator = MicrosoftEmulator(at_once=4)
    async with serve_app(emulator.app()) as address, httpx.AsyncHTTPTransport() as transport:
        yield emulator, address, transport


class TestMicrosoftCalendarOverASocket(OverOutlook):
    @pytest.fixture
    def emulator(self, server: Served) -> MicrosoftEmulator:
        server[0].mailboxes = {ANN: Mailbox()}
        return server[0]

    @pytest.fixture
    def calendar(self, emulator: MicrosoftEmulator, server: Served) -> Calendar:
        return open_over(emulator, address=server[1], transport=server[2])
