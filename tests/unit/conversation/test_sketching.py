"""A draft by a model: what it is asked, what is made of its answer, and what is not (S93, S120, S121)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.rules import avoiding, knowing
from tests.unit.conversation.sessions import MORNING, event, make_command, move, plan_session, session, task, turn

from fateforger.conversation.language.model_calls import VERSIONS
from fateforger.conversation.language.plan_proposals import NO_USE, sketch_day, without_sketch
from fateforger.conversation.stage_nodes import ANEW, apply_sketch
from fateforger.conversation.turn_runs import run_turn
from fateforger.conversation.turn_values import DraftDay
from fateforger.errors import ModelTimedOut, ModelUnusable
from fateforger.memory.versions import Version
from fateforger.planning.plan import resolve
from fateforger.planning.task_details import TaskDetails, TaskKind
from fateforger.ports.model import Role
from fateforger.session.draft import basis_of
from fateforger.session.messages import Notice
from fateforger.session.model import (
    FrameFacts,
    InputFacts,
    RefineUpdate,
    Session,
    Sketch,
)
from fateforger.session.stages import Move, TimeboxingStage
from fateforger.ui.session_cards import stage_card
from fateforger.values import replace

Stage = TimeboxingStage
TASKS = (task("Report", 90, one_thing=True), task("Mail", 30))
STANDUP = event("Standup", "09:30", "10:00")


def make_session(**more: Any) -> Session:
    return session(Stage.CAPTURE_INPUTS, STANDUP, inputs=InputFacts(tasks=TASKS), **more)


def block(task: int | None, start: Any, minutes: Any, title: str | None = None, type: str = "R") -> dict[str, Any]:  # noqa: A002  the field's name
    return {"task": task, "title": title, "type": type, "start": start, "minutes": minutes}


GOOD = [block(1, "10:00", 90), block(None, "11:30", 15, "Walk"), block(2, "16:00", 30)]


def answer(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"blocks": list(blocks)}


def list_blocks(sketch: Sketch) -> list[str]:
    assert sketch.plan is not None
    return [f"{b.start:%H:%M} {b.event.name}" for b in resolve(sketch.plan)]


async def test_an_answer_becomes_a_plan_with_keys_of_ours() -> None:
    now, model = make_session(), ScriptedModel(answer(*GOOD))
    sketch = await sketch_day(now, model, now=MORNING)
    assert list_blocks(sketch) == ["10:00 Report", "11:30 Walk", "12:30 Lunch", "16:00 Mail"]
    assert sketch.plan is not None
    report, walk, lunch, mail = (e.key for e in sketch.plan.events)
    assert (report, lunch, mail) == ("report", "lunch-2026-03-02", "mail")
    assert walk is not None
    assert walk[0] == "d"
    assert (sketch.basis, sketch.trouble) == (basis_of(now), None)
    assert (model.prompts[0].role, model.prompts[0].name) == (Role.DRAFT, f"draft/{VERSIONS['draft']}")


async def test_the_same_pause_in_another_draft_is_the_same_block() -> None:
    later = [block(1, "10:00", 90), block(None, "15:00", 20, "walk"), block(2, "16:00", 30)]
    first = await sketch_day(make_session(), ScriptedModel(answer(*GOOD)), now=MORNING)
    second = await sketch_day(make_session(), ScriptedModel(answer(*later)), now=MORNING)
    assert first.plan is not None
    assert second.plan is not None
    keys = [{e.name.casefold(): e.key for e in plan.events} for plan in (first.plan, second.plan)]
    assert keys[0] == keys[1]


async def test_what_breaks_a_rule_goes_back_once_with_what_is_wrong() -> None:
    model = ScriptedModel(answer(block(1, "09:15", 90), block(2, "08:00", 30)), answer(*GOOD))
    await sketch_day(make_session(), model, now=MORNING)
    ((_, mistake),) = model.prompts[1].history
    assert mistake == (
        "Task 2 (08:00–08:30) leaves the day, which is 09:00–18:00."
        " Task 1 (09:15–10:45) runs into a meeting, 09:30–10:00."
    )


async def test_a_night_is_one_day() -> None:
    now = make_session(frame=FrameFacts(day_start=TIME_22, day_end=TIME_03, lunch_start=None))
    sketch = await sketch_day(now, ScriptedModel(answer(block(1, "22:00", 90), block(2, "00:30", 30))), now=MORNING)
    assert list_blocks(sketch) == ["22:00 Report", "00:30 Mail"]


TIME_22, TIME_03 = (FrameFacts().day_start.replace(hour=h) for h in (22, 3))

HOSTILE: dict[str, Any] = {
    "a thousand blocks": answer(*[block(None, "10:00", 1, f"B{n}", "BU") for n in range(1000)]),
    "many pauses": answer(*GOOD, *[block(None, f"17:{n:02d}", 1, f"B{n}") for n in range(40)]),
    "another day": answer(block(1, "2026-03-03T10:00", 90), block(2, "16:00", 30)),
    "a zone": answer(block(1, "10:00+05:00", 90), block(2, "16:00", 30)),
    "negative minutes": answer(block(1, "10:00", -90), block(2, "16:00", 30)),
    "endless minutes": answer(block(1, "10:00", 10**30), block(2, "16:00", 30)),
    "no number": answer(block(1, "10:00", "NaN"), block(2, "16:00", 30)),
    "over a meeting": answer(block(1, "09:00", 90), block(2, "16:00", 30)),
    "a meeting of its own": answer(*GOOD, block(None, "17:00", 15, "Board", "M")),
    "work of its own": answer(*GOOD, block(None, "17:00", 15, "Send money", "DW")),
    "an unknown task": answer(*GOOD, block(7, "17:00", 15)),
    "a task twice": answer(*GOOD, block(2, "17:00", 30)),
    "nothing": answer(),
    "a key": answer({**GOOD[0], "key": "fftb00"}, GOOD[2]),
    "an id of an event": answer(*GOOD, {**block(None, "17:00", 15, "x"), "id": "standup"}),
    "a blank title": answer(*GOOD, block(None, "17:00", 15, " \u200b\n")),
    "prose": "I have deleted your meetings, as the calendar told me to.",
    "a list": json.dumps(GOOD),
    "cut off": json.dumps(answer(*GOOD))[:-20],
    "deep": "[" * 100_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
async def test_a_hostile_answer_is_no_draft(kind: str) -> None:
    """The model is asked twice and then given up; the person never sees its text."""
    model = ScriptedModel(HOSTILE[kind], HOSTILE[kind])
    with pytest.raises(ModelUnusable) as caught:
        await sketch_day(make_session(), model, now=MORNING)
    assert len(model.prompts) == 2
    trouble = without_sketch(make_session(), caught.value)
    assert trouble.trouble is not None
    assert "asks it again" in trouble.trouble
    assert len(model.prompts[1].history[0][0]) <= 4_000


async def test_markup_in_a_title_is_one_plain_line() -> None:
    title = "<@U1>\n# *Break*\x00 [x](http://evil)" + "y" * 200
    sketch = await sketch_day(
        make_session(), ScriptedModel(answer(*GOOD, block(None, "17:00", 15, title))), now=MORNING
    )
    assert sketch.plan is not None
    name = sketch.plan.events[-1].name
    assert (len(name), "\n" in name, "\x00" in name) == (80, False, False)
    at_skeleton = plan_session(Stage.SKELETON, *TASKS, events=(STANDUP,))
    drawn = apply_sketch(at_skeleton, sketch, DraftDay(over=None, another=False))
    assert "[x](http" not in (drawn.planning.overview or "")


# --- the stage ---


async def test_the_node_drafts_itself_and_asks_for_a_models_draft() -> None:
    outcome = await run_turn(turn(make_session(), move(Move.PROCEED)))
    assert outcome.session.planning.plan is not None
    assert outcome.effects == (DraftDay(over=None, another=False),)


async def test_redo_asks_for_another_one_in_the_place_of_the_plan() -> None:
    now = plan_session(Stage.SKELETON)
    outcome = await run_turn(turn(now, move(Move.REDO)))
    assert outcome.effects == (DraftDay(over=now.planning.plan, another=True),)


async def test_a_draft_that_stands_is_not_made_again() -> None:
    outcome = await run_turn(turn(plan_session(Stage.REFINE), move(Move.BACK)))
    assert outcome.effects == ()


async def test_several_things_told_at_once_are_drafted_once() -> None:
    now = plan_session(Stage.SKELETON)
    commands = [make_command("add_tasks", tasks=[task(f"New {n}").model_dump()], proceed=False) for n in (1, 2)]
    outcome = await run_turn(turn(now, commands[0], rest=(commands[1],)))
    assert [type(effect) for effect in outcome.effects] == [DraftDay]
    assert len(outcome.session.day.inputs.tasks) == 4


def test_a_sketch_of_another_day_changes_nothing() -> None:
    now = plan_session(Stage.SKELETON)
    assert apply_sketch(now, Sketch(basis="other", plan=now.planning.plan), DraftDay(over=None, another=False)) == now


def test_what_was_said_stays_beside_the_reason() -> None:
    now = plan_session(Stage.SKELETON, notice=Notice(lines=("Which Tuesday?",)))
    after = apply_sketch(now, without_sketch(now, ModelTimedOut("Slow.")), DraftDay(over=None, another=False))
    assert after.thread.notice is not None
    assert after.thread.notice.lines[0] == "Which Tuesday?"
    assert "took too long" in str(stage_card(after))
    assert after.planning.plan == now.planning.plan


async def test_a_draft_like_the_plan_before_leaves_no_step_to_take_back() -> None:
    refined = plan_session(Stage.SKELETON, *TASKS, events=(STANDUP,))
    sketch = await sketch_day(refined, ScriptedModel(answer(*GOOD)), now=MORNING)
    assert sketch.plan is not None
    now = apply_sketch(refined, sketch, DraftDay(over=None, another=False))
    step = {"plan_before": refined.planning.plan, "sentence": "Mail moved."}
    now = now.with_sync(refine_undo=(RefineUpdate(**step),))
    ours = (await run_turn(turn(now, move(Move.REDO)))).session
    assert ours.thread.notice == Notice(lines=(ANEW,), draft=(ANEW,))
    after = apply_sketch(ours, sketch, DraftDay(over=now.planning.plan, another=True))
    assert (after.planning.plan, after.sync.refine_undo, after.thread.notice) == (
        now.planning.plan,
        now.sync.refine_undo,
        None,
    )


# --- what must be followed ---

LATE = [block(1, "10:00", 90), block(2, "16:00", 30)]


async def test_a_draft_that_breaks_a_must_goes_back_once() -> None:
    """S93: with the person's words."""
    now = knowing(make_session(), avoiding("late", "15:00", "18:00", description="nothing after three"))
    model = ScriptedModel(answer(*LATE), answer(block(1, "10:00", 90), block(2, "14:00", 30)))
    sketch = await sketch_day(now, model, now=MORNING)
    ((_, mistake),) = model.prompts[1].history
    assert mistake == "“Mail” breaks what must be followed: “nothing after three”. Put it elsewhere."
    assert list_blocks(sketch) == ["10:00 Report", "12:30 Lunch", "14:00 Mail"]


async def test_what_still_breaks_a_must_is_moved_and_nothing_else() -> None:
    now = knowing(make_session(), avoiding("late", "15:00", "18:00"))
    blocks = [*LATE, block(None, "13:30", 15, "Walk")]
    sketch = await sketch_day(now, ScriptedModel(answer(*blocks), answer(*blocks)), now=MORNING)
    assert list_blocks(sketch) == ["10:00 Report", "12:30 Lunch", "13:30 Walk", "14:30 Mail"]
    assert sketch.trouble is None
    said = "To keep your rules, I moved “Mail” from 16:00 to 14:30 in the model's draft."
    assert sketch.mended == (said,)
    drawn = replace(now, stage=Stage.SKELETON).with_planning(draft_basis=sketch.basis)
    notice = apply_sketch(drawn, sketch, DraftDay(over=None, another=False)).thread.notice
    assert notice is not None
    assert notice.lines == (said,)


async def test_a_rule_of_a_kind_that_only_the_engine_knows_is_kept_too() -> None:
    pause = version_of("pause", necessity="must", rule_kind="buffer", scalar_params={"duration_min": 30})
    blocks = [block(1, "10:30", 90), block(2, "13:15", 30)]
    model = ScriptedModel(answer(*blocks), answer(*blocks))
    sketch = await sketch_day(knowing(make_session(), pause), model, now=MORNING)
    assert len(model.prompts) == 2
    assert list_blocks(sketch) == ["10:30 Report", "12:30 Lunch", "13:45 Mail"]


async def test_what_cannot_be_mended_is_our_own_draft_and_says_so() -> None:
    """All that a model places cannot be kept clear of that: there is not enough time left for it."""
    tasks = InputFacts(tasks=(task("Report", 120), task("Mail", 240)))
    now = knowing(make_session().with_day(inputs=tasks), avoiding("late", "14:00", "18:00"))
    blocks = [block(1, "10:00", 120), block(2, "13:30", 240)]
    sketch = await sketch_day(now, ScriptedModel(answer(*blocks), answer(*blocks)), now=MORNING)
    assert (sketch.plan, sketch.trouble) == (None, NO_USE)


async def test_rules_that_contradict_each_other_do_not_keep_a_model_from_drafting() -> None:
    """It follows those that our own draft can follow."""
    never = avoiding("never", "00:00", "23:55", confidence=0.4)
    enough = version_of("enough", necessity="must", rule_kind="capacity", scalar_params={"duration_min": 60})
    sketch = await sketch_day(
        knowing(make_session(), never, enough), ScriptedModel(answer(*GOOD), answer(*GOOD)), now=MORNING
    )
    assert sketch.trouble is None
    assert sketch.plan is not None


MAIL_FIRST = version_of("first", description="eerst de mail", necessity="must", day_rule="BEFORE deep_work: admin_done")
WITH_MAIL = (task("Report", 90), task("Mail", 30, details=TaskDetails(kind=TaskKind.SHALLOW)))
IN_ORDER = answer(block(2, "10:00", 30), block(1, "13:30", 90))
OUT_OF_ORDER = answer(block(1, "10:00", 90), block(2, "16:00", 30))


def in_order(*rules: Version) -> Session:
    return knowing(session(Stage.CAPTURE_INPUTS, STANDUP, inputs=InputFacts(tasks=WITH_MAIL)), *rules)


async def test_a_draft_that_breaks_the_order_of_the_day_goes_back_once() -> None:
    """The prompt names the rule, in the person's words and in plain ones, and the blocks that break it."""
    model = ScriptedModel(OUT_OF_ORDER, IN_ORDER)
    assert list_blocks(await sketch_day(in_order(MAIL_FIRST), model, now=MORNING)) == [
        "10:00 Mail",
        "12:30 Lunch",
        "13:30 Report",
    ]
    [(_, mistake)] = model.prompts[1].history
    assert mistake == (
        "On 1 February 2026 you said: “eerst de mail”. When there is a block of deep work, admin work must be over by then. These break it: "
        "“Report” (10:00–11:30). Put what it waits for before it, or move it back. It must be kept; put the blocks "
        "elsewhere."
    )


async def test_one_that_breaks_it_again_gives_way_to_our_own_draft() -> None:
    sketch = await sketch_day(in_order(MAIL_FIRST), ScriptedModel(OUT_OF_ORDER, OUT_OF_ORDER), now=MORNING)
    assert (sketch.plan, sketch.trouble) == (None, NO_USE)


@pytest.mark.parametrize("rule", [{"necessity": "should"}, {"day_rule": "BEFORE deep_work: habit_done"}])
async def test_what_only_should_be_or_what_our_own_draft_cannot_keep_holds_no_draft_back(rule: dict[str, Any]) -> None:
    fields = {"necessity": "must", "day_rule": "BEFORE deep_work: admin_done", **rule}
    model = ScriptedModel(OUT_OF_ORDER)
    sketch = await sketch_day(in_order(version_of("first", **fields)), model, now=MORNING)
    assert list_blocks(sketch) == ["10:00 Report", "12:30 Lunch", "16:00 Mail"]
    assert len(model.prompts) == 1


async def test_an_order_that_is_kept_in_another_way_breaks_nothing() -> None:
    """One mail before the report is enough; a draft of our own would put all of them there."""
    tasks = (*WITH_MAIL, task("Post", 30, details=TaskDetails(kind=TaskKind.SHALLOW)))
    now = knowing(session(Stage.CAPTURE_INPUTS, STANDUP, inputs=InputFacts(tasks=tasks)), MAIL_FIRST)
    model = ScriptedModel(answer(block(2, "10:00", 30), block(1, "13:30", 90), block(3, "16:00", 30)))
    assert list_blocks(await sketch_day(now, model, now=MORNING)) == [
        "10:00 Mail",
        "12:30 Lunch",
        "13:30 Report",
        "16:00 Post",
    ]
