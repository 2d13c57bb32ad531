"""The frame of a day follows a rule that the person gave earlier, and names it (S41, S42)."""

from __future__ import annotations

from datetime import time
from pathlib import Path
from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.factories.told_rules import build_extraction, rule
from tests.factories.wishes import rule as wished
from tests.factories.wishes import wish
from tests.factories.words import day, wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import ANNA, Harness, Person, open_harness_at
from tests.unit.conversation.test_fitting import draft_tasks

from fateforger.planning.plan import resolve
from fateforger.session.cards import Note
from fateforger.session.frame import frame_in_force

START = "“I always start at half past eight”"


def make_rule(slot: str, at: str, **fields: Any) -> Any:
    """Return a rule as it was imported: a slot and its time, and no windows."""
    end = "schedule_end" if slot == "work_end" else "schedule_start"
    aspect = {"aspect_id": slot, "frame_slot": slot, end: at}
    return version_of(slot, user=ANNA, aspect_classification=aspect, **{"necessity": "must", **fields})


async def remember(harness: Harness, *versions: Any) -> None:
    await harness.store.constraints.write(versions, cause="import")


async def read_frame(anna: Person) -> tuple[time, time]:
    frame = frame_in_force(await anna.session())
    return frame.day_start, frame.day_end


async def first_block(anna: Person) -> time:
    plan = (await anna.session()).planning.plan
    assert plan is not None
    return min(block.start.time().replace(tzinfo=None) for block in resolve(plan))


async def test_what_is_known_fills_the_frame_and_the_draft(anna: Person, harness: Harness) -> None:
    """S42, F4: and each part is named with the words that it comes from."""
    await remember(
        harness,
        make_rule("work_start", "08:30", description="I always start at half past eight"),
        make_rule("work_end", "16:00", description="Done at four"),
        make_rule("bedtime", "22:15", description="In bed by quarter past ten"),
    )
    await anna.to_frame()
    assert await read_frame(anna) == (time(8, 30), time(16))
    assert "08:30–16:00 (7 h 30 min)" in anna.words
    assert f"**From what you told me:** work starts at 08:30 ({START})" in anna.words
    assert "you go to bed at 22:15 (“In bed by quarter past ten”)" in anna.words
    assert "I do not know yet when you get up and have lunch. Tell me once, and I keep to it." in anna.words
    await anna.press("Continue")
    await draft_tasks(anna)
    assert await first_block(anna) == time(8, 30)


async def test_a_part_is_changed_for_the_day_and_the_rule_stays(anna: Person, harness: Harness) -> None:
    """S42: another thread follows the rule again."""
    await remember(harness, make_rule("work_start", "08:30", description="I always start at half past eight"))
    await anna.to_frame()
    await anna.pick("set_day_start", time(9, 30))
    assert await read_frame(anna) == (time(9, 30), time(18))
    assert "This day is different. Usually: work starts at 08:30." in anna.words
    await anna.press("Continue")
    await draft_tasks(anna)
    assert await first_block(anna) == time(9, 30)
    tomorrow = Person(harness)
    await tomorrow.to_frame()
    assert await read_frame(tomorrow) == (time(8, 30), time(18))


async def test_a_form_sets_the_ends_of_each_day(anna: Person, harness: Harness) -> None:
    """S42, S245: what is rare is behind More, and a field that is cleared goes back to the usual."""
    await anna.to_frame()
    first = await anna.look("policy")
    assert first.more == "More: sleep, focus, breaks"
    assert {"wake_up", "bedtime", "longest_focus"}.isdisjoint(field.name for field in first.inputs)
    assert await anna.fill("policy", work_start=time(8, 30), work_end=time(15, 30), bedtime=time(23)) is None
    assert "Work starts at 08:30 from now on." in anna.words
    assert await read_frame(anna) == (time(8, 30), time(15, 30))
    assert (
        "**From what you told me:** work starts at 08:30, work ends at 15:30 and you go to bed at 23:00." in anna.words
    )
    assert "bedtime" in {field.name for field in (await anna.look("policy")).inputs}
    kept = await harness.store.constraints.of(ANNA)
    assert {version.record.applicability.timezone for version in kept} == {None}  # it is the clock of where they are
    assert await anna.fill("policy", work_end=None) is None
    assert await read_frame(anna) == (time(8, 30), time(18))


async def test_words_set_the_start_and_change_it(tmp_path: Path) -> None:
    """S42: found in a message about the day, and asked of memory."""
    told = build_extraction(
        rule("Start", "I always start at half past eight", slot="work_start", limits={"at": "08:30"})
    )
    at_ten = wish("remember", rule=wished(description="from now on at ten", slot="work_start", limits={"at": "10:00"}))
    lines = (wants("answer", rules=True), day(), wants("memory"), at_ten)
    harness = await open_harness_at(tmp_path, model=ScriptedModel(*lines))
    harness.extractor = ScriptedModel(told)
    harness.restart()
    anna = Person(harness)
    await anna.to_frame()
    await anna.says("I always start at half past eight")
    await harness.work()
    await anna.read()
    assert await read_frame(anna) == (time(8, 30), time(18))
    assert START in anna.words
    await anna.says("from now on at ten")
    assert await read_frame(anna) == (time(10), time(18))
    assert "takes the place of" in anna.words
    await harness.close()


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ((("wake_up", "10:00"),), (time(10), time(18))),
        ((("bedtime", "17:00"),), (time(9), time(17))),
        ((("bedtime", "00:30"),), (time(9), time(18))),
        ((("wake_up", "06:00"), ("work_end", "20:00")), (time(9), time(20))),
    ],
    ids=["late riser", "early to bed", "after midnight", "up before work"],
)
async def test_nothing_is_planned_in_the_night(
    anna: Person, harness: Harness, rules: tuple[tuple[str, str], ...], expected: tuple[time, time]
) -> None:
    """S42: sleep bounds a frame that says nothing else."""
    await remember(harness, *(make_rule(slot, at) for slot, at in rules))
    await anna.to_frame()
    assert await read_frame(anna) == expected


async def test_no_work_after_a_time_ends_the_working_day_and_a_rule_about_some_work_does_not(
    anna: Person, harness: Harness
) -> None:
    windows = [{"kind": "avoid", "start": "17:30", "end": "00:00"}]
    only_deep = [{"kind": "avoid", "start": "00:00", "end": "13:00"}]
    await remember(
        harness,
        make_rule("work_end", "10:00", windows=windows, applies_event_types=["DW", "SW", "PR"]),
        make_rule("work_start", "10:00", windows=only_deep, applies_event_types=["DW"]),
    )
    await anna.to_frame()
    assert await read_frame(anna) == (time(9), time(17, 30))


async def test_a_rule_that_is_set_aside_sets_nothing_and_counts_again(anna: Person, harness: Harness) -> None:
    await remember(harness, make_rule("work_start", "08:30"))
    await anna.to_frame()
    await anna.pick("set_day_start", time(9, 15))
    row = (await anna.look("rules")).fields
    assert any("You set it aside for this plan" in part.text for part in row if isinstance(part, Note))
    version = (await harness.store.constraints.of(ANNA))[0]
    await anna.click("memory.use_again", f"{version.seq} {version.uid}")
    await anna.read()
    assert await read_frame(anna) == (time(8, 30), time(18))
    await anna.click("memory.set_aside", f"{version.seq} {version.uid}")
    await anna.read()
    assert (await read_frame(anna))[0] == time(9, 15)


async def test_nothing_is_called_unknown_while_the_rules_are_not_read(anna: Person, harness: Harness) -> None:
    """S42"""
    await anna.start()
    now = (await anna.session()).with_rules(recalled=None)
    assert frame_in_force(now) == now.day.frame
