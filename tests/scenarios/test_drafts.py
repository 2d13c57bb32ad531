"""The whole program with a model server: the draft is there before it is asked for, survives a kill, and is done without
when the model is (S44, S45, S120)."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.fakes.openai_server import KEY, MODEL, ModelServer, ReceivedRequest, ScriptedAnswer, model_server
from tests.scenarios.day import THREE_TASKS, confirm_date, confirm_frame, open_tasks, start
from tests.scenarios.person import Person, eventually
from tests.scenarios.program import Program

from fateforger.conversation.language.plan_proposals import NO_ANSWER

pytestmark = pytest.mark.process

BLOCKS = [
    {"task": 3, "title": None, "type": "DW", "start": "09:30", "minutes": 60},
    {"task": None, "title": "Walk", "type": "R", "start": "10:30", "minutes": 15},
    {"task": 1, "title": None, "type": "DW", "start": "10:45", "minutes": 90},
    {"task": 2, "title": None, "type": "SW", "start": "16:00", "minutes": 30},
]


def answers(asked: ReceivedRequest) -> ScriptedAnswer:
    """Answer with the draft, and with nothing once another one is wanted."""
    if "plan[" in asked.last:
        return ScriptedAnswer("The quota is used up.", status=400)
    return ScriptedAnswer(json.dumps({"blocks": BLOCKS}))


def has_draft(database: Path) -> bool:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        return any(
            json.loads(text)["planning"]["sketch"]
            for (text,) in connection.execute("select session from planning_session")
        )


def drive(program: Program, server: ModelServer) -> None:
    program.start()
    person = program.person()
    for step in (start, confirm_date, confirm_frame, open_tasks):
        step(person)
    person.submit(**THREE_TASKS, draft_my_day_right_away=False)
    person.reads("3 tasks")
    eventually(lambda: has_draft(program.data / "fateforger.db"), "the draft is kept")
    program.restart()
    person = program.person()
    proceeds(person, server)
    person.press("Redo step")
    person.reads(NO_ANSWER, "*09:00–10:00* Prepare talk")
    assert "Walk" not in person.says()
    assert program.stop() == 0


def proceeds(person: Person, server: ModelServer) -> None:
    person.press("Continue")
    said = person.reads("A first draft of", "Walk", "Refine")
    assert "09:30–10:30" in said
    assert len(server.asked) == 1


async def test_s44_s45_s120_a_draft_ahead_of_time_and_without_the_model(tmp_path: Path) -> None:
    async with model_server(answers) as server:
        environment = {
            "FATEFORGER_NOW": "2026-03-02T07:00:00+01:00",
            "FATEFORGER_MODEL": MODEL,
            "FATEFORGER_MODEL_URL": server.url,
            "FATEFORGER_MODEL_KEY": KEY,
        }
        program = Program(tmp_path / "data", environment=environment)
        try:
            await asyncio.to_thread(drive, program, server)
        finally:
            if program.process is not None:
                program.kill()
        assert len(server.asked) == 2
    assert KEY not in program.log.read_text()
    assert "Prepare talk" not in program.log.read_text()
