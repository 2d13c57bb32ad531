"""A provider that asks to wait, or an account without a budget: nothing is sent, and the answer says why."""

from __future__ import annotations

from contextlib import aclosing
from datetime import UTC, datetime

import pytest
from tests.contracts.calendar_contract import HOUR, NINE, fields, make_owned_id, marker
from tests.emulators.google.connected import connect_person
from tests.emulators.google.emulator import GoogleEmulator
from tests.emulators.microsoft.emulator import MicrosoftEmulator
from tests.factories.microsoft import ConsentedTokens
from tests.fakes.asgi_server import serve_app

from fateforger.adapters.answers import read_retry_after
from fateforger.adapters.clock import SystemClock
from fateforger.adapters.google.calendars import GoogleCalendar
from fateforger.adapters.google.client import GoogleClient
from fateforger.adapters.microsoft.calendar import MicrosoftCalendar
from fateforger.adapters.microsoft.client import GraphClient
from fateforger.calendar.calls import Purpose, SharedBudget, TokenBucket
from fateforger.calendar.ports import Calendar, Create, Limited
from fateforger.errors import CalendarUnreachable

NEVER = TokenBucket("anna", size=0, per_second=0.1)


class EmptyBuckets:
    """Buckets that are empty for eight seconds. ``asked`` is what for."""

    def __init__(self) -> None:
        self.asked: list[Purpose] = []

    async def take(self, buckets: tuple[TokenBucket, ...], purpose: Purpose) -> float:
        del buckets
        self.asked.append(purpose)
        return 8.0


async def see(calendar: Calendar, spent: EmptyBuckets) -> None:
    with pytest.raises(CalendarUnreachable, match="I have asked very often") as refused:
        await calendar.window(NINE, NINE + HOUR)
    assert refused.value.retry_after == 8.0
    with pytest.raises(CalendarUnreachable):
        await calendar.in_background().window(NINE, NINE + HOUR)
    outcome = await calendar.write(Create(make_owned_id(), fields(), marker()))
    assert isinstance(outcome, Limited)
    assert outcome.retry_after == 8.0
    assert spent.asked[:2] == [Purpose.READ, Purpose.BACKGROUND]


async def test_google() -> None:
    """S330"""
    google, spent = GoogleEmulator(), EmptyBuckets()
    async with serve_app(google.app()) as base:
        tokens = await connect_person(google, base)
        budget = SharedBudget(spent, NEVER)
        client = GoogleClient(tokens, SystemClock(), budget=budget, url=f"{base}/calendar/v3")
        async with aclosing(GoogleCalendar(client, "primary", time_zone="Europe/Berlin", key="google")) as calendar:
            await see(calendar, spent)
    assert google.requests == 0


async def test_microsoft() -> None:
    """S330"""
    microsoft, spent = MicrosoftEmulator(), EmptyBuckets()
    address = "https://graph.microsoft.example/v1.0"
    budget = SharedBudget(spent, NEVER)
    client = GraphClient(ConsentedTokens(microsoft), budget=budget, address=address, transport=microsoft.transport())
    async with aclosing(MicrosoftCalendar(client, key="microsoft", time_zone="Europe/Berlin")) as calendar:
        await see(calendar, spent)
    assert microsoft.requests == []


async def test_a_read_waits_a_little_and_a_write_does_not() -> None:
    waits, slept = iter([3.0, 0.0, 3.0]), list[float]()

    class Scarce(EmptyBuckets):
        async def take(self, buckets: tuple[TokenBucket, ...], purpose: Purpose) -> float:
            return next(waits)

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    budget = SharedBudget(Scarce(), NEVER, sleep=sleep)
    assert (await budget.spend(Purpose.READ), slept) == (0.0, [3.0])
    assert (await budget.spend(Purpose.WRITE), slept) == (3.0, [3.0])


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("7", 7.0),
        ("-1", 0.0),
        ("Thu, 01 Jan 2026 12:00:30 GMT", 30.0),
        ("Thu, 01 Jan 2026 12:00:30 -0000", 30.0),  # no zone, says RFC 5322: UTC
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("inf", None),
        ("nan", None),
    ],
)
def test_when_to_ask_again(said: str, seconds: float | None) -> None:
    assert read_retry_after(said, datetime(2026, 1, 1, 12, tzinfo=UTC)) == seconds
