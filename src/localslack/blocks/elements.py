"""The interactive elements inside blocks: finding them, naming them, the fields their values stand in."""

import secrets
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

VALUE_FIELD: Mapping[str, str] = {
    "plain_text_input": "value",
    "number_input": "value",
    "email_text_input": "value",
    "url_text_input": "value",
    "rich_text_input": "rich_text_value",
    "file_input": "files",
    "static_select": "selected_option",
    "external_select": "selected_option",
    "radio_buttons": "selected_option",
    "checkboxes": "selected_options",
    "multi_static_select": "selected_options",
    "multi_external_select": "selected_options",
    "users_select": "selected_user",
    "multi_users_select": "selected_users",
    "conversations_select": "selected_conversation",
    "multi_conversations_select": "selected_conversations",
    "channels_select": "selected_channel",
    "multi_channels_select": "selected_channels",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
    "datetimepicker": "selected_date_time",
}
"""Elements that hold a value, with the field of `state.values` that carries it."""

INITIAL_FIELD: Mapping[str, str] = {
    "value": "initial_value",
    "rich_text_value": "initial_value",
    "selected_option": "initial_option",
    "selected_options": "initial_options",
    "selected_user": "initial_user",
    "selected_users": "initial_users",
    "selected_conversation": "initial_conversation",
    "selected_conversations": "initial_conversations",
    "selected_channel": "initial_channel",
    "selected_channels": "initial_channels",
    "selected_date": "initial_date",
    "selected_time": "initial_time",
    "selected_date_time": "initial_date_time",
}

ACTION_FIELD: Mapping[str, str] = {
    **VALUE_FIELD,
    "button": "value",
    "workflow_button": "value",
    "icon_button": "value",
    "feedback_buttons": "value",
    "overflow": "selected_option",
}
"""Every element a person can act on, with the field of the action that carries what they chose."""


@dataclass(frozen=True)
class PlacedElement:
    """An interactive element and its block."""

    block: Mapping[str, Any]
    element: Mapping[str, Any]

    @property
    def block_id(self) -> str:
        return str(self.block["block_id"])

    @property
    def action_id(self) -> str:
        return str(self.element["action_id"])


def placed_elements(blocks: Sequence[Mapping[str, Any]]) -> Iterator[PlacedElement]:
    """Every interactive element of the blocks, in reading order, containers and cards included."""
    for block in blocks:
        for element in _inside(block):
            if element.get("type") in ACTION_FIELD:
                yield PlacedElement(block, element)
        for field in ("child_blocks", "elements"):
            nested = block.get(field)
            if block.get("type") in {"container", "carousel"} and isinstance(nested, list):
                yield from placed_elements(nested)


def find_element(blocks: Sequence[Mapping[str, Any]], block_id: str, action_id: str) -> PlacedElement | None:
    return next(
        (placed for placed in placed_elements(blocks) if (placed.block_id, placed.action_id) == (block_id, action_id)),
        None,
    )


def with_ids(blocks: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the blocks with a block_id and action_id wherever the app left one out."""
    return [_with_ids(block) for block in blocks]


def _with_ids(block: Mapping[str, Any]) -> dict[str, Any]:
    filled = {"block_id": secrets.token_urlsafe(4), **block}
    for field in ("element", "accessory"):
        if isinstance(block.get(field), dict):
            filled[field] = _with_action_id(block[field])
    for field in ("elements", "actions"):
        if isinstance(block.get(field), list):
            filled[field] = [_with_action_id(element) for element in block[field]]
    if block.get("type") in {"container", "carousel"}:
        for field in ("child_blocks", "elements"):
            if isinstance(block.get(field), list):
                filled[field] = with_ids(block[field])
    return filled


def _with_action_id(element: Mapping[str, Any]) -> dict[str, Any]:
    if element.get("type") in ACTION_FIELD:
        return {"action_id": secrets.token_urlsafe(4), **element}
    return dict(element)


def _inside(block: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for field in ("element", "accessory"):
        if isinstance(block.get(field), dict):
            yield block[field]
    for field in ("elements", "actions"):
        if isinstance(block.get(field), list):
            yield from block[field]


MOST_PLACES = 200
MOST_CHANGES = 4

Blocks = Sequence[Mapping[str, Any]]


class Replaced:
    """Earlier blocks of the places that were changed last, in memory.

    A page may not show a change yet when a person presses an element that was there. The app gets the action, as from
    Slack, and decides what that means now.

    The name of a place is unique: the channel and ts of a message, or the id of a view.
    """

    def __init__(self) -> None:
        self._before: OrderedDict[tuple[str, ...], deque[Blocks]] = OrderedDict()

    def keep(self, place: tuple[str, ...], blocks: Blocks) -> None:
        """Remember the blocks of a place that is about to change."""
        if blocks:
            self._before.setdefault(place, deque(maxlen=MOST_CHANGES)).appendleft(blocks)
            self._before.move_to_end(place)
        if len(self._before) > MOST_PLACES:
            self._before.popitem(last=False)

    def find(self, place: tuple[str, ...], block_id: str, action_id: str) -> PlacedElement | None:
        """Return the element as it was there last."""
        found = (find_element(blocks, block_id, action_id) for blocks in self._before.get(place, ()))
        return next((placed for placed in found if placed is not None), None)
