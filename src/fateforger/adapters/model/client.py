"""A model through AutoGen's client.

Requests change nothing at the server, so one that fails on the way is repeated while there is time. A refusal is not.
"""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Mapping
from typing import Any

import openai
from autogen_core.models import AssistantMessage, CreateResult, LLMMessage, ModelInfo, SystemMessage, UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient

from fateforger.adapters.model.endpoint import Answers, Endpoint
from fateforger.adapters.model.refusals import NO_COMPLETION, to_model_error
from fateforger.errors import ModelBusy, ModelRejected, ModelTimedOut, ModelUnreachable
from fateforger.ports import Completion, Prompt, Role

TRIES = 3
LONGEST_REQUEST = 180.0
"""Seconds after which a request is given up in any case."""

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


class ChatModel:
    """Implements :class:`fateforger.ports.Model` over one endpoint.

    Background work has a client of its own, so that it never precedes a person's turn in the connection pool (S116).
    With ``step_down``, a server that cannot enforce JSON as strictly as configured is asked for less from then on.
    ``first_pause`` is the number of seconds before the second try, doubled before each further one.
    """

    def __init__(self, endpoint: Endpoint, *, step_down: bool = True, first_pause: float = 0.5) -> None:
        self._endpoint = endpoint
        self._step_down = step_down
        self._first_pause = first_pause
        self._clients: dict[tuple[str, bool], OpenAIChatCompletionClient] = {}
        self._answers: dict[str, Answers] = {}

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        """See :meth:`fateforger.ports.Model.complete`."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(seconds):
                result = await self._request_with_retries(prompt, until=began + seconds)
        except TimeoutError:
            raise ModelTimedOut("The language model took too long to answer.") from None
        return self._to_completion(prompt, result, seconds=loop.time() - began)

    async def aclose(self) -> None:
        """See :meth:`fateforger.ports.Model.aclose`."""
        clients, self._clients = tuple(self._clients.values()), {}
        for client in clients:
            await client.close()

    async def _request_with_retries(self, prompt: Prompt, *, until: float) -> CreateResult:
        """Repeat requests that fail on the way, while the pause before the next one fits into the time."""
        for attempt in range(TRIES):
            try:
                return await self._once(prompt)
            except (ModelUnreachable, ModelBusy) as error:
                wanted = error.retry_after if isinstance(error, ModelBusy) else None
                pause = self._first_pause * 2**attempt if wanted is None else wanted
                if attempt + 1 == TRIES or asyncio.get_running_loop().time() + pause >= until:
                    raise
                await asyncio.sleep(pause)
        raise AssertionError("the last try returns or raises")

    async def _once(self, prompt: Prompt) -> CreateResult:
        """Send one request; repeat it with a weaker response format if the server does not support the current one."""
        model = self._endpoint.model_for(prompt.role)
        while True:
            answers = self._answers.get(model, self._endpoint.answers)
            try:
                return await self._request(prompt, model, _build_response_format(prompt, answers))
            except openai.BadRequestError as error:
                if not self._step_down or answers.weaker is None or "response_format" not in str(error):
                    raise to_model_error(error, model=model) from error
                self._answers[model] = answers.weaker
            except openai.OpenAIError as error:
                raise to_model_error(error, model=model) from error

    async def _request(self, prompt: Prompt, model: str, extra: Mapping[str, Any]) -> CreateResult:
        client = self._client(model, background=prompt.role is Role.EXTRACT)
        try:
            return await client.create(_build_messages(prompt), extra_create_args=extra)
        except (IndexError, TypeError, AttributeError, ValueError) as error:
            # The library does not check a response with status 200, and fails on one that is no completion.
            raise ModelUnreachable(NO_COMPLETION) from error

    def _client(self, model: str, *, background: bool) -> OpenAIChatCompletionClient:
        key = (model, background)
        if key not in self._clients:
            self._clients[key] = OpenAIChatCompletionClient(
                model=model,
                base_url=self._endpoint.url,
                api_key=self._endpoint.key or "none",  # the library requires one
                model_info=_INFO,
                max_retries=0,
                timeout=LONGEST_REQUEST,
                include_name_in_message=False,
            )
        return self._clients[key]

    def _to_completion(self, prompt: Prompt, result: CreateResult, *, seconds: float) -> Completion:
        if not isinstance(result.content, str):
            raise ModelRejected("The language model called a tool, and it was given none.")
        model = self._endpoint.model_for(prompt.role)
        asked, answered = result.usage.prompt_tokens or None, result.usage.completion_tokens or None
        cost = None if asked is None or answered is None else self._endpoint.cost(model, asked, answered)
        return Completion(result.content, model, seconds, asked, answered, cost)


def open_model(endpoint: Endpoint) -> ChatModel:
    """Return a model over an endpoint. Nothing is connected yet."""
    return ChatModel(endpoint)


def _build_messages(prompt: Prompt) -> list[LLMMessage]:
    """Return the prompt and each earlier try, as its answer and the mistake in it."""
    messages: list[LLMMessage] = [
        SystemMessage(content=prompt.system),
        UserMessage(content=prompt.user, source="user"),
    ]
    for answer, mistake in prompt.history:
        messages.append(AssistantMessage(content=answer or "(nothing)", source="assistant"))
        messages.append(UserMessage(content=f"That cannot be used: {mistake} Answer again, whole.", source="user"))
    return messages


def _build_response_format(prompt: Prompt, answers: Answers) -> dict[str, Any]:
    if prompt.schema is None or answers is Answers.TEXT:
        return {}
    if answers is Answers.JSON:
        return {"response_format": {"type": "json_object"}}
    name = "".join(c if c.isalnum() else "_" for c in prompt.name)
    named = {"name": name, "schema": dict(prompt.schema), "strict": _is_closed(prompt.schema)}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def _is_closed(schema: Any) -> bool:
    """Check whether every object in a schema requires all its fields and allows no others.

    Servers that enforce a schema demand this.
    """
    if isinstance(schema, list):
        return all(_is_closed(part) for part in schema)
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object":
        required = set(schema.get("required", ()))
        if schema.get("additionalProperties") is not False or required != set(schema.get("properties", {})):
            return False
    return "oneOf" not in schema and all(_is_closed(part) for part in schema.values())
