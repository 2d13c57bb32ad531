"""Language models, what they cost, and recordings of what they were asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Protocol


class Role(StrEnum):
    """What a model is asked for. Each role can have a model of its own."""

    DECIDE = "decide"
    """What does this message want?"""
    GATE = "gate"
    """What does it say about the step at hand?"""
    DRAFT = "draft"
    """A first plan of the day."""
    PATCH = "patch"
    """A change of the plan."""
    EXTRACT = "extract"
    """What in it should be remembered? Asked in the background, through a client of its own (S116)."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request. ``name`` says what for, and which version of the text (``decide/1``); ``schema`` is the JSON schema
    that the answer has to satisfy, which is also spelled out in ``system`` where the model cannot be held to it;
    ``history`` are earlier tries of the same request, each with what was wrong about it."""

    name: str
    role: Role
    system: str
    user: str
    schema: Mapping[str, Any] | None = None
    history: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered. Tokens are ``None`` when the server did not count them; ``cost`` in US dollars when the
    price of the model is known; ``seconds`` is the time from the request to the whole answer."""

    text: str
    model: str
    seconds: float
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None


class Model(Protocol):
    """A language model. It reads text and gives text; what follows from it is decided by code."""

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        """The whole answer, within that time. Raises an error of :class:`~fateforger.errors.ModelError`. Cancelling
        the call ends the request. Keys and prompts are never logged."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...


@dataclass(frozen=True, slots=True)
class Spent:
    """What a model was asked in a role on a local day. ``calls`` were answered, ``failed`` were not (then no model is
    named). ``uncounted`` calls have no tokens, ``unpriced`` ones no cost; ``cost`` is in US dollars."""

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
    """What language models cost, added up. Raises :class:`~fateforger.errors.StoreError`."""

    async def add(self, spent: Spent) -> None:
        """Add to what is known of that day, role and model; nothing is lost when several add at once."""
        ...

    async def since(self, day: date) -> tuple[Spent, ...]:
        """The sums from that day on, by day, role and model."""
        ...


class Recordings(Protocol):
    """Where recorded turns are kept for people and programs to look at."""

    async def keep(self, name: str, text: str) -> None:
        """Keep a text under a name, whole or not at all, in the place of what had that name; nobody but its owner can
        read it. Raises ``StoreUnavailable``."""
        ...

    async def of(self, user_id: str) -> Mapping[str, str]:
        """The texts that are about that person, by name. Raises ``StoreUnavailable``."""
        ...

    async def forget(self, user_id: str) -> int:
        """Remove them, also what a crash left of one, and say how many there were. Raises ``StoreUnavailable``."""
        ...
