"""Whole payloads: the blocks of a message, and views, checked for the surface they are meant for."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from localslack.blocks.rules import (
    Findings,
    Rule,
    any_field,
    anything,
    array,
    boolean,
    choice,
    integer,
    number,
    one_of,
    shape,
    string,
)
from localslack.blocks.shapes import CLASSIC_BLOCKS, ELEMENTS, PARTS, URL, block_shape, plain, rich_text, words
from localslack.errors import SlackError, bad_arguments
from localslack.limits import LIMITS, MAX_VIEW_BYTES
from localslack.text import count_characters


def _collapsed_only_if_collapsible(value: Any, at: str, findings: Findings) -> None:
    if value.get("default_collapsed") and not value.get("is_collapsible"):
        findings.add("default_collapsed needs is_collapsible", f"{at}/default_collapsed")


def _plan_title(value: Any, at: str, findings: Findings) -> None:
    (string() if isinstance(value, str) else plain(LIMITS["section.text"]))(value, at, findings)


def _column(value: Any, at: str, findings: Findings) -> None:
    if value is not None:
        shape({}, {"align": choice("left", "center", "right"), "is_wrapped": boolean})(value, at, findings)


_IMAGE = one_of({"image": ELEMENTS["image"]})
_RAW = shape({"text": string(minimum=0)})
_RICH = shape({"elements": PARTS})
_RAW_NUMBER = shape({"value": number}, {"text": string()})
_TABLE_CELL = one_of({"raw_text": _RAW, "rich_text": _RICH})
_DATA_CELL = one_of({"raw_text": _RAW, "raw_number": _RAW_NUMBER, "rich_text": _RICH})

_POINT = shape({"label": string(20), "value": number})
_CARTESIAN = shape(
    {
        "series": array(shape({"name": string(20), "data": array(_POINT, 20)}), 6),
        "axis_config": shape({"categories": array(string(20), 20)}, {"x_label": string(50), "y_label": string(50)}),
    }
)
_CHART = one_of(
    {"line": _CARTESIAN, "bar": _CARTESIAN, "area": _CARTESIAN, "pie": shape({"segments": array(_POINT, 6)})}
)

_TASK_FIELDS: Mapping[str, Rule] = {
    "details": rich_text,
    "output": rich_text,
    "sources": array(one_of({"url": shape({"url": URL, "text": string()})}), minimum=0),
    "status": choice("pending", "in_progress", "complete", "error"),
}
_TASK_CARD = block_shape({"task_id": string(), "title": string()}, _TASK_FIELDS)

_CARD = block_shape(
    {},
    {
        "hero_image": _IMAGE,
        "icon": _IMAGE,
        "title": words(LIMITS["card.title"]),
        "subtitle": words(LIMITS["card.subtitle"]),
        "body": words(LIMITS["card.body"]),
        "actions": array(one_of({"button": ELEMENTS["button"]}), LIMITS["card.actions"]),
    },
    any_field("hero_image", "title", "actions", "body"),
)

_TABLE = block_shape(
    {"rows": array(array(_TABLE_CELL, LIMITS["table.cells"]), LIMITS["table.rows"])},
    {"column_settings": array(_column, LIMITS["table.cells"])},
)

_IN_CONTAINER = {**CLASSIC_BLOCKS, "table": _TABLE}

NEWER_BLOCKS: Mapping[str, Rule] = {
    "markdown": block_shape({"text": string(LIMITS["markdown.total"])}),
    "context_actions": block_shape(
        {
            "elements": array(
                one_of({name: ELEMENTS[name] for name in ("feedback_buttons", "icon_button")}),
                LIMITS["context_actions.elements"],
            )
        }
    ),
    "alert": block_shape(
        {"text": words(LIMITS["alert.text"])}, {"level": choice("default", "info", "warning", "error", "success")}
    ),
    "table": _TABLE,
    "data_table": block_shape(
        {
            "caption": string(),
            "rows": array(array(_DATA_CELL, LIMITS["table.cells"]), LIMITS["data_table.rows"], minimum=2),
        },
        {"page_size": integer(1, 100), "row_header_column_index": integer(0, LIMITS["table.cells"] - 1)},
    ),
    "data_visualization": block_shape({"title": string(50), "chart": _CHART}),
    "card": _CARD,
    "carousel": block_shape({"elements": array(one_of({"card": _CARD}), LIMITS["carousel.cards"])}),
    "container": block_shape(
        {"child_blocks": array(one_of(_IN_CONTAINER), LIMITS["container.children"])},
        {
            "title": plain(LIMITS["container.title"]),
            "rich_text_title": rich_text,
            "subtitle": words(LIMITS["container.title"]),
            "icon": _IMAGE,
            "width": choice("narrow", "standard", "wide", "full"),
            "is_collapsible": boolean,
            "default_collapsed": boolean,
            "has_header_divider": boolean,
        },
        any_field("title", "rich_text_title"),
        _collapsed_only_if_collapsible,
    ),
    "task_card": _TASK_CARD,
    "plan": block_shape({"title": _plan_title}, {"tasks": array(_TASK_CARD, minimum=0)}),
}


# --- Rules about all the blocks of one payload together ---


Blocks = Sequence[Mapping[str, Any]]


def together(blocks: Blocks, at: str, findings: Findings) -> None:
    """Duplicate ids and sums over several blocks; each block is already known to have its right shape."""
    _unique_block_ids(blocks, at, findings)
    for index, block in enumerate(blocks):
        _unique_action_ids(block, f"{at}/{index}", findings)
    markdown = sum(count_characters(block["text"]) for block in blocks if block["type"] == "markdown")
    if markdown > LIMITS["markdown.total"]:
        findings.add(f"markdown must be less than {LIMITS['markdown.total'] + 1} characters in all", at)
    charts = sum(block["type"] == "data_visualization" for block in blocks)
    if charts > LIMITS["data_visualization.per_message"]:
        findings.add(f"no more than {LIMITS['data_visualization.per_message']} charts allowed", at)
    _tables(blocks, at, findings)
    _one_focus(blocks, at, findings)


def _unique_block_ids(blocks: Blocks, at: str, findings: Findings) -> None:
    seen: set[str] = set()
    for place, block in _with_children(blocks, at):
        block_id = block.get("block_id")
        if block_id is not None and block_id in seen:
            findings.add(f'block_id "{block_id}" already exists', f"{place}/block_id")
        elif block_id is not None:
            seen.add(block_id)


def _unique_action_ids(block: Mapping[str, Any], at: str, findings: Findings) -> None:
    seen: set[str] = set()
    for index, element in enumerate(block.get("elements") or []):
        action_id = element.get("action_id")
        if action_id is not None and action_id in seen:
            findings.add(f'action_id "{action_id}" already exists', f"{at}/elements/{index}/action_id")
        elif action_id is not None:
            seen.add(action_id)


def _tables(blocks: Blocks, at: str, findings: Findings) -> None:
    tables = [(place, block) for place, block in _with_children(blocks, at) if block["type"] in {"table", "data_table"}]
    if len(tables) > 1:
        findings.add("only one table allowed", tables[1][0])
    for place, table in tables:
        if _characters(table["rows"]) > LIMITS["table.total"]:
            findings.add(f"table must be less than {LIMITS['table.total'] + 1} characters in all", f"{place}/rows")


def _characters(value: Any) -> int:
    """Return the characters of all texts inside a table."""
    if isinstance(value, list):
        return sum(_characters(one) for one in value)
    if isinstance(value, dict):
        own = count_characters(value["text"]) if isinstance(value.get("text"), str) else 0
        return own + sum(_characters(one) for one in value.values())
    return 0


def _one_focus(blocks: Blocks, at: str, findings: Findings) -> None:
    focused = 0
    for place, block in _with_children(blocks, at):
        inside = [block.get("element"), block.get("accessory"), *(block.get("elements") or [])]
        if any(isinstance(element, dict) and element.get("focus_on_load") for element in inside):
            focused += 1
            if focused > 1:
                findings.add("only one element may have focus_on_load", place)


def _with_children(blocks: Blocks, at: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for index, block in enumerate(blocks):
        yield f"{at}/{index}", block
        for field in ("child_blocks", "elements"):
            if block["type"] in {"container", "carousel"} and field in block:
                yield from _with_children(block[field], f"{at}/{index}/{field}")


# --- Surfaces ---


Surface = Literal["message", "modal", "home"]

_NOT_IN_MODAL = {"card", "carousel", "container", "table", "data_table", "data_visualization"}
_MESSAGE_ONLY = {"markdown", "context_actions", "task_card", "plan"}

_BLOCKS: Mapping[str, Mapping[str, Rule]] = {
    "message": {**CLASSIC_BLOCKS, **{name: rule for name, rule in NEWER_BLOCKS.items() if name != "alert"}},
    "modal": {
        **CLASSIC_BLOCKS,
        **{name: rule for name, rule in NEWER_BLOCKS.items() if name not in _NOT_IN_MODAL | _MESSAGE_ONLY},
    },
    "home": {
        **CLASSIC_BLOCKS,
        **{name: rule for name, rule in NEWER_BLOCKS.items() if name not in {"alert", *_MESSAGE_ONLY}},
    },
}
"""The blocks of each surface. The block reference lists cards for modals, but there they are reported to fail."""

_MODAL_ONLY = frozenset({"number_input", "email_text_input", "url_text_input", "file_input"})
_ELEMENTS_OUT: Mapping[str, frozenset[str]] = {
    "message": _MODAL_ONLY | {"rich_text_input"},
    "modal": frozenset(),
    "home": _MODAL_ONLY | {"datetimepicker"},
}

_VIEW_TEXTS: Mapping[str, Rule] = {
    "private_metadata": string(LIMITS["private_metadata"], minimum=0),
    "callback_id": string(LIMITS["callback_id"], minimum=0),
    "external_id": string(LIMITS["external_id"], minimum=0),
}

_MODAL = shape(
    {"title": plain(LIMITS["view.title"]), "blocks": anything},
    {
        **_VIEW_TEXTS,
        "submit": plain(LIMITS["view.submit"]),
        "close": plain(LIMITS["view.close"]),
        "clear_on_close": boolean,
        "notify_on_close": boolean,
        "submit_disabled": boolean,
    },
)
_HOME = shape({"blocks": anything}, _VIEW_TEXTS)


def check_message_blocks(blocks: Sequence[Any]) -> None:
    """Raise `SlackError("invalid_blocks")`, with every finding, unless these blocks may stand in a message."""
    findings = Findings()
    _check_blocks(blocks, "/blocks", "message", findings)
    if findings.messages:
        raise SlackError(
            "invalid_blocks",
            errors=findings.messages,
            response_metadata={"messages": [f"[ERROR] {message}" for message in findings.messages]},
        )


def check_view(view: Any, kind: Literal["modal", "home"]) -> None:
    """Raise `SlackError`, with every finding, unless this view may be opened (modal) or published (home)."""
    findings = Findings()
    one_of({kind: _MODAL if kind == "modal" else _HOME})(view, "/view", findings)
    if isinstance(view, dict) and "blocks" in view:
        _check_blocks(view["blocks"], "/view/blocks", kind, findings)
        if kind == "modal" and "submit" not in view and _has_input(view["blocks"]):
            findings.add("missing required field: submit", "/view")
    if findings.messages:
        raise bad_arguments(*findings.messages)
    if len(json.dumps(view, ensure_ascii=False).encode()) > MAX_VIEW_BYTES:
        raise SlackError("view_too_large")


def _check_blocks(blocks: Any, at: str, surface: Surface, findings: Findings) -> None:
    before = len(findings.messages)
    most, least = (LIMITS["message.blocks"], 0) if surface == "message" else (LIMITS["view.blocks"], 1)
    array(one_of(_BLOCKS[surface]), most, minimum=least)(blocks, at, findings)
    if len(findings.messages) == before:
        together(blocks, at, findings)
        for index, block in enumerate(blocks):
            _check_elements(block, f"{at}/{index}", surface, findings)


def _check_elements(block: Mapping[str, Any], at: str, surface: Surface, findings: Findings) -> None:
    """Elements that this surface does not have."""
    placed = [(field, block[field]) for field in ("element", "accessory") if field in block]
    placed += [(f"elements/{index}", element) for index, element in enumerate(block.get("elements") or [])]
    for place, element in placed:
        if element.get("type") in _ELEMENTS_OUT[surface]:
            findings.add(f"unsupported type: {element['type']}", f"{at}/{place}/type")
    for index, child in enumerate(block.get("child_blocks") or []):
        _check_elements(child, f"{at}/child_blocks/{index}", surface, findings)


def _has_input(blocks: Any) -> bool:
    return isinstance(blocks, list) and any(isinstance(b, dict) and b.get("type") == "input" for b in blocks)
