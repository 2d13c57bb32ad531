"""The steps of a session, from nothing to a committed day, as a person presses them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.scenarios.person import Person

THREE_TASKS = {
    "task_1": "Write report", "minutes_for_task_1": 90, "kind_of_task_1": "Deep",
    "task_2": "Answer mail", "minutes_for_task_2": 30, "kind_of_task_2": "Shallow",
    "task_3": "Prepare talk", "minutes_for_task_3": 60, "kind_of_task_3": "Deep",
    "the_one_thing_that_matters": "Task 3",
}  # fmt: skip


def start(person: Person) -> None:
    assert person.slash("/timebox") == {"ok": True}
    person.reads("Plan this day")


def confirm_date(person: Person) -> None:
    person.press("Plan this day")
    person.reads("the hours of your day", "Continue")


def confirm_frame(person: Person) -> None:
    person.press("Continue")
    person.reads("What do you want to get done", "Add tasks")


def open_tasks(person: Person) -> None:
    person.press("Add tasks")
    person.form()


def add_tasks(person: Person) -> None:
    answer = person.submit(**THREE_TASKS)
    assert (answer["ok"], answer["errors"]) == (True, None), answer
    person.reads("A first draft of", "Write report", "Refine")


def refine(person: Person) -> None:
    person.press("Refine")
    person.reads("Commit to calendar")


def commit(person: Person) -> None:
    person.press("Commit to calendar")
    person.reads("is on your calendar", "5 created")


STEPS: tuple[tuple[str, Callable[[Person], None]], ...] = (
    ("start", start),
    ("confirm date", confirm_date),
    ("confirm frame", confirm_frame),
    ("open the task form", open_tasks),
    ("add tasks", add_tasks),
    ("refine", refine),
    ("commit", commit),
)


def all_steps(person: Person) -> Iterator[str]:
    """Press through to a committed day, stopping after each step."""
    for name, step in STEPS:
        step(person)
        yield name
