"""Reminders that a person asks for: kept at their time, where they were asked for, once; or asked about."""

from __future__ import annotations

from datetime import UTC, timedelta
from typing import Any

import pytest
from tests.factories.words import wanting, work
from tests.unit.conversation.person import MONDAY, Harness
from tests.unit.conversation.queue.person import QueuePerson, labels
from tests.unit.conversation.queue.test_hydration import Begin, talk

from fateforger.session.forms import FormErrors
from fateforger.tasks.task import TaskState, describe_reminder
from fateforger.workers.lanes import REMINDER

__all__ = ["talk"]


def reminder(title: str = "Call the tax office", **said: Any) -> dict[str, Any]:
    return work(title, kind="remind", **said)


async def test_a_reminder_comes_at_its_time_in_its_thread_once(talk: Begin) -> None:
    """S268: also when the program died in between. It is eight in the morning."""
    anna = await talk(reminder(start="16:00"))
    await anna.says("remind me to call the tax office at 4")
    assert "I will remind you of “Call the tax office” on Monday 2 March at 16:00." in anna.words
    assert labels(anna.card) == ["Another time…", "Cancel the reminder", "Show my queue"]
    await anna.waits(hours=7, minutes=59)
    assert len(anna.deliveries) == 1
    await anna.reboot()
    await anna.waits(minutes=1)
    await anna.waits(days=1)
    assert len(anna.deliveries) == 2
    assert anna.deliveries[-1]["thread_ts"] == "1.0"
    assert anna.card.text == "⏰ You asked me to remind you: Call the tax office"
    await anna.press("Done")
    assert await anna.tasks() == ()


async def test_a_reminder_that_was_interrupted_is_not_sent_twice(talk: Begin) -> None:
    anna = await talk(reminder(date="2026-03-03", start="09:00"))
    await anna.says("remind me tomorrow morning to call the tax office")
    anna.harness.clock.at += timedelta(days=2)
    jobs, now = anna.harness.store.jobs, anna.harness.clock.now()
    job = await jobs.claim(REMINDER.name, "w", now=now, lease_seconds=60)
    assert job is not None
    await anna.harness.reminders.perform(job)
    await anna.reboot()
    await anna.harness.reminders.perform(job)
    await anna.read()
    assert [each["card"]["text"] for each in anna.deliveries[1:]] == [
        "⏰ You asked me to remind you: Call the tax office"
    ]


@pytest.mark.parametrize("said", [{}, {"start": "07:00"}, {"date": "2026-03-03"}], ids=["no time", "over", "no clock"])
async def test_a_time_that_is_not_clear_is_asked_for(talk: Begin, said: dict[str, Any]) -> None:
    """S268: nothing is lost meanwhile; the button works without a model."""
    anna = await talk(reminder(**said))
    await anna.says("remind me to call the tax office")
    assert anna.words.strip() == "When shall I remind you of “Call the tax office”? It is in your queue."
    assert labels(anna.card) == ["Remind me…", "Show my queue"]
    (task,) = await anna.tasks()
    over = await anna.fill("queue_remind", target=task.id, date=MONDAY, time="07:00")
    assert over == FormErrors(errors={"time": "That time is over; choose a later one."})
    await anna.fill("queue_remind", target=task.id, date=MONDAY, time="17:30")
    assert "on Monday 2 March at 17:30" in anna.words
    await anna.waits(hours=10)
    assert anna.card.text == "⏰ You asked me to remind you: Call the tax office"


async def test_a_reminder_that_is_moved_to_an_earlier_time_comes_then(talk: Begin) -> None:
    """S268: not when the first one would have come."""
    anna = await talk(reminder(start="16:00"))
    await anna.says("remind me to call the tax office at 4")
    (task,) = await anna.tasks()
    await anna.fill("queue_remind", target=task.id, date=MONDAY, time="10:00")
    await anna.waits(hours=2)
    assert anna.card.text == "⏰ You asked me to remind you: Call the tax office"
    await anna.waits(days=1)
    assert [each["card"]["text"] for each in anna.deliveries].count(anna.card.text) == 1


@pytest.mark.parametrize(("there", "hours"), [("America/New_York", 15 + 6), ("Asia/Tokyo", 15 - 8)])
async def test_a_reminder_follows_the_clock_of_the_person(talk: Begin, there: str, hours: int) -> None:
    """S485: it was asked for by a time of day, and comes at that time where the person is by then, where they asked."""
    anna = await talk(reminder(start="23:00"))
    zones, until = anna.harness.store.zones, anna.harness.clock.at
    await zones.keep(anna.user, "Europe/Amsterdam", until=until)
    await anna.says("remind me to call the tax office at 11 pm")
    await zones.keep(anna.user, there, until=until)
    await anna.waits(seconds=0)
    await anna.waits(hours=hours, minutes=-1)
    assert len(anna.deliveries) == 1
    (task,) = await anna.tasks()
    assert task.spec.remind_at is not None
    assert describe_reminder(task.spec.remind_at) == "Monday 2 March at 23:00"
    await anna.waits(minutes=1)
    await anna.waits(days=1)
    assert [each["thread_ts"] for each in anna.deliveries] == ["1.0", "1.0"]
    assert anna.card.text == "⏰ You asked me to remind you: Call the tax office"


async def test_a_reminder_whose_time_is_over_in_another_zone_comes_at_once(talk: Begin) -> None:
    """S485"""
    anna = await talk(reminder(start="09:30"))
    zones, until = anna.harness.store.zones, anna.harness.clock.at
    await zones.keep(anna.user, "Europe/Amsterdam", until=until)
    await anna.says("remind me to call the tax office at half past nine")
    await zones.keep(anna.user, "Asia/Tokyo", until=until)
    await anna.waits(minutes=1)
    assert anna.card.text == "⏰ You asked me to remind you: Call the tax office"


async def test_a_reminder_by_the_clock_of_a_third_zone_stays(talk: Begin) -> None:
    """S485: the plan in which it was asked for is in a zone that Slack does not know of."""
    anna = await talk(reminder(start="11:00"))
    zones, until = anna.harness.store.zones, anna.harness.clock.at
    await zones.keep(anna.user, "Asia/Tokyo", until=until)
    await anna.says("remind me to call the tax office at eleven")
    await zones.keep(anna.user, "America/New_York", until=until)
    await anna.waits(hours=2, minutes=59)
    assert len(anna.deliveries) == 1
    await anna.waits(minutes=1)
    assert anna.card.text == "⏰ You asked me to remind you: Call the tax office"


async def test_a_form_is_read_by_the_clock_of_the_person(anna: QueuePerson, harness: Harness) -> None:
    """S268: which need not be that of the program."""
    task = await anna.adds("Call the bank")
    await harness.store.zones.keep(anna.user, "America/New_York", until=harness.clock.at)
    await anna.fill("queue_remind", target=task.id, date=MONDAY, time="10:00")
    assert "on Monday 2 March at 10:00" in anna.words
    at = (await anna.task(task.id)).spec.remind_at
    assert at is not None
    assert at.astimezone(UTC).hour == 15


async def test_reminders_are_listed_and_cancelled_in_words(talk: Begin) -> None:
    """S269"""
    anna = await talk(reminder(start="16:00"), wanting("tasks"), wanting("unremind", number=1))
    await anna.says("remind me to call the tax office at 4")
    await anna.says("which reminders are there?", "2.0")
    assert "⏰ Monday 2 March at 16:00" in anna.words
    await anna.says("forget that reminder", "3.0")
    assert anna.words.strip() == "I will not remind you of “Call the tax office”; it stays in your queue."
    before = len(anna.deliveries)
    await anna.waits(days=2)
    assert len(anna.deliveries) == before


async def test_a_reminder_is_cancelled_and_moved_by_buttons(anna: QueuePerson, harness: Harness) -> None:
    """S269: without a model, for any task of the queue."""
    task = await anna.adds("Call the bank")
    assert "Remind me…" in labels(anna.card)
    await anna.fill("queue_remind", target=task.id, date=MONDAY, time="16:00")
    await anna.fill("queue_remind", target=task.id, date=MONDAY, time="18:00")
    before = len(anna.deliveries)
    await anna.waits(hours=9)
    assert len(anna.deliveries) == before, "it has another time by now"
    await anna.press("Cancel the reminder")
    before = len(anna.deliveries)
    await anna.waits(hours=9)
    assert len(anna.deliveries) == before
    assert (await anna.task(task.id)).state is TaskState.ACTIVE
    assert harness.model is None


async def test_a_task_that_is_over_is_not_brought_up(anna: QueuePerson) -> None:
    task = await anna.adds("Call the bank")
    await anna.fill("queue_remind", target=task.id, date=MONDAY, time="16:00")
    await anna.harness.store.tasks.change(
        anna.user, task.id, lambda it: it.model_copy(update={"state": TaskState.STOPPED}), now=anna.harness.clock.now()
    )
    before = len(anna.deliveries)
    await anna.waits(days=1)
    assert len(anna.deliveries) == before
