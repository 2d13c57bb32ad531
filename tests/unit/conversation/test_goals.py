"""The goal of a day and its blocks of deep work: by form and in words, shown, and in the draft (S43)."""

from __future__ import annotations

from tests.factories.words import inputs, wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import Person
from tests.unit.conversation.sessions import make_command, session, task, turn

from fateforger.conversation.turn_runs import run_turn
from fateforger.planning.plan import ET, TBPlan, resolve
from fateforger.session.draft import basis_of, own_draft
from fateforger.session.model import BlockPlan, InputFacts
from fateforger.session.stages import TimeboxingStage


def deep_blocks(plan: TBPlan) -> list[int]:
    return [block.minutes for block in resolve(plan) if block.event.type is ET.DEEP_WORK]


async def test_goals_and_blocks_by_form(anna: Person) -> None:
    """S43"""
    await anna.to_tasks()
    assert "Goals" in anna.labels()
    assert (
        await anna.fill("goals", goals="Finish chapter 2\n\nBe home at five", deep_blocks=3, block_minutes=40) is None
    )
    assert (
        "**This day is for:** “Finish chapter 2”, “Be home at five”, 3 blocks of deep work and 40 min at a time."
        in anna.words
    )
    assert await anna.fill("tasks", title_1="Write", minutes_1=120, proceed=True) is None
    assert "“Finish chapter 2”" in anna.words
    now = await anna.session()
    assert now.planning.plan is not None
    assert sorted(deep_blocks(now.planning.plan)) == [30, 40, 50]
    assert now.day.inputs.goals == ("Finish chapter 2", "Be home at five")


async def test_too_many_goals_are_refused_at_the_field(anna: Person) -> None:
    await anna.to_tasks()
    answer = await anna.fill("goals", goals="\n".join("abcdef"))
    assert answer is not None
    assert answer.errors == {"goals": "Please keep it to 5 goals of 200 characters each."}


async def test_goals_and_blocks_in_words() -> None:
    """S43: values that the message does not mention stay."""
    now = session(TimeboxingStage.CAPTURE_INPUTS, inputs=InputFacts(goals=("Rest",), blocks=BlockPlan(minutes=60)))
    model = ScriptedModel(wants("answer"), inputs(deep_blocks=2))
    after = (await run_turn(turn(now, make_command("user_reply", text="…")), model)).session.day.inputs
    assert (after.goals, after.blocks) == (("Rest",), BlockPlan(deep_blocks=2, minutes=60))
    model = ScriptedModel(wants("answer"), inputs(goals=["Ship it"]))
    after = (await run_turn(turn(now, make_command("user_reply", text="…")), model)).session.day.inputs
    assert after.goals == ("Ship it",)
    model = ScriptedModel(wants("answer"), inputs(block_minutes=5))
    refused = (await run_turn(turn(now, make_command("user_reply", text="…")), model)).session
    assert "A day has 1 to 12 blocks of deep work" in " ".join(refused.notice_lines)


def test_blocks_of_the_day_count_before_the_usual_ones() -> None:
    now = session(TimeboxingStage.SKELETON, inputs=InputFacts(tasks=(task("Write", 80),)))
    assert deep_blocks(own_draft(now).plan) == [80]
    short = now.with_day(inputs=InputFacts(tasks=(task("Write", 80),), blocks=BlockPlan(minutes=40)))
    assert deep_blocks(own_draft(short).plan) == [40, 40]
    assert basis_of(short) != basis_of(now)
