"""A task given to another day through the whole program: into that day's thread or the queue, by click and in words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.factories.words import course, inputs, wants
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import STEPS, THREE_TASKS, confirm_date, confirm_frame, open_tasks, start
from tests.scenarios.person import Person, controls, eventually, label, texts
from tests.scenarios.program import Program
from tests.scenarios.understanding_server import Listener, speaking

pytestmark = pytest.mark.process

MONDAY = {"FATEFORGER_NOW": "2026-03-02T07:00:00+01:00"}


@contextmanager
def program(data: Path, **environment: str) -> Iterator[Program]:
    running = Program(data, environment={**MONDAY, **environment})
    running.start()
    try:
        yield running
    finally:
        if running.process is not None:
            running.kill()


def list_three(person: Person) -> None:
    for step in (start, confirm_date, confirm_frame, open_tasks):
        step(person)
    person.submit(**THREE_TASKS, draft_my_day_right_away=False)
    person.reads("3 tasks")


def plan_next_day(person: Person) -> None:
    """Open another thread, and choose Tuesday in it."""
    before = len(person.roots())
    person.slash("/timebox")
    eventually(lambda: len(person.roots()) > before, "another thread")
    message, block_id, element = eventually(lambda: find_date(person), "the day picker")
    person.use(message, block_id, element, selected_date="2026-03-03")
    person.card_reads("Tuesday 3 March")


def find_date(person: Person) -> tuple[Any, str, Any] | None:
    for message in reversed(person.thread()):
        for block in message.get("blocks") or []:
            for element in [*block.get("elements", []), block.get("accessory") or {}]:
                if element.get("type") == "datepicker":
                    return message, block["block_id"], element
    return None


def thread_reads(person: Person, ts: str, *expected: str) -> str:
    """Wait until each text can be read in that thread."""

    def look() -> str | None:
        inside = person.get("/ui/messages", user=person.user, channel=person.channel, thread_ts=ts)["messages"]
        said = "\n".join(t for m in inside for t in texts(m.get("blocks") or [{"text": m["text"]}]))
        return said if all(each in said for each in expected) else None

    return eventually(look, f"{expected} in {ts}")


def test_a_task_waits_in_the_queue_and_planning_its_day_brings_it(tmp_path: Path) -> None:
    """S249: The next working day is chosen already; it survives a kill -9, and Undo takes a task back."""
    with program(tmp_path / "data") as running:
        person = running.person()
        list_three(person)
        person.choose("Answer mail", "Edit…")
        assert person.submit(done_when="Inbox at zero")["ok"]
        person.reads("Inbox at zero")
        person.choose("Answer mail", "Another day…")
        assert person.submit()["ok"]
        person.reads("“Answer mail” is for Tuesday now.", "it is in your queue for that day", "2 tasks")
        person.choose("Write report", "Another day…")
        assert person.submit(day="Wednesday 4 March")["ok"]
        person.reads("On Wednesday 4 March: Write report", "1 task")
        monday = person.roots()[-1]["ts"]
        running.restart()
        person = running.person()
        plan_next_day(person)
        person.press("Plan this day")
        person.reads("the hours of your day", "Continue")
        person.press("Continue")
        said = person.reads(
            "“Answer mail” is for this day (from Monday 2 March).", "1 task", "shallow", "Inbox at zero"
        )
        assert "Write report" not in said
        assert "Write report" not in str(person.card())
        thread_reads(person, monday, "On Wednesday 4 March")


def test_a_form_that_was_open_meanwhile_leaves_what_was_not_changed_in_it(tmp_path: Path) -> None:
    """S513: its rows were folded out after the change, too, and the box is still ticked as it was."""
    with program(tmp_path / "data") as running:
        person = running.person()
        list_three(person)
        person.choose("Prepare talk", "Edit…")
        person.form()
        person.choose("Answer mail", "Make it the one thing")
        person.card_reads("⭐ *Answer mail*")
        assert person.submit(done_when="Slides are printed")["ok"]
        said = person.card_reads("Slides are printed")
        assert said.count("⭐") == 1
        assert "⭐ *Answer mail*" in said


def test_undo_takes_a_task_back_from_the_thread_that_has_it(tmp_path: Path) -> None:
    """S249"""
    with program(tmp_path / "data") as running:
        person = running.person()
        plan_next_day(person)
        person.press("Plan this day")
        person.reads("the hours of your day", "Continue")
        person.press("Continue")
        person.reads("What do you want to get done on Tuesday")
        tuesday = person.roots()[-1]["ts"]
        list_three(person)
        person.choose("Answer mail", "Another day…")
        assert person.submit(day="Tuesday 3 March")["ok"]
        person.reads("“Answer mail” is for Tuesday now.", "2 tasks")
        thread_reads(person, tuesday, "From Monday 2 March: “Answer mail”.", "1 task")
        person.press("Undo")
        person.reads("“Answer mail” is back on this list.", "3 tasks")
        thread_reads(person, tuesday, "Back to Monday 2 March: “Answer mail”.", "Your list is empty")


def test_words_put_a_task_on_another_day_before_and_in_refine(tmp_path: Path) -> None:
    meanings = {
        "do the mail on Wednesday": [wants("answer"), inputs(later=[2], later_day="2026-03-04")],
        "the report is for Friday": [wants("replan"), course(not_today=[1], day="2026-03-06")],
    }
    with speaking(Listener(meanings)) as settings, program(tmp_path / "data", **settings) as running:
        person = running.person()
        list_three(person)
        person.write("do the mail on Wednesday")
        person.reads("“Answer mail” is for Wednesday now.", "2 tasks")
        person.press("Continue")
        person.reads("A first draft of")
        person.press("Refine")
        person.reads("Commit to calendar")
        person.write("the report is for Friday")
        person.reads("“Write report” is for Friday now.")
        person.press("Undo last update")
        person.reads("Your last change is taken back.")
        person.slash("/tasks")
        eventually(lambda: queue(person), "the queue")
        assert "Answer mail" in queue(person)
        assert "Write report" not in queue(person)


def titles(running: Program) -> list[str]:
    return sorted(CalDav(running.caldav_url()).titles())


def test_a_committed_plan_moves_to_another_day_and_comes_back_whole(tmp_path: Path) -> None:
    """S250: Off this day's calendar, drafted and committed on the other; one Undo after a kill -9 puts both back."""
    with program(tmp_path / "data") as running:
        person = running.person()
        for _, step in STEPS:
            step(person)
        monday, before = person.roots()[-1]["ts"], titles(running)
        person.press("Move this plan…")
        assert person.submit(day="Thursday 5 March")["ok"]
        thread_reads(person, monday, "Your plan moved to Thursday, with 3 tasks; see its thread.")
        eventually(lambda: len(person.roots()) > 1, "the thread of Thursday")
        person.reads("A first draft of Thursday 5 March", "Prepare talk", "Write report", "Answer mail")
        assert titles(running) == []
        person.press("Refine")
        person.press("Commit to calendar")
        person.reads("Thursday 5 March is on your calendar")
        assert "Write report" in titles(running)
        running.restart()
        person = running.person()
        press_in(person, monday, "Undo last update")
        thread_reads(person, monday, "Your last change is taken back.")
        person.reads("has ended")
        eventually(lambda: titles(running) == before, "the calendar as it was")


def test_a_day_with_a_plan_is_offered_the_tasks_instead(tmp_path: Path) -> None:
    """In words: the move is refused, then joined, and the other thread has the tasks."""
    meanings = {
        "move this plan to Tuesday": [wants("replan"), course(move_to="2026-03-03")],
        "then add them there": [wants("replan"), course(move_to="2026-03-03", join=True)],
    }
    with speaking(Listener(meanings)) as settings, program(tmp_path / "data", **settings) as running:
        person = running.person()
        plan_next_day(person)
        person.press("Plan this day")
        person.reads("the hours of your day", "Continue")
        person.press("Continue")
        person.reads("What do you want to get done on Tuesday")
        tuesday = person.roots()[-1]["ts"]
        for _, step in STEPS[:-1]:
            step(person)
        person.write("move this plan to Tuesday")
        person.reads("Tuesday 3 March has a plan already, so I moved nothing.")
        person.write("then add them there")
        person.reads("Your plan moved to Tuesday, with 3 tasks")
        thread_reads(person, tuesday, "From Monday 2 March:", "3 tasks")
        assert titles(running) == []


def press_in(person: Person, ts: str, wanted: str) -> None:
    """Press the newest button with that label in a thread."""

    def look() -> tuple[Any, str, Any] | None:
        inside = person.get("/ui/messages", user=person.user, channel=person.channel, thread_ts=ts)["messages"]
        for message in reversed(inside):
            for block_id, element in controls(message.get("blocks") or []):
                if label(element).startswith(wanted):
                    return message, block_id, element
        return None

    person.use(*eventually(look, f"a control “{wanted}” in {ts}"))


def queue(person: Person) -> str:
    return next((str(m) for m in person.roots() if "in your queue, " in str(m)), "")
