"""Dates, lists and names in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

_SHORT = 80
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def format_day(day: date) -> str:
    """Return ``2 March 2026``, in English whatever the machine's locale."""
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def join_words(words: Sequence[str]) -> str:
    """Return ``a, b and c``."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def quote_name(text: str) -> str:
    """Return a name in quotation marks, cut to a readable length."""
    text = " ".join(text.split())
    return f"“{text if len(text) <= _SHORT else text[: _SHORT - 1].rstrip() + '…'}”"
