"""Actions of a person: elements of blocks, modals, shortcuts, the Home tab, and options looked up while typing."""

from collections.abc import Mapping
from typing import Any

from localslack import events, interactions
from localslack.blocks.elements import ACTION_FIELD, VALUE_FIELD, placed_elements
from localslack.blocks.surfaces import check_view
from localslack.directory import direct_channel_id
from localslack.errors import Refusal, SlackError
from localslack.form_state import accept_value, field_errors
from localslack.page.requests import PageRequest
from localslack.people import WorkspaceUser
from localslack.store.store import ResponseTarget
from localslack.workspace import Workspace

_NOT_OFFERED = "That choice is no longer offered. Please choose again."


async def act(page: PageRequest) -> dict[str, Any]:
    surface = page.find_surface()
    action = page.part("action")
    placed = page.find_placed(surface, action)
    payload = {
        **interactions.common("block_actions", page.me, page.workspace.triggers.issue(page.me.id)),
        **page.build_place(surface),
        "actions": [interactions.action(placed, _chosen(placed.element, action), page.workspace.clock.next())],
    }
    await page.workspace.interactivity.ask("interactive", payload)
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


async def suggest(page: PageRequest) -> dict[str, Any]:
    surface = page.find_surface()
    placed = page.find_placed(surface, page.given)
    payload = {
        **interactions.common("block_suggestion", page.me, None),
        **page.build_place_of_suggestion(surface),
        "action_id": placed.action_id,
        "block_id": placed.block_id,
        "value": str(page.given.get("value", "")),
    }
    answer = await page.workspace.interactivity.ask("interactive", payload)
    groups = answer.get("option_groups") or []
    options = answer.get("options") or [option for group in groups for option in group.get("options", [])]
    return {"ok": True, "options": options, "option_groups": groups}


async def use_shortcut(page: PageRequest) -> dict[str, Any]:
    shortcuts = {shortcut.callback_id: shortcut for shortcut in page.workspace.directory.app.shortcuts}
    shortcut = shortcuts.get(str(page.given.get("callback_id")))
    if shortcut is None:
        raise Refusal("That shortcut isn't there any more. Please reload the page.")
    trigger = page.workspace.triggers.issue(page.me.id)
    action_ts = page.workspace.clock.next()
    if shortcut.type == "global":
        payload = interactions.common("shortcut", page.me, trigger)
        payload |= {"callback_id": shortcut.callback_id, "action_ts": action_ts}
    else:
        channel = page.channel
        message = page.find_message(channel, page.given)
        target = ResponseTarget(channel.id, page.me.id, thread_ts=message.thread_ts)
        payload = interactions.common("message_action", page.me, trigger)
        payload |= interactions.message_shortcut(shortcut, channel, message, action_ts)
        payload["response_url"] = page.workspace.response_url(target)
    await page.workspace.interactivity.ask("interactive", payload)
    return {"ok": True}


async def open_home(page: PageRequest) -> dict[str, Any]:
    tab = "messages" if page.given.get("tab") == "messages" else "home"
    home = page.workspace.store.views.home(page.me.id)
    event = events.home_opened(page.me.id, direct_channel_id(page.me), tab, home, page.workspace.clock.next())
    page.workspace.conversations.emit(event)
    return {"ok": True}


# --- Modals: submitting them, carrying out the app's answer, closing them ---


_UNUSABLE = "The planner's answer to this form could not be used. Please try again."


async def submit(page: PageRequest) -> dict[str, Any]:
    view = page.find_open_view()
    view = page.workspace.modals.remember(view, page.part("state"))
    errors = field_errors(view["blocks"], view["state"]["values"])
    if not errors:
        payload = {
            **interactions.common("view_submission", page.me, page.workspace.triggers.issue(page.me.id)),
            "view": view,
            "response_urls": _response_urls(page.workspace, page.me, view),
        }
        answer = await page.workspace.interactivity.ask("interactive", payload)
        errors = _carry_out(page.workspace, page.me, view, answer)
    return {"ok": True, "errors": errors or None, "stack": page.workspace.modals.stack(page.me.id)}


async def close(page: PageRequest) -> dict[str, Any]:
    """Close the top modal, or with `clear` the whole stack; the app hears of those that ask for it."""
    view = page.find_open_view()
    clear = bool(page.given.get("clear")) or view["clear_on_close"]
    closed = page.workspace.modals.stack(page.me.id) if clear else [view]
    if clear:
        page.workspace.modals.close_all(page.me.id)
    else:
        page.workspace.modals.close_top(page.me.id)
    for gone in closed:
        if gone["notify_on_close"]:
            payload = {**interactions.common("view_closed", page.me, None), "view": gone, "is_cleared": clear}
            page.workspace.interactivity.notify(payload)
    return {"ok": True, "stack": page.workspace.modals.stack(page.me.id)}


def _carry_out(
    workspace: Workspace, person: WorkspaceUser, view: Mapping[str, Any], answer: Mapping[str, Any]
) -> dict[str, str]:
    """Do what the app answered a submission with; returns the errors to show at the fields."""
    try:
        match answer.get("response_action"):
            case None:
                workspace.modals.close_top(person.id)
            case "clear":
                workspace.modals.close_all(person.id)
            case "update":
                workspace.modals.update(view["id"], _given_view(answer), None)
            case "push":
                workspace.modals.push(person.id, _given_view(answer))
            case "errors":
                return _shown_errors(view, answer.get("errors"))
            case _:
                raise Refusal(_UNUSABLE)
    except SlackError as error:
        raise Refusal(_UNUSABLE) from error
    return {}


def _response_urls(workspace: Workspace, person: WorkspaceUser, view: Mapping[str, Any]) -> list[dict[str, str]]:
    """One response URL for each conversation that was chosen in a select that asks for it."""
    found = []
    for placed in placed_elements(view["blocks"]):
        if not placed.element.get("response_url_enabled"):
            continue
        field = VALUE_FIELD[placed.element["type"]]
        channel = view["state"]["values"][placed.block_id][placed.action_id][field]
        if channel:
            found.append(
                {
                    "block_id": placed.block_id,
                    "action_id": placed.action_id,
                    "channel_id": channel,
                    "response_url": workspace.response_url(ResponseTarget(channel, person.id)),
                }
            )
    return found


def _given_view(answer: Mapping[str, Any]) -> dict[str, Any]:
    view = answer.get("view")
    check_view(view, "modal")
    return dict(view or {})


def _shown_errors(view: Mapping[str, Any], errors: object) -> dict[str, str]:
    inputs = {block["block_id"] for block in view["blocks"] if block.get("type") == "input"}
    if not isinstance(errors, dict) or not errors or not errors.keys() <= inputs:
        raise Refusal(_UNUSABLE)
    return {str(block_id): str(message) for block_id, message in errors.items()}
