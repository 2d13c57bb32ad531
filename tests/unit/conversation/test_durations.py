"""Lengths of tasks that a person's days teach: asked about, planned with, shown, corrected, forgotten."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from tests.unit.conversation.person import ANNA, MONDAY, Harness, Person

from fateforger.planning.plan import resolve
from fateforger.session.cards import Button, Card, Controls, Select
from fateforger.session.forms import Click
from fateforger.session.queue_commands import QueueCommandBase

BORIS = "U_BORIS"
ASKED = "“report” takes you 1.5 times as long as planned (it ran over 3 of the last 3 times)."
RATIO = "**report** (deep): 1.5 times as long, usually 1 h 30 min, from 3 tasks"


async def begin(
    harness: Harness, day: date, title: str, *, minutes: int | None, user: str = ANNA, **more: Any
) -> Person:
    """List one task for a day at seven in the morning, and show its draft."""
    harness.clock.at = harness.clock.at.replace(year=day.year, month=day.month, day=day.day, hour=6, minute=0)
    person = Person(harness, user)
    await person.start(day)
    await person.press("Plan this day")
    await person.press("Continue")
    await person.fill("tasks", title_1=title, minutes_1=minutes, one_thing="1", **more)
    return person


async def commit(person: Person, hour: int, minute: int) -> None:
    """Commit the draft, and wait until that time in UTC, an hour behind the local one."""
    await person.press("Refine")
    await person.press("Commit to calendar")
    person.harness.clock.at = person.harness.clock.at.replace(hour=hour, minute=minute)


async def spend_late_day(harness: Harness, n: int, *, user: str = ANNA) -> Person:
    title = ("Weekly report", "Report for Acme", "Q3 reports")[n % 3]
    person = await begin(harness, MONDAY + timedelta(days=n), title, minutes=60, user=user)
    await commit(person, 8, 40)
    await person.pick("replan.late", "30")
    return person


async def lengths(person: Person) -> list[int]:
    """Return the minutes of the task's blocks, which may be pieces."""
    plan = (await person.session()).planning.plan
    assert plan is not None
    return [block.minutes for block in resolve(plan) if block.event.name.startswith("Report")]


async def observations(harness: Harness, user: str = ANNA) -> list[tuple[str, int, int, str]]:
    return [(each.title, each.planned, each.actual, each.source) for each in await harness.store.durations.of(user)]


async def spend_late_days(harness: Harness, *, user: str = ANNA) -> None:
    for n in range(3):
        await spend_late_day(harness, n, user=user)


async def home(harness: Harness, user: str = ANNA) -> Card:
    return await harness.coordinator.home(user)


def words(card: Card) -> str:
    return "\n".join(getattr(part, "text", "") for part in card.parts)


async def press_at_home(harness: Harness, action: str, *, value: str | None = None) -> None:
    """Use the only control with that action on App Home."""
    every = [item for part in (await home(harness)).parts if isinstance(part, Controls) for item in part.items]
    (found,) = [item for item in every if isinstance(item, Button | Select) and item.action == action]
    target = found.target if isinstance(found, Button) else ""
    click = Click(
        command_id=f"home {action}",
        user_id=ANNA,
        at=harness.clock.now(),
        session_id="",
        action=action,
        target=target,
        value=value,
    )
    command = harness.coordinator.read_click(click)
    assert isinstance(command, QueueCommandBase)
    await harness.coordinator.handle(command)


async def test_after_three_late_reports_the_fourth_is_asked_about_once(harness: Harness) -> None:
    """S257"""
    await spend_late_days(harness)
    assert await observations(harness) == [
        ("Weekly report", 60, 90, "changed"), ("Report for Acme", 60, 90, "changed"), ("Q3 reports", 60, 90, "changed"),
    ]  # fmt: skip
    anna = await begin(harness, MONDAY + timedelta(days=3), "Report for Bolt", minutes=120)
    assert f"{ASKED} Plan 3 h for “Report for Bolt”?" in anna.words
    (before,) = (await anna.session()).day.inputs.tasks
    assert before.minutes == 120
    await anna.press("Plan 3 h")
    (task,) = (await anna.session()).day.inputs.tasks
    assert (task.minutes, "takes you" in anna.words) == (180, False)
    await anna.press("Refine")
    assert sum(await lengths(anna)) == 180


async def test_keeping_the_length_is_an_answer_too(harness: Harness) -> None:
    await spend_late_days(harness)
    anna = await begin(harness, MONDAY + timedelta(days=3), "Report for Bolt", minutes=120)
    await anna.press("Keep 2 h")
    (task,) = (await anna.session()).day.inputs.tasks
    assert (task.minutes, "takes you" in anna.words) == (120, False)


async def test_an_open_length_is_planned_as_usual_and_said_so(harness: Harness) -> None:
    await spend_late_days(harness)
    anna = await begin(harness, MONDAY + timedelta(days=3), "Report for Bolt", minutes=None, proceed=False)
    assert "**Report for Bolt** · 1 h 30 min (as you usually need) · deep" in anna.words
    shown = await anna.look("task", target=(await anna.session()).day.inputs.tasks[0].id)
    hints = [getattr(field, "hint", "") for field in shown.fields]
    assert "Usually 1 h 30 min; leave it open to plan that." in hints
    more = await anna.look("tasks")
    assert "If you leave it open, I plan what you usually need: report 1 h 30 min." in " ".join(
        getattr(f, "hint", "") for f in more.fields
    )
    await anna.press("Continue")
    assert "As long as you usually need: Report for Bolt, 1 h 30 min." in anna.words
    assert sum(await lengths(anna)) == 90


async def test_what_is_forgotten_is_gone_and_stays_gone(harness: Harness) -> None:
    """S257"""
    await spend_late_days(harness)
    await harness.store.homes.open(ANNA)
    assert RATIO in words(await home(harness))
    await press_at_home(harness, "duration.forget")
    shown = words(await home(harness))
    assert "I forgot how long “report” takes you." in shown
    assert "How long things take you" not in words(await home(harness))
    anna = await begin(harness, MONDAY + timedelta(days=3), "Report for Bolt", minutes=120)
    assert "takes you" not in anna.words


async def test_a_correction_counts_instead(harness: Harness) -> None:
    """S257"""
    await spend_late_days(harness)
    await press_at_home(harness, "duration.correct", value="200 deep report")
    assert "**report** (deep): 2 times as long, usually 1 h 30 min, as you told me" in words(await home(harness))
    anna = await begin(harness, MONDAY + timedelta(days=3), "Report for Bolt", minutes=120)
    assert "“report” takes you 2 times as long as planned (as you told me). Plan 4 h" in anna.words


async def test_another_persons_days_never_count(harness: Harness) -> None:
    await spend_late_days(harness, user=BORIS)
    assert (await observations(harness), len(await observations(harness, BORIS))) == ([], 3)
    anna = await begin(harness, MONDAY + timedelta(days=3), "Report for Bolt", minutes=120)
    assert "takes you" not in anna.words
    assert "How long things take you" not in words(await home(harness))


async def test_undo_takes_the_observation_back_and_a_block_gives_one(harness: Harness) -> None:
    anna = await spend_late_day(harness, 0)
    assert await observations(harness) == [("Weekly report", 60, 90, "changed")]
    await anna.pick("replan.late", "15")
    assert await observations(harness) == [("Weekly report", 60, 105, "changed")]
    await anna.press("Undo last update")
    await anna.press("Undo last update")
    assert await observations(harness) == []


@pytest.mark.parametrize(("minute", "actual"), [(40, 40), (0, 60)])
async def test_done_already_tells_how_long_it_took(harness: Harness, minute: int, actual: int) -> None:
    """A task that was done by its end took as long as planned."""
    anna = await begin(harness, MONDAY, "Weekly report", minutes=60)
    await commit(anna, 8 if minute else 9, minute)
    plan = (await anna.session()).planning.plan
    assert plan is not None
    (key,) = [event.block_key for event in plan.events if event.name == "Weekly report"]
    await anna.pick("replan.done", key)
    assert await observations(harness) == [("Weekly report", 60, actual, "done")]


async def test_the_end_of_an_event_that_the_person_moved_counts_once_it_has_begun(harness: Harness) -> None:
    """Before it begins, that is planning. Moving all of it tells nothing."""
    anna = await begin(harness, MONDAY, "Weekly report", minutes=60)
    await commit(anna, 7, 30)
    await stretch(harness, "Weekly report", minutes=15)
    await anna.click("replan.refit")
    assert await observations(harness) == []
    harness.clock.at = harness.clock.at.replace(hour=8, minute=30)
    await stretch(harness, "Weekly report", minutes=30)
    await anna.click("replan.refit")
    assert await observations(harness) == [("Weekly report", 75, 105, "changed")]
    await stretch(harness, "Weekly report", minutes=20, later=10)
    await anna.click("replan.refit")
    assert await observations(harness) == []


async def stretch(harness: Harness, title: str, *, minutes: int, later: int = 0) -> None:
    (event,) = [each for each in harness.calendar.store.get_live_events().values() if each.summary == title]
    harness.calendar.store.user_edit(
        event.id, start=event.start + timedelta(minutes=later), end=event.end + timedelta(minutes=minutes)
    )
