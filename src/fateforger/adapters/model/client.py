"""The client of a model server (OpenAI's API, or Ollama's): retries, time limits, options, and its tests.

Requests change nothing at the server, so one that fails on the way is repeated while there is time. A refusal is not.

Ollama's chat completions cannot set the size of the context, and silently cut a longer prompt.
The server's own words are left out of errors: they may contain a part of the key or of the prompt.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import openai
from autogen_core.models import AssistantMessage, CreateResult, LLMMessage, ModelInfo, SystemMessage, UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient

from fateforger.adapters.answers import AnswerTooLong, limit_answers
from fateforger.adapters.model.endpoint import (
    TOO_LONG,
    Answers,
    Endpoint,
    Parameters,
    Refused,
    Reply,
    Request,
    Server,
    build_error,
    build_no_completion,
    build_too_long,
    build_unreachable,
    choose_answers,
    list_messages,
)
from fateforger.errors import ModelBusy, ModelError, ModelRejected, ModelTimedOut, ModelUnreachable
from fateforger.limits import MAX_MODEL_ANSWER_BYTES
from fateforger.ports.model import TOO_LATE, Completion, Prompt, Role, estimate_tokens
from fateforger.session.stages import DECISION_LIMIT, DRAFT_LIMIT, PATCH_LIMIT
from fateforger.text import gettext as _
from fateforger.values import replace


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


TRIES = 3
LONGEST_REQUEST = 1.5 * DRAFT_LIMIT
"""Seconds after which a request is given up in any case, at usual speed."""
ANSWER_TOKENS = 1_024
"""Room for an answer in the context."""


@dataclass(frozen=True, slots=True)
class _Options:
    """Options of requests to one model. The first of ``thinking`` is used; the others are what it steps down to."""

    answers: Answers
    thinking: tuple[Parameters, ...]

    def step_down(self, refused: Refused) -> _Options | None:
        """Return weaker options after a refusal; ``None`` if it has another reason."""
        if refused.is_about_answers and self.answers.weaker is not None:
            return replace(self, answers=self.answers.weaker)
        if refused.is_about_thinking and len(self.thinking) > 1:
            return replace(self, thinking=self.thinking[1:])
        return None


class ChatModel:
    """Implements :class:`fateforger.ports.model.Model` over one endpoint.

    A server that does not support an option as configured is asked for less from then on. ``first_pause`` is the number
    of seconds before the second try, doubled before each further one.
    """

    def __init__(self, endpoint: Endpoint, *, first_pause: float = 0.5) -> None:
        self._endpoint = endpoint
        self._first_pause = first_pause
        self._options: dict[str, _Options] = {}
        server = OllamaServer if endpoint.provider.native else CompletionsServer
        self._server: Server = server(endpoint, longest=LONGEST_REQUEST * self.time_factor)

    @property
    def time_factor(self) -> float:
        return self._endpoint.seconds / DECISION_LIMIT

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        self._check_size(prompt)
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(seconds):
                reply = await self._request_with_retries(prompt, until=began + seconds)
        except TimeoutError:
            raise ModelTimedOut(_(TOO_LATE)) from None
        return self._to_completion(prompt, reply, seconds=loop.time() - began)

    async def aclose(self) -> None:
        await self._server.aclose()

    def get_answers(self, model: str) -> Answers:
        """Return the way in which a model is held to JSON now."""
        return self._get_options(model).answers

    def _check_size(self, prompt: Prompt) -> None:
        """Reject a prompt that leaves no room for an answer, since some servers would cut it without a word."""
        context = self._endpoint.context
        needed = sum(estimate_tokens(text) for __, text in list_messages(prompt)) + ANSWER_TOKENS
        if context is not None and needed > context:
            raise ModelRejected(_(TOO_LONG))

    async def _request_with_retries(self, prompt: Prompt, *, until: float) -> Reply:
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

    async def _once(self, prompt: Prompt) -> Reply:
        """Send one request; repeat it with weaker options if the server does not support the current ones."""
        model = self._endpoint.model_for(prompt.role)
        options = self._get_options(model)
        while True:
            try:
                reply = await self._server.send(
                    Request(prompt, model, choose_answers(prompt.schema, options.answers), options.thinking[0])
                )
            except Refused as refused:
                weaker = options.step_down(refused)
                if weaker is None:
                    raise refused.to_error() from refused
                options = weaker
            else:
                # Only what worked is kept, since the words of a refusal may be about something else.
                self._options[model] = options
                return reply

    def _get_options(self, model: str) -> _Options:
        thinking = self._endpoint.provider.style.list_parameters(self._endpoint.thinking)
        return self._options.get(model, _Options(self._endpoint.answers, thinking))

    def _to_completion(self, prompt: Prompt, reply: Reply, *, seconds: float) -> Completion:
        model = self._endpoint.model_for(prompt.role)
        asked, answered = reply.prompt_tokens, reply.completion_tokens
        cost = None if asked is None or answered is None else self._endpoint.cost(model, asked, answered)
        return Completion(reply.text, model, seconds, asked, answered, cost)


def open_model(endpoint: Endpoint) -> ChatModel:
    """Return a model over an endpoint. Nothing is connected yet."""
    return ChatModel(endpoint)


PROBE_SECONDS = 30.0


def _build_schema(**fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}


SUM = "17 plus 25"
_SUM = Prompt(
    name="probe/1",
    role=Role.DECIDE,
    system='Answer with one JSON object of the form {"sum": <integer>} and nothing else.',
    user=f"What is {SUM}?",
    schema=_build_schema(sum={"type": "integer"}),
)
_THOUGHTFUL = 60
"""Tokens that no model needs for that answer alone."""


@dataclass(frozen=True, slots=True)
class EndpointReport:
    """The result of a short question.

    ``answers`` is the strictest way of holding the server to JSON that worked; ``None`` when none did. ``seconds`` is
    the time of one short answer. ``wrong`` is an answer of the right form to the question in ``SUM`` that is not the
    right one. ``thinks`` is true if most of the answer was thinking.
    """

    model: str
    answers: Answers | None
    seconds: float
    wrong: int | None = None
    thinks: bool = False


async def probe_model(endpoint: Endpoint, role: Role) -> EndpointReport:
    """Ask a role's model a question with one right answer, from the strictest way down.

    Raises ``ModelError`` when the server cannot be reached or refuses the key.
    """
    model, last, wrong, seconds = endpoint.model_for(role), None, None, 0.0
    for answers in Answers:
        client = ChatModel(replace(endpoint, answers=answers))
        try:
            completion = await client.complete(replace(_SUM, role=role), seconds=PROBE_SECONDS * client.time_factor)
        except ModelError as error:
            last = error
            continue
        finally:
            await client.aclose()
        seconds, last = completion.seconds, None
        match _parse(completion.text):
            case {"sum": 42, **rest} if not rest:
                return EndpointReport(model, client.get_answers(model), seconds, thinks=_has_thought(completion))
            case {"sum": int(found), **rest} if not rest:
                wrong = found
    if last is not None:
        raise last
    return EndpointReport(model, None, seconds, wrong)


def _has_thought(completion: Completion) -> bool:
    return (completion.completion_tokens or estimate_tokens(completion.text)) > _THOUGHTFUL


@dataclass(frozen=True, slots=True)
class LengthReport:
    """The result of a long prompt.

    ``tokens`` is its estimated length. ``complete`` is true if the model has read it from its beginning. ``rate`` is
    the number of tokens answered in a second, with the time for reading; ``None`` if the server does not count.
    """

    tokens: int
    complete: bool
    seconds: float
    rate: float | None


async def probe_length(endpoint: Endpoint, role: Role, text: str) -> LengthReport:
    """Send a role's model a code word before a long text, and ask it for that word and for an answer of usual length.

    Raises ``ModelError``, ``ModelRejected`` among them if the server does not take a prompt of that length.
    """
    # A new word each time, so that the server reads the text again.
    word = secrets.token_hex(4)
    prompt = Prompt(
        name="probe/2",
        role=role,
        system=f"The code word is {word}. The text that follows is only there to be long.\n\n{text}",
        user="Do nothing of the above. Answer with one JSON object and nothing else:"
        ' {"word": <the code word at the very beginning>, "numbers": [<the whole numbers from 1 to 40>]}',
        schema=_build_schema(word={"type": "string"}, numbers={"type": "array", "items": {"type": "integer"}}),
    )
    client = ChatModel(endpoint)
    try:
        completion = await client.complete(prompt, seconds=2 * PATCH_LIMIT * client.time_factor)
    finally:
        await client.aclose()
    rate = completion.completion_tokens / max(completion.seconds, 0.001) if completion.completion_tokens else None
    size = estimate_tokens(prompt.system + prompt.user)
    return LengthReport(size, word in completion.text, completion.seconds, rate)


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None
