"""Parts of events that only Outlook has: they are read, and stay when an event is changed or created again."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any

import pytest
from tests.contracts.calendar_contract import (
    DAY,
    FOREIGN,
    HOUR,
    MINUTE,
    NINE,
    day_of,
    fields,
    make_owned_id,
    marker,
    put,
    read,
)
from tests.emulators.microsoft.emulator import MicrosoftEmulator
from tests.emulators.microsoft.mailbox import Mailbox
from tests.factories.microsoft import find_item, open_over

from fateforger.adapters.microsoft.calendar import MicrosoftCalendar
from fateforger.calendar.event import EventExtras, EventImage
from fateforger.calendar.ports import Create, Delete, Done, Gone, Rejected, Update


@pytest.fixture
def emulator() -> MicrosoftEmulator:
    return MicrosoftEmulator()


@pytest.fixture
def mailbox(emulator: MicrosoftEmulator) -> Mailbox:
    return emulator.mailbox


@pytest.fixture
def calendar(emulator: MicrosoftEmulator) -> MicrosoftCalendar:
    return open_over(emulator)


async def show(calendar: MicrosoftCalendar, mailbox: Mailbox, **values: Any) -> EventImage:
    """Return an event of the person's own, as the port shows it."""
    mailbox.user_create("Dentist", NINE, NINE + HOUR, event_id=FOREIGN, **values)
    return await read(calendar, FOREIGN)


@pytest.mark.parametrize(
    ("shown", "busy", "extras"),
    [
        ("busy", True, EventExtras()),
        ("free", False, EventExtras(free=True)),
        ("tentative", True, EventExtras(tentative=True)),
        ("oof", True, EventExtras(others=("SHOWAS:oof",))),
        ("workingElsewhere", False, EventExtras(others=("SHOWAS:workingElsewhere",))),
    ],
)
async def test_whether_it_takes_up_time(
    calendar: MicrosoftCalendar, mailbox: Mailbox, shown: str, *, busy: bool, extras: EventExtras
) -> None:
    """S313"""
    event = await show(calendar, mailbox, showAs=shown)
    assert (event.busy, event.extras) == (busy, extras)


@pytest.mark.parametrize("sensitivity", ["normal", "personal", "private", "confidential"])
async def test_how_private_it_is(calendar: MicrosoftCalendar, mailbox: Mailbox, sensitivity: str) -> None:
    event = await show(calendar, mailbox, sensitivity=sensitivity)
    assert event.extras.visibility == ("default" if sensitivity == "normal" else sensitivity)


@pytest.mark.parametrize(
    ("values", "reminders"),
    [
        ({}, None),
        ({"isReminderOn": False}, ()),
        ({"reminderMinutesBeforeStart": 60}, (("popup", 60),)),
    ],
    ids=["as usual", "none", "an hour"],
)
async def test_its_reminder(
    calendar: MicrosoftCalendar, mailbox: Mailbox, values: dict[str, Any], reminders: object
) -> None:
    assert (await show(calendar, mailbox, **values)).extras.reminders == reminders


async def test_an_invitation(calendar: MicrosoftCalendar, mailbox: Mailbox) -> None:
    """S313: with its guests and its video call; one that was declined takes up no time."""
    guest = {"emailAddress": {"address": "ann@example.com", "name": "Ann"}, "type": "optional"}
    event = await show(
        calendar,
        mailbox,
        attendees=[{**guest, "status": {"response": "tentativelyAccepted"}}],
        isOrganizer=False,
        responseStatus={"response": "declined"},
        onlineMeeting={"joinUrl": "https://teams.example.com/1"},
        hasAttachments=True,
        importance="high",
    )
    assert (event.busy, event.organized_by_me) == (False, False)
    told = {"email": "ann@example.com", "displayName": "Ann", "optional": True, "responseStatus": "tentative"}
    assert event.extras == EventExtras(
        guests=(told,), conference="https://teams.example.com/1", others=("ATTACHMENTS", "IMPORTANCE:high")
    )


async def test_a_meeting_that_was_called_off_is_not_on_the_day(calendar: MicrosoftCalendar, mailbox: Mailbox) -> None:
    event = await show(calendar, mailbox, isCancelled=True)
    assert event.gone
    assert await day_of(calendar) == []


async def test_notes_that_were_formatted_are_read_as_text(calendar: MicrosoftCalendar, mailbox: Mailbox) -> None:
    event = await show(calendar, mailbox, body={"contentType": "text", "content": "one\r\ntwo\r\n"})
    assert event.description == "one\ntwo"


async def test_the_persons_categories_stay(calendar: MicrosoftCalendar, mailbox: Mailbox) -> None:
    """S313: the color is one category, and only that one is changed."""
    await put(calendar)
    graph_id = find_item(mailbox, make_owned_id()).id
    mailbox.user_edit(graph_id, categories=["Errands", "Blue category", "Travel"])
    event = await read(calendar)
    assert (event.color_id, event.extras.others) == ("9", ("CATEGORIES:Errands", "CATEGORIES:Travel"))
    await calendar.write(Update(make_owned_id(), {"color_id": "11"}, marker("t2-0")))
    assert find_item(mailbox, make_owned_id()).values["categories"] == ["Red category", "Errands", "Travel"]
    await calendar.write(Update(make_owned_id(), {"color_id": None}, marker("t3-0")))
    assert find_item(mailbox, make_owned_id()).values["categories"] == ["Errands", "Travel"]
    await calendar.write(Update(make_owned_id(), {"summary": "Other"}, marker("t4-0")))
    assert find_item(mailbox, make_owned_id()).values["categories"] == ["Errands", "Travel"]


async def test_a_second_color_is_the_persons(calendar: MicrosoftCalendar, mailbox: Mailbox) -> None:
    """S413, K12: it counts as their addition, so no undo deletes the event, and another color of the block keeps it."""
    await put(calendar)
    mine = (await read(calendar)).raw["categories"]
    mailbox.user_edit(find_item(mailbox, make_owned_id()).id, categories=[*mine, "Red category"])
    event = await read(calendar)
    assert (event.color_id, event.extras.others) == (fields().color_id, ("CATEGORIES:Red category",))
    await calendar.write(Update(make_owned_id(), {"color_id": "5"}, marker("t2-0")))
    assert find_item(mailbox, make_owned_id()).values["categories"] == ["Yellow category", "Red category"]
    await calendar.write(Update(make_owned_id(), {"color_id": "11"}, marker("t3-0")))
    assert find_item(mailbox, make_owned_id()).values["categories"] == ["Red category"]


async def test_an_event_is_made_again_as_it_was(calendar: MicrosoftCalendar, mailbox: Mailbox) -> None:
    """K12: all that Graph lets a program write, and no guests, who would get a mail."""
    wanted = EventExtras(
        location="Room 5",
        reminders=(("popup", 60),),
        guests=({"email": "ann@example.com"},),
        visibility="confidential",
        conference="https://teams.example.com/1",
        others=("ATTACHMENTS", "CATEGORIES:Errands", "IMPORTANCE:high", "SHOWAS:oof"),
        properties={"crm": "42"},
    )
    outcome = await calendar.write(Create(make_owned_id(), fields(), marker(), wanted))
    assert isinstance(outcome, Done)
    assert outcome.image is not None
    assert outcome.image.fields == fields()
    left = {"guests": (), "conference": "", "others": wanted.others[1:]}
    assert outcome.image.extras == wanted.model_copy(update=left)
    assert find_item(mailbox, make_owned_id()).values["attendees"] == []


async def test_reminders_can_be_off(calendar: MicrosoftCalendar) -> None:
    outcome = await calendar.write(
        Create(make_owned_id(), fields(), marker(), EventExtras(reminders=(), tentative=True))
    )
    assert isinstance(outcome, Done)
    assert outcome.image is not None
    assert (outcome.image.extras.reminders, outcome.image.status) == ((), "tentative")


async def test_an_all_day_event_is_on_the_persons_day(mailbox: Mailbox, emulator: MicrosoftEmulator) -> None:
    """In a zone with a large offset from UTC, its first hour is on another day there."""
    calendar = open_over(emulator, time_zone="Pacific/Auckland")
    mailbox.user_create("Holiday", DAY, DAY + timedelta(days=1), event_id=FOREIGN)
    midnight = datetime.fromisoformat("2026-03-02T00:00:00+13:00")
    for start, found in ((midnight - HOUR, []), (midnight, [FOREIGN]), (midnight + 23 * HOUR, [FOREIGN])):
        assert [event.id for event in await calendar.window(start, start + HOUR)] == found
    assert await calendar.window(midnight + 24 * HOUR, midnight + 25 * HOUR) == ()
    assert (await read(calendar, FOREIGN)).start == date(2026, 3, 2)


async def test_one_of_ours_that_was_made_an_all_day_event_is_left(
    calendar: MicrosoftCalendar, mailbox: Mailbox
) -> None:
    await put(calendar)
    mailbox.user_edit(find_item(mailbox, make_owned_id()).id, start=DAY, end=DAY + timedelta(days=1))
    assert isinstance(await calendar.write(Update(make_owned_id(), {"start": NINE}, marker("t2-0"))), Rejected)
    assert (await read(calendar)).start == DAY


async def test_an_event_in_another_calendar_is_gone_from_this_one(
    calendar: MicrosoftCalendar, mailbox: Mailbox
) -> None:
    """Its immutable id would still find it there."""
    await put(calendar)
    mailbox.calendars["family"] = {"name": "Family", "canEdit": True}
    mailbox.user_move(find_item(mailbox, make_owned_id()).id, "family")
    assert (await read(calendar)).gone
    assert await calendar.write(Update(make_owned_id(), {"summary": "Other"}, marker("t2-0"))) == Gone()
    assert await day_of(calendar) == []


async def test_an_event_that_was_taken_out_of_the_bin_is_back(calendar: MicrosoftCalendar, mailbox: Mailbox) -> None:
    before = await put(calendar)
    graph_id = find_item(mailbox, make_owned_id()).id
    mailbox.user_delete(graph_id)
    assert (await read(calendar)).gone
    mailbox.user_restore(graph_id)
    back = await read(calendar)
    assert (back.fields, back.marker, back.gone) == (before.fields, before.marker, False)


async def test_a_deleted_event_is_unknown_after_a_restart(
    calendar: MicrosoftCalendar, emulator: MicrosoftEmulator, mailbox: Mailbox
) -> None:
    await put(calendar)
    mailbox.user_delete(find_item(mailbox, make_owned_id()).id)
    again = open_over(emulator)
    assert await again.get(make_owned_id()) is None
    assert await again.write(Delete(make_owned_id())) == Gone()


async def test_a_copy_that_claims_our_id_does_not_get_it(calendar: MicrosoftCalendar, mailbox: Mailbox) -> None:
    """Should Outlook copy the transaction id, too, the event that was made first keeps our id."""
    await put(calendar)
    graph_id = find_item(mailbox, make_owned_id()).id
    mailbox.user_copy(graph_id, new_id="duplicate001", by=2 * HOUR)
    mailbox.user_edit("duplicate001", transactionId=make_owned_id())
    assert await day_of(calendar) == [make_owned_id(), "duplicate001"]
    assert (await read(calendar)).start == NINE


async def test_the_calendars_of_an_account(calendar: MicrosoftCalendar, mailbox: Mailbox) -> None:
    """S311: what a card that offers them needs; the main one is first, and some can only be read."""
    mailbox.calendars["birthdays"] = {"name": "Birthdays", "canEdit": False}
    mailbox.calendars["team"] = {"name": "a team", "canEdit": True}
    entries = await calendar.list_calendars()
    assert [(entry.summary, entry.primary, entry.writable, entry.readable) for entry in entries] == [
        ("Calendar", True, True, True),
        ("a team", False, True, True),
        ("Birthdays", False, False, True),
    ]


# --- zones ---


async def test_times_are_written_in_the_persons_zone(calendar: MicrosoftCalendar, mailbox: Mailbox) -> None:
    """S314: so Outlook shows the event's own zone as theirs."""
    event = await put(calendar)
    assert find_item(mailbox, make_owned_id()).zones == ("W. Europe Standard Time", "W. Europe Standard Time")
    assert event.raw["start"] == {"dateTime": "2026-03-02T08:00:00+00:00", "timeZone": "Europe/Berlin"}


async def test_an_hour_that_comes_twice_is_written_in_utc(calendar: MicrosoftCalendar, mailbox: Mailbox) -> None:
    """S231"""
    start = datetime.fromisoformat("2026-10-25T02:30:00+01:00")
    event = await put(calendar, start=start, end=start + HOUR)
    assert (event.start, event.end) == (start, start + HOUR)
    assert find_item(mailbox, make_owned_id()).zones == ("UTC", "W. Europe Standard Time")


async def test_rules_of_a_zone_that_differ_move_nothing(calendar: MicrosoftCalendar, mailbox: Mailbox) -> None:
    """S314, S231: a server with outdated zone rules puts the event an hour off, and gets a second write."""
    mailbox.zones["W. Europe Standard Time"] = "Asia/Tokyo"
    event = await put(calendar)
    assert (event.start, event.end, event.marker) == (NINE, NINE + HOUR, marker())
    outcome = await calendar.write(
        Update(make_owned_id(), {"start": NINE + HOUR, "end": NINE + 2 * HOUR}, marker("t2-0"))
    )
    assert isinstance(outcome, Done)
    assert await read(calendar) == outcome.image
    assert (await read(calendar)).fields == fields(start=NINE + HOUR, end=NINE + 2 * HOUR)


async def test_a_flight_keeps_both_zones(calendar: MicrosoftCalendar, mailbox: Mailbox) -> None:
    await show(calendar, mailbox)
    mailbox.items[FOREIGN].zones = ("W. Europe Standard Time", "Tokyo Standard Time")
    event = await read(calendar, FOREIGN)
    assert event.raw_zones == {"start": {"timeZone": "Europe/Berlin"}, "end": {"timeZone": "Asia/Tokyo"}}


# --- changes ---


async def test_a_day_without_changes_is_not_read_again(
    calendar: MicrosoftCalendar, emulator: MicrosoftEmulator
) -> None:
    """S315: the background asks what changed, and reads the day only then."""
    await put(calendar)
    watching = calendar.in_background()
    first = await watching.window(NINE, NINE + HOUR)
    emulator.requests.clear()
    assert await watching.window(NINE, NINE + HOUR) == first
    assert [path for _method, path in emulator.requests] == ["/v1.0/me/calendar/calendarView/delta"]


@pytest.mark.parametrize("what", ["moves", "deletes", "adds", "repeats"])
async def test_a_change_is_seen_by_the_background(calendar: MicrosoftCalendar, mailbox: Mailbox, what: str) -> None:
    await put(calendar)
    graph_id = find_item(mailbox, make_owned_id()).id
    watching = calendar.in_background()
    await watching.window(NINE, NINE + HOUR)
    match what:
        case "moves":
            mailbox.user_edit(graph_id, start=NINE + 30 * MINUTE, end=NINE + 90 * MINUTE)
        case "deletes":
            mailbox.user_delete(graph_id)
        case "adds":
            mailbox.user_create("Dentist", NINE, NINE + HOUR, event_id=FOREIGN)
        case _:
            pattern = {"type": "daily", "interval": 1}
            mailbox.user_edit(graph_id, recurrence={"pattern": pattern, "range": {"type": "noEnd"}})
    assert await watching.window(NINE, NINE + HOUR) == await calendar.window(NINE, NINE + HOUR)


async def test_a_token_that_expired_means_reading_everything(
    calendar: MicrosoftCalendar, emulator: MicrosoftEmulator, mailbox: Mailbox
) -> None:
    """S315"""
    watching = calendar.in_background()
    assert await watching.window(NINE, NINE + HOUR) == ()
    mailbox.user_create("Dentist", NINE, NINE + HOUR, event_id=FOREIGN)
    emulator.calendars.expire_tokens()
    assert [event.id for event in await watching.window(NINE, NINE + HOUR)] == [FOREIGN]
    emulator.requests.clear()
    await watching.window(NINE, NINE + HOUR)
    assert len(emulator.requests) == 1


async def test_a_change_during_the_read_is_seen_the_next_time(
    calendar: MicrosoftCalendar, emulator: MicrosoftEmulator, mailbox: Mailbox
) -> None:
    """The token is older than what was read."""
    watching = calendar.in_background()
    answer = emulator.calendars.answer

    def change_after_the_view(asked: Any, box: Mailbox, owner: str) -> Any:
        answered = answer(asked, box, owner)
        if asked.path.endswith("/calendarView") and not mailbox.items:
            mailbox.user_create("Dentist", NINE, NINE + HOUR, event_id=FOREIGN)
        return answered

    emulator.calendars.answer = change_after_the_view  # type: ignore[assignment,method-assign]  # another client is quicker
    assert await watching.window(NINE, NINE + HOUR) == ()
    assert [event.id for event in await watching.window(NINE, NINE + HOUR)] == [FOREIGN]
