"""The person edits, deletes and copies blocks at every moment of a submit or an undo (P1, P7, P8, P12)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from tests.emulators.google.simulated import SimulatedGoogle
from tests.factories.days import CalendarHarness, at, block, plan_of
from tests.factories.trouble import DyingJournal, ProcessDied
from tests.fakes.caldav_calendar import opened_caldav
from tests.fakes.google_calendar import GoogleCalendarFake, Race, Verb, When
from tests.fakes.google_store import EventMissing, GoogleStore
from tests.fakes.memory_journal import MemoryJournal
from tests.fakes.quirky_caldav import Habit

from fateforger.calendar.event import EventImage

BEFORE = plan_of(block("keep", "08:00"), block("move", "09:00", notes="old"), block("drop", "10:00"))
ONE = plan_of(block("move", "09:00", notes="old"))
PLACE = {"location": "Hall"}
AFTER = plan_of(block("keep", "08:00"), block("move", "09:30", notes="new"), block("add", "11:00"))


@dataclass(frozen=True)
class Edit:
    """A person's change to a block, and a check that it is still in place."""

    name: str
    key: str
    do: Callable[[GoogleStore, EventImage], object]
    stands: Callable[[EventImage], bool]
    blind: bool = False
    """Without conditional writes, nothing can stop a write to the same field, or a deletion, that is on its way."""


def edits() -> list[Edit]:
    def set_field(key: str, **fields: object) -> Edit:
        def do(store: GoogleStore, event: EventImage) -> object:
            return store.user_edit(event.id, **fields)

        def stands(event: EventImage) -> bool:
            return not event.gone and all(getattr(event, name) == value for name, value in fields.items())

        blind = key == "drop" or (key == "move" and not fields.keys() <= {"summary", "color_id"})
        return Edit(f"{key}: {'+'.join(fields)}", key, do, stands, blind)

    def delete(key: str) -> Edit:
        return Edit(f"{key}: deleted", key, lambda s, e: s.user_delete(e.id), lambda e: e.gone)

    later = {"start": at("15:00"), "end": at("16:00")}
    return [
        set_field("keep", summary="Mine"),
        set_field("keep", **later),
        set_field("move", summary="Mine"),
        set_field("move", color_id="11"),
        set_field("move", description="my own words"),
        set_field("move", **later),
        set_field("drop", description="my own words"),
        set_field("drop", **later),
        delete("keep"),
        delete("move"),
        delete("drop"),
    ]


def event_of(store: GoogleStore, key: str) -> EventImage:
    return next(e for e in store.events.values() if e.marker is not None and e.marker.key == key)


def racing(world: CalendarHarness, edit: Edit, done: list[bool]) -> Callable[[], None]:
    def hook() -> None:
        try:
            edit.do(world.store, event_of(world.store, edit.key))
        except EventMissing:
            return
        done.append(True)

    return hook


Open = Callable[[], GoogleCalendarFake]
CALENDARS: dict[str, Open] = {
    "plain": GoogleCalendarFake,
    "conditional": lambda: GoogleCalendarFake(conditional_write=True),
    "google": SimulatedGoogle,
}


@pytest.mark.parametrize("calendar", CALENDARS.values(), ids=CALENDARS)
@pytest.mark.parametrize("act", ["submit", "undo"])
@pytest.mark.parametrize("edit", edits(), ids=lambda e: e.name)
async def test_an_edit_at_any_moment_stands(edit: Edit, act: str, calendar: Open) -> None:
    """P12; S200: and the foreign event is untouched (P1)."""
    position, met = 0, 0
    while position <= met:
        for when in ("before", "after"):
            met = max(met, await race(edit, act, position, when, calendar()))
        position += 1
    assert met >= 4


async def race(edit: Edit, act: str, position: int, when: When, calendar: GoogleCalendarFake) -> int:
    """Let the edit happen at one call of the act. Returns the position of the act's last call."""
    world = CalendarHarness(MemoryJournal(), calendar)
    foreign = world.store.user_create("Dentist", start=at("12:00"), end=at("13:00"))
    submitter = world.submitter()
    await submitter.submit_plan(BEFORE, cause="first")
    if act == "undo":
        await submitter.submit_plan(AFTER, cause="second")
    first, done = len(world.calendar.calls), list[bool]()
    world.calendar.inject(Race(racing(world, edit, done), when), at=first + position)
    if act == "undo":
        await submitter.undo_last(cause="act")
    else:
        await submitter.submit_plan(AFTER, cause="act")
    last = len(world.calendar.calls) - first - 1
    event = event_of(world.store, edit.key)
    if done and (calendar.traits.conditional_write or not edit.blind):
        assert edit.stands(event), f"{act}, call {position}, {when}: {event}"
    assert world.store.get_live_events()[foreign.id] == foreign
    return last


@pytest.mark.parametrize("minutes", [1, 60], ids=["finished", "given up"])
@pytest.mark.parametrize("kind", [*CALENDARS, "caldav"])
async def test_a_block_restored_before_its_deletion_was_noted_stays(kind: str, minutes: int, tmp_path: Path) -> None:
    """S472: The program died between the deletion and its note; the event has another version since."""
    async with AsyncExitStack() as stack:
        calendar = CALENDARS[kind]() if kind in CALENDARS else await stack.enter_async_context(opened_caldav(tmp_path))
        journal = MemoryJournal()
        world, dying = CalendarHarness(journal, calendar, ids=itertools.count()), DyingJournal(journal)
        await world.submitter().submit_plan(BEFORE, cause="first")
        world.calendar.inject(Race(dying.kill, "after"), verb="delete")
        with pytest.raises(ProcessDied):
            await world.submitter(journal=dying).submit_plan(AFTER, cause="second")
        drop = event_of(world.store, "drop")
        assert drop.gone
        world.store.user_restore(drop.id)
        world.time.instant += timedelta(minutes=minutes)
        (recovered,) = await world.submitter().recover()
        if minutes == 1:
            assert recovered.details == ("“drop” was deleted, but your calendar shows it again.",)
        for cause in ("third", "fourth"):
            await world.submitter().submit_plan(AFTER, cause=cause)
            assert not world.store.events[drop.id].gone
        await world.submitter().undo_last(cause="fifth")
        shown = [event.summary for event in world.store.get_live_events().values()]
        assert sorted(shown) == ["drop", "keep", "move"]


@pytest.mark.parametrize("habit", ["no etag", "early etag", "rewrites"])
@pytest.mark.parametrize(
    ("verb", "edit"),
    [
        ("create", Edit("renamed", "move", lambda s, e: s.user_edit(e.id, summary="Mine"), lambda e: e.summary == "Mine")),
        ("create", Edit("a place", "move", lambda s, e: s.user_edit(e.id, extras=PLACE), lambda e: e.raw["location"] == "Hall")),
        ("update", Edit("notes", "move", lambda s, e: s.user_edit(e.id, description="My own"), lambda e: e.description == "My own")),
    ],
    ids=lambda value: getattr(value, "name", value),
)  # fmt: skip
async def test_an_edit_right_after_a_write_is_not_taken_for_the_write(
    verb: Verb, edit: Edit, habit: Habit, tmp_path: Path
) -> None:
    """S365: Over CalDAV, where some servers do not say which state of the event the write left."""
    async with opened_caldav(tmp_path, habit) as calendar:
        world, done = CalendarHarness(MemoryJournal(), calendar), list[bool]()
        submitter = world.submitter()
        if verb == "update":
            await submitter.submit_plan(BEFORE, cause="first")
        calendar.inject(Race(racing(world, edit, done), "after"), verb=verb)
        # Several creates are sent at the same time, in any order.
        await submitter.submit_plan(ONE if verb == "create" else AFTER, cause="second")
        await submitter.undo_last(cause="third")
        assert done
        event = event_of(world.store, edit.key)
        assert not event.gone
        assert edit.stands(event)


async def test_a_copy_made_in_the_calendar_is_foreign() -> None:
    """P1: it has our private properties, but no id of the program."""
    world = CalendarHarness(MemoryJournal())
    submitter = world.submitter()
    await submitter.submit_plan(BEFORE, cause="first")
    copy = world.store.user_copy(event_of(world.store, "drop").id, by=timedelta(hours=6))
    await submitter.submit_plan(AFTER, cause="second")
    await submitter.undo_last(cause="third")
    await submitter.undo_last(cause="fourth")
    assert world.list_own_events() == []
    assert world.store.get_live_events() == {copy.id: copy}
