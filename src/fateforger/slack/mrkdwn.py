"""CommonMark as Slack's mrkdwn or plain text, typed mrkdwn as plain text, and both within Slack's limits.

Slack has no way to escape its own marks. Where a literal ``*``, ``_``, ``~`` or backtick could be taken for one, a
lookalike character replaces it.

Messages are read from the rich text of Slack's editor: their text has the same words in mrkdwn, and its marks would
become part of a title.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from fateforger.text import clean_text, count_units, cut_to_units

_Element = Mapping[str, Any]
"""Part of the rich text of Slack's editor."""
_LOOKALIKES = {"*": "∗", "_": "ˍ", "~": "∼", "`": "ˋ"}
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}

_TOKEN = re.compile(
    r"(?P<escape>\\[!-/:-@\[-`{-~])"
    r"|(?P<code>(?<!`)(?P<ticks>`+)(?!`)(?P<inside>.+?)(?<!`)(?P=ticks)(?!`))"
    r"|\[(?P<label>(?:\\.|[^\[\]\\])+)\]\((?P<url>[^()\s]+)\)"
    r"|<(?P<auto>[a-z][a-z0-9+.-]*:[^<>\s]+)>"
    r"|(?P<bold>\*\*|__)"
    r"|(?P<strike>~~)"
    r"|(?P<italic>[*_])",
    re.DOTALL | re.IGNORECASE,
)
_BULLET = re.compile(r"(?P<indent>\s*)[-*+] +(?P<rest>.*)")
_HEADING = re.compile(r"#{1,6} +(?P<rest>.*?)( +#+)?")
_QUOTE = re.compile(r"> ?(?P<rest>.*)")
_FENCE = re.compile(r"\s*(```|~~~).*")
_MENTION = re.compile(r"@([UW][A-Z0-9]{6,})\b", re.ASCII)
_REFERENCE = re.compile(r"<(?P<what>[^<>|]+)(?:\|(?P<shown>[^<>]*))?>")


class _Dialect(NamedTuple):
    """Output format: marks for bold, italic, strike and code, and whether text has to be escaped for Slack."""

    marks: dict[str, str]
    slack: bool


_Opened = dict[str, tuple[int, str]]
"""Open styles: position in the output, and the mark."""

_MRKDWN = _Dialect({"bold": "*", "italic": "_", "strike": "~", "code": "`"}, slack=True)
_PLAIN = _Dialect({"bold": "", "italic": "", "strike": "", "code": ""}, slack=False)


def to_mrkdwn(text: str) -> str:
    """Convert CommonMark to mrkdwn that is safe to show: bold, italic, strike, code, links, lists, headings, quotes."""
    return _lines(clean_text(text), _MRKDWN)


def strip_marks(text: str) -> str:
    """Convert CommonMark to plain text that is safe to show."""
    return _lines(clean_text(text), _PLAIN)


def parse_typed(text: str, *, without_mentions_of: Collection[str]) -> str:
    """Return the text that a person typed: entities and links resolved, mentions of the bot removed."""

    def resolve_reference(match: re.Match[str]) -> str:
        what, shown = match["what"], match["shown"]
        if what.startswith("@"):
            return "" if what[1:] in without_mentions_of else f"@{shown or what[1:]}"
        return shown or what.removeprefix("!").removeprefix("mailto:")

    words = _REFERENCE.sub(resolve_reference, text)
    return words.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&").strip()


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


def _read_part(part: _Element, bots: Collection[str]) -> str:
    if part["type"] == "rich_text_list":
        return "\n".join(_read_line(item["elements"], bots) for item in part["elements"])
    words = _read_line(part["elements"], bots)
    if part["type"] == "rich_text_quote":
        return "\n".join(f"> {line}" for line in words.splitlines())
    return words


def _read_line(elements: Sequence[_Element], bots: Collection[str]) -> str:
    return "".join(_read_inline(each, bots) for each in elements)


def _read_inline(element: _Element, bots: Collection[str]) -> str:
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
            return f"@{element['range']}"
        case "date":
            return str(element["fallback"])
        case "color":
            return str(element["value"])
        case unknown:
            raise ValueError(f"Slack documents no {unknown}")


def find_mentions(text: str) -> frozenset[str]:
    """Return the ids of the people whom a typed text mentions."""
    return frozenset(_MENTION.findall(text))


def name_mentions(text: str, names: Mapping[str, str]) -> str:
    """Return a typed text with the names of mentioned people, by id; an id without a name stays."""
    return _MENTION.sub(lambda found: f"@{names.get(found[1], found[1])}", text)


class Mrkdwn(str):
    """A sentence that is mrkdwn already, because it mentions somebody on purpose."""

    __slots__ = ()


def escape(text: str) -> str:
    """Escape Slack's three control characters."""
    return "".join(_ENTITIES.get(c, c) for c in text)


def _lines(text: str, dialect: _Dialect) -> str:
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.fullmatch(line):
            fenced = not fenced
            lines.append("```" if dialect.slack else "")
        elif fenced:
            lines.append(escape(line) if dialect.slack else line)
        else:
            lines.append(_line(line, dialect))
    return "\n".join(lines)


def _line(line: str, dialect: _Dialect) -> str:
    if bullet := _BULLET.fullmatch(line):
        return f"{bullet['indent']}• {_inline(bullet['rest'], dialect)}"
    if heading := _HEADING.fullmatch(line):
        bold = dialect.marks["bold"]
        return f"{bold}{_inline(heading['rest'], dialect)}{bold}"
    if quote := _QUOTE.fullmatch(line):
        return f"{'> ' if dialect.slack else ''}{_inline(quote['rest'], dialect)}"
    return _inline(line, dialect)


def _inline(text: str, dialect: _Dialect) -> str:
    out: list[str] = []
    opened: _Opened = {}
    end = 0
    tokens = list(_TOKEN.finditer(text))
    last = {token[0]: token.start() for token in tokens if not token["escape"] and not token["code"]}
    for match in tokens:
        out.append(_literal(text[end : match.start()], dialect))
        end = match.end()
        # The same mark has to come again, so that this one can open a style.
        closes = last.get(match[0], -1) > match.start()
        out.append(_token(match, text, dialect, opened, len(out), closes=closes))
    out.append(_literal(text[end:], dialect))
    # An unclosed mark is a literal character.
    for at, mark in opened.values():
        out[at] = _lookalike(mark, dialect)
    return "".join(out)


def _token(match: re.Match[str], text: str, dialect: _Dialect, opened: _Opened, at: int, *, closes: bool) -> str:
    if match["escape"]:
        return _convert_escape(match, text, dialect)
    if match["code"]:
        inside = match["inside"].strip()
        return f"{dialect.marks['code']}{_safe(inside.replace('`', _LOOKALIKES['`']), dialect)}{dialect.marks['code']}"
    if match["auto"]:
        return f"<{escape(match['auto'])}>" if dialect.slack else match["auto"]
    if match["url"]:
        label = _inline(match["label"], _PLAIN)
        if not dialect.slack:
            return label
        return f"<{escape(match['url']).replace('|', '%7C')}|{escape(label).replace('|', '¦')}>"
    return _mark(match, text, dialect, opened, at, closes=closes)


def _mark(match: re.Match[str], text: str, dialect: _Dialect, opened: _Opened, at: int, *, closes: bool) -> str:
    """Convert a style mark: it opens before a word, closes after one, and is otherwise a literal character."""
    style = next(name for name in ("bold", "strike", "italic") if match[name])
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    inside_word = "_" in match[0] and before.isalnum() and after.isalnum()
    key = style + match[0]
    if key in opened and before and not before.isspace() and not inside_word:
        del opened[key]
        return dialect.marks[style]
    if key not in opened and after and not after.isspace() and not inside_word and closes:
        opened[key] = (at, match[0])
        return dialect.marks[style]
    return match[0] if inside_word else _lookalike(match[0], dialect)


def _convert_escape(match: re.Match[str], text: str, dialect: _Dialect) -> str:
    """Convert the character after a backslash; keep it if Slack cannot take it for a mark."""
    character = match[0][1]
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    harmless = (before.isalnum() and after.isalnum()) or (before in {"", " "} and after in {"", " "})
    if character in _LOOKALIKES and (character == "`" or not harmless):
        return _lookalike(character, dialect)
    return _safe(character, dialect)


def _literal(text: str, dialect: _Dialect) -> str:
    """Convert text between marks: a lone tilde or backtick is literal in CommonMark, but not in Slack."""
    if not dialect.slack:
        return text
    return escape(text).replace("~", _LOOKALIKES["~"]).replace("`", _LOOKALIKES["`"])


def _safe(text: str, dialect: _Dialect) -> str:
    return escape(text) if dialect.slack else text


def _lookalike(text: str, dialect: _Dialect) -> str:
    return "".join(_LOOKALIKES.get(c, c) for c in text) if dialect.slack else text


def split(text: str, limit: int) -> list[str]:
    """Split a text into pieces of at most ``limit`` code units of UTF-16: between lines or words, else anywhere.

    Only white space between pieces is lost; an empty text has no pieces.
    """
    pieces: list[str] = []
    rest = text.strip("\n ")
    while count_units(rest) > limit:
        at = _break(rest, max(1, len(cut_to_units(rest, limit))))  # a piece is never empty
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
