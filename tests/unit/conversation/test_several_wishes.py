"""A message is heard whole: all that it wants is done in order, in one turn, and each wish is answered."""

from __future__ import annotations

import json
import re
from datetime import time

import pytest
from tests.factories.prompts import TYPES
from tests.factories.words import also, block, build_move, frame, inputs, new, patch, wants
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.sessions import make_command, plan_session, session, task, turn
from tests.unit.conversation.test_prompts import prompt_of

from fateforger.conversation.graph import NOT_GONE_ON
from fateforger.conversation.language.message_reader import NOTHING
from fateforger.conversation.language.model_calls import VERSIONS, system_text
from fateforger.conversation.turn_runs import run_turn
from fateforger.conversation.turn_values import TurnOutcome, WriteCalendar
from fateforger.errors import ModelUnreachable
from fateforger.session.commands.plan import MovePlan
from fateforger.session.model import InputFacts, RefineUpdate, Session
from fateforger.session.placement import by_time
from fateforger.session.stages import TimeboxingStage

Stage = TimeboxingStage
TASKS = (task("Report", 60, one_thing=True), task("Mail", 30))


async def hear(now: Session, *lines: Line) -> tuple[TurnOutcome, ScriptedModel]:
    model = ScriptedModel(*lines)
    outcome = await run_turn(turn(now, make_command("user_reply", text="…")), model)
    assert len(model.prompts) == len(lines)
    return outcome, model


def read(outcome: TurnOutcome) -> tuple[str, ...]:
    notice = outcome.session.thread.notice
    return () if notice is None else notice.lines


def starts(outcome: TurnOutcome) -> dict[str, str]:
    plan = outcome.session.planning.plan
    assert plan is not None
    return {each.event.name: f"{each.start:%H:%M}" for each in by_time(plan)}


async def test_a_frame_a_step_and_tasks_in_one_message() -> None:
    """S263: "start me at 10, then go on; the report 90 minutes, and show me the draft"."""
    heard, model = await hear(
        session(Stage.COLLECT_CONSTRAINTS),
        wants(
            "answer", also("proceed"), also("answer", "the report 90 minutes"), also("draft"), words="start me at 10"
        ),
        frame(day_start="10:00"),
        inputs(add=[new("Report", 90)]),
    )
    assert (heard.session.stage, heard.session.day.frame.day_start) == (Stage.SKELETON, time(10))
    assert starts(heard)["Report"] == "10:00"
    assert model.asked == ["decide", "facts", "facts"]
    assert "start me at 10" in model.prompts[1].user
    assert "the report 90 minutes" in model.prompts[2].user
    assert len(heard.heard) == 4


async def test_tasks_of_two_parts_of_a_message_are_two_tasks() -> None:
    heard, _ = await hear(
        session(Stage.CAPTURE_INPUTS),
        wants("answer", also("ask", "when?"), also("answer", "and mail"), words="report"),
        inputs(add=[new("Report", 90)]),
        {"answer": "At nine."},
        inputs(add=[new("Mail", 30)]),
    )
    tasks = heard.session.day.inputs.tasks
    assert [each.title for each in tasks] == ["Report", "Mail"]
    assert len({each.id for each in tasks}) == 2
    assert "At nine." in read(heard)


async def test_a_change_of_a_draft_is_made_in_refine() -> None:
    """S263: the person does not have to go on first."""
    now = plan_session(Stage.SKELETON, *TASKS)
    heard, _ = await hear(now, wants("change"), patch({"op": "swap", "a": "b1", "b": "b2"}))
    was = {each.event.name: each.start for each in by_time(now.planning.plan)} if now.planning.plan else {}
    assert heard.session.stage is Stage.REFINE
    assert was["Report"] < was["Mail"]
    assert starts(heard)["Mail"] < starts(heard)["Report"]


async def test_put_it_in_goes_through_to_the_calendar() -> None:
    heard, model = await hear(plan_session(Stage.SKELETON, *TASKS), wants("commit"))
    assert (heard.session.stage, model.asked) == (Stage.REVIEW_COMMIT, ["decide"])
    assert [effect.commit for effect in heard.effects if isinstance(effect, WriteCalendar)] == [True]


async def test_what_cannot_be_done_keeps_the_plan_off_the_calendar_and_the_rest_is_done() -> None:
    """S263: a refused change gets a note, the question is answered, and nothing is committed without the change."""
    now = plan_session(Stage.REFINE, *TASKS).with_options(calendar_write="commit")
    unfit = [patch({"op": "remove", "b": "b9"})] * 5
    heard, _ = await hear(
        now, wants("change", also("ask", "why?"), also("commit"), words="drop it"), *unfit, {"answer": "So it fits."}
    )
    assert (heard.session.stage, heard.effects) == (Stage.REFINE, ())
    assert {"So it fits.", NOT_GONE_ON} <= set(read(heard))


async def test_the_plan_on_another_day_in_words() -> None:
    heard, _ = await hear(
        plan_session(Stage.REFINE, *TASKS), wants("change"), patch({"op": "to_day", "day": "2026-03-06"})
    )
    assert [f"{move.day:%A}" for move in heard.heard if isinstance(move, MovePlan)] == ["Friday"]
    assert heard.session.open_work.sent


async def test_what_follows_an_undo_is_left_until_it_has_taken_effect() -> None:
    now = plan_session(Stage.REFINE, *TASKS)
    assert now.planning.plan is not None
    step = RefineUpdate(plan_before=now.planning.plan, sentence="It moved.", transactions=("t1",))
    changed = now.with_sync(refine_undo=(step,))
    heard, _ = await hear(changed, wants("undo", also("change", "mail at 4")))
    assert [(wish.intent, wish.words) for wish in heard.left] == [("change", "mail at 4")]
    assert heard.session.planning.plan == now.planning.plan


async def test_a_change_and_a_commit_are_one_write() -> None:
    """With two writes, the counts would be added up twice."""
    heard, _ = await hear(
        plan_session(Stage.SKELETON, *TASKS), wants("change", also("commit")), patch(build_move(1, "16:00", 30))
    )
    assert heard.session.stage is Stage.REVIEW_COMMIT
    assert [effect.commit for effect in heard.effects if isinstance(effect, WriteCalendar)] == [True]


async def test_an_answer_is_kept_for_a_second_run_of_the_turn() -> None:
    """The commands of a message are carried out again once the calendar is known; its questions are not asked again."""
    now = session(Stage.COLLECT_CONSTRAINTS, inputs=InputFacts(tasks=TASKS))
    heard, _ = await hear(now, wants("ask", also("draft")), {"answer": "At three."})
    assert heard.lines == ("At three.",)


@pytest.mark.parametrize("stage", [Stage.SKELETON, Stage.REFINE, Stage.REVIEW_COMMIT])
async def test_a_draft_that_is_there_is_not_committed(stage: Stage) -> None:
    heard, _ = await hear(plan_session(stage, *TASKS), wants("draft"))
    assert (heard.session.stage, heard.effects) == (stage, ())
    assert NOTHING in read(heard)


async def test_all_blocks_since_a_time_are_shifted() -> None:
    now = plan_session(Stage.REFINE, *TASKS)
    later = patch({"op": "shift", "since": "00:00", "minutes": 15}, block("Walk", "17:00", 20, "H"))
    heard, _ = await hear(now, wants("change"), later)
    was = {each.event.name: each.start for each in by_time(now.planning.plan)} if now.planning.plan else {}
    assert {
        name: f"{start.hour:02}:{start.minute + 15:02}" for name, start in was.items() if start.minute < 45
    }.items() <= starts(heard).items()
    assert starts(heard)["Walk"] == "17:00"


async def test_a_failing_second_reading_says_so_and_keeps_the_first() -> None:
    heard, _ = await hear(
        session(Stage.CAPTURE_INPUTS, inputs=InputFacts(tasks=TASKS)),
        wants("answer", also("ask", "when?"), words="and mail"),
        inputs(add=[new("Call", 20)]),
        ModelUnreachable("It is down."),
    )
    assert [each.title for each in heard.session.day.inputs.tasks] == ["Report", "Mail", "Call"]
    assert "It is down." in read(heard)


# --- prompts ---


@pytest.mark.parametrize("name", ["decide", "facts", "memory", "patch", "replan", "rules", "start"])
def test_each_example_of_a_prompt_is_a_right_answer(name: str) -> None:
    """S264"""
    found = re.findall(r"->\s*(\{.*\})$", system_text(name, TYPES[name]), re.MULTILINE)
    assert found
    for example in found:
        TYPES[name].model_validate(json.loads(example))


@pytest.mark.parametrize("name", sorted(VERSIONS))
async def test_whatever_differs_is_in_the_user_message(name: str) -> None:
    """S264: the system text holds no data of a session, a day or a message, so a provider can keep it."""
    prompt = await prompt_of(name)
    for of_now in ("2026-03", "Chapter 3", "Bericht", "Europe/Amsterdam", prompt.user.splitlines()[0]):
        assert of_now not in prompt.system
