"""Finding what a call's arguments name, with Slack's error codes for what is not there."""

from localslack.directory import BOT_USER_ID, direct_channel_id
from localslack.errors import SlackError
from localslack.store.channels import Channel
from localslack.store.messages import StoredMessage
from localslack.web_api.arguments import Arguments
from localslack.workspace import Workspace


def channel_of(workspace: Workspace, arguments: Arguments, name: str = "channel") -> Channel:
    """Return the channel an argument names: an id, `#name`, or a person's id for their direct messages."""
    given = arguments.text(name)
    person = workspace.directory.person(given)
    channel = workspace.store.channels.get(direct_channel_id(person) if person else given)
    if channel is None and given:
        channels = workspace.store.channels.of_member(BOT_USER_ID)
        channel = next((c for c in channels if not c.is_im and c.name == given.removeprefix("#")), None)
    if channel is None:
        raise SlackError("channel_not_found")
    return channel


def joined_channel(workspace: Workspace, arguments: Arguments, name: str = "channel") -> Channel:
    channel = channel_of(workspace, arguments, name)
    if not workspace.store.channels.has_member(channel.id, BOT_USER_ID):
        raise SlackError("not_in_channel")
    return channel


def message_of(workspace: Workspace, channel: Channel, ts: str, missing: str = "message_not_found") -> StoredMessage:
    """Return a message that everyone in the channel sees; ephemeral ones cannot be named by an app."""
    message = workspace.store.messages.get(channel.id, ts)
    if message is None or message.only_for is not None:
        raise SlackError(missing)
    return message


def thread_of(workspace: Workspace, channel: Channel, arguments: Arguments) -> str | None:
    """Return the `thread_ts` argument, checked: it must name the parent of a thread, never a reply."""
    thread_ts = arguments.optional_text("thread_ts")
    if thread_ts is None:
        return None
    parent = message_of(workspace, channel, thread_ts, missing="thread_not_found")
    if parent.thread_ts is not None:
        raise SlackError("cannot_reply_to_message")
    return thread_ts
