"""Data that the page reads: the workspace, messages, Home and open modals."""

from dataclasses import asdict
from typing import Any

from localslack.directory import APP_ID, BOT_USER_ID, TEAM_ID, direct_channel_id
from localslack.page.requests import PageRequest
from localslack.people import WorkspaceUser
from localslack.workspace import Workspace


async def state(page: PageRequest) -> dict[str, Any]:
    """All that a page needs to begin; somebody it does not know (any more) is shown as the first person."""
    workspace = page.workspace
    me = workspace.directory.person(str(page.given.get("user", ""))) or workspace.directory.people[0]
    app = workspace.directory.app
    ids = [*(person.id for person in workspace.directory.people), BOT_USER_ID]
    return {
        "team": {"id": TEAM_ID, "name": workspace.directory.team_name},
        "me": _user(workspace, me.id),
        "users": [_user(workspace, user) for user in ids],
        "app": {
            "id": APP_ID,
            "name": app.name,
            "bot_user_id": BOT_USER_ID,
            "home_tab_enabled": app.home_tab_enabled,
            "is_agent": app.is_agent,
            "commands": [asdict(command) for command in app.commands],
            "shortcuts": [asdict(shortcut) for shortcut in app.shortcuts],
            "suggested_prompts": _prompts(workspace, me),
        },
        "channels": [
            {
                "id": channel.id,
                "name": channel.name,
                "is_im": channel.is_im,
                "is_private": channel.is_private,
                "unread": workspace.store.channels.unread(channel.id, me.id),
            }
            for channel in workspace.store.channels.of_member(me.id)
        ],
        "pane_url": workspace.config.pane_url if me.id == workspace.config.users[0].id else None,
        "connected": workspace.transport.connected,
    }


async def messages(page: PageRequest) -> dict[str, Any]:
    """Return a channel's top level (which then counts as read), or one thread with what its agent session says."""
    channel = page.channel
    thread_ts = page.given.get("thread_ts")
    if thread_ts:
        found = page.workspace.store.messages.thread(channel.id, thread_ts)
    else:
        found = page.workspace.store.messages.top_level(channel.id)
        page.workspace.store.channels.mark_read(channel.id, page.me.id)
    visible = [message for message in found if message.only_for in (None, page.me.id)]
    answer: dict[str, Any] = {"messages": page.workspace.conversations.for_readers(visible)}
    if thread_ts:
        answer["session"] = page.workspace.session(channel, thread_ts)
    return answer


async def home(page: PageRequest) -> dict[str, Any]:
    return {"view": page.workspace.store.views.home(page.me.id)}


async def modals(page: PageRequest) -> dict[str, Any]:
    return {"stack": page.workspace.modals.stack(page.me.id)}


def _prompts(workspace: Workspace, me: WorkspaceUser) -> list[dict[str, Any]]:
    """Return the prompts that the app suggests in this person's direct messages; by default those of its manifest."""
    session = workspace.store.sessions.get(direct_channel_id(me), "") or {}
    said: list[dict[str, Any]] | None = session.get("prompts")
    return [asdict(prompt) for prompt in workspace.directory.app.suggested_prompts] if said is None else said


def _user(workspace: Workspace, user_id: str) -> dict[str, Any]:
    user = workspace.directory.user_object(user_id, workspace.clock.now()) or {}
    return {key: user[key] for key in ("id", "name", "real_name", "tz", "is_bot", "color")}
