"""Manifest of the Slack app. ``manifest.yaml`` at the root of the repository is this document."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fateforger.slack.addresses import COMMAND_NAME, PULL_COMMAND, SAVE_AS_TASK, START, TASKS_COMMAND

BOT_EVENTS = (
    "agent_session_stopped",
    "app_home_opened",
    "app_mention",
    "message.channels",
    "message.groups",
    "message.im",
)

BOT_SCOPES: Mapping[str, str] = {
    "app_mentions:read": "to be spoken to in a channel",
    "assistant:write": "to suggest what to say first",
    "channels:history": "to read replies in a plan's thread in a public channel",
    "chat:write": "to post plans, keep them up to date, and say what is going on meanwhile",
    "commands": f"{COMMAND_NAME}, {PULL_COMMAND}, {TASKS_COMMAND} and the shortcuts",
    "files:write": "to show the day as a picture",
    "groups:history": "to read replies in a plan's thread in a private channel",
    "im:history": "to read direct messages to the planner",
    "im:read": "to know direct messages from channels",
    "im:write": "to begin a direct message when a plan starts from App Home",
    "users:read": "to know a person's time zone",
}
"""Purpose of each scope."""


def app_manifest() -> dict[str, Any]:
    """Return the manifest of the app for Socket Mode, as a new document."""
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
            "slash_commands": [
                {
                    "command": COMMAND_NAME,
                    "description": "Plan a day",
                    "usage_hint": "[2026-03-05]",
                    "should_escape": False,
                },
                {
                    "command": PULL_COMMAND,
                    "description": "Do what comes first in your queue, or the task you name",
                    "usage_hint": "[ff-4k7w9c]",
                    "should_escape": False,
                },
                {
                    "command": TASKS_COMMAND,
                    "description": "See your queue of tasks",
                    "should_escape": False,
                },
            ],
        },
        "oauth_config": {"scopes": {"bot": list(BOT_SCOPES)}},
        "settings": {
            "event_subscriptions": {"bot_events": list(BOT_EVENTS)},
            "interactivity": {"is_enabled": True},
            "org_deploy_enabled": False,
            "socket_mode_enabled": True,
            "token_rotation_enabled": False,
        },
    }


def as_yaml(document: Mapping[str, Any]) -> str:
    """Return a document of mappings, lists and scalars as YAML. Strings are quoted as in JSON, which is valid YAML."""
    return "\n".join(_lines(document)) + "\n"


def _lines(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [line for key, inner in value.items() for line in _entry(f"{key}:", inner)]
    return [line for inner in value for line in _item(inner)]


def _entry(head: str, inner: Any) -> list[str]:
    if isinstance(inner, Mapping | list):
        return [head, *(f"  {line}" for line in _lines(inner))]
    return [f"{head} {json.dumps(inner, ensure_ascii=False)}"]


def _item(inner: Any) -> list[str]:
    if not isinstance(inner, Mapping | list):
        return [f"- {json.dumps(inner, ensure_ascii=False)}"]
    first, *rest = _lines(inner)
    return [f"- {first}", *(f"  {line}" for line in rest)]
