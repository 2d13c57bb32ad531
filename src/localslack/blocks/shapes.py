"""The shapes of the long-standing blocks, from composition objects through elements to whole blocks."""

from collections.abc import Mapping
from datetime import date
from typing import Any

from localslack.blocks.rules import (
    Findings,
    Rule,
    any_field,
    array,
    boolean,
    choice,
    integer,
    one_field,
    one_of,
    shape,
    string,
)
from localslack.limits import LIMITS

# --- Composition objects: text, options, confirmation dialogs, files ---


def plain(maximum: int) -> Rule:
    """Return the rule for a `plain_text` object of at most this many characters."""
    return one_of({"plain_text": shape({"text": string(maximum)}, {"emoji": boolean})})


def words(maximum: int) -> Rule:
    """Return the rule for a `plain_text` or `mrkdwn` object of at most this many characters."""
    return one_of(
        {
            "plain_text": shape({"text": string(maximum)}, {"emoji": boolean}),
            "mrkdwn": shape({"text": string(maximum)}, {"verbatim": boolean}),
        }
    )


URL = string(LIMITS["image.image_url"])
PLACEHOLDER = plain(LIMITS["placeholder"])
USER_ID = string(pattern=r"[UW][A-Z0-9]+")
CHANNEL_ID = string(pattern=r"[CDG][A-Z0-9]+")

CONFIRM = shape(
    {
        "title": plain(LIMITS["confirm.title"]),
        "text": words(LIMITS["confirm.text"]),
        "confirm": plain(LIMITS["confirm.button"]),
        "deny": plain(LIMITS["confirm.button"]),
    },
    {"style": choice("primary", "danger")},
)

_VALUE = string(LIMITS["option.value"])

MENU_OPTION = shape(
    {"text": plain(LIMITS["option.text"]), "value": _VALUE},
    {"description": plain(LIMITS["option.description"])},
)
OVERFLOW_OPTION = shape(
    {"text": plain(LIMITS["option.text"]), "value": _VALUE},
    {"description": plain(LIMITS["option.description"]), "url": URL},
)
CHOICE_OPTION = shape(
    {"text": words(LIMITS["option.text"]), "value": _VALUE},
    {"description": words(LIMITS["option.description"])},
)
OPTION_GROUP = shape({"label": plain(LIMITS["group.label"]), "options": array(MENU_OPTION, LIMITS["select.options"])})

SLACK_FILE = shape({}, {"url": URL, "id": string()}, one_field("url", "id"))

CONVERSATION_FILTER = shape(
    {},
    {
        "include": array(choice("im", "mpim", "private", "public")),
        "exclude_external_shared_channels": boolean,
        "exclude_bot_users": boolean,
    },
)

DISPATCH_CONFIG = shape({"trigger_actions_on": array(choice("on_enter_pressed", "on_character_entered"), maximum=2)})


# --- The rich text block and the pieces it is made of ---


_STYLE = shape(
    {},
    dict.fromkeys(
        ("bold", "italic", "strike", "underline", "code", "highlight", "client_highlight", "unlink"), boolean
    ),
)

_LEAF = one_of(
    {
        "text": shape({"text": string()}, {"style": _STYLE}),
        "link": shape({"url": string()}, {"text": string(minimum=0), "unsafe": boolean, "style": _STYLE}),
        "user": shape({"user_id": USER_ID}, {"style": _STYLE}),
        "usergroup": shape({"usergroup_id": string()}, {"style": _STYLE}),
        "team": shape({"team_id": string()}, {"style": _STYLE}),
        "channel": shape({"channel_id": string()}, {"style": _STYLE}),
        "emoji": shape(
            {"name": string()}, {"skin_tone": integer(1, 6), "unicode": string(), "style": _STYLE, "url": string()}
        ),
        "broadcast": shape({"range": choice("here", "channel", "everyone")}, {"style": _STYLE}),
        "color": shape({"value": string(pattern=r"#?[0-9a-fA-F]{6}")}, {"style": _STYLE}),
        "date": shape(
            {"timestamp": integer(0), "format": string()},
            {"url": string(), "fallback": string(minimum=0), "style": _STYLE},
        ),
    }
)

_LEAVES = array(_LEAF, minimum=0)
_BORDER = choice(0, 1)
_SECTION = shape({"elements": _LEAVES})

_PART = one_of(
    {
        "rich_text_section": _SECTION,
        "rich_text_list": shape(
            {"style": choice("bullet", "ordered"), "elements": array(one_of({"rich_text_section": _SECTION}))},
            {"indent": integer(0), "offset": integer(0), "border": _BORDER},
        ),
        "rich_text_preformatted": shape({"elements": _LEAVES}, {"border": _BORDER, "language": string()}),
        "rich_text_quote": shape({"elements": _LEAVES}, {"border": _BORDER}),
    }
)

PARTS: Rule = array(_PART, minimum=0)

RICH_TEXT = shape({"elements": PARTS}, {"block_id": string(LIMITS["block_id"])})


def rich_text(value: Any, at: str, findings: Findings) -> None:
    """Return the rule for a rich text block inside another block."""
    one_of({"rich_text": RICH_TEXT})(value, at, findings)


# --- The shapes of block elements ---


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


# --- Elements that each block may hold ---


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


# --- The shapes of the long-standing blocks ---


def block_shape(required: Mapping[str, Rule], optional: Mapping[str, Rule] | None = None, *more: Rule) -> Rule:
    return shape(required, {"block_id": string(LIMITS["block_id"]), **(optional or {})}, *more)


def _context_element(value: Any, at: str, findings: Findings) -> None:
    if isinstance(value, dict) and value.get("type") == "image":
        ELEMENTS["image"](value, at, findings)
    else:
        words(LIMITS["context.text"])(value, at, findings)


def _no_dispatch_for_files(value: Any, at: str, findings: Findings) -> None:
    element = value.get("element")
    if value.get("dispatch_action") and isinstance(element, dict) and element.get("type") == "file_input":
        findings.add("dispatch_action cannot be used with file_input", f"{at}/dispatch_action")


_HTTPS = string(pattern=r"https://.+")

CLASSIC_BLOCKS: Mapping[str, Rule] = {
    "actions": block_shape({"elements": array(one_of(IN_ACTIONS), LIMITS["actions.elements"])}),
    "context": block_shape({"elements": array(_context_element, LIMITS["context.elements"])}),
    "divider": block_shape({}),
    "header": block_shape({"text": plain(LIMITS["header.text"])}, {"level": integer(1, 4)}),
    "image": block_shape(
        {"alt_text": string(LIMITS["image.alt_text"])},
        {"image_url": URL, "slack_file": SLACK_FILE, "title": plain(LIMITS["image.title"])},
        one_field("image_url", "slack_file"),
    ),
    "input": block_shape(
        {"label": plain(LIMITS["input.label"]), "element": one_of(IN_INPUT)},
        {"hint": plain(LIMITS["input.hint"]), "optional": boolean, "dispatch_action": boolean},
        _no_dispatch_for_files,
    ),
    "rich_text": RICH_TEXT,
    "section": block_shape(
        {},
        {
            "text": words(LIMITS["section.text"]),
            "fields": array(words(LIMITS["section.field"]), LIMITS["section.fields"]),
            "accessory": one_of(IN_SECTION),
            "expand": boolean,
        },
        any_field("text", "fields"),
    ),
    "video": block_shape(
        {"alt_text": string(), "title": plain(LIMITS["video.title"]), "thumbnail_url": URL, "video_url": _HTTPS},
        {
            "author_name": string(LIMITS["video.author_name"]),
            "description": plain(LIMITS["video.description"]),
            "provider_icon_url": URL,
            "provider_name": string(),
            "title_url": _HTTPS,
        },
    ),
}
