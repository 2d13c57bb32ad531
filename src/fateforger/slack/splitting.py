"""Split a long text into pieces that Slack accepts."""

from __future__ import annotations


def split(text: str, limit: int) -> list[str]:
    """Split a text into pieces of at most ``limit`` characters: between lines, else between words, else anywhere.

    Only white space between pieces is lost; an empty text has no pieces.
    """
    pieces: list[str] = []
    rest = text.strip("\n ")
    while len(rest) > limit:
        at = _break(rest, limit)
        pieces.append(rest[:at].rstrip())
        rest = rest[at:].lstrip("\n ")
    return [*pieces, rest] if rest else pieces


def _break(text: str, limit: int) -> int:
    for mark in ("\n", " "):
        at = text.rfind(mark, limit // 2, limit + 1)
        if at > 0:
            return at
    # Never inside an entity such as "&amp;".
    at = text.rfind("&", limit - 4, limit)
    return at if at > 0 and ";" not in text[at:limit] else limit
