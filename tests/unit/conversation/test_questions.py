"""Both changed the same: nothing is decided for the person, who is asked with two buttons (S200, S201)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.fakes.google_calendar import Answer as Reply
from tests.fakes.google_calendar import CallFailure
from tests.unit.conversation.person import Harness, Person, open_harness_at

from fateforger.calendar.event import EventImage
from fateforger.calendar.ports import Rejected
from fateforger.conversation.plan_nodes import ASKED_ANEW, NOT_ASKED
from fateforger.errors import CalendarUnreachable
from fateforger.session.commands.plan import ResolveConflict

MOVED = "“Mail”: you moved it to 14:10 on your calendar; the plan has 10:25."
PAIR = ["Keep calendar", "Keep plan"]
ALL = ["Keep calendar for all", "Keep plan for all"]


def event(harness: Harness, title: str) -> EventImage:
    return next(e for e in harness.calendar.store.get_live_events().values() if e.summary == title)


def drag(harness: Harness, title: str, minutes: int) -> None:
    image = event(harness, title)
    assert isinstance(image.start, datetime)
    assert isinstance(image.end, datetime)
    by = timedelta(minutes=minutes)
    harness.calendar.store.user_edit(image.id, start=image.start + by, end=image.end + by)


def asking(anna: Person) -> list[str]:
    """Return the labels of the buttons that answer questions."""
    return [label for label in anna.labels() if label.startswith(("Keep", "Leave it off", "Add it again"))]


def writes(harness: Harness) -> int:
    return len(harness.calendar.writes)


@pytest.fixture
async def held(tmp_path: Path) -> AsyncIterator[Harness]:
    """Yield a program that writes nothing before a commit."""
    opened = await open_harness_at(tmp_path, calendar_write="commit")
    yield opened
    await opened.close()


@pytest.fixture
def ben(held: Harness) -> Person:
    return Person(held)


async def ask_about_mail(harness: Harness, person: Person) -> None:
    """Move Mail in the plan, then on the calendar as the person."""
    await person.to_committed("Report", "Mail")
    await person.press("Back to refine")
    await person.choose("Mail", "15 min later")
    drag(harness, "Mail", 240)
    await person.choose("Report", "15 min later")


async def test_it_is_asked_once_and_stays_on_the_card(held: Harness, ben: Person) -> None:
    await ask_about_mail(held, ben)
    before = writes(held)
    assert MOVED in ben.words
    assert asking(ben) == PAIR
    assert "**10:25–11:25** Mail" in ben.words
    await ben.press("Redo step")
    assert ben.words.count(MOVED) == 1
    assert asking(ben) == PAIR
    assert ben.card.text == "Refine Monday 2 March: 4 blocks. 1 question to answer."
    assert (before, writes(held)) == (4, 4)


async def test_keep_calendar(held: Harness, ben: Person) -> None:
    """The plan takes the calendar's value; nothing is written, then or at the commit."""
    await ask_about_mail(held, ben)
    before = writes(held)
    await ben.press("Keep calendar")
    assert "As on your calendar: “Mail” is from 14:10 to 15:10." in ben.words
    assert "**14:10–15:10** Mail" in ben.words
    assert (asking(ben), writes(held)) == ([], before)
    await ben.press("Commit to calendar")
    assert held.on_calendar() == {"Report": "09:15-10:15", "Mail": "14:10-15:10", "Lunch": "12:30-13:15"}


async def test_keep_plan_waits_for_the_commit(held: Harness, ben: Person) -> None:
    """K1"""
    await ask_about_mail(held, ben)
    before = writes(held)
    await ben.press("Keep plan")
    assert "As planned: “Mail” is from 10:25 to 11:25. Your calendar gets that when you commit." in ben.words
    assert (asking(ben), writes(held)) == ([], before)
    await ben.press("Redo step")
    assert asking(ben) == []
    await ben.press("Commit to calendar")
    assert held.on_calendar() == {"Report": "09:15-10:15", "Mail": "10:25-11:25", "Lunch": "12:30-13:15"}
    session = await ben.session()
    assert session.sync.questions == ()


async def test_a_commit_leaves_the_question_open(held: Harness, ben: Person) -> None:
    """Everything else is written; the card asks, and says what stays meanwhile."""
    await ask_about_mail(held, ben)
    await ben.press("Commit to calendar")
    assert held.on_calendar() == {"Report": "09:15-10:15", "Mail": "14:10-15:10", "Lunch": "12:30-13:15"}
    assert "Monday 2 March is on your calendar" in ben.words
    assert ben.words.count(MOVED) == 1
    assert "Until you choose, your calendar stays as it is; everything else goes on as usual." in ben.words
    assert asking(ben) == PAIR
    await ben.press("Keep plan")
    assert held.on_calendar()["Mail"] == "10:25-11:25"
    assert asking(ben) == []
    await ben.press("Undo")
    assert held.on_calendar() == {"Mail": "14:10-15:10"}
    assert "I left “Mail” on your calendar: you had changed it." in ben.words


async def test_undo_of_all_takes_the_answer_back_and_keeps_the_drag(held: Harness, ben: Person) -> None:
    """P7, P17, S239: nothing that was written stays, not even over the person's own edit; redo has all of it again."""
    await ask_about_mail(held, ben)
    await ben.press("Commit to calendar")
    held.clock.at += timedelta(minutes=1)
    await ben.press("Keep plan")
    whole = held.on_calendar()
    held.clock.at += timedelta(minutes=1)
    await ben.press("Undo")
    assert held.on_calendar() == {"Mail": "14:10-15:10"}
    await ben.press("History")
    await ben.press_beside("history", "Restore", row="08:02")
    assert held.on_calendar() == whole == {"Report": "09:15-10:15", "Mail": "10:25-11:25", "Lunch": "12:30-13:15"}


async def test_a_commit_with_only_a_question_says_so(held: Harness, ben: Person) -> None:
    await ask_about_mail(held, ben)
    await ben.press("Commit to calendar")
    await ben.press("Redo step")
    assert "**Already up to date: 4 unchanged**" in ben.words
    assert asking(ben) == PAIR
    await ben.press("Keep calendar")
    assert "As on your calendar: “Mail” is from 14:10 to 15:10." in ben.words
    assert "- **14:10–15:10** Mail" in ben.words
    assert asking(ben) == []


async def test_the_question_survives_a_restart(held: Harness, ben: Person) -> None:
    """S62"""
    await ask_about_mail(held, ben)
    held.restart()
    await ben.press("Keep plan")
    held.restart()
    await ben.press("Commit to calendar")
    assert held.on_calendar()["Mail"] == "10:25-11:25"


async def test_a_change_on_a_card_that_does_not_show_the_drag_is_asked(harness: Harness, anna: Person) -> None:
    """The wish was made without the calendar's value in view: neither wins. Everything else goes on."""
    await anna.to_refine("Report", "Mail")
    await anna.choose("Report", "15 min later")
    drag(harness, "Mail", 230)
    await anna.choose("Mail", "15 min later")
    assert "“Mail”: you moved it to 14:05 on your calendar; the plan has 10:30." in anna.words
    assert harness.on_calendar()["Mail"] == "14:05-15:05"
    await anna.choose("Lunch", "15 min later")
    assert harness.on_calendar() == {"Report": "09:15-10:15", "Mail": "14:05-15:05", "Lunch": "12:45-13:30"}
    assert asking(anna) == PAIR


async def test_keep_plan_writes_that_field_at_once_and_can_be_undone(harness: Harness, anna: Person) -> None:
    """K1 refine, S55: under the journal; taking it back asks again, and then keeps asking."""
    await anna.to_committed("Report", "Mail")
    await anna.press("Back to refine")
    drag(harness, "Mail", 240)
    await anna.choose("Mail", "15 min later")
    assert asking(anna) == PAIR
    before = writes(harness)
    await anna.press("Keep plan")
    assert harness.on_calendar()["Mail"] == "10:25-11:25"
    assert "As planned: “Mail” is from 10:25 to 11:25. Your calendar gets that now." in anna.words
    assert "Calendar: 1 updated." in anna.words
    assert (asking(anna), writes(harness)) == ([], before + 1)
    (record,) = (await anna.session()).sync.refine_undo[-1].transactions
    transaction = await harness.store.journal.get(record)
    assert transaction is not None
    assert [sorted(r.op.changes) for r in transaction.records if r.op.changes] == [["end", "start"]]
    await anna.press("Undo last update")
    assert harness.on_calendar()["Mail"] == "14:10-15:10"


async def test_an_answer_alone_is_taken_back_and_asked_again(harness: Harness, anna: Person) -> None:
    await anna.to_committed("Report", "Mail")
    await anna.press("Back to refine")
    drag(harness, "Mail", 240)
    await anna.choose("Mail", "15 min later")
    await anna.choose("Report", "15 min later")
    await anna.press("Keep plan")
    await anna.press("Undo last update")
    assert harness.on_calendar() == {"Report": "09:15-10:15", "Mail": "14:10-15:10", "Lunch": "12:30-13:15"}
    assert MOVED in anna.words
    assert "Your last change is taken back." in anna.words
    await anna.choose("Lunch", "15 min later")
    assert harness.on_calendar()["Mail"] == "14:10-15:10"
    await anna.press("Keep plan")
    assert harness.on_calendar()["Mail"] == "10:25-11:25"


async def test_an_answer_taken_back_in_the_history_is_asked_again(harness: Harness, anna: Person) -> None:
    await anna.to_committed("Report", "Mail")
    await anna.press("Back to refine")
    drag(harness, "Mail", 240)
    await anna.choose("Mail", "15 min later")
    await anna.choose("Report", "15 min later")
    harness.clock.at += timedelta(minutes=1)
    await anna.press("Keep plan")
    await anna.press("History")
    await anna.press_beside("history", "Undo", row="08:01")
    assert harness.on_calendar()["Mail"] == "14:10-15:10"
    assert (MOVED in anna.words, asking(anna)) == (True, PAIR)
    await anna.choose("Lunch", "15 min later")
    assert harness.on_calendar()["Mail"] == "14:10-15:10"


async def test_a_preview_names_the_question(held: Harness, ben: Person) -> None:
    """S212: none of it would be written."""
    await ask_about_mail(held, ben)
    await ben.press("Preview")
    assert MOVED in ben.beside("preview")
    await ben.press("Keep plan")
    await ben.press("Preview")
    assert "Move “Mail”" in ben.beside("preview")


async def test_keep_calendar_is_taken_back_and_asked_again(harness: Harness, anna: Person) -> None:
    await anna.to_committed("Report", "Mail")
    await anna.press("Back to refine")
    drag(harness, "Mail", 240)
    await anna.choose("Mail", "15 min later")
    before = writes(harness)
    await anna.press("Keep calendar")
    await anna.press("Undo last update")
    assert "**10:25–11:25** Mail" in anna.words
    assert MOVED in anna.words
    await anna.press("Redo step")
    assert (asking(anna), writes(harness)) == (PAIR, before)
    await anna.press("Keep plan")
    assert harness.on_calendar()["Mail"] == "10:25-11:25"


async def test_after_keep_calendar_moving_it_back_is_a_wish(held: Harness, ben: Person) -> None:
    """S201: also to where it was before either side moved it."""
    await ben.to_committed("Report", "Mail")
    await ben.press("Back to refine")
    await ben.choose("Mail", "15 min later")
    drag(held, "Mail", 240)
    await ben.press("Redo step")
    await ben.press("Keep calendar")
    assert await ben.fill_row("Mail", "edit_block", start="10:10") is None
    await ben.press("Commit to calendar")
    assert held.on_calendar()["Mail"] == "10:10-11:10"


async def test_taking_back_the_plans_change_leaves_only_the_persons(held: Harness, ben: Person) -> None:
    """Undo makes the question moot: the plan takes over what the calendar shows, and says so."""
    await ben.to_committed("Report", "Mail")
    await ben.press("Back to refine")
    await ben.choose("Mail", "15 min later")
    drag(held, "Mail", 240)
    await ben.press("Redo step")
    assert asking(ben) == PAIR
    await ben.press("Undo last update")
    assert "**14:10–15:10** Mail" in ben.words
    assert "You changed “Mail” on your calendar, so I kept the start at 14:10 and the end at 15:10." in ben.words
    assert asking(ben) == []


async def test_a_change_made_with_the_question_in_view_answers_it(held: Harness, ben: Person) -> None:
    await ask_about_mail(held, ben)
    await ben.choose("Mail", "15 min later")
    assert (asking(ben), "**10:40–11:40** Mail" in ben.words) == ([], True)
    await ben.press("Commit to calendar")
    assert held.on_calendar()["Mail"] == "10:40-11:40"


async def test_when_both_become_equal_nothing_is_asked(held: Harness, ben: Person) -> None:
    await ask_about_mail(held, ben)
    drag(held, "Mail", -225)
    await ben.press("Redo step")
    assert asking(ben) == []
    await ben.press("Commit to calendar")
    assert held.on_calendar()["Mail"] == "10:25-11:25"


async def test_a_block_that_went_away_is_not_asked_about(held: Harness, ben: Person) -> None:
    await ask_about_mail(held, ben)
    await ben.choose("Mail", "Remove")
    assert asking(ben) == []
    await ben.press("Commit to calendar")
    assert held.on_calendar()["Mail"] == "14:10-15:10"
    assert "“Mail”: It is no longer in the plan, but you changed it on your calendar, so I left it to you." in ben.words


async def test_a_calendar_that_changed_again_is_asked_anew(held: Harness, ben: Person) -> None:
    """Never guessed: the answer was about what the calendar showed."""
    await ask_about_mail(held, ben)
    drag(held, "Mail", 60)
    before = writes(held)
    await ben.press("Keep calendar")
    assert ASKED_ANEW in ben.words
    assert "“Mail”: you moved it to 15:10 on your calendar; the plan has 10:25." in ben.words
    await ben.press("Keep plan")
    drag(held, "Mail", 60)
    await ben.press("Commit to calendar")
    assert held.on_calendar()["Mail"] == "16:10-17:10"
    assert "“Mail”: you moved it to 16:10 on your calendar; the plan has 10:25." in ben.words
    assert asking(ben) == PAIR
    assert writes(held) == before + 1


async def test_a_drag_between_the_look_and_the_write_is_asked(held: Harness, ben: Person) -> None:
    """The day is read again just before writing; the person has not seen a change that first appears there."""
    await ben.to_committed("Report", "Mail")
    await ben.press("Back to refine")
    await ben.choose("Mail", "15 min later")
    drag(held, "Mail", 240)
    held.calendar.inject(CallFailure(CalendarUnreachable("Away.")), verb="window", nth=0)
    await ben.press("Commit to calendar")
    assert held.on_calendar()["Mail"] == "14:10-15:10"
    assert MOVED in ben.words


async def test_several_questions_and_one_pair_for_all(held: Harness, ben: Person) -> None:
    """Start and end are one question; title and time of one block are two."""
    await ben.to_committed("Report", "Mail")
    await ben.press("Back to refine")
    await ben.fill_row("Mail", "edit_block", title="Letters", start="10:25")
    await ben.choose("Lunch", "15 min later")
    drag(held, "Mail", 240)
    held.calendar.store.user_edit(event(held, "Mail").id, summary="Post")
    held.calendar.store.user_edit(event(held, "Lunch").id, end=at("14:00"))
    await ben.press("Redo step")
    assert "“Mail”: you renamed it “Post” on your calendar; the plan calls it “Letters”." in ben.words
    assert "“Post”: you moved it to 14:10 on your calendar; the plan has 10:25." in ben.words
    assert "“Lunch”: you changed it to 12:30–14:00 on your calendar; the plan has 12:45–13:30." in ben.words
    assert asking(ben) == [*PAIR * 3, *ALL]
    await ben.press("Keep calendar for all")
    assert asking(ben) == []
    assert "**14:10–15:10** Post" in ben.words
    await ben.press("Undo last update")
    assert asking(ben) == [*PAIR * 3, *ALL]
    await ben.press("Keep plan for all")
    await ben.press("Commit to calendar")
    assert held.on_calendar() == {"Report": "09:00-10:00", "Letters": "10:25-11:25", "Lunch": "12:45-13:30"}


async def test_one_of_several_is_answered_and_the_other_stays(held: Harness, ben: Person) -> None:
    await ben.to_committed("Report", "Mail")
    await ben.press("Back to refine")
    await ben.fill_row("Mail", "edit_block", title="Letters", start="10:25")
    drag(held, "Mail", 240)
    held.calendar.store.user_edit(event(held, "Mail").id, summary="Post")
    await ben.press("Commit to calendar")
    first, second = (await ben.session()).sync.questions
    assert (first.conflict.topic, second.conflict.topic) == ("summary", "time")
    await ben.send(_answer(ben, "plan", first.conflict.key, "summary"))
    assert held.on_calendar() == {"Report": "09:00-10:00", "Letters": "14:10-15:10", "Lunch": "12:30-13:15"}
    assert asking(ben) == PAIR


def at(clock: str) -> datetime:
    from tests.unit.conversation.sessions import at as local

    return local(clock)


def _answer(person: Person, keep: str, key: str, topic: str) -> ResolveConflict:
    envelope = {"command_id": f"typed-{keep}-{key}-{topic}", "user_id": person.user, "session_id": person.session_id}
    return ResolveConflict.model_validate(
        {**envelope, "at": person.harness.clock.now(), "keep": keep, "key": key, "topic": topic}
    )


async def test_deleted_there_and_changed_here(held: Harness, ben: Person) -> None:
    """The wish was made without the deletion in view."""
    await ben.to_committed("Report", "Mail")
    await ben.press("Back to refine")
    await ben.choose("Mail", "15 min later")
    held.calendar.store.user_delete(event(held, "Mail").id)
    await ben.press("Commit to calendar")
    assert "Mail" not in held.on_calendar()
    assert "“Mail” is no longer on your calendar; the plan has it at 10:25–11:25." in ben.words
    assert asking(ben) == ["Leave it off", "Add it again"]
    await ben.press("Add it again")
    assert held.on_calendar()["Mail"] == "10:25-11:25"
    assert asking(ben) == []


async def test_keep_deleted(harness: Harness, anna: Person) -> None:
    """Pressed on a card that still shows the block: asked, and then out of the plan."""
    await anna.to_committed("Report", "Mail")
    await anna.press("Back to refine")
    harness.calendar.store.user_delete(event(harness, "Mail").id)
    await anna.choose("Mail", "15 min later")
    assert asking(anna) == ["Leave it off", "Add it again"]
    await anna.press("Leave it off")
    assert "“Mail” stays off your calendar, and is out of the plan." in anna.words
    assert len(anna.rows()) == 3
    await anna.choose("Lunch", "15 min later")
    assert sorted(harness.on_calendar()) == ["Lunch", "Report"]


async def test_an_answer_that_cannot_be_written_is_kept(harness: Harness, anna: Person) -> None:
    """Try again carries it out."""
    await anna.to_committed("Report", "Mail")
    await anna.press("Back to refine")
    drag(harness, "Mail", 240)
    await anna.choose("Mail", "15 min later")
    harness.calendar.inject(Reply(Rejected("No.")), verb="update")
    await anna.press("Keep plan")
    assert harness.on_calendar()["Mail"] == "14:10-15:10"
    await anna.press("Try again")
    assert harness.on_calendar()["Mail"] == "10:25-11:25"
    assert asking(anna) == []


async def test_an_old_button_and_a_second_click_do_nothing(held: Harness, ben: Person) -> None:
    """K7: the second half of a double click finds nothing to answer."""
    await ask_about_mail(held, ben)
    button = next(c for c in ben.controls() if getattr(c, "action", "") == "conflict.keep_calendar")
    target = getattr(button, "target", "")
    await ben.press("Keep calendar")
    plan = (await ben.session()).planning.plan
    await ben.click("conflict.keep_plan", target)
    assert NOT_ASKED in ben.words
    assert (await ben.session()).planning.plan == plan


async def test_undo_of_everything_forgets_the_question(held: Harness, ben: Person) -> None:
    """A block that the person moved stays on their calendar, and the next commit does not overwrite it silently."""
    await ask_about_mail(held, ben)
    await ben.press("Commit to calendar")
    await ben.press("Undo")
    assert held.on_calendar() == {"Mail": "14:10-15:10"}
    await ben.press("Commit to calendar")
    assert held.on_calendar()["Mail"] == "14:10-15:10"
    assert asking(ben) == PAIR
