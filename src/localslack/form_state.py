"""Entered values: the `state.values` of a surface, from its blocks and what the page sent."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from localslack.blocks.elements import INITIAL_FIELD, VALUE_FIELD, PlacedElement, placed_elements

Values = dict[str, dict[str, dict[str, Any]]]

_TIME = re.compile(r"([01][0-9]|2[0-3]):[0-5][0-9]")


def state_values(blocks: Sequence[Mapping[str, Any]], entered: Any) -> Values:
    """One entry for each element that holds a value: what was entered, else its initial value, else empty.

    Entries for elements that are not there are left out, so typed values survive an update of a view only where
    block_id and action_id stay the same; so are values that the element cannot have.
    """
    values: Values = {}
    for placed in placed_elements(blocks):
        kind = str(placed.element["type"])
        if kind not in VALUE_FIELD:
            continue
        field = VALUE_FIELD[kind]
        entry: dict[str, Any] = {"type": kind, field: _value(placed, field, entered)}
        if kind == "timepicker" and "timezone" in placed.element:
            entry["timezone"] = placed.element["timezone"]
        values.setdefault(placed.block_id, {})[placed.action_id] = entry
    return values


def accept_value(element: Mapping[str, Any], field: str, value: Any) -> Any:
    """Return the value as the app gets it (options as the app gave them), or None for what this element cannot have."""
    match field:
        case "selected_option":
            return _find_option(element, value)
        case "selected_options":
            return _all(_find_option(element, one) for one in value) if isinstance(value, list) else None
        case "selected_date":
            return value if _is_date(value) else None
        case "selected_time":
            return value if isinstance(value, str) and _TIME.fullmatch(value) else None
        case "selected_date_time":
            return value if isinstance(value, int) and not isinstance(value, bool) else None
        case "rich_text_value":
            return value if isinstance(value, dict) else None
        case "files":
            return value if isinstance(value, list) else None
        case _ if field.endswith("s"):
            return value if isinstance(value, list) and all(isinstance(one, str) for one in value) else None
        case _:
            return value if isinstance(value, str) else None


def _value(placed: PlacedElement, field: str, entered: Any) -> Any:
    block = entered.get(placed.block_id) if isinstance(entered, dict) else None
    given = block.get(placed.action_id) if isinstance(block, dict) else None
    if isinstance(given, dict):
        value = accept_value(placed.element, field, given.get(field))
    else:
        value = placed.element.get(INITIAL_FIELD.get(field, ""))
    return [] if value is None and field.endswith("s") else value


def _find_option(element: Mapping[str, Any], chosen: Any) -> dict[str, Any] | None:
    """Return the option of the element that has the chosen one's value; an external select offers what it was given."""
    if not isinstance(chosen, dict):
        return None
    if "options" not in element and "option_groups" not in element:
        return chosen if {"text", "value"} <= chosen.keys() else None
    groups = element.get("option_groups") or [element]
    options = [option for group in groups for option in group["options"]]
    return next((option for option in options if option["value"] == chosen.get("value")), None)


def _all(options: Any) -> list[Any] | None:
    found = list(options)
    return None if None in found else found


def _is_date(value: Any) -> bool:
    try:
        date.fromisoformat(value)
    except (TypeError, ValueError):
        return False
    return True
