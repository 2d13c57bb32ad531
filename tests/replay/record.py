"""Record the turns in this directory again, from the real program: ``python -m tests.replay.record``.

A day in words and clicks goes through ``fateforger up`` with FATEFORGER_RECORD, with a model server that gives
scripted answers. ``DAY`` lists the turns and their names.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.factories.told_rules import NOTHING
from tests.factories.words import block, build_move, change, frame, inputs, new, opening, patch, wants
from tests.fakes.openai_server import ReceivedRequest, ScriptedAnswer
from tests.scenarios.caldav import CalDav
from tests.scenarios.person import Person, eventually
from tests.scenarios.program import Program
from tests.scenarios.understanding_server import Listener, speaking

HERE = Path(__file__).parent
NOW = "2026-03-02T07:00:00+01:00"
STAND_UP = (datetime(2026, 3, 2, 9, 0, tzinfo=UTC), datetime(2026, 3, 2, 9, 30, tzinfo=UTC))
Line = dict[str, Any] | str | ScriptedAnswer


def make_answer(line: str | dict[str, Any]) -> ScriptedAnswer:
    return ScriptedAnswer(line if isinstance(line, str) else json.dumps(line, ensure_ascii=False))


@dataclass
class SequentialListener(Listener):
    """A model that says its lines in order, always has the same draft to offer, and finds no rule in any message."""

    lines: tuple[Line, ...] = ()

    def script(self, asked: ReceivedRequest) -> ScriptedAnswer:
        if "You draft" in asked.system:
            return make_answer(DRAFT)
        if "should_extract" in asked.system:
            return make_answer(NOTHING)
        line, *rest = self.lines
        self.lines = tuple(rest)
        return line if isinstance(line, ScriptedAnswer) else make_answer(line)


@dataclass(frozen=True)
class Step:
    """A turn: what the person does, what the model says to that, and what can be read afterwards."""

    name: str
    act: Callable[[Person], object]
    reads: str
    says: tuple[Line, ...] = ()
    drafted: bool = False
    """True if a draft is made in the background then; it is recorded as well."""


def say(text: str) -> Callable[[Person], object]:
    return lambda person: person.write(text)


DRAFT = {
    "blocks": [
        {"task": 1, "title": None, "type": "DW", "start": "08:00", "minutes": 90},
        {"task": None, "title": "Souffler", "type": "BU", "start": "09:30", "minutes": 15},
        {"task": 2, "title": None, "type": "DW", "start": "11:00", "minutes": 45},
        {"task": 3, "title": None, "type": "SW", "start": "14:00", "minutes": 30},
    ]
}
TASKS = [
    new("Write report", 90, one_thing=True, notes="Chapter 3"),
    new("Réviser le contrat, page 2", 45),
    new("Mail", depth="shallow"),
]
DAY = (
    Step("opening", lambda person: person.write("plan my day", thread=False), "Plan this day", (opening(),)),
    Step("date-by-click", lambda person: person.press("Plan this day"), "the hours of your day"),
    Step("frame-in-words", say("ab acht Uhr"), "08:00", (wants("answer"), frame(day_start="08:00"))),
    Step("frame-by-click", lambda person: person.press("Continue"), "What do you want to get done"),
    Step(
        "tasks-repaired",
        say("the report 90 min, most important; réviser le contrat 45; mail"),
        "Réviser le contrat",
        (wants("answer"), {**inputs(add=TASKS), "inputs": {"add": "all"}}, inputs(add=TASKS)),
    ),
    Step(
        "model-refuses", say("weiter"), "does not have the model", (ScriptedAnswer(status=404, text="No such model"),)
    ),
    Step("model-makes-no-sense", say("weiter"), "cannot be used", ("Gern!", "Gern!", "Nein.", "Nein.")),
    Step(
        "task-changed",
        say("mail takes 30"),
        "30 min",
        (wants("answer"), inputs(change=[change(3, minutes=30)])),
        drafted=True,
    ),
    Step("drafted", say("よし、次へ"), "A first draft of", (wants("proceed"),)),
    Step("to-refine", lambda person: person.press("Refine"), "Commit to calendar"),
    Step(
        "patch-repaired",
        say("Mail at 16:00, and a walk at 15:00"),
        "16:00–16:30",
        (
            wants("answer"),
            patch(build_move(9, "16:00", 30)),
            f"```json\n{make_answer(patch(build_move(4, '16:00', 30), block('Walk', '15:00', 30, 'H'))).text}\n```",
        ),
    ),
    Step("question", say("when do I walk?"), "At three.", (wants("ask"), {"answer": "At three."})),
    Step("block-by-click", lambda person: person.choose("Walk", "15 min earlier"), "“Walk” is now 14:45–15:15"),
    Step("commit-in-words", say("op de agenda ermee"), "is on your calendar", (wants("proceed"),)),
    Step("undo-by-click", lambda person: person.press("Undo"), "Commit to calendar"),
)


def main() -> None:
    """Replace the recordings in this directory."""
    with TemporaryDirectory() as folder:
        recorded = Path(folder) / "turns"
        with recording(Path(folder) / "data", recorded) as turns:
            for name, path in turns:
                sys.stdout.write(f"{name}: {path.stat().st_size // 1024} KiB\n")
        for old in HERE.glob("*.json"):
            old.unlink()
        for copy in recorded.glob("*.kept"):
            shutil.copyfile(copy, HERE / f"{copy.stem}.json")


@contextmanager
def recording(data: Path, folder: Path) -> Iterator[list[tuple[str, Path]]]:
    """Go through the day; gives each turn's name and file. The file is there as soon as the turn is."""
    listener = SequentialListener({})
    named: list[tuple[str, Path]] = []
    with speaking(listener) as settings:
        more = {"FATEFORGER_NOW": NOW, "FATEFORGER_RECORD": str(folder), "FATEFORGER_RECORD_TITLES": "keep"}
        program = Program(data, environment={**settings, **more}).start()
        try:
            person = program.person()
            CalDav(program.caldav_url()).put("stand-up", "Stand-up", *STAND_UP)
            known: set[Path] = set()
            for number, step in enumerate(DAY, 1):
                listener.lines = step.says
                step.act(person)
                person.reads(step.reads)
                named.append(keep_copy(new_file(folder, known, step.name, draft=False), f"{number:02}-{step.name}"))
                assert listener.lines == (), step.name
                if step.drafted:
                    ahead = new_file(folder, known, "the draft", draft=True)
                    named.append(keep_copy(ahead, f"{number:02}-{step.name}-draft"))
                known |= {*folder.glob("*.json")}
        finally:
            program.stop()
    yield named


def new_file(folder: Path, known: set[Path], what: str, *, draft: bool) -> Path:
    """Return the recording that is new since ``known``: of a turn, or of a draft made in the background."""

    def look() -> Path | None:
        fresh = [path for path in folder.glob("*.json") if path not in known]
        return next((p for p in fresh if (json.loads(p.read_text())["runs"][0]["kind"] == "draft") is draft), None)

    return eventually(look, what)


def keep_copy(path: Path, name: str) -> tuple[str, Path]:
    copy = path.with_name(f"{name}.kept")
    shutil.copyfile(path, copy)
    return name, copy


if __name__ == "__main__":
    main()
