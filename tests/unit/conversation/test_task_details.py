"""Details of a task have the same effect by click and in words, and the draft keeps them."""

from __future__ import annotations

from datetime import time
from typing import Any

import pytest
from tests.factories.tasks import DETAILED
from tests.factories.words import inputs, new, wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import Harness, Person
from tests.unit.conversation.sessions import make_command, session, task, turn

from fateforger.conversation.turn_runs import run_turn
from fateforger.planning.plan import resolve
from fateforger.session.forms import FormErrors
from fateforger.session.model import InputFacts, Task
from fateforger.session.stages import TimeboxingStage
from fateforger.values import replace

OUTLINE = task("Outline", 30)
WORDS = {
    "kind": "errand",
    "at": "14:00",
    "due_day": "2026-03-06",
    "due_time": "16:00",
    "from_day": "2026-03-02",
    "from_time": "13:00",
    "best": "after_lunch",
    "priority": 1,
    "people": ["Ann", "Bob"],
    "place": "Dr. Ray",
    "travel_minutes": 20,
    "splittable": True,
    "after": ["outline"],
    "items": ["Card", "X-ray"],
}
FACTS = (
    "at 14:00 · due Friday 6 March at 16:00 · not before Monday 2 March at 13:00 · best after lunch · with Ann and Bob"
    " · Dr. Ray, 20 min each way · in pieces · 0 of 2 done"
)


async def hear_reply(*answers: dict[str, Any]) -> tuple[Task, ...]:
    now = session(TimeboxingStage.CAPTURE_INPUTS, inputs=InputFacts(tasks=(OUTLINE, task("Dentist", 45))))
    out = await run_turn(turn(now, make_command("user_reply", text="…")), ScriptedModel(*answers))
    return out.session.day.inputs.tasks


async def test_the_row_of_a_task_says_its_details(anna: Person) -> None:
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Outline", minutes_1=30, title_2="Dentist", minutes_2=45, proceed=False)
    given = {**WORDS, "people": "Ann, Bob", "items": "Card\nX-ray", "priority": "1"}
    del given["after"]
    times = {name: getattr(DETAILED, name) for name in ("at", "due_day", "due_time", "from_day", "from_time")}
    assert await anna.fill_row("Dentist", "task", size=1, **given | times) is None
    assert any(row.startswith(f"**Dentist** · 45 min · errand · {FACTS}\n☐") for row in anna.rows())


async def test_a_task_added_in_words_has_its_details() -> None:
    *_, added = await hear_reply(wants("answer"), inputs(add=[new("Check-up", 45, details=WORDS)]))
    assert added.details == replace(DETAILED, priority=1, after=(OUTLINE.id,))


async def test_the_form_shows_the_title_the_minutes_and_what_is_filled_in(anna: Person) -> None:
    """S260: the rest folds out, and what is folded away stays as it is."""
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Dentist", minutes_1=60, title_2="Report", minutes_2=60, proceed=False)
    shown = await anna.look("task", target=anna.menu("Dentist").target)
    assert [field.name for field in shown.inputs] == ["title", "minutes", "remove"]
    await anna.fill_row("Dentist", "task", at=DETAILED.at, kind="errand", notes="Bring the card")
    shown = await anna.look("task", target=anna.menu("Dentist").target)
    assert [field.name for field in shown.inputs] == ["title", "minutes", "kind", "notes", "at", "remove"]
    await anna.fill_row("Dentist", "task", minutes=30)
    kept, _ = (await anna.session()).day.inputs.tasks
    assert (kept.minutes, kept.notes, kept.details.at, kept.details.kind.value) == (
        30,
        "Bring the card",
        DETAILED.at,
        "errand",
    )


async def test_details_that_exclude_each_other_are_refused_in_the_form(anna: Person) -> None:
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Dentist", proceed=False)
    refused = await anna.fill_row("Dentist", "task", size=1, at=DETAILED.from_time, from_time=DETAILED.at)
    assert isinstance(refused, FormErrors)
    assert refused.errors == {"kind": "It starts before it may begin; leave out one of the two times."}


async def test_a_task_at_a_time_is_drafted_there(anna: Person) -> None:
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Report", minutes_1=120, title_2="Dentist", minutes_2=45, proceed=False)
    await anna.fill_row("Dentist", "task", size=1, at=DETAILED.at, kind="errand")
    await anna.press("Continue")
    plan = (await anna.session()).planning.plan
    assert plan is not None
    assert [f"{b.start:%H:%M}" for b in resolve(plan) if b.event.name == "Dentist"] == ["14:00"]


@pytest.mark.parametrize(("best", "window"), [("morning", ("05:00", "12:00")), ("after_lunch", ("12:30", "17:00"))])
async def test_a_task_is_put_at_the_time_of_high_energy_that_the_person_names(
    anna: Person, harness: Harness, best: str, window: tuple[str, str]
) -> None:
    """S106: by the form in the thread, for a task without minutes, which gets the usual length."""
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Mail", minutes_1=60, title_2="Essay", proceed=False)
    await anna.fill_row("Essay", "task", size=1, best=best)
    for label in ("Continue", "Refine", "Commit to calendar"):
        await anna.press(label)
    start, end = harness.on_calendar()["Essay"].split("-")
    assert window[0] <= start < end <= window[1]


async def test_a_task_at_a_time_outside_of_the_day_is_put_there(anna: Person, harness: Harness) -> None:
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Report", minutes_1=120, title_2="Dinner", minutes_2=90, proceed=False)
    await anna.fill_row("Dinner", "task", size=1, at=time(20), kind="family")
    for label in ("Continue", "Refine", "Commit to calendar"):
        await anna.press(label)
    assert harness.on_calendar()["Dinner"] == "20:00-21:30"


async def test_dinner_in_the_evening_is_after_the_day(harness: Harness, anna: Person) -> None:
    """S442: a day until six has dinner at six, not in its last hour."""
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Report", minutes_1=60, title_2="Dinner", minutes_2=45, proceed=False)
    await anna.fill_row("Dinner", "task", size=1, best="evening", kind="meal")
    for label in ("Continue", "Refine", "Commit to calendar"):
        await anna.press(label)
    assert harness.on_calendar()["Dinner"] == "18:00-18:45"


async def test_a_rule_about_work_is_not_one_about_family(anna: Person) -> None:
    """“No work after half past five”, with the kinds that the form suggests, does not move a dinner."""
    await anna.to_frame()
    await anna.fill("frame", day_end=time(21))
    await anna.press("Continue")
    await anna.fill("tasks", title_1="Report", minutes_1=60, title_2="Dinner", minutes_2=60, proceed=False)
    await anna.fill_row("Dinner", "task", size=1, at=time(19), kind="family")
    await anna.fill_row("Report", "task", size=1, best="evening")
    late: dict[str, Any] = {
        "kind": "avoid_window",
        "necessity": "must",
        "words": "No work after 17:30",
        "times": "17:30-24",
    }
    assert await anna.fill("rule_new", blocks=("DW", "SW", "PR"), **late) is None
    await anna.press("Continue")
    plan = (await anna.session()).planning.plan
    assert plan is not None
    ends = {b.event.name: f"{b.start:%H:%M}-{b.end:%H:%M}" for b in resolve(plan)}
    assert (ends["Dinner"], ends["Report"][6:] <= "17:30") == ("19:00-20:00", True)


async def test_a_task_in_words_that_comes_after_no_known_one_is_refused() -> None:
    there = await hear_reply(wants("answer"), inputs(add=[new("Report", details={"after": ["Nothing"]})]))
    assert [each.title for each in there] == ["Outline", "Dentist"]


async def test_a_task_keeps_its_details_on_another_day(anna: Person) -> None:
    """It waits in the queue, for which it is a task like those of the command line."""
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Dentist", minutes_1=45, proceed=False)
    await anna.fill_row("Dentist", "task", size=1, at=DETAILED.at, kind="errand")
    task_id = (await anna.session()).day.inputs.tasks[0].id
    await anna.fill("defer", target=task_id, day="2026-03-03")
    (queued,) = await anna.harness.store.tasks.of(anna.user)
    assert (queued.spec.details.at, queued.spec.details.kind.value) == (DETAILED.at, "errand")


async def test_tasks_that_wait_for_each_other_are_refused(anna: Person) -> None:
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Outline", minutes_1=30, title_2="Report", minutes_2=90, proceed=False)
    outline, report = (task.id for task in (await anna.session()).day.inputs.tasks)
    await anna.fill_row("Report", "task", size=1, after=(outline,))
    await anna.fill_row("Outline", "task", size=1, after=(report,))
    assert "“Outline” and “Report” would wait for each other. Clear “Comes after” for one of them." in anna.words
    await anna.press("Continue")
    assert anna.words.index("Outline") < anna.words.index("Report")
