"""The model adapter against a scripted server over real HTTP: what comes back, and what each failure means."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import pytest
from tests.fakes.openai_server import KEY, MODEL, ModelServer, Says, Script, in_turn, model_server

from fateforger.adapters.model import Answers, ChatModel, Endpoint, EndpointReport, Price, open_model, probe_model
from fateforger.app.health import find_ollama_models
from fateforger.errors import ModelAuthFailed, ModelBusy, ModelError, ModelRejected, ModelTimedOut, ModelUnreachable
from fateforger.ports.model import Completion, Prompt, Role

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "integer"}},
    "required": ["a"],
    "additionalProperties": False,
}
PROMPT = Prompt(name="probe/1", role=Role.DECIDE, system="Answer in JSON.", user="Well?", schema=SCHEMA)


def endpoint(server: ModelServer, **changes: Any) -> Endpoint:
    return Endpoint(**{"url": server.url, "model": MODEL, "key": KEY, **changes})


async def completed(script: Script, prompt: Prompt = PROMPT, *, seconds: float = 5, **changes: Any) -> Completion:
    async with model_server(script) as server:
        model = ChatModel(endpoint(server, **changes), first_pause=0.01)
        try:
            return await model.complete(prompt, seconds=seconds)
        finally:
            await model.aclose()


async def failed(script: Script, *, seconds: float = 5, **changes: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await completed(script, seconds=seconds, **changes)
    return caught.value


async def test_an_answer_comes_with_its_tokens_and_its_price() -> None:
    done = await completed(in_turn('{"a": 1}'), prices={MODEL: Price(2.0, 10.0)})
    assert (done.text, done.model, done.prompt_tokens, done.completion_tokens) == ('{"a": 1}', MODEL, 4, 2)
    assert done.cost == pytest.approx((2.0 * 4 + 10.0 * 2) / 1e6)


async def test_an_unknown_price_is_no_price() -> None:
    assert (await completed(in_turn("{}"))).cost is None


async def test_each_role_may_have_its_own_model() -> None:
    async with model_server(lambda _: Says("{}")) as server:
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


async def test_a_server_that_knows_no_schema_is_asked_for_less_and_remembered() -> None:
    async with model_server(lambda _: Says("{}"), keeps_to=frozenset()) as server:
        model = open_model(endpoint(server, answers=Answers.SCHEMA))
        for _ in range(2):
            await model.complete(PROMPT, seconds=60)
        await model.aclose()
        assert [a.response_format for a in server.asked] == [None, None]


@pytest.mark.parametrize(
    ("says", "error"),
    [
        (Says("No such model.", status=404), ModelRejected),
        (Says("Too long.", status=400, code="context_length_exceeded"), ModelRejected),
        (Says("Not allowed.", status=403), ModelAuthFailed),
        (Says("Oops.", status=500), ModelUnreachable),
        (Says("Overloaded.", status=529), ModelUnreachable),
        (Says("Slow down.", status=429), ModelBusy),
        (Says(cut=True), ModelUnreachable),
        (Says(body={"error": {"message": "upstream"}}), ModelUnreachable),
        (Says(body={"choices": []}), ModelUnreachable),
        (Says(body=[]), ModelUnreachable),
        (Says(body="hello"), ModelUnreachable),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else None,
)
async def test_each_failure_is_an_error_of_its_kind(says: Says, error: type[ModelError]) -> None:
    assert type(await failed(lambda _: says)) is error


async def test_what_failed_on_the_way_is_tried_again() -> None:
    done = await completed(in_turn(Says("Oops.", status=500), Says(cut=True), '{"a": 1}'))
    assert done.text == '{"a": 1}'


async def test_what_was_refused_is_not_tried_again() -> None:
    async with model_server(in_turn(Says("Bad.", status=400))) as server:
        model = open_model(endpoint(server))
        with pytest.raises(ModelRejected):
            await model.complete(PROMPT, seconds=60)
        await model.aclose()
        assert len(server.asked) == 1


async def test_a_pause_the_server_asks_for_is_kept_when_it_fits() -> None:
    busy = Says("Slow down.", status=429, headers={"retry-after": "0.05"})
    assert (await completed(in_turn(busy, "{}"))).text == "{}"


async def test_a_pause_that_does_not_fit_is_an_error_at_once() -> None:
    error = await failed(in_turn(Says("Slow down.", status=429, headers={"retry-after": "60"})))
    assert isinstance(error, ModelBusy)
    assert error.retry_after == 60.0


async def test_s98_no_answer_in_time_ends_the_request() -> None:
    async with model_server(in_turn(Says(slow=True))) as server:
        model = open_model(endpoint(server))
        with pytest.raises(ModelTimedOut):
            await model.complete(PROMPT, seconds=3)  # time enough for the request to get there
        await asyncio.wait_for(server.gone.wait(), 60)
        await model.aclose()


async def test_cancelling_ends_the_request() -> None:
    async with model_server(in_turn(Says(slow=True))) as server:
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
    await completed(in_turn("{}"), secret)
    wrong = "sk-wrong-key-9876543210"
    error = await failed(in_turn(), key=wrong)
    assert isinstance(error, ModelAuthFailed)
    spoken = caplog.text + error.message + repr(Endpoint(url="u", model="m", key=wrong))
    assert [part for part in ("my secret meeting", wrong, wrong[-4:], KEY) if part in spoken] == []


async def test_doctor_finds_the_strictest_way_that_works() -> None:
    async with model_server(lambda _: Says('{"sum": 42}')) as server:
        report = await probe_model(endpoint(server), Role.DECIDE)
        assert (report.answers, report.model) == (Answers.SCHEMA, MODEL)
    async with model_server(lambda _: Says('{"sum": 42}'), keeps_to=frozenset({"json_object"})) as server:
        assert (await probe_model(endpoint(server), Role.DECIDE)).answers is Answers.JSON
    async with model_server(lambda _: Says("It is 42.")) as server:
        report = await probe_model(endpoint(server), Role.DECIDE)
        assert report == EndpointReport(MODEL, None, report.seconds, "It is 42.")


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
