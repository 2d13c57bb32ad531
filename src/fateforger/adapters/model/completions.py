"""Servers with OpenAI's chat completions API, through AutoGen's client, and Ollama with its own API.

Ollama's chat completions cannot set the size of the context, and silently cut a longer prompt.
The server's own words are left out of errors: they may contain a part of the key or of the prompt.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Mapping
from typing import Any

import httpx
import openai
from autogen_core.models import AssistantMessage, CreateResult, LLMMessage, ModelInfo, SystemMessage, UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient

from fateforger.adapters.answers import AnswerTooLong, limit_answers
from fateforger.adapters.model.endpoint import (
    Answers,
    Endpoint,
    Refused,
    Reply,
    Request,
    build_error,
    build_no_completion,
    build_too_long,
    build_unreachable,
    list_messages,
)
from fateforger.errors import ModelError, ModelRejected, ModelTimedOut
from fateforger.limits import MAX_MODEL_ANSWER_BYTES
from fateforger.ports.model import TOO_LATE, Prompt, Role
from fateforger.text import gettext as _


def to_model_error(error: openai.OpenAIError, *, model: str) -> ModelError | Refused:
    """Return our error for an error of the client library."""
    match error:
        case openai.APITimeoutError():
            return ModelTimedOut(_(TOO_LATE))
        case openai.APIConnectionError(__cause__=AnswerTooLong()):
            return build_too_long()
        case openai.APIConnectionError():
            return build_unreachable()
        case openai.APIStatusError():
            wait = _parse_retry_after(error)
            return build_error(error.status_code, str(error), model=model, retry_after=wait)
        case _:
            return build_no_completion()


def _parse_retry_after(error: openai.APIStatusError) -> float | None:
    """Return the seconds to wait, if the server gave a number of seconds."""
    try:
        return float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None


# AutoGen logs every prompt and answer at INFO.
logging.getLogger("autogen_core.events").setLevel(logging.WARNING)
# Servers report a model under its dated name, which is of no interest in a terminal.
warnings.filterwarnings("ignore", message="Resolved model mismatch")

_INFO = ModelInfo(
    vision=False,
    function_calling=False,
    json_output=True,
    family="unknown",
    structured_output=True,
    multiple_system_messages=False,
)


class CompletionsServer:
    """A server with OpenAI's API.

    Background work has a client of its own, so that it never precedes a person's turn in the connection pool (S116).
    ``longest`` is the number of seconds after which a request is given up in any case.
    """

    def __init__(self, endpoint: Endpoint, *, longest: float) -> None:
        self._endpoint = endpoint
        self._longest = longest
        self._clients: dict[tuple[str, bool], OpenAIChatCompletionClient] = {}

    async def send(self, request: Request) -> Reply:
        client = self._client(request.model, background=request.prompt.role is Role.EXTRACT)
        described = request.answers is not Answers.SCHEMA or not self._endpoint.provider.shows_schema
        extra = {**request.thinking, **_build_response_format(request.prompt, request.answers)}
        try:
            result = await client.create(_build_messages(request.prompt, described=described), extra_create_args=extra)
        except openai.OpenAIError as error:
            raise to_model_error(error, model=request.model) from error
        except (IndexError, TypeError, AttributeError, ValueError) as error:
            # The library does not check a response with status 200, and fails on one that is no completion.
            raise build_no_completion() from error
        return _to_reply(result)

    async def aclose(self) -> None:
        clients, self._clients = tuple(self._clients.values()), {}
        for client in clients:
            await client.close()

    def _client(self, model: str, *, background: bool) -> OpenAIChatCompletionClient:
        key = (model, background)
        if key not in self._clients:
            http = openai.DefaultAsyncHttpxClient(timeout=self._longest)
            limit_answers(http, MAX_MODEL_ANSWER_BYTES)
            self._clients[key] = OpenAIChatCompletionClient(
                model=model,
                base_url=self._endpoint.url,
                api_key=self._endpoint.key or "none",  # the library requires one
                model_info=_INFO,
                http_client=http,  # type: ignore[call-arg]  # passed on to OpenAI's client, but not declared
                max_retries=0,
                timeout=self._longest,
                include_name_in_message=False,
            )
        return self._clients[key]


def _to_reply(result: CreateResult) -> Reply:
    if not isinstance(result.content, str):
        raise ModelRejected(_("The language model called a tool, and it was given none."))
    return Reply(result.content, result.usage.prompt_tokens or None, result.usage.completion_tokens or None)


def _build_messages(prompt: Prompt, *, described: bool) -> list[LLMMessage]:
    return [_build_message(role, text) for role, text in list_messages(prompt, described=described)]


def _build_message(role: str, text: str) -> LLMMessage:
    match role:
        case "system":
            return SystemMessage(content=text)
        case "user":
            return UserMessage(content=text, source="user")
        case _:
            return AssistantMessage(content=text, source="assistant")


def _build_response_format(prompt: Prompt, answers: Answers) -> dict[str, Any]:
    if prompt.schema is None or answers is Answers.TEXT:
        return {}
    if answers is Answers.JSON:
        return {"response_format": {"type": "json_object"}}
    name = "".join(c if c.isalnum() else "_" for c in prompt.name)
    named = {"name": name, "schema": close_schema(prompt.schema), "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


_UNKNOWN = frozenset({"default", "discriminator", "minLength", "maxLength", "minItems", "maxItems"})
_UNKNOWN_TOO = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "uniqueItems"})
_NAMING = frozenset({"properties", "$defs"})


def close_schema(schema: Any, *, names: bool = False) -> Any:
    """Return a JSON schema in the strict form that servers enforce.

    Every object requires all its fields and allows no others; limits that not every server knows are left out, because
    code checks them again. With ``names``, the keys are names of fields or types.
    """
    if isinstance(schema, list):
        return [close_schema(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    if names:
        return {name: close_schema(part) for name, part in schema.items()}
    closed = {
        "anyOf" if name == "oneOf" else name: close_schema(part, names=name in _NAMING)
        for name, part in schema.items()
        if name not in _UNKNOWN | _UNKNOWN_TOO
    }
    if "properties" in closed:
        closed |= {"required": list(closed["properties"]), "additionalProperties": False}
    return closed


class OllamaServer:
    """An Ollama server. Its address may end in ``/v1``, as that of its chat completions does.

    ``longest`` is the number of seconds after which a request is given up in any case.
    """

    def __init__(self, endpoint: Endpoint, *, longest: float) -> None:
        headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
        self._context = endpoint.context
        self._http = httpx.AsyncClient(
            base_url=endpoint.url.removesuffix("/v1"), headers=headers, timeout=longest, trust_env=False
        )
        limit_answers(self._http, MAX_MODEL_ANSWER_BYTES)

    async def send(self, request: Request) -> Reply:
        try:
            answer = await self._http.post("/api/chat", json=_build_body(request, self._context))
        except httpx.TimeoutException as error:
            raise ModelTimedOut(_(TOO_LATE)) from error
        except AnswerTooLong as error:
            raise build_too_long() from error
        except httpx.HTTPError as error:
            raise build_unreachable() from error
        if not answer.is_success:
            raise _to_error(answer, request.model)
        try:
            found = answer.json()
            asked, answered = found.get("prompt_eval_count"), found.get("eval_count")
            return Reply(str(found["message"]["content"]), asked or None, answered or None)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise build_no_completion() from error

    async def aclose(self) -> None:
        await self._http.aclose()


def _build_body(request: Request, context: int | None) -> dict[str, Any]:
    """Return a request that is refused rather than cut if it is too long (versions before October 2025 cut it)."""
    return {
        "model": request.model,
        "messages": [{"role": role, "content": text} for role, text in list_messages(request.prompt)],
        "stream": False,
        "truncate": False,
        "shift": False,
        "options": {} if context is None else {"num_ctx": context},
        **request.thinking,
        **_build_format(request.prompt, request.answers),
    }


def _build_format(prompt: Prompt, answers: Answers) -> dict[str, Any]:
    if prompt.schema is None or answers is Answers.TEXT:
        return {}
    return {"format": "json" if answers is Answers.JSON else dict(prompt.schema)}


def _to_error(answer: httpx.Response, model: str) -> ModelError | Refused:
    """Return the error for a response without an answer. A busy server answers with status 503."""
    status = 429 if answer.status_code == 503 else answer.status_code
    return build_error(status, answer.text, model=model)
