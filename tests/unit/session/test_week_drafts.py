"""Drafts of the days of a week."""

from __future__ import annotations

from tests.unit.conversation.sessions import session, task

from fateforger.session.model import InputFacts
from fateforger.session.stages import TimeboxingStage
from fateforger.session.week import draft_day


def test_a_day_keeps_its_goals_when_the_week_gives_it_tasks() -> None:
    """S43: goals are what the day is for; the week decides on its tasks only."""
    day = session(TimeboxingStage.CAPTURE_INPUTS).with_day(inputs=InputFacts(goals=("Send the book",)))
    drafted = draft_day(day, [task("Read")])
    assert (drafted.day.inputs.goals, len(drafted.day.inputs.tasks)) == (("Send the book",), 1)
