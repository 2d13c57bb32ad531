"""reactions.*: emoji on messages."""

import re
from collections.abc import Mapping
from typing import Any

from localslack.directory import BOT_USER_ID
from localslack.errors import SlackError
from localslack.store.messages import StoredMessage
from localslack.web_api.method import Arguments, Method, channel_of, message_of
from localslack.workspace import Workspace

_NAME = re.compile(r"[a-z0-9_+'-]+(::skin-tone-[2-6])?")


def add(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    if not workspace.conversations.react(_find_message(workspace, arguments), _emoji(arguments), BOT_USER_ID):
        raise SlackError("already_reacted")
    return {}


def remove(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    if not workspace.conversations.unreact(_find_message(workspace, arguments), _emoji(arguments), BOT_USER_ID):
        raise SlackError("no_reaction")
    return {}


def get(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    message = _find_message(workspace, arguments)
    return {
        "type": "message",
        "channel": message.channel,
        "message": workspace.conversations.for_reader(message),
    }


def _find_message(workspace: Workspace, arguments: Arguments) -> StoredMessage:
    if "channel" not in arguments or "timestamp" not in arguments:
        raise SlackError("no_item_specified")
    return message_of(workspace, channel_of(workspace, arguments), arguments.text("timestamp"))


def _emoji(arguments: Arguments) -> str:
    name = arguments.text("name").strip(":")
    if not _NAME.fullmatch(name):
        raise SlackError("invalid_name")
    return name


METHODS = {
    "reactions.add": Method(add, ("reactions:write",), ("name",)),
    "reactions.remove": Method(remove, ("reactions:write",), ("name",)),
    "reactions.get": Method(get, ("reactions:read",)),
}
