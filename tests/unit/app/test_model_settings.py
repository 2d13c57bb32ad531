"""Which model is spoken to, and what doctor says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.openai_server import KEY, MODEL, Says, in_turn, model_server

from fateforger.adapters.model import Answers, Price
from fateforger.app.health import run_checks
from fateforger.app.models import build_endpoint
from fateforger.app.program import build_model, describe_model
from fateforger.app.resources import Check
from fateforger.config import Settings, read_settings
from fateforger.errors import BadInput
from fateforger.ports.model import Role


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


async def test_doctor_asks_each_model_once_and_says_what_to_set(tmp_path: Path) -> None:
    async with model_server(lambda _: Says('{"sum": 42}')) as server:
        checks = await model_checks(tmp_path, model_url=server.url, model_key=KEY, model_roles="patch=big")
        assert [c.state for c in checks] == ["real", "real"]
        named, _, told = checks[0].message.partition(" answers in ")
        assert (named, told.partition(" s ")[2]) == (
            f"{MODEL} (decide, gate, draft, extract)",
            "and keeps to a JSON schema.",
        )
        assert checks[0].fix == "Set FATEFORGER_MODEL_ANSWERS=schema."
        assert [a.model for a in server.asked] == [MODEL, "big"]


async def test_doctor_on_a_wrong_key_a_dead_server_and_no_json(tmp_path: Path) -> None:
    async with model_server(lambda _: Says("Forty-two!")) as server:
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
