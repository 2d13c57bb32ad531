"""Count the cost of every request to a language model (S221)."""

from __future__ import annotations

import asyncio
import logging

from fateforger.errors import ModelError, StoreError
from fateforger.ports import Clock, Completion, Model, Prompt, Spent, Usage
from fateforger.session.days import local_today

log = logging.getLogger(__name__)


class CountingModel:
    """A model that passes requests on and adds up their cost in the background.

    No request waits for the sums, and a persistent failure to store them is logged once. ``tz`` is the time zone of a
    day.
    """

    def __init__(self, model: Model, usage: Usage, clock: Clock, *, tz: str) -> None:
        self._model = model
        self._usage = usage
        self._clock = clock
        self._tz = tz
        self._adding: set[asyncio.Task[None]] = set()
        self._complained = False

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        """See :meth:`fateforger.ports.Model.complete`."""
        try:
            completion = await self._model.complete(prompt, seconds=seconds)
        except (ModelError, asyncio.CancelledError):
            self._count(prompt, None)
            raise
        self._count(prompt, completion)
        return completion

    async def aclose(self) -> None:
        """Wait for the sums, and close the model's connections."""
        await asyncio.gather(*self._adding)
        await self._model.aclose()

    def _count(self, prompt: Prompt, completion: Completion | None) -> None:
        task = asyncio.create_task(self._add(self._spent(prompt, completion)), name="adding up the cost of a model")
        self._adding.add(task)
        task.add_done_callback(self._adding.discard)

    def _spent(self, prompt: Prompt, completion: Completion | None) -> Spent:
        today = local_today(self._clock.now(), self._tz)
        if completion is None:
            return Spent(day=today, role=prompt.role, model="", failed=1)
        return Spent(
            day=today,
            role=prompt.role,
            model=completion.model,
            calls=1,
            uncounted=int(completion.prompt_tokens is None or completion.completion_tokens is None),
            unpriced=int(completion.cost is None),
            prompt_tokens=completion.prompt_tokens or 0,
            completion_tokens=completion.completion_tokens or 0,
            cost=completion.cost or 0.0,
        )

    async def _add(self, spent: Spent) -> None:
        try:
            await self._usage.add(spent)
        except StoreError as error:
            if not self._complained:
                log.warning("what language models cost cannot be added up for now: %s", error.message)
            self._complained = True
        else:
            self._complained = False
