"""chat.scheduleMessage and its kin: messages that post themselves later."""

import secrets
from collections.abc import Mapping
from typing import Any

from localslack.errors import SlackError
from localslack.limits import MAX_SCHEDULED, MAX_SECONDS_AHEAD, MAX_TEXT, SCHEDULE_WINDOW_SECONDS
from localslack.store.schedule import ScheduledMessage
from localslack.web_api.arguments import Arguments
from localslack.web_api.lookups import channel_of, joined_channel, thread_of
from localslack.web_api.message_body import read_body, refuse_empty
from localslack.web_api.method import Method
from localslack.workspace import Workspace


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


_WRITE = ("chat:write",)

METHODS = {
    "chat.scheduleMessage": Method(schedule_message, _WRITE, ("channel", "post_at")),
    "chat.scheduledMessages.list": Method(list_scheduled),
    "chat.deleteScheduledMessage": Method(delete_scheduled, _WRITE, ("channel", "scheduled_message_id")),
}
