"""Open tasks of a missed day return to the queue by themselves, with one note, and can be taken out again (S289)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.unit.conversation.person import Harness, Person
from tests.unit.conversation.queue.person import QueuePerson, labels

from fateforger.session.commands.day import BringAlong, UndoCatchUp
from fateforger.session.commands.plan import Replan
from fateforger.session.model import ReturnedWork, Session
from fateforger.tasks.task import TaskState

MIDNIGHT = datetime(2026, 3, 2, 23, 0, tzinfo=UTC)
"""The end of Monday in Amsterdam."""
TOLD = "Monday 2 March is over. Back in your queue:"


@pytest.fixture
async def person(harness: Harness, anna: QueuePerson) -> Person:
    """Commit Monday with a task of the queue and one of its own, without an answer on how it went."""
    await anna.adds("Ask Ann", work={"kind": "do", "minutes": 30})
    found = Person(harness)
    await found.to_tasks()
    await found.press("Add")
    await found.fill("tasks", title_2="Taxes", minutes_2=60, proceed=False)
    await found.press("Continue")
    await found.press("Refine")
    await found.press("Commit to calendar")
    assert (await found.session()).sync.written is not None
    return found


async def states(anna: QueuePerson) -> dict[str, TaskState]:
    return {task.spec.title: task.state for task in await anna.tasks(ended=True)}


async def test_it_returns_once_the_day_is_over(harness: Harness, person: Person, anna: QueuePerson) -> None:
    """Without a message of its own: the next look at the queue says it, and the one after that does not."""
    assert await states(anna) == {"Ask Ann": TaskState.WAITING}
    arrived = len(person.arrived)
    harness.clock.at = MIDNIGHT - timedelta(minutes=1)
    await harness.return_leftovers()
    assert await states(anna) == {"Ask Ann": TaskState.WAITING}
    harness.clock.at = MIDNIGHT
    for _ in range(2):
        await harness.return_leftovers()
        await person.read()
        assert await states(anna) == {"Ask Ann": TaskState.ACTIVE, "Taxes": TaskState.ACTIVE}
    assert len(person.arrived) == arrived
    taxes = next(task for task in await anna.tasks() if task.spec.title == "Taxes")
    assert taxes.spec.work.model_dump() == {"kind": "do", "minutes": 60}
    await anna.lists()
    assert anna.words.startswith(f"{TOLD} “Ask Ann” and “Taxes”.")
    assert anna.words.count("Back from Monday 2 March, where it was left open.") == 2
    assert "Undo" in labels(anna.card)
    await anna.lists()
    assert TOLD not in anna.words


async def test_undo_makes_it_as_it_was(harness: Harness, person: Person, anna: QueuePerson) -> None:
    """And it does not return a second time."""
    harness.clock.at = MIDNIGHT
    await harness.return_leftovers()
    await anna.lists()
    await anna.press("Undo")
    assert anna.words.startswith("2 tasks are out of your queue again.")
    assert await states(anna) == {"Ask Ann": TaskState.WAITING, "Taxes": TaskState.STOPPED}
    await harness.return_leftovers()
    assert await states(anna) == {"Ask Ann": TaskState.WAITING, "Taxes": TaskState.STOPPED}
    assert (await session_of(harness, person)).open_work.returned is not None


async def session_of(harness: Harness, person: Person) -> Session:
    found = await harness.store.sessions.load(person.session_id)
    assert found is not None
    return found


@pytest.mark.parametrize("undone", [False, True])
async def test_the_next_plan_asks_about_each_thing_once(
    harness: Harness,
    person: Person,
    anna: QueuePerson,
    undone: bool,  # noqa: FBT001  what is tried
) -> None:
    """With its id of the queue, so that what is done there is done in the queue as well."""
    harness.clock.at = MIDNIGHT
    await harness.return_leftovers()
    if undone:
        await anna.lists()
        await anna.press("Undo")
    harness.clock.at += timedelta(hours=8)
    tuesday = Person(harness)
    await tuesday.to_tasks()
    offered = (await tuesday.session()).open_work.offered
    assert sorted(each.task.title for each in offered) == ["Ask Ann", "Taxes"]
    assert {each.source for each in offered} == {"planned"}
    if undone:
        return
    queued = {task.id for task in await anna.tasks()}
    assert {each.task.id for each in offered} == queued
    assert "**From Monday**, 2 things are still open, as far as I know: Ask Ann and Taxes." in tuesday.words
    about = {"user_id": tuesday.user, "at": harness.clock.now(), "session_id": tuesday.session_id}
    await tuesday.send(BringAlong.model_validate({**about, "command_id": "b1", "settled": sorted(queued)}))
    assert await states(anna) == {"Ask Ann": TaskState.DONE, "Taxes": TaskState.DONE}
    await tuesday.send(UndoCatchUp.model_validate({**about, "command_id": "b2"}))
    assert await states(anna) == {"Ask Ann": TaskState.ACTIVE, "Taxes": TaskState.ACTIVE}


async def test_done_after_all_in_the_thread_of_the_day(harness: Harness, person: Person, anna: QueuePerson) -> None:
    """An answer the next morning in that thread also finishes the task in the queue."""
    harness.clock.at = MIDNIGHT
    await harness.return_leftovers()
    plan = (await session_of(harness, person)).planning.plan
    assert plan is not None
    keys = tuple(event.block_key for event in plan.events if event.name in {"Ask Ann", "Taxes"})
    about = {"user_id": person.user, "at": harness.clock.now(), "session_id": person.session_id}
    await person.send(Replan.model_validate({**about, "command_id": "r1", "done": keys}))
    assert await states(anna) == {"Ask Ann": TaskState.DONE, "Taxes": TaskState.DONE}


async def test_what_was_done_or_taken_elsewhere_stays_where_it_is(
    harness: Harness, person: Person, anna: QueuePerson
) -> None:
    ann = next(iter(await anna.tasks()))
    await anna.adds("Later")
    tuesday = Person(harness)
    harness.clock.at = MIDNIGHT - timedelta(hours=3)
    await tuesday.to_tasks()
    session = await session_of(harness, person)
    settled = session.with_open_work(settled=(ann.id,))
    await harness.store.sessions.save(settled, expected=session.version)
    harness.clock.at = MIDNIGHT + timedelta(hours=8)
    await harness.return_leftovers()
    assert await states(anna) == {"Ask Ann": TaskState.WAITING, "Later": TaskState.ACTIVE, "Taxes": TaskState.ACTIVE}
    returned = (await session_of(harness, person)).open_work.returned
    assert returned is not None
    assert [each.added for each in returned.tasks] == [True]


async def test_a_day_that_never_reached_the_calendar_returns_nothing(harness: Harness, anna: QueuePerson) -> None:
    found = Person(harness)
    await found.to_refine("Report")
    session = await found.session()
    await harness.store.sessions.save(session.with_sync(written=None), expected=session.version)
    harness.clock.at = MIDNIGHT
    await harness.return_leftovers()
    assert await anna.tasks() == ()
    assert (await found.session()).open_work.returned in {None, ReturnedWork()}


@pytest.mark.parametrize("returned", [False, True])
async def test_what_is_in_the_open_plan_of_a_day_is_not_offered_to_another(
    harness: Harness,
    person: Person,
    anna: QueuePerson,
    returned: bool,  # noqa: FBT001  what is tried
) -> None:
    """S515: until that day is over, also if the plan never reached the calendar."""
    assert await states(anna) == {"Ask Ann": TaskState.WAITING}  # the plan of Monday is there
    harness.clock.at = MIDNIGHT
    if returned:
        await harness.return_leftovers()
    harness.clock.at += timedelta(hours=8)
    await anna.adds("Tidy up", work={"kind": "do", "minutes": 20})
    tuesday = Person(harness)
    await tuesday.to_tasks()
    assert await tuesday.fill("catch_up") is None
    await tuesday.press("Add")
    assert len((await tuesday.session()).day.inputs.tasks) == 3
    wednesday = Person(harness)
    await wednesday.start((await tuesday.session()).date + timedelta(days=1), thread="9.0")
    await wednesday.press("Plan this day")
    await wednesday.press("Continue")
    assert (await wednesday.session()).open_work.offered == ()
    harness.clock.at += timedelta(days=1)
    await wednesday.press("Redo step")
    offered = (await wednesday.session()).open_work.offered
    assert sorted(each.task.title for each in offered) == ["Ask Ann", "Taxes", "Tidy up"]
