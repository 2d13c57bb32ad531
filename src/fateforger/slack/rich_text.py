"""Messages as Slack's own editor writes them: blocks of rich text, read as the plain words of their person.

The text of such a message is the same in mrkdwn, whose marks would become part of a title.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

Element = Mapping[str, Any]


def read_rich_text(blocks: object, *, without_mentions_of: Collection[str]) -> str | None:
    """Return the words of a message: an item of a list is a line, and an emoji a character.

    Only two marks are kept, because they change what is meant: ``>`` before a quote, and ``~`` around words that are
    crossed out. Return ``None`` if the blocks are not all rich text as Slack documents it.
    """
    if not isinstance(blocks, list) or not blocks:
        return None
    try:
        if any(block["type"] != "rich_text" for block in blocks):
            return None
        parts = [_read_part(part, without_mentions_of) for block in blocks for part in block["elements"]]
        words = "\n".join(part.strip("\n") for part in parts).strip()
        words.encode()
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError):
        return None
    return words


def _read_part(part: Element, bots: Collection[str]) -> str:
    if part["type"] == "rich_text_list":
        return "\n".join(_read_line(item["elements"], bots) for item in part["elements"])
    words = _read_line(part["elements"], bots)
    if part["type"] == "rich_text_quote":
        return "\n".join(f"> {line}" for line in words.splitlines())
    return words


def _read_line(elements: Sequence[Element], bots: Collection[str]) -> str:
    return "".join(_read_inline(each, bots) for each in elements)


def _read_inline(element: Element, bots: Collection[str]) -> str:
    match element["type"]:
        case "text":
            words = str(element["text"])
            return f"~{words}~" if (element.get("style") or {}).get("strike") else words
        case "emoji":
            code = element.get("unicode")
            return "".join(chr(int(each, 16)) for each in code.split("-")) if code else f":{element['name']}:"
        case "user":
            return "" if element["user_id"] in bots else f"@{element['user_id']}"
        case "usergroup":
            return f"@{element['usergroup_id']}"
        case "link":
            return str(element.get("text") or element["url"].removeprefix("mailto:"))
        case "channel":
            return f"#{element['channel_id']}"
        case "broadcast":
            return str(element["range"])
        case "date":
            return str(element["fallback"])
        case "color":
            return str(element["value"])
        case unknown:
            raise ValueError(f"Slack documents no {unknown}")
