"""Controls of a card as Block Kit elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_never

from fateforger.session.cards import Button, Choice, Control, DatePick, Menu, Select, TimePick
from fateforger.slack.addresses import ACTION_MARK, Address, ControlAction
from fateforger.values import replace

MAX_LABEL = 75
MAX_OPTIONS = 100
MAX_OVERFLOW = 5
MAX_PLACEHOLDER = 150
MAX_CONFIRM = 300

Element = dict[str, Any]


def plain_text(text: str, limit: int = MAX_LABEL) -> Element:
    """Return a text object without markup."""
    return {"type": "plain_text", "text": shorten(text, limit)}


def shorten(text: str, limit: int) -> str:
    """Cut a text with an ellipsis if it is too long for Slack."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def element(control: Control, address: Address, numbers: Iterator[int]) -> Element | None:
    """Return the element of a control, or ``None`` for a menu without choices.

    The next number makes its ``action_id`` unique. A menu that is too long for Slack's overflow menu becomes a select;
    one with a single choice becomes a button.
    """
    match control:
        case Button():
            return _button(control, address, numbers)
        case Menu():
            return _menu(control, address, numbers)
        case Select():
            return _select(control, numbers)
        case DatePick():
            return {
                "type": "datepicker",
                "action_id": _action_id(control.action, numbers),
                "initial_date": control.selected.isoformat(),
            }
        case TimePick():
            picker: Element = {
                "type": "timepicker",
                "action_id": _action_id(control.action, numbers),
                "placeholder": plain_text(control.placeholder, MAX_PLACEHOLDER),
            }
            if control.selected is not None:
                picker["initial_time"] = control.selected.strftime("%H:%M")
            return picker
        case _:
            assert_never(control)


def describe_left_out(control: Control) -> str | None:
    """Return a sentence about choices that exceed Slack's limit; ``None`` if all fit."""
    choices = control.choices if isinstance(control, Select | Menu) else ()
    if len(choices) <= MAX_OPTIONS:
        return None
    return f"Slack lists {MAX_OPTIONS} choices at most, so {len(choices) - MAX_OPTIONS} are not in this list."


def option(choice: Choice, value: str | None = None) -> Element:
    return {"text": plain_text(choice.label), "value": choice.value if value is None else value}


def _button(button: Button, address: Address, numbers: Iterator[int]) -> Element:
    made: Element = {
        "type": "button",
        "action_id": _action_id(button.action, numbers),
        "text": plain_text(button.label),
        "value": replace(address, target=button.target, n=0).pack(),
    }
    if button.spoken:
        made["accessibility_label"] = shorten(button.spoken, MAX_LABEL)
    if button.style != "default":
        made["style"] = button.style
    if button.confirm is not None:
        made["confirm"] = {
            "title": plain_text("Are you sure?"),
            "text": plain_text(button.confirm, MAX_CONFIRM),
            "confirm": plain_text("Yes"),
            "deny": plain_text("No"),
        }
    return made


def _menu(menu: Menu, address: Address, numbers: Iterator[int]) -> Element | None:
    if not menu.choices:
        return None
    if len(menu.choices) == 1:
        only = menu.choices[0]
        return _button(Button(label=only.label, action=only.value, target=menu.target), address, numbers)
    options = [
        option(choice, ControlAction(action=choice.value, target=menu.target).pack())
        for choice in menu.choices[:MAX_OPTIONS]
    ]
    if len(options) <= MAX_OVERFLOW:
        return {"type": "overflow", "action_id": _action_id("menu", numbers), "options": options}
    return {
        "type": "static_select",
        "action_id": _action_id("menu", numbers),
        "placeholder": plain_text("Change…"),
        "options": options,
    }


def _select(select: Select, numbers: Iterator[int]) -> Element | None:
    if not select.choices:
        return None
    options = [option(choice) for choice in select.choices[:MAX_OPTIONS]]
    made: Element = {
        "type": "static_select",
        "action_id": _action_id(select.action, numbers),
        "placeholder": plain_text(select.placeholder, MAX_PLACEHOLDER),
        "options": options,
    }
    chosen = next((shown for shown in options if shown["value"] == select.selected), None)
    if chosen is not None:
        made["initial_option"] = chosen
    return made


def _action_id(action: str, numbers: Iterator[int]) -> str:
    return f"{action}{ACTION_MARK}{next(numbers)}"
