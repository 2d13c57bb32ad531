"""Words that say how days are planned become the settings and routines that the forms make."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.factories.wishes import rule, wish
from tests.factories.words import wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.rules import make_reading
from tests.unit.conversation.sessions import make_command, turn
from tests.unit.conversation.test_memory_words import NOW, hear_reply

from fateforger.conversation.turn_runs import run_turn
from fateforger.drafting.instance import Policy
from fateforger.memory.settings import SPECS, Setting, build_setting, confirm_wish
from fateforger.memory.vocabulary import Slot
from fateforger.session.commands.rules import RememberConstraint, SetPolicy
from fateforger.values import replace

SEVEN = [{"kind": "prefer", "start": "07:00", "end": "08:00"}]


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            {"slot": "lunch", "windows": [{"kind": "prefer", "start": "13:00", "end": "14:00"}], "minutes_min": 60},
            "Lunch is at 13:00 for 1 h from now on.",
        ),
        ({"slot": "deep_blocks", "minutes_min": 2}, "A day has at most 2 blocks of deep work from now on."),
        ({"slot": "slack", "change": "more"}, "20% of the free time stays free from now on."),
        ({"slot": "lunch", "change": "less"}, "Lunch is at the usual time for 30 min from now on."),
        ({"slot": "longest_focus", "minutes_min": 60}, "There is a break after 1 h of deep work from now on."),
        (
            {"slot": "best_hours", "windows": [{"kind": "prefer", "start": "13:00", "end": "16:00"}]},
            "The best hours for deep work are 13:00–16:00 from now on.",
        ),
    ],
)
async def test_words_set_the_policy(said: dict[str, Any], sentence: str) -> None:
    """S245"""
    out, _ = await hear_reply(wish("remember", rule=rule(description="as they said it", **said)))
    (command,) = out.heard
    assert isinstance(command, SetPolicy)
    assert [confirm_wish(record) for record in command.records] == [sentence]
    assert sentence in out.session.rules.memory_writes[-1].lines


async def test_more_of_a_setting_that_is_there_changes_it_by_a_step() -> None:
    """S245"""
    said_before = build_setting(Setting(Slot.SLACK, 30)).with_uid("air")
    air = replace(version_of("air", seq=1), record=said_before)
    model = ScriptedModel(wants("memory"), wish("memory_update_constraint", 1, rule=rule(change="more")))
    out = await run_turn(turn(NOW, make_command("user_reply", text="more air"), memory=make_reading(air)), model)
    (command,) = out.heard
    assert isinstance(command, SetPolicy)
    assert [confirm_wish(record) for record in command.records] == ["35% of the free time stays free from now on."]


@pytest.mark.parametrize(
    ("slot", "number", "change", "sentence"),
    [
        (Slot.DEEP_BLOCKS, 0, "more", "A day may have any number of blocks of deep work from now on."),
        (Slot.DEEP_BLOCKS, 0, "less", "A day has at most 3 blocks of deep work from now on."),
        (Slot.LONGEST_FOCUS, 0, "less", "There is a break after 1 h 30 min of deep work from now on."),
        (Slot.SLACK, 1, "less", "No free time is kept free from now on."),
        (Slot.SLACK, 0, "less", "No free time is kept free from now on."),
        (Slot.SLACK, 0, "more", "5% of the free time stays free from now on."),
        (Slot.DEEP_BLOCKS, 1, "less", "A day has at most 1 block of deep work from now on."),
    ],
)
async def test_a_step_from_none_and_from_no_limit(slot: Slot, number: int, change: str, sentence: str) -> None:
    """S245"""
    before = build_setting(Setting(slot, number)).with_uid("set")
    model = ScriptedModel(wants("memory"), wish("memory_update_constraint", 1, rule=rule(change=change)))
    known = make_reading(replace(version_of("set", seq=1), record=before))
    out = await run_turn(turn(NOW, make_command("user_reply", text=change), memory=known), model)
    (command,) = out.heard
    assert isinstance(command, SetPolicy)
    assert [confirm_wish(record) for record in command.records] == [sentence]


async def test_two_routines_in_words_are_two_rules() -> None:
    kept = []
    for title, days in (("Gym", ["MO", "TH"]), ("Swim", ["TU"])):
        routine = rule(name=title, description=title, slot="routine", windows=SEVEN, minutes_min=60, days_of_week=days)
        out, _ = await hear_reply(wish("remember", rule=routine))
        (command,) = out.heard
        assert isinstance(command, RememberConstraint)
        kept.append(command.record)
    assert confirm_wish(kept[0]) == "Gym is planned on Monday and Thursday at 07:00 for 1 h from now on."
    assert [each.aspect and each.aspect.frame_slot for each in kept] == ["routine:gym", "routine:swim"]


def test_the_usual_numbers_of_the_settings_are_those_of_the_policy() -> None:
    usual = Policy()
    assert usual.lunch is not None
    numbers = {slot: spec.usual for slot, spec in SPECS.items() if spec.step}
    assert numbers == {
        Slot.LUNCH: usual.lunch.minutes,
        Slot.SLACK: usual.slack_percent,
        Slot.LONGEST_FOCUS: usual.longest_focus,
        Slot.AFTER_DEEP: usual.after_deep,
        Slot.AFTER_MEETINGS: usual.after_meetings,
        Slot.DEEP_BLOCKS: usual.deep_blocks,
        Slot.SHUTDOWN: usual.shutdown,
    }
