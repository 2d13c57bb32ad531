"""chat.*: posting, changing, deleting and linking to messages."""

from collections.abc import Mapping
from typing import Any

from localslack.directory import BOT_USER_ID
from localslack.errors import SlackError
from localslack.limits import MAX_UPDATE_TEXT
from localslack.store.messages import StoredMessage
from localslack.web_api.arguments import Arguments
from localslack.web_api.lookups import channel_of, joined_channel, message_of, thread_of
from localslack.web_api.message_body import cut_text, read_body, refuse_empty
from localslack.web_api.method import Method
from localslack.workspace import STREAMING, Workspace


def post_message(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    channel = joined_channel(workspace, arguments)
    thread_ts = thread_of(workspace, channel, arguments)
    body = read_body(workspace, arguments)
    refuse_empty(body)
    warnings = cut_text(body)
    fields = {"text": "", **body, **workspace.directory.bot_marks()}
    if thread_ts is not None and arguments.flag("reply_broadcast"):
        fields["subtype"] = "thread_broadcast"
    message = workspace.conversations.post(channel, fields, thread_ts)
    workspace.clear_status(channel, message)
    answer: dict[str, Any] = {"channel": channel.id, "ts": message.ts, "message": message.body}
    if warnings:
        answer |= {"warning": ",".join(warnings), "response_metadata": {"warnings": list(warnings)}}
    return answer


def post_ephemeral(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    channel = joined_channel(workspace, arguments)
    user = arguments.text("user")
    if not workspace.store.channels.has_member(channel.id, user):
        raise SlackError("user_not_in_channel")
    thread_ts = thread_of(workspace, channel, arguments)
    body = read_body(workspace, arguments)
    refuse_empty(body)
    cut_text(body)
    message = workspace.conversations.whisper(
        channel, user, {"text": "", **body, **workspace.directory.bot_marks()}, thread_ts
    )
    return {"message_ts": message.ts}


def update(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    channel = channel_of(workspace, arguments)
    before = message_of(workspace, channel, arguments.text("ts"))
    if before.body.get("user") != BOT_USER_ID:
        raise SlackError("cant_update_message")
    if before.body.get("streaming_state") == STREAMING:
        raise SlackError("streaming_state_conflict")
    body = read_body(workspace, arguments)
    if len(body.get("text", "")) > MAX_UPDATE_TEXT:
        raise SlackError("msg_too_long")
    broadcast = arguments.flag("reply_broadcast")
    if broadcast and body:
        raise SlackError("no_dual_broadcast_content_update")
    if broadcast and before.thread_ts is None:
        raise SlackError("cant_broadcast_message")
    message = workspace.conversations.change(before, _changes(workspace, before, body, broadcast=broadcast))
    return {
        "channel": channel.id,
        "ts": message.ts,
        "text": message.body["text"],
        "message": message.body,
    }


def _changes(
    workspace: Workspace, before: StoredMessage, body: Mapping[str, Any], *, broadcast: bool
) -> dict[str, Any]:
    """Fields left out are kept, and empty ones are removed; a message must keep something to show."""
    if broadcast:
        return {"subtype": "thread_broadcast"}
    if not body:
        raise SlackError("no_text")
    refuse_empty({**before.body, **body})
    changes: dict[str, Any] = {field: None if field != "text" and not value else value for field, value in body.items()}
    if body.keys() - {"metadata"}:
        changes["edited"] = {"user": BOT_USER_ID, "ts": workspace.clock.next()}
    return changes


def delete(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    channel = channel_of(workspace, arguments)
    message = message_of(workspace, channel, arguments.text("ts"))
    if message.body.get("user") != BOT_USER_ID:
        raise SlackError("cant_delete_message")
    workspace.conversations.delete(message)
    return {"channel": channel.id, "ts": message.ts}


def get_permalink(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    channel = channel_of(workspace, arguments)
    message = message_of(workspace, channel, arguments.text("message_ts"))
    link = f"{workspace.config.public_url}/archives/{channel.id}/p{message.ts.replace('.', '')}"
    if message.thread_ts is not None:
        link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
    return {"channel": channel.id, "permalink": link}


_WRITE = ("chat:write",)

METHODS = {
    "chat.postMessage": Method(post_message, _WRITE, ("channel",)),
    "chat.postEphemeral": Method(post_ephemeral, _WRITE, ("channel", "user")),
    "chat.update": Method(update, _WRITE, ("channel", "ts")),
    "chat.delete": Method(delete, _WRITE, ("channel", "ts")),
    "chat.getPermalink": Method(get_permalink, (), ("channel", "message_ts")),
}
