"""The contract of calendars. A test module subclasses the suite and gives it a calendar and its owner.

The calendar is empty at first, and its zone is Europe/Berlin.
"""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from tests.contracts.calendar_people import Person

from fateforger.calendar.event import PLAIN, EventExtras, EventFields, EventImage, Marker, OwnedId
from fateforger.calendar.ports import Calendar, Create, Delete, Done, Exists, Gone, Rejected, Stale, Update

DAY = date(2026, 3, 2)
NINE = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
"""Nine o'clock in Berlin."""
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
FOREIGN = "dentist00001"
EXTRAS = EventExtras(
    location="Room 5, at the back; left",
    reminders=(("email", 30), ("popup", 5)),
    guests=(
        {"email": "ann@example.com", "displayName": "Ann", "responseStatus": "accepted"},
        {"email": "bob@example.com", "optional": True, "responseStatus": "needsAction"},
    ),
    guest_rights={"guestsCanModify": True, "guestsCanSeeOtherGuests": False},
    attachments=({"fileUrl": "https://example.com/x", "title": "X"},),
    source={"url": "https://example.com", "title": "Ticket"},
    visibility="private",
    free=True,
    properties={"zoomId": "42"},
    shared_properties={"room": "5"},
)
"""All that Google takes, and our local calendar."""

WORDS = {
    "lines": "first\nsecond\n\nfourth",
    "unicode": "Ünïcödé – 日本語 – עברית – 🧘‍♀️",
    "markup": '<b>bold</b> & <a href="https://example.com/?a=1&b=2">link</a> <not html',
    "separators": "a, b; c: d \\ e \\n f\tg",
    "quotes": "“she” said 'no' \"twice\"",
    "long": "wort " * 1600,
    "calendar words": "BEGIN:VEVENT\nSUMMARY:not a property\nEND:VEVENT",
}

MOMENTS = {
    "a plain morning": "2026-03-02T09:00:00+01:00",
    "before the spring gap": "2026-03-29T01:30:00+01:00",
    "after the spring gap": "2026-03-29T03:00:00+02:00",
    "in the first of two equal hours": "2026-10-25T02:30:00+02:00",
    "in the second of two equal hours": "2026-10-25T02:30:00+01:00",
    "overnight": "2026-03-02T23:30:00+01:00",
    "another zone": "2026-07-01T09:00:00+12:45",
    "a quarter-hour zone": "2026-07-01T09:00:00+05:45",
    "the last night of a year": "2026-12-31T23:45:00-05:00",
}


def make_owned_id(n: int = 0) -> OwnedId:
    return OwnedId(f"fftb{n:032d}")


def fields(**given: Any) -> EventFields:
    return EventFields(
        **{"summary": "Deep work", "description": "Notes", "start": NINE, "end": NINE + HOUR, "color_id": "9"} | given
    )


def marker(op_id: str = "t1-0", **given: Any) -> Marker:
    return Marker(**{"key": "a-block", "generation": 0, "day": DAY, "op_id": op_id} | given)


async def put(calendar: Calendar, event_id: OwnedId | None = None, **given: Any) -> EventImage:
    """Create an event and give it back as the calendar shows it."""
    outcome = await calendar.write(Create(event_id or make_owned_id(), fields(**given), marker()))
    assert isinstance(outcome, Done), outcome
    assert outcome.image is not None
    return outcome.image


async def read(calendar: Calendar, event_id: str | None = None) -> EventImage:
    """Return the event, which has to be there."""
    image = await calendar.get(event_id or make_owned_id())
    assert image is not None
    return image


async def day_of(calendar: Calendar) -> list[str]:
    """Return the ids of all events of the day, in the calendar's order."""
    return [e.id for e in await calendar.window(NINE - 9 * HOUR, NINE + 15 * HOUR)]


class CalendarContract:
    """``taken`` is what a calendar takes of :data:`EXTRAS`."""

    taken = EXTRAS

    @pytest.fixture
    def calendar(self) -> Calendar:
        raise NotImplementedError

    @pytest.fixture
    def person(self) -> Person:
        raise NotImplementedError

    # --- create, get ---

    async def test_what_is_created_is_shown_everywhere_the_same(self, calendar: Calendar) -> None:
        """S229, S205"""
        created = await put(calendar)
        assert created.fields == fields()
        assert created.marker == marker()
        shape = (created.id, created.status, created.busy, created.organized_by_me, created.series_id)
        assert shape == (make_owned_id(), "confirmed", True, True, None)
        assert (created.event_type, created.extras, created.is_timed) == ("default", PLAIN, True)
        assert created.version is not None
        assert await read(calendar) == created
        assert await calendar.window(NINE, NINE + HOUR) == (created,)

    async def test_the_raw_answer_is_json_and_whole(self, calendar: Calendar) -> None:
        raw = (await put(calendar)).raw
        assert json.loads(json.dumps(raw)) == raw
        assert (raw["id"], raw["summary"], raw["description"], raw["colorId"]) == (
            make_owned_id(),
            "Deep work",
            "Notes",
            "9",
        )

    async def test_an_event_without_notes_and_color(self, calendar: Calendar) -> None:
        created = await put(calendar, description="", color_id=None)
        assert created.fields == fields(description="", color_id=None)
        assert await read(calendar) == created

    async def test_an_event_is_created_with_all_that_a_person_can_add(self, calendar: Calendar) -> None:
        """K12: every read shows it; an update leaves it alone."""
        outcome = await calendar.write(Create(make_owned_id(), fields(), marker(), EXTRAS))
        assert isinstance(outcome, Done)
        assert outcome.image is not None
        assert (outcome.image.extras, outcome.image.marker) == (self.taken, marker())
        assert (await read(calendar)).extras == self.taken
        assert [event.extras for event in await calendar.window(NINE, NINE + HOUR)] == [self.taken]
        await calendar.write(Update(make_owned_id(), {"summary": "Other", "start": NINE - HOUR}, marker("t2-0")))
        assert (await read(calendar)).extras == self.taken

    async def test_a_color_is_taken_away_or_the_calendar_says_that_it_cannot(self, calendar: Calendar) -> None:
        """K12: alone it is refused; among other changes it is left, which the answer shows."""
        await put(calendar)
        outcome = await calendar.write(Update(make_owned_id(), {"color_id": None}, marker("t2-0")))
        assert isinstance(outcome, Done if calendar.traits.can_clear_color else Rejected)
        await calendar.write(Update(make_owned_id(), {"color_id": None, "summary": "Other"}, marker("t3-0")))
        left = None if calendar.traits.can_clear_color else "9"
        assert (await read(calendar)).fields == fields(summary="Other", color_id=left)

    async def test_an_unknown_id_is_none(self, calendar: Calendar) -> None:
        assert await calendar.get(make_owned_id(7)) is None
        assert await calendar.get("nobodysevent") is None

    async def test_an_id_is_taken_once(self, calendar: Calendar) -> None:
        created = await put(calendar)
        assert await calendar.write(Create(make_owned_id(), fields(summary="Other"), marker("t2-0"))) == Exists()
        assert await read(calendar) == created

    async def test_of_equal_creates_at_once_one_wins(self, calendar: Calendar) -> None:
        outcomes = await asyncio.gather(
            *(calendar.write(Create(make_owned_id(), fields(), marker(f"t{n}"))) for n in range(4))
        )
        assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Done", "Exists", "Exists", "Exists"]
        assert await day_of(calendar) == [make_owned_id()]

    async def test_an_equal_title_at_the_same_time_is_no_obstacle(self, calendar: Calendar, person: Person) -> None:
        await person.creates(FOREIGN, "Deep work", NINE, NINE + HOUR)
        assert isinstance(await calendar.write(Create(make_owned_id(), fields(), marker())), Done)
        assert await day_of(calendar) == sorted([FOREIGN, make_owned_id()])

    async def test_an_end_before_the_start_is_rejected(self, calendar: Calendar) -> None:
        outcome = await calendar.write(Create(make_owned_id(), fields(end=NINE - HOUR), marker()))
        assert isinstance(outcome, Rejected)
        assert await calendar.get(make_owned_id()) is None

    @pytest.mark.parametrize("words", WORDS.values(), ids=WORDS.keys())
    async def test_words_survive(self, calendar: Calendar, words: str) -> None:
        """S229"""
        title = " ".join(words.split())
        created = await put(calendar, summary=title, description=words.strip())
        assert (created.summary, created.description) == (title, words.strip())
        changed = await calendar.write(Update(make_owned_id(), {"description": f"» {words.strip()}"}, marker("t2-0")))
        assert isinstance(changed, Done)
        assert (await read(calendar)).fields == fields(summary=title, description=f"» {words.strip()}")

    async def test_every_color_survives(self, calendar: Calendar) -> None:
        """S63"""
        colors = ["6", "4", "9", "8", "10", "7", "2", "5", "1"]
        for n, color in enumerate(colors):
            await put(calendar, make_owned_id(n), color_id=color)
        assert [(await read(calendar, make_owned_id(n))).color_id for n in range(9)] == colors

    @pytest.mark.parametrize("moment", MOMENTS.values(), ids=MOMENTS.keys())
    async def test_instants_survive(self, calendar: Calendar, moment: str) -> None:
        """S231"""
        start = datetime.fromisoformat(moment)
        created = await put(calendar, start=start, end=start + 90 * MINUTE)
        assert (created.start, created.end) == (start, start + 90 * MINUTE)
        later = {"start": start + HOUR, "end": start + 3 * HOUR}
        assert isinstance(await calendar.write(Update(make_owned_id(), later, marker("t2-0"))), Done)
        assert (await read(calendar)).fields == fields(**later)
        assert [e.id for e in await calendar.window(start + 2 * HOUR, start + 3 * HOUR)] == [make_owned_id()]

    # --- deleted events ---

    async def test_a_deleted_event_is_shown_as_cancelled(self, calendar: Calendar) -> None:
        await put(calendar)
        assert await calendar.write(Delete(make_owned_id())) == Done(None)
        gone = await read(calendar)
        assert (gone.id, gone.gone, gone.summary, gone.marker) == (make_owned_id(), True, "Deep work", marker())
        assert await day_of(calendar) == []

    async def test_the_id_of_a_deleted_event_stays_taken(self, calendar: Calendar) -> None:
        """S237"""
        await put(calendar)
        await calendar.write(Delete(make_owned_id()))
        assert await calendar.write(Create(make_owned_id(), fields(), marker("t2-0"))) == Exists()
        assert (await read(calendar)).gone

    async def test_what_the_person_deleted_is_gone_too(self, calendar: Calendar, person: Person) -> None:
        await put(calendar)
        await person.deletes(make_owned_id())
        assert (await read(calendar)).gone
        assert await calendar.write(Create(make_owned_id(), fields(), marker("t2-0"))) == Exists()
        assert await calendar.write(Delete(make_owned_id())) == Gone()

    async def test_there_is_nothing_to_update_or_delete(self, calendar: Calendar) -> None:
        assert await calendar.write(Update(make_owned_id(), {"summary": "Other"}, marker())) == Gone()
        assert await calendar.write(Delete(make_owned_id())) == Gone()
        assert await calendar.get(make_owned_id()) is None

    async def test_a_deleted_event_does_not_change(self, calendar: Calendar) -> None:
        await put(calendar)
        await calendar.write(Delete(make_owned_id()))
        assert await calendar.write(Update(make_owned_id(), {"summary": "Other"}, marker("t2-0"))) == Gone()
        assert await calendar.write(Delete(make_owned_id())) == Gone()
        gone = await read(calendar)
        assert (gone.gone, gone.summary, gone.marker) == (True, "Deep work", marker())

    # --- update ---

    @pytest.mark.parametrize(
        "changes",
        [
            {"summary": "Other"},
            {"description": "Other"},
            {"description": ""},
            {"color_id": "4"},
            {"start": NINE - HOUR},
            {"end": NINE + 2 * HOUR},
            {"start": NINE + 5 * HOUR, "end": NINE + 6 * HOUR},
            {"summary": "Other", "description": "", "start": NINE - HOUR, "end": NINE, "color_id": "2"},
            {},
        ],
        ids=lambda changes: "+".join(changes) or "nothing",
    )
    async def test_an_update_sets_what_is_given_and_the_marker(
        self, calendar: Calendar, changes: dict[str, Any]
    ) -> None:
        """S81"""
        before = await put(calendar)
        outcome = await calendar.write(Update(make_owned_id(), changes, marker("t2-0")))
        assert isinstance(outcome, Done)
        after = outcome.image
        assert after is not None
        assert after.fields == fields(**changes)
        assert after.marker == marker("t2-0")
        assert after.version != before.version
        assert await read(calendar) == after

    async def test_what_the_person_changed_stays(self, calendar: Calendar, person: Person) -> None:
        """S201"""
        await put(calendar)
        await person.renames(make_owned_id(), "Mine now")
        edited = await read(calendar)
        assert (edited.fields, edited.marker) == (fields(summary="Mine now"), marker())
        await calendar.write(Update(make_owned_id(), {"description": "More"}, marker("t2-0")))
        assert (await read(calendar)).fields == fields(summary="Mine now", description="More")

    async def test_what_the_person_moved_is_where_they_put_it(self, calendar: Calendar, person: Person) -> None:
        """S242"""
        before = await put(calendar)
        await person.moves(make_owned_id(), 30 * MINUTE)
        moved = await read(calendar)
        assert moved.fields == fields(start=NINE + 30 * MINUTE, end=NINE + 90 * MINUTE)
        assert moved.version != before.version

    async def test_what_was_seen_just_now_saves_a_look_and_changes_nothing_else(
        self, calendar: Calendar, person: Person
    ) -> None:
        """P8: an update on top of what was seen sets what is given, and what the person did since stays."""
        seen = await put(calendar)
        outcome = await calendar.write(Update(make_owned_id(), {"summary": "Other"}, marker("t2-0"), seen=seen))
        assert isinstance(outcome, Done)
        assert await read(calendar) == outcome.image
        await person.moves(make_owned_id(), 30 * MINUTE)
        outcome = await calendar.write(
            Update(make_owned_id(), {"description": "More"}, marker("t3-0"), seen=outcome.image)
        )
        assert isinstance(outcome, Done)
        later = {"start": NINE + 30 * MINUTE, "end": NINE + 90 * MINUTE}
        assert (await read(calendar)).fields == fields(summary="Other", description="More", **later)

    async def test_what_was_seen_and_is_gone_since_is_gone(self, calendar: Calendar, person: Person) -> None:
        seen = await put(calendar)
        await person.deletes(make_owned_id())
        assert await calendar.write(Update(make_owned_id(), {"summary": "Other"}, marker("t2-0"), seen=seen)) == Gone()
        assert (await read(calendar)).gone

    async def test_nobody_vouches_for_an_event_that_is_not_ours(self, calendar: Calendar, person: Person) -> None:
        """S75"""
        await person.creates(make_owned_id(), "Dentist", NINE, NINE + HOUR)
        before = await read(calendar)
        outcome = await calendar.write(Update(make_owned_id(), {"summary": "Mine"}, marker(), seen=before))
        assert isinstance(outcome, Rejected)
        with pytest.raises(ValueError, match=make_owned_id(1)):
            await calendar.write(Update(make_owned_id(1), {"summary": "Mine"}, marker(), seen=before))
        assert await read(calendar) == before

    async def test_only_managed_fields_can_be_changed(self, calendar: Calendar) -> None:
        before = await put(calendar)
        with pytest.raises(TypeError):
            await calendar.write(Update(make_owned_id(), {"location": "Moon"}, marker("t2-0")))
        assert await read(calendar) == before

    # --- foreign events ---

    async def test_foreign_events_are_shown(self, calendar: Calendar, person: Person) -> None:
        await person.creates(FOREIGN, "Dentist", NINE, NINE + HOUR)
        (image,) = await calendar.window(NINE, NINE + HOUR)
        assert image.fields == fields(summary="Dentist", description="", color_id=None)
        assert (image.id, image.marker, image.series_id, image.busy) == (FOREIGN, None, None, True)
        assert await read(calendar, FOREIGN) == image

    async def test_no_write_takes_a_foreign_id(self, calendar: Calendar, person: Person) -> None:
        """S75: the type refuses it, and so does the port for a caller that is not type-checked."""
        await person.creates(FOREIGN, "Dentist", NINE, NINE + HOUR)
        before = await read(calendar, FOREIGN)
        unchecked: Any = FOREIGN
        with pytest.raises(ValueError, match=FOREIGN):
            OwnedId(FOREIGN)
        with pytest.raises(ValueError, match=FOREIGN):
            await calendar.write(Create(unchecked, fields(), marker()))
        with pytest.raises(ValueError, match=FOREIGN):
            await calendar.write(Update(unchecked, {"summary": "Mine"}, marker()))
        with pytest.raises(ValueError, match=FOREIGN):
            await calendar.write(Delete(unchecked))
        assert await read(calendar, FOREIGN) == before

    async def test_an_event_without_our_marker_is_not_ours(self, calendar: Calendar, person: Person) -> None:
        """S75, P1: this holds even when its id looks like one of the program."""
        await person.creates(make_owned_id(), "Dentist", NINE, NINE + HOUR)
        before = await read(calendar)
        assert isinstance(await calendar.write(Update(make_owned_id(), {"summary": "Mine"}, marker())), Rejected)
        assert isinstance(await calendar.write(Delete(make_owned_id())), Rejected)
        assert await calendar.write(Create(make_owned_id(), fields(), marker())) == Exists()
        assert await read(calendar) == before

    async def test_a_copy_of_ours_is_the_persons(self, calendar: Calendar, person: Person) -> None:
        await put(calendar)
        await person.copies(make_owned_id(), "duplicate001")
        copy = await read(calendar, "duplicate001")
        assert (copy.fields, copy.marker, OwnedId.is_one(copy.id)) == (fields(), marker(), False)
        await calendar.write(Delete(make_owned_id()))
        assert await read(calendar, "duplicate001") == copy

    async def test_one_of_ours_that_was_made_to_repeat_is_the_persons(self, calendar: Calendar, person: Person) -> None:
        await put(calendar)
        await person.makes_it_repeat(make_owned_id())
        before = await read(calendar)
        assert before.series_id is not None
        assert isinstance(await calendar.write(Update(make_owned_id(), {"summary": "Mine"}, marker("t2-0"))), Rejected)
        assert isinstance(await calendar.write(Delete(make_owned_id())), Rejected)
        assert await read(calendar) == before

    async def test_the_occurrences_of_a_series(self, calendar: Calendar, person: Person) -> None:
        await person.repeats("standup00001", "Stand-up", NINE, NINE + HOUR / 4, days=3)
        events = await calendar.window(NINE - HOUR, NINE + 72 * HOUR)
        assert [e.start for e in events] == [NINE, NINE + 24 * HOUR, NINE + 48 * HOUR]
        assert [e.id for e in events] == [f"standup00001_2026030{n}T080000Z" for n in (2, 3, 4)]
        assert {e.series_id for e in events} == {"standup00001"}
        assert [OwnedId.is_one(e.id) for e in events] == [False] * 3
        assert await read(calendar, events[1].id) == events[1]

    async def test_all_day_events_have_dates(self, calendar: Calendar, person: Person) -> None:
        await person.creates(FOREIGN, "Holiday", DAY, DAY + timedelta(days=2))
        await put(calendar)
        holiday, work = await calendar.window(NINE, NINE + HOUR)
        assert (holiday.id, holiday.start, holiday.end) == (FOREIGN, DAY, DAY + timedelta(days=2))
        assert (holiday.is_timed, work.id) == (False, make_owned_id())
        next_day = NINE + 24 * HOUR
        assert [e.id for e in await calendar.window(next_day, next_day + HOUR)] == [FOREIGN]
        assert await calendar.window(next_day + 24 * HOUR, next_day + 25 * HOUR) == ()

    # --- windows ---

    async def test_the_bounds_of_a_window_are_exclusive(self, calendar: Calendar) -> None:
        spans = [(-2, -1), (-1, 0), (-1, 1), (0, 1), (0, 2), (-1, 3), (1, 2), (2, 3)]
        for n, (start, end) in enumerate(spans):
            await put(calendar, make_owned_id(n), start=NINE + start * HOUR, end=NINE + end * HOUR)
        inside = {e.id for e in await calendar.window(NINE, NINE + HOUR)}
        assert inside == {make_owned_id(n) for n in (2, 3, 4, 5)}
        assert {e.id for e in await calendar.window(NINE - MINUTE, NINE + HOUR + MINUTE)} == {
            make_owned_id(n) for n in (1, 2, 3, 4, 5, 6)
        }

    async def test_an_overnight_event_is_in_both_days(self, calendar: Calendar) -> None:
        """S230"""
        midnight = NINE + 15 * HOUR
        await put(calendar, start=midnight - HOUR, end=midnight + HOUR)
        assert await day_of(calendar) == [make_owned_id()]
        assert [e.id for e in await calendar.window(midnight, midnight + 24 * HOUR)] == [make_owned_id()]

    async def test_a_window_is_ordered_by_start_then_id(self, calendar: Calendar) -> None:
        for n, hours in enumerate([3, 1, 2, 1, 0]):
            await put(calendar, make_owned_id(n), start=NINE + hours * HOUR, end=NINE + (hours + 1) * HOUR)
        assert await day_of(calendar) == [make_owned_id(n) for n in (4, 1, 3, 2, 0)]

    async def test_a_crowded_day_is_whole(self, calendar: Calendar, person: Person) -> None:
        ids = [f"meeting{n:05d}" for n in range(300)]
        await person.fills(ids, NINE, each=30 * MINUTE, apart=MINUTE)
        assert await day_of(calendar) == ids

    async def test_many_writes_at_once(self, calendar: Calendar) -> None:
        made = await asyncio.gather(
            *(calendar.write(Create(make_owned_id(n), fields(), marker(f"t1-{n}"))) for n in range(12))
        )
        assert [type(outcome) for outcome in made] == [Done] * 12
        await asyncio.gather(
            *(calendar.write(Update(make_owned_id(n), {"summary": f"Block {n}"}, marker(f"t2-{n}"))) for n in range(12))
        )
        shown = await calendar.window(NINE, NINE + HOUR)
        assert [(e.summary, e.marker) for e in shown] == [(f"Block {n}", marker(f"t2-{n}")) for n in range(12)]

    # --- conditional writes ---

    async def test_a_write_that_expects_the_current_version_happens(self, calendar: Calendar) -> None:
        created = await put(calendar)
        outcome = await calendar.write(
            Update(make_owned_id(), {"summary": "Other"}, marker("t2-0"), expect=created.version)
        )
        assert isinstance(outcome, Done)
        assert outcome.image is not None
        assert await calendar.write(Delete(make_owned_id(), expect=outcome.image.version)) == Done(None)

    async def test_a_write_that_expects_an_old_version_undoes_nothing(self, calendar: Calendar, person: Person) -> None:
        """S200, P12: and where the calendar promises conditional writes, nothing is written."""
        created = await put(calendar)
        await person.renames(make_owned_id(), "Mine now")
        before = await read(calendar)
        outcome = await calendar.write(
            Update(make_owned_id(), {"color_id": "4"}, marker("t2-0"), expect=created.version)
        )
        assert (await read(calendar)).summary == "Mine now"
        if calendar.traits.conditional_write:
            assert outcome == Stale()
            assert await calendar.write(Delete(make_owned_id(), expect=created.version)) == Stale()
            assert await read(calendar) == before
