"""Two models around a turn: one that listens in while it is recorded, one that answers from a recording."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from fateforger.errors import ModelBusy, ModelError, ModelTimedOut, ModelUnreachable
from fateforger.ports import Completion, Model, Prompt
from fateforger.turn.recording.values import CANCELLED, Exchange, Failure


class ListeningModel:
    """Passes everything on, and keeps what was asked and answered in the order in which answers came. ``prompts`` are
    the requests themselves, one for each exchange."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.exchanges: list[Exchange] = []
        self.prompts: list[Prompt] = []

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        """See :meth:`fateforger.ports.Model.complete`."""
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
        """The model outlives the turn."""

    def _keep(self, prompt: Prompt, *, completion: Completion | None = None, failure: Failure | None = None) -> None:
        self.prompts.append(prompt)
        self.exchanges.append(Exchange.of(prompt, completion=completion, failure=failure))


class AnsweringModel:
    """Says what was said before to the same kind of request, in order; asks nobody. ``missed`` are requests that no
    answer was recorded for, ``left`` the answers that nothing asked for (yet)."""

    def __init__(self, exchanges: Iterable[Exchange]) -> None:
        self.left = list(exchanges)
        self.answered: list[tuple[Exchange, Exchange]] = []
        """Each recorded exchange with the request that it answered now."""
        self.missed: list[Exchange] = []

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        """See :meth:`fateforger.ports.Model.complete`."""
        del seconds  # what is recorded is there at once
        await asyncio.sleep(0)  # and gives way to others, as anything that waits for a server does
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
        """Nothing to let go of."""


def purpose(name: str) -> str:
    """``decide/2`` and ``decide/3`` are two versions of the same request."""
    return name.partition("/")[0]


def _error(failure: Failure | None) -> ModelError:
    if failure is None or failure.kind == CANCELLED:
        return ModelTimedOut("The language model took too long to answer.")
    kinds = {kind("").kind: kind for kind in (*ModelError.__subclasses__(), ModelError)}
    kind = kinds.get(failure.kind, ModelError)
    return ModelBusy(failure.message) if kind is ModelBusy else kind(failure.message)
