"""Derive a task title from a longer text."""

from __future__ import annotations

SHORT = 80


def short_title(text: str) -> str:
    """Return the first non-empty line of the text, cut with an ellipsis."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= SHORT else line[: SHORT - 1].rstrip() + "…"
