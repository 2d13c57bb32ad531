"""The shapes of the blocks that came with agents: prose, tables, charts, cards, task lists."""

from collections.abc import Mapping
from typing import Any

from localslack.blocks.block_shapes import CLASSIC_BLOCKS, block
from localslack.blocks.composition import URL, plain, words
from localslack.blocks.element_shapes import ELEMENTS
from localslack.blocks.rich_text import PARTS, rich_text
from localslack.blocks.rules import (
    Findings,
    Rule,
    any_field,
    array,
    boolean,
    choice,
    integer,
    number,
    one_of,
    shape,
    string,
)
from localslack.limits import LIMITS


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
_TASK_CARD = block({"task_id": string(), "title": string()}, _TASK_FIELDS)

_CARD = block(
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

_TABLE = block(
    {"rows": array(array(_TABLE_CELL, LIMITS["table.cells"]), LIMITS["table.rows"])},
    {"column_settings": array(_column, LIMITS["table.cells"])},
)

_IN_CONTAINER = {**CLASSIC_BLOCKS, "table": _TABLE}

NEWER_BLOCKS: Mapping[str, Rule] = {
    "markdown": block({"text": string(LIMITS["markdown.total"])}),
    "context_actions": block(
        {
            "elements": array(
                one_of({name: ELEMENTS[name] for name in ("feedback_buttons", "icon_button")}),
                LIMITS["context_actions.elements"],
            )
        }
    ),
    "alert": block(
        {"text": words(LIMITS["alert.text"])}, {"level": choice("default", "info", "warning", "error", "success")}
    ),
    "table": _TABLE,
    "data_table": block(
        {
            "caption": string(),
            "rows": array(array(_DATA_CELL, LIMITS["table.cells"]), LIMITS["data_table.rows"], minimum=2),
        },
        {"page_size": integer(1, 100), "row_header_column_index": integer(0, LIMITS["table.cells"] - 1)},
    ),
    "data_visualization": block({"title": string(50), "chart": _CHART}),
    "card": _CARD,
    "carousel": block({"elements": array(one_of({"card": _CARD}), LIMITS["carousel.cards"])}),
    "container": block(
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
    "plan": block({"title": _plan_title}, {"tasks": array(_TASK_CARD, minimum=0)}),
}
