"""Messages that answer an interaction: through its response URL, or with a command's acknowledgement."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from localslack.errors import SlackError
from localslack.store.store import ResponseTarget
from localslack.web_api.chat import cut_text, read_body, refuse_empty
from localslack.web_api.method import Arguments, read_arguments, thread_of
from localslack.workspace import Workspace


async def answer_response_url(workspace: Workspace, request: Request) -> Response:
    """Return the sink behind response URLs; errors come with HTTP 404 for a dead URL, 400 for a bad message."""
    try:
        arguments = await read_arguments(request)
    except SlackError as error:
        return JSONResponse(error.body(), status_code=400)
    target = workspace.store.response_urls.use(request.path_params["token"], workspace.clock.seconds())
    if isinstance(target, str):
        return JSONResponse({"ok": False, "error": target}, status_code=404)
    try:
        respond(workspace, target, arguments)
    except SlackError as error:
        return JSONResponse(error.body(), status_code=400)
    return PlainTextResponse("ok")


def answer_with(workspace: Workspace, target: ResponseTarget, payload: Mapping[str, Any]) -> None:
    """Post what a slash command was acknowledged with, if that is a message."""
    if payload.get("text") or payload.get("blocks"):
        respond(workspace, target, Arguments(payload))


def respond(workspace: Workspace, target: ResponseTarget, arguments: Arguments) -> None:
    """Carry out one answer: delete or replace the original, or post a new message, ephemeral unless `in_channel`."""
    channel = workspace.store.channels.get(target.channel)
    if channel is None:
        raise SlackError("channel_not_found")
    original = workspace.store.messages.get(target.channel, target.message_ts or "")
    if arguments.flag("delete_original"):
        if original is not None:
            workspace.conversations.delete(original)
        return
    body = read_body(workspace, arguments)
    refuse_empty(body)
    cut_text(body)
    if arguments.flag("replace_original") and original is not None:
        emptied = {"blocks": None, "attachments": None}
        workspace.conversations.change(original, {**emptied, "text": "", **body})
        return
    fields = {"text": "", **body, **workspace.directory.bot_marks()}
    thread_ts = thread_of(workspace, channel, arguments)
    if arguments.text("response_type") == "in_channel":
        workspace.conversations.post(channel, fields, thread_ts)
    else:
        workspace.conversations.whisper(channel, target.user, fields, thread_ts or target.thread_ts)
