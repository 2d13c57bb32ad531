"""A must that only the person can judge is asked about before a write, once a day (K9, S288)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.factories.words import block, patch, wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import ANNA, Harness, Person
from tests.unit.conversation.sessions import make_command, plan_session, task, turn

from fateforger.conversation.turn_runs import run_turn
from fateforger.conversation.turn_values import WriteCalendar
from fateforger.memory.versions import Version
from fateforger.session.checks import open_musts
from fateforger.session.commands.rules import ConfirmKept
from fateforger.session.messages import Notice
from fateforger.session.model import Session
from fateforger.session.pending import held_question
from fateforger.session.stages import TimeboxingStage

Stage = TimeboxingStage
DOGS = "On 1 February 2026 you said: “walk the dogs before anything else”."


def must(uid: str = "dogs", **fields: Any) -> Version:
    words = {"description": "walk the dogs before anything else"}
    return version_of(uid, **{"user": ANNA, "necessity": "must", **words, **fields})


async def remember(harness: Harness, *versions: Version) -> None:
    await harness.store.constraints.write(versions, cause=f"told {versions[0].record.words}")


def words(now: Session) -> str:
    notice = now.thread.notice or Notice(lines=())
    return " ".join(notice.lines)


@pytest.mark.parametrize("write", ["commit", "refine"])
async def test_a_must_in_words_is_asked_about_before_the_commit(anna: Person, harness: Harness, write: str) -> None:
    """S288, K9: one tap answers, and that goes on with the commit."""
    await remember(harness, must())
    await anna.to_refine("Report")
    await anna.pick("set_calendar_write", write)
    await anna.press("Commit to calendar")
    assert harness.on_calendar() == {}
    assert f"only you can tell whether it keeps what you want kept.\n{DOGS}\nDoes the plan keep that?" in anna.words
    await anna.press("Yes, it does")
    assert (await anna.session()).stage is Stage.REVIEW_COMMIT
    assert "Report" in harness.on_calendar()


async def test_it_is_asked_once_a_day_and_again_when_it_changes(anna: Person, harness: Harness) -> None:
    """S288: another version of the rule is another question; another day, too."""
    await remember(harness, must())
    await anna.to_refine("Report")
    await anna.press("Commit to calendar")
    await anna.press("Yes, it does")
    await anna.press("Back to refine")
    await anna.choose("Report", "15 min later")
    assert "Does the plan keep" not in anna.words
    assert harness.on_calendar()["Report"] == "09:15-10:15"
    await remember(harness, must(description="walk the dogs first", at="2026-03-02T07:00:00+00:00"))
    await anna.choose("Report", "15 min later")
    assert harness.on_calendar()["Report"] == "09:15-10:15"
    assert "“walk the dogs first”" in anna.words


async def test_no_leaves_everything_as_it_is(anna: Person, harness: Harness) -> None:
    """S288"""
    await remember(harness, must())
    await anna.to_refine("Report")
    await anna.press("Commit to calendar")
    await anna.press("No, I change the plan")
    assert harness.on_calendar() == {}
    assert "Yes, it does" not in anna.labels()
    await anna.press("Commit to calendar")
    assert "Yes, it does" in anna.labels()


async def test_several_are_one_question(anna: Person, harness: Harness) -> None:
    await remember(harness, must(), must("call", description="call mum in the breaks"))
    await anna.to_refine("Report")
    await anna.press("Commit to calendar")
    assert "“call mum in the breaks”" in anna.words
    assert "Does the plan keep all of that?" in anna.words
    await anna.press("Yes, it does")
    assert (await anna.session()).stage is Stage.REVIEW_COMMIT


def refining(*rules: Version) -> Session:
    now = plan_session(Stage.REFINE, task("Report", 60), task("Mail", 60))
    return now.with_options(calendar_write="commit").with_rules(said=rules)


async def test_words_answer_it_and_an_old_answer_does_nothing() -> None:
    """S288, S214: a yes to the card is the same as its button."""
    now = refining(must(user="U1"))
    asked = (await run_turn(turn(now, make_command("stage_action", move="proceed")))).session
    question = held_question(asked)
    assert question is not None
    assert (question.sentence, question.awaits_yes) == (f"{DOGS} Does the plan keep that?", True)
    out = await run_turn(
        turn(asked, make_command("user_reply", text="ja hoor")), ScriptedModel(wants("accept_pending"))
    )
    assert [type(effect) for effect in out.effects] == [WriteCalendar]
    assert [type(command) for command in out.heard] == [ConfirmKept]
    stale = (await run_turn(turn(asked, make_command("confirm_kept", seen="another")))).session
    assert (stale.rules.kept, stale.stage) == ((), Stage.REFINE)


NO_CALLS = must(
    "calls",
    user="U1",
    description="no calls before 10",
    rule_kind="avoid_window",
    windows=[{"kind": "avoid", "start": "00:00", "end": "10:00"}],
    applies_event_types=["M"],
)


@pytest.mark.parametrize("kind", ["SW", "DW", "PR"])
async def test_a_block_at_a_forbidden_time_is_asked_about_whatever_kind_it_is_said_to_be(kind: str) -> None:
    """S288, K9, S175: “fit the vendor demo in at 8” is a call, under any kind that a model gives it."""
    now = refining(NO_CALLS)
    model = ScriptedModel(wants("change"), patch(block("Vendor demo", "08:00", 30, kind)))
    changed = (await run_turn(turn(now, make_command("user_reply", text="fit the vendor demo in at 8")), model)).session
    assert open_musts(now) == ()
    asked = (await run_turn(turn(changed, make_command("stage_action", move="proceed")))).session
    assert asked.stage is Stage.REFINE
    assert "“no calls before 10”. At that time: “Vendor demo” (08:00–08:30)." in words(asked)


async def test_what_a_draft_placed_and_what_is_no_work_is_not_asked_about() -> None:
    """The list says what kind a task is; “no work” leaves the gym where it is."""
    work = must(
        "work",
        user="U1",
        rule_kind="avoid_window",
        windows=[{"kind": "avoid", "start": "17:30", "end": "00:00"}],
        applies_event_types=["DW", "SW", "PR"],
    )
    now = refining(NO_CALLS, work)
    assert open_musts(now) == ()
    model = ScriptedModel(wants("change"), patch(block("Gym", "18:00", 60, "H")))
    changed = (await run_turn(turn(now, make_command("user_reply", text="gym at six")), model)).session
    assert open_musts(changed) == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"rule_kind": "capacity", "scalar_params": {"duration_max": 240}},
        {"rule_kind": "sequencing", "applies_event_types": ["DW", "SW"]},
        {"day_rule": "NEVER: meeting_after_17"},
        {"aspect_classification": {"frame_slot": "bedtime", "schedule_start": "22:00"}},
        {"aspect_classification": {"frame_slot": "routine:gym"}, "scalar_params": {"duration_min": 60}},
    ],
    ids=["a number", "an order of kinds", "a day rule", "an end of the day", "a routine"],
)
def test_what_code_can_check_is_not_asked(fields: dict[str, Any]) -> None:
    assert open_musts(refining(must(user="U1", **fields))) == ()
    assert open_musts(refining(must(user="U1"))) != ()
