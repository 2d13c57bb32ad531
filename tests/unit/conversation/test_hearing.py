"""Words as commands: what each stage makes of a message, with how many questions to a model (K4, S94, S124)."""

from __future__ import annotations

from datetime import date, time
from typing import Any

import pytest
from tests.factories.words import also, block, build_move, build_removal, change, day, frame, inputs, new, patch, wants
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.sessions import event, make_command, plan_session, session, task, turn

from fateforger.conversation.language.message_reader import NOTHING, REMEDY, UNSURE
from fateforger.conversation.turn_runs import run_turn
from fateforger.conversation.turn_values import TurnOutcome, UndoGroup, WriteCalendar
from fateforger.errors import ModelAuthFailed, ModelTimedOut, ModelUnreachable
from fateforger.planning.task_details import TaskKind
from fateforger.session.messages import Notice
from fateforger.session.model import InputFacts, Session, SessionStatus, WriteCounts
from fateforger.session.placement import by_time
from fateforger.session.stages import TimeboxingStage
from fateforger.values import replace

Stage = TimeboxingStage


async def hear_reply(now: Session, *lines: Line, text: str = "…") -> tuple[TurnOutcome, ScriptedModel]:
    model = ScriptedModel(*lines)
    outcome = await run_turn(turn(now, make_command("user_reply", text=text)), model)
    assert len(model.prompts) == len(lines)
    return outcome, model


def words(outcome: TurnOutcome) -> tuple[str, ...]:
    return outcome.session.thread.notice.lines if outcome.session.thread.notice else ()


# --- moves ---


async def test_s227_the_date_is_confirmed_in_words() -> None:
    out, model = await hear_reply(session(Stage.DATE), wants("proceed"))
    assert (out.session.stage, model.asked) == (Stage.COLLECT_CONSTRAINTS, ["decide"])


@pytest.mark.parametrize(
    ("stage", "intent", "goal"),
    [
        (Stage.COLLECT_CONSTRAINTS, "proceed", Stage.CAPTURE_INPUTS),
        (Stage.CAPTURE_INPUTS, "proceed", Stage.SKELETON),
        (Stage.SKELETON, "proceed", Stage.REFINE),
        (Stage.REFINE, "proceed", Stage.REVIEW_COMMIT),
        (Stage.REFINE, "back", Stage.SKELETON),
        (Stage.SKELETON, "redo", Stage.SKELETON),
        (Stage.REVIEW_COMMIT, "back", Stage.REFINE),
    ],
)
async def test_a_move_in_words_is_the_buttons_move(stage: Stage, intent: str, goal: Stage) -> None:
    out, _ = await hear_reply(plan_session(stage), wants(intent))
    assert out.session.stage is goal


async def test_a_move_that_is_not_possible_is_refused_like_its_button() -> None:
    out, _ = await hear_reply(session(Stage.CAPTURE_INPUTS), wants("proceed"))
    assert out.session.stage is Stage.CAPTURE_INPUTS
    assert words(out)[0] == "There is nothing on your list yet, so there is nothing to plan."


async def test_cancel_in_words() -> None:
    out, _ = await hear_reply(plan_session(Stage.REFINE), wants("cancel"))
    assert out.session.status is SessionStatus.CANCELLED


async def test_undo_on_the_committed_plan_takes_all_of_it_back() -> None:
    now = plan_session(Stage.REVIEW_COMMIT, write_group="g1", written=WriteCounts(created=2))
    out, _ = await hear_reply(now, wants("undo"))
    assert out.effects == (UndoGroup(group="g1"),)


# --- facts ---


async def test_s94_another_day_in_words() -> None:
    out, model = await hear_reply(session(Stage.DATE), wants("answer"), day(date="2026-03-04"), text="Mittwoch")
    assert (out.session.date, model.asked) == (date(2026, 3, 4), ["decide", "date"])


async def test_s94_an_unclear_day_stays_and_is_asked() -> None:
    asked = "Which Friday do you mean, the 6th or the 13th?"
    out, _ = await hear_reply(session(Stage.DATE), wants("answer"), day(question=asked))
    assert (out.session.date, words(out)) == (session().date, (asked,))


async def test_the_frame_in_words() -> None:
    out, _ = await hear_reply(
        session(Stage.COLLECT_CONSTRAINTS), wants("answer"), frame(day_start="08:00", lunch_minutes=30)
    )
    now = out.session.day.frame
    assert (now.day_start, now.day_end, now.lunch_start, now.lunch_minutes) == (
        time(8),
        time(18),
        time(12, 30),
        30,
    )


async def test_no_lunch_in_words() -> None:
    out, _ = await hear_reply(session(Stage.COLLECT_CONSTRAINTS), wants("answer"), frame(no_lunch=True))
    assert out.session.day.frame.lunch_start is None


async def test_the_frame_and_on_in_one_message() -> None:
    out, model = await hear_reply(
        session(Stage.COLLECT_CONSTRAINTS), wants("answer", also("proceed")), frame(day_start="08:00")
    )
    assert (out.session.day.frame.day_start, out.session.stage) == (time(8), Stage.CAPTURE_INPUTS)
    assert model.asked == ["decide", "facts"]


async def test_a_frame_that_makes_no_sense_does_not_go_on() -> None:
    out, _ = await hear_reply(
        session(Stage.COLLECT_CONSTRAINTS), wants("answer", also("proceed")), frame(day_end="08:00")
    )
    assert out.session.stage is Stage.COLLECT_CONSTRAINTS
    assert out.gate.ready is False


async def test_tasks_in_words_at_any_step_before_refining() -> None:
    """A statement is not lost because it came early."""
    for stage in (Stage.COLLECT_CONSTRAINTS, Stage.CAPTURE_INPUTS):
        out, _ = await hear_reply(
            session(stage),
            wants("answer"),
            inputs(add=[new("Report", 90, one_thing=True), new("Mail", depth="shallow")]),
        )
        assert [(t.title, t.minutes, t.details.kind, t.one_thing) for t in out.session.day.inputs.tasks] == [
            ("Report", 90, TaskKind.DEEP, True),
            ("Mail", None, TaskKind.SHALLOW, False),
        ]


async def test_changes_and_removals_by_number() -> None:
    now = session(Stage.CAPTURE_INPUTS, inputs=InputFacts(tasks=(task("One"), task("Two"), task("Three"))))
    out, _ = await hear_reply(now, wants("answer"), inputs(change=[change(3, minutes=30)], remove=[1]))
    assert [(t.title, t.minutes) for t in out.session.day.inputs.tasks] == [("Two", 60), ("Three", 30)]


@pytest.mark.parametrize(
    ("said_", "sentence"),
    [
        (inputs(remove=[4]), "There is no number 4 in the list; the numbers are 1 to 1."),
        (inputs(add=[new("Nap", 2000)]), "A task takes between 1 minute and 24 hours, not 2000 minutes."),
        (inputs(add=[new("Nap", -5)]), "A task takes between 1 minute and 24 hours, not -5 minutes."),
    ],
)
async def test_what_makes_no_sense_is_said_and_changes_nothing(said_: dict[str, Any], sentence: str) -> None:
    now = session(Stage.CAPTURE_INPUTS, inputs=InputFacts(tasks=(task("One"),)))
    out, _ = await hear_reply(now, wants("answer"), said_)
    assert out.session.thread.notice == Notice(lines=(sentence,), refused=True)
    assert out.session.day.inputs == now.day.inputs


async def test_at_the_skeleton_facts_draft_the_day_anew() -> None:
    now = plan_session(Stage.SKELETON, task("Report"))
    out, _ = await hear_reply(now, wants("answer"), inputs(add=[new("Mail", 30)]))
    assert out.session.planning.plan is not None
    assert "Mail" in {e.name for e in out.session.planning.plan.events}
    assert out.session.stage is Stage.SKELETON


# --- the plan ---


def later(index: int, start: str, minutes: int) -> dict[str, Any]:
    return patch(build_move(index, start, minutes))


async def test_a_change_of_the_plan_in_words_takes_two_questions() -> None:
    now = plan_session(Stage.REFINE, task("Report", 60, one_thing=True), task("Mail", 30))
    out, model = await hear_reply(now, wants("answer"), later(0, "10:00", 60))
    assert model.asked == ["decide", "patch"]
    assert out.session.planning.plan is not None
    first = next(b for b in by_time(out.session.planning.plan) if b.event.name == "Report")
    assert f"{first.start:%H:%M}" == "10:00"
    assert [type(e) for e in out.effects] == [WriteCalendar]


async def test_s72_a_patch_that_does_not_fit_is_asked_for_again() -> None:
    now = plan_session(Stage.REFINE, task("Report"))
    wrong, right = {"ops": [build_removal(9)]}, later(0, "10:00", 60)
    out, model = await hear_reply(now, wants("answer"), wrong, right)
    ((_, mistake),) = model.prompts[-1].history
    assert mistake.startswith("There is no block b10; the blocks here are b1, b2")
    assert out.session.planning.plan != now.planning.plan


async def test_s72_a_patch_that_never_fits_changes_nothing() -> None:
    now = plan_session(Stage.REFINE, task("Report"))
    out, _ = await hear_reply(now, wants("answer"), *[{"ops": [build_removal(9)]}] * 5)
    assert out.session.planning.plan == now.planning.plan
    assert out.effects == ()
    assert words(out)[1] == REMEDY


async def test_s52_a_correction_of_the_committed_plan_goes_to_refine() -> None:
    now = plan_session(Stage.REVIEW_COMMIT, task("Report"))
    out, _ = await hear_reply(now, wants("answer"), later(0, "10:00", 60))
    assert out.session.stage is Stage.REFINE
    assert [type(e) for e in out.effects] == [WriteCalendar]


async def test_a_patch_cannot_name_what_is_not_ours() -> None:
    """Names are those of the person's own blocks; an answer with a key of its own goes back."""
    now = plan_session(Stage.REFINE, task("Report"), events=(event("Standup", "09:00", "09:30"),))
    forged = {**block("X", "16:00", 30), "key": "standup"}
    out, _ = await hear_reply(now, wants("answer"), patch(forged), patch(block("X", "16:00", 30)))
    assert out.session.planning.plan is not None
    assert "standup" not in {e.key for e in out.session.planning.plan.events}
    assert "X" in {e.name for e in out.session.planning.plan.events}


# --- questions and trouble ---


async def test_a_question_is_answered_and_changes_nothing() -> None:
    now = plan_session(Stage.REFINE)
    out, model = await hear_reply(now, wants("ask"), {"answer": "Because your lunch is at 12:30."})
    assert words(out) == ("Because your lunch is at 12:30.",)
    assert (out.session.planning.plan, out.effects, model.asked) == (now.planning.plan, (), ["decide", "ask"])


async def test_nothing_found_is_said() -> None:
    out, _ = await hear_reply(session(Stage.CAPTURE_INPUTS), wants("answer"), inputs())
    assert words(out) == (NOTHING,)


@pytest.mark.parametrize(
    "wrong",
    ["no idea", '{"wishes": [{"intent": "explode", "number": null, "words": null}], "rules": false, "language": null}'],
)
async def test_s124_a_failed_decision_is_no_move(wrong: str) -> None:
    """It counts as telling something, and the person reads that."""
    out, model = await hear_reply(session(Stage.CAPTURE_INPUTS), wrong, wrong, inputs(add=[new("Report")]))
    assert model.asked == ["decide", "decide", "facts"]
    assert out.session.stage is Stage.CAPTURE_INPUTS
    assert [t.title for t in out.session.day.inputs.tasks] == ["Report"]
    assert UNSURE in words(out)


@pytest.mark.parametrize("error", [ModelUnreachable("It is down."), ModelAuthFailed("The key was refused.")])
async def test_a_model_that_is_down_leaves_everything_as_it_is(error: Exception) -> None:
    now = plan_session(Stage.REFINE)
    out, _ = await hear_reply(now, error)
    assert out.session.thread.notice == Notice(lines=(str(error), REMEDY), refused=True, unread="…")
    assert replace(out.session, now=now.now).with_thread(notice=None) == now
    assert out.effects == ()


async def test_ids_never_reach_a_model() -> None:
    """S70: keys, event ids and the person's Slack id never reach the model."""
    now = plan_session(Stage.REFINE, task("Report"), events=(event("Standup", "09:00", "09:30"),))
    _, model = await hear_reply(now, wants("answer"), later(0, "10:00", 60))
    shown = "\n".join(p.user for p in model.prompts)
    keys = [e.block_key for e in now.planning.plan.events] if now.planning.plan else []
    assert [key for key in (*keys, "U1", "s1") if f"{key}" in shown.split()] == []


@pytest.mark.parametrize("clock", ["08:00Z", "08:00+02:00", "25:00", "eight"])
async def test_a_time_of_day_is_local_and_nothing_else(clock: str) -> None:
    """It goes back to the model; nothing is guessed."""
    out, model = await hear_reply(
        session(Stage.COLLECT_CONSTRAINTS), wants("answer"), frame(day_start=clock), frame(day_start="08:00:30")
    )
    assert out.session.day.frame.day_start == time(8)
    assert len(model.prompts[-1].history) == 1


@pytest.mark.parametrize("stage", Stage)
async def test_a_model_that_is_too_slow_moves_nothing(stage: Stage) -> None:
    """S124: at every step; what the person reads is short, and says what does the same."""
    now, slow = plan_session(stage), ModelTimedOut("The language model took too long to answer.")
    out, model = await hear_reply(now, slow, slow)
    assert words(out) == (slow.message, REMEDY)
    assert (out.session.stage, out.effects, model.asked[0]) == (stage, (), "decide")
