"""chat.*: posting, changing, deleting, scheduling and linking to messages."""

import secrets
from collections.abc import Mapping
from typing import Any

from localslack.blocks.elements import with_ids
from localslack.blocks.surfaces import check_message_blocks
from localslack.directory import BOT_USER_ID
from localslack.errors import SlackError
from localslack.limits import (
    MAX_ATTACHMENTS,
    MAX_MARKDOWN,
    MAX_SCHEDULED,
    MAX_SECONDS_AHEAD,
    MAX_TEXT,
    MAX_UPDATE_TEXT,
    SCHEDULE_WINDOW_SECONDS,
)
from localslack.store.messages import StoredMessage
from localslack.store.store import ScheduledMessage
from localslack.text import count_characters, cut_characters
from localslack.web_api.files import with_size
from localslack.web_api.method import Arguments, Method, channel_of, joined_channel, message_of, thread_of
from localslack.workspace import STREAMING, Workspace


def read_body(workspace: Workspace, arguments: Arguments) -> dict[str, Any]:
    """Return the `text`, `blocks`, `attachments` and `metadata` of a call; those not given are left out.

    Raises `SlackError` with Slack's code for whatever is not allowed, except length of text, which depends on
    the method.
    """
    body: dict[str, Any] = {}
    if "text" in arguments:
        body["text"] = arguments.text("text")
    blocks = _list_of(arguments, "blocks", "invalid_blocks_format")
    if blocks is not None:
        check_message_blocks(blocks)
        _check_files(workspace, blocks)
        body["blocks"] = [with_size(workspace, block) for block in with_ids(blocks)]
    attachments = _list_of(arguments, "attachments", "invalid_attachments")
    if attachments is not None:
        if len(attachments) > MAX_ATTACHMENTS:
            raise SlackError("too_many_attachments")
        body["attachments"] = attachments
    if "markdown_text" in arguments:
        body |= _from_markdown(arguments, body)
    metadata = arguments.structure("metadata", SlackError("invalid_metadata_format"))
    if metadata is not None:
        body["metadata"] = _checked_metadata(metadata)
    return body


def _check_files(workspace: Workspace, blocks: list[Any]) -> None:
    """Pictures that name a file of the workspace need one whose upload is complete, and which is a picture."""
    wrong = [
        f"invalid slack file [json-pointer:/blocks/{index}/slack_file]"
        for index, block in enumerate(blocks)
        if block["type"] == "image" and "id" in block.get("slack_file", {}) and not _is_picture(workspace, block)
    ]
    if wrong:
        messages = [f"[ERROR] {message}" for message in wrong]
        raise SlackError("invalid_blocks", errors=wrong, response_metadata={"messages": messages})


def _is_picture(workspace: Workspace, block: Mapping[str, Any]) -> bool:
    file = workspace.store.files.get(block["slack_file"]["id"])
    return file is not None and file.get("completed", False) and str(file["mimetype"]).startswith("image/")


def refuse_empty(body: Mapping[str, Any]) -> None:
    if not (body.get("text") or body.get("blocks") or body.get("attachments")):
        raise SlackError("no_text")


def cut_text(body: dict[str, Any]) -> tuple[str, ...]:
    """Shorten a text that is too long to post; returns the warnings for the answer."""
    if count_characters(body.get("text", "")) <= MAX_TEXT:
        return ()
    body["text"] = cut_characters(body["text"], MAX_TEXT)
    return ("message_truncated",)


def _list_of(arguments: Arguments, name: str, code: str) -> list[Any] | None:
    value = arguments.structure(name, SlackError(code))
    if value is not None and not isinstance(value, list):
        raise SlackError(code)
    return value


def _from_markdown(arguments: Arguments, body: Mapping[str, Any]) -> dict[str, Any]:
    markdown = arguments.text("markdown_text")
    if "text" in body or "blocks" in body:
        raise SlackError("markdown_text_conflict")
    if count_characters(markdown) > MAX_MARKDOWN:
        raise SlackError("msg_too_long")
    return {"text": markdown, "blocks": with_ids([{"type": "markdown", "text": markdown}])}


def _checked_metadata(metadata: Any) -> dict[str, Any]:
    if metadata == {}:
        return {}
    if not isinstance(metadata, dict) or not isinstance(metadata.get("event_type"), str):
        raise SlackError("invalid_metadata_format")
    if not isinstance(metadata.get("event_payload"), dict | None):
        raise SlackError("invalid_metadata_format")
    return metadata


# --- chat.*: posting, changing, deleting and linking to messages ---


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

# --- chat.scheduleMessage and its kin: messages that post themselves later ---


def schedule_message(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    channel = joined_channel(workspace, arguments)
    post_at, now = arguments.integer("post_at", 0), workspace.clock.seconds()
    if post_at <= now:
        raise SlackError("time_in_past")
    if post_at > now + MAX_SECONDS_AHEAD:
        raise SlackError("time_too_far")
    waiting = [one for one in workspace.store.schedule.all() if one.channel == channel.id]
    window = post_at // SCHEDULE_WINDOW_SECONDS
    if sum(one.post_at // SCHEDULE_WINDOW_SECONDS == window for one in waiting) >= MAX_SCHEDULED:
        raise SlackError("restricted_too_many")
    thread_ts = thread_of(workspace, channel, arguments)
    body = read_body(workspace, arguments)
    refuse_empty(body)
    if len(body.get("text", "")) > MAX_TEXT:
        raise SlackError("msg_too_long")
    fields = {"text": "", **body, **workspace.directory.bot_marks()}
    message = ScheduledMessage(
        f"Q{secrets.token_hex(5).upper()}", channel.id, post_at, now, {"fields": fields, "thread_ts": thread_ts}
    )
    workspace.store.schedule.add(message)
    workspace.postbox.wake()
    shown = {**fields, "type": "delayed_message", "subtype": "bot_message"}
    return {"channel": channel.id, "scheduled_message_id": message.id, "post_at": post_at, "message": shown}


def list_scheduled(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    only = channel_of(workspace, arguments).id if "channel" in arguments else None
    oldest, latest = arguments.integer("oldest", 0), arguments.integer("latest", 2**40)
    return {
        "scheduled_messages": [
            {
                "id": one.id,
                "channel_id": one.channel,
                "post_at": one.post_at,
                "date_created": one.created,
                "text": one.body["fields"]["text"],
            }
            for one in workspace.store.schedule.all()
            if only in (None, one.channel) and oldest <= one.post_at <= latest
        ],
        "response_metadata": {"next_cursor": ""},
    }


def delete_scheduled(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    channel = channel_of(workspace, arguments)
    if not workspace.store.schedule.remove(arguments.text("scheduled_message_id"), channel.id):
        raise SlackError("invalid_scheduled_message_id")
    return {}


METHODS = {
    "chat.postMessage": Method(post_message, _WRITE, ("channel",)),
    "chat.postEphemeral": Method(post_ephemeral, _WRITE, ("channel", "user")),
    "chat.update": Method(update, _WRITE, ("channel", "ts")),
    "chat.delete": Method(delete, _WRITE, ("channel", "ts")),
    "chat.getPermalink": Method(get_permalink, (), ("channel", "message_ts")),
    "chat.scheduleMessage": Method(schedule_message, _WRITE, ("channel", "post_at")),
    "chat.scheduledMessages.list": Method(list_scheduled),
    "chat.deleteScheduledMessage": Method(delete_scheduled, _WRITE, ("channel", "scheduled_message_id")),
}
