"""Titles, lists and counts within sentences, as English has them."""

from __future__ import annotations

from collections.abc import Iterable

NO_TITLE = "(no title)"


def truncate(text: str, limit: int) -> str:
    """Cut a text to ``limit`` characters; the last one is an ellipsis if some are left out."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def shorten(text: str, limit: int = 80) -> str:
    """Put a text on one line and truncate it."""
    return truncate(" ".join(text.split()), limit)


def quote_title(title: str, limit: int = 80) -> str:
    """Return a title in quotation marks, on one line and truncated."""
    return f"“{shorten(title, limit) or NO_TITLE}”"


def limit_items(items: Iterable[str], most: int, rest: str) -> list[str]:
    """Return the first items; if there are others, also ``rest`` with their number in place of ``{}``."""
    found = list(items)
    more = len(found) - most
    return [*found[:most], rest.format(more)] if more > 0 else found


def join_words(words: Iterable[str], most: int | None = None) -> str:
    """Return ``a, b and c``; with more than ``most`` words ``a, b and 4 more``. Return an empty text for no words."""
    shown = list(words) if most is None else limit_items(words, most, "{} more")
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def format_count(count: int, noun: str, plural: str | None = None) -> str:
    """Return ``1 block`` or ``2 blocks``; pass ``plural`` where it is not the noun with an ``s``."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"
