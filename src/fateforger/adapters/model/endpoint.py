"""Model servers: where they are, what is asked of them, and how each of them is asked for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from fateforger.errors import ModelAuthFailed, ModelBusy, ModelError, ModelRejected, ModelUnreachable
from fateforger.ports.model import Prompt, Role
from fateforger.session.stages import DECISION_LIMIT
from fateforger.text import gettext as _
from fateforger.text import mark_message


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


def choose_answers(schema: object, answers: Answers) -> Answers:
    """Return how to hold a server to this schema. One with a choice between objects is only requested (S70)."""
    return Answers.JSON if answers is Answers.SCHEMA and _has_union(schema) else answers


def _has_union(schema: object) -> bool:
    if isinstance(schema, list):
        return any(map(_has_union, schema))
    if not isinstance(schema, Mapping):
        return False
    choices = [each for name in ("oneOf", "anyOf") for each in schema.get(name, ())]
    objects = [each for each in choices if "$ref" in each or "properties" in each]
    return len(objects) > 1 or any(map(_has_union, schema.values()))


class Thinking(StrEnum):
    """Levels of thinking before an answer."""

    OFF = "off"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


Parameters = Mapping[str, Any]
"""Parameters of a request."""
NO_PARAMETERS: Parameters = {}


def _list_efforts(level: Thinking) -> tuple[str, ...]:
    """Return names of a level. Models differ in the lowest one that they accept."""
    return ("none", "minimal", "low") if level is Thinking.OFF else (level.value,)


def _as_effort(level: Thinking) -> tuple[Parameters, ...]:
    """Return OpenAI's parameter, which Gemini and many others know."""
    return tuple({"reasoning_effort": effort} for effort in _list_efforts(level))


def _as_reasoning(level: Thinking) -> tuple[Parameters, ...]:
    return tuple({"extra_body": {"reasoning": {"effort": effort}}} for effort in _list_efforts(level))


def _as_template(level: Thinking) -> tuple[Parameters, ...]:
    """Return variables of the chat template, which are named ``enable_thinking`` or ``thinking``."""
    on = level is not Thinking.OFF
    switch = {"extra_body": {"chat_template_kwargs": {"enable_thinking": on, "thinking": on}}}
    return ({**switch, "reasoning_effort": level.value}, switch) if on else (switch,)


def _as_think(level: Thinking) -> tuple[Parameters, ...]:
    """Return the parameter of Ollama's own API. Few models know levels; the others think or do not."""
    return ({"think": False},) if level is Thinking.OFF else ({"think": level.value}, {"think": True})


class ThinkingStyle(StrEnum):
    """The name and the place of the parameter for thinking."""

    EFFORT = "effort"
    REASONING = "reasoning"
    TEMPLATE = "template"
    THINK = "think"

    def list_parameters(self, level: Thinking | None) -> tuple[Parameters, ...]:
        """Return the parameters to try, the closest to a level first; the last ones are none, as without a level."""
        return (NO_PARAMETERS,) if level is None else (*_THINKING[self](level), NO_PARAMETERS)


_THINKING = {
    ThinkingStyle.EFFORT: _as_effort,
    ThinkingStyle.REASONING: _as_reasoning,
    ThinkingStyle.TEMPLATE: _as_template,
    ThinkingStyle.THINK: _as_think,
}


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider, with its defaults. ``/chat/completions`` is appended to ``url``.

    Local servers need no key. ``thinking`` and ``context`` (in tokens) are left to the server where they are ``None``.
    ``seconds`` is the time limit for understanding a message; the other limits follow. With ``shows_schema`` a model
    reads the JSON schema of its answer, so the prompt need not describe it, too. ``native`` means Ollama's own API.
    """

    name: str
    url: str
    needs_key: bool = True
    answers: Answers = Answers.JSON
    style: ThinkingStyle = ThinkingStyle.EFFORT
    thinking: Thinking | None = None
    seconds: float = DECISION_LIMIT
    context: int | None = None
    shows_schema: bool = False
    native: bool = False


OLLAMA_CONTEXT = 10_240
"""Tokens that hold the longest prompt with its answer. Ollama's own default, 4,096, does not."""

PROVIDERS: Mapping[str, Provider] = {
    p.name: p
    for p in (
        Provider("openai", "https://api.openai.com/v1", shows_schema=True),
        Provider("openrouter", "https://openrouter.ai/api/v1", style=ThinkingStyle.REASONING),
        Provider("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", shows_schema=True),
        # On the person's own machine thinking takes most of the time, and a schema costs no tokens.
        Provider(
            "ollama",
            "http://127.0.0.1:11434/v1",
            needs_key=False,
            answers=Answers.SCHEMA,
            style=ThinkingStyle.THINK,
            thinking=Thinking.OFF,
            seconds=3 * DECISION_LIMIT,
            context=OLLAMA_CONTEXT,
            native=True,
        ),
        Provider(
            "vllm",
            "http://127.0.0.1:8000/v1",
            needs_key=False,
            answers=Answers.SCHEMA,
            style=ThinkingStyle.TEMPLATE,
            thinking=Thinking.OFF,
        ),
    )
}
OTHER = Provider("other", "", needs_key=False)
"""A server of which only the address is known."""


@dataclass(frozen=True, slots=True)
class Price:
    """Price in US dollars per million tokens."""

    prompt: float
    completion: float


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model server. ``model`` serves every role that ``roles`` does not name. The key is kept out of the repr.

    The other fields are as those of :class:`Provider`.
    """

    url: str
    model: str
    key: str = field(repr=False, default="")
    provider: Provider = OTHER
    roles: Mapping[Role, str] = field(default_factory=dict)
    answers: Answers = Answers.JSON
    thinking: Thinking | None = None
    seconds: float = DECISION_LIMIT
    context: int | None = None
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


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt for a model of the server, with the options that the server may not support."""

    prompt: Prompt
    model: str
    answers: Answers
    thinking: Parameters


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of an answer. Tokens are ``None`` if they were not counted."""

    text: str
    prompt_tokens: int | None
    completion_tokens: int | None


TOO_LONG = mark_message("That is more than the language model can read at once.")


class Refused(Exception):
    """The server refused the request for what it contains. ``words`` are its own; they may quote the prompt."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(status)
        self.status = status
        self._words = words.casefold()

    @property
    def is_about_answers(self) -> bool:
        """Check whether the server does not support the way in which it is held to JSON."""
        return any(name in self._words for name in ("response_format", "response format", "schema", "grammar"))

    @property
    def is_about_thinking(self) -> bool:
        """Check whether the server does not support the parameter for thinking."""
        return any(name in self._words for name in ("reasoning", "think", "chat_template_kwargs"))

    @property
    def says_why(self) -> bool:
        """Check whether the words name something in the request: an option, or its length."""
        return self.is_about_answers or self.is_about_thinking or self.is_about_length

    @property
    def is_about_length(self) -> bool:
        """Check whether the prompt is longer than the model can read."""
        return any(name in self._words for name in ("context_length", "context length", "context size"))

    def to_error(self) -> ModelRejected:
        """Return the error for the person."""
        if self.is_about_length:
            return ModelRejected(_(TOO_LONG))
        return ModelRejected(_("The language model's server refused the request ({status}).", status=self.status))


def build_error(status: int, words: str, *, model: str, retry_after: float | None = None) -> ModelError | Refused:
    """Return the error for a response with another status than success; ``words`` are those of the server.

    Some servers (llama-cpp-python, versions of Ollama) refuse an option or a long prompt with status 500.
    """
    refused = Refused(status, words)
    match status:
        case 401 | 403:
            return ModelAuthFailed(_("The language model's server does not accept my key."))
        case 404:
            return ModelRejected(_("The language model's server does not have the model “{model}”.", model=model))
        case 429:
            return ModelBusy(_("The language model wants fewer requests right now."), retry_after=retry_after)
        case _ if status < 500 or (status == 500 and refused.says_why):
            return refused
        case _:
            return ModelUnreachable(_("The language model's server has a fault."))


def build_unreachable() -> ModelError:
    """Return the error for a request without a response."""
    return ModelUnreachable(_("The language model's server cannot be reached."))


def build_no_completion() -> ModelError:
    """Return the error for a response that is no completion."""
    return ModelUnreachable(_("The language model's server gave an answer that makes no sense."))


def build_too_long() -> ModelError:
    """Return the error for a response that exceeds the limit."""
    return ModelRejected(_("The language model's server gave an answer that is too long to read."))


class Server(Protocol):
    """A protocol to talk to servers."""

    async def send(self, request: Request) -> Reply:
        """Send a request. Raises ``Refused`` and ``ModelError``."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


def list_messages(prompt: Prompt, *, described: bool = True) -> list[tuple[str, str]]:
    """Return the role and text of each message: the prompt, and each earlier try as its answer and its mistake.

    If the answer is not ``described``, the prompt's notation of it is left out.
    """
    system = prompt.system if described else prompt.system.removesuffix(prompt.notation).rstrip()
    messages = [("system", system), ("user", prompt.user)]
    for answer, mistake in prompt.history:
        messages.append(("assistant", answer or "(nothing)"))
        messages.append(("user", f"That cannot be used: {mistake} Answer again, whole."))
    return messages
