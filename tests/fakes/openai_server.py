"""A model server with scripted answers, over real HTTP, in OpenAI's chat completions and in Ollama's own API.

It is no fake of a port: the unmodified client library talks to it. ``script`` gets each request and returns the
answer. With a ``context`` it treats long prompts as Ollama does.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from tests.fakes.asgi_server import serve_app

KEY = "sk-test-0123456789abcdefghij"
MODEL = "scripted-1"
LONGEST_HELD = 60.0
"""Most seconds that an answer is held back, so that a test that fails ends."""
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """A request as the server saw it."""

    model: str
    messages: tuple[dict[str, Any], ...]
    response_format: dict[str, Any] | None
    body: dict[str, Any] = field(default_factory=dict)
    """All of the request."""

    @property
    def text(self) -> str:
        """All that the model reads."""
        return "\n".join(str(m["content"]) for m in self.messages)

    @property
    def system(self) -> str:
        return "\n".join(m["content"] for m in self.messages if m["role"] == "system")

    @property
    def last(self) -> str:
        return str(self.messages[-1]["content"])


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """An answer. ``status`` other than 200 is an error with ``text`` as its message; ``body`` replaces the whole answer;
    ``cut`` breaks the connection off in the middle; ``slow`` waits until the client has gone; ``until`` holds the answer
    back until it is set."""

    text: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    code: str = ""
    body: Any = None
    cut: bool = False
    slow: bool = False
    until: threading.Event | None = None
    refusal: str | None = None
    finish: str = "stop"
    tokens: int | None = None
    """Tokens of the answer, with those of thinking; by default its words."""


Script = Callable[[ReceivedRequest], ScriptedAnswer]


def in_turn(*lines: ScriptedAnswer | str) -> Script:
    """Say these lines one after the other; a text may be JSON or anything else. A request after the last one fails."""
    rest = iter(lines)

    def script(_: ReceivedRequest) -> ScriptedAnswer:
        line = next(rest, None)
        assert line is not None, "the model was asked more often than the test says"
        return line if isinstance(line, ScriptedAnswer) else ScriptedAnswer(line)

    return script


@dataclass
class ModelServer:
    """Counts what it is asked. ``keeps_to`` are the kinds of ``response_format`` that it accepts; it refuses others with
    the status ``refuses_with``: 400, as most servers, or 500, as llama-cpp-python.

    ``rejects`` is asked about each request first; its words are those of a refusal. ``context`` are the tokens of three
    characters that the model reads: chat completions drop the beginning of a longer prompt without a word, and Ollama's
    own API takes ``num_ctx`` and refuses a longer one if it is not to be cut.
    """

    script: Script
    keeps_to: frozenset[str] = frozenset({"json_object", "json_schema"})
    refuses_with: int = 400
    rejects: Callable[[dict[str, Any]], str | None] = lambda _: None
    context: int | None = None
    asked: list[ReceivedRequest] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    """Set with the first request."""
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client went away before its slow answer."""
    url: str = ""

    @property
    def app(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._complete, methods=["POST"]),
                Route("/api/chat", self._chat, methods=["POST"]),
                Route("/v1/models", self._models),
                Route("/api/tags", self._tags),
            ]
        )

    async def _models(self, _: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    async def _tags(self, _: Request) -> Response:
        return JSONResponse({"models": [{"name": "gemma3:4b"}, {"name": "qwen3:8b"}]})

    async def _complete(self, request: Request) -> Response:
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        self.keys.add(key)
        if key != KEY:
            shown = f"{key[:6]}***{key[-4:]}"
            return _error(401, f"Incorrect API key provided: {shown}.", "invalid_api_key")
        body = await request.json()
        asked = ReceivedRequest(body["model"], _cut(body["messages"], self.context), body.get("response_format"), body)
        if (refusal := self.rejects(body)) is not None:
            return _error(400, refusal, None)
        if asked.response_format is not None and asked.response_format["type"] not in self.keeps_to:
            return _error(
                self.refuses_with,
                f"Invalid parameter: 'response_format' of type '{asked.response_format['type']}'.",
                None,
            )
        self.asked.append(asked)
        self.arrived.set()
        says = self.script(asked)
        if says.slow:
            return await self._wait(request)
        if says.until is not None:
            await asyncio.to_thread(says.until.wait, LONGEST_HELD)
        if says.cut:
            return _Cut(200)
        if says.body is not None:
            return JSONResponse(says.body, says.status)
        if says.status != 200:
            return _error(says.status, says.text, says.code or None, says.headers)
        return JSONResponse(_completion(asked, says))

    async def _wait(self, request: Request) -> Response:
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self.gone.set()
        return Response(status_code=499)

    async def _chat(self, request: Request) -> Response:
        """Answer in Ollama's own API."""
        body = await request.json()
        if (refusal := self.rejects(body)) is not None:
            return JSONResponse({"error": refusal}, 400)
        context = body["options"].get("num_ctx", self.context)
        messages = _cut(body["messages"], context)
        if not body.get("truncate", True) and messages != tuple(body["messages"]):
            return JSONResponse({"error": f"the prompt exceeds the available context size ({context} tokens)"}, 400)
        asked = ReceivedRequest(body["model"], messages, None, body)
        self.asked.append(asked)
        says = self.script(asked)
        if says.slow:
            return await self._wait(request)
        if says.status != 200:
            return JSONResponse({"error": says.text}, says.status)
        if says.body is not None:
            return JSONResponse(says.body)
        counts = {"prompt_eval_count": len(asked.text) // 4, "eval_count": says.tokens or len(says.text.split())}
        message = {"role": "assistant", "content": says.text}
        return JSONResponse({"model": asked.model, "message": message, "done": True, **counts})


def _cut(messages: list[dict[str, Any]], context: int | None) -> tuple[dict[str, Any], ...]:
    """Return the messages without the beginning that does not fit."""
    kept, left = [], None if context is None else context * 3
    for message in reversed(messages):
        text = str(message["content"])
        if left is not None:
            text = text[max(len(text) - left, 0) :] if left > 0 else ""
            left -= len(text)
        kept.append({**message, "content": text})
    return tuple(reversed(kept))


@asynccontextmanager
async def model_server(script: Script, **options: Any) -> AsyncIterator[ModelServer]:
    """Run the server, at ``server.url`` (ends in ``/v1``), with the fields of :class:`ModelServer`."""
    server = ModelServer(script, **options)
    async with serve_app(server.app) as base:
        server.url = f"{base}/v1"
        yield server


class _Cut(Response):
    """Begins an answer and never ends it."""

    async def __call__(self, scope: Any, receive: Any, send: Send) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"1000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"id": "chatcmpl-', "more_body": True})


def _completion(asked: ReceivedRequest, says: ScriptedAnswer) -> dict[str, Any]:
    words = sum(len(str(m["content"]).split()) for m in asked.messages)
    message = {"role": "assistant", "content": says.text, "refusal": says.refusal}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": asked.model,
        "choices": [{"index": 0, "message": message, "finish_reason": says.finish, "logprobs": None}],
        "usage": {
            "prompt_tokens": words,
            "completion_tokens": says.tokens or len(says.text.split()),
            "total_tokens": words + len(says.text.split()),
        },
    }


def _error(status: int, message: str, code: str | None, headers: dict[str, str] | None = None) -> Response:
    body = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return Response(json.dumps(body), status, headers, "application/json")
