"""A watched calendar: only changes are asked for, and what is shown is always what a full read would show."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random

import httpx
import pytest
import pytest_asyncio
from starlette.applications import Starlette
from starlette.types import Message, Receive, Scope, Send
from tests.contracts.calendar_contract import DAY, HOUR, MINUTE, NINE, make_owned_id, put
from tests.emulators.google.emulator import Fault, GoogleEmulator
from tests.fakes.asgi_server import serve_app
from tests.fakes.google_store import GoogleStore
from tests.fakes.manual_clock import ManualClock

from fateforger.adapters.google.calendars import GoogleCalendar, GoogleChannels
from fateforger.adapters.store.store import Store, open_store
from fateforger.app.logins import NOTICES_PATH, ChangeNotices
from fateforger.calendar.channels import LASTS, TRUSTED_FOR, PushSignals
from fateforger.calendar.event import EventImage
from fateforger.errors import CalendarUnreachable

pytestmark = pytest.mark.asyncio
MORNING, NIGHT = NINE - 9 * HOUR, NINE + 15 * HOUR


async def day(reads: GoogleCalendar) -> tuple[EventImage, ...]:
    return await reads.window(MORNING, NIGHT)


def lists(google: GoogleEmulator) -> list[str]:
    """Return the kind of each list request since the faults were last cleared."""
    asked = [ask.query for ask in google.asked if ask.method == "GET" and ask.path.endswith("/events")]
    return ["changes" if "syncToken" in query else "day" if "timeMin" in query else "token" for query in asked]


async def test_after_the_first_read_only_changes_are_asked_for(
    calendar: GoogleCalendar, google: GoogleEmulator, store: GoogleStore
) -> None:
    """S304"""
    await put(calendar)
    reads = calendar.in_background()
    google.calm()
    first = await day(reads)
    assert lists(google) == ["token", "day"]
    assert first == await day(calendar)
    google.calm()
    assert (await day(reads), lists(google)) == (first, ["changes"])
    google.calm()
    store.user_edit(make_owned_id(), summary="Mine now")
    store.user_create("Dentist", start=NINE, end=NINE + HOUR)
    shown = await day(reads)
    assert (sorted(e.summary for e in shown), lists(google)) == (["Dentist", "Mine now"], ["changes"])
    assert shown == await day(calendar)


async def test_an_event_that_moves_to_another_day_is_gone_from_this_one(
    calendar: GoogleCalendar, store: GoogleStore
) -> None:
    await put(calendar)
    reads = calendar.in_background()
    await day(reads)
    store.user_edit(make_owned_id(), start=NINE + 48 * HOUR, end=NINE + 49 * HOUR)
    assert await day(reads) == ()
    store.user_edit(make_owned_id(), start=NINE, end=NINE + HOUR)
    assert await day(reads) == await day(calendar) != ()


async def test_it_shows_what_a_full_read_shows_whatever_happens(
    calendar: GoogleCalendar, google: GoogleEmulator, store: GoogleStore
) -> None:
    """S304: 300 things that people do: create, move, delete, all-day events, series; tokens expire and reads fail between."""
    rng, reads = Random(330), calendar.in_background()
    for number in range(300):
        live = list(store.get_live_events().values())
        timed = [event for event in live if event.is_timed and event.series_id is None]
        what = rng.randrange(8)
        if what < 3 or not live:
            start = NINE + rng.randrange(-900, 900) * MINUTE
            store.user_create(f"Meeting {number}", start=start, end=start + 30 * MINUTE)
        elif what == 3 and timed:
            event = rng.choice(timed)
            by = rng.randrange(-900, 900) * MINUTE
            store.user_edit(event.id, start=event.start + by, end=event.end + by)
        elif what == 4:
            store.user_delete(rng.choice(live).id)
        elif what == 5:
            first = DAY + timedelta(days=rng.randrange(-1, 2))
            store.user_create("Holiday", start=first, end=first + timedelta(days=rng.randrange(1, 3)))
        elif what == 6:
            for n in range(3):
                begin = NINE + (24 * n - 24) * HOUR
                store.user_create("Stand-up", start=begin, end=begin + 15 * MINUTE, series_id=f"series{number}")
        else:
            google.api.expire_sync_tokens()
        if rng.random() < 0.15:
            google.inject(Fault(), method="GET", path="/events", times=2)
            with pytest.raises(CalendarUnreachable):
                await day(reads)
            google.calm()
        if rng.random() < 0.5:
            assert await day(reads) == await day(calendar)


async def test_a_series_that_is_deleted_is_gone_from_a_watched_day(
    calendar: GoogleCalendar, store: GoogleStore
) -> None:
    """Google tells of each occurrence only that it is cancelled, and of the series only its id."""
    for n in range(3):
        begin = NINE + n * HOUR
        store.user_create("Stand-up", start=begin, end=begin + 15 * MINUTE, series_id="standup00001")
    reads = calendar.in_background()
    assert len(await day(reads)) == 3
    master = store.user_create("Stand-up", start=NINE - 480 * HOUR, end=NINE - 479 * HOUR, event_id="standup00001")
    store.user_delete(master.id)
    for event in list(store.get_live_events()):
        store.events.pop(event)  # with the series go its occurrences, without notices
    assert await day(reads) == ()


async def test_an_expired_sync_token_means_a_full_read(
    calendar: GoogleCalendar, google: GoogleEmulator, store: GoogleStore
) -> None:
    reads = calendar.in_background()
    await day(reads)
    store.user_create("Dentist", start=NINE, end=NINE + HOUR)
    google.api.expire_sync_tokens()
    google.calm()
    assert [event.summary for event in await day(reads)] == ["Dentist"]
    assert lists(google) == ["changes", "token", "day"]


# --- push channels ---


@dataclass
class NotifiedProgram:
    """The program with an address for notices. ``answers`` are its answers to them."""

    store: Store
    calendar: GoogleCalendar
    clock: ManualClock
    address: str
    answers: list[int] = field(default_factory=list)

    def listen(self, user_id: str = "U1", address: str = "") -> GoogleCalendar:
        """Return the background reads of a program that just started."""
        api = GoogleChannels(self.calendar.client, address or self.address)
        signals = PushSignals(api, self.store.channels, user_id, self.clock)
        told = GoogleCalendar(
            self.calendar.client, "primary", time_zone="Europe/Berlin", key=self.calendar.key, signals=signals
        )
        return told.in_background()


@pytest_asyncio.fixture
async def pushed(calendar: GoogleCalendar, clock: ManualClock, tmp_path: Path) -> AsyncIterator[NotifiedProgram]:
    async with aclosing(open_store(tmp_path / "state.db")) as kept:
        notices = ChangeNotices(kept.channels)

        async def endpoint(scope: Scope, receive: Receive, send: Send) -> None:
            async def note(message: Message) -> None:
                if message["type"] == "http.response.start":
                    program.answers.append(message["status"])
                await send(message)

            await Starlette(routes=notices.routes)(scope, receive, note)

        async with serve_app(endpoint, lifespan=False) as base:
            program = NotifiedProgram(kept, calendar, clock, f"{base}{NOTICES_PATH}/google")
            yield program


async def test_a_calendar_that_google_says_nothing_about_costs_nothing(
    google: GoogleEmulator, store: GoogleStore, pushed: NotifiedProgram
) -> None:
    """S304"""
    reads = pushed.listen()
    first = await day(reads)
    await google.deliver()
    google.calm()
    assert (await day(reads), google.requests) == (first, 0)
    store.user_create("Dentist", start=NINE, end=NINE + HOUR)
    await google.deliver()
    assert [event.summary for event in await day(reads)] == ["Dentist"]
    assert (lists(google), pushed.answers) == (["changes"], [204, 204])


async def test_a_notice_is_heard_by_every_program_and_a_channel_outlives_one(
    google: GoogleEmulator, store: GoogleStore, pushed: NotifiedProgram
) -> None:
    """S331"""
    one, other = pushed.listen(), pushed.listen()
    await day(one)
    await day(other)
    assert len(google.api.channels.open) == 1
    store.user_create("Dentist", start=NINE, end=NINE + HOUR)
    await google.deliver()
    for reads in (one, other, pushed.listen()):
        assert [event.summary for event in await day(reads)] == ["Dentist"]
    assert len(google.api.channels.open) == 1


async def test_a_quiet_calendar_is_asked_about_now_and_then(
    store: GoogleStore, clock: ManualClock, pushed: NotifiedProgram
) -> None:
    """A notice was lost: Google promises none."""
    reads = pushed.listen()
    await day(reads)
    store.user_create("Dentist", start=NINE, end=NINE + HOUR)
    clock.at += TRUSTED_FOR + timedelta(seconds=1)
    assert [event.summary for event in await day(reads)] == ["Dentist"]


async def test_a_channel_is_renewed_before_it_ends_and_stopped_at_the_end(
    google: GoogleEmulator, clock: ManualClock, pushed: NotifiedProgram
) -> None:
    """S331: those of another person stay."""
    reads, others = pushed.listen(), pushed.listen("U2")
    await day(reads)
    (first,) = google.api.channels.open
    clock.at += LASTS - timedelta(minutes=30)
    await day(reads)
    (second,) = google.api.channels.open
    assert second != first
    await day(others)
    await reads.end_signals()
    (left,) = google.api.channels.open
    assert left != second
    assert await pushed.store.channels.of("U1") == ()
    assert len(await pushed.store.channels.of("U2")) == 1


async def test_a_forged_notice_changes_nothing(google: GoogleEmulator, pushed: NotifiedProgram) -> None:
    """S304: a sender that knows the address, even the channel, does not know its secret."""
    reads = pushed.listen()
    await day(reads)
    (known,) = google.api.channels.open
    notice = {"x-goog-channel-id": known, "x-goog-resource-state": "exists"}
    async with httpx.AsyncClient(trust_env=False) as anyone:
        for more in ({}, {"x-goog-channel-token": "guess"}, {"x-goog-channel-id": "other"}):
            assert (await anyone.post(pushed.address, headers=notice | more)).status_code == 404
    google.calm()
    await day(reads)
    assert google.requests == 0


async def test_without_a_channel_the_calendar_is_polled(
    google: GoogleEmulator, store: GoogleStore, pushed: NotifiedProgram
) -> None:
    """Google takes no address without https; each read asks, and none fails."""
    reads = pushed.listen(address="http://example.com/changes/google")
    await day(reads)
    store.user_create("Dentist", start=NINE, end=NINE + HOUR)
    google.calm()
    assert [event.summary for event in await day(reads)] == ["Dentist"]
    assert [ask.path.rpartition("/")[2] for ask in google.asked] == ["events"]
    assert await pushed.store.channels.of("U1") == ()
