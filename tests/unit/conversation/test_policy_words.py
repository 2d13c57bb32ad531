"""Words that say how days are planned become the settings and routines that the forms make."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories.wishes import rule, wish
from tests.unit.conversation.test_memory_words import heard

from fateforger.memory.settings import confirm_wish
from fateforger.session.commands.rules import RememberConstraint, SetPolicy

SEVEN = [{"kind": "prefer", "start": "07:00", "end": "08:00"}]


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            {"slot": "lunch", "windows": [{"kind": "prefer", "start": "13:00", "end": "14:00"}], "minutes_min": 60},
            "Lunch is at 13:00 for an hour from now on.",
        ),
        ({"slot": "deep_blocks", "minutes_min": 2}, "There are at most 2 blocks of deep work from now on."),
        ({"slot": "longest_focus", "minutes_min": 60}, "There is a break after an hour of deep work from now on."),
        (
            {"slot": "best_hours", "windows": [{"kind": "prefer", "start": "13:00", "end": "16:00"}]},
            "The best hours for deep work are 13:00–16:00 from now on.",
        ),
    ],
)
async def test_words_set_the_policy(said: dict[str, Any], sentence: str) -> None:
    """S245"""
    out, _ = await heard(wish("remember", rule=rule(description="as they said it", **said)))
    (command,) = out.heard
    assert isinstance(command, SetPolicy)
    assert [confirm_wish(record) for record in command.records] == [sentence]
    assert sentence in out.session.rules.memory_writes[-1].lines


async def test_two_routines_in_words_are_two_rules() -> None:
    kept = []
    for title, days in (("Gym", ["MO", "TH"]), ("Swim", ["TU"])):
        routine = rule(name=title, description=title, slot="routine", windows=SEVEN, minutes_min=60, days_of_week=days)
        out, _ = await heard(wish("remember", rule=routine))
        (command,) = out.heard
        assert isinstance(command, RememberConstraint)
        kept.append(command.record)
    assert confirm_wish(kept[0]) == "Gym is planned on Monday and Thursday at 07:00 for an hour from now on."
    assert [each.aspect and each.aspect.frame_slot for each in kept] == ["routine:gym", "routine:swim"]
