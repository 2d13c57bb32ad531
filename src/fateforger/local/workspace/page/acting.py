"""What a person presses: elements of blocks, shortcuts, the Home tab, and options looked up while typing."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from fateforger.local.workspace import events, interactions
from fateforger.local.workspace.blocks.elements import ACTION_FIELD
from fateforger.local.workspace.directory import direct_channel_id
from fateforger.local.workspace.errors import Refusal
from fateforger.local.workspace.page.asking import asked, channel_of, message_of, person_of
from fateforger.local.workspace.page.surface import payload_part, placed_in, surface_of
from fateforger.local.workspace.store.response_urls import ResponseTarget
from fateforger.local.workspace.workspace import Workspace


async def act(workspace: Workspace, request: Request) -> dict[str, Any]:
    given = await asked(request)
    me = person_of(workspace, given.get("user"))
    surface = surface_of(workspace, me, given.get("surface"))
    action: Mapping[str, Any] = given.get("action") or {}
    placed = placed_in(surface, action)
    chosen = action.get(ACTION_FIELD[str(placed.element["type"])])
    if placed.element["type"] == "button":
        chosen = placed.element.get("value")
    payload = {
        **interactions.common("block_actions", me, workspace.triggers.issue(me.id)),
        **payload_part(workspace, me, surface, given.get("state") or {}),
        "actions": [interactions.action(placed, chosen, workspace.clock.next())],
    }
    await workspace.interactivity.ask("interactive", payload)
    return {"ok": True}


async def suggest(workspace: Workspace, request: Request) -> dict[str, Any]:
    given = await asked(request)
    me = person_of(workspace, given.get("user"))
    surface = surface_of(workspace, me, given.get("surface"))
    placed = placed_in(surface, given)
    payload = {
        **interactions.common("block_suggestion", me, None),
        **payload_part(workspace, me, surface, given.get("state") or {}),
        "action_id": placed.action_id,
        "block_id": placed.block_id,
        "value": str(given.get("value", "")),
    }
    answer = await workspace.interactivity.ask("interactive", payload)
    groups = answer.get("option_groups") or []
    options = answer.get("options") or [option for group in groups for option in group.get("options", [])]
    return {"ok": True, "options": options, "option_groups": groups}


async def use_shortcut(workspace: Workspace, request: Request) -> dict[str, Any]:
    given = await asked(request)
    me = person_of(workspace, given.get("user"))
    shortcuts = {shortcut.callback_id: shortcut for shortcut in workspace.directory.app.shortcuts}
    shortcut = shortcuts.get(str(given.get("callback_id")))
    if shortcut is None:
        raise Refusal("That shortcut isn't there any more. Please reload the page.")
    trigger = workspace.triggers.issue(me.id)
    action_ts = workspace.clock.next()
    if shortcut.type == "global":
        payload = interactions.common("shortcut", me, trigger)
        payload |= {"callback_id": shortcut.callback_id, "action_ts": action_ts}
    else:
        channel = channel_of(workspace, me, given.get("channel"))
        message = message_of(workspace, me, channel, given.get("ts"))
        target = ResponseTarget(channel.id, me.id, thread_ts=message.thread_ts)
        payload = interactions.common("message_action", me, trigger)
        payload |= interactions.message_shortcut(shortcut, channel, message, action_ts)
        payload["response_url"] = workspace.response_url(target)
    await workspace.interactivity.ask("interactive", payload)
    return {"ok": True}


async def open_home(workspace: Workspace, request: Request) -> dict[str, Any]:
    given = await asked(request)
    me = person_of(workspace, given.get("user"))
    tab = "messages" if given.get("tab") == "messages" else "home"
    home = workspace.store.views.home(me.id)
    event = events.home_opened(me.id, direct_channel_id(me), tab, home, workspace.clock.next())
    workspace.conversations.emit(event)
    return {"ok": True}
