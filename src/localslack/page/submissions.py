"""Modals: submitting them, carrying out the app's answer, closing them."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request

from localslack import interactions
from localslack.blocks.elements import VALUE_FIELD, placed_elements
from localslack.blocks.surfaces import check_view
from localslack.errors import Refusal, SlackError
from localslack.form_checks import field_errors
from localslack.page.requests import part, person_of, read_body
from localslack.page.surface import open_view
from localslack.people import WorkspaceUser
from localslack.store.response_urls import ResponseTarget
from localslack.workspace import Workspace

_UNUSABLE = "The planner's answer to this form could not be used. Please try again."


async def submit(workspace: Workspace, request: Request) -> dict[str, Any]:
    given = await read_body(request)
    me = person_of(workspace, given.get("user"))
    view = open_view(workspace, me, given.get("view_id"))
    view = workspace.modals.remember(view, part(given, "state"))
    errors = field_errors(view["blocks"], view["state"]["values"])
    if not errors:
        payload = {
            **interactions.common("view_submission", me, workspace.triggers.issue(me.id)),
            "view": view,
            "response_urls": _response_urls(workspace, me, view),
        }
        answer = await workspace.interactivity.ask("interactive", payload)
        errors = _carry_out(workspace, me, view, answer)
    return {"ok": True, "errors": errors or None, "stack": workspace.modals.stack(me.id)}


async def close(workspace: Workspace, request: Request) -> dict[str, Any]:
    """Close the top modal, or with `clear` the whole stack; the app hears of those that ask for it."""
    given = await read_body(request)
    me = person_of(workspace, given.get("user"))
    view = open_view(workspace, me, given.get("view_id"))
    clear = bool(given.get("clear")) or view["clear_on_close"]
    closed = workspace.modals.stack(me.id) if clear else [view]
    if clear:
        workspace.modals.close_all(me.id)
    else:
        workspace.modals.close_top(me.id)
    for gone in closed:
        if gone["notify_on_close"]:
            payload = {**interactions.common("view_closed", me, None), "view": gone, "is_cleared": clear}
            workspace.interactivity.notify(payload)
    return {"ok": True, "stack": workspace.modals.stack(me.id)}


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
