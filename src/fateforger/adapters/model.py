"""Language models behind :class:`Model`: any server with OpenAI's chat completions API, through AutoGen's client.

Requests change nothing at the server, so one that fails on the way is repeated while there is time. A refusal is not.
The server's own words are left out of errors: they may contain a part of the key or of the prompt.
"""

from __future__ import annotations

import asyncio
import json
import logging
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import openai
from autogen_core.models import (
    AssistantMessage,
    CreateResult,
    LLMMessage,
    ModelInfo,
    SystemMessage,
    UserMessage,
)
from autogen_ext.models.openai import OpenAIChatCompletionClient

from fateforger.errors import (
    ModelAuthFailed,
    ModelBusy,
    ModelError,
    ModelRejected,
    ModelTimedOut,
    ModelUnreachable,
)
from fateforger.ports.model import Completion, Prompt, Role
from fateforger.text import mark_message
from fateforger.values import replace


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider; ``/chat/completions`` is appended to ``url``. Local servers need no key."""

    name: str
    url: str
    needs_key: bool


PROVIDERS: Mapping[str, Provider] = {
    p.name: p
    for p in (
        Provider("openai", "https://api.openai.com/v1", needs_key=True),
        Provider("openrouter", "https://openrouter.ai/api/v1", needs_key=True),
        Provider("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", needs_key=True),
        Provider("ollama", "http://127.0.0.1:11434/v1", needs_key=False),
        Provider("vllm", "http://127.0.0.1:8000/v1", needs_key=False),
    )
}


class Answers(StrEnum):
    """Ways to hold a server to JSON, strictest first."""

    SCHEMA = "schema"
    """The server enforces a JSON schema."""
    JSON = "json"
    """The server enforces JSON; the schema is only requested."""
    TEXT = "text"
    """The server enforces nothing."""

    @property
    def weaker(self) -> Answers | None:
        """The next less strict way; ``None`` after the last."""
        ladder = list(Answers)
        place = ladder.index(self) + 1
        return ladder[place] if place < len(ladder) else None


@dataclass(frozen=True, slots=True)
class Price:
    """Price in US dollars per million tokens."""

    prompt: float
    completion: float


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model server. ``model`` serves every role that ``roles`` does not name. The key is kept out of the repr."""

    url: str
    model: str
    key: str = field(repr=False, default="")
    roles: Mapping[Role, str] = field(default_factory=dict)
    answers: Answers = Answers.JSON
    prices: Mapping[str, Price] = field(default_factory=dict)

    def model_for(self, role: Role) -> str:
        """Return the name of the model that serves a role."""
        return self.roles.get(role, self.model)

    def cost(self, model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
        """Return the cost in US dollars, or ``None`` if the model has no known price."""
        price = self.prices.get(model)
        if price is None:
            return None
        return (price.prompt * prompt_tokens + price.completion * completion_tokens) / 1_000_000


NO_COMPLETION = "The language model's server answered with something that is no completion."


def to_model_error(error: openai.OpenAIError, *, model: str) -> ModelError:
    """Return our error for an error of the client library."""
    match error:
        case openai.APITimeoutError():
            return ModelTimedOut(mark_message("The language model took too long to answer."))
        case openai.APIConnectionError():
            return ModelUnreachable(mark_message("The language model's server cannot be reached."))
        case openai.AuthenticationError() | openai.PermissionDeniedError():
            return ModelAuthFailed("The language model's server refused the key; check FATEFORGER_MODEL_KEY.")
        case openai.RateLimitError():
            return ModelBusy(
                mark_message("The language model wants fewer requests right now."),
                retry_after=_parse_retry_after(error),
            )
        case openai.NotFoundError():
            return ModelRejected(f"The language model's server knows no model “{model}” at that address.")
        case openai.InternalServerError():
            return ModelUnreachable(mark_message("The language model's server has a fault."))
        case openai.APIStatusError():
            return ModelRejected(f"The language model's server refused the request ({error.status_code}).")
        case _:
            return ModelUnreachable(NO_COMPLETION)


def _parse_retry_after(error: openai.APIStatusError) -> float | None:
    """Return the seconds to wait, if the server gave a number of seconds."""
    try:
        return float(error.response.headers.get("retry-after", ""))
    except ValueError:
        return None


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
    """Implements :class:`fateforger.ports.model.Model` over one endpoint.

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
        """See :meth:`fateforger.ports.model.Model.complete`."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(seconds):
                result = await self._request_with_retries(prompt, until=began + seconds)
        except TimeoutError:
            raise ModelTimedOut(mark_message("The language model took too long to answer.")) from None
        return self._to_completion(prompt, result, seconds=loop.time() - began)

    async def aclose(self) -> None:
        """See :meth:`fateforger.ports.model.Model.aclose`."""
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
            raise ModelRejected(mark_message("The language model called a tool, and it was given none."))
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


PROBE_SECONDS = 30.0

_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"sum": {"type": "integer"}},
    "required": ["sum"],
    "additionalProperties": False,
}
_PROMPT = Prompt(
    name="probe/1",
    role=Role.DECIDE,
    system='Answer with one JSON object of the form {"sum": <integer>} and nothing else.',
    user="What is 17 plus 25?",
    schema=_SCHEMA,
)


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """The result of a test.

    ``answers`` is the strictest way of holding the server to JSON that worked; ``None`` when none did. ``seconds`` is
    the time of one short answer. ``said`` is the text of a wrong answer.
    """

    model: str
    answers: Answers | None
    seconds: float
    said: str = ""


async def probe_model(endpoint: Endpoint, role: Role) -> EndpointReport:
    """Ask a role's model a question with one right answer, from the strictest way down.

    Raises ``ModelError`` when the server cannot be reached or refuses the key.
    """
    model, last, said, seconds = endpoint.model_for(role), None, "", 0.0
    for answers in Answers:
        client = ChatModel(replace(endpoint, answers=answers), step_down=False)
        try:
            completion = await client.complete(replace(_PROMPT, role=role), seconds=PROBE_SECONDS)
        except ModelError as error:
            last = error
            continue
        finally:
            await client.aclose()
        said, seconds, last = completion.text, completion.seconds, None
        if _is_right(completion.text):
            return EndpointReport(model, answers, seconds)
    if last is not None:
        raise last
    return EndpointReport(model, None, seconds, said[:80])


def _is_right(text: str) -> bool:
    try:
        return bool(json.loads(text) == {"sum": 42})
    except ValueError:
        return False
