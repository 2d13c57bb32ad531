"""History and preview in the page, over real MCP and a real CalDAV store, with kill -9 in between."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.scenarios.caldav import CalDav
from tests.scenarios.day import STEPS
from tests.scenarios.person import Json, Person, controls, eventually, label, texts
from tests.scenarios.program import Program

pytestmark = [pytest.mark.process, pytest.mark.extra]


@pytest.fixture
def program(tmp_path: Path) -> Iterator[Program]:
    running = Program(tmp_path / "data", environment={"FATEFORGER_NOW": "2026-03-02T07:00:00+01:00"})
    running.start()
    try:
        yield running
    finally:
        if running.process is not None:
            running.kill()


def history(person: Person) -> list[Json]:
    """Return the blocks of the message that shows the history."""
    shown = [m["blocks"] for m in person.thread() if "What I wrote for" in str(m.get("blocks"))]
    return shown[-1] if shown else []


def rows(person: Person) -> list[str]:
    """Return the text and the button of each write that is still in place."""
    return [
        f"{next(texts(block['text']))} | {label(block['accessory'])}"
        for block in history(person)
        if block["type"] == "section" and "accessory" in block
    ]


def press_row(person: Person, at: int) -> None:
    """Press the button of a row, counted from the newest."""
    message = next(m for m in reversed(person.thread()) if "What I wrote for" in str(m.get("blocks")))
    found = [c for c in controls(message["blocks"]) if label(c[1]) in {"Undo", "Restore"}]
    person.use(message, *found[at])


def test_three_changes_all_undone_from_the_oldest_row_and_redone_after_a_kill(program: Program) -> None:
    """P6, P6b, P17, S241: three rows; the oldest takes back all of them; redo brings all of it back."""
    person = program.person()
    for _, step in STEPS[:-1]:
        step(person)
    person.choose("Answer mail", "15 min later")
    person.reads("5 created")
    person.choose("Write report", "Swap with the one before")
    person.reads("updated.")
    person.choose("Answer mail", "Remove")
    person.reads("out of the plan", "1 deleted")
    calendar = CalDav(program.caldav_url())
    written = calendar.events()
    assert len(written) == 4
    person.press("History")
    eventually(lambda: len(rows(person)) == 3, "three rows")
    assert [row.split("\n")[1].split(" ")[0] for row in rows(person)] == ["“Answer", "“Write", "“Answer"]
    program.restart()
    person = program.person()
    press_row(person, 2)
    person.reads("Taken back: I removed 4 blocks from your calendar.")
    assert calendar_of(program).events() == []
    eventually(lambda: rows(person)[-1].endswith("Restore"), "a row to redo")
    program.restart()
    person = program.person()
    press_row(person, 0)
    person.reads("Done again: I added 4 blocks to your calendar.")
    assert calendar_of(program).events() == written
    eventually(lambda: [row.rsplit(" ", 1)[1] for row in rows(person)] == ["Undo"] * 3, "three rows again")


def test_the_preview_is_what_the_commit_writes(program: Program) -> None:
    """S212, K1: chosen on the card, nothing is written before the commit, and then what was shown."""
    person = program.person()
    for _, step in STEPS[:-1]:
        step(person)
    message, block_id, element = person.find("Write to calendar")
    chosen = next(o for o in element["options"] if next(texts(o["text"])) == "Only on Commit")
    person.use(message, block_id, element, selected_option=chosen)
    person.reads("From now on nothing goes to your calendar before you commit")
    person.choose("Answer mail", "15 min later")
    person.reads("“Answer mail” is now 12:05–12:35")
    person.press("Preview")
    said = person.reads("What would be written for Monday 2 March", "5 to add")
    assert calendar_of(program).events() == []
    added = [line.removeprefix("• Add ") for text in said.split("\n") for line in text.split("\n") if "Add “" in line]
    person.press("Commit to calendar")
    person.reads("is on your calendar", "5 created")
    assert [f"“{t}” {s[11:16]}–{e[11:16]}" for t, s, e in calendar_of(program).events()] == sorted(
        added, key=lambda line: line[-11:]
    )


def calendar_of(program: Program) -> CalDav:
    return CalDav(program.caldav_url())
