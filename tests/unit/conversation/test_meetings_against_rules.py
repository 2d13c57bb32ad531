"""Meetings of the calendar that break a rule of the person: named once, and settled by one tap or in words (S287)."""

from __future__ import annotations

from datetime import time, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.factories.wishes import rule, wish
from tests.factories.words import wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import ANNA, Harness, Person, meeting, open_harness_at
from tests.unit.conversation.rules import CALLS, avoiding, knowing
from tests.unit.conversation.sessions import MONDAY, at, event, session

from fateforger.conversation.memory_node import NOT_THOSE
from fateforger.memory.versions import Version
from fateforger.session.cards import Button
from fateforger.session.commands.plan import RefreshCalendar
from fateforger.session.memory import AllowedMeeting
from fateforger.session.model import Session
from fateforger.session.pending import PendingKind, pending_questions
from fateforger.session.stages import TimeboxingStage

Stage = TimeboxingStage
EARLY = version_of(
    "early", user=ANNA, name="No meetings before 10", description="no meetings before 10", necessity="must",
    rule_kind="avoid_window", windows=[{"kind": "avoid", "start": "00:00", "end": "10:00"}], applies_event_types=["M"],
)  # fmt: skip
ASKED = "You have “Standup” at 09:30–09:45, and you said: “no meetings before 10”."
ONCE, CHANGE = "Just this once is fine", "Change the rule"


async def store_rules(harness: Harness, *versions: Version) -> None:
    """Put rules into the store."""
    await harness.store.constraints.write(versions or (EARLY,), cause="told")


async def look(anna: Person) -> None:
    """Read the calendar again in the background, as the watcher does."""
    await anna.coordinator.handle(RefreshCalendar(command_id=anna._id(), session_id=anna.session_id))
    await anna.read()


def list_questions(now: Session) -> list[str]:
    return [each.sentence for each in pending_questions(now) if each.kind is PendingKind.MEETING]


async def test_a_meeting_against_a_rule_is_named_and_allowed_once(anna: Person, harness: Harness) -> None:
    """Undo takes it back, and no event is touched."""
    await store_rules(harness)
    meeting(harness, "Standup", "09:30", "09:45")
    before = harness.calendar.store.get_live_events()
    await anna.to_frame()
    assert anna.words.count(ASKED) == 1
    await anna.press(ONCE)
    assert ASKED not in anna.words
    assert "Fine this once: “Standup”. “No meetings before 10” still counts." in anna.words
    await anna.press("Undo")
    assert ASKED in anna.words
    assert "“No meetings before 10” counts for “Standup” again." in anna.words
    assert harness.calendar.store.get_live_events() == before


async def test_it_is_asked_once_for_a_rule_a_meeting_and_a_day(anna: Person, harness: Harness) -> None:
    """Not at another step, after a restart, or in another thread; a further meeting is another question."""
    await store_rules(harness)
    meeting(harness, "Standup", "09:30", "09:45")
    await anna.to_frame()
    await anna.press(ONCE)
    await anna.press("Continue")
    assert ONCE not in anna.labels()
    harness.restart()
    await anna.press("Back")
    assert ONCE not in anna.labels()
    meeting(harness, "Call", "08:30", "09:00")
    await look(anna)
    assert "You have “Call” at 08:30–09:00, and you said: “no meetings before 10”." in anna.words
    again = Person(harness)
    await again.to_frame()
    assert "“Call”" in again.words
    assert "“Standup” at" not in again.words


async def test_it_stays_on_its_card_and_is_not_on_the_next_one(anna: Person, harness: Harness) -> None:
    """It holds up nothing: who goes on has seen it."""
    await store_rules(harness)
    meeting(harness, "Standup", "09:30", "09:45")
    await anna.to_frame()
    await anna.pick("set_day_end", time(19))
    assert anna.words.count(ASKED) == 1
    for step in ("Continue", "Back"):
        await anna.press(step)
        assert ASKED not in anna.words
    again = Person(harness)
    await again.to_frame()
    assert ASKED not in again.words
    assert harness.on_calendar() == {"Standup": "09:30-09:45"}


async def test_the_rule_is_changed_instead(anna: Person, harness: Harness) -> None:
    """By the form of the rule; its Undo brings the question back."""
    await store_rules(harness)
    meeting(harness, "Standup", "09:30", "09:45")
    await anna.to_frame()
    (change,) = [each for each in anna.controls() if isinstance(each, Button) and each.label == CHANGE]
    assert await anna.fill("rule", target=change.target, times="0-9") is None
    assert ONCE not in anna.labels()
    await anna.press("Undo")
    assert ASKED in anna.words


async def test_what_is_allowed_frees_no_time_for_the_plan(anna: Person, harness: Harness) -> None:
    """The rule still counts for the person's own blocks."""
    await store_rules(
        harness, avoiding("quiet", "00:00", "11:00", user=ANNA, name="Quiet", description="nothing before 11")
    )
    meeting(harness, "Standup", "09:30", "09:45")
    await anna.to_frame()
    await anna.press(ONCE)
    await anna.press("Continue")
    await anna.fill("tasks", title_1="Report", minutes_1=60)
    assert "11:00–12:00" in anna.words


async def test_meetings_that_changed_meanwhile_are_not_allowed(anna: Person, harness: Harness) -> None:
    await store_rules(harness)
    meeting(harness, "Standup", "09:30", "09:45")
    await anna.to_frame()
    (once,) = [each for each in anna.controls() if isinstance(each, Button) and each.label == ONCE]
    meeting(harness, "Call", "08:30", "09:00")
    await look(anna)
    await anna.click(once.action, once.target)
    assert NOT_THOSE in anna.words
    assert "You have “Call” at 08:30–09:00 and “Standup” at 09:30–09:45, and you said" in anna.words


@pytest.mark.parametrize(
    ("answers", "line"),
    [
        ((wants("accept_pending", number=1),), "Fine this once: “Standup”. “No meetings before 10” still counts."),
        ((wants("accept_pending"),), "Fine this once: “Standup”. “No meetings before 10” still counts."),
        (
            (wants("memory"), wish("memory_archive_constraint", 1)),
            "“No meetings before 10” is put away; I won't use it any more.",
        ),
        (
            (
                wants("memory"),
                wish(
                    "memory_update_constraint",
                    1,
                    rule=rule(windows=[{"kind": "avoid", "start": "00:00", "end": "09:00"}]),
                ),
            ),
            "“No meetings before 10” is changed.",
        ),
    ],
    ids=["that one", "yes", "the rule is over", "another time"],
)
async def test_it_is_answered_in_words(tmp_path: Path, answers: tuple[Any, ...], line: str) -> None:
    model = ScriptedModel(*answers)
    harness = await open_harness_at(tmp_path, model=model)
    try:
        anna = Person(harness)
        await store_rules(harness)
        meeting(harness, "Standup", "09:30", "09:45")
        await anna.to_frame()
        await anna.says("…")
        assert line in anna.words
        assert ONCE not in anna.labels()
    finally:
        await harness.close()
    for prompt in model.prompts:
        assert "You have “Standup” at 09:30–09:45, and you said: “no meetings before 10”." in prompt.user


def test_only_meetings_that_take_time_and_are_still_to_come_count() -> None:
    there = event("Standup", "09:30", "09:45")
    now = knowing(session(Stage.COLLECT_CONSTRAINTS, there), CALLS)
    assert list_questions(now) == ["You have “Standup” at 09:30–09:45, and you said: “no calls before 10, ever”."]
    assert list_questions(now.at_time(at("09:45"))) == []
    assert len(list_questions(now.at_time(at("09:44")))) == 1
    free = event("Standup", "09:30", "09:45", busy=False)
    assert list_questions(knowing(session(Stage.COLLECT_CONSTRAINTS, free), CALLS)) == []
    assert list_questions(knowing(session(Stage.COLLECT_CONSTRAINTS, event("Lunch", "10:00", "11:00")), CALLS)) == []


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        (avoiding("deep", "00:00", "10:00", applies_event_types=["DW"]), 0),
        (avoiding("friday", "00:00", "10:00", days_of_week=["FR"]), 0),
        (avoiding("soft", "00:00", "10:00", necessity="prefer"), 1),
        (version_of("most", rule_kind="capacity", scalar_params={"duration_max": 10}, applies_event_types=["M"]), 1),
    ],
    ids=["about other work", "on another day", "a preference", "too many minutes"],
)
def test_rules_of_the_day_that_are_about_meetings_count(rule: Version, found: int) -> None:
    now = knowing(session(Stage.CAPTURE_INPUTS, event("Standup", "09:30", "09:45")), rule)
    assert len(list_questions(now)) == found


def test_a_meeting_of_a_series_is_allowed_for_its_day() -> None:
    """The event of another day may have the same id."""
    now = knowing(session(Stage.CAPTURE_INPUTS, event("Standup", "09:30", "09:45")), CALLS)
    allowed = AllowedMeeting(rule="calls", meeting="standup", title="Standup", day=MONDAY)
    assert list_questions(now.with_rules(allowed=(allowed,))) == []
    other = allowed.model_copy(update={"day": MONDAY + timedelta(days=1)})
    assert len(list_questions(now.with_rules(allowed=(other,)))) == 1


def test_a_rule_that_nobody_said_is_not_put_into_their_mouth() -> None:
    assumed = avoiding("calls", "00:00", "10:00", source="system", description="mornings are quiet")
    now = knowing(session(Stage.REFINE, event("Standup", "09:30", "09:45")), assumed)
    assert list_questions(now) == ["You have “Standup” at 09:30–09:45, and a rule of yours says: “mornings are quiet”."]
