"""One endpoint for all Web API methods: token, scopes, arguments, then the method."""

import logging
import sqlite3
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from localslack.errors import Fault, SlackError
from localslack.web_api import agents, chat, conversations, files, reactions, streams, team, views
from localslack.web_api.method import Arguments, Method, read_arguments
from localslack.workspace import Workspace

_LOG = logging.getLogger(__name__)

METHODS: Mapping[str, Method] = {
    **team.METHODS,
    **chat.METHODS,
    **conversations.METHODS,
    **views.METHODS,
    **agents.METHODS,
    **reactions.METHODS,
    **streams.METHODS,
    **files.METHODS,
}


async def answer_call(workspace: Workspace, request: Request) -> Response:
    """Answer `/api/METHOD`: JSON with HTTP 200 whether it worked or not, as Slack does."""
    name = request.path_params["method"]
    if workspace.http is not None:
        workspace.http.verify()  # an app that calls is there, or soon will be
    fault = workspace.faults.take(name)
    if fault is not None and not fault.after_effect:
        return _build_failure(fault)
    try:
        arguments = await read_arguments(request)
        late = None if workspace.limits is None else workspace.limits.take(name, arguments.text("channel"))
        if late is not None:
            return _build_failure(Fault(status=429, error="ratelimited", retry_after=late))
        body = _call(workspace, request, name, arguments)
    except SlackError as error:
        body = error.body()
    except sqlite3.Error:
        _LOG.exception("the workspace's database refused a write")
        body = SlackError("internal_error").body()
    if fault is not None:
        return _build_failure(fault)
    headers = {
        "x-oauth-scopes": ",".join(workspace.directory.app.scopes),
        "x-slack-req-id": request.headers.get("x-request-id", "local"),
    }
    return JSONResponse(body, headers=headers)


def _build_failure(fault: Fault) -> Response:
    headers = None if fault.retry_after is None else {"retry-after": str(fault.retry_after)}
    return JSONResponse({"ok": False, "error": fault.error}, status_code=fault.status, headers=headers)


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
