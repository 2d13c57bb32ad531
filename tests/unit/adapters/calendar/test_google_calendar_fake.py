"""The fake keeps the contract elsewhere; here, that its faults and its people do what they say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import pytest
from tests.contracts.calendar_contract import HOUR, NINE, fields, make_owned_id, marker, put
from tests.factories.trouble import ProcessDied
from tests.fakes.google_calendar import (
    Answer,
    CallFailure,
    Crash,
    Fault,
    GoogleCalendarFake,
    LateWrite,
    LostAnswer,
    Race,
)
from tests.fakes.google_mcp import GoogleMcp
from tests.fakes.google_store import EventInvalid, EventMissing, GoogleStore, IdTaken
from tests.fakes.google_tools import OneCalendar

from fateforger.adapters.calendar.calendars import McpCalendar
from fateforger.calendar.event import EventFields
from fateforger.calendar.ports import (
    Create,
    Delete,
    Done,
    Exists,
    Limited,
    Outcome,
    Rejected,
    Unauthorized,
    Unknown,
    Update,
)
from fateforger.errors import CalendarAuthFailed, CalendarIncomplete, CalendarReadOnly, CalendarUnreachable

Write = Callable[[GoogleCalendarFake], Coroutine[Any, Any, Outcome]]


async def create(fake: GoogleCalendarFake) -> Outcome:
    return await fake.write(Create(make_owned_id(1), fields(), marker()))


async def update(fake: GoogleCalendarFake) -> Outcome:
    return await fake.write(Update(make_owned_id(), {"summary": "Other"}, marker("t2-0")))


async def delete(fake: GoogleCalendarFake) -> Outcome:
    return await fake.write(Delete(make_owned_id()))


BEFORE = ["Deep work"]
AFTER: dict[Write, list[str]] = {create: ["Deep work", "Deep work"], update: ["Other"], delete: []}
WRITES = pytest.mark.parametrize("write", [create, update, delete])


async def make_planned_fake() -> GoogleCalendarFake:
    """Return a fake with one event of the program and no calls on record."""
    fake = GoogleCalendarFake()
    await put(fake)
    fake.calls.clear()
    return fake


def titles(fake: GoogleCalendarFake) -> list[str]:
    return [image.summary for image in fake.store.get_live_events().values()]


@WRITES
@pytest.mark.parametrize("outcome", [Unknown("lost"), Limited(2.0), Unauthorized("expired"), Rejected("never")])
async def test_an_answer_without_effect(write: Write, outcome: Outcome) -> None:
    fake = await make_planned_fake()
    fake.inject(Answer(outcome))
    assert await write(fake) == outcome
    assert titles(fake) == BEFORE
    assert [(call.applied, call.result) for call in fake.calls] == [(False, outcome)]
    assert isinstance(await write(fake), Done)


@WRITES
async def test_a_lost_answer(write: Write) -> None:
    fake = await make_planned_fake()
    fake.inject(LostAnswer())
    assert isinstance(await write(fake), Unknown)
    assert titles(fake) == AFTER[write]
    assert [call.applied for call in fake.calls] == [True]


@WRITES
async def test_a_write_that_lands_late(write: Write) -> None:
    fake = await make_planned_fake()
    fake.inject(LateWrite(calls=2))
    assert isinstance(await write(fake), Unknown)
    await fake.get(make_owned_id(7))
    assert titles(fake) == BEFORE
    await fake.get(make_owned_id(7))
    assert titles(fake) == AFTER[write]


@WRITES
async def test_a_write_that_lands_when_all_is_calm(write: Write) -> None:
    fake = await make_planned_fake()
    fake.inject(LateWrite(calls=99))
    await write(fake)
    fake.calm()
    assert titles(fake) == AFTER[write]


@WRITES
async def test_a_crash_on_either_side(write: Write) -> None:
    for when, after in (("before", BEFORE), ("after", AFTER[write])):
        fake = await make_planned_fake()
        fake.inject(Crash(ProcessDied(), "before" if when == "before" else "after"))
        with pytest.raises(ProcessDied):
            await write(fake)
        assert titles(fake) == after
        assert [call.result is None for call in fake.calls] == [when == "before"]


async def test_a_race_on_either_side() -> None:
    fake = await make_planned_fake()
    fake.inject(Race(lambda: fake.store.user_edit(make_owned_id(), summary="Mine now")), verb="update")
    await fake.write(Update(make_owned_id(), {"color_id": "4"}, marker("t2-0")))
    fake.inject(Race(lambda: fake.store.user_delete(make_owned_id()), "after"), verb="update")
    done = await fake.write(Update(make_owned_id(), {"color_id": "5"}, marker("t3-0")))
    assert isinstance(done, Done)
    assert done.image is not None
    assert (done.image.gone, done.image.fields) == (False, fields(summary="Mine now", color_id="5"))
    assert titles(fake) == []


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (CallFailure(), CalendarUnreachable),
        (CallFailure(CalendarIncomplete("half of it")), CalendarIncomplete),
        (Answer(Unauthorized("expired")), CalendarAuthFailed),
        (Answer(Rejected("no")), CalendarReadOnly),
        (Answer(Limited()), CalendarUnreachable),
        (LostAnswer(), CalendarUnreachable),
        (LateWrite(), CalendarUnreachable),
    ],
)
async def test_every_fault_fits_a_read(fault: Fault, error: type[Exception]) -> None:
    fake = await make_planned_fake()
    fake.inject(fault, at=0)
    fake.inject(fault, at=1)
    with pytest.raises(error):
        await fake.get(make_owned_id())
    with pytest.raises(error):
        await fake.window(NINE, NINE + HOUR)
    assert await fake.get(make_owned_id()) is not None


async def test_which_call_meets_a_fault() -> None:
    fake = await make_planned_fake()
    fake.inject(Answer(Limited()), at=2)
    fake.inject(Answer(Unknown("second write")), verb="write", nth=1)
    fake.inject(Answer(Rejected("next update")), verb="update")
    assert isinstance(await create(fake), Done)
    assert await update(fake) == Unknown("second write")
    assert await delete(fake) == Limited()
    assert isinstance(await update(fake), Done)
    assert [call.verb for call in fake.writes] == ["create", "update", "delete", "update"]


async def test_calls_are_under_way_together() -> None:
    fake = GoogleCalendarFake()
    await asyncio.gather(*(fake.write(Create(make_owned_id(n), fields(), marker())) for n in range(5)))
    await fake.get(make_owned_id())
    assert fake.most_at_once == 5


async def test_equal_histories_leave_equal_calendars() -> None:
    first, second = GoogleCalendarFake(), GoogleCalendarFake()
    for fake in (first, second):
        await put(fake)
        fake.store.user_create(start=NINE, end=NINE + HOUR)
        fake.store.user_copy(make_owned_id(), by=HOUR)
        await delete(fake)
    assert first.store.events == second.store.events
    assert list(first.store.events) == [make_owned_id(), "user00000001", "user00000002"]


async def test_what_is_deleted_can_come_back_and_can_be_forgotten() -> None:
    fake = await make_planned_fake()
    await delete(fake)
    fake.store.user_restore(make_owned_id())
    assert titles(fake) == ["Deep work"]
    await delete(fake)
    fake.store.purge(make_owned_id())
    assert await fake.get(make_owned_id()) is None
    assert await fake.write(Create(make_owned_id(), fields(), marker())) == Exists()


async def test_a_new_event_may_be_missing_from_the_list_for_a_while() -> None:
    fake = GoogleCalendarFake(GoogleStore(lag=2))
    await put(fake)
    seen = [len(await fake.window(NINE, NINE + HOUR)) for _ in range(3)]
    assert (seen, (await fake.get(make_owned_id())) is not None) == ([0, 0, 1], True)


async def test_a_calendar_may_change_the_words_it_is_given() -> None:
    def trim_summary(given: EventFields) -> EventFields:
        return given.model_copy(update={"summary": given.summary.strip()})

    fake = GoogleCalendarFake(GoogleStore(normalize=trim_summary))
    assert (await put(fake, summary=" Deep work ")).summary == "Deep work"


def test_the_person_cannot_do_what_google_forbids() -> None:
    store = GoogleStore()
    mine = store.user_create(start=NINE, end=NINE + HOUR, event_id="dentist00001")
    with pytest.raises(IdTaken):
        store.user_create(start=NINE, end=NINE + HOUR, event_id=mine.id)
    with pytest.raises(EventInvalid):
        store.patch(mine.id, {"end": NINE - HOUR}, {})
    store.user_delete(mine.id)
    with pytest.raises(EventMissing):
        store.user_edit(mine.id, summary="Other")


@pytest.mark.asyncio(loop_scope="module")
async def test_the_fake_and_the_adapter_show_the_same(calendar: McpCalendar, server: GoogleMcp) -> None:
    """Image for image, except for what each calls the raw answer."""
    store = GoogleStore()
    server.tools.calendars["primary"] = OneCalendar(store)
    fake = GoogleCalendarFake(store)
    day = NINE.date()
    await put(fake)
    await put(fake, make_owned_id(1), description="", color_id=None)
    store.user_create(start=day, end=day + timedelta(days=1))
    store.user_create(start=NINE, end=NINE + HOUR, busy=False, description="two\nlines", color_id="11")
    store.user_create(start=NINE, end=NINE + HOUR, organized_by_me=False, extras={"attendees": [{"email": "a@b"}]})
    store.user_create(start=NINE, end=NINE + HOUR, event_type="focusTime", status="tentative")
    store.user_create(start=NINE, end=NINE + HOUR, series_id="standup00001", extras={"hangoutLink": "https://x"})
    store.user_delete(store.user_create(start=NINE, end=NINE + HOUR).id)
    for event_id in store.events:
        ours, theirs = await fake.get(event_id), await calendar.get(event_id)
        assert ours is not None
        assert theirs is not None
        assert theirs.model_copy(update={"raw": {}}) == ours.model_copy(update={"raw": {}})
    theirs_day = [event.id for event in await calendar.window(NINE, NINE + HOUR)]
    assert theirs_day == [event.id for event in await fake.window(NINE, NINE + HOUR)]
