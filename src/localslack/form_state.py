"""Entered values: the `state.values` of a surface, and the checks before a form is submitted."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation
from typing import Any

from localslack.blocks.elements import INITIAL_FIELD, VALUE_FIELD, PlacedElement, placed_elements
from localslack.limits import LIMITS
from localslack.text import count_characters

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


# --- Checks of Slack's own client before it submits a form, with the sentence for each field ---


REQUIRED = "Please complete this required field."

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_URL = re.compile(r"https?://\S+", re.IGNORECASE)


def field_errors(blocks: Sequence[Mapping[str, Any]], values: Values) -> dict[str, str]:
    """Return a sentence for each input block that cannot be submitted as it is, by block_id."""
    errors: dict[str, str] = {}
    for block in blocks:
        if block.get("type") != "input":
            continue
        element = block["element"]
        value = values[block["block_id"]][element["action_id"]][VALUE_FIELD[element["type"]]]
        if value in (None, "", []):
            error = None if block.get("optional", False) else REQUIRED
        else:
            error = _error(element, value)
        if error is not None:
            errors[block["block_id"]] = error
    return errors


def _error(element: Mapping[str, Any], value: Any) -> str | None:
    match element["type"]:
        case "plain_text_input":
            return _length_error(element, value)
        case "number_input":
            return _number_error(element, value)
        case "email_text_input":
            return None if _EMAIL.fullmatch(value) else "Please enter a valid email address."
        case "url_text_input":
            return None if _URL.fullmatch(value) else "Please enter a valid link, beginning with https://."
        case _:
            most = element.get("max_selected_items")
            return f"Please choose at most {most}." if most is not None and len(value) > most else None


def _length_error(element: Mapping[str, Any], value: str) -> str | None:
    least = element.get("min_length", 0)
    most = element.get("max_length", LIMITS["plain_text_input.length"])
    length = count_characters(value)
    if length < least:
        return f"Please enter at least {least} characters."
    if length > most:
        return f"Please enter at most {most:,} characters."
    return None


def _number_error(element: Mapping[str, Any], value: str) -> str | None:
    try:
        entered = Decimal(value)
    except InvalidOperation:
        return "Please enter a number."
    if not entered.is_finite():
        return "Please enter a number."
    if not element["is_decimal_allowed"] and entered != entered.to_integral_value():
        return "Please enter a whole number."
    if "min_value" in element and entered < Decimal(element["min_value"]):
        return f"Please enter {element['min_value']} or more."
    if "max_value" in element and entered > Decimal(element["max_value"]):
        return f"Please enter {element['max_value']} or less."
    return None
