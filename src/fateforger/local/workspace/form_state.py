"""What a person has entered: the `state.values` of a surface, from its blocks and what the page sent."""

from collections.abc import Mapping, Sequence
from typing import Any

from fateforger.local.workspace.blocks.elements import INITIAL_FIELD, VALUE_FIELD, PlacedElement, placed_elements

Values = dict[str, dict[str, dict[str, Any]]]


def state_values(blocks: Sequence[Mapping[str, Any]], entered: Mapping[str, Any]) -> Values:
    """One entry for each element that holds a value: what was entered, else its initial value, else empty.

    Entries for elements that are not there are left out, so typed values survive an update of a view only where
    block_id and action_id stay the same.
    """
    values: Values = {}
    for placed in placed_elements(blocks):
        kind = str(placed.element["type"])
        if kind not in VALUE_FIELD:
            continue
        given = entered.get(placed.block_id, {}).get(placed.action_id)
        field = VALUE_FIELD[kind]
        value = _initial(placed, field) if given is None else given.get(field)
        entry: dict[str, Any] = {"type": kind, field: _empty(field) if value is None else value}
        if kind == "timepicker" and "timezone" in placed.element:
            entry["timezone"] = placed.element["timezone"]
        values.setdefault(placed.block_id, {})[placed.action_id] = entry
    return values


def missing_required(blocks: Sequence[Mapping[str, Any]], values: Values) -> dict[str, str]:
    """A sentence for each required input that is empty, by block_id, as Slack's own client shows it."""
    errors: dict[str, str] = {}
    for block in blocks:
        if block.get("type") != "input" or block.get("optional", False):
            continue
        element = block["element"]
        entry = values.get(block["block_id"], {}).get(element["action_id"], {})
        field = VALUE_FIELD.get(element["type"])
        if field is not None and entry.get(field) in (None, "", []):
            errors[block["block_id"]] = "Please complete this required field."
    return errors


def _initial(placed: PlacedElement, field: str) -> Any:
    return placed.element.get(INITIAL_FIELD.get(field, ""))


def _empty(field: str) -> Any:
    return [] if field.endswith("s") else None
