"""The shapes of block elements."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from localslack.blocks.composition import (
    CHANNEL_ID,
    CHOICE_OPTION,
    CONFIRM,
    CONVERSATION_FILTER,
    DISPATCH_CONFIG,
    MENU_OPTION,
    OPTION_GROUP,
    OVERFLOW_OPTION,
    PLACEHOLDER,
    SLACK_FILE,
    URL,
    USER_ID,
    plain,
)
from localslack.blocks.rich_text import rich_text
from localslack.blocks.rules import (
    Findings,
    Rule,
    array,
    boolean,
    choice,
    integer,
    one_field,
    shape,
    string,
)
from localslack.limits import LIMITS

ACTION_ID = string(LIMITS["action_id"])
_NUMBER = string(pattern=r"-?[0-9]+(\.[0-9]+)?")
_LENGTH = LIMITS["plain_text_input.length"]


def _calendar_date(value: Any, at: str, findings: Findings) -> None:
    try:
        date.fromisoformat(value)
    except (TypeError, ValueError):
        findings.add("must be a valid date (YYYY-MM-DD)", at)


def _initial_among_options(value: Any, at: str, findings: Findings) -> None:
    """Check that a preselection is exactly one of the options (or that all of it is)."""
    groups = [value, *_list(value.get("option_groups"))]
    options = [one for group in groups if isinstance(group, dict) for one in _list(group.get("options"))]
    if "initial_option" in value and value["initial_option"] not in options:
        findings.add("must match one of the options", f"{at}/initial_option")
    for index, chosen in enumerate(_list(value.get("initial_options"))):
        if chosen not in options:
            findings.add("must match one of the options", f"{at}/initial_options/{index}")


def _list(value: Any) -> list[Any]:
    """Return the value if it is a list; what else it is has been found wrong already."""
    return value if isinstance(value, list) else []


def _check_order(low: str, high: str) -> Rule:
    def rule(value: Any, at: str, findings: Findings) -> None:
        try:
            wrong = float(value[low]) > float(value[high])
        except (KeyError, TypeError, ValueError):
            return  # one of them is absent, or has been found wrong already
        if wrong:
            findings.add(f"{low} must not be more than {high}", at)

    return rule


def _element(required: Mapping[str, Rule], optional: Mapping[str, Rule], *more: Rule) -> Rule:
    return shape(required, {"action_id": ACTION_ID, **optional}, *more)


def _chooser(required: Mapping[str, Rule], optional: Mapping[str, Rule], *more: Rule) -> Rule:
    """Return the rule for an element with a placeholder that can ask for confirmation."""
    common = {"placeholder": PLACEHOLDER, "confirm": CONFIRM, "focus_on_load": boolean}
    return _element(required, {**common, **optional}, *more)


def _input_element(required: Mapping[str, Rule], optional: Mapping[str, Rule], *more: Rule) -> Rule:
    """Return the rule for an element that a person types into."""
    common = {"placeholder": PLACEHOLDER, "dispatch_action_config": DISPATCH_CONFIG, "focus_on_load": boolean}
    return _element(required, {**common, **optional}, *more)


_OPTIONS = array(MENU_OPTION, LIMITS["select.options"])
_GROUPS = array(OPTION_GROUP, LIMITS["select.groups"])
_SOURCE = one_field("options", "option_groups")
_CHOICES = array(CHOICE_OPTION, LIMITS["choice.options"])
_AT_MOST = {"max_selected_items": integer(1)}
_CONVERSATIONS = {"default_to_current_conversation": boolean, "filter": CONVERSATION_FILTER}
_RESPONSE_URL = {"response_url_enabled": boolean}
_PRESSED = {
    "value": string(LIMITS["button.value"]),
    "confirm": CONFIRM,
    "accessibility_label": string(LIMITS["button.accessibility_label"]),
}
_VOTE = shape(
    {"text": plain(LIMITS["button.text"]), "value": string(LIMITS["button.value"])},
    {"accessibility_label": string(LIMITS["button.accessibility_label"])},
)

ELEMENTS: Mapping[str, Rule] = {
    "button": _element(
        {"text": plain(LIMITS["button.text"])},
        {
            **_PRESSED,
            "url": string(LIMITS["button.url"]),
            "style": choice("primary", "danger"),
            "agent_prompt": string(LIMITS["button.agent_prompt"]),
            "visible_to_user_ids": array(USER_ID),
        },
    ),
    "icon_button": _element(
        {"icon": choice("trash"), "text": plain(LIMITS["button.text"])},
        {**_PRESSED, "visible_to_user_ids": array(USER_ID)},
    ),
    "feedback_buttons": _element({"positive_button": _VOTE, "negative_button": _VOTE}, {}),
    "workflow_button": _element(
        {"text": plain(LIMITS["button.text"]), "workflow": shape({"trigger": shape({"url": URL})})},
        {**_PRESSED, "style": choice("primary", "danger")},
    ),
    "checkboxes": _element(
        {"options": _CHOICES},
        {"initial_options": _CHOICES, "confirm": CONFIRM, "focus_on_load": boolean},
        _initial_among_options,
    ),
    "radio_buttons": _element(
        {"options": _CHOICES},
        {"initial_option": CHOICE_OPTION, "confirm": CONFIRM, "focus_on_load": boolean},
        _initial_among_options,
    ),
    "overflow": _element({"options": array(OVERFLOW_OPTION, LIMITS["overflow.options"])}, {"confirm": CONFIRM}),
    "datepicker": _chooser({}, {"initial_date": _calendar_date}),
    "timepicker": _chooser(
        {}, {"initial_time": string(pattern=r"([01][0-9]|2[0-3]):[0-5][0-9]"), "timezone": string()}
    ),
    "datetimepicker": _element(
        {}, {"initial_date_time": integer(0, 9_999_999_999), "confirm": CONFIRM, "focus_on_load": boolean}
    ),
    "static_select": _chooser(
        {},
        {"options": _OPTIONS, "option_groups": _GROUPS, "initial_option": MENU_OPTION},
        _SOURCE,
        _initial_among_options,
    ),
    "multi_static_select": _chooser(
        {},
        {"options": _OPTIONS, "option_groups": _GROUPS, "initial_options": array(MENU_OPTION), **_AT_MOST},
        _SOURCE,
        _initial_among_options,
    ),
    "external_select": _chooser({}, {"initial_option": MENU_OPTION, "min_query_length": integer(0)}),
    "multi_external_select": _chooser(
        {}, {"initial_options": array(MENU_OPTION), "min_query_length": integer(0), **_AT_MOST}
    ),
    "users_select": _chooser({}, {"initial_user": USER_ID}),
    "multi_users_select": _chooser({}, {"initial_users": array(USER_ID), **_AT_MOST}),
    "conversations_select": _chooser({}, {"initial_conversation": CHANNEL_ID, **_CONVERSATIONS, **_RESPONSE_URL}),
    "multi_conversations_select": _chooser(
        {}, {"initial_conversations": array(CHANNEL_ID), **_CONVERSATIONS, **_AT_MOST}
    ),
    "channels_select": _chooser({}, {"initial_channel": CHANNEL_ID, **_RESPONSE_URL}),
    "multi_channels_select": _chooser({}, {"initial_channels": array(CHANNEL_ID), **_AT_MOST}),
    "plain_text_input": _input_element(
        {},
        {
            "initial_value": string(_LENGTH, minimum=0),
            "multiline": boolean,
            "min_length": integer(0, _LENGTH),
            "max_length": integer(1, _LENGTH),
        },
        _check_order("min_length", "max_length"),
    ),
    "number_input": _input_element(
        {"is_decimal_allowed": boolean},
        {"initial_value": _NUMBER, "min_value": _NUMBER, "max_value": _NUMBER},
        _check_order("min_value", "max_value"),
    ),
    "email_text_input": _input_element({}, {"initial_value": string()}),
    "url_text_input": _input_element({}, {"initial_value": string()}),
    "rich_text_input": _input_element({}, {"initial_value": rich_text}),
    "file_input": _element({}, {"filetypes": array(string()), "max_files": integer(1, LIMITS["file_input.files"])}),
    "image": shape(
        {"alt_text": string(LIMITS["image.alt_text"])},
        {
            "image_url": URL,
            "slack_file": SLACK_FILE,
            "image_width": integer(0),
            "image_height": integer(0),
            "image_bytes": integer(0),
        },
        one_field("image_url", "slack_file"),
    ),
}
