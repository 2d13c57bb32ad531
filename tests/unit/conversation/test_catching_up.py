"""Earlier days without an answer are caught up with in one step, which one Undo takes back."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.unit.conversation.person import MORNING, Harness, Person, words_in

from fateforger.planning.plan import resolve
from fateforger.session.forms import ManyField
from fateforger.session.model import Session
from fateforger.text import speak

OPEN = "**From Monday**, 3 things are still open, as far as I know: Write report, Review plans and Mail."
ON = ("Continue", "Refine", "Commit to calendar")
LATER = "You caught up with Monday: 2 things are on your list, one thing is settled."


async def morning(harness: Harness, days: int) -> Person:
    """Restart the program that many days after Monday morning, and bring the person to Stage 2."""
    harness.restart()
    harness.clock.at = MORNING + timedelta(days=days)
    person = Person(harness)
    await person.to_tasks()
    return person


def list_tasks(session: Session) -> list[tuple[str, int | None]]:
    return [(task.title, task.minutes) for task in session.day.inputs.tasks]


def block(session: Session, title: str) -> str:
    assert session.planning.plan is not None
    return next(e.block_key for e in session.planning.plan.events if e.name == title)


async def read_questions(person: Person) -> dict[str, list[str]]:
    """Return the tasks on the form by day, after checking that all of them are ticked."""
    shown = await person.look("catch_up")
    fields = [field for field in shown.inputs if isinstance(field, ManyField)]
    assert all(field.boxes and field.value == tuple(c.value for c in field.choices) for field in fields)
    return {field.label: [choice.label for choice in field.choices] for field in fields}


async def ids(person: Person, *titles: str) -> tuple[str, ...]:
    return tuple(each.task.id for each in (await person.session()).open_work.offered if each.task.title in titles)


async def test_what_a_missed_day_had_is_asked_and_one_step_brings_it_in(anna: Person, harness: Harness) -> None:
    await anna.to_committed()
    thursday = await morning(harness, 3)
    assert (OPEN in thursday.words, thursday.labels().count("Catch up…")) == (True, 1)
    shown = await thursday.look("catch_up")
    assert words_in(shown) == (
        "What is ticked goes on your list for Thursday 5 March."
        " Untick what you did, or do not want any more; I will not ask about that again."
    )
    assert await read_questions(thursday) == {
        "Monday 2 March": ["Write report (1 h, planned)", "Review plans (1 h, planned)", "Mail (1 h, planned)"]
    }
    with speak("de"):
        ((_, labels),) = (await read_questions(thursday)).items()
    assert labels[0] == "Write report (1 h, geplant)"
    await thursday.fill("catch_up", day_1=await ids(thursday, "Write report", "Mail"))
    assert list_tasks(await thursday.session()) == [("Write report", 60), ("Mail", 60)]
    assert (LATER in thursday.words, "still open" in thursday.words) == (True, False)
    await thursday.press("Continue")
    plan = (await thursday.session()).planning.plan
    assert plan is not None
    assert sorted(each.event.name for each in resolve(plan)) == ["Lunch", "Mail", "Shut down", "Write report"]
    await thursday.press("Refine")
    await thursday.press("Commit to calendar")
    day = (await thursday.session()).date
    assert len(await harness.submitter.history(day)) == 1


async def test_an_errand_is_still_open_after_its_day_and_a_meal_is_not(anna: Person, harness: Harness) -> None:
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Post office", minutes_1=30, title_2="Dinner", minutes_2=45, proceed=False)
    await anna.fill_row("Post office", "task", kind="errand")
    await anna.fill_row("Dinner", "task", kind="meal")
    await anna.press("Continue")
    for each in ON[1:]:
        await anna.press(each)
    tuesday = await morning(harness, 1)
    offered = [(each.task.title, each.task.details.kind.value) for each in (await tuesday.session()).open_work.offered]
    assert offered == [("Post office", "errand")]


async def test_one_undo_takes_all_of_it_back(anna: Person, harness: Harness) -> None:
    await anna.to_committed()
    thursday = await morning(harness, 3)
    before = await thursday.session()
    await thursday.fill("tasks", title_1="Taxes", proceed=False)
    await thursday.fill("catch_up", day_1=await ids(thursday, "Write report", "Mail"))
    await thursday.press("Undo")
    after = await thursday.session()
    assert (list_tasks(after), after.open_work.offered) == ([("Taxes", None)], before.open_work.offered)
    assert (after.open_work.brought, after.open_work.settled, after.open_work.caught_up) == ((), (), None)
    assert (OPEN in thursday.words, "Undo" in thursday.labels()) == (True, False)
    await thursday.click("task.undo_catch_up")
    assert "That is taken back already; please look at the newest card." in thursday.words
    await thursday.fill("catch_up")
    assert list_tasks(await thursday.session())[1:] == [("Write report", 60), ("Review plans", 60), ("Mail", 60)]


@pytest.mark.parametrize(("steps", "day"), [(ON, "Tuesday 3 March"), ((), "Monday 2 March")])
async def test_what_was_left_unticked_is_not_asked_again(
    anna: Person, harness: Harness, steps: tuple[str, ...], day: str
) -> None:
    """This holds even if that day never reached the calendar; a task that was brought along is asked about again."""
    await anna.to_committed()
    tuesday = await morning(harness, 1)
    await tuesday.fill("catch_up", day_1=await ids(tuesday, "Mail"))
    for label in steps:
        await tuesday.press(label)
    thursday = await morning(harness, 3)
    assert await read_questions(thursday) == {day: ["Mail (1 h, planned)"]}


async def test_nothing_is_asked_when_all_was_settled(anna: Person, harness: Harness) -> None:
    await anna.to_committed()
    thursday = await morning(harness, 3)
    await thursday.fill("catch_up", day_1=())
    session = await thursday.session()
    assert (list_tasks(session), session.open_work.offered) == ([], ())
    assert "You caught up with Monday: 3 things are settled." in thursday.words
    assert "open" not in (await morning(harness, 4)).words.split("Your list is empty")[0]


async def test_what_came_up_on_several_days_is_asked_once(anna: Person, harness: Harness) -> None:
    await anna.to_committed()
    wednesday = await morning(harness, 2)
    await wednesday.fill("catch_up", day_1=await ids(wednesday, "Write report", "Review plans", "Mail"))
    await wednesday.fill_row("Mail", "defer", day="some_day")
    await wednesday.fill("tasks", title_1="Book", minutes_1=900, proceed=False)
    for label in ON:
        await wednesday.press(label)
    friday = await morning(harness, 4)
    assert await read_questions(friday) == {
        "Wednesday 4 March": [
            "Mail (1 h, put off)",
            "Write report (1 h, planned)",
            "Review plans (1 h, planned)",
            "Book (15 h, did not fit)",
        ]
    }


async def test_what_was_said_to_be_done_is_not_asked_and_what_was_put_off_is(anna: Person, harness: Harness) -> None:
    await anna.to_committed()
    harness.clock.at = MORNING + timedelta(hours=2)
    await anna.pick("replan.done", block(await anna.session(), "Write report"))
    await anna.pick("replan.not_today", block(await anna.session(), "Mail"))
    assert await read_questions(await morning(harness, 1)) == {
        "Monday 2 March": ["Mail (1 h, put off)", "Review plans (1 h, planned)"]
    }


async def test_done_by_mistake_is_asked_after_an_undo(anna: Person, harness: Harness) -> None:
    await anna.to_committed()
    harness.clock.at = MORNING + timedelta(hours=2)
    await anna.pick("replan.done", block(await anna.session(), "Write report"))
    await anna.press("Undo last update")
    assert (await anna.session()).open_work.settled == ()
    assert OPEN in (await morning(harness, 1)).words


async def test_a_day_that_is_not_over_is_not_missed(anna: Person, harness: Harness) -> None:
    await anna.to_committed()
    harness.clock.at = MORNING + timedelta(hours=12)
    evening = Person(harness)
    await evening.to_tasks()
    assert ((await evening.session()).date - MORNING.date(), (await evening.session()).open_work.offered) == (
        timedelta(1),
        (),
    )


async def test_a_plan_that_was_taken_off_the_calendar_misses_nothing(anna: Person, harness: Harness) -> None:
    await anna.to_committed()
    await anna.press("Undo")
    assert (await (await morning(harness, 1)).session()).open_work.offered == ()
