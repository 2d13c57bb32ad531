"""A whole day through the coordinator, over the SQL store, the sync engine and a calendar with Google's semantics."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from tests.unit.conversation.person import MONDAY, Harness, Person, meeting, open_harness_at

from fateforger.session.model import SessionStatus
from fateforger.session.stages import TimeboxingStage


async def test_from_start_to_committed_in_seven_deeds_and_back(harness: Harness, anna: Person) -> None:
    """S51, S53, S85, S238: three tasks, at most eight clicks and submits; Undo puts the calendar back exactly."""
    meeting(harness, "Standup", "09:30", "10:00")
    before = harness.on_calendar()
    raw = harness.calendar.store.get_live_events()

    await anna.start()
    await anna.press("Plan this day")
    await anna.press("Continue")
    await anna.fill(
        "tasks",
        title_1="Write report",
        minutes_1=90,
        title_2="Call Bo",
        minutes_2=30,
        kind_2="shallow",
        title_3="Review",
        one_thing="1",
    )
    await anna.press("Refine")
    await anna.press("Commit to calendar")

    # Opening the form was the seventh deed.
    assert anna.deeds + 1 == 7
    assert anna.root == "Monday 2 March: on your calendar, 5 blocks"
    assert "**5 created**" in anna.words
    plan = {
        "Write report": "10:00-11:30",
        "Call Bo": "09:00-09:30",
        "Review": "13:25-14:25",
        "Lunch": "12:30-13:15",
    }
    assert harness.on_calendar() == before | plan

    await anna.press("Undo")
    assert harness.on_calendar() == before
    assert harness.calendar.store.get_live_events() == raw
    session = await anna.session()
    assert session.stage is TimeboxingStage.REFINE
    assert (session.sync.write_group, session.sync.written) == (None, None)
    assert len(anna.rows()) == 5

    await anna.press("Commit to calendar")
    assert harness.on_calendar() == before | plan
    assert "**5 created**" in anna.words


async def test_every_change_is_written_and_can_be_taken_back(harness: Harness, anna: Person) -> None:
    """K1, S51, S55, S240: in Refine each change reaches the calendar at once; Undo last update takes the plan and the
    calendar back."""
    await anna.to_refine("Report", "Mail")
    assert harness.on_calendar() == {}
    assert anna.rows()[0] == "**09:00–10:00** Report ⭐ · 1 h"
    await anna.choose("Mail", "15 min later")
    assert harness.on_calendar() == {"Report": "09:00-10:00", "Mail": "10:25-11:25", "Lunch": "12:30-13:15"}
    assert "Calendar: 4 created." in anna.words
    await anna.choose("Mail", "15 min later")
    assert harness.on_calendar()["Mail"] == "10:40-11:40"
    assert "Calendar: 1 updated." in anna.words

    await anna.press("Undo last update")
    assert harness.on_calendar()["Mail"] == "10:25-11:25"
    assert (
        "Your last change is taken back. “Mail” is now 10:25–11:25 (was 10:40–11:40).\nCalendar: 1 updated."
        in anna.words
    )
    await anna.press("Undo last update")
    assert harness.on_calendar() == {}
    assert "Undo last update" not in anna.labels()
    assert "Take all of it off the calendar" not in anna.labels()
    assert [r.split(" · ")[0] for r in anna.rows()] == [
        "**09:00–10:00** Report ⭐",
        "**10:10–11:10** Mail",
        "**12:30–13:15** Lunch",
        "**17:30–18:00** Shut down",
    ]


async def test_writing_only_on_commit(tmp_path: Path) -> None:
    """K1: with ``calendar_write`` on commit nothing is written before, and Undo last update is a matter of the plan."""
    harness = await open_harness_at(tmp_path, calendar_write="commit")
    anna = Person(harness)
    await anna.to_refine("Report", "Mail")
    await anna.choose("Mail", "15 min later")
    await anna.choose("Mail", "15 min later")
    assert harness.calendar.writes == []
    await anna.press("Undo last update")
    assert harness.calendar.writes == []
    assert "**10:25–11:25** Mail" in anna.words
    await anna.press("Commit to calendar")
    assert harness.on_calendar() == {"Report": "09:00-10:00", "Mail": "10:25-11:25", "Lunch": "12:30-13:15"}
    await anna.press("Undo")
    assert harness.on_calendar() == {}
    await harness.close()


async def test_committing_again_changes_nothing(harness: Harness, anna: Person) -> None:
    """S82"""
    await anna.to_committed()
    writes = len(harness.calendar.writes)
    await anna.press("Redo step")
    assert len(harness.calendar.writes) == writes
    assert "Already up to date: 5 unchanged" in anna.words
    assert "Since you began: 5 created." in anna.words


async def test_a_restart_between_any_two_deeds_loses_nothing(harness: Harness, anna: Person) -> None:
    """S241: every step goes on in a new process, Undo too."""
    await anna.start()
    harness.restart()
    await anna.press("Plan this day")
    harness.restart()
    await anna.press("Continue")
    harness.restart()
    await anna.fill("tasks", title_1="Report", minutes_1=60, one_thing="1")
    harness.restart()
    await anna.press("Refine")
    harness.restart()
    await anna.choose("Report", "15 min later")
    harness.restart()
    await anna.press("Commit to calendar")
    harness.restart()
    assert harness.on_calendar() == {"Report": "09:15-10:15", "Lunch": "12:30-13:15"}
    await anna.press("Undo")
    assert harness.on_calendar() == {}


async def test_a_correction_of_the_committed_plan_goes_to_refine_at_once(harness: Harness, anna: Person) -> None:
    """S52"""
    await anna.to_committed("Report", "Mail")
    session = await anna.session()
    mail = next(e.block_key for e in session.planning.plan.events if e.name == "Mail") if session.planning.plan else ""
    await anna.click("block.later", mail)
    assert (await anna.session()).stage is TimeboxingStage.REFINE
    assert harness.on_calendar()["Mail"] == "10:25-11:25"
    assert "“Mail” is now 10:25–11:25 (was 10:10–11:10)." in anna.words


async def test_cancel_ends_and_leaves_the_calendar(harness: Harness, anna: Person) -> None:
    """S57: later clicks, undo too, answer that the session has ended; what is on the calendar stays and is named."""
    await anna.to_committed("Report")
    undo = next(c for c in anna.controls() if getattr(c, "label", "") == "Undo")
    kept = harness.on_calendar()
    await anna.press("Close")
    assert (await anna.session()).status is SessionStatus.CANCELLED
    assert anna.words == "Monday 2 March is planned\nWhat I put on your calendar stays there."
    assert anna.controls() == []
    assert anna.root == "Monday 2 March: planned, on your calendar"
    await anna.click("undo_sync", getattr(undo, "target", ""))
    assert anna.asides[-1].text == (
        "This plan is closed, so nothing more happens here. What I put on your calendar stays there."
    )
    await anna.says("are you there?")
    assert len(anna.asides) == 2
    assert harness.on_calendar() == kept


async def test_a_second_session_takes_the_place_of_the_first(harness: Harness, anna: Person) -> None:
    """The day's earlier plan is named, replaced on commit, and back after Undo."""
    await anna.to_committed("Report")
    first = harness.on_calendar()
    bo = Person(harness)
    await bo.to_frame()
    assert "Also 3 blocks from an earlier plan of mine; a new plan takes their place." in bo.words
    await bo.press("Continue")
    await bo.fill("tasks", title_1="Paint", minutes_1=90)
    await bo.press("Refine")
    await bo.press("Commit to calendar")
    assert harness.on_calendar() == {"Paint": "09:00-10:30", "Lunch": "12:30-13:15"}
    await bo.press("Undo")
    assert harness.on_calendar() == first


async def test_one_message_per_turn(harness: Harness, anna: Person) -> None:
    """S115, S213: one card per turn; the first message only when its line changes; the card that was left loses its
    controls. A click changes the card where it is; words are answered below it."""
    await anna.start(date(2026, 3, 4))
    assert [(m.slot, m.retire) for m in anna.arrived] == [("root", ()), ("stage:0", ("stage:0",))]
    await anna.press("Plan this day")
    assert [(m.slot, m.retire) for m in anna.arrived[2:]] == [("root", ()), ("stage:1", ("stage:0",))]
    await anna.press("Redo step")
    assert [(m.slot, m.stays, m.reply) for m in anna.arrived[4:]] == [("stage:1", True, None)]
    await anna.says("hm")
    (said,) = anna.arrived[5:]
    assert (said.slot, said.retire, said.stays) == ("stage:1", ("stage:1",), False)
    assert said.reply is not None
    assert said.reply.parts[0] in said.card.parts
    assert said.without_reply().card.parts == tuple(p for p in said.card.parts if p not in said.reply.parts)


@pytest.mark.parametrize("hour", ["07", "17"])
async def test_after_six_in_the_evening_tomorrow_is_proposed(harness: Harness, anna: Person, hour: str) -> None:
    """S39: today is preselected, or tomorrow once the evening has begun."""
    from datetime import UTC, datetime

    harness.clock.at = datetime.fromisoformat(f"2026-03-02T{hour}:30:00").replace(tzinfo=UTC)
    await anna.start()
    assert (await anna.session()).date == (MONDAY if hour == "07" else date(2026, 3, 3))


async def test_the_entry_points_by_name(harness: Harness, anna: Person) -> None:
    """S58: start, commit date, user reply and stage action, each a typed message."""
    from tests.unit.conversation.person import AMSTERDAM, CHANNEL, MORNING

    from fateforger.session.commands.day import TimeboxingCommitDate
    from fateforger.session.commands.thread import StageAction, StartTimeboxing, TimeboxingUserReply
    from fateforger.session.stages import Move

    coordinator = harness.coordinator
    await coordinator.on_start(
        StartTimeboxing(command_id="1", user_id=anna.user, at=MORNING, channel=CHANNEL, tz=AMSTERDAM)
    )
    await anna.read()
    envelope = {"user_id": anna.user, "at": MORNING, "session_id": anna.session_id}
    await coordinator.on_commit_date(TimeboxingCommitDate(command_id="2", **envelope))
    assert (await anna.session()).stage is TimeboxingStage.COLLECT_CONSTRAINTS
    await coordinator.on_user_reply(TimeboxingUserReply(command_id="3", text="hello", **envelope))
    assert (await anna.session()).stage is TimeboxingStage.COLLECT_CONSTRAINTS
    await coordinator.on_stage_action(StageAction(command_id="4", move=Move.PROCEED, **envelope))
    assert (await anna.session()).stage is TimeboxingStage.CAPTURE_INPUTS
    assert (await anna.session()).thread.handled == ("1", "2", "3", "4")


async def test_when_the_calendar_is_written_is_said(harness: Harness, anna: Person, tmp_path: Path) -> None:
    """K1: people must not be surprised by changes to their calendar."""
    await anna.to_refine("Report")
    assert (
        "Your first change puts the plan on your calendar. From then on, each change goes there at once." in anna.words
    )
    await anna.choose("Report", "15 min later")
    assert "Your calendar matches this plan. Each change goes there at once." in anna.words
    (tmp_path / "other").mkdir()
    other = await open_harness_at(tmp_path / "other", calendar_write="commit")
    bo = Person(other)
    await bo.to_refine("Report")
    assert "Nothing goes to your calendar before you commit; Preview shows what would." in bo.words
    await other.close()


async def test_a_login_that_expires_while_writing(harness: Harness, anna: Person) -> None:
    """The rest waits, is named, and goes on with Try again."""
    from tests.fakes.google_calendar import Answer

    from fateforger.calendar.ports import Unauthorized

    await anna.to_refine("Report", "Mail")
    for nth in range(1, 3):
        harness.calendar.inject(Answer(Unauthorized("The login of your calendar has expired.")), verb="create", nth=nth)
    await anna.press("Commit to calendar")
    assert anna.card.text == "Only part of Monday 2 March is on your calendar."
    assert "The login of your calendar has expired" in anna.words
    assert anna.labels()[:2] == ["Try again", "Undo"]
    await anna.press("Try again")
    assert sorted(harness.on_calendar()) == ["Lunch", "Mail", "Report"]
    await anna.press("Undo")
    assert harness.on_calendar() == {}
