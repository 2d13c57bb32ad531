"""Elements that each block may hold."""

from collections.abc import Mapping

from localslack.blocks.element_shapes import ELEMENTS
from localslack.blocks.rules import Rule

_MENUS = {name: rule for name, rule in ELEMENTS.items() if name.endswith("_select")}
_PICKED = {name: ELEMENTS[name] for name in ("checkboxes", "radio_buttons", "datepicker", "timepicker")}

IN_ACTIONS: Mapping[str, Rule] = {
    **_MENUS,
    **_PICKED,
    **{name: ELEMENTS[name] for name in ("button", "workflow_button", "overflow", "datetimepicker")},
}
IN_SECTION: Mapping[str, Rule] = {
    **_MENUS,
    **_PICKED,
    **{name: ELEMENTS[name] for name in ("button", "workflow_button", "overflow", "image")},
}
IN_INPUT: Mapping[str, Rule] = {
    **_MENUS,
    **_PICKED,
    "datetimepicker": ELEMENTS["datetimepicker"],
    **{name: rule for name, rule in ELEMENTS.items() if name.endswith("_input")},
}
