"""Composition objects: text, options, confirmation dialogs, files."""

from localslack.blocks.rules import Rule, array, boolean, choice, one_field, one_of, shape, string
from localslack.limits import LIMITS


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
