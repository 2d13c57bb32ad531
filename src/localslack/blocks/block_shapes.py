"""The shapes of the long-standing blocks."""

from collections.abc import Mapping
from typing import Any

from localslack.blocks.composition import SLACK_FILE, URL, plain, words
from localslack.blocks.element_shapes import ELEMENTS
from localslack.blocks.placement import IN_ACTIONS, IN_INPUT, IN_SECTION
from localslack.blocks.rich_text import RICH_TEXT
from localslack.blocks.rules import (
    Findings,
    Rule,
    any_field,
    array,
    boolean,
    integer,
    one_field,
    one_of,
    shape,
    string,
)
from localslack.limits import LIMITS


def block(required: Mapping[str, Rule], optional: Mapping[str, Rule] | None = None, *more: Rule) -> Rule:
    return shape(required, {"block_id": string(LIMITS["block_id"]), **(optional or {})}, *more)


def _context_element(value: Any, at: str, findings: Findings) -> None:
    if isinstance(value, dict) and value.get("type") == "image":
        ELEMENTS["image"](value, at, findings)
    else:
        words(LIMITS["context.text"])(value, at, findings)


def _no_dispatch_for_files(value: Any, at: str, findings: Findings) -> None:
    element = value.get("element")
    if value.get("dispatch_action") and isinstance(element, dict) and element.get("type") == "file_input":
        findings.add("dispatch_action cannot be used with file_input", f"{at}/dispatch_action")


_HTTPS = string(pattern=r"https://.+")

CLASSIC_BLOCKS: Mapping[str, Rule] = {
    "actions": block({"elements": array(one_of(IN_ACTIONS), LIMITS["actions.elements"])}),
    "context": block({"elements": array(_context_element, LIMITS["context.elements"])}),
    "divider": block({}),
    "header": block({"text": plain(LIMITS["header.text"])}, {"level": integer(1, 4)}),
    "image": block(
        {"alt_text": string(LIMITS["image.alt_text"])},
        {"image_url": URL, "slack_file": SLACK_FILE, "title": plain(LIMITS["image.title"])},
        one_field("image_url", "slack_file"),
    ),
    "input": block(
        {"label": plain(LIMITS["input.label"]), "element": one_of(IN_INPUT)},
        {"hint": plain(LIMITS["input.hint"]), "optional": boolean, "dispatch_action": boolean},
        _no_dispatch_for_files,
    ),
    "rich_text": RICH_TEXT,
    "section": block(
        {},
        {
            "text": words(LIMITS["section.text"]),
            "fields": array(words(LIMITS["section.field"]), LIMITS["section.fields"]),
            "accessory": one_of(IN_SECTION),
            "expand": boolean,
        },
        any_field("text", "fields"),
    ),
    "video": block(
        {"alt_text": string(), "title": plain(LIMITS["video.title"]), "thumbnail_url": URL, "video_url": _HTTPS},
        {
            "author_name": string(LIMITS["video.author_name"]),
            "description": plain(LIMITS["video.description"]),
            "provider_icon_url": URL,
            "provider_name": string(),
            "title_url": _HTTPS,
        },
    ),
}
