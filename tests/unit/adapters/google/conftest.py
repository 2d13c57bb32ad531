"""A Google account with a calendar, connected to by a person's consent."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from tests.emulators.google.connected import connect_person
from tests.emulators.google.emulator import GoogleEmulator
from tests.fakes.asgi_server import serve_app
from tests.fakes.google_store import GoogleStore
from tests.fakes.manual_clock import ManualClock

from fateforger.adapters.google.calendars import GoogleCalendar
from fateforger.adapters.google.client import GoogleClient


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(datetime(2026, 3, 2, 11, tzinfo=UTC))


@pytest.fixture
def google(clock: ManualClock) -> GoogleEmulator:
    return GoogleEmulator(now=clock.now)


@pytest.fixture
def store(google: GoogleEmulator) -> GoogleStore:
    return google.calendars["primary"]


@pytest.fixture
def call_seconds() -> float:
    """Return the time limit of a call: short for the tests of calls that never end."""
    return 1.0


@pytest_asyncio.fixture
async def client(google: GoogleEmulator, clock: ManualClock, call_seconds: float) -> AsyncIterator[GoogleClient]:
    async with serve_app(google.app()) as base:
        tokens = await connect_person(google, base, clock)
        async with aclosing(
            GoogleClient(tokens, clock, url=f"{base}/calendar/v3", call_seconds=call_seconds)
        ) as opened:
            google.calm()
            yield opened


@pytest.fixture
def calendar(client: GoogleClient) -> GoogleCalendar:
    return GoogleCalendar(client, "primary", time_zone="Europe/Berlin", key="google/owner")
