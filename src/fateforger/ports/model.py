"""Language models, their cost, and recordings of their prompts and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Protocol

from fateforger.text import mark_message

TOO_LATE = mark_message("The language model took too long to answer.")


class Role(StrEnum):
    """A purpose of a model call. Each role can have a model of its own."""

    DECIDE = "decide"
    """Find the intent of a message."""
    GATE = "gate"
    """Interpret a message about the current step."""
    DRAFT = "draft"
    """Draft a first plan of the day."""
    PATCH = "patch"
    """Change the plan."""
    EXTRACT = "extract"
    """Find what should be remembered, in the background, through a separate client (S116)."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request.

    ``name`` is the purpose and the version of the text (``decide/1``). ``schema`` is the JSON schema of the answer;
    ``notation``, with which ``system`` ends, describes the same for models that do not see it. ``history`` are earlier
    tries of the same request, each with its mistake.
    """

    name: str
    role: Role
    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    notation: str = ""
    history: tuple[tuple[str, str], ...] = ()


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has: one for each digit, and one for three other bytes.

    Most open models read digit by digit. Of the prompts here, SmolLM2 makes 0.8 to 1.1 times as many.
    """
    digits = sum(map(text.count, "0123456789"))
    return digits + (len(text.encode()) - digits) // 3


@dataclass(frozen=True, slots=True)
class Completion:
    """The answer of a model.

    Tokens are ``None`` if the server did not count them. ``cost`` is in US dollars, if the price of the model is known.
    ``seconds`` is the time from the request to the whole answer.
    """

    text: str
    model: str
    seconds: float
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None


class Model(Protocol):
    """A language model. It reads text and returns text; code decides what follows from it."""

    @property
    def time_factor(self) -> float:
        """Return the factor by which callers lengthen their time limits: more than 1 for a slow server."""
        ...

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        """Return the whole answer within that time. Raises an error of :class:`~fateforger.errors.ModelError`.

        Cancelling the call ends the request. Keys and prompts are never logged.
        """
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


@dataclass(frozen=True, slots=True)
class Spent:
    """The use of a model in a role on a local day.

    ``calls`` were answered, ``failed`` were not (then no model is named). ``uncounted`` calls have no tokens,
    ``unpriced`` ones no cost; ``cost`` is in US dollars.
    """

    day: date
    role: Role
    model: str
    calls: int = 0
    failed: int = 0
    uncounted: int = 0
    unpriced: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0


class Usage(Protocol):
    """The added costs of language models. Raises :class:`~fateforger.errors.StoreError`."""

    async def add(self, spent: Spent) -> None:
        """Add to the sums of that day, role and model; concurrent additions are safe."""
        ...

    async def since(self, day: date) -> tuple[Spent, ...]:
        """Return the sums from that day on, by day, role and model."""
        ...


class Recordings(Protocol):
    """Recorded turns, kept for people and programs to inspect."""

    async def keep(self, name: str, text: str) -> None:
        """Store a text under a name, atomically, replacing an earlier one; only its owner can read it.

        Raises ``StoreUnavailable``.
        """
        ...

    async def of(self, user_id: str) -> Mapping[str, str]:
        """Return the texts that are about that person, by name. Raises ``StoreUnavailable``."""
        ...

    async def forget(self, user_id: str) -> int:
        """Remove a person's texts, including leftovers of a crash; return their number. Raises ``StoreUnavailable``."""
        ...
