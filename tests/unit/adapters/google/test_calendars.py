"""The outcome of each answer of Google, the cost of a write, and the fields that are never written."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.contracts.calendar_contract import HOUR, NINE, fields, make_owned_id, marker, put
from tests.emulators.google.accounts import TESTING_LASTS
from tests.emulators.google.emulator import CUT, LATE, Fault, GoogleEmulator
from tests.factories.days import Time, block, eleven_changes, engine_over, plan_of, twelve_blocks
from tests.fakes.google_store import GoogleStore
from tests.fakes.manual_clock import ManualClock
from tests.fakes.memory_journal import MemoryJournal

from fateforger.adapters.google.calendars import GoogleCalendar, try_account
from fateforger.adapters.google.client import GoogleClient
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
from fateforger.errors import (
    CalendarAuthFailed,
    CalendarError,
    CalendarIncomplete,
    CalendarNotFound,
    CalendarReadOnly,
    CalendarUnreachable,
)

pytestmark = pytest.mark.asyncio
METHODS: dict[WriteKind, str] = {"create": "POST", "update": "PATCH", "delete": "DELETE"}
BACKEND, CUT_OFF, TOO_LATE = Fault(503, "Backend Error", "backendError"), Fault(CUT), Fault(LATE)

REFUSED: dict[str, tuple[Fault, tuple[type[Outcome], type[Outcome], type[Outcome]]]] = {
    "400": (Fault(400, "Invalid start time.", "invalid"), (Rejected, Rejected, Rejected)),
    "401": (Fault(401, "Invalid Credentials", "authError"), (Unauthorized, Unauthorized, Unauthorized)),
    "403 rate": (Fault(403, "Rate Limit Exceeded", "rateLimitExceeded"), (Limited, Limited, Limited)),
    "403 user": (Fault(403, "User Rate Limit Exceeded", "userRateLimitExceeded"), (Limited, Limited, Limited)),
    "403 quota": (Fault(403, "Calendar usage limits exceeded.", "quotaExceeded"), (Limited, Limited, Limited)),
    "403 writer": (
        Fault(403, "You need to have writer access.", "requiredAccessLevel"),
        (Rejected, Rejected, Rejected),
    ),
    "403 scope": (
        Fault(403, "Request had insufficient authentication scopes.", "insufficientPermissions"),
        (Unauthorized, Unauthorized, Unauthorized),
    ),
    "403": (Fault(403, "Forbidden", "forbidden"), (Rejected, Rejected, Rejected)),
    "404": (Fault(404, "Not Found", "notFound"), (Rejected, Gone, Gone)),
    "409": (Fault(409, "The requested identifier already exists.", "duplicate"), (Exists, Stale, Stale)),
    "410": (Fault(410, "Resource has been deleted", "deleted"), (Rejected, Gone, Gone)),
    "412": (Fault(412, "Precondition Failed", "conditionNotMet"), (Unknown, Stale, Stale)),
    "429": (Fault(429, "Too many", "rateLimitExceeded", 7.0), (Limited, Limited, Limited)),
    "503": (BACKEND, (Unknown, Unknown, Unknown)),
    "cut off": (CUT_OFF, (Unknown, Unknown, Unknown)),
    "too late": (TOO_LATE, (Unknown, Unknown, Unknown)),
}


async def attempt(calendar: GoogleCalendar, write: WriteKind) -> Outcome:
    if write == "create":
        return await calendar.write(Create(make_owned_id(), fields(), marker()))
    if write == "update":
        return await calendar.write(Update(make_owned_id(), {"summary": "Other"}, marker("t2-0")))
    return await calendar.write(Delete(make_owned_id()))


def titles(store: GoogleStore) -> list[str]:
    return [image.summary for image in store.get_live_events().values()]


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("write", METHODS)
async def test_a_write_that_google_refuses(
    calendar: GoogleCalendar, google: GoogleEmulator, store: GoogleStore, write: WriteKind, case: str
) -> None:
    fault, outcomes = REFUSED[case]
    if write != "create":
        await put(calendar)
    google.inject(fault, method=METHODS[write], path="/events", times=2)
    outcome = await attempt(calendar, write)
    assert type(outcome) is outcomes[list(METHODS).index(write)]
    assert titles(store) == ([] if write == "create" else ["Deep work"])
    if isinstance(outcome, Limited):
        assert outcome.retry_after == fault.retry_after


@pytest.mark.parametrize("fault", [BACKEND, CUT_OFF, TOO_LATE], ids=["503", "cut off", "too late"])
@pytest.mark.parametrize(("write", "after"), [("create", ["Deep work"]), ("update", ["Other"]), ("delete", [])])
async def test_a_write_whose_answer_is_lost_is_not_repeated(
    calendar: GoogleCalendar,
    google: GoogleEmulator,
    store: GoogleStore,
    write: WriteKind,
    after: list[str],
    fault: Fault,
) -> None:
    if write != "create":
        await put(calendar)
    google.calm()
    google.inject(fault, method=METHODS[write], applied=True)
    assert type(await attempt(calendar, write)) is Unknown
    assert titles(store) == after
    assert [ask.method for ask in google.asked].count(METHODS[write]) == 1


READS: dict[str, tuple[Fault, type[CalendarError]]] = {
    "400": (Fault(400, "Bad Request", "badRequest"), CalendarIncomplete),
    "401": (Fault(401, "Invalid Credentials", "authError"), CalendarAuthFailed),
    "403 rate": (Fault(403, "Rate Limit Exceeded", "rateLimitExceeded", 3.0), CalendarUnreachable),
    "403": (Fault(403, "Forbidden", "forbidden"), CalendarReadOnly),
    "404": (Fault(404, "Not Found", "notFound"), CalendarNotFound),
    "503": (BACKEND, CalendarUnreachable),
    "cut off": (CUT_OFF, CalendarUnreachable),
}


@pytest.mark.parametrize("case", READS)
async def test_a_read_that_fails(calendar: GoogleCalendar, google: GoogleEmulator, case: str) -> None:
    fault, error = READS[case]
    await put(calendar)
    google.inject(fault, method="GET", times=2)
    with pytest.raises(error) as raised:
        await calendar.window(NINE, NINE + HOUR)
    assert type(raised.value) is error
    if isinstance(raised.value, CalendarUnreachable):
        assert raised.value.retry_after == fault.retry_after
    google.calm()
    assert len(await calendar.window(NINE, NINE + HOUR)) == 1


async def test_a_read_that_fails_on_its_way_is_repeated(calendar: GoogleCalendar, google: GoogleEmulator) -> None:
    await put(calendar)
    google.inject(BACKEND, method="GET")
    assert len(await calendar.window(NINE, NINE + HOUR)) == 1


async def test_a_token_that_google_refuses_is_renewed(calendar: GoogleCalendar, google: GoogleEmulator) -> None:
    """This also works before the token ends, as after a change of the password."""
    google.accounts.expire_access()
    assert isinstance(await attempt(calendar, "create"), Done)
    assert google.accounts.renewals == 1


async def test_a_connection_that_ended_is_told_as_such(
    calendar: GoogleCalendar, google: GoogleEmulator, clock: ManualClock
) -> None:
    """S303: Seven days after the consent, while the consent screen is in "Testing"."""
    await put(calendar)
    google.accounts.testing = True
    clock.at += TESTING_LASTS + timedelta(hours=1)
    said = "Google has ended my access to your account. Please connect it again."
    with pytest.raises(CalendarAuthFailed, match=said):
        await calendar.window(NINE, NINE + HOUR)
    assert [await attempt(calendar, write) for write in METHODS] == [Unauthorized(said)] * 3


async def test_sign_in_in_trouble_is_not_an_end_of_access(
    calendar: GoogleCalendar, google: GoogleEmulator, clock: ManualClock
) -> None:
    """S303"""
    await put(calendar)
    clock.at += timedelta(hours=2)
    google.inject(BACKEND, path="/token", times=2)
    with pytest.raises(CalendarUnreachable, match="I cannot sign in at Google just now"):
        await calendar.window(NINE, NINE + HOUR)
    assert len(await calendar.window(NINE, NINE + HOUR)) == 1


# --- etags ---


async def test_every_write_to_an_event_carries_its_etag(calendar: GoogleCalendar, google: GoogleEmulator) -> None:
    """S302: S200: with what was seen, what was remembered, and what was read for it."""
    seen = await put(calendar)
    done = await calendar.write(
        Update(make_owned_id(), {"summary": "Other"}, marker("t2-0"), expect=seen.version, seen=seen)
    )
    assert isinstance(done, Done)
    assert done.image is not None
    await calendar.write(Update(make_owned_id(), {"summary": "Another"}, marker("t3-0")))
    await calendar.write(Delete(make_owned_id()))
    writes = [ask for ask in google.asked if ask.method in {"PATCH", "DELETE"}]
    assert [ask.headers["if-match"] for ask in writes][:2] == [seen.version, done.image.version]
    assert (len(writes), all("if-match" in ask.headers for ask in writes)) == (3, True)


async def test_what_the_person_did_meanwhile_is_not_overwritten(
    calendar: GoogleCalendar, google: GoogleEmulator, store: GoogleStore
) -> None:
    """S302: S200: neither after a read by someone else, nor on top of what was remembered."""
    seen = await put(calendar)
    store.user_edit(make_owned_id(), summary="Mine now")
    google.calm()
    stale = await calendar.write(
        Update(make_owned_id(), {"summary": "Other"}, marker("t2-0"), expect=seen.version, seen=seen)
    )
    assert (stale, await calendar.write(Delete(make_owned_id(), expect=seen.version))) == (Stale(), Stale())
    assert titles(store) == ["Mine now"]
    assert [ask.method for ask in google.asked] == ["PATCH", "DELETE"]


@pytest.mark.parametrize("write", ["update", "delete"])
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
async def test_what_is_not_quite_ours_is_left_alone(
    calendar: GoogleCalendar, google: GoogleEmulator, store: GoogleStore, write: WriteKind, changes: dict[str, object]
) -> None:
    """S75"""
    await put(calendar)
    store.user_edit(make_owned_id(), **changes)
    assert await attempt(calendar, write) == Rejected("“Deep work” is not an event that fateforger made.")
    assert not {"PATCH", "DELETE"} & {ask.method for ask in google.asked}


@pytest.mark.parametrize("call_seconds", [30.0])  # on a busy machine, a call may take a second and be tried again
async def test_a_commit_costs_a_request_for_each_write(calendar: GoogleCalendar, google: GoogleEmulator) -> None:
    """S302: 8 updates, 2 creates and 1 delete, the look before and the look after included; 30 through the server."""
    engine = engine_over(calendar, MemoryJournal(), Time())
    await engine.submit_plan(twelve_blocks(), cause="1")
    google.calm()
    result = await engine.submit_plan(eleven_changes(), cause="2")
    assert (result.updated, result.created, result.deleted) == (8, 2, 1)
    assert google.requests <= 13
    methods = [ask.method for ask in google.asked]
    assert [methods.count(method) for method in ("PATCH", "POST", "DELETE")] == [8, 2, 1]


async def test_a_quota_that_is_used_up_is_waited_out(
    calendar: GoogleCalendar, google: GoogleEmulator, clock: ManualClock
) -> None:
    """Google says for how long, and the engine asks for nothing else meanwhile."""
    google.quota = 12
    time = Time(clock.at)

    async def sleep(seconds: float) -> None:
        clock.at += timedelta(seconds=seconds)
        await Time.sleep(time, seconds)

    time.sleep = sleep  # type: ignore[method-assign]  # the two clocks move together
    result = await engine_over(calendar, MemoryJournal(), time).submit_plan(twelve_blocks(), cause="1")
    assert (result.status, result.created) == ("changed", 12)


async def test_a_commit_that_loses_its_access_goes_on_after_a_new_connection(
    calendar: GoogleCalendar, google: GoogleEmulator, store: GoogleStore
) -> None:
    """S303: half-way, the thread says what to do; nothing is lost or there twice in the end."""
    engine = engine_over(calendar, MemoryJournal(), Time())
    await engine.submit_plan(twelve_blocks(), cause="1")
    google.inject(Fault(401, "Invalid Credentials", "authError"), method="PATCH", times=40)
    result = await engine.submit_plan(eleven_changes(), cause="2")
    assert result.status == "paused"
    assert any("Google does not let me into your calendar any more" in said for said in result.sentences)
    google.calm()
    (resumed,) = await engine.recover()
    assert resumed.status == "changed"
    assert sorted(titles(store)) == sorted(["x", "y", *(f"k{n}!" for n in range(1, 9)), "k9", "k10", "k11"])


# --- calendars ---


async def test_an_unknown_calendar_is_not_an_unknown_event(calendar: GoogleCalendar, google: GoogleEmulator) -> None:
    """Both are a 404 of Google; taken for the other, each block would seem to be deleted."""
    google.calendars = {}
    with pytest.raises(CalendarNotFound):
        await calendar.get(make_owned_id())
    with pytest.raises(CalendarNotFound):
        await calendar.window(NINE, NINE + HOUR)
    assert [type(await attempt(calendar, write)) for write in METHODS] == [Rejected] * 3


async def test_the_account_is_tried(client: GoogleClient, google: GoogleEmulator) -> None:
    """S306: What a card needs: whose account it is, and its calendars, with only the person's own to write to."""
    google.calendars |= {"team@example.com": GoogleStore("Europe/Amsterdam"), "boss@example.com": GoogleStore()}
    google.api.names = {"team@example.com": "Team", "boss@example.com": "Boss"}
    google.api.roles = {"team@example.com": "writer", "boss@example.com": "freeBusyReader"}
    account, calendars = await try_account(client)
    assert account == "owner@example.com"
    assert [(c.id, c.summary, c.writable, c.readable, c.primary, c.time_zone) for c in calendars] == [
        ("owner@example.com", "owner@example.com", True, True, True, "Europe/Berlin"),
        ("boss@example.com", "Boss", False, False, False, "Europe/Berlin"),
        ("team@example.com", "Team", False, True, False, "Europe/Amsterdam"),
    ]


async def test_several_calendars_are_one_day(client: GoogleClient, google: GoogleEmulator) -> None:
    """A meeting on two calendars is there once; an event of another calendar cannot be taken for ours."""
    family = google.calendars["family@example.com"] = GoogleStore()
    calendar = GoogleCalendar(
        client, "primary", time_zone="Europe/Berlin", key="google/owner", also_read="family@example.com"
    )
    await put(calendar)
    family.user_create(
        "Swimming", start=NINE, end=NINE + HOUR, event_id=make_owned_id(1), properties=marker().properties()
    )
    family.user_create("Deep work", start=NINE, end=NINE + HOUR, extras={"iCalUID": f"{make_owned_id()}@google.com"})
    shown = await calendar.window(NINE, NINE + HOUR)
    assert [(e.summary, e.calendar, e.own_marker is None) for e in shown] == [
        ("Swimming", "family@example.com", True),
        ("Deep work", None, False),
    ]
    del google.calendars["family@example.com"]
    with pytest.raises(CalendarNotFound, match="I cannot read your calendar “family@"):
        await calendar.window(NINE, NINE + HOUR)


async def test_a_block_moved_to_a_calendar_that_is_not_read(
    calendar: GoogleCalendar, google: GoogleEmulator, store: GoogleStore
) -> None:
    """S473: Google keeps its id there, and shows it as cancelled here; no cause is claimed that cannot be known."""
    work = google.calendars["work@example.com"] = GoogleStore()
    engine = engine_over(calendar, MemoryJournal(), Time())
    await engine.submit_plan(plan_of(block("a"), block("b", "11:00")), cause="1")
    event = next(e for e in store.get_live_events().values() if e.summary == "a")
    store.user_delete(event.id)
    moved = work.user_create("a", start=event.start, end=event.end, event_id=event.id, properties=event.properties)
    asked = await engine.submit_plan(plan_of(block("a", "15:00"), block("b", "11:30")), cause="2")
    assert asked.details == ("“a” is no longer on your calendar; the plan has it at 15:00–16:00.",)
    left = await engine.submit_plan(plan_of(block("a"), block("b", "12:00")), cause="3")
    assert left.details == ("“a” is no longer on your calendar, so it stays off.",)
    for cause in ("4", "5", "6"):
        await engine.undo_last(cause=cause)
    assert titles(store) == []
    assert work.get_live_events() == {moved.id: moved}
