"""One contract for every language model: the real adapter over a server, and the fake that tests use."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest
from tests.fakes.openai_server import KEY, MODEL, ScriptedAnswer, in_turn, model_server
from tests.fakes.scripted_model import ScriptedModel

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.model.client import ChatModel
from fateforger.adapters.model.endpoint import PROVIDERS, Endpoint
from fateforger.adapters.store.store import open_store
from fateforger.conversation.language.model_calls import CountingModel
from fateforger.conversation.recordings import AnsweringModel, ListeningModel
from fateforger.errors import ModelAuthFailed, ModelError, ModelTimedOut
from fateforger.ports.model import Completion, Model, Prompt, Role

PROMPT = Prompt("probe/1", Role.GATE, "System.", "User.")
Speaking = Callable[[str | None], AbstractAsyncContextManager[Model]]
"""A model that says one text, or never answers. The text ``refuse`` makes it refuse the key."""


@asynccontextmanager
async def real(line: str | None) -> AsyncIterator[Model]:
    says = ScriptedAnswer(slow=True) if line is None else ScriptedAnswer(line)
    async with model_server(in_turn(says)) as server:
        model = ChatModel(Endpoint(server.url, MODEL, "sk-wrong" if line == "refuse" else KEY))
        yield model
        await model.aclose()


@asynccontextmanager
async def ollama(line: str | None) -> AsyncIterator[Model]:
    says = ScriptedAnswer(slow=True) if line is None else ScriptedAnswer(line, status=401 if line == "refuse" else 200)
    async with model_server(in_turn(says)) as server:
        model = ChatModel(Endpoint(server.url, MODEL, provider=PROVIDERS["ollama"]))
        yield model
        await model.aclose()


@asynccontextmanager
async def open_scripted(line: str | None) -> AsyncIterator[Model]:
    yield ScriptedModel(ModelAuthFailed("The key was refused.") if line == "refuse" else line)


@asynccontextmanager
async def listening(line: str | None) -> AsyncIterator[Model]:
    async with open_scripted(line) as model:
        yield ListeningModel(model)


@asynccontextmanager
async def counting(line: str | None) -> AsyncIterator[Model]:
    store = open_store(":memory:")
    async with open_scripted(line) as model:
        counted = CountingModel(model, store.usage, SystemClock(), tz="UTC")
        yield counted
        await counted.aclose()
    await store.aclose()


@asynccontextmanager
async def answering(line: str | None) -> AsyncIterator[Model]:
    """Yield a recording of that model. A question without a recorded answer ends with a time-out at once."""
    async with open_scripted(line) as model:
        heard = ListeningModel(model)
        with contextlib.suppress(ModelError):
            await heard.complete(PROMPT, seconds=0)
        yield AnsweringModel(heard.exchanges)


@pytest.fixture(
    params=[real, ollama, open_scripted, listening, counting, answering],
    ids=["real", "ollama", "scripted", "listening", "counting", "answering"],
)
def speaking(request: pytest.FixtureRequest) -> Speaking:
    return request.param  # type: ignore[no-any-return]  # one of those above


async def test_it_gives_the_text_with_its_tokens(speaking: Speaking) -> None:
    async with speaking('{"a": 1}') as model:
        done = await model.complete(PROMPT, seconds=60)
    assert isinstance(done, Completion)
    assert done.text == '{"a": 1}'
    assert done.prompt_tokens is not None
    assert done.seconds >= 0


async def test_it_keeps_to_its_time(speaking: Speaking) -> None:
    async with speaking(None) as model:
        with pytest.raises(ModelTimedOut):
            await model.complete(PROMPT, seconds=0.1)


async def test_it_can_be_cancelled(speaking: Speaking) -> None:
    async with speaking(None) as model:
        call = asyncio.create_task(model.complete(PROMPT, seconds=60))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call


async def test_what_it_cannot_do_is_an_error_of_ours(speaking: Speaking) -> None:
    async with speaking("refuse") as model:
        with pytest.raises(ModelAuthFailed):
            await model.complete(PROMPT, seconds=60)


async def test_closing_twice_is_fine(speaking: Speaking) -> None:
    async with speaking("{}") as model:
        await model.aclose()
        await model.aclose()
