"""A model server that knows the expected answer to each question of the evaluation, and may be wrong about some."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from tests.fakes.openai_server import ReceivedRequest, ScriptedAnswer
from tests.scenarios.understanding_server import Listener, speaking

from fateforger.conversation.evaluation_cases import ANSWERS, Case, parse_answer
from fateforger.conversation.language.model_calls import system_text
from fateforger.text import clean_text

SPOIL: dict[str, dict[str, Any]] = {
    "start": {"plan": True, "date": "2031-01-01"},
    "queue": {"wants": "language", "speak": "la", "number": 611},
    "decide": {"wishes": [{"intent": "older_history"}]},
    "facts": {"date": "2031-01-01"},
    "date": {"date": "2031-01-01"},
    "patch": {"ops": [{"op": "to_day", "day": "2031-01-01"}]},
    "replan": {"late": 611},
    "rules": {"should_extract": True, "constraints": [{"minutes_min": 611}, {"minutes_min": 612}]},
    "memory": {"wish": "undo", "numbers": [4, 3, 2, 1]},
    "ask": {"answer": "No idea.", "block": "b4"},
}
"""An answer by prompt that no case expects."""


class InformedListener(Listener):
    """Answers as the cases expect it; those whose prompt and case ``wrong`` names are spoiled."""

    def __init__(
        self, cases: Iterable[Case], wrong: Callable[[Case, str], bool] = lambda _case, _prompt: False
    ) -> None:
        super().__init__({})
        self.prompts = {system_text(prompt, answer): prompt for prompt, answer in ANSWERS.items()}
        self.known = {
            (prompt, clean_text(case.words_for(prompt))): parse_answer(
                prompt, SPOIL[prompt] if wrong(case, prompt) else case.expected[prompt][0]
            ).model_dump_json()
            for case in cases
            for prompt in case.expected
        }

    def script(self, asked: ReceivedRequest) -> ScriptedAnswer:
        prompt = self.prompts.get(asked.system)
        if prompt is None:
            return ScriptedAnswer(json.dumps({"sum": 42}))
        said = asked.messages[1]["content"].rsplit("The message:\n", 1)[1].split("\n", 1)[1].rsplit("\n", 1)[0]
        return ScriptedAnswer(self.known[prompt, said])


@contextmanager
def knowing(
    cases: Iterable[Case], wrong: Callable[[Case, str], bool] = lambda _case, _prompt: False
) -> Iterator[dict[str, str]]:
    """Run the server and yield the settings of a program that uses it."""
    with speaking(InformedListener(cases, wrong)) as settings:
        yield settings
