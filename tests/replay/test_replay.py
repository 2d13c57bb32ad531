"""Recorded turns of the real program still give the same session, plan, effects and prompts (S60).

After an intended change, ``REPLAY_WRITE=1 pytest tests/replay`` runs each turn again with its recorded answers and
writes down the new results. People read the diff. :mod:`tests.replay.record` records all turns again.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fateforger.conversation.recordings import RecordedTurn, Run, parse_recorded_turn
from fateforger.conversation.turn_runs import replay, rerun

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("*.json"))


def turn_in(file: Path) -> RecordedTurn:
    return parse_recorded_turn(json.loads(file.read_text()), file.name)


def write_turn(turn: RecordedTurn, file: Path) -> None:
    file.write_text(turn.model_dump_json(indent=1))


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
async def test_it_goes_as_it_went(file: Path) -> None:
    turn = turn_in(file)
    if os.environ.get("REPLAY_WRITE"):
        turn = turn.model_copy(update={"runs": tuple([await rerun(run) for run in turn.runs])})
        write_turn(turn, file)
    assert await replay(turn) == ()


def test_they_are_of_many_kinds() -> None:
    """A first message, words and clicks in all stages, a repaired answer, a refusal, an unusable answer, a draft made
    ahead, a write and an undo."""
    turns = [turn_in(file) for file in FILES]
    runs = [run for turn in turns for run in turn.runs]
    graph = [run for run in runs if isinstance(run, Run)]
    assert {run.kind for run in runs} == {"opening", "turn", "draft"}
    assert {run.input.session.stage.number for run in graph} == {0, 1, 2, 3, 4, 5}
    assert {run.input.command.kind == "user_reply" for run in graph} == {True, False}
    assert [e.failure.kind for run in runs for e in run.exchanges if e.failure] == ["model_rejected"]
    assert max(len(e.history) for run in runs for e in run.exchanges) == 1
    assert {effect.status for turn in turns for effect in turn.effects} >= {"changed", "undone"}
    assert {turn.ended for turn in turns} == {"done"}


def test_nothing_in_them_tells_where_they_were_made() -> None:
    said = "".join(file.read_text() for file in FILES)
    assert [word for word in ("/tmp", "/home", "/root", "xoxb-", "sk-test") if word in said] == []
