"""A task that was left for another day comes up when the next one is planned, after a restart, too."""

from __future__ import annotations

from datetime import timedelta

from tests.unit.conversation.person import Harness, Person


async def test_it_is_offered_and_brought_along(anna: Person, harness: Harness) -> None:
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Taxes", minutes_1=60, title_2="Plants", title_3="Report", proceed=False)
    await anna.fill_row("Taxes", "defer", day="some_day")
    await anna.fill_row("Plants", "defer", day="some_day")
    harness.restart()
    harness.clock.at += timedelta(days=1)
    next_day = Person(harness)
    await next_day.to_tasks()
    assert "**Left for another day** on Monday 2 March: Taxes (1 h), Plants" in next_day.words
    form = await next_day.look("bring")
    assert [choice.label for field in form.inputs for choice in getattr(field, "choices", ())] == ["Taxes", "Plants"]
    assert await next_day.fill("bring", tasks=()) is not None
    await next_day.fill("bring", tasks=((await next_day.session()).open_work.offered[1].task.id,))
    assert [t.title for t in (await next_day.session()).day.inputs.tasks] == ["Plants"]
    await next_day.press("Bring it along")
    assert [t.title for t in (await next_day.session()).day.inputs.tasks] == ["Plants", "Taxes"]
    assert "Left for another day" not in next_day.words


async def test_all_that_a_full_day_left_open_is_offered_to_the_next(anna: Person, harness: Harness) -> None:
    """S467: the card of the day promises each task that found no place."""
    await anna.to_tasks()
    await anna.fill("tasks", deep="", other="\n".join(f"Errand {number}, 45 min" for number in range(1, 61)))
    await anna.press("Refine")
    await anna.press("Commit to calendar")
    left = {each.task_id for each in (await anna.session()).planning.unplaced}
    assert len(left) > 40
    assert f"and {len(left) - 5} more did not fit." in anna.words
    next_day = Person(harness)
    await next_day.start((await anna.session()).date + timedelta(days=1))
    await next_day.press("Plan this day")
    await next_day.press("Continue")
    assert {each.task.id for each in (await next_day.session()).open_work.offered} == left
    await next_day.press("Bring them along")
    assert {each.id for each in (await next_day.session()).day.inputs.tasks} == left
