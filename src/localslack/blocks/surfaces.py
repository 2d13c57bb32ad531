"""Whole payloads: the blocks of a message, and views, checked for the surface they are meant for."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from localslack.blocks.block_shapes import CLASSIC_BLOCKS
from localslack.blocks.composition import plain
from localslack.blocks.newer_shapes import NEWER_BLOCKS
from localslack.blocks.rules import Findings, Rule, anything, array, boolean, one_of, shape, string
from localslack.blocks.whole import together
from localslack.errors import SlackError, bad_arguments
from localslack.limits import LIMITS, MAX_VIEW_BYTES

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
