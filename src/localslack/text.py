"""Typed text, as Slack hands it on: escaped, with mentions, and as rich text."""

import re
from collections.abc import Mapping
from typing import Any

_MENTION = re.compile(r"<@([UW][A-Z0-9]+)>|(?<![\w@])@([\w.-]+)")


def count_characters(text: str) -> int:
    """Return the length of a text as Slack counts it: in code units of UTF-16, two for an emoji."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def cut_characters(text: str, most: int) -> str:
    """Return the beginning of a text, with at most `most` characters as Slack counts them."""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * most].decode("utf-16-le", "ignore")


def escape(text: str) -> str:
    """Slack's escaping of the three control characters."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def compose(typed: str, ids_by_name: Mapping[str, str]) -> tuple[str, list[dict[str, Any]]]:
    """Return the `text` and `blocks` of a message that a person typed.

    `@name` and `<@ID>` of somebody known become mentions; all else is literal.
    """
    known = set(ids_by_name.values())
    text: list[str] = []
    elements: list[dict[str, Any]] = []
    end = 0
    for match in _MENTION.finditer(typed):
        user = match[1] if match[1] in known else ids_by_name.get((match[2] or "").lower())
        if user is None:
            continue
        _literal(typed[end : match.start()], text, elements)
        text.append(f"<@{user}>")
        elements.append({"type": "user", "user_id": user})
        end = match.end()
    _literal(typed[end:], text, elements)
    block = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": elements}]}
    return "".join(text), [block]


def is_mentioned(text: str, user: str) -> bool:
    return f"<@{user}>" in text


def _literal(typed: str, text: list[str], elements: list[dict[str, Any]]) -> None:
    if typed:
        text.append(escape(typed))
        elements.append({"type": "text", "text": typed})
