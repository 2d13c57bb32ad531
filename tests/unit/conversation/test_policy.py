"""The policy of days, and routines: by form and in words, kept as rules, and in the next draft (decision 064)."""

from __future__ import annotations

from datetime import time
from typing import Any

from tests.unit.conversation.person import ANNA, Harness, Person, buttons_in
from tests.unit.conversation.queue.person import labels
from tests.unit.conversation.test_fitting import draft_tasks
from tests.unit.conversation.test_replanning import read_times

from fateforger.drafting.instance import Policy
from fateforger.memory.versions import select_newest
from fateforger.memory.vocabulary import Scope
from fateforger.session.forms import Form, FormErrors, FormRequest, FormSubmission

SHOWN: dict[str, Any] = {
    "work_start": None,
    "work_end": None,
    "lunch_start": time(12, 30),
    "lunch_minutes": 45,
    "slack": 15,
    "best_hours": "",
}
"""Values of the form before More is pressed."""
USUAL: dict[str, Any] = {
    **SHOWN,
    "longest_focus": Policy().longest_focus,
    "after_deep": 10,
    "after_meetings": 10,
    "deep_blocks": 3,
    "shutdown": 30,
}


async def names(harness: Harness) -> list[str]:
    newest = select_newest(await harness.store.constraints.of(ANNA), ANNA)
    return sorted(version.record.name for version in newest.values() if not version.retired)


async def test_lunch_set_once_is_in_the_frame_and_in_the_next_draft(anna: Person, harness: Harness) -> None:
    """S245"""
    await anna.to_frame()
    ways = [button.action for button in buttons_in(await anna.look("rule_new"))]
    assert ways == ["form.routine", "form.policy"]
    form = await anna.look("policy")
    assert {field.name: field.value for field in form.inputs} == SHOWN
    assert await anna.fill("policy", **{**USUAL, "lunch_start": time(13), "lunch_minutes": 60}) is None
    assert "Lunch is at 13:00 for 1 h from now on." in anna.words
    assert "lunch around 13:00 for 1 h" in anna.words
    assert await names(harness) == ["Lunch is at 13:00 for 1 h"]
    again = {field.name: field.value for field in (await anna.look("policy")).inputs}
    assert (again["lunch_start"], again["lunch_minutes"]) == (time(13), 60)
    await anna.press("Continue")
    assert "13:00 Lunch" in await draft_tasks(anna)
    assert any(button.label == "How days are planned" for button in buttons_in(await anna.look("rules")))


async def test_a_setting_is_changed_in_place_and_cleared(anna: Person, harness: Harness) -> None:
    """S245"""
    await anna.to_frame()
    await anna.fill("policy", **{**USUAL, "slack": 30, "deep_blocks": 2})
    assert await names(harness) == ["30% of the free time stays free", "A day has at most 2 blocks of deep work"]
    await anna.fill("policy", **{**USUAL, "slack": 25, "deep_blocks": 2})
    assert await names(harness) == ["25% of the free time stays free", "A day has at most 2 blocks of deep work"]
    await anna.fill("policy", **{**USUAL, "slack": None, "deep_blocks": 2})
    assert await names(harness) == ["A day has at most 2 blocks of deep work"]
    assert {field.name: field.value for field in (await anna.look("policy")).inputs} == {**SHOWN, "deep_blocks": 2}


async def test_a_routine_is_drafted_on_its_days_and_skipped_for_one(anna: Person, harness: Harness) -> None:
    """S246"""
    await anna.to_frame()
    errors = await anna.fill("routine", title="", times="8:45-8:10", kind="H")
    assert errors is not None
    assert "title" in errors.errors
    values: dict[str, Any] = {"title": "School run", "times": "8:10-8:45", "kind": "C", "days": ("MO", "TU")}
    assert await anna.fill("routine", **values) is None
    assert "School run is planned on Monday and Tuesday at 08:10 for 35 min from now on." in anna.words
    version = (await harness.store.constraints.of(ANNA))[-1]
    assert version.record.scope is Scope.PROFILE
    await anna.press("Continue")
    assert "08:10 School run" in await draft_tasks(anna)


async def test_a_routine_without_hours_is_drafted_every_day(anna: Person) -> None:
    """S505: also on a day that holds no other habit."""
    await anna.to_frame()
    assert await anna.fill("routine", title="Walk", minutes=20, kind="H") is None
    await anna.press("Continue")
    assert [line for line in await draft_tasks(anna) if line.endswith(" Walk")]


async def test_a_night_has_its_lunch_after_midnight(anna: Person) -> None:
    """S507"""
    await anna.to_frame()
    night: dict[str, Any] = {"day_start": time(20), "day_end": time(8), "lunch_start": time(1), "lunch_minutes": 30}
    assert await anna.fill("frame", **night) is None
    assert "20:00–08:00 (12 h, until the next day), lunch around 01:00 for 30 min" in anna.words
    await anna.press("Continue")
    assert "01:00 Lunch" in await draft_tasks(anna)


async def test_an_early_hour_in_a_night_of_work_is_a_time(anna: Person) -> None:
    """S518: by list and by row; a time outside of the night still belongs to the title, as it does by day."""
    await anna.to_frame()
    assert await anna.fill("frame", day_start=time(22), day_end=time(6), lunch_minutes=0) is None
    await anna.press("Continue")
    assert await anna.fill("tasks", other="Round at 4:00, 15 min\nParcel at 6:30, 15 min", proceed=False) is None
    assert await anna.fill("tasks", title_1="Charts before 2:00", minutes_1=20, size=1, proceed=False) is None
    tasks = (await anna.session()).day.inputs.tasks
    assert [(each.title, each.details.at, each.details.due_time) for each in tasks] == [
        ("Round", time(4), None),
        ("Parcel at 6:30", None, None),
        ("Charts", None, time(2)),
    ]
    await anna.press("Continue")
    times = read_times(await anna.session())
    assert times["Round"] == "04:00-04:15"
    assert times["Charts"] >= "22:00" or times["Charts"] <= "01:40"


async def test_settings_are_made_from_app_home(anna: Person, harness: Harness) -> None:
    """S245: outside of any plan, and they count in the next one."""
    home = await harness.coordinator.home(anna.user)
    assert "How days are planned" in labels(home)
    form = await harness.coordinator.open_form(FormRequest(form="policy", session_id="", user_id=anna.user))
    given = {field.name: field.value for field in form.inputs} | {"lunch_start": time(13), "lunch_minutes": 60}
    command = await harness.coordinator.read_form(
        FormSubmission(
            form="policy",
            session_id="",
            user_id=anna.user,
            command_id="home",
            at=harness.clock.now(),
            target=form.target,
            values=given,
        )
    )
    assert not isinstance(command, Form | FormErrors)
    await harness.coordinator.handle(command)
    await anna.to_skeleton("Report")
    assert "**13:00–14:00** Lunch" in anna.words


async def test_the_settings_that_were_changed_since_they_were_opened_stay(anna: Person) -> None:
    """S513: also where they are the usual ones again, so that the form would not show them."""
    await anna.to_frame()
    await anna.fill("policy", longest_focus=50)
    shown = await anna.look("policy")
    await anna.fill("policy", longest_focus=None, work_start=time(8), lunch_start=time(13), slack=30)
    assert await anna.submit(shown, work_end=time(16)) is None
    now = {field.name: field.value for field in (await anna.look("policy")).inputs}
    assert "longest_focus" not in now
    assert (now["work_start"], now["work_end"], now["lunch_start"], now["slack"]) == (time(8), time(16), time(13), 30)
