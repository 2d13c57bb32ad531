"""The adapter's results for each error of Graph, and the cost of its requests."""

from __future__ import annotations

import asyncio
from typing import Any, Literal

import httpx
import pytest
from tests.contracts.calendar_contract import HOUR, NINE, fields, make_owned_id, marker, put, read
from tests.emulators.microsoft.emulator import Fault, MicrosoftEmulator
from tests.emulators.microsoft.mailbox import PRIMARY
from tests.factories.days import Time, eleven_changes, engine_over, twelve_blocks
from tests.factories.microsoft import BERLIN, ConsentedTokens, find_item, open_over
from tests.fakes.memory_journal import MemoryJournal

from fateforger.adapters.microsoft.calendar import MicrosoftCalendar
from fateforger.adapters.microsoft.client import GraphClient
from fateforger.calendar.ports import (
    Create,
    Delete,
    Done,
    Exists,
    Gone,
    Limited,
    Outcome,
    Rejected,
    Stale,
    Unauthorized,
    Unknown,
    Update,
)
from fateforger.errors import (
    CalendarAuthFailed,
    CalendarError,
    CalendarIncomplete,
    CalendarNotFound,
    CalendarReadOnly,
    CalendarUnreachable,
)

Write = Literal["create", "update", "delete"]
METHODS: dict[Write, str] = {"create": "POST", "update": "PATCH", "delete": "DELETE"}
WAIT = "Microsoft takes no more requests for the moment"


@pytest.fixture
def emulator() -> MicrosoftEmulator:
    return MicrosoftEmulator()


@pytest.fixture
def calendar(emulator: MicrosoftEmulator) -> MicrosoftCalendar:
    return open_over(emulator)


async def attempt(calendar: MicrosoftCalendar, write: Write, **more: Any) -> Outcome:
    """Write to the event that is there, or create another one."""
    match write:
        case "create":
            return await calendar.write(Create(make_owned_id(1), fields(), marker()))
        case "update":
            return await calendar.write(Update(make_owned_id(), {"summary": "Other"}, marker("t2-0"), **more))
        case "delete":
            return await calendar.write(Delete(make_owned_id(), **more))


@pytest.mark.parametrize("write", METHODS)
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault(429, retry_after=7), Limited(7.0, WAIT)),
        (Fault(429), Limited(None, WAIT)),
        (Fault(503, retry_after=120), Limited(120.0, WAIT)),
        (Fault(503), Unknown),
        (Fault(507), Rejected),
        (Fault(500), Unknown),
        (Fault(502, after=True), Unknown),
        (Fault(504, after=True), Unknown),
        (Fault("lost"), Unknown),
        (Fault("lost", after=True), Unknown),
        (Fault("slow", after=True), Unknown),
        (Fault(400, code="ErrorInvalidRequest"), Rejected),
        (Fault(403, code="ErrorAccessDenied"), Rejected),
        (Fault(404, code="MailboxNotEnabledForRESTAPI"), Rejected),
    ],
    ids=str,
)
async def test_an_error_of_a_write(
    calendar: MicrosoftCalendar, emulator: MicrosoftEmulator, write: Write, fault: Fault, expected: Any
) -> None:
    """S312"""
    before = await put(calendar)
    emulator.inject(fault, method=METHODS[write])
    outcome = await attempt(calendar, write)
    assert isinstance(outcome, expected) if isinstance(expected, type) else outcome == expected
    if not fault.after:
        assert await read(calendar) == before
        assert len(emulator.mailbox.items) == 1


async def test_an_event_that_changed_or_went_on_the_way(
    calendar: MicrosoftCalendar, emulator: MicrosoftEmulator
) -> None:
    """S200: Graph's own comparison decides, after the adapter's."""
    seen = await put(calendar)
    for write in ("update", "delete"):
        emulator.inject(Fault(412, code="ErrorIrresolvableConflict"), method=METHODS[write])
        assert await attempt(calendar, write, expect=seen.version) == Stale()
        emulator.inject(Fault(404, code="ErrorItemNotFound"), method=METHODS[write])
        assert await attempt(calendar, write) == Gone()
    emulator.inject(Fault(409, code="ErrorDuplicateTransactionId"), method="POST")
    assert await attempt(calendar, "create") == Exists()
    assert await read(calendar) == seen


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault(429, retry_after=7), CalendarUnreachable),
        (Fault(503), CalendarUnreachable),
        (Fault("lost"), CalendarUnreachable),
        (Fault("slow"), CalendarUnreachable),
        (Fault(403), CalendarReadOnly),
        (Fault(404, code="ErrorItemNotFound"), CalendarNotFound),
        (Fault(400), CalendarIncomplete),
        (Fault(410, code="SyncStateNotFound"), CalendarIncomplete),
    ],
    ids=str,
)
async def test_an_error_of_a_read(
    calendar: MicrosoftCalendar, emulator: MicrosoftEmulator, fault: Fault, expected: type[CalendarError]
) -> None:
    """S312: no answer is never taken for an empty day, nor for a deleted event."""
    await put(calendar)
    emulator.inject(fault)
    with pytest.raises(expected):
        await calendar.window(NINE, NINE + HOUR)
    emulator.inject(fault)
    with pytest.raises(expected) as raised:
        await calendar.get(make_owned_id())
    if fault.retry_after is not None:
        assert isinstance(raised.value, CalendarUnreachable)
        assert (raised.value.retry_after, raised.value.reason) == (fault.retry_after, WAIT)


async def test_a_read_before_a_write_that_fails(calendar: MicrosoftCalendar, emulator: MicrosoftEmulator) -> None:
    before = await put(calendar)
    for write in METHODS:
        emulator.inject(Fault(429, retry_after=2), method="GET")
        assert await attempt(calendar, write) == Limited(2.0, WAIT)
    assert await read(calendar) == before


async def test_a_login_that_ended(emulator: MicrosoftEmulator) -> None:
    tokens = ConsentedTokens(emulator)
    calendar = open_over(emulator, tokens=tokens)
    tokens.revoked = True
    assert isinstance(await calendar.write(Create(make_owned_id(), fields(), marker())), Unauthorized)
    with pytest.raises(CalendarAuthFailed, match="connect it again"):
        await calendar.window(NINE, NINE + HOUR)


async def test_a_calendar_that_may_only_be_read(calendar: MicrosoftCalendar, emulator: MicrosoftEmulator) -> None:
    await put(calendar)
    emulator.mailbox.calendars[PRIMARY]["canEdit"] = False
    outcomes = [await attempt(calendar, write) for write in METHODS]
    assert [type(outcome) for outcome in outcomes] == [Rejected] * 3
    assert all("right to" in outcome.reason for outcome in outcomes if isinstance(outcome, Rejected))
    assert len(await calendar.window(NINE, NINE + HOUR)) == 1


async def test_a_calendar_that_is_not_there(emulator: MicrosoftEmulator) -> None:
    """It is not an empty one: each block would seem to be deleted."""
    calendar = open_over(emulator, calendar_id="nobodys")
    with pytest.raises(CalendarNotFound):
        await calendar.get(make_owned_id())
    with pytest.raises(CalendarNotFound):
        await calendar.window(NINE, NINE + HOUR)
    assert [type(await attempt(calendar, write)) for write in METHODS] == [Rejected] * 3


async def test_a_create_whose_answer_was_lost_is_found_by_its_id(
    calendar: MicrosoftCalendar, emulator: MicrosoftEmulator
) -> None:
    """S312: this works long after, and in a restarted program; a second event is never made."""
    emulator.inject(Fault("lost", after=True), method="POST")
    assert isinstance(await calendar.write(Create(make_owned_id(), fields(), marker())), Unknown)
    emulator.mailbox.transactions.clear()
    again = open_over(emulator)
    assert (await read(again)).marker == marker()
    assert await again.write(Create(make_owned_id(), fields(), marker())) == Exists()
    assert len(emulator.mailbox.items) == 1


async def test_a_create_that_is_still_on_its_way_lands_once(
    calendar: MicrosoftCalendar, emulator: MicrosoftEmulator
) -> None:
    """The event cannot be found yet, so the second request carries the same transaction id."""
    emulator.inject(Fault("late"), method="POST")
    assert isinstance(await calendar.write(Create(make_owned_id(), fields(), marker())), Unknown)
    assert isinstance(await calendar.write(Create(make_owned_id(), fields(), marker())), Done)
    emulator.calm()
    assert len(emulator.mailbox.items) == 1


async def test_the_quota_of_a_mailbox(emulator: MicrosoftEmulator) -> None:
    emulator.quota = 3
    calendar = open_over(emulator)
    await put(calendar)
    await calendar.window(NINE, NINE + HOUR)
    outcome = await calendar.write(Create(make_owned_id(1), fields(), marker()))
    assert isinstance(outcome, Limited)
    assert outcome.retry_after == pytest.approx(600, abs=5)


async def test_no_page_is_read_from_another_server(emulator: MicrosoftEmulator) -> None:
    """The token would go there, too."""
    asked: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.host)
        return httpx.Response(200, json={"value": [], "@odata.nextLink": "https://graph.microsoft.example.evil/v1.0/x"})

    calendar = open_over(emulator, transport=httpx.MockTransport(handle))
    with pytest.raises(CalendarIncomplete, match="another server"):
        await calendar.window(NINE, NINE + HOUR)
    assert set(asked) == {"graph.microsoft.example"}


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(200, json=[1]),
        httpx.Response(200, json={"value": [{"id": "x"}]}),
        httpx.Response(200, json={"values": []}),
        httpx.Response(302, headers={"Location": "https://example.com"}),
    ],
    ids=["no JSON", "a list", "half an event", "no events", "a redirect"],
)
async def test_an_answer_that_is_not_graphs(emulator: MicrosoftEmulator, answer: httpx.Response) -> None:
    calendar = open_over(emulator, transport=httpx.MockTransport(lambda _request: answer))
    with pytest.raises(CalendarIncomplete):
        await calendar.window(NINE, NINE + HOUR)
    assert isinstance(await calendar.write(Create(make_owned_id(), fields(), marker())), Unknown)


async def test_a_list_without_an_end(emulator: MicrosoftEmulator) -> None:
    def handle(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"value": [], "@odata.nextLink": str(request.url)})

    with pytest.raises(CalendarIncomplete, match="has no end"):
        await open_over(emulator, transport=httpx.MockTransport(handle)).window(NINE, NINE + HOUR)


async def test_a_write_takes_no_longer_than_its_time(emulator: MicrosoftEmulator) -> None:
    async def handle(_request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    client = GraphClient(ConsentedTokens(emulator), transport=httpx.MockTransport(handle))
    calendar = MicrosoftCalendar(client, key="x", time_zone=BERLIN, write_seconds=0.01)
    assert await calendar.write(Create(make_owned_id(), fields(), marker())) == Unknown("no answer within 0.01 s")


async def test_the_price_of_a_commit(calendar: MicrosoftCalendar, emulator: MicrosoftEmulator) -> None:
    """Requests to Graph for 8 updates, 2 creates and 1 delete, where nothing was seen before: google-calendar-mcp needs
    36 to Google."""
    for n in range(9):
        await put(calendar, make_owned_id(n))
    emulator.requests.clear()
    for n in range(8):
        await calendar.write(Update(make_owned_id(n), {"start": NINE + HOUR, "end": NINE + 2 * HOUR}, marker("t2")))
    for n in range(20, 22):
        await calendar.write(Create(make_owned_id(n), fields(), marker("t2")))
    await calendar.write(Delete(make_owned_id(8)))
    assert len(emulator.requests) == 8 * 2 + 2 * 2 + 2


async def test_the_price_of_a_commit_through_the_engine(
    calendar: MicrosoftCalendar, emulator: MicrosoftEmulator
) -> None:
    """S312: 8 updates, 2 creates and 1 delete, with the look at the day before them."""
    submitter = engine_over(calendar, MemoryJournal(), Time())
    await submitter.submit_plan(twelve_blocks(), cause="first")
    emulator.requests.clear()
    await submitter.submit_plan(eleven_changes(), cause="second")
    methods = [method for method, _path in emulator.requests]
    assert {method: methods.count(method) for method in METHODS.values()} == {"POST": 2, "PATCH": 8, "DELETE": 1}
    assert methods.count("GET") == 5


async def test_what_the_person_changed_in_between_is_kept(
    calendar: MicrosoftCalendar, emulator: MicrosoftEmulator
) -> None:
    """S201: the second look finds it."""
    seen = await put(calendar)
    emulator.mailbox.user_edit(
        find_item(emulator.mailbox, make_owned_id()).id, subject="Mine now", categories=["Errands"]
    )
    outcome = await calendar.write(Update(make_owned_id(), {"color_id": "4"}, marker("t2-0"), seen=seen))
    assert isinstance(outcome, Done)
    assert (await read(calendar)).fields == fields(summary="Mine now", color_id="4")
    assert find_item(emulator.mailbox, make_owned_id()).values["categories"] == ["Cranberry category", "Errands"]
