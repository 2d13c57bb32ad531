"""Checks of Slack's own client before it submits a form, with the sentence for each field."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from localslack.blocks.elements import VALUE_FIELD
from localslack.form_state import Values
from localslack.limits import LIMITS
from localslack.text import count_characters

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
