"""Messages that the bot sends by itself: by choice, once, in time, and with what is known of the day."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest
from tests.factories.forms import fill_in
from tests.unit.conversation.person import MONDAY, Harness, Person
from tests.unit.conversation.queue.person import DM, labels
from tests.unit.conversation.rituals.morning import MorningPerson, commit_monday

from fateforger.conversation.rituals.schedule import WORKDAYS
from fateforger.memory.vocabulary import WEEK, Weekday
from fateforger.session.cards import Picture
from fateforger.session.commands.day import BringAlong
from fateforger.session.forms import FormErrors
from fateforger.session.queue_commands import ChangeRituals, ReviewWeek
from fateforger.tasks.task import TaskState
from fateforger.ui.picture_svg import draw
from fateforger.ui.picture_words import describe

GOOD_MORNING = "Good morning. Shall we plan {day}?"
TUESDAY_MORNING = GOOD_MORNING.format(day="Tuesday 3 March")


async def test_nothing_comes_unless_it_is_chosen(anna: MorningPerson) -> None:
    """S296"""
    assert await anna.until("23:00", days=4) == []


async def test_a_morning_message_says_what_is_known_and_begins_the_plan(anna: MorningPerson, harness: Harness) -> None:
    """S296, S297: in its own thread; a second click changes nothing."""
    start = datetime(2026, 3, 3, 9, 0, tzinfo=UTC)
    harness.calendar.store.user_create("Standup", start=start, end=start + timedelta(minutes=30))
    await anna.adds("Taxes", details={"due_day": "2026-03-03"})
    await anna.adds("Invoice", details={"due_day": "2026-03-02"})
    await anna.adds("Some day")
    await anna.chooses(morning=time(9))
    assert "09:00: the day as I know it, to begin its plan" in anna.words
    assert await anna.until("08:59", days=1) == [GOOD_MORNING.format(day="Monday 2 March")]
    assert await anna.until("09:00") == [TUESDAY_MORNING]
    assert "Your day: 09:00–18:00" in anna.words
    assert "**10:00–10:30** Standup" in anna.words
    assert "In your queue: Taxes (due Tuesday 3 March) · Invoice (⚠️ due Monday 2 March, and not done)" in anna.words
    assert "Some day" not in anna.words
    assert labels(anna.card) == ["Start planning", "Not today", "Stop these messages"]
    button = anna.pressed_label("Start planning")
    await anna.send(button)
    assert "we plan it in this thread" in anna.words
    await anna.send(button)
    await anna.run_commands()
    (session,) = await harness.store.sessions.of_user(anna.user)
    assert (session.date, session.channel, session.thread_ts) == (date(2026, 3, 3), DM, "9.0")


async def test_a_day_that_is_planned_already_has_no_morning_message(anna: MorningPerson, harness: Harness) -> None:
    """S297: people are not asked to begin a day that they have begun."""
    await anna.chooses(morning=time(9))
    await Person(harness).start(MONDAY)
    assert await anna.until("12:00") == []
    assert await anna.until("09:00", days=1) == [TUESDAY_MORNING]


async def test_not_today(anna: MorningPerson) -> None:
    await anna.chooses(morning=time(9))
    await anna.until("09:00")
    await anna.press("Not today")
    assert anna.words.startswith("No plan for Monday 2 March, then.")
    assert labels(anna.card) == ["Start planning"]
    assert await anna.until("23:00") == []


async def test_a_message_is_sent_once_after_any_crash(anna: MorningPerson, harness: Harness) -> None:
    """S296: by two programs at the same time, and after a restart."""
    await anna.chooses(morning=time(9))
    harness.clock.at = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
    first = harness.rituals
    await anna.reboot()
    await first.send_due()
    await harness.rituals.send_due()
    await first.send_due()
    await anna.read()
    assert [each["card"]["text"] for each in anna.deliveries[1:]] == [GOOD_MORNING.format(day="Monday 2 March")]


async def test_after_a_time_without_the_program_only_what_is_useful_is_sent(
    anna: MorningPerson, harness: Harness
) -> None:
    """S298"""
    await anna.chooses(morning=time(9))
    harness.clock.at = datetime(2026, 3, 2, 10, 30, tzinfo=UTC)
    await harness.rituals.send_due()
    await anna.read()
    assert anna.card.text == GOOD_MORNING.format(day="Monday 2 March")
    before = len(anna.deliveries)
    harness.clock.at = datetime(2026, 3, 5, 11, 30, tzinfo=UTC)
    await harness.rituals.send_due()
    await anna.read()
    assert len(anna.deliveries) == before
    over = await harness.store.rituals.find_marks(anna.user, MONDAY)
    assert over == {("morning", MONDAY + timedelta(days=n)) for n in range(4)}


async def test_nobody_is_interrupted_at_a_plan(anna: MorningPerson, harness: Harness) -> None:
    """S219, S298: the message waits for ten quiet minutes."""
    await anna.chooses(morning=time(9))
    harness.clock.at = datetime(2026, 3, 2, 7, 55, tzinfo=UTC)
    await Person(harness).start(date(2026, 3, 6))
    assert await anna.until("09:05") == []
    assert await anna.until("09:06") == [GOOD_MORNING.format(day="Monday 2 March")]


async def test_quiet_hours_are_asked_about_and_win(anna: MorningPerson) -> None:
    """S299"""
    await anna.chooses(morning=time(6, 30))
    assert anna.words.startswith("06:30 is in your quiet hours, between 20:00 and 07:00, so nothing would come then.")
    assert await anna.until("09:00", days=1) == []
    await anna.press("Write to me then anyway")
    assert "Nothing comes between 20:00 and 06:30." in anna.words
    assert await anna.until("06:30", days=1) == [GOOD_MORNING.format(day="Wednesday 4 March")]
    await anna.chooses(quiet_until=time(8))
    assert "Nothing comes at 06:30, because that is in your quiet hours." in anna.words
    assert await anna.until("07:59", days=1) == []


async def test_weekdays_are_chosen_by_form(anna: MorningPerson) -> None:
    """S296: without a model; a time in the quiet hours is refused at its field."""
    refused = await anna.fill("rituals", morning="06:00")
    assert isinstance(refused, FormErrors)
    assert refused.errors.keys() == {"morning"}
    both = await anna.fill("rituals", shutdown="18:00", at_end=True)
    assert isinstance(both, FormErrors)
    assert both.errors.keys() == {"shutdown"}
    await anna.fill("rituals", morning="09:00", days=("TU", "SA"))
    assert "I no longer" not in anna.words  # nothing was on
    assert "**What I send you on my own**, Tuesday and Saturday:" in anna.words
    assert await anna.until("12:00", days=7) == [
        TUESDAY_MORNING, GOOD_MORNING.format(day="Saturday 7 March")
    ]  # fmt: skip
    home = await anna.harness.coordinator.home(anna.user)
    assert "**What I send you on my own**, Tuesday and Saturday:" in str(home)


async def test_the_form_keeps_what_has_changed_since_it_was_opened_or_sent(anna: MorningPerson) -> None:
    """S513"""
    await anna.chooses(morning=time(8))
    shown = await anna.opens("rituals")
    await anna.chooses(morning=time(9), at_end=True, days=WORKDAYS[:3])
    await anna.submit(shown, review=True)
    assert "Monday, Tuesday and Wednesday" in anna.words
    assert "- 09:00: the day as I know it" in anna.words
    assert "- when a planned day ends" in anna.words
    sent = fill_in(await anna.opens("rituals"), anna.user, anna.harness.clock.now(), review=False)
    command = await anna.harness.coordinator.read_form(sent)
    assert isinstance(command, ChangeRituals)
    await anna.chooses(shutdown=time(18), days=WEEK)
    await anna.send(command)
    assert "every day" in anna.words
    assert "- 18:00: how the day went" in anna.words
    assert "I no longer look back on your weeks." in anna.words


async def test_a_button_on_each_message_stops_them(anna: MorningPerson) -> None:
    """S296"""
    await anna.chooses(morning=time(9), review=True)
    await anna.until("09:00")
    await anna.press("Stop these messages")
    assert "begin its plan" not in anna.words
    assert "I no longer begin your days." in anna.words
    assert "a look back on the week" in anna.words
    assert await anna.until("12:00", days=3) == []


@pytest.fixture
async def closing(anna: MorningPerson, harness: Harness) -> MorningPerson:
    """Commit Monday; in the evening the bot asks about its two tasks."""
    await anna.chooses(at_end=True)
    await commit_monday(harness, anna)
    assert await anna.until("17:59") == []
    assert await anna.until("18:00") == ["Monday 2 March: how did it go? 2 tasks are open."]
    return anna


async def test_the_end_of_a_day_is_told_with_one_tap_for_each_task(closing: MorningPerson) -> None:
    """S300"""
    anna = closing
    assert labels(anna.card) == [
        "Done", "Done", "Close the day", "Close it, the rest tomorrow", "Stop these messages"
    ]  # fmt: skip
    await anna.press("Done", row="Ask Ann")
    assert "✓ **Ask Ann**" in anna.words
    assert {task.spec.title: task.state for task in await anna.tasks(ended=True)} == {"Ask Ann": TaskState.DONE}
    await anna.press("Not done", row="Ask Ann")
    assert "○ **Ask Ann**" in anna.words
    assert [task.state for task in await anna.tasks()] == [TaskState.WAITING]


async def test_a_day_is_closed_and_opened_again(closing: MorningPerson) -> None:
    """S300: what is open is in the queue, once, however often that is repeated."""
    anna = closing
    await anna.press("Done", row="Ask Ann")
    for _ in range(2):
        await anna.press("Close the day")
        assert anna.words.startswith("**Monday 2 March is closed.** 1 task is done. Back in your queue: “Taxes”.")
        assert [task.spec.title for task in await anna.tasks()] == ["Taxes"]
        await anna.press("Undo")
        assert anna.card.text == "Monday 2 March: how did it go? 1 task is open."
        assert await anna.tasks() == ()
    await anna.press("Close it, the rest tomorrow")
    assert "Kept for Tuesday 3 March: “Taxes”." in anna.words
    (taxes,) = await anna.tasks()
    assert taxes.spec.details.from_day == date(2026, 3, 3)
    await anna.harness.return_leftovers()
    assert [task.spec.title for task in await anna.tasks()] == ["Taxes"]


async def test_a_day_without_a_plan_is_not_closed(anna: MorningPerson) -> None:
    await anna.chooses(shutdown=time(18))
    assert await anna.until("23:00") == []


async def test_a_review_names_what_kept_being_moved_and_blocks_time_for_it(
    anna: MorningPerson, harness: Harness
) -> None:
    """S301: Taxes is left on Monday and on Tuesday."""
    await anna.chooses(review=True)
    await commit_monday(harness, anna)
    await anna.until("06:00", days=1)
    await harness.return_leftovers()
    tuesday = Person(harness)
    await tuesday.start(date(2026, 3, 3))
    await tuesday.press("Plan this day")
    await tuesday.press("Continue")
    everything = BringAlong(command_id="all", user_id=anna.user, at=harness.clock.at, session_id=tuesday.session_id)
    await tuesday.send(everything)
    await tuesday.press("Continue")
    await tuesday.press("Refine")
    await tuesday.press("Commit to calendar")
    assert await anna.until("16:59", days=3) == []
    await harness.return_leftovers()
    (review,) = await anna.until("17:00")
    assert review == "Your week, Monday 2 March to Tuesday 3 March: 2 tasks planned · 0 done · 2 left open."
    (picture,) = (part for part in anna.card.parts if isinstance(part, Picture))
    assert describe(picture.day) == (
        "Your week. Monday 2 March: 0 min done, 0 min moved, 1 h 30 min left open."
        " Tuesday 3 March: 0 min done, 0 min moved, 1 h 30 min left open."
    )
    assert draw(picture.day).count('data-name="left:') == 2
    assert "What kept being moved:\n- Ask Ann: left on Monday 2 March and Tuesday 3 March" in anna.words
    assert "“Ask Ann” was left 2 times. Block Monday 9 March at 09:00 for it?" in anna.words
    await anna.press("Block that time")
    assert "“Ask Ann” has Monday 9 March at 09:00" in anna.words
    ask = next(task for task in await anna.tasks() if task.spec.title == "Ask Ann")
    assert (ask.spec.details.from_day, ask.spec.details.at) == (date(2026, 3, 9), time(9))


async def test_a_review_is_asked_for(anna: MorningPerson, harness: Harness) -> None:
    """S301: without any choice, and for an empty week."""
    await anna.send(ReviewWeek(**anna.about()))
    assert anna.words.startswith("Nothing was planned this week")
    await commit_monday(harness, anna)
    await anna.send(ReviewWeek(**anna.about()))
    assert anna.card.text == "Your week: Monday 2 March: 2 tasks planned · 0 done · 2 left open."
    assert labels(anna.card) == ["Plan next week"]


async def test_the_days_are_those_of_where_the_person_is(anna: MorningPerson, harness: Harness) -> None:
    """S296: no date has two messages."""
    await anna.chooses(morning=time(9), days=tuple(Weekday))
    assert len(await anna.until("09:00")) == 1
    await fly(harness, anna, "America/New_York")
    assert await anna.until("14:59", days=1) == []
    assert await anna.until("15:00") == [TUESDAY_MORNING]
    await fly(harness, anna, "Asia/Tokyo")
    assert len(await anna.until("01:00", days=1)) == 1


async def fly(harness: Harness, anna: MorningPerson, tz: str) -> None:
    """Change the zone in Slack, which tells the program so; the person says nothing to the bot."""
    await harness.store.zones.keep(anna.user, tz, until=harness.clock.at)
