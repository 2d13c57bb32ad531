"""Subscriptions at Microsoft: opened after its handshake, renewed, closed; a notice saves asking, and nothing else."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from tests.contracts.calendar_contract import HOUR, NINE
from tests.emulators.microsoft.emulator import MicrosoftEmulator
from tests.emulators.microsoft.mailbox import PRIMARY
from tests.factories.microsoft import ConsentedTokens
from tests.fakes.asgi_server import serve_app
from tests.fakes.manual_clock import ManualClock

from fateforger.adapters.microsoft.calendar import MicrosoftCalendar, MicrosoftChannels
from fateforger.adapters.microsoft.client import GraphClient
from fateforger.adapters.store.store import Store, open_store
from fateforger.app.logins import NOTICES_PATH, ChangeNotices
from fateforger.calendar.channels import LASTS, PushSignals

MORNING, NIGHT = NINE - 9 * HOUR, NINE + 15 * HOUR


@dataclass
class NotifiedProgram:
    """A mailbox, and a program with an address for notices."""

    microsoft: MicrosoftEmulator
    store: Store
    clock: ManualClock
    graph: str
    address: str
    opened: AsyncExitStack

    def listen(self, address: str = "") -> MicrosoftCalendar:
        """Return the background reads of a program that just started."""
        client = GraphClient(ConsentedTokens(self.microsoft), address=f"{self.graph}/v1.0")
        self.opened.push_async_callback(client.aclose)
        signals = PushSignals(MicrosoftChannels(client, address or self.address), self.store.channels, "U1", self.clock)
        calendar = MicrosoftCalendar(
            client, key="microsoft", time_zone="Europe/Berlin", calendar_id=PRIMARY, signals=signals
        )
        return calendar.in_background()

    async def read(self, reads: MicrosoftCalendar) -> tuple[list[str], int]:
        """Return the titles of the day, and the number of requests for them."""
        before = len(self.microsoft.requests)
        titles = [event.summary for event in await reads.window(MORNING, NIGHT)]
        return titles, len(self.microsoft.requests) - before


@pytest.fixture
async def pushed(tmp_path: Path) -> AsyncIterator[NotifiedProgram]:
    microsoft, clock = MicrosoftEmulator(), ManualClock(datetime(2026, 3, 2, 6, tzinfo=UTC))
    microsoft.subscriptions.now = clock.now
    async with aclosing(open_store(tmp_path / "state.db")) as kept:
        app = Starlette(routes=ChangeNotices(kept.channels).routes)
        async with serve_app(microsoft.app()) as graph, serve_app(app) as base, AsyncExitStack() as opened:
            yield NotifiedProgram(microsoft, kept, clock, graph, f"{base}{NOTICES_PATH}/microsoft", opened)


async def meet(pushed: NotifiedProgram) -> None:
    """Create an event in Outlook as the person, and let Microsoft send its notice."""
    pushed.microsoft.mailbox.user_create("Dentist", NINE, NINE + HOUR)
    await pushed.microsoft.subscriptions.deliver(pushed.microsoft.mailboxes)


async def test_a_mailbox_that_microsoft_says_nothing_about_costs_nothing(pushed: NotifiedProgram) -> None:
    """S331"""
    reads = pushed.listen()
    assert (await pushed.read(reads))[0] == []
    assert await pushed.read(reads) == ([], 0)
    await meet(pushed)
    assert (await pushed.read(reads))[0] == ["Dentist"]
    assert await pushed.read(reads) == (["Dentist"], 0)
    assert len(pushed.microsoft.subscriptions.open) == 1


async def test_several_days_hear_the_same_notice(pushed: NotifiedProgram) -> None:
    reads = pushed.listen()
    await pushed.read(reads)
    await reads.window(MORNING + 24 * HOUR, NIGHT + 24 * HOUR)
    await meet(pushed)
    await reads.window(MORNING + 24 * HOUR, NIGHT + 24 * HOUR)
    assert (await pushed.read(reads))[0] == ["Dentist"]


async def test_a_subscription_is_renewed_and_stopped(pushed: NotifiedProgram) -> None:
    """S331: it stays one; Graph takes no second one for the same calendar."""
    reads = pushed.listen()
    await pushed.read(reads)
    pushed.clock.at += LASTS - timedelta(minutes=30)
    await pushed.read(reads)
    (one,) = pushed.microsoft.subscriptions.open.values()
    assert one.until == pushed.clock.at + LASTS
    await pushed.read(pushed.listen())
    assert [*pushed.microsoft.subscriptions.open] == [one.id]
    await reads.end_signals()
    assert pushed.microsoft.subscriptions.open == {}
    assert await pushed.store.channels.of("U1") == ()


async def test_a_forged_notice_changes_nothing(pushed: NotifiedProgram) -> None:
    reads = pushed.listen()
    await pushed.read(reads)
    (one,) = pushed.microsoft.subscriptions.open.values()
    channel = str(one.asked["clientState"]).partition(".")[0]
    async with httpx.AsyncClient(trust_env=False) as anyone:
        for state in (f"{channel}.guess", channel, "other.guess", None):
            answer = await anyone.post(pushed.address, json={"value": [{"clientState": state}]})
            assert answer.status_code == 404
        assert (await anyone.post(pushed.address, content=b"[")).status_code == 404
        assert (await anyone.post(pushed.address, content=b"x" * 200_000)).status_code == 413
    assert await pushed.read(reads) == ([], 0)


async def test_without_a_subscription_the_mailbox_is_polled(pushed: NotifiedProgram) -> None:
    """No server answers the handshake."""
    reads = pushed.listen("http://127.0.0.1:9/changes/microsoft")
    await pushed.read(reads)
    await meet(pushed)
    assert (await pushed.read(reads))[0] == ["Dentist"]
    assert pushed.microsoft.subscriptions.open == {}
