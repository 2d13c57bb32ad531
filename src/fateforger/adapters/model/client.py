"""The client of a model server: retries, time limits, and options that a server turns out not to support.

Requests change nothing at the server, so one that fails on the way is repeated while there is time. A refusal is not.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from fateforger.adapters.model.completions import CompletionsServer, OllamaServer
from fateforger.adapters.model.endpoint import (
    TOO_LONG,
    Answers,
    Endpoint,
    Parameters,
    Refused,
    Reply,
    Request,
    Server,
    choose_answers,
    list_messages,
)
from fateforger.errors import ModelBusy, ModelRejected, ModelTimedOut, ModelUnreachable
from fateforger.ports.model import TOO_LATE, Completion, Prompt, estimate_tokens
from fateforger.session.constants import DECISION_LIMIT, DRAFT_LIMIT
from fateforger.text import gettext as _
from fateforger.values import replace

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
