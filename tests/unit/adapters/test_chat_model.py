"""The model adapter against a scripted server over real HTTP: what comes back, and what each failure means."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from tests.factories.prompts import TYPES
from tests.fakes.openai_server import KEY, MODEL, ModelServer, Script, ScriptedAnswer, in_turn, model_server

from fateforger.adapters.model.client import ChatModel, EndpointReport, close_schema, open_model, probe_model
from fateforger.adapters.model.endpoint import OTHER, PROVIDERS, TOO_LONG, Answers, Endpoint, Price, Thinking
from fateforger.app.health import find_ollama_models
from fateforger.conversation.language.answer_types import build_schema
from fateforger.conversation.language.answers import PatchWords
from fateforger.errors import ModelAuthFailed, ModelBusy, ModelError, ModelRejected, ModelTimedOut, ModelUnreachable
from fateforger.ports.model import Completion, Prompt, Role, estimate_tokens
from fateforger.text import list_languages, speak
from fateforger.values import replace

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
PROMPT = Prompt(name="probe/1", role=Role.DECIDE, system="Answer in JSON.", user="Well?", schema=SCHEMA)


def endpoint(server: ModelServer, **changes: Any) -> Endpoint:
    return Endpoint(**{"url": server.url, "model": MODEL, "key": KEY, **changes})


async def complete_prompt(script: Script, prompt: Prompt = PROMPT, *, seconds: float = 5, **changes: Any) -> Completion:
    async with model_server(script) as server:
        model = ChatModel(endpoint(server, **changes), first_pause=0.01)
        try:
            return await model.complete(prompt, seconds=seconds)
        finally:
            await model.aclose()


async def expect_error(script: Script, *, seconds: float = 5, **changes: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await complete_prompt(script, seconds=seconds, **changes)
    return caught.value


async def test_an_answer_comes_with_its_tokens_and_its_price() -> None:
    done = await complete_prompt(in_turn('{"a": 1}'), prices={MODEL: Price(2.0, 10.0)})
    assert (done.text, done.model, done.prompt_tokens, done.completion_tokens) == ('{"a": 1}', MODEL, 4, 2)
    assert done.cost == pytest.approx((2.0 * 4 + 10.0 * 2) / 1e6)


async def test_an_unknown_price_is_no_price() -> None:
    assert (await complete_prompt(in_turn("{}"))).cost is None


async def test_each_role_may_have_its_own_model() -> None:
    async with model_server(lambda _: ScriptedAnswer("{}")) as server:
        model = open_model(endpoint(server, roles={Role.PATCH: "bigger-1"}))
        for role in (Role.DECIDE, Role.PATCH, Role.EXTRACT):
            await model.complete(Prompt("p/1", role, "s", "u"), seconds=60)
        await model.aclose()
        assert [a.model for a in server.asked] == [MODEL, "bigger-1", MODEL]


async def test_earlier_tries_go_along_with_what_was_wrong() -> None:
    async with model_server(in_turn("{}")) as server:
        model = open_model(endpoint(server))
        prompt = Prompt("p/1", Role.PATCH, "System.", "User.", history=(("nonsense", "There is no JSON."),))
        await model.complete(prompt, seconds=60)
        await model.aclose()
        assert [(m["role"], m["content"]) for m in server.asked[0].messages] == [
            ("system", "System."),
            ("user", "User."),
            ("assistant", "nonsense"),
            ("user", "That cannot be used: There is no JSON. Answer again, whole."),
        ]


@pytest.mark.parametrize(
    ("answers", "sent"),
    [
        (
            Answers.SCHEMA,
            {"type": "json_schema", "json_schema": {"name": "probe_1", "schema": SCHEMA, "strict": True}},
        ),
        (Answers.JSON, {"type": "json_object"}),
        (Answers.TEXT, None),
    ],
)
async def test_the_server_is_held_to_json_as_configured(answers: Answers, sent: object) -> None:
    async with model_server(in_turn("{}")) as server:
        model = open_model(endpoint(server, answers=answers))
        await model.complete(PROMPT, seconds=60)
        await model.aclose()
        assert server.asked[0].response_format == sent


async def test_no_union_is_sent_as_a_response_format() -> None:
    """S70: the ops of a patch are a choice between objects; the prompt describes them, and the answer is plain JSON."""
    async with model_server(lambda _: ScriptedAnswer("{}")) as server:
        model = open_model(endpoint(server, answers=Answers.SCHEMA))
        await model.complete(Prompt("patch/1", Role.PATCH, "S.", "U.", schema=build_schema(PatchWords)), seconds=60)
        await model.complete(PROMPT, seconds=60)
        await model.aclose()
        assert [(asked.response_format or {}).get("type") for asked in server.asked] == ["json_object", "json_schema"]


@pytest.mark.parametrize("status", [400, 500])
async def test_a_server_that_knows_no_schema_is_asked_for_less_and_remembered(status: int) -> None:
    async with model_server(lambda _: ScriptedAnswer("{}"), keeps_to=frozenset(), refuses_with=status) as server:
        model = open_model(endpoint(server, answers=Answers.SCHEMA))
        for _ in range(2):
            await model.complete(PROMPT, seconds=60)
        await model.aclose()
        assert [a.response_format for a in server.asked] == [None, None]


@pytest.mark.parametrize("name", sorted(TYPES))
def test_the_schema_of_each_answer_has_the_strict_form(name: str) -> None:
    """S274: as OpenAI asks for it. Each object requires all its fields and allows no others, and no keyword is unknown."""
    assert list(find_loose_parts(close_schema(build_schema(TYPES[name])))) == []


def find_loose_parts(schema: Any, *, names: bool = False) -> Iterator[str]:
    if isinstance(schema, list):
        for part in schema:
            yield from find_loose_parts(part)
    elif isinstance(schema, dict):
        if not names:
            yield from set(schema) - KNOWN
            if schema.get("type") == "object" and (
                schema["additionalProperties"] is not False or schema["required"] != list(schema["properties"])
            ):
                yield f"an open object: {list(schema['properties'])}"
        for name, part in schema.items():
            yield from find_loose_parts(part, names=not names and name in {"properties", "$defs"})


KNOWN = {
    *("type", "enum", "const", "anyOf", "$ref", "$defs", "pattern", "format"),
    *("properties", "required", "additionalProperties", "items"),
}
"""Keywords of the subset that providers document."""


@pytest.mark.parametrize(
    ("provider", "answers", "described"),
    [("openai", "schema", False), ("openai", "json", True), ("vllm", "schema", True), ("ollama", "schema", True)],
)
async def test_the_form_of_an_answer_is_described_once(provider: str, answers: str, *, described: bool) -> None:
    """S274: a model that reads the schema needs no notation, and one that does not needs it."""
    form = "Its type:\n{a: int}"
    async with model_server(in_turn("{}")) as server:
        model = open_model(endpoint(server, provider=PROVIDERS[provider], answers=Answers(answers)))
        await model.complete(replace(PROMPT, system=f"Answer in JSON.\n{form}", notation=form), seconds=60)
        await model.aclose()
        assert (form in server.asked[0].system) is described


@pytest.mark.parametrize(
    ("provider", "level", "sent"),
    [
        ("openai", "high", {"reasoning_effort": "high"}),
        ("openai", "off", {"reasoning_effort": "none"}),
        ("gemini", "off", {"reasoning_effort": "none"}),
        ("openrouter", "low", {"reasoning": {"effort": "low"}}),
        ("openrouter", "off", {"reasoning": {"effort": "none"}}),
        ("vllm", "off", {"chat_template_kwargs": {"enable_thinking": False, "thinking": False}}),
        (
            "vllm",
            "low",
            {"chat_template_kwargs": {"enable_thinking": True, "thinking": True}, "reasoning_effort": "low"},
        ),
        ("ollama", "off", {"think": False}),
        ("ollama", "medium", {"think": "medium"}),
        ("openai", None, {}),
    ],
)
async def test_each_provider_is_told_how_much_to_think(provider: str, level: str | None, sent: dict[str, Any]) -> None:
    """S274"""
    async with model_server(in_turn("{}")) as server:
        thinking = None if level is None else Thinking(level)
        model = open_model(endpoint(server, provider=PROVIDERS[provider], thinking=thinking))
        await model.complete(PROMPT, seconds=60)
        await model.aclose()
        assert {name: value for name, value in server.asked[0].body.items() if name in PARAMETERS} == sent


PARAMETERS = {"reasoning_effort", "reasoning", "chat_template_kwargs", "think"}


@pytest.mark.parametrize(
    ("provider", "level", "refused", "then"),
    [
        ("openai", "off", {"none"}, "minimal"),
        ("openai", "off", {"none", "minimal"}, "low"),
        ("openai", "low", {"low"}, None),
        ("ollama", "low", {"low"}, True),
        ("ollama", "low", {"low", True}, None),
    ],
)
async def test_a_level_that_a_model_does_not_know_gives_way_to_the_next(
    provider: str, level: str, refused: set[object], then: object
) -> None:
    """S274: and is not tried again."""

    def reject(body: dict[str, Any]) -> str | None:
        value = body.get("reasoning_effort", body.get("think"))
        refusals.append(value)
        return f"thinking: 'reasoning_effort' does not support {value}" if value in refused else None

    refusals: list[object] = []
    async with model_server(lambda _: ScriptedAnswer("{}"), rejects=reject) as server:
        model = open_model(endpoint(server, provider=PROVIDERS[provider], thinking=Thinking(level)))
        for _ in range(2):
            await model.complete(PROMPT, seconds=60)
        await model.aclose()
        assert [a.body.get("reasoning_effort", a.body.get("think")) for a in server.asked] == [then, then]
    assert len(refusals) == len(refused) + 2


async def test_a_refusal_for_another_reason_changes_no_option() -> None:
    """S274: words of a refusal may quote the prompt."""
    refusals = iter(["Bad request: I think that response_format and reasoning are fine."] * 3)
    async with model_server(lambda _: ScriptedAnswer("{}"), rejects=lambda _: next(refusals, None)) as server:
        model = open_model(endpoint(server, thinking=Thinking.LOW))
        with pytest.raises(ModelRejected):
            await model.complete(PROMPT, seconds=60)
        await model.complete(PROMPT, seconds=60)
        await model.aclose()
        assert server.asked[0].body["reasoning_effort"] == "low"
        assert server.asked[0].response_format == {"type": "json_object"}


LONG = replace(PROMPT, system=f"The beginning. {'word ' * 5_000}")


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ('  b1,Draft chapter 0 of the report for the board,DW,"09:15","09:45",""\n', 33),
        ('{"op": "move", "block": "b2", "start": "14:30"}', 23),
        ("Ich möchte am Vormittag zwei Stunden am Bericht arbeiten und danach Mails beantworten.", 32),
        ("Plan tomorrow: write the report for two hours, call mum, and go to the gym at six.", 22),
    ],
)
def test_tokens_are_estimated_as_a_model_counts_them(text: str, tokens: int) -> None:
    """S274: as the tokenizer of SmolLM2 counts them. Too few, and a prompt would be sent that does not fit."""
    assert 0.8 * tokens < estimate_tokens(text) < 1.3 * tokens


async def test_ollama_is_told_how_much_to_read() -> None:
    """S274: its chat completions read 4,096 tokens, and silently drop the beginning of a longer prompt."""
    async with model_server(lambda _: ScriptedAnswer("{}"), context=4_096) as server:
        compatible = open_model(endpoint(server))
        await compatible.complete(LONG, seconds=60)
        await compatible.aclose()
        native = open_model(endpoint(server, provider=PROVIDERS["ollama"], context=10_240))
        await native.complete(LONG, seconds=60)
        await native.aclose()
        assert ["The beginning." in a.text for a in server.asked] == [False, True]
        assert server.asked[1].body["options"] == {"num_ctx": 10_240}


@pytest.mark.parametrize(
    ("provider", "context", "arrived"), [("ollama", 4_096, 0), ("vllm", 4_096, 0), ("ollama", None, 1)]
)
async def test_a_prompt_that_does_not_fit_is_refused_and_never_cut(
    provider: str, context: int | None, arrived: int
) -> None:
    """S274: before it is sent where the setting says so, else by the server."""
    requests: list[object] = []
    async with model_server(in_turn(), context=4_096, rejects=requests.append) as server:
        model = open_model(endpoint(server, provider=PROVIDERS[provider], context=context))
        with pytest.raises(ModelRejected) as caught:
            await model.complete(LONG, seconds=60)
        await model.aclose()
    assert (caught.value.message, len(requests)) == (TOO_LONG, arrived)


FAILURES = [
    (ScriptedAnswer("No such model.", status=404), ModelRejected),
    (ScriptedAnswer("Too long.", status=400, code="context_length_exceeded"), ModelRejected),
    (ScriptedAnswer("Not allowed.", status=403), ModelAuthFailed),
    (ScriptedAnswer("Gone.", status=410), ModelRejected),
    (ScriptedAnswer("Oops.", status=500), ModelUnreachable),
    (ScriptedAnswer("context deadline exceeded", status=500), ModelUnreachable),
    (ScriptedAnswer("Overloaded.", status=529), ModelUnreachable),
    (ScriptedAnswer("Slow down.", status=429), ModelBusy),
    (ScriptedAnswer(cut=True), ModelUnreachable),
    (ScriptedAnswer("Model's context length is 10 tokens.", status=400), ModelRejected),
    (ScriptedAnswer("Model's context length is 10 tokens.", status=500), ModelRejected),
    (ScriptedAnswer(body={"error": {"message": "upstream"}}), ModelUnreachable),
    (ScriptedAnswer(body={"choices": []}), ModelUnreachable),
    (ScriptedAnswer(body=[]), ModelUnreachable),
    (ScriptedAnswer(body="hello"), ModelUnreachable),
]
OLLAMA_FAILURES = [
    (ScriptedAnswer("No such model.", status=404), ModelRejected),
    (ScriptedAnswer("Unauthorized.", status=401), ModelAuthFailed),
    (ScriptedAnswer("Bad.", status=400), ModelRejected),
    (ScriptedAnswer("Oops.", status=500), ModelUnreachable),
    (ScriptedAnswer("Overloaded.", status=503), ModelBusy),
    (ScriptedAnswer("context length exceeded", status=500), ModelRejected),
    (ScriptedAnswer(body={"error": "upstream"}), ModelUnreachable),
    (ScriptedAnswer(body=[]), ModelUnreachable),
    (ScriptedAnswer(body="hello"), ModelUnreachable),
]


@pytest.mark.parametrize(("says", "error"), FAILURES)
async def test_each_failure_is_an_error_of_its_kind(says: ScriptedAnswer, error: type[ModelError]) -> None:
    assert type(await expect_error(lambda _: says)) is error


@pytest.mark.parametrize(("says", "error"), OLLAMA_FAILURES)
async def test_each_failure_of_ollama_is_an_error_of_its_kind(says: ScriptedAnswer, error: type[ModelError]) -> None:
    assert type(await expect_error(lambda _: says, provider=PROVIDERS["ollama"])) is error


@pytest.mark.parametrize("provider", ["other", "ollama"])
async def test_each_failure_is_said_in_the_language_of_the_person(provider: str) -> None:
    """S124"""
    given = {"ollama": (OLLAMA_FAILURES, PROVIDERS["ollama"]), "other": (FAILURES, OTHER)}
    failures, server = given[provider]
    for says, _ in failures:
        said = set()
        for language in list_languages():
            with speak(language):
                said.add((await expect_error(in_turn(says, says, says), provider=server)).message)
        assert len(said) == len(list_languages()), says


async def test_a_dead_ollama_is_unreachable() -> None:
    model = open_model(Endpoint(url="http://127.0.0.1:9/v1", model=MODEL, provider=PROVIDERS["ollama"]))
    with pytest.raises(ModelUnreachable):
        await model.complete(PROMPT, seconds=60)
    await model.aclose()


async def test_what_failed_on_the_way_is_tried_again() -> None:
    done = await complete_prompt(in_turn(ScriptedAnswer("Oops.", status=500), ScriptedAnswer(cut=True), '{"a": 1}'))
    assert done.text == '{"a": 1}'


async def test_what_was_refused_is_not_tried_again() -> None:
    async with model_server(in_turn(ScriptedAnswer("Bad.", status=400))) as server:
        model = open_model(endpoint(server))
        with pytest.raises(ModelRejected):
            await model.complete(PROMPT, seconds=60)
        await model.aclose()
        assert len(server.asked) == 1


async def test_a_pause_the_server_asks_for_is_kept_when_it_fits() -> None:
    busy = ScriptedAnswer("Slow down.", status=429, headers={"retry-after": "0.05"})
    assert (await complete_prompt(in_turn(busy, "{}"))).text == "{}"


async def test_a_pause_that_does_not_fit_is_an_error_at_once() -> None:
    error = await expect_error(in_turn(ScriptedAnswer("Slow down.", status=429, headers={"retry-after": "60"})))
    assert isinstance(error, ModelBusy)
    assert error.retry_after == 60.0


async def test_s98_no_answer_in_time_ends_the_request() -> None:
    async with model_server(in_turn(ScriptedAnswer(slow=True))) as server:
        model = open_model(endpoint(server))
        with pytest.raises(ModelTimedOut):
            await model.complete(PROMPT, seconds=3)  # time enough for the request to get there
        await asyncio.wait_for(server.gone.wait(), 60)
        await model.aclose()


async def test_cancelling_ends_the_request() -> None:
    async with model_server(in_turn(ScriptedAnswer(slow=True))) as server:
        model = open_model(endpoint(server))
        call = asyncio.create_task(model.complete(PROMPT, seconds=60))
        await asyncio.wait_for(server.arrived.wait(), 60)
        call.cancel()
        await asyncio.wait_for(server.gone.wait(), 60)
        await model.aclose()


async def test_a_dead_server_is_unreachable() -> None:
    model = open_model(Endpoint(url="http://127.0.0.1:9/v1", model=MODEL))
    with pytest.raises(ModelUnreachable):
        await model.complete(PROMPT, seconds=60)
    await model.aclose()


async def test_no_key_and_no_prompt_is_ever_logged_or_said(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="fateforger")
    caplog.set_level(logging.INFO)
    secret = Prompt("p/1", Role.DECIDE, "s", "my secret meeting")
    await complete_prompt(in_turn("{}"), secret)
    wrong = "sk-wrong-key-9876543210"
    error = await expect_error(in_turn(), key=wrong)
    assert isinstance(error, ModelAuthFailed)
    spoken = caplog.text + error.message + repr(Endpoint(url="u", model="m", key=wrong))
    assert [part for part in ("my secret meeting", wrong, wrong[-4:], KEY) if part in spoken] == []


async def test_doctor_finds_the_strictest_way_that_works() -> None:
    async with model_server(lambda _: ScriptedAnswer('{"sum": 42}')) as server:
        report = await probe_model(endpoint(server), Role.DECIDE)
        assert (report.answers, report.model) == (Answers.SCHEMA, MODEL)
    async with model_server(lambda _: ScriptedAnswer('{"sum": 42}'), keeps_to=frozenset({"json_object"})) as server:
        assert (await probe_model(endpoint(server), Role.DECIDE)).answers is Answers.JSON
    async with model_server(lambda _: ScriptedAnswer("It is 42.")) as server:
        report = await probe_model(endpoint(server), Role.DECIDE)
        assert report == EndpointReport(MODEL, None, report.seconds)
    async with model_server(lambda _: ScriptedAnswer('{"sum": 37}')) as server:
        assert (await probe_model(endpoint(server), Role.DECIDE)).wrong == 37


async def test_doctor_says_what_is_wrong_with_the_endpoint() -> None:
    async with model_server(in_turn()) as server:
        with pytest.raises(ModelAuthFailed):
            await probe_model(endpoint(server, key="sk-wrong"), Role.DECIDE)


async def test_ollama_on_this_machine_is_found() -> None:
    async with model_server(in_turn()) as server:
        assert await find_ollama_models(server.url.removesuffix("/v1")) == ("gemma3:4b", "qwen3:8b")
    assert await find_ollama_models("http://127.0.0.1:9") == ()


def test_nothing_connects_before_it_is_asked() -> None:
    assert isinstance(open_model(Endpoint(url="http://127.0.0.1:9/v1", model=MODEL)), ChatModel)
