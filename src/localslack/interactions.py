"""Interaction and command payloads as Slack words them."""

from collections.abc import Mapping
from typing import Any

from localslack.blocks.elements import PlacedElement
from localslack.directory import APP_ID, TEAM_DOMAIN, TEAM_ID
from localslack.manifest import Shortcut
from localslack.people import WorkspaceUser
from localslack.store.channels import Channel
from localslack.store.messages import StoredMessage

Payload = dict[str, Any]

_ECHOED = (
    "text",
    "style",
    "placeholder",
    "timezone",
    "confirm",
    "initial_option",
    "initial_options",
    "initial_date",
    "initial_time",
    "initial_date_time",
    "initial_user",
    "initial_conversation",
    "initial_channel",
)


def common(kind: str, person: WorkspaceUser, trigger_id: str | None) -> Payload:
    """Return the fields that every interaction has."""
    payload: Payload = {
        "type": kind,
        "token": "unused",
        "team": {"id": TEAM_ID, "domain": TEAM_DOMAIN},
        "user": {"id": person.id, "username": person.name, "name": person.name, "team_id": TEAM_ID},
        "api_app_id": APP_ID,
        "enterprise": None,
        "is_enterprise_install": False,
    }
    if trigger_id is not None:
        payload["trigger_id"] = trigger_id
    return payload


def action(placed: PlacedElement, chosen: Mapping[str, Any], action_ts: str) -> Payload:
    """One entry of `actions`: the element, what was chosen, and when."""
    return {
        "type": placed.element["type"],
        "action_id": placed.action_id,
        "block_id": placed.block_id,
        "action_ts": action_ts,
        **{field: placed.element[field] for field in _ECHOED if field in placed.element},
        **chosen,
    }


def on_message(channel: Channel, message: StoredMessage, values: Mapping[str, Any]) -> Payload:
    """Return where an action on a message happened, without the message itself if it is ephemeral, as in Slack."""
    container: Payload = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": channel.id,
        "is_ephemeral": message.only_for is not None,
    }
    if message.thread_ts is not None:
        container["thread_ts"] = message.thread_ts
    payload: Payload = {
        "container": container,
        "channel": {"id": channel.id, "name": "directmessage" if channel.is_im else channel.name},
        "state": {"values": values},
    }
    if message.only_for is None:
        payload["message"] = message.body
    return payload


def on_view(view: Mapping[str, Any]) -> Payload:
    return {"container": {"type": "view", "view_id": view["id"]}, "view": view}


def message_shortcut(shortcut: Shortcut, channel: Channel, message: StoredMessage, action_ts: str) -> Payload:
    return {
        "callback_id": shortcut.callback_id,
        "action_ts": action_ts,
        "message_ts": message.ts,
        "message": message.body,
        "channel": {"id": channel.id, "name": "directmessage" if channel.is_im else channel.name},
    }


def slash_command(
    person: WorkspaceUser, channel: Channel, command: str, text: str, trigger_id: str, response_url: str
) -> Payload:
    return {
        "token": "unused",
        "team_id": TEAM_ID,
        "team_domain": TEAM_DOMAIN,
        "channel_id": channel.id,
        "channel_name": "directmessage" if channel.is_im else channel.name,
        "user_id": person.id,
        "user_name": person.name,
        "command": command,
        "text": text,
        "api_app_id": APP_ID,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": trigger_id,
    }
