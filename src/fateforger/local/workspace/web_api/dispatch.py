"""One endpoint for all Web API methods: token, scopes, arguments, then the method."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from fateforger.local.workspace.errors import SlackError
from fateforger.local.workspace.web_api import agents, chat, conversations, team, views
from fateforger.local.workspace.web_api.arguments import Arguments, read_arguments
from fateforger.local.workspace.web_api.method import Method
from fateforger.local.workspace.workspace import Workspace

METHODS: Mapping[str, Method] = {
    **team.METHODS,
    **chat.METHODS,
    **conversations.METHODS,
    **views.METHODS,
    **agents.METHODS,
}


async def answer_call(workspace: Workspace, request: Request) -> Response:
    """Answer `/api/METHOD`: JSON with HTTP 200 whether it worked or not, as Slack does."""
    try:
        arguments = await read_arguments(request)
        body = _call(workspace, request, request.path_params["method"], arguments)
    except SlackError as error:
        body = error.body()
    headers = {
        "x-oauth-scopes": ",".join(workspace.directory.app.scopes),
        "x-slack-req-id": request.headers.get("x-request-id", "local"),
    }
    return JSONResponse(body, headers=headers)


def _call(workspace: Workspace, request: Request, name: str, arguments: Arguments) -> dict[str, Any]:
    method = METHODS.get(name)
    if method is None:
        raise SlackError("unknown_method", req_method=name)
    _check_token(workspace, method, request, arguments)
    _check_scopes(workspace, method)
    arguments.require(*method.required)
    return {"ok": True, **method.run(workspace, arguments)}


def _check_token(workspace: Workspace, method: Method, request: Request, arguments: Arguments) -> None:
    if method.caller == "anyone":
        return
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    token = credentials.strip() if scheme.lower() == "bearer" else arguments.text("token")
    if not token:
        raise SlackError("not_authed")
    kinds = {workspace.config.bot_token: "bot", workspace.config.app_token: "app"}
    if token not in kinds:
        raise SlackError("invalid_auth")
    if kinds[token] != method.caller:
        raise SlackError("not_allowed_token_type")


def _check_scopes(workspace: Workspace, method: Method) -> None:
    provided = workspace.directory.app.scopes
    if method.scopes and not set(method.scopes) & set(provided):
        raise SlackError("missing_scope", needed=",".join(method.scopes), provided=",".join(provided))
