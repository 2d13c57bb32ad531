"""App Home as the person's board: it follows every change that it shows, without being opened again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import run_program
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import all_steps
from tests.scenarios.person import Json, NotSeen, Person, controls, eventually, label, texts
from tests.scenarios.program import Program

from fateforger.cli.options import find_operator

pytestmark = [pytest.mark.process, pytest.mark.extra]

MOST_ABOVE_THE_FOLD = 5
MONDAY = "2026-03-02T07:00:00+01:00"


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    running = Program(tmp_path / "data", environment={"FATEFORGER_NOW": MONDAY, "FATEFORGER_WATCH_SECONDS": "1"})
    running.start()
    try:
        yield running
    finally:
        if running.process is not None:
            running.kill()


class Board:
    """A person who leaves their App Home open."""

    def __init__(self, person: Person) -> None:
        self.person = person
        person.post("/ui/home_opened", tab="home")

    def view(self) -> Json | None:
        found: Json | None = self.person.get("/ui/home", user=self.person.user)["view"]
        return found

    @property
    def blocks(self) -> list[Json]:
        view = self.view()
        return [] if view is None else list(view["blocks"])

    def words(self) -> str:
        return "\n".join(texts(self.blocks))

    def reads(self, *expected: str, gone: str = "", seconds: float = 30.0) -> str:
        """Wait until App Home shows each text, and no longer ``gone``. It never has more than five controls on top."""

        def look() -> str | None:
            blocks = self.blocks
            assert len(list_above_the_fold(blocks)) <= MOST_ABOVE_THE_FOLD
            shown = "\n".join(texts(blocks))
            return shown if all(each in shown for each in expected) and not (gone and gone in shown) else None

        try:
            return eventually(look, "", deadline=seconds)
        except NotSeen:
            raise AssertionError(f"App Home shows neither {expected}, or still {gone!r}:\n{self.words()}") from None

    def follows(self, *expected: str, gone: str = "") -> str:
        """Check that App Home shows a change made elsewhere within the promised two seconds."""
        return self.reads(*expected, gone=gone, seconds=2.0)

    def use(self, wanted: str, **chosen: Any) -> None:
        view = eventually(self.view, "App Home")
        block_id, element = next((b, e) for b, e in controls(view["blocks"]) if label(e).startswith(wanted))
        action = {"type": element["type"], "action_id": element["action_id"], "block_id": block_id, **chosen}
        if "value" in element and not chosen:
            action["value"] = element["value"]
        self.person.post("/ui/action", surface={"type": "home", "view_id": view["id"]}, action=action, state={})


def list_above_the_fold(blocks: list[Json]) -> list[str]:
    """Return the labels of the controls before the first line across the page."""
    first = next((n for n, block in enumerate(blocks) if block["type"] == "divider"), len(blocks))
    return [label(element) for _, element in controls(blocks[:first])]


def test_the_board_follows_every_change(program: Program) -> None:
    """S353, S354, S355: App Home shows the current state without being opened again."""
    person, calendar = program.person(), CalDav(program.caldav_url())
    home = Board(person)
    home.reads("Today, Monday 2 March", "I plan your day with you", "I know no rules of yours yet")
    assert list_above_the_fold(home.blocks) == ["Plan my day"]
    for _ in all_steps(person):
        pass
    shown = home.reads("on your calendar, 5 blocks", "Next: *Prepare talk* at 09:00.", "Open its thread")
    assert shown.index("on your calendar") < shown.index("Your queue")
    eventually(lambda: any(block["type"] == "image" for block in home.blocks), "the picture of the day")
    assert list_above_the_fold(home.blocks) == ["Open its thread", "Plan another day"]
    link = next(element["url"] for _, element in controls(home.blocks) if label(element) == "Open its thread")
    assert f"/archives/{person.channel}/p{person.roots()[-1]['ts'].replace('.', '')}" in link

    calendar.move("Prepare talk", "T090000", "T091500", "T100000", "T101500")  # in the calendar itself
    home.reads("Next: *Prepare talk* at 09:15.")
    person.press("Undo")
    home.reads("Planning *Monday 2 March*: refining", gone="Next: ")


def test_the_board_names_the_clock_of_a_day_planned_elsewhere(program: Program) -> None:
    """S443: who planned in Amsterdam and flew to New York reads whose times they are."""
    person = program.person()
    for _ in all_steps(person):
        pass
    Board(person).reads("Next: *Prepare talk* at 09:00.", gone="Amsterdam time")
    program.kill()
    program.environment["FATEFORGER_TIME_ZONE"] = "America/New_York"
    program.environment["FATEFORGER_NOW"] = "2026-03-02T11:00:00+01:00"
    program.start()
    Board(program.person()).reads("Now: *Write report*, until 11:40.", "The times of this day are in Amsterdam time.")


def test_the_board_follows_the_queue_the_rules_and_the_language(program: Program) -> None:
    """S353, S355"""
    person = program.person()
    home = Board(person)
    home.reads("I know no rules of yours yet")
    home.use("Add a task")
    person.submit(task="Water the plants")
    home.reads("Water the plants")
    home.use("Add a routine")
    person.submit(title="School run", from_when_to_when="8:10-8:45")
    home.reads("I keep to 1 rule of yours", gone="I know no rules")
    option = next(
        option
        for _, element in controls(home.blocks)
        if element["type"] == "static_select"
        for option in element["options"]
        if "Nederlands" in next(texts(option))
    )
    home.use("Language", selected_option=option)
    home.reads("Vandaag, maandag 2 maart", "Water the plants", gone="Your rules")


def test_what_was_erased_is_not_noted_again(program: Program) -> None:
    """S353: App Home says that it knows nothing, and no row says who has opened it."""
    person = program.person()
    home = Board(person)
    home.reads("Forget me")
    home.use("Add a task")
    person.submit(task="Water the plants")
    home.reads("Water the plants")
    home.use("Forget me")
    home.reads("I plan your day with you", gone="Water the plants")


def test_what_the_operator_did_is_on_the_board_and_in_the_export(program: Program) -> None:
    """S400: when, what and by whom; what was done again on a day is one line."""
    board = Board(program.person())
    whose = ("--data-dir", str(program.data), "--now", MONDAY)
    person = board.person.user
    read = ("constraints", "list", "--user", person)
    for command in (read, ("tasks", "add", "Water the plants", "--user", person), read):
        status, _, errors = run_program(*command, *whose)
        assert status == 0, errors
    twice = f"your rules were read (by {find_operator()}, 2 times that day)"
    shown = board.reads("What was done with your data", twice, "your queue was changed")
    assert shown.count("your rules were read") == 1
    status, said, errors = run_program("person", "export", person, *whose)
    assert status == 0, errors
    noted = json.loads(said)["held"]["operator_actions"]
    assert [each["command"] for each in noted] == ["constraints list", "tasks add", "constraints list", "person export"]
    board.reads("everything that I know about you was exported")
