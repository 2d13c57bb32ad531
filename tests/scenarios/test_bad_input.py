"""Bad input gets one clear sentence where it was entered, and nothing typed or planned is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.scenarios.day import confirm_date, confirm_frame, open_tasks, start
from tests.scenarios.person import controls, label
from tests.scenarios.program import Program

pytestmark = pytest.mark.process


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    running = Program(tmp_path / "data", environment={"FATEFORGER_NOW": "2026-03-02T07:00:00+01:00"}).start()
    yield running
    running.kill()


def test_each_form_answers_at_the_field(program: Program) -> None:
    """S56, S94 (structured): unknown zone, end before start, long titles, impossible minutes, nothing at all."""
    person = program.person()

    def errors(**values: Any) -> list[str]:
        answer = person.submit(**values)
        assert person.modal() is not None, answer
        return list((answer["errors"] or {}).values())

    def close() -> None:
        person.post("/ui/view_close", view_id=person.form()["id"], clear=False)

    start(person)
    person.press("Change time zone")
    (sentence,) = errors(time_zone="Mars/Base")
    assert "“Mars/Base” is not a time zone I know" in sentence
    close()
    confirm_date(person)
    person.press("Edit hours and lunch")
    (sentence,) = errors(your_day_starts_at="10:00", your_day_ends_at="09:00")
    assert sentence.startswith("Your day would end at 09:00, before it starts at 10:00. Choose an end after the start")
    close()
    confirm_frame(person)
    open_tasks(person)
    assert errors(task_1="x" * 10_000) == ["Please enter at most 300 characters."]
    assert errors(task_1="Report", minutes_for_task_1=2000) == ["Please enter 1440 or less."]
    assert errors(task_1="Report", minutes_for_task_1=-5) == ["Please enter 1 or more."]
    assert errors(task_1="", minutes_for_task_1="") == ["Write down at least one thing to do."]
    assert errors(minutes_for_task_1=50) == ["What are these 50 minutes for? Give the task a title."]
    person.submit(task_1="Huge", minutes_for_task_1=1400)
    person.reads("Huge: it needs 23 h 20 min, and the whole day has 9 h")
    person.press("Refine")
    person.press("Add block")
    (sentence,) = errors(title="Call", starts_at="09:00", minutes=540)
    assert sentence.startswith("“Lunch” starts at 12:30, but “Call” runs until 18:00. Move one of them first")
    person.submit(title="Call", starts_at="13:30", minutes=60)
    person.reads("“Call” is in, 13:30–14:30.")
    person.write("move my lunch to 1pm please")
    person.reads("buttons and forms", "Use a block's menu to move, swap or remove it, and “Add block” to add another.")
    assert person.has("Commit to calendar")


def test_words_in_the_thread_of_a_plan_that_ended_go_along_into_a_new_one(program: Program) -> None:
    """S470"""
    person = program.person()
    start(person)
    person.press("Cancel")
    person.reads("Planning Monday 2 March has ended")
    person.write("Report, 2 h; mails")
    person.reads("This plan is closed, so nothing more happens here.")
    person.press("Plan a day")
    person.open_thread("is it the right day?")
    person.reads("Plan this day", "You wrote: Report, 2 h; mails")
    assert person.has("Use it as my list of tasks")


def test_words_that_no_model_reads_are_answered_and_become_tasks(program: Program) -> None:
    """S285, S447, S457: a first message is answered with the way to go on, and its words go along; what is written at the
    tasks can be put into their form. An emoji has no words to put anywhere."""
    person = program.person()
    for emoji in ("👍🏽", ":tada: :+1::skin-tone-2:"):
        person.write(emoji, thread=False)
        person.reads("so I cannot read your message. These buttons lead through the whole day.")
        assert [label(each) for _, each in controls(person.card())] == ["Plan my day", "Add a task"]
    person.slash("/timebox", "Gym at 19:00, 1 h; call Anna")
    person.reads("so I cannot read your message. These buttons lead through the whole day.")
    person.press("Plan my day")
    person.reads("Plan this day", "You wrote: Gym at 19:00, 1 h; call Anna")
    person.press("Use it as my list of tasks")
    assert person.submit()["ok"]
    person.reads("Noted: call Anna; Gym at 19:00, 1 h.")
    confirm_date(person)
    confirm_frame(person)
    person.write(":tada:")
    person.reads("so I cannot read messages here")
    assert not person.has("Use it as my list of tasks")
    assert not person.has("Keep it as a rule")
    person.write("Report, 2 h\nMails\nPay DE89 3704 0044 0532 0130 00")
    person.press("Use it as my list of tasks")
    assert person.submit(draft_my_day_right_away=False)["ok"]
    person.reads("*Report* · 2 h · deep", "*Mails* · open", "*Pay [account number]* · open")
    person.write("Buy milk, 20 min", thread=False)
    person.press("Put into my queue")
    assert person.submit()["ok"]
    person.open_thread("I put “Buy milk” into your queue.")
    person.reads("about 20 min · Priority: normal")
