"""Cut a message to Slack's limits, with a note about the missing lines (S226)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Block = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Piece:
    """Block with its weight.

    Rows of controls are ``fixed``: they stay, because nothing works without them. ``lines`` is the number of lines that
    are missed if the piece is left out; by default its lines of text.
    """

    block: Block
    fixed: bool = False
    lines: int | None = None

    @property
    def words(self) -> str:
        if self.block["type"] == "context":
            return str(self.block["elements"][0]["text"])
        return str(self.block["text"]["text"]) if "text" in self.block else ""

    @property
    def missing_lines(self) -> int:
        return self.words.count("\n") + 1 if self.lines is None else self.lines


def fit_pieces(
    pieces: Sequence[Piece], max_blocks: int, max_characters: int, note: Callable[[str], Block]
) -> list[Block]:
    """Return the blocks of the pieces that fit, from the top, and all rows of controls.

    If something is missing, a note says how much.
    """
    if _fits(pieces, max_blocks, max_characters):
        return [piece.block for piece in pieces]
    # Dividers are the first to go.
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
            missed += piece.missing_lines
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
