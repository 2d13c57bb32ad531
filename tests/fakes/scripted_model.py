"""A language model with scripted answers, without a server, that passes the contract of ``fateforger.ports.model``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from fateforger.errors import ModelTimedOut
from fateforger.ports.model import Completion, Prompt

Line = str | dict[str, Any] | Exception | None
"""A text, a value that becomes JSON, an error to raise, or ``None`` for an answer that never comes."""


class ScriptedModel:
    """Says its lines in order, or what a function of the prompt gives."""

    time_factor = 1.0

    def __init__(self, *lines: Line, by: Callable[[Prompt], Line] | None = None) -> None:
        self._lines: Sequence[Line] = lines
        self._by = by
        self.prompts: list[Prompt] = []

    @property
    def asked(self) -> list[str]:
        """Return the names of the prompts so far, without their versions."""
        return [prompt.name.partition("/")[0] for prompt in self.prompts]

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        place = len(self.prompts)
        self.prompts.append(prompt)
        assert self._by is not None or place < len(self._lines), f"asked once too often, for {prompt.name}"
        line = self._by(prompt) if self._by is not None else self._lines[place]
        if isinstance(line, Exception):
            raise line
        if line is None:
            try:
                async with asyncio.timeout(seconds):
                    await asyncio.Event().wait()
            except TimeoutError:
                raise ModelTimedOut("The language model took too long to answer.") from None
        text = line if isinstance(line, str) else json.dumps(line)
        return Completion(text=text, model="scripted", seconds=0.0, prompt_tokens=1, completion_tokens=1)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""
