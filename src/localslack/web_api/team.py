"""auth.*, api.*, apps.*, team.*, bots.* and users.*: who the app is, how it connects, and who else is there."""

from collections.abc import Mapping
from typing import Any

from localslack.directory import BOT_ID, BOT_USER_ID, TEAM_DOMAIN, TEAM_ID
from localslack.errors import SlackError
from localslack.web_api.method import Arguments, Method
from localslack.workspace import Workspace


def api_test(_workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    if "error" in arguments:
        raise SlackError(arguments.text("error"))
    return {"args": {}}


def auth_test(workspace: Workspace, _arguments: Arguments) -> Mapping[str, Any]:
    login = {
        "url": f"{workspace.directory.url}/",
        "team": workspace.directory.team_name,
        "team_id": TEAM_ID,
        "user": workspace.directory.app.bot_name,
        "user_id": BOT_USER_ID,
        "bot_id": BOT_ID,
        "is_enterprise_install": False,
    }
    organization = workspace.directory.organization
    return login if organization is None else organization.stamp_login(login)


def connections_open(workspace: Workspace, _arguments: Arguments) -> Mapping[str, Any]:
    return {"url": workspace.hub.issue_url()}


def team_info(workspace: Workspace, _arguments: Arguments) -> Mapping[str, Any]:
    return {
        "team": {
            "id": TEAM_ID,
            "name": workspace.directory.team_name,
            "domain": TEAM_DOMAIN,
            "url": f"{workspace.directory.url}/",
            "email_domain": "",
            "icon": {"image_default": True},
        }
    }


def bots_info(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    if arguments.text("bot", BOT_ID) != BOT_ID:
        raise SlackError("bot_not_found")
    return {"bot": workspace.directory.bot_profile()}


def users_info(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    return {"user": _user(workspace, arguments.text("user"))}


def users_list(workspace: Workspace, _arguments: Arguments) -> Mapping[str, Any]:
    ids = [*(person.id for person in workspace.directory.people), BOT_USER_ID]
    return {
        "members": [_user(workspace, user) for user in ids],
        "cache_ts": workspace.clock.seconds(),
        "response_metadata": {"next_cursor": ""},
    }


def users_lookup_by_email(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    email = arguments.text("email").lower()
    person = next((p for p in workspace.directory.people if p.email.lower() == email), None)
    if person is None:
        raise SlackError("users_not_found")
    return {"user": _user(workspace, person.id)}


def users_profile_get(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    return {"profile": _user(workspace, arguments.text("user", BOT_USER_ID))["profile"]}


def _user(workspace: Workspace, user_id: str) -> dict[str, Any]:
    """Return the user as this app may see them: the e-mail address only with its scope."""
    user = workspace.directory.user_object(user_id, workspace.clock.now())
    if user is None:
        raise SlackError("user_not_found")
    if "users:read.email" not in workspace.directory.app.scopes:
        user["profile"].pop("email", None)
    return user


METHODS = {
    "api.test": Method(api_test, caller="anyone"),
    "auth.test": Method(auth_test),
    "apps.connections.open": Method(connections_open, caller="app"),
    "team.info": Method(team_info, ("team:read",)),
    "bots.info": Method(bots_info, ("users:read",)),
    "users.info": Method(users_info, ("users:read",), ("user",)),
    "users.list": Method(users_list, ("users:read",)),
    "users.lookupByEmail": Method(users_lookup_by_email, ("users:read.email",), ("email",)),
    "users.profile.get": Method(users_profile_get, ("users.profile:read", "users:read")),
}
