"""The tokens of one person in a database."""

from __future__ import annotations

from dataclasses import dataclass, field

from fateforger.adapters.oauth import Tokens


@dataclass
class StoredTokens:
    """The tokens of one person in a database. ``saved`` are all that were written."""

    tokens: Tokens
    saved: list[Tokens] = field(default_factory=list)

    async def load(self) -> Tokens:
        return self.tokens

    async def save(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.saved.append(tokens)
