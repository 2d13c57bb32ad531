"""``fateforger replay``: the same or different, field by field, without any model (S60)."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import run_program
from tests.factories.words import wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import Person, open_harness_at

from fateforger.adapters.recordings import RecordingFiles
from fateforger.conversation.redaction import Redaction
from fateforger.conversation.turn_runs import RecordingSink

Done = subprocess.CompletedProcess[str]


def replay(*arguments: str | Path) -> Done:
    return Done(arguments, *run_program("replay", *map(str, arguments)))


@pytest.fixture
async def turns(tmp_path: Path) -> Path:
    """Return a directory with two turns: a click, and a message."""
    kept = RecordingSink(RecordingFiles(tmp_path / "turns"), Redaction())
    harness = await open_harness_at(tmp_path, model=ScriptedModel(wants("proceed")), kept=kept)
    anna = Person(harness)
    await anna.to_frame()
    await anna.says("weiter")
    await harness.close()
    return tmp_path / "turns"


def document(turns: Path, nth: int) -> tuple[Path, dict[str, Any]]:
    found = [(path, json.loads(path.read_text())) for path in sorted(turns.iterdir())]
    return sorted(found, key=lambda each: len(each[1]["runs"][0]["exchanges"]))[nth]


async def test_a_directory_goes_as_it_went(turns: Path) -> None:
    done = replay(turns)
    assert (done.returncode, done.stderr) == (0, "")
    assert [line.rpartition(": ")[2] for line in done.stdout.splitlines()] == ["the same."] * 2


async def test_what_is_different_is_said_field_by_field(turns: Path) -> None:
    path, turn = document(turns, 1)
    turn["runs"][0]["outcome"]["session"]["day"]["frame"]["lunch_minutes"] = 10
    turn["runs"][0]["exchanges"][0]["user"] += "\none line more"
    path.write_text(json.dumps(turn))
    done = replay(path)
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.splitlines() == [
        f"{path}: 2 differences",
        "  prompts [0] decide.user",
        *[line for line in done.stdout.splitlines() if line.startswith("    @@")],
        "    -one line more",
        "  session day.frame.lunch_minutes: 10 -> 45",
    ]


async def test_as_one_document(turns: Path) -> None:
    path, turn = document(turns, 1)
    turn["runs"][0]["outcome"]["effects"] = [{"kind": "undo_group", "group": "g1"}]
    turn["runs"][0]["exchanges"][0]["completion"]["text"] = json.dumps(wants("back"))
    path.write_text(json.dumps(turn))
    done = replay("--json", path)
    said = json.loads(done.stdout)
    assert (done.returncode, said["same"], said["turns"][0]["same"]) == (1, False, False)
    found = {(d["part"], d["where"]): (d["was"], d["now"]) for d in said["turns"][0]["differences"]}
    assert found["session", "stage"] == ("capture_inputs", "date")
    assert found["effects", "[0].group"] == ("g1", None)


async def test_a_question_that_was_not_recorded(turns: Path) -> None:
    """An answer that fits no longer, and one that is missing."""
    path, turn = document(turns, 1)
    turn["runs"][0]["exchanges"][0]["name"] = "sing/1"
    path.write_text(json.dumps(turn))
    found = json.loads(replay("--json", path).stdout)["turns"][0]["differences"]
    assert [d["where"] for d in found if d["part"] == "prompts"] == ["decide (not recorded)", "sing (not asked)"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{}", "This is no recorded turn."),
        (
            '{"version": 99, "runs": []}',
            "recorded by a newer fateforger (format 99, this one knows 1); please upgrade.",
        ),
        ('{"version": 1, "program": "0.0.1", "runs": []}', "recorded by fateforger 0.0.1 and cannot be read any more"),
    ],
)
def test_what_cannot_be_replayed(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "turn.json").write_text(text)
    done = replay(tmp_path / "turn.json")
    assert done.returncode == 2
    assert sentence in done.stderr


def test_an_empty_directory(tmp_path: Path) -> None:
    done = replay(tmp_path)
    assert (done.returncode, "There is no recorded turn in that directory." in done.stderr) == (2, True)
