"""Rules stated in words, through the whole program: they are noted during the conversation, and also after a crash."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.factories.told_rules import build_extraction, rule
from tests.factories.words import opening, wants
from tests.scenarios.person import eventually
from tests.scenarios.program import Program
from tests.scenarios.understanding_server import Answers, Listener, speaking

pytestmark = pytest.mark.process

NOW = {"FATEFORGER_NOW": "2026-03-02T07:00:00+01:00"}
WINDOW = {"kind": "prefer", "start": "23:00", "end": "06:00"}
RULE = rule("Um elf ins Bett", "ich gehe um elf ins Bett", rule_kind="fixed_bedtime", windows=[WINDOW])
SAID = "Ja, weiter; und ich gehe um elf ins Bett"
MEANINGS: Answers = {"Please plan my day": [opening()], SAID: [wants("proceed", rules=True)]}
NOTED = "I'll remember “Um elf ins Bett”"


def test_a_rule_is_noted_once_although_the_program_died_while_it_read(tmp_path: Path) -> None:
    """S4, S100, S116: the reply is there at once; kill -9 while the model reads; the next program reads again."""
    listener = Listener(MEANINGS, rules={SAID: build_extraction(RULE)}, reads_rules=False)
    with speaking(listener) as settings:
        program = Program(tmp_path / "data", environment={**NOW, **settings})
        program.start()
        try:
            person = program.person()
            person.write("Please plan my day", thread=False)
            person.reads("Plan this day")
            person.write(SAID, thread=True)
            person.reads("the hours of your day")
            eventually(lambda: listener.rules_asked, "a question for rules")
            assert NOTED not in person.says()
            program.kill()
            listener.reads_rules = True
            program.start()
            person.reads(NOTED)
            assert person.says().count(NOTED) == 1
            person.press("Undo")
            person.reads("Taken back: “Um elf ins Bett”")
        finally:
            if program.process is not None:
                program.kill()
