"""Input of a person: messages, edits, deletions, slash commands, reactions, and actions on agent sessions."""

from collections.abc import Mapping
from typing import Any

from localslack import events, interactions
from localslack.errors import Refusal, SlackError
from localslack.limits import MAX_SESSION_TITLE, MAX_TYPED
from localslack.page.requests import PageRequest
from localslack.respond import answer_with
from localslack.store.channels import Channel
from localslack.store.store import ResponseTarget
from localslack.workspace import STOPPED_BY_USER, STREAMING, Workspace


async def post(page: PageRequest) -> dict[str, Any]:
    channel = page.channel
    typed = _read_text(page.given)
    thread_ts = _thread(page.workspace, channel, page.given.get("thread_ts"))
    message = page.workspace.conversations.say(page.me.id, channel, typed, thread_ts)
    return {"ok": True, "message": page.workspace.conversations.for_reader(message)}


async def edit(page: PageRequest) -> dict[str, Any]:
    message = page.message
    if message.body.get("user") != page.me.id:
        raise Refusal("You can only edit your own messages.")
    text, blocks = page.workspace.conversations.compose(_read_text(page.given))
    edited = {"user": page.me.id, "ts": page.workspace.clock.next()}
    changed = page.workspace.conversations.change(message, {"text": text, "blocks": blocks, "edited": edited})
    return {"ok": True, "message": page.workspace.conversations.for_reader(changed)}


async def delete(page: PageRequest) -> dict[str, Any]:
    """Delete an own message, or dismiss one that only this person sees."""
    message = page.message
    if message.only_for is None and message.body.get("user") != page.me.id:
        raise Refusal("You can only delete your own messages.")
    page.workspace.conversations.delete(message)
    return {"ok": True}


async def slash(page: PageRequest) -> dict[str, Any]:
    channel = page.channel
    command = str(page.given.get("command", "")).strip()
    if command not in {known.command for known in page.workspace.directory.app.commands}:
        raise Refusal(f"{command or 'That'} is not a command here.")
    if page.given.get("thread_ts"):
        raise Refusal(f"{command} doesn't work in threads. Please use it in the channel itself.")
    target = ResponseTarget(channel.id, page.me.id)
    payload = interactions.slash_command(
        page.me,
        channel,
        command,
        str(page.given.get("text", "")).strip(),
        page.workspace.triggers.issue(page.me.id),
        page.workspace.response_url(target),
    )
    answer = await page.workspace.interactivity.ask("slash_commands", payload)
    try:
        answer_with(page.workspace, target, answer)
    except SlackError as error:
        raise Refusal(f"{command} answered with something that cannot be shown ({error.code}).") from error
    return {"ok": True}


def _read_text(given: Mapping[str, Any]) -> str:
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


async def stop(page: PageRequest) -> dict[str, Any]:
    """Press Stop: streams end, the app is asked to stop, and it alone ends the session's status."""
    channel = page.channel
    thread_ts = str(page.given.get("thread_ts"))
    session = page.workspace.store.sessions.get(channel.id, thread_ts)
    if session is None or session.get("status") != "processing":
        raise Refusal("There is nothing running in this thread.")
    replies = page.workspace.store.messages.thread(channel.id, thread_ts)
    streaming = [message for message in replies if message.body.get("streaming_state") == STREAMING]
    with page.workspace.store.database.transaction():
        for message in streaming:
            page.workspace.conversations.change(message, {"streaming_state": STOPPED_BY_USER})
        event = events.session_stopped(
            page.me.id, channel, thread_ts, [message.ts for message in streaming], page.workspace.clock.next()
        )
        page.workspace.conversations.emit(event, in_channel=channel)
    return {"ok": True}


async def rename(page: PageRequest) -> dict[str, Any]:
    channel = page.channel
    thread_ts, title = str(page.given.get("thread_ts")), str(page.given.get("title", "")).strip()
    session = page.workspace.store.sessions.get(channel.id, thread_ts)
    if session is None:
        raise Refusal("This thread has no session to rename.")
    if not 0 < len(title) <= MAX_SESSION_TITLE:
        raise Refusal(f"A title has 1 to {MAX_SESSION_TITLE} characters.")
    with page.workspace.store.database.transaction():
        page.workspace.store.sessions.put(channel.id, thread_ts, title=title)
        page.workspace.tell_session(channel, thread_ts)
        event = events.session_renamed(
            page.me.id, channel, thread_ts, title, session.get("title"), page.workspace.clock.next()
        )
        page.workspace.conversations.emit(event, in_channel=channel)
    return {"ok": True}


async def react(page: PageRequest) -> dict[str, Any]:
    """Give a reaction, or take it back when it was given before."""
    message = page.message
    if message.only_for is not None:
        raise Refusal("Messages that only you can see take no reactions.")
    name = str(page.given.get("name", "")).strip(":")
    if not name:
        raise Refusal("Please choose an emoji.")
    if not page.workspace.conversations.react(message, name, page.me.id):
        page.workspace.conversations.unreact(message, name, page.me.id)
    return {"ok": True}
