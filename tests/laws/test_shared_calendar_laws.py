"""People who plan on one calendar, in random order, with blocks of the same names at the same times (S509, S510)."""

from __future__ import annotations

import asyncio
import itertools
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.factories.days import Time, block, engine_over, plan_of
from tests.fakes.caldav_calendar import SimulatedCalDav, opened_caldav
from tests.fakes.google_calendar import GoogleCalendarFake
from tests.fakes.google_store import GoogleStore
from tests.fakes.memory_journal import MemoryJournal

from fateforger.calendar.connections import PersonalCalendar, hash_person
from fateforger.calendar.event import EventImage
from fateforger.calendar.model import SafetyCheckKind
from fateforger.calendar.ports import Calendar
from fateforger.calendar.submitter import CalendarSubmitter
from fateforger.errors import NotUndoable

BLOCKS = {"Gym": block("Gym", "07:00"), "Piano": block("Piano", "10:00"), "Lunch": block("Lunch", "12:00")}
PEOPLE = ("anna", "ben")
Act = tuple[str, str, frozenset[str]]
acts = st.lists(
    st.tuples(
        st.sampled_from(PEOPLE),
        st.sampled_from(["commit", "commit", "undo", "delete", "restore"]),
        st.frozensets(st.sampled_from(sorted(BLOCKS))),
    ),
    min_size=2,
    max_size=12,
)


async def find_owner() -> str | None:
    return None


class SharedCalendar:
    """A calendar with an engine for each person. ``touched`` are people whose blocks were edited by hand."""

    def __init__(self, calendar: Calendar, store: GoogleStore) -> None:
        self.store = store
        self.causes = itertools.count()
        self.touched: set[str] = set()
        time = Time()
        self.engines: dict[str, CalendarSubmitter] = {
            person: engine_over(PersonalCalendar(calendar, person, find_owner), MemoryJournal(), time)
            for person in PEOPLE
        }

    def list_of(self, person: str) -> list[EventImage]:
        """Return all events of a person, also deleted ones."""
        mark = hash_person(person)
        return [e for e in self.store.events.values() if e.own_marker is not None and e.own_marker.person == mark]

    def list_live(self, person: str) -> list[EventImage]:
        return [event for event in self.list_of(person) if not event.gone]

    def titles(self, person: str) -> list[str]:
        return sorted(event.summary for event in self.list_live(person))

    async def run(self, act: Act) -> None:
        person, verb, names = act
        engine, cause = self.engines[person], str(next(self.causes))
        (other,) = {*PEOPLE} - {person}
        before = self.list_live(other)
        if verb == "commit":
            plan = plan_of(*(BLOCKS[name] for name in sorted(names)))
            await engine.submit_plan(plan, cause=cause, confirmed=frozenset(SafetyCheckKind))
            assert person in self.touched or self.titles(person) == sorted(names)
        elif verb == "undo":
            try:
                result = await engine.undo_last(cause=cause)
            except NotUndoable:
                pass
            else:
                assert person in self.touched or result.status == "undone"
        else:
            self.edit(person, verb, names)
        assert self.list_live(other) == before

    def edit(self, person: str, verb: str, names: frozenset[str]) -> None:
        """Delete or restore a person's blocks of these names, as the person does."""
        for event in self.list_of(person):
            if event.summary in names and event.gone == (verb == "restore"):
                self.touched.add(person)
                (self.store.user_restore if verb == "restore" else self.store.user_delete)(event.id)


async def run_all(calendar: GoogleCalendarFake | SimulatedCalDav, done: list[Act]) -> None:
    shared = SharedCalendar(calendar, calendar.store)
    for act in done:
        await shared.run(act)


@given(acts)
def test_neither_touches_what_the_other_planned(done: list[Act]) -> None:
    asyncio.run(run_all(GoogleCalendarFake(), done))


@settings(max_examples=40)
@given(acts)
def test_neither_touches_what_the_other_planned_over_caldav(done: list[Act]) -> None:
    """There, the id of a deleted event is free again, and the other person may take it."""

    async def run() -> None:
        with TemporaryDirectory() as folder:
            async with opened_caldav(Path(folder)) as calendar:
                await run_all(calendar, done)

    asyncio.run(run())
