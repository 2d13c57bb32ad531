"""Leaving out what does not fit into a message, and saying so (S226)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Piece:
    """A block with what it weighs. Rows of controls are ``fixed``: they stay, as without them nothing goes on.
    ``lines`` counts what a person misses when the piece is left out; by default its lines of text."""

    block: Block
    fixed: bool = False
    lines: int | None = None

    @property
    def words(self) -> str:
        if self.block["type"] == "context":
            return str(self.block["elements"][0]["text"])
        return str(self.block["text"]["text"]) if "text" in self.block else ""

    @property
    def missed(self) -> int:
        return self.words.count("\n") + 1 if self.lines is None else self.lines


def fitted(pieces: Sequence[Piece], max_blocks: int, max_characters: int, note: Callable[[str], Block]) -> list[Block]:
    """The blocks of as many pieces as fit, from the top, with all rows of controls and, where something is missing,
    a note that says how much."""
    if _fits(pieces, max_blocks, max_characters):
        return [piece.block for piece in pieces]
    # Lines between paragraphs are what can be spared first.
    dense = [piece for piece in pieces if piece.block["type"] != "divider"]
    if _fits(dense, max_blocks, max_characters):
        return [piece.block for piece in dense]
    return _cut(dense, max_blocks - 1, max_characters, note)


def _fits(pieces: Sequence[Piece], max_blocks: int, max_characters: int) -> bool:
    return len(pieces) <= max_blocks and sum(len(piece.words) for piece in pieces) <= max_characters


def _cut(pieces: Sequence[Piece], max_blocks: int, max_characters: int, note: Callable[[str], Block]) -> list[Block]:
    fixed = [at for at, piece in enumerate(pieces) if piece.fixed]
    kept = set(fixed[-max(1, max_blocks // 2) :])
    characters = 0
    full = False
    gap: int | None = None
    missed = 0
    for at, piece in enumerate(pieces):
        if at in kept:
            continue
        full = full or piece.fixed or len(kept) >= max_blocks or characters + len(piece.words) > max_characters
        if full:
            gap = at if gap is None else gap
            missed += piece.missed
        else:
            kept.add(at)
            characters += len(piece.words)
    blocks: list[Block] = []
    for at, piece in enumerate(pieces):
        if at == gap:
            blocks.append(note(_sentence(missed)))
        if at in kept:
            blocks.append(piece.block)
    return blocks


def _sentence(missed: int) -> str:
    lines = "1 more line is" if missed == 1 else f"{missed} more lines are"
    return f"… {lines} left out here: a Slack message has no room for more."
