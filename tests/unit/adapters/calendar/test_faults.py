"""Google's answers on their way through the server: the outcome of each, and its effect on the calendar."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Literal

import pytest
from tests.contracts.calendar_contract import HOUR, NINE, fields, make_owned_id, marker, put
from tests.fakes.google_mcp import Answers, ConcurrentChange, ErrorText, Google, GoogleMcp
from tests.fakes.google_store import GoogleStore
from tests.fakes.google_tools import OneCalendar

from fateforger.adapters.calendar.calendars import McpCalendar
from fateforger.adapters.calendar.tools import READ_ONLY, SERVER
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
    WriteKind,
)
from fateforger.calendar.refusals import ACCESS_LOST
from fateforger.errors import (
    CalendarAuthFailed,
    CalendarError,
    CalendarIncomplete,
    CalendarNotFound,
    CalendarReadOnly,
    CalendarUnreachable,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

TOOL = {"create": "create-event", "update": "update-event", "delete": "delete-event"}
RESET = Google(0, "request to https://www.googleapis.com/calendar/v3/x failed, reason: read ECONNRESET")
BROKEN = Google(0, "Invalid response body while trying to fetch https://www.googleapis.com/calendar/v3/x: aborted")
ABORTED = Google(1, "The operation was aborted.")
BACKEND = Google(500, "Backend Error")
UNAVAILABLE = Google(503, "Service Unavailable")

# Each with what create, update and delete come to when nothing was applied.
REFUSED: dict[str, tuple[Google, tuple[type[Outcome], type[Outcome], type[Outcome]]]] = {
    "400": (Google(400, "Invalid start time."), (Rejected, Rejected, Rejected)),
    "401": (Google(401, "Invalid Credentials"), (Unauthorized, Unauthorized, Unauthorized)),
    "403 rate": (Google(403, "Rate Limit Exceeded"), (Limited, Limited, Limited)),
    "403 quota": (Google(403, "Calendar usage limits exceeded."), (Limited, Limited, Limited)),
    "403 access": (Google(403, "You need to have writer access to this calendar."), (Rejected, Rejected, Rejected)),
    "404": (Google(404, "Not Found"), (Rejected, Gone, Gone)),
    "409": (Google(409, "Conflict"), (Exists, Stale, Stale)),
    "410": (Google(410, "Resource has been deleted"), (Rejected, Gone, Gone)),
    "412": (Google(412, "Precondition Failed"), (Unknown, Stale, Stale)),
    "429 rate": (Google(429, "Rate Limit Exceeded", "rateLimitExceeded"), (Limited, Limited, Done)),
    "429 user": (Google(429, "User Rate Limit Exceeded", "userRateLimitExceeded"), (Limited, Limited, Done)),
    "500": (BACKEND, (Unknown, Unknown, Done)),
    "503": (UNAVAILABLE, (Unknown, Unknown, Done)),
    "reset": (RESET, (Unknown, Unknown, Done)),
    "broken off": (BROKEN, (Unknown, Unknown, Done)),
    "aborted": (ABORTED, (Unknown, Unknown, Unknown)),
}


async def attempt(calendar: McpCalendar, write: WriteKind) -> Outcome:
    if write == "create":
        return await calendar.write(Create(make_owned_id(), fields(), marker()))
    if write == "update":
        return await calendar.write(Update(make_owned_id(), {"summary": "Other"}, marker("t2-0")))
    return await calendar.write(Delete(make_owned_id()))


def titles(store: GoogleStore) -> list[str]:
    return [image.summary for image in store.get_live_events().values()]


@pytest.mark.parametrize("two_gaxios", [False, True], ids=["prefixed", "internal"])
@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("write", ["create", "update", "delete"])
async def test_a_write_that_google_refuses(
    calendar: McpCalendar,
    server: GoogleMcp,
    store: GoogleStore,
    write: WriteKind,
    case: str,
    two_gaxios: Literal[False, True],
) -> None:
    fault, outcomes = REFUSED[case]
    if write != "create":
        await put(calendar)
    server.two_gaxios = two_gaxios
    server.inject(fault, tool=TOOL[write], times=2)
    outcome = await attempt(calendar, write)
    expected = outcomes[["create", "update", "delete"].index(write)]
    assert type(outcome) is expected
    assert titles(store) == ([] if write == "create" or expected is Done else ["Deep work"])


@pytest.mark.parametrize(
    ("write", "fault", "expected", "after"),
    [
        ("create", BACKEND, Unknown, ["Deep work"]),
        ("create", UNAVAILABLE, Unknown, ["Deep work"]),
        ("create", RESET, Unknown, ["Deep work"]),
        ("create", BROKEN, Unknown, ["Deep work"]),
        ("create", ABORTED, Unknown, ["Deep work"]),
        ("update", BACKEND, Unknown, ["Other"]),
        ("update", UNAVAILABLE, Unknown, ["Other"]),
        ("update", RESET, Unknown, ["Other"]),
        ("update", BROKEN, Unknown, ["Other"]),
        ("update", ABORTED, Unknown, ["Other"]),
        # The server repeats a delete, and the repetition meets the tombstone of the first.
        ("delete", BACKEND, Gone, []),
        ("delete", UNAVAILABLE, Gone, []),
        ("delete", RESET, Gone, []),
        ("delete", ABORTED, Unknown, []),
    ],
)
async def test_a_write_whose_answer_google_lost(
    calendar: McpCalendar,
    server: GoogleMcp,
    store: GoogleStore,
    write: WriteKind,
    fault: Google,
    expected: type[Outcome],
    after: list[str],
) -> None:
    if write != "create":
        await put(calendar)
    server.inject(fault, tool=TOOL[write], applied=True)
    assert type(await attempt(calendar, write)) is expected
    assert titles(store) == after


@pytest.mark.parametrize("write", ["create", "update", "delete"])
@pytest.mark.parametrize(
    "answer",
    ["", "Event created!", "{}", '{"event": {"id": "x"}}', '{"event": []}', "null"],
    ids=["empty", "prose", "nothing", "half", "wrong", "null"],
)
async def test_a_success_that_cannot_be_read_is_unknown(
    calendar: McpCalendar, server: GoogleMcp, write: WriteKind, answer: str
) -> None:
    if write != "create":
        await put(calendar)
    server.inject(Answers(answer), tool=TOOL[write], applied=True)
    assert type(await attempt(calendar, write)) is Unknown


async def test_an_answer_about_another_event_is_unknown(calendar: McpCalendar, server: GoogleMcp) -> None:
    other = '{"event": {"id": "another00001", "start": {"date": "2026-03-02"}, "end": {"date": "2026-03-03"}}}'
    server.inject(Answers(other), tool="create-event")
    assert await calendar.write(Create(make_owned_id(), fields(), marker())) == Unknown(
        "an answer about event another00001"
    )


Read = Callable[[McpCalendar], Awaitable[object]]


async def window(calendar: McpCalendar) -> object:
    return await calendar.window(NINE, NINE + HOUR)


async def get(calendar: McpCalendar) -> object:
    return await calendar.get(make_owned_id())


READS: dict[str, tuple[Google | ErrorText | Answers, type[CalendarError]]] = {
    "400": (Google(400, "Bad things"), CalendarIncomplete),
    "401": (Google(401, "Invalid Credentials"), CalendarAuthFailed),
    "403 rate": (Google(403, "Rate Limit Exceeded"), CalendarUnreachable),
    "403 access": (Google(403, "Insufficient permissions"), CalendarReadOnly),
    "429": (
        ErrorText("MCP error -32603: Rate limit exceeded. Please try again later. Rate Limit Exceeded"),
        CalendarUnreachable,
    ),
    "aborted": (ABORTED, CalendarUnreachable),
    "login": (ErrorText("MCP error -32600: No authenticated accounts available."), CalendarAuthFailed),
    "calendar": (ErrorText('MCP error -32600: No account has read access to calendar "x".'), CalendarNotFound),
    "new text": (ErrorText("Something else went wrong"), CalendarIncomplete),
    "prose": (Answers("No events found."), CalendarIncomplete),
    "nothing": (Answers("{}"), CalendarIncomplete),
}


@pytest.mark.parametrize("case", READS)
@pytest.mark.parametrize(("read", "tool"), [(window, "list-events"), (get, "get-event")], ids=["window", "get"])
async def test_a_read_that_fails(calendar: McpCalendar, server: GoogleMcp, read: Read, tool: str, case: str) -> None:
    fault, error = READS[case]
    await put(calendar)
    server.inject(fault, tool=tool)
    with pytest.raises(error) as raised:
        await read(calendar)
    assert type(raised.value) is error
    assert await read(calendar) != ()


@pytest.mark.parametrize("fault", [BACKEND, UNAVAILABLE, RESET], ids=["500", "503", "reset"])
@pytest.mark.parametrize(("read", "tool"), [(window, "list-events"), (get, "get-event")], ids=["window", "get"])
async def test_a_read_that_the_server_repeats(
    calendar: McpCalendar, server: GoogleMcp, read: Read, tool: str, fault: Google
) -> None:
    await put(calendar)
    calm = await read(calendar)
    server.inject(fault, tool=tool)
    assert await read(calendar) == calm


# --- the look before a write -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        (Google(401, "Invalid Credentials"), Unauthorized(SERVER.login.format(reason="Invalid Credentials"))),
        (Google(403, "Rate Limit Exceeded"), Limited(None, "Your calendar takes no more requests for the moment")),
        (Google(403, "Forbidden"), Rejected(ACCESS_LOST.format(reason="Forbidden"))),
        (ABORTED, Unknown("The operation was aborted")),
        (ErrorText("Something else went wrong"), Unknown("Something else went wrong")),
    ],
)
@pytest.mark.parametrize("write", ["update", "delete"])
async def test_nothing_is_written_when_the_event_cannot_be_looked_at(
    calendar: McpCalendar, server: GoogleMcp, write: WriteKind, fault: Google | ErrorText, outcome: Outcome
) -> None:
    await put(calendar)
    server.inject(fault, tool="get-event")
    assert await attempt(calendar, write) == outcome
    assert server.list_calls(TOOL[write]) == []


@pytest.mark.parametrize("write", ["update", "delete"])
async def test_what_is_deleted_after_the_look_is_gone(
    calendar: McpCalendar, server: GoogleMcp, store: GoogleStore, write: WriteKind
) -> None:
    """An update of a deleted event is a success for the server; its status gives it away."""
    await put(calendar)
    server.inject(ConcurrentChange(lambda: store.user_delete(make_owned_id())), tool=TOOL[write])
    assert await attempt(calendar, write) == Gone()


@pytest.mark.parametrize(
    "changes",
    [
        {"event_type": "focusTime"},
        {"organized_by_me": False},
        {"series_id": "fftbseries"},
        {"properties": {"ffu": "k"}},
    ],
    ids=lambda changes: next(iter(changes)),
)
@pytest.mark.parametrize("write", ["update", "delete"])
async def test_what_is_not_quite_ours_is_left_alone(
    calendar: McpCalendar, server: GoogleMcp, store: GoogleStore, write: WriteKind, changes: dict[str, object]
) -> None:
    """S75"""
    await put(calendar)
    store.user_edit(make_owned_id(), **changes)
    assert await attempt(calendar, write) == Rejected("“Deep work” is not an event that fateforger made.")
    assert server.list_calls(TOOL[write]) == []


async def test_an_event_that_changed_since_is_stale_even_without_etags(
    calendar: McpCalendar, server: GoogleMcp, store: GoogleStore
) -> None:
    seen = await put(calendar)
    assert not calendar.traits.conditional_write
    store.user_edit(make_owned_id(), summary="Mine now")
    assert (
        await calendar.write(Update(make_owned_id(), {"color_id": "4"}, marker("t2-0"), expect=seen.version)) == Stale()
    )
    assert await calendar.write(Delete(make_owned_id(), expect=seen.version)) == Stale()
    assert (server.list_calls("update-event"), server.list_calls("delete-event")) == ([], [])


async def test_one_end_moves_and_the_other_is_sent_along(calendar: McpCalendar, server: GoogleMcp) -> None:
    await put(calendar)
    await calendar.write(Update(make_owned_id(), {"end": NINE + 2 * HOUR}, marker("t2-0")))
    (sent,) = server.list_calls("update-event")
    assert (sent["start"], sent["end"]) == ("2026-03-02T08:00:00Z", "2026-03-02T10:00:00Z")


async def test_one_end_of_an_all_day_event_cannot_move(
    calendar: McpCalendar, server: GoogleMcp, store: GoogleStore
) -> None:
    await put(calendar)
    day = NINE.date()
    store.user_edit(make_owned_id(), start=day, end=day + timedelta(days=1))
    outcome = await calendar.write(Update(make_owned_id(), {"end": NINE}, marker("t2-0")))
    assert outcome == Rejected("“Deep work” is an all-day event; it has no start to keep.")
    assert server.list_calls("update-event") == []


async def test_a_color_cannot_be_taken_away(calendar: McpCalendar, server: GoogleMcp) -> None:
    await put(calendar)
    alone = await calendar.write(Update(make_owned_id(), {"color_id": None}, marker("t2-0")))
    assert alone == Rejected("This calendar can change a color but not take it away.")
    assert server.list_calls("update-event") == []
    among = await calendar.write(Update(make_owned_id(), {"color_id": None, "summary": "Other"}, marker("t2-0")))
    assert isinstance(among, Done)
    assert among.image is not None
    assert among.image.fields == fields(summary="Other", color_id="9")


# --- which calendar ----------------------------------------------------------------------------------------------


async def test_an_unknown_event_of_a_known_calendar_is_none(calendar: McpCalendar, server: GoogleMcp) -> None:
    assert await calendar.get(make_owned_id()) is None
    assert [tool for tool, _ in server.requests] == ["get-event", "list-events"]


async def test_an_unknown_calendar_is_not_an_unknown_event(calendar: McpCalendar, server: GoogleMcp) -> None:
    """Both are a 404 of Google; taken for the other, each block would seem to be deleted."""
    server.tools.calendars = {}
    with pytest.raises(CalendarNotFound):
        await calendar.get(make_owned_id())
    with pytest.raises(CalendarNotFound):
        await calendar.window(NINE, NINE + HOUR)
    writes: tuple[WriteKind, ...] = ("create", "update", "delete")
    assert [type(await attempt(calendar, write)) for write in writes] == [Rejected] * 3


async def test_a_calendar_that_nobody_is_logged_in_to(calendar: McpCalendar) -> None:
    other = calendar.for_calendar("nobody@example.com")
    with pytest.raises(CalendarNotFound):
        await other.window(NINE, NINE + HOUR)
    with pytest.raises(CalendarNotFound):
        await other.get(make_owned_id())
    assert type(await other.write(Create(make_owned_id(), fields(), marker()))) is Rejected


async def test_a_read_only_calendar(calendar: McpCalendar, server: GoogleMcp, store: GoogleStore) -> None:
    await put(calendar)
    server.tools.calendars["primary"] = OneCalendar(store, access_role="reader")
    reason = "You need to have writer access to this calendar"
    created = await calendar.write(Create(make_owned_id(1), fields(), marker()))
    assert created == Rejected(READ_ONLY.format(reason=reason))
    lost = Rejected(ACCESS_LOST.format(reason=reason))
    assert [await attempt(calendar, write) for write in ("delete", "update")] == [lost, lost]
    assert len(await calendar.window(NINE, NINE + HOUR)) == 1


async def test_the_price_of_a_commit(calendar: McpCalendar, server: GoogleMcp, store: GoogleStore) -> None:
    """Requests that the real server would send to Google for 8 updates, 2 creates and 1 delete."""
    for n in range(9):
        await put(calendar, make_owned_id(n))
    server.tools.spent = 0
    for n in range(8):
        await calendar.write(Update(make_owned_id(n), {"start": NINE + HOUR, "end": NINE + 2 * HOUR}, marker("t2")))
    for n in range(20, 22):
        await calendar.write(Create(make_owned_id(n), fields(), marker("t2")))
    await calendar.write(Delete(make_owned_id(8)))
    assert server.tools.spent == 8 * 4 + 2 * 1 + 2
