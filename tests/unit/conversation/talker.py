"""A person who writes, in a thread with a plan or outside of any, and a model that answers as scripted."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.factories.words import Answer, route
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import AMSTERDAM, ANNA, CHANNEL, Harness, Person, open_harness_at
from tests.unit.conversation.queue.person import QueuePerson

from fateforger.errors import ModelRejected
from fateforger.ports.model import Prompt
from fateforger.session.cards import Card
from fateforger.session.commands.thread import Opening

_NUMBERS = itertools.count(1)
Said = Answer | Exception | Callable[[Prompt], Answer]
"""An answer, what gives it once the prompt is known, or an error."""


def about(name: str, answer: Callable[[int], Answer]) -> Said:
    """Answer about the row of the prompt that shows this name."""

    def find(prompt: Prompt) -> Answer:
        rows = (line.strip().split(",") for line in prompt.user.splitlines())
        return answer(next(int(row[0]) for row in rows if row[0].isdigit() and name in row))

    return find


@dataclass
class Talker:
    """``lines`` are the answers of the model that are still to be given; it drafts nothing."""

    harness: Harness = field(init=False)
    lines: list[Said] = field(default_factory=list)

    @property
    def anna(self) -> Person:
        return self._anna

    def __post_init__(self) -> None:
        self.model = ScriptedModel(by=self._reads)

    def _reads(self, prompt: Prompt) -> Line:
        if prompt.name.startswith("draft"):
            return ModelRejected("It only reads.")
        said = self.lines[0]
        heard = route(said) if isinstance(said, dict) and prompt.name.startswith("start") else None
        if heard is not None:
            return heard
        self.lines.pop(0)
        return said(prompt) if callable(said) else said

    def enter(self, harness: Harness) -> None:
        self.harness, self._anna, self.queue_person = harness, Person(harness), QueuePerson(harness)

    async def in_thread(self, *answers: Said, text: str = "…") -> Card | None:
        """Write in the thread of the plan; return the card that came next to it, if one did."""
        self.lines += answers
        await self.anna.says(text)
        return await self._read()

    async def outside(self, *answers: Said, text: str = "…") -> Card | None:
        """Write a message of its own; return the last card that answers it outside of a plan, if one does."""
        self.lines += answers
        name = f"m{next(_NUMBERS)}"
        about = {"command_id": name, "user_id": ANNA, "at": self.harness.clock.now(), "channel": CHANNEL}
        await self.harness.coordinator.on_opening(
            Opening.model_validate({**about, "thread_ts": name, "tz": AMSTERDAM, "text": text})
        )
        await self.anna.read()
        return await self._read()

    async def _read(self) -> Card | None:
        assert self.lines == []
        before = len(self.queue_person.deliveries)
        await self.queue_person.read()
        return self.queue_person.card if len(self.queue_person.deliveries) > before else None


@asynccontextmanager
async def talker_at(path: Path) -> AsyncIterator[Talker]:
    talker = Talker()
    harness = await open_harness_at(path, model=talker.model)
    talker.enter(harness)
    yield talker
    await harness.close()
    assert talker.lines == []
