"""The server, key and model for each role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fateforger.ports import Role


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


@dataclass(frozen=True, slots=True)
class Price:
    """Price in US dollars per million tokens."""

    prompt: float
    completion: float


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model server. ``model`` serves every role that ``roles`` does not name. The key is kept out of the repr."""

    url: str
    model: str
    key: str = field(repr=False, default="")
    roles: Mapping[Role, str] = field(default_factory=dict)
    answers: Answers = Answers.JSON
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
