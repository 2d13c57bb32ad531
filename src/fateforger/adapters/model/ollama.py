"""Ollama's own API: its chat completions cannot set the size of the context, and cut a longer prompt without a word."""

from __future__ import annotations

from typing import Any

import httpx

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
from fateforger.errors import ModelError, ModelTimedOut
from fateforger.limits import MAX_MODEL_ANSWER_BYTES
from fateforger.ports.model import TOO_LATE, Prompt
from fateforger.text import gettext as _


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
        """See :meth:`fateforger.adapters.model.endpoint.Server.send`."""
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
        """See :meth:`fateforger.adapters.model.endpoint.Server.aclose`."""
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
    """Return the error for a response without an answer.

    A busy server answers with status 503. Some versions refuse a prompt that is too long, and others an option, with
    status 500.
    """
    status, words = answer.status_code, answer.text
    if status == 503:
        status = 429
    elif status >= 500 and ("context" in words or "think" in words):
        status = 400
    return build_error(status, words, model=model)
