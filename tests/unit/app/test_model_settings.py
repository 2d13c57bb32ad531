"""The choice of the model, and messages of doctor about it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.factories.message_reader import read_message
from tests.factories.words import wants
from tests.fakes.openai_server import KEY, MODEL, ReceivedRequest, ScriptedAnswer, in_turn, model_server
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.sessions import MONDAY, MORNING, event, make_command, plan_session, task

from fateforger.adapters.model.client import LengthReport
from fateforger.adapters.model.endpoint import PROVIDERS, Answers, Price, Thinking
from fateforger.app import models
from fateforger.app.health import run_checks
from fateforger.app.models import build_endpoint
from fateforger.app.program import build_model, describe_model
from fateforger.app.resources import Check
from fateforger.config import Settings, read_settings
from fateforger.errors import BadInput, ModelTimedOut, ModelUnreachable
from fateforger.limits import MAX_PROMPT_MESSAGE_CHARS
from fateforger.ports.model import Role, estimate_tokens
from fateforger.session.memory import RecalledConstraints
from fateforger.session.stages import TimeboxingStage
from fateforger.values import replace


def settings(tmp_path: Path, **given: Any) -> Settings:
    return read_settings(data_dir=tmp_path, **given)


def test_without_a_model_there_is_none(tmp_path: Path) -> None:
    assert build_model(settings(tmp_path)) is None
    assert describe_model(settings(tmp_path)) == "Language model: none; buttons and forms do the whole job."


def test_a_key_alone_sends_nothing_to_anybody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-somebody-elses")
    assert build_model(settings(tmp_path)) is None


def test_a_provider_knows_its_address(tmp_path: Path) -> None:
    endpoint = build_endpoint(settings(tmp_path, model_provider="ollama"), "gemma3:4b")
    assert (endpoint.url, endpoint.model, endpoint.key) == ("http://127.0.0.1:11434/v1", "gemma3:4b", "")


OPTIONS = {
    "openai": (Answers.JSON, None, 20, None),
    "openrouter": (Answers.JSON, None, 20, None),
    "gemini": (Answers.JSON, None, 20, None),
    "ollama": (Answers.SCHEMA, Thinking.OFF, 60, 10_240),
    "vllm": (Answers.SCHEMA, Thinking.OFF, 20, None),
}


@pytest.mark.parametrize("provider", sorted(PROVIDERS))
def test_each_provider_has_defaults_and_each_can_be_set(provider: str, tmp_path: Path) -> None:
    """S274"""
    given = {"model_provider": provider, "model_key": "sk-1"}
    own = {"model_answers": "text", "model_thinking": "high", "model_seconds": 45, "model_context": 16_384}
    found = [build_endpoint(settings(tmp_path, **given, **more), MODEL) for more in ({}, own)]
    assert [(e.answers, e.thinking, e.seconds, e.context) for e in found] == [
        OPTIONS[provider],
        (Answers.TEXT, Thinking.HIGH, 45, 16_384),
    ]


async def test_the_time_limits_follow_the_setting(tmp_path: Path) -> None:
    """S274"""
    for provider, seconds, factor in (("ollama", None, 3.0), ("ollama", 20, 1.0), ("vllm", 100, 5.0)):
        given = settings(tmp_path, model=MODEL, model_provider=provider, model_seconds=seconds)
        model = build_model(given)
        assert model is not None
        assert model.time_factor == factor
        await model.aclose()


def test_roles_answers_and_prices(tmp_path: Path) -> None:
    given = settings(
        tmp_path,
        model_url="https://models.example/v1/",
        model_key="sk-1",
        model_roles="patch=big, draft=big",
        model_answers="schema",
        model_prices="small=0.25/2,big=1/8.5",
    )
    endpoint = build_endpoint(given, "small")
    assert [endpoint.model_for(role) for role in Role] == ["small", "small", "big", "big", "small"]
    assert (endpoint.url, endpoint.answers) == ("https://models.example/v1", Answers.SCHEMA)
    assert endpoint.prices == {"small": Price(0.25, 2.0), "big": Price(1.0, 8.5)}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {},
            (
                "FATEFORGER_MODEL is set; say where it is with FATEFORGER_MODEL_PROVIDER (openai, openrouter, gemini,"
                " ollama, vllm) or FATEFORGER_MODEL_URL."
            ),
        ),
        ({"model_provider": "openai"}, "openai needs a key; set FATEFORGER_MODEL_KEY."),
        ({"model_url": "models.example"}, "FATEFORGER_MODEL_URL should begin with http:// or https://."),
        (
            {"model_provider": "ollama", "model_roles": "cook=big"},
            "FATEFORGER_MODEL_ROLES names “cook”; the roles are decide, gate, draft, patch, extract.",
        ),
        ({"model_provider": "ollama", "model_prices": "m=cheap"}, "The price of m should read like 0.25/2.00."),
    ],
)
def test_what_cannot_be_used_says_what_to_set(tmp_path: Path, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(BadInput) as caught:
        build_endpoint(settings(tmp_path, **given), MODEL)
    assert caught.value.message == sentence


async def model_checks(tmp_path: Path, *, ask: bool = True, **given: Any) -> list[Check]:
    return [c for c in await run_checks(settings(tmp_path, model=MODEL, **given), ask_model=ask) if c.name == "model"]


async def test_doctor_asks_no_model_unless_told_to(tmp_path: Path) -> None:
    async with model_server(in_turn()) as server:
        (check,) = await model_checks(tmp_path, ask=False, model_url=server.url, model_key=KEY)
        assert (check.state, server.asked) == ("real", [])
        assert check.message == f"{MODEL} at {server.url}; `fateforger doctor --model` asks it."


def answer(asked: ReceivedRequest) -> ScriptedAnswer:
    """Answer as a model that reads every prompt, and both questions of ``doctor``."""
    if "17 plus 25" in asked.text:
        return ScriptedAnswer('{"sum": 42}')
    found = re.search(r"The code word is (\w+)", asked.text)
    return ScriptedAnswer(json.dumps({"word": found[1] if found else "?", "numbers": [*range(1, 41)]}))


async def test_doctor_asks_each_model_and_says_how_fast_it_is(tmp_path: Path) -> None:
    """S275"""
    async with model_server(answer) as server:
        checks = await model_checks(tmp_path, model_url=server.url, model_key=KEY, model_roles="patch=big")
        assert [c.state for c in checks] == ["real", "real"]
        spoken = re.sub(r"[\d.]+ s\b", "1 s", re.sub(r"[\d,]+ tokens a", "9 tokens a", checks[0].message))
        assert spoken == (
            f"{MODEL} (decide, gate, draft, extract) answers in 1 s and keeps to a JSON schema."
            " For a full day (about 7,500 tokens) it takes 1 s, 9 tokens a second."
        )
        assert checks[0].fix == "FATEFORGER_MODEL_ANSWERS=schema would hold it to the exact form, for more tokens."
        assert [a.model for a in server.asked] == [MODEL, MODEL, "big", "big"]


async def test_doctor_sends_as_much_as_the_fullest_day_needs(tmp_path: Path) -> None:
    """S275: thirty tasks, ten meetings, as many rules as are shown, and the longest message that is passed on."""
    tasks = [task(f"Draft chapter {number} of the report for the board", 30) for number in range(30)]
    meetings = tuple(event(f"Sync about project {n}", f"{8 + n:02}:05", f"{8 + n:02}:15") for n in range(10))
    rule = "no calls before ten, ever, and never two meetings in a row"
    rules = tuple(version_of(f"r{n}", necessity="must", description=f"{rule}, number {n}") for n in range(40))
    known = RecalledConstraints(day=MONDAY, stage=TimeboxingStage.REFINE, at=MORNING, versions=rules)
    now = plan_session(TimeboxingStage.REFINE, *tasks, events=meetings, recalled=known)
    silent = ScriptedModel(by=lambda p: wants("answer") if "decide" in p.name else ModelUnreachable("Down."))
    await read_message(make_command("user_reply", text="x" * MAX_PROMPT_MESSAGE_CHARS), now, silent, rules)
    prompt = silent.prompts[-1]
    assert prompt.name.startswith("patch/")
    async with model_server(answer) as server:
        await model_checks(tmp_path, model_url=server.url, model_key=KEY)
        assert estimate_tokens(server.asked[1].text) > estimate_tokens(prompt.system + prompt.user) > 7_000


async def test_doctor_finds_that_the_beginning_of_a_prompt_is_lost(tmp_path: Path) -> None:
    """S275: as at Ollama's chat completions, which can be asked for more only through its own API."""
    async with model_server(answer, context=4_096) as server:
        (check,) = await model_checks(tmp_path, model_url=server.url, model_key=KEY)
        assert check.state == "broken"
        assert check.message.endswith(
            "Of a full day (about 7,500 tokens) it does not see the beginning, so it would miss its instructions."
        )
        assert check.fix.endswith(
            "Give the server a context of 10240 tokens, or more (vLLM: --max-model-len)."
            " If it is Ollama, set FATEFORGER_MODEL_PROVIDER=ollama, and it is asked for that."
        )
        (followed,) = await model_checks(tmp_path, model_url=server.url, model_provider="ollama")
        assert (followed.state, followed.fix) == ("real", "")


async def test_doctor_says_which_context_to_set(tmp_path: Path) -> None:
    """S275"""
    async with model_server(answer, context=4_096) as server:
        (small,) = await model_checks(tmp_path, model_url=server.url, model_provider="ollama", model_context=4_096)
    assert small.message.endswith("It refuses a full day (about 7,500 tokens).")
    assert (small.state, small.fix) == ("broken", "Set FATEFORGER_MODEL_CONTEXT=10240.")


async def test_doctor_sees_that_a_model_thinks(tmp_path: Path) -> None:
    """S275"""
    async with model_server(lambda asked: replace(answer(asked), tokens=400)) as server:
        (free,) = await model_checks(tmp_path, model_url=server.url, model_key=KEY, model_answers="schema")
        (told,) = await model_checks(tmp_path, model_url=server.url, model_provider="ollama")
    assert free.fix == "It thinks before each answer; FATEFORGER_MODEL_THINKING=off is quicker."
    assert told.fix == "It thinks before each answer, and cannot be told not to; a model that need not is quicker."


@pytest.mark.parametrize(
    ("result", "message", "fix"),
    [
        (
            LengthReport(5_000, complete=True, seconds=100.0, rate=1.5),
            "For a full day (about 7,500 tokens) it takes 100.0 s, 2 tokens a second. A change has only 60 s.",
            "Set FATEFORGER_MODEL_SECONDS=50, or choose a smaller model.",
        ),
        (
            ModelTimedOut("Too long."),
            "For a full day (about 7,500 tokens) it takes too long; a change has 60 s.",
            "Choose a smaller model, or a quicker machine.",
        ),
        (
            ModelUnreachable("It has a fault."),
            "Asked about a full day (about 7,500 tokens), it fails: It has a fault.",
            "Look into the log of the server.",
        ),
    ],
)
async def test_doctor_says_what_is_too_slow(
    result: LengthReport | Exception, message: str, fix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S275"""

    async def measure(*_: object) -> LengthReport:
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(models, "probe_length", measure)
    async with model_server(answer) as server:
        (check,) = await model_checks(tmp_path, model_url=server.url, model_key=KEY, model_answers="schema")
    assert (check.state, check.message.partition("schema. ")[2], check.fix) == ("broken", message, fix)


async def test_doctor_says_that_a_model_is_too_weak(tmp_path: Path) -> None:
    """S275: SmolLM2 of 135 million parameters answers so."""
    async with model_server(lambda _: ScriptedAnswer('{ "sum": 37 }')) as server:
        (check,) = await model_checks(tmp_path, model_url=server.url, model_key=KEY)
    assert check.state == "broken"
    assert check.message.endswith("answers in JSON, but says that 17 plus 25 is 37.")
    assert check.fix == "Choose a larger model: this one would misread what it is told."


async def test_doctor_on_a_wrong_key_a_dead_server_and_no_json(tmp_path: Path) -> None:
    async with model_server(lambda _: ScriptedAnswer("Forty-two!")) as server:
        (wrong,) = await model_checks(tmp_path, model_url=server.url, model_key="sk-wrong")
        (prose,) = await model_checks(tmp_path, model_url=server.url, model_key=KEY)
    (dead,) = await model_checks(tmp_path, model_url="http://127.0.0.1:9/v1")
    (unset,) = await model_checks(tmp_path)
    assert [c.state for c in (wrong, prose, dead, unset)] == ["broken"] * 4
    assert wrong.fix == "Check FATEFORGER_MODEL_KEY."
    assert (
        prose.message
        == f"{MODEL} (decide, gate, draft, patch, extract) answers, but not with the JSON it was asked for."
    )
    assert dead.message == f"{MODEL}: The language model's server cannot be reached."
    assert unset.fix == "Mend that setting, or leave FATEFORGER_MODEL out."
