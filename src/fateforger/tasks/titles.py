"""A title for a task that is made of a longer text."""

from __future__ import annotations

SHORT = 80


def short_title(text: str) -> str:
    """The first line of the text that says something, cut with an ellipsis."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= SHORT else line[: SHORT - 1].rstrip() + "…"
