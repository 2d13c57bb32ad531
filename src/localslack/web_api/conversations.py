"""conversations.*: channels, members, and what was said in them."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

from localslack.directory import BOT_USER_ID, TEAM_ID, direct_channel_id
from localslack.errors import SlackError
from localslack.limits import MAX_PAGE
from localslack.store.channels import Channel
from localslack.store.messages import StoredMessage
from localslack.web_api.method import Arguments, Method, channel_of, joined_channel
from localslack.workspace import Workspace

DEFAULT_PAGE = 100


def open_channel(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    if "channel" in arguments:
        return {"channel": _describe_channel(workspace, channel_of(workspace, arguments))}
    users = [user for user in arguments.text("users").split(",") if user]
    if not users:
        raise SlackError("users_list_not_supplied")
    if len(users) > 1:
        raise SlackError("not_enough_users")
    person = workspace.directory.person(users[0])
    channel = None if person is None else workspace.store.channels.get(direct_channel_id(person))
    if channel is None:
        raise SlackError("user_not_found")
    described = _describe_channel(workspace, channel) if arguments.flag("return_im") else {"id": channel.id}
    return {"no_op": True, "already_open": True, "channel": described}


def info(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    return {"channel": _describe_channel(workspace, channel_of(workspace, arguments))}


def list_channels(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    kinds = {kind.strip() for kind in arguments.text("types", "public_channel").split(",")}
    channels = [c for c in workspace.store.channels.of_member(BOT_USER_ID) if _kind(c) in kinds]
    return {
        "channels": [_describe_channel(workspace, channel) for channel in channels],
        "response_metadata": {"next_cursor": ""},
    }


def members(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    channel = channel_of(workspace, arguments)
    return {
        "members": workspace.store.channels.members(channel.id),
        "response_metadata": {"next_cursor": ""},
    }


def history(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    """Newest first."""
    channel = joined_channel(workspace, arguments)
    messages = [m for m in workspace.store.messages.top_level(channel.id) if m.only_for is None]
    return _page(workspace, arguments, list(reversed(_between(messages, arguments))))


def replies(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    """Oldest first, beginning with the parent."""
    channel = joined_channel(workspace, arguments)
    ts = arguments.text("ts")
    named = workspace.store.messages.get(channel.id, ts)
    if named is None or named.only_for is not None:
        raise SlackError("thread_not_found")
    messages = [m for m in workspace.store.messages.thread(channel.id, named.root_ts) if m.only_for is None]
    parent = [m for m in messages if m.thread_ts is None]
    answers = [m for m in messages if m.thread_ts is not None]
    return _page(workspace, arguments, [*parent, *_between(answers, arguments)])


def _between(messages: Sequence[StoredMessage], arguments: Arguments) -> list[StoredMessage]:
    oldest, latest = arguments.text("oldest", "0"), arguments.text("latest") or "9999999999.999999"
    inclusive = arguments.flag("inclusive")
    return [m for m in messages if oldest < m.ts < latest or (inclusive and m.ts in (oldest, latest))]


def _page(workspace: Workspace, arguments: Arguments, messages: list[StoredMessage]) -> dict[str, Any]:
    limit = min(max(arguments.integer("limit", DEFAULT_PAGE), 1), MAX_PAGE)
    start = _cursor(arguments)
    shown = workspace.conversations.for_readers(messages[start : start + limit])
    if not arguments.flag("include_all_metadata"):
        shown = [{key: value for key, value in message.items() if key != "metadata"} for message in shown]
    more = start + limit < len(messages)
    cursor = base64.b64encode(f"next:{start + limit}".encode()).decode() if more else ""
    return {"messages": shown, "has_more": more, "response_metadata": {"next_cursor": cursor}}


def _cursor(arguments: Arguments) -> int:
    cursor = arguments.text("cursor")
    if not cursor:
        return 0
    try:
        return int(base64.b64decode(cursor).decode().removeprefix("next:"))
    except ValueError:
        raise SlackError("invalid_cursor") from None


def _kind(channel: Channel) -> str:
    return "im" if channel.is_im else "private_channel" if channel.is_private else "public_channel"


def _describe_channel(workspace: Workspace, channel: Channel) -> dict[str, Any]:
    described: dict[str, Any] = {
        "id": channel.id,
        "created": channel.created,
        "is_im": channel.is_im,
        "is_archived": False,
        "is_org_shared": False,
        "context_team_id": TEAM_ID,
        "updated": channel.created * 1000,
    }
    if channel.is_im:
        return {**described, "user": channel.person, "is_user_deleted": False, "is_open": True}
    return {
        **described,
        "name": channel.name,
        "name_normalized": channel.name,
        "is_channel": True,
        "is_group": False,
        "is_mpim": False,
        "is_private": channel.is_private,
        "is_general": not channel.is_private,
        "is_member": workspace.store.channels.has_member(channel.id, BOT_USER_ID),
        "num_members": len(workspace.store.channels.members(channel.id)),
        "topic": {"value": "", "creator": "", "last_set": 0},
        "purpose": {"value": "", "creator": "", "last_set": 0},
    }


_READ = ("channels:read", "groups:read", "im:read", "mpim:read")
_HISTORY = ("channels:history", "groups:history", "im:history", "mpim:history")

METHODS = {
    "conversations.open": Method(open_channel, ("im:write", "mpim:write")),
    "conversations.info": Method(info, _READ, ("channel",)),
    "conversations.list": Method(list_channels, _READ),
    "conversations.members": Method(members, _READ, ("channel",)),
    "conversations.history": Method(history, _HISTORY, ("channel",)),
    "conversations.replies": Method(replies, _HISTORY, ("channel", "ts")),
}
