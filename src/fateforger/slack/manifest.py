"""The manifest of the Slack app: what people may do, which events arrive, and what the app may do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fateforger.slack.ids import SAVE_AS_TASK, START
from fateforger.text import PULL, REFINE, TASKS, TIMEBOX, WEEK, command_name

EVENTS_PATH = "/slack/events"
"""Path of Slack's requests in HTTP mode: events, commands, interactivity and options at one address."""

BOT_EVENTS = (
    "agent_session_stopped",
    "agent_session_title_changed",
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "message.channels",
    "message.groups",
    "message.im",
    "tokens_revoked",
    "user_change",
)

BOT_SCOPES: Mapping[str, str] = {
    "app_mentions:read": "to be spoken to in a channel",
    "assistant:write": "to be an agent, with suggestions of what to say first",
    "chat:write": "to post plans, keep them up to date, say what is going on meanwhile, and name their threads",
    "commands": "to offer its commands and shortcuts",
    "im:history": "to read direct messages to the planner",
    "im:write": "to begin a direct message when a plan starts from App Home",
    "users:read": "to know a person's time zone, and whether they are a guest",
}
"""Purpose of each scope that the app cannot do without."""

OPTIONAL_SCOPES: Mapping[str, str] = {
    "channels:history": "to read replies to the planner in a public channel that do not mention it",
    "files:write": "to show the day as a picture",
    "groups:history": "to read replies to the planner in a private channel that do not mention it",
    "users:read.email": "to find the calendar that an administrator has opened for a person's address",
}
"""Purpose of each scope that may be refused when the app is installed; only this is then missing."""

_COMMANDS = (
    (TIMEBOX, "Plan a day", "[2026-03-05 | tomorrow from 8]"),
    (PULL, "Do what comes first in your queue, or the task you name", "[ff-4k7w9c]"),
    (TASKS, "See your queue of tasks", None),
    (WEEK, "Plan the next five working days, the rest of this week, or the next week", "[this | next]"),
    (REFINE, "Go through your tasks and make each clear enough to be planned", None),
)
"""Each command, its description, and a hint of what may follow it."""


def app_manifest(url: str | None = None) -> dict[str, Any]:
    """Return the manifest of the app, as a new document.

    With the public ``url`` of this program it is for HTTP mode, otherwise for Socket Mode.
    """
    requests = None if url is None else url.rstrip("/") + EVENTS_PATH
    at = {} if requests is None else {"request_url": requests}
    options = {} if requests is None else {"message_menu_options_url": requests}
    return {
        "_metadata": {"major_version": 1, "minor_version": 1},
        "display_information": {
            "name": "FateForger",
            "description": "Plan your day in a thread, put it on your calendar, take it back.",
            "background_color": "#1f2937",
        },
        "features": {
            "agent_view": {"agent_description": "Plans your day with you and puts it on your calendar."},
            "app_home": {
                "home_tab_enabled": True,
                "messages_tab_enabled": True,
                "messages_tab_read_only_enabled": False,
            },
            "bot_user": {"display_name": "fateforger", "always_online": True},
            "shortcuts": [
                {
                    "type": "global",
                    "name": "Plan my day",
                    "callback_id": START,
                    "description": "Start planning in your direct messages",
                },
                {
                    "type": "message",
                    "name": "Save as task",
                    "callback_id": SAVE_AS_TASK,
                    "description": "Put what this message asks for into your queue",
                },
            ],
            "slash_commands": [_describe_command(*command, url=requests) for command in _COMMANDS],
        },
        "oauth_config": {"scopes": {"bot": list(BOT_SCOPES), "bot_optional": list(OPTIONAL_SCOPES)}},
        "settings": {
            "event_subscriptions": {**at, "bot_events": list(BOT_EVENTS)},
            "interactivity": {"is_enabled": True, **at, **options},
            "org_deploy_enabled": True,
            "socket_mode_enabled": requests is None,
            "token_rotation_enabled": False,
        },
    }


def _describe_command(command: str, description: str, hint: str | None, *, url: str | None) -> dict[str, Any]:
    return {
        "command": command_name(command),
        **({} if url is None else {"url": url}),
        "description": description,
        **({} if hint is None else {"usage_hint": hint}),
        "should_escape": False,
    }
