"""Input of a person: messages, edits, deletions, slash commands, reactions, and actions on agent sessions."""

from typing import Any

from starlette.requests import Request

from localslack import events, interactions
from localslack.errors import Refusal, SlackError
from localslack.limits import MAX_SESSION_TITLE, MAX_TYPED
from localslack.page.requests import channel_of, message_of, person_of, read_body
from localslack.respond import answer_with
from localslack.store.channels import Channel
from localslack.store.store import ResponseTarget
from localslack.workspace import STOPPED_BY_USER, STREAMING, Workspace


async def post(workspace: Workspace, request: Request) -> dict[str, Any]:
    given = await read_body(request)
    me = person_of(workspace, given.get("user"))
    channel = channel_of(workspace, me, given.get("channel"))
    typed = _read_text(given)
    thread_ts = _thread(workspace, channel, given.get("thread_ts"))
    message = workspace.conversations.say(me.id, channel, typed, thread_ts)
    return {"ok": True, "message": workspace.conversations.for_reader(message)}


async def edit(workspace: Workspace, request: Request) -> dict[str, Any]:
    given = await read_body(request)
    me = person_of(workspace, given.get("user"))
    message = message_of(workspace, me, channel_of(workspace, me, given.get("channel")), given.get("ts"))
    if message.body.get("user") != me.id:
        raise Refusal("You can only edit your own messages.")
    text, blocks = workspace.conversations.compose(_read_text(given))
    edited = {"user": me.id, "ts": workspace.clock.next()}
    changed = workspace.conversations.change(message, {"text": text, "blocks": blocks, "edited": edited})
    return {"ok": True, "message": workspace.conversations.for_reader(changed)}


async def delete(workspace: Workspace, request: Request) -> dict[str, Any]:
    """Delete an own message, or dismiss one that only this person sees."""
    given = await read_body(request)
    me = person_of(workspace, given.get("user"))
    message = message_of(workspace, me, channel_of(workspace, me, given.get("channel")), given.get("ts"))
    if message.only_for is None and message.body.get("user") != me.id:
        raise Refusal("You can only delete your own messages.")
    workspace.conversations.delete(message)
    return {"ok": True}


async def slash(workspace: Workspace, request: Request) -> dict[str, Any]:
    given = await read_body(request)
    me = person_of(workspace, given.get("user"))
    channel = channel_of(workspace, me, given.get("channel"))
    command = str(given.get("command", "")).strip()
    if command not in {known.command for known in workspace.directory.app.commands}:
        raise Refusal(f"{command or 'That'} is not a command here.")
    if given.get("thread_ts"):
        raise Refusal(f"{command} doesn't work in threads. Please use it in the channel itself.")
    target = ResponseTarget(channel.id, me.id)
    payload = interactions.slash_command(
        me,
        channel,
        command,
        str(given.get("text", "")).strip(),
        workspace.triggers.issue(me.id),
        workspace.response_url(target),
    )
    answer = await workspace.interactivity.ask("slash_commands", payload)
    try:
        answer_with(workspace, target, answer)
    except SlackError as error:
        raise Refusal(f"{command} answered with something that cannot be shown ({error.code}).") from error
    return {"ok": True}


def _read_text(given: dict[str, Any]) -> str:
    typed = str(given.get("text", "")).strip()
    if not typed:
        raise Refusal("Please type something first.")
    if len(typed) > MAX_TYPED:
        raise Refusal(f"That is longer than {MAX_TYPED:,} characters. Please shorten it or split it up.")
    return typed


def _thread(workspace: Workspace, channel: Channel, thread_ts: object) -> str | None:
    if not thread_ts:
        return None
    parent = workspace.store.messages.get(channel.id, str(thread_ts))
    if parent is None or parent.thread_ts is not None or parent.only_for is not None:
        raise Refusal("That thread is no longer there.")
    return parent.ts


# --- Actions of a person on agent sessions and reactions: stop, rename, react ---


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
