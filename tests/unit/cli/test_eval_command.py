"""``fateforger eval``: the whole set against a server that speaks OpenAI's chat completions, and its results."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.command_line import run_program
from tests.factories.evaluation_server import knowing
from tests.factories.words import wants
from tests.fakes.openai_server import MODEL
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import Person, open_harness_at

from fateforger.adapters.recordings import RecordingFiles
from fateforger.conversation.evaluation_cases import ANSWERS, Case, load_cases
from fateforger.conversation.redaction import Redaction
from fateforger.conversation.turn_runs import RecordingSink

Done = subprocess.CompletedProcess[str]
CASES = tuple(load_cases())
ASKED = sum(len(case.expected) for case in CASES)
NO_MODEL = {"FATEFORGER_MODEL": "", "FATEFORGER_MODEL_URL": ""}
NOWHERE = {"FATEFORGER_MODEL": MODEL, "FATEFORGER_MODEL_URL": "http://127.0.0.1:9/v1"}


def run_eval(*arguments: str | Path, environment: Mapping[str, str] | None = None) -> Done:
    return Done(arguments, *run_program("eval", *map(str, arguments), environment=environment))


def documents(done: Done) -> dict[str, Any]:
    assert (done.returncode, done.stderr) == (0, "")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def is_third(case: Case, prompt: str) -> bool:
    return CASES.index(case) % 3 == list(case.expected).index(prompt) % 3


def test_a_model_that_is_always_right() -> None:
    """S280: The whole set, over real HTTP, with the tokens, the cost and the time of each prompt and language."""
    with knowing(CASES) as settings:
        found = documents(run_eval("--json", environment={**settings, "FATEFORGER_MODEL_PRICES": f"{MODEL}=2/4"}))
    assert (found["model"], found["asked"], found["right"], found["accuracy"]) == (MODEL, ASKED, ASKED, 1.0)
    assert [each["mistakes"] for each in found["results"]] == [[]] * ASKED
    assert found["prompts"].keys() == ANSWERS.keys()
    assert found["languages"].keys() == {case.language for case in CASES}
    tokens = found["tokens"]
    assert found["cost"] == pytest.approx((2 * tokens["prompt"] + 4 * tokens["completion"]) / 1e6)
    for group in (*found["prompts"].values(), *found["languages"].values()):
        assert group["accuracy"] == 1.0
        assert group["seconds"]["longest"] >= group["seconds"]["median"] > 0
        assert group["tokens"]["prompt"] > group["tokens"]["completion"] > 0


def test_wrong_answers_are_wrong_and_no_others(tmp_path: Path) -> None:
    """S280, S281: Each wrong answer counts in its prompt and language; two saved results are compared."""
    some = [(case, prompt) for case in CASES for prompt in case.expected if case.language in {"en", "fr"}]
    wrong = {(case.id, prompt) for case, prompt in some if is_third(case, prompt)}
    with knowing(CASES, is_third) as settings:
        worse = documents(run_eval("--language", "en", "--language", "fr", "--json", environment=settings))
    assert {(each["id"], each["prompt"]) for each in worse["results"] if each["mistakes"]} == wrong
    assert worse["right"] == len(some) - len(wrong)
    missed = Counter(prompt for _, prompt in wrong)
    assert {name: group["asked"] - group["right"] for name, group in worse["prompts"].items()} == dict(missed)
    better = {**worse, "results": [{**each, "mistakes": []} for each in worse["results"]]}
    for name, document in (("a", worse), ("b", better)):
        (tmp_path / name).write_text(json.dumps(document))
    found = documents(run_eval("--compare", tmp_path / "a", tmp_path / "b", "--json"))
    assert (found["first"]["right"], found["second"]["right"]) == (len(some) - len(wrong), len(some))
    assert found["only_first"] == []
    assert sorted(found["only_second"]) == sorted(f"{case} {prompt}" for case, prompt in wrong)
    said = run_eval("--compare", tmp_path / "b", tmp_path / "a").stdout.splitlines()
    assert said[-1].startswith("together")
    assert [line.split("%")[0].split()[-1] for line in said[-1].split("→")[:2]] == [
        "100.0",
        f"{100 * worse['accuracy']:.1f}",
    ]


def test_mistakes_and_groups_for_people() -> None:
    """S280"""
    with knowing(CASES, lambda case, _: case.kind == "vague") as settings:
        done = run_eval("--language", "fr", "--prompt", "date", environment=settings)
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert [line.split()[:3] for line in lines if line.startswith("✗")] == [["✗", "fr-026", "date:"]]
    assert [line.split()[0] for line in lines if "tokens" in line and not line.startswith("✗")][:2] == ["date", "fr"]
    assert "no price set" in lines[-1]


def test_without_a_model() -> None:
    done = run_eval(environment=NO_MODEL)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("No language model is configured; set FATEFORGER_MODEL")
    assert done.stderr.count("\n") == 1
    said = run_eval("--json", environment=NO_MODEL)
    assert (said.returncode, json.loads(said.stdout)["error"]["where"]) == (2, "model")


def test_a_server_that_does_not_answer_or_refuses() -> None:
    done = run_eval(environment=NOWHERE)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "The language model's server cannot be reached.\n"
    with knowing(CASES) as settings:
        refused = run_eval("--json", environment={**settings, "FATEFORGER_MODEL_KEY": "wrong"})
    assert (refused.returncode, json.loads(refused.stdout)["error"]["kind"]) == (3, "model_auth_failed")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--prompt", "sing"), "no case for that prompt and language"),
        (("--language", "xx"), "no case for that prompt and language"),
        (("--add", "turn.json"), "--add needs --cases FILE"),
        (("--compare", "no-such-file", "other"), "cannot read no-such-file"),
    ],
)
def test_what_cannot_be_done(arguments: tuple[str, ...], words: str) -> None:
    done = run_eval(*arguments, environment=NOWHERE)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr


def test_no_result_and_no_case(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("{}")
    assert "This is no result of fateforger eval --json." in run_eval("--compare", *[tmp_path / "a"] * 2).stderr
    (tmp_path / "mine.jsonl").write_text('{"id": "x"}\n')
    done = run_eval("--cases", tmp_path / "mine.jsonl", environment=NOWHERE)
    assert (done.returncode, "mine.jsonl, line 1" in done.stderr) == (2, True)


async def test_recorded_turns_are_added_once_and_asked_again(tmp_path: Path) -> None:
    """S281"""
    kept = RecordingSink(RecordingFiles(tmp_path / "turns"), Redaction())
    harness = await open_harness_at(tmp_path, model=ScriptedModel(wants("proceed")), kept=kept)
    anna = Person(harness)
    await anna.to_frame()
    await anna.says("weiter im Text")
    await harness.close()
    mine = tmp_path / "mine.jsonl"
    added = documents(run_eval("--add", tmp_path / "turns", "--cases", mine, "--json"))
    assert (added, mine.stat().st_mode & 0o777) == ({"added": 1, "file": str(mine)}, 0o600)
    before = mine.read_text()
    again = run_eval("--add", tmp_path / "turns", "--cases", mine)
    assert again.stdout.startswith("0 cases added to ")
    assert mine.read_text() == before
    own = Case.model_validate_json(before)
    assert own.message == "weiter im Text"
    with knowing([*CASES, own], lambda case, _: case.kind == "recorded") as settings:
        found = documents(
            run_eval("--cases", mine, "--prompt", "decide", "--language", own.language, "--json", environment=settings)
        )
    assert [each["id"] for each in found["results"] if each["mistakes"]] == [own.id]
    assert found["kinds"]["recorded"]["asked"] == 1
