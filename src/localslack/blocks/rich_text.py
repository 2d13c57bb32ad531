"""The rich text block and the pieces it is made of."""

from typing import Any

from localslack.blocks.composition import USER_ID
from localslack.blocks.rules import (
    Findings,
    Rule,
    array,
    boolean,
    choice,
    integer,
    one_of,
    shape,
    string,
)
from localslack.limits import LIMITS

_STYLE = shape(
    {},
    dict.fromkeys(
        ("bold", "italic", "strike", "underline", "code", "highlight", "client_highlight", "unlink"), boolean
    ),
)

_LEAF = one_of(
    {
        "text": shape({"text": string()}, {"style": _STYLE}),
        "link": shape({"url": string()}, {"text": string(minimum=0), "unsafe": boolean, "style": _STYLE}),
        "user": shape({"user_id": USER_ID}, {"style": _STYLE}),
        "usergroup": shape({"usergroup_id": string()}, {"style": _STYLE}),
        "team": shape({"team_id": string()}, {"style": _STYLE}),
        "channel": shape({"channel_id": string()}, {"style": _STYLE}),
        "emoji": shape(
            {"name": string()}, {"skin_tone": integer(1, 6), "unicode": string(), "style": _STYLE, "url": string()}
        ),
        "broadcast": shape({"range": choice("here", "channel", "everyone")}, {"style": _STYLE}),
        "color": shape({"value": string(pattern=r"#?[0-9a-fA-F]{6}")}, {"style": _STYLE}),
        "date": shape(
            {"timestamp": integer(0), "format": string()},
            {"url": string(), "fallback": string(minimum=0), "style": _STYLE},
        ),
    }
)

_LEAVES = array(_LEAF, minimum=0)
_BORDER = choice(0, 1)
_SECTION = shape({"elements": _LEAVES})

_PART = one_of(
    {
        "rich_text_section": _SECTION,
        "rich_text_list": shape(
            {"style": choice("bullet", "ordered"), "elements": array(one_of({"rich_text_section": _SECTION}))},
            {"indent": integer(0), "offset": integer(0), "border": _BORDER},
        ),
        "rich_text_preformatted": shape({"elements": _LEAVES}, {"border": _BORDER, "language": string()}),
        "rich_text_quote": shape({"elements": _LEAVES}, {"border": _BORDER}),
    }
)

PARTS: Rule = array(_PART, minimum=0)

RICH_TEXT = shape({"elements": PARTS}, {"block_id": string(LIMITS["block_id"])})


def rich_text(value: Any, at: str, findings: Findings) -> None:
    """Return the rule for a rich text block inside another block."""
    one_of({"rich_text": RICH_TEXT})(value, at, findings)
