"""The history of a day in the thread: what was written when, by which click; undo and redo per row (P6, P7, P17)."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from pathlib import Path

import pytest
from tests.fakes.google_calendar import Answer
from tests.unit.conversation.person import Harness, Person, open_harness_at
from tests.unit.conversation.test_person_edits import drag

from fateforger.calendar.ports import Rejected, Unauthorized
from fateforger.planning.timing import FixedStart
from fateforger.session.cards import Note, Prose
from fateforger.session.stages import TimeboxingStage

DRAFT = {"Report": "09:00-10:00", "Mail": "10:10-11:10", "Lunch": "12:30-13:15"}


def rows(anna: Person) -> list[str]:
    """Return the rows of the history, one line each."""
    parts = anna.messages["history"].card.parts
    return [p.text.replace("\n", " | ") for p in parts if isinstance(p, Prose | Note) and p.text.strip("*")[2:3] == ":"]


def buttons(anna: Person) -> list[tuple[str, str, str | None]]:
    """Return label and question of each row's button, with the beginning of the row."""
    return [(text[:22], b.label, b.confirm) for text, b in anna.buttons_beside("history") if text]


async def three_changes(harness: Harness, anna: Person) -> None:
    """Make changes at 8:00, 8:01 and 8:02."""
    await anna.to_refine("Report", "Mail")
    for title, label in (("Mail", "15 min later"), ("Report", "15 min later"), ("Mail", "Remove")):
        await anna.choose(title, label)
        harness.clock.at = harness.clock.at.replace(minute=harness.clock.at.minute + 1)


async def test_three_changes_are_three_rows(harness: Harness, anna: Person) -> None:
    """Newest first, with local times, the click that did it, and counts in words; a row that is not the newest says
    what else its button does."""
    await three_changes(harness, anna)
    await anna.press("History")
    assert rows(anna) == [
        "**08:02 · Your change** | “Mail” is out of the plan. | _1 removed_",
        "**08:01 · Your change** | “Report” is now 09:15–10:15 (was 09:00–10:00). | _1 moved_",
        "**08:00 · Your change** | “Mail” is now 10:25–11:25 (was 10:10–11:10). | _4 added_",
    ]
    assert [(label, question) for _, label, question in buttons(anna)] == [
        ("Undo", None),
        ("Undo", "Undo “Your change” of 08:01? This also takes back the 1 write after it."),
        ("Undo", "Undo “Your change” of 08:00? This also takes back the 2 writes after it."),
    ]


async def test_undo_of_the_oldest_takes_back_all_and_redo_does_all_again(harness: Harness, anna: Person) -> None:
    """P6, P6b, P17, S240: the plan goes with the calendar, and so do the changes that can be taken back one by one."""
    await three_changes(harness, anna)
    before, shown = await anna.session(), harness.on_calendar()
    await anna.press("History")
    await anna.press_beside("history", "Undo", row="08:00")
    assert harness.on_calendar() == {}
    session = await anna.session()
    assert (session.planning.plan, session.sync.refine_undo) == (before.sync.refine_undo[0].plan_before, ())
    assert (session.sync.write_group, session.sync.written) == (None, None)
    assert "Taken back: I removed 3 blocks from your calendar." in anna.words
    assert "Taken back: I removed 3 blocks from your calendar." in anna.beside("history")
    assert rows(anna) == [
        "**08:03 · Undo** | Removed “Report” 09:15–10:15 | Removed “Lunch” 12:30–13:15 | Removed “Shut down” 17:30–18:00 | _3 removed_",
        "08:02 · Your change · 1 removed · taken back",
        "08:01 · Your change · 1 moved · taken back",
        "08:00 · Your change · 4 added · taken back",
    ]
    harness.restart()
    await anna.press_beside("history", "Restore")
    assert harness.on_calendar() == shown
    session = await anna.session()
    assert (session.planning.plan, session.sync.refine_undo) == (before.planning.plan, before.sync.refine_undo)
    assert (session.sync.write_group, session.sync.written) == (before.sync.write_group, before.sync.written)
    assert "Done again: I added 3 blocks to your calendar." in anna.beside("history")
    assert [row.split(" | ")[0] for row in rows(anna)] == [
        "**08:03 · Restore**",
        "08:03 · Undo · 3 removed · done again",
        "**08:02 · Your change**",
        "**08:01 · Your change**",
        "**08:00 · Your change**",
    ]
    assert [label for _, label, _ in buttons(anna)] == ["Undo"] * 3
    await anna.press("Undo last update")
    assert (harness.on_calendar()["Mail"], harness.on_calendar()["Report"]) == ("10:25-11:25", "09:15-10:15")
    await anna.press("Take all of it off the calendar")
    assert harness.on_calendar() == {}


async def test_undo_in_the_middle_keeps_what_was_before(harness: Harness, anna: Person) -> None:
    await three_changes(harness, anna)
    await anna.press("History")
    await anna.press_beside("history", "Undo", row="08:01")
    assert harness.on_calendar() == {"Report": "09:00-10:00", "Mail": "10:25-11:25", "Lunch": "12:30-13:15"}
    session = await anna.session()
    assert [step.sentence for step in session.sync.refine_undo] == ["“Mail” is now 10:25–11:25 (was 10:10–11:10)."]
    assert session.sync.written is not None
    assert (session.sync.written.created, session.sync.written.updated) == (4, 0)
    await anna.choose("Report", "15 min later")
    assert "Calendar: 1 updated." in anna.words


async def test_undo_last_update_can_be_redone_from_the_history(harness: Harness, anna: Person) -> None:
    """P6b"""
    await three_changes(harness, anna)
    before, shown = await anna.session(), harness.on_calendar()
    await anna.press("Undo last update")
    await anna.press("History")
    assert rows(anna)[0].startswith("**08:03 · Undo last update** | Added “Mail” 10:25–11:25")
    await anna.press_beside("history", "Restore")
    session = await anna.session()
    assert harness.on_calendar() == shown
    assert (session.planning.plan, session.sync.refine_undo, session.sync.written) == (
        before.planning.plan,
        before.sync.refine_undo,
        before.sync.written,
    )


async def test_an_undo_that_came_to_nothing_has_its_row(harness: Harness, anna: Person) -> None:
    """Also a list that does not show it is out of date."""
    await anna.to_refine("Report")
    await anna.choose("Report", "15 min later")
    harness.clock.at += timedelta(minutes=1)
    for event_id in harness.calendar.store.get_live_events():
        harness.calendar.store.user_delete(event_id)
    await anna.press("History")
    (_, button), *_ = [(t, b) for t, b in anna.buttons_beside("history") if t]
    await anna.press_beside("history", "Undo", row="08:00")
    assert rows(anna) == [
        "08:01 · Undo · there was nothing left to change · nothing was written",
        "08:00 · Your change · 3 added · taken back",
    ]
    assert [label for label, _, _ in buttons(anna)] == []
    await anna.click(button.action, button.target)
    assert "That was undone already." in anna.beside("history")


async def test_a_stale_row_does_nothing_and_says_so(harness: Harness, anna: Person) -> None:
    """S89: a write came in between, and a row that was undone already."""
    await three_changes(harness, anna)
    await anna.press("History")
    (_, newest), *_, (_, oldest) = [(t, b) for t, b in anna.buttons_beside("history") if t]
    await anna.choose("Lunch", "15 min later")
    shown = harness.on_calendar()
    await anna.click(oldest.action, oldest.target)
    assert harness.on_calendar() == shown
    assert "Something was written after that list was made, so I did nothing." in anna.beside("history")
    assert "Something was written after that list was made, so I did nothing." in anna.words
    assert len(rows(anna)) == 4
    await anna.press_beside("history", "Undo", row="08:02")
    await anna.click(newest.action, newest.target)
    assert "That was undone already." in anna.beside("history")


async def test_own_edits_survive_and_the_plan_agrees(harness: Harness, anna: Person) -> None:
    """P7, S90, S239: a block that was dragged keeps its place on the calendar and in the plan."""
    await three_changes(harness, anna)
    await anna.press("History")
    drag(harness, "Lunch", 60)
    await anna.press_beside("history", "Undo", row="08:01")
    assert harness.on_calendar() == {"Report": "09:00-10:00", "Mail": "10:25-11:25", "Lunch": "13:30-14:15"}
    assert [row.split(" ·")[0] for row in anna.rows()] == [
        "**09:00–10:00** Report ⭐", "**10:25–11:25** Mail", "**13:30–14:15** Lunch", "**17:30–18:00** Shut down",
    ]  # fmt: skip


async def test_partly_done_and_waiting_writes_can_be_taken_back(harness: Harness, anna: Person) -> None:
    """S236: both say how they stand, and an undo takes back what there is of them."""
    await anna.to_refine("Report", "Mail")
    harness.calendar.inject(Answer(Rejected("No.")), verb="create", nth=1)
    await anna.choose("Mail", "15 min later")
    await anna.press("History")
    assert rows(anna)[0].startswith("**08:00 · Your change** · partly done | “Mail” is now")
    assert rows(anna)[0].endswith("_3 added, 1 not done_")
    harness.calendar.inject(Answer(Unauthorized("Log in again.")), verb="create")
    await anna.press("Try again")
    assert rows(anna)[0].startswith("**08:00 · Try again** · waiting to go on")
    await anna.press_beside("history", "Undo", row="Your change")
    assert harness.on_calendar() == {}
    session = await anna.session()
    assert (session.sync.problem, session.sync.written, session.sync.refine_undo) == (None, None, ())


async def test_a_commit_is_taken_back_and_the_plan_stays(tmp_path: Path) -> None:
    """S53: from the committed day back to Refine; later changes that were not written yet are not lost."""
    harness = await open_harness_at(tmp_path, calendar_write="commit")
    anna = Person(harness)
    await anna.to_committed("Report", "Mail")
    await anna.press("History")
    (row,) = rows(anna)
    assert row.startswith(
        "**08:00 · Plan committed** | Added “Report” 09:00–10:00 | Added “Mail” 10:10–11:10 | Added “Lunch”"
    )
    await anna.press_beside("history", "Undo")
    session = await anna.session()
    assert (session.stage, harness.on_calendar()) == (TimeboxingStage.REFINE, {})
    await anna.choose("Mail", "15 min later")
    plan = (await anna.session()).planning.plan
    await anna.press_beside("history", "Restore")
    assert (harness.on_calendar(), (await anna.session()).planning.plan) == (DRAFT, plan)
    await harness.close()


async def test_changes_that_were_restored_are_taken_back_on_the_calendar(harness: Harness, anna: Person) -> None:
    """S462: Undo takes all off the calendar, Restore puts all back; then each change is undone there, and only once."""
    await anna.to_committed("Report", "Mail")
    first = harness.on_calendar()
    await anna.press("Back to refine")
    await anna.choose("Mail", "15 min later")
    second = harness.on_calendar()
    await anna.choose("Lunch", "15 min later")
    await anna.press("Commit to calendar")
    await anna.press("Undo")
    await anna.press("History")
    await anna.press_beside("history", "Restore")
    assert "Your calendar matches this plan." in anna.words
    await anna.press("Undo last update")
    assert harness.on_calendar() == second
    await anna.press("Undo last update")
    assert harness.on_calendar() == first
    assert (await anna.session()).sync.refine_undo == ()


async def test_an_earlier_session_of_the_day_is_in_the_history(harness: Harness, anna: Person) -> None:
    """And can be taken back from the new thread, whose own plan it does not touch."""
    await anna.to_committed("Report", "Mail")
    later = Person(harness)
    await later.start(thread="9.0")
    await later.press("Plan this day")
    assert "Also 4 blocks from an earlier plan of mine" in later.words
    await later.press("History")
    assert rows(later)[0].startswith("**08:00 · Plan committed, in another thread** | Added “Report”")
    await later.press_beside("history", "Undo")
    session = await later.session()
    assert (harness.on_calendar(), session.planning.plan, session.stage) == (
        {},
        None,
        TimeboxingStage.COLLECT_CONSTRAINTS,
    )


async def test_a_long_history_is_listed_in_parts(harness: Harness, anna: Person) -> None:
    """Entries are not cut silently."""
    await anna.to_refine("Report")
    for _ in range(6):
        await anna.choose("Report", "15 min later")
        await anna.choose("Report", "15 min earlier")
    await anna.press("History")
    assert (len(rows(anna)), "4 entries before these." in anna.beside("history")) == (8, True)
    await anna.press_beside("history", "Show older")
    assert (len(rows(anna)), "before these" in anna.beside("history")) == (12, False)


async def test_the_history_is_closed_and_opened_again_further_down(harness: Harness, anna: Person) -> None:
    """Looking changes neither the plan nor what its card says; a click opens it at the end of the thread."""
    await three_changes(harness, anna)
    said, count = anna.words, len(anna.arrived)
    await anna.press("History")
    await anna.press("History")
    opened = anna.arrived[-1]
    assert (opened.stays, opened.beside, opened.retire) == (False, True, ("history",))
    await anna.press_beside("history", "Close history")
    assert anna.beside("history") == "History of Monday 2 March: 3 entries."
    assert (anna.arrived[-1].stays, anna.words) == (True, said)
    assert [m.slot for m in anna.arrived[count:]] == ["history"] * 3
    await anna.choose("Report", "15 min later")
    assert [m.slot for m in anna.arrived[count + 3 :]] == ["stage:4"]


async def at_the_command_line(harness: Harness, anna: Person) -> None:
    """Apply the thread's plan from the command line, with each block an hour later."""
    plan = (await anna.session()).planning.plan
    assert plan is not None
    blocks = [
        event.model_copy(
            update={"timing": FixedStart(start=(start + timedelta(hours=1)).time(), duration=event.timing.duration)}
        )
        for event in plan.events
        if isinstance(event.timing, FixedStart) and isinstance(event.timing.start, time)
        for start in [datetime.combine(plan.date, event.timing.start)]
    ]
    await harness.submitter.submit_plan(plan.replace(blocks), cause="door-1")


@pytest.mark.parametrize("label", ["Undo", "Undo last update"])
async def test_an_undo_takes_along_what_the_command_line_wrote_since(
    harness: Harness, anna: Person, label: str
) -> None:
    """K13: both buttons go back to before the named change, list the other writes taken back, and blame no one."""
    await anna.to_refine("Report", "Mail")
    if label == "Undo":
        await anna.press("Commit to calendar")
    else:
        await anna.choose("Mail", "15 min later")
    written = harness.on_calendar()
    await at_the_command_line(harness, anna)
    assert harness.on_calendar() != written
    await anna.press(label)
    assert harness.on_calendar() == {}
    assert "This also took back later writes: 1 made from the command line." in anna.words
    assert "you changed it since" not in anna.words
    history = await harness.submitter.history((await anna.session()).date)
    assert [t.state.value for t in history] == ["committed", "undone", "undone"]
    assert (await anna.session()).sync.written is None
