"""views.*: modals and Home tabs."""

from collections.abc import Mapping
from typing import Any, Literal

from localslack.blocks.surfaces import check_view
from localslack.errors import SlackError, bad_arguments
from localslack.web_api.files import with_size
from localslack.web_api.method import Arguments, Method
from localslack.workspace import Workspace


def open_modal(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    view = _view(workspace, arguments, "modal")
    user = workspace.triggers.redeem(_trigger(arguments))
    return {"view": workspace.modals.open(user, view)}


def push(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    view = _view(workspace, arguments, "modal")
    user = workspace.triggers.redeem(_trigger(arguments))
    return {"view": workspace.modals.push(user, view)}


def update(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    view_id = arguments.optional_text("view_id")
    external_id = arguments.optional_text("external_id")
    if (view_id is None) == (external_id is None):
        raise bad_arguments("either view_id or external_id must be given, and not both")
    found = workspace.store.views.get(view_id) if view_id else workspace.store.views.by_external_id(external_id or "")
    if found is None:
        raise SlackError("not_found")
    before = found[1]
    view = _view(workspace, arguments, "home" if before["type"] == "home" else "modal")
    return {"view": workspace.modals.update(before["id"], view, arguments.optional_text("hash"))}


def publish(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    if not workspace.directory.app.home_tab_enabled:
        raise SlackError("not_enabled")
    user = arguments.text("user_id")
    if workspace.directory.person(user) is None:
        raise SlackError("user_not_found")
    view = _view(workspace, arguments, "home")
    return {"view": workspace.modals.publish_home(user, view, arguments.optional_text("hash"))}


def _view(workspace: Workspace, arguments: Arguments, kind: Literal["modal", "home"]) -> dict[str, Any]:
    view = arguments.structure("view")
    check_view(view, kind)
    return {**view, "blocks": [with_size(workspace, block) for block in view["blocks"]]}


def _trigger(arguments: Arguments) -> str:
    given = arguments.text("trigger_id") or arguments.text("interactivity_pointer")
    if not given:
        raise bad_arguments("missing required field: trigger_id")
    return given


METHODS = {
    "views.open": Method(open_modal, (), ("view",)),
    "views.push": Method(push, (), ("view",)),
    "views.update": Method(update, (), ("view",)),
    "views.publish": Method(publish, (), ("user_id", "view")),
}
