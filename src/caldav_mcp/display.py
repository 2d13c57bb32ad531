"""Texts of a calendar that are safe to show: all of a text is visible, in the order in which it was typed."""

from __future__ import annotations

import re
from unicodedata import category

_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_JOINERS = "\u200c\u200d"


def clean_text(text: str) -> str:
    """Return a text without invisible characters and those that change the reading order; mark control characters.

    Joiners stay between the characters that they join, as in emoji.
    """
    text = _LINE_END.sub("\n", text)
    if text.isascii() and text.isprintable():
        return text
    return "".join(_clean(text, at) for at in range(len(text)))


def _clean(text: str, at: int) -> str:
    char = text[at]
    if char in "\n\t":
        return char
    if char in _JOINERS:
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        return char if before > "\x7f" and after > "\x7f" and after not in _JOINERS else ""
    match category(char):
        case "Cc" | "Cs":
            return "\ufffd"
        case "Cf":
            return ""
        case _:
            return char
