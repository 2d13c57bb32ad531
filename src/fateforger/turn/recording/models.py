"""Wrappers of a model: one records a turn, the other answers from a recording."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from fateforger.errors import ModelBusy, ModelError, ModelTimedOut, ModelUnreachable
from fateforger.ports import Completion, Model, Prompt
from fateforger.turn.recording.values import CANCELLED, Exchange, Failure


class ListeningModel:
    """Model that records requests and answers, in the order of the answers.

    ``prompts`` are the requests themselves, one for each exchange.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self.exchanges: list[Exchange] = []
        self.prompts: list[Prompt] = []

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        """Complete a prompt and record the exchange. See :meth:`fateforger.ports.Model.complete`."""
        try:
            completion = await self._model.complete(prompt, seconds=seconds)
        except ModelError as error:
            self._keep(prompt, failure=Failure(kind=error.kind, message=error.message))
            raise
        except asyncio.CancelledError:
            self._keep(prompt, failure=Failure(kind=CANCELLED, message="Nobody waited for it any longer."))
            raise
        self._keep(prompt, completion=completion)
        return completion

    async def aclose(self) -> None:
        """Do nothing: the model outlives the turn."""

    def _keep(self, prompt: Prompt, *, completion: Completion | None = None, failure: Failure | None = None) -> None:
        self.prompts.append(prompt)
        self.exchanges.append(Exchange.of(prompt, completion=completion, failure=failure))


class AnsweringModel:
    """Model that gives the recorded answers to requests with the same purpose, in order.

    ``missed`` holds requests without a recorded answer, ``left`` the answers that have not been used.
    """

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self.left = list(exchanges)
        self.answered: list[tuple[Exchange, Exchange]] = []
        """Each recorded exchange with the request that it now answered."""
        self.missed: list[Exchange] = []

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        """Return the recorded answer. See :meth:`fateforger.ports.Model.complete`."""
        del seconds  # A recorded answer is available at once.
        await asyncio.sleep(0)  # Yield to other tasks, as waiting for a server would.
        now = Exchange.of(prompt)
        then = next((e for e in self.left if purpose(e.name) == purpose(now.name)), None)
        if then is None:
            self.missed.append(now)
            raise ModelUnreachable("The recording has no answer to this.")
        self.left.remove(then)
        self.answered.append((then, now))
        if then.completion is None:
            raise _error(then.failure)
        return then.completion

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""


def purpose(name: str) -> str:
    """Return the name of a request without its version: ``decide/2`` and ``decide/3`` have the same purpose."""
    return name.partition("/")[0]


def _error(failure: Failure | None) -> ModelError:
    if failure is None or failure.kind == CANCELLED:
        return ModelTimedOut("The language model took too long to answer.")
    kinds = {kind("").kind: kind for kind in (*ModelError.__subclasses__(), ModelError)}
    kind = kinds.get(failure.kind, ModelError)
    return ModelBusy(failure.message) if kind is ModelBusy else kind(failure.message)
