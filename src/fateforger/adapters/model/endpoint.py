"""Which server, which key, which model for which role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from fateforger.ports import Role


class Answers(StrEnum):
    """How a server can be held to JSON, from the strictest to none at all."""

    SCHEMA = "schema"
    """It makes answers satisfy a JSON schema."""
    JSON = "json"
    """It makes answers be JSON; which JSON is a matter of asking."""
    TEXT = "text"
    """It can only be asked."""

    @property
    def weaker(self) -> Answers | None:
        """The next less strict one; ``None`` after the last."""
        ladder = list(Answers)
        place = ladder.index(self) + 1
        return ladder[place] if place < len(ladder) else None


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    prompt: float
    completion: float


@dataclass(frozen=True, slots=True)
class Endpoint:
    """``model`` serves every role that ``roles`` does not name. The key is kept out of the repr."""

    url: str
    model: str
    key: str = field(repr=False, default="")
    roles: Mapping[Role, str] = field(default_factory=dict)
    answers: Answers = Answers.JSON
    prices: Mapping[str, Price] = field(default_factory=dict)

    def model_for(self, role: Role) -> str:
        """The name of the model that a role is served by."""
        return self.roles.get(role, self.model)

    def cost(self, model: str, prompt_tokens: int, completion_tokens: int) -> float | None:
        """US dollars, when the price of the model is known."""
        price = self.prices.get(model)
        if price is None:
            return None
        return (price.prompt * prompt_tokens + price.completion * completion_tokens) / 1_000_000
