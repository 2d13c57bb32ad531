"""Actions of a person on agent sessions and reactions: stop, rename, react."""

from typing import Any

from starlette.requests import Request

from localslack import events
from localslack.errors import Refusal
from localslack.limits import MAX_SESSION_TITLE
from localslack.page.requests import channel_of, message_of, person_of, read_body
from localslack.workspace import STOPPED_BY_USER, STREAMING, Workspace


async def stop(workspace: Workspace, request: Request) -> dict[str, Any]:
    """Press Stop: streams end, the app is asked to stop, and it alone ends the session's status."""
    given = await read_body(request)
    me = person_of(workspace, given.get("user"))
    channel = channel_of(workspace, me, given.get("channel"))
    thread_ts = str(given.get("thread_ts"))
    session = workspace.store.sessions.get(channel.id, thread_ts)
    if session is None or session.get("status") != "processing":
        raise Refusal("There is nothing running in this thread.")
    replies = workspace.store.messages.thread(channel.id, thread_ts)
    streaming = [message for message in replies if message.body.get("streaming_state") == STREAMING]
    with workspace.store.database.transaction():
        for message in streaming:
            workspace.conversations.change(message, {"streaming_state": STOPPED_BY_USER})
        event = events.session_stopped(
            me.id, channel, thread_ts, [message.ts for message in streaming], workspace.clock.next()
        )
        workspace.conversations.emit(event, in_channel=channel)
    return {"ok": True}


async def rename(workspace: Workspace, request: Request) -> dict[str, Any]:
    given = await read_body(request)
    me = person_of(workspace, given.get("user"))
    channel = channel_of(workspace, me, given.get("channel"))
    thread_ts, title = str(given.get("thread_ts")), str(given.get("title", "")).strip()
    session = workspace.store.sessions.get(channel.id, thread_ts)
    if session is None:
        raise Refusal("This thread has no session to rename.")
    if not 0 < len(title) <= MAX_SESSION_TITLE:
        raise Refusal(f"A title has 1 to {MAX_SESSION_TITLE} characters.")
    with workspace.store.database.transaction():
        workspace.store.sessions.put(channel.id, thread_ts, title=title)
        workspace.tell_session(channel, thread_ts)
        event = events.session_renamed(me.id, channel, thread_ts, title, session.get("title"), workspace.clock.next())
        workspace.conversations.emit(event, in_channel=channel)
    return {"ok": True}


async def react(workspace: Workspace, request: Request) -> dict[str, Any]:
    """Give a reaction, or take it back when it was given before."""
    given = await read_body(request)
    me = person_of(workspace, given.get("user"))
    message = message_of(workspace, me, channel_of(workspace, me, given.get("channel")), given.get("ts"))
    if message.only_for is not None:
        raise Refusal("Messages that only you can see take no reactions.")
    name = str(given.get("name", "")).strip(":")
    if not name:
        raise Refusal("Please choose an emoji.")
    if not workspace.conversations.react(message, name, me.id):
        workspace.conversations.unreact(message, name, me.id)
    return {"ok": True}
