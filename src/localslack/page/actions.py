"""Actions of a person: elements of blocks, shortcuts, the Home tab, and options looked up while typing."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from localslack import events, interactions
from localslack.blocks.elements import ACTION_FIELD
from localslack.directory import direct_channel_id
from localslack.errors import Refusal
from localslack.form_state import accept_value
from localslack.page.requests import channel_of, message_of, part, person_of, read_body
from localslack.page.surface import glimpse, placed_in, surface_of, where
from localslack.store.response_urls import ResponseTarget
from localslack.workspace import Workspace

_NOT_OFFERED = "That choice is no longer offered. Please choose again."


async def act(workspace: Workspace, request: Request) -> dict[str, Any]:
    given = await read_body(request)
    me = person_of(workspace, given.get("user"))
    surface = surface_of(workspace, me, given.get("surface"))
    action = part(given, "action")
    placed = placed_in(workspace, surface, action)
    payload = {
        **interactions.common("block_actions", me, workspace.triggers.issue(me.id)),
        **where(workspace, me, surface, part(given, "state")),
        "actions": [interactions.action(placed, _chosen(placed.element, action), workspace.clock.next())],
    }
    await workspace.interactivity.ask("interactive", payload)
    return {"ok": True}


def _chosen(element: Mapping[str, Any], action: Mapping[str, Any]) -> dict[str, Any]:
    """Return the action's fields for the choice; raises `Refusal` for one that the element does not offer."""
    kind = str(element["type"])
    field = ACTION_FIELD[kind]
    given = action.get(field)
    if kind in {"button", "icon_button", "workflow_button"}:
        return {"value": element["value"]} if "value" in element else {}
    if kind == "feedback_buttons":
        votes = (element["positive_button"], element["negative_button"])
        vote = next((vote for vote in votes if vote["value"] == given), None)
        if vote is None:
            raise Refusal(_NOT_OFFERED)
        return {"value": vote["value"], "text": vote["text"]}
    if given is None:
        return {field: [] if field.endswith("s") else None}
    value = accept_value(element, field, given)
    if value is None:
        raise Refusal(_NOT_OFFERED)
    return {field: value}


async def suggest(workspace: Workspace, request: Request) -> dict[str, Any]:
    given = await read_body(request)
    me = person_of(workspace, given.get("user"))
    surface = surface_of(workspace, me, given.get("surface"))
    placed = placed_in(workspace, surface, given)
    payload = {
        **interactions.common("block_suggestion", me, None),
        **glimpse(surface, part(given, "state")),
        "action_id": placed.action_id,
        "block_id": placed.block_id,
        "value": str(given.get("value", "")),
    }
    answer = await workspace.interactivity.ask("interactive", payload)
    groups = answer.get("option_groups") or []
    options = answer.get("options") or [option for group in groups for option in group.get("options", [])]
    return {"ok": True, "options": options, "option_groups": groups}


async def use_shortcut(workspace: Workspace, request: Request) -> dict[str, Any]:
    given = await read_body(request)
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
    given = await read_body(request)
    me = person_of(workspace, given.get("user"))
    tab = "messages" if given.get("tab") == "messages" else "home"
    home = workspace.store.views.home(me.id)
    event = events.home_opened(me.id, direct_channel_id(me), tab, home, workspace.clock.next())
    workspace.conversations.emit(event)
    return {"ok": True}
