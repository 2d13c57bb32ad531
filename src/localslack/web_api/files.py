"""files.*: the three steps of an upload, and reading a file's description."""

import mimetypes
import secrets
import struct
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from localslack.directory import BOT_USER_ID
from localslack.errors import SlackError, bad_arguments
from localslack.limits import MAX_UPLOAD_BYTES
from localslack.web_api.method import Arguments, Method, joined_channel, thread_of
from localslack.workspace import Workspace

_PNG, _PNG_HEADER = b"\x89PNG\r\n\x1a\n", 24
_SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""Types that a browser shows and never runs."""


def with_size(workspace: Workspace, block: Mapping[str, Any]) -> dict[str, Any]:
    """Add the size of a picture in pixels, as Slack does: a page can leave room for it before it is loaded."""
    file = workspace.store.files.get(block["slack_file"]["id"]) if "id" in block.get("slack_file", {}) else None
    if block["type"] != "image" or file is None or "original_w" not in file:
        return dict(block)
    return {**block, "image_width": file["original_w"], "image_height": file["original_h"]}


def get_upload_url(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    name, size = arguments.text("filename"), arguments.integer("length", 0)
    if size <= 0:
        raise bad_arguments("must be more than 0 [json-pointer:/length]")
    if size > MAX_UPLOAD_BYTES:
        raise SlackError("file_upload_size_restricted")
    file_id = f"F{secrets.token_hex(5).upper()}"
    url = f"{workspace.config.public_url}/files/{file_id}"
    workspace.store.files.put(
        {
            "id": file_id,
            "name": name,
            "title": name,
            "size": size,
            "mimetype": mimetypes.guess_type(name)[0] or "application/octet-stream",
            "filetype": name.rpartition(".")[2].lower(),
            "user": BOT_USER_ID,
            "created": workspace.clock.seconds(),
            "url_private": url,
            "url_private_download": url,
            "is_public": False,
        }
    )
    return {"upload_url": url, "file_id": file_id}


def complete_upload(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    given = arguments.structure("files")
    if not isinstance(given, list) or not given or not all(isinstance(one, dict) for one in given):
        raise bad_arguments("must provide an array of files [json-pointer:/files]")
    files = [_complete_file(workspace, one) for one in given]
    if "channel_id" in arguments:
        channel = joined_channel(workspace, arguments, "channel_id")
        thread_ts = thread_of(workspace, channel, arguments)
        fields = {"text": arguments.text("initial_comment"), "files": files, **workspace.directory.bot_marks()}
        workspace.conversations.post(channel, fields, thread_ts)
    return {"files": files}


def info(workspace: Workspace, arguments: Arguments) -> Mapping[str, Any]:
    file = workspace.store.files.get(arguments.text("file"))
    if file is None:
        raise SlackError("file_not_found")
    return {"file": file, "comments": [], "response_metadata": {"next_cursor": ""}}


async def receive_upload(workspace: Workspace, request: Request) -> Response:
    """Accept the raw bytes of an upload once; the same bytes may be sent again."""
    file_id = request.path_params["file_id"]
    file = workspace.store.files.get(file_id)
    if file is None:
        return PlainTextResponse("no such upload", status_code=404)
    content = bytearray()
    async for chunk in request.stream():
        content += chunk
        if len(content) > file["size"]:
            return PlainTextResponse(f"this upload was announced with {file['size']} bytes", status_code=413)
    if not workspace.store.files.fill(file_id, bytes(content)):
        return PlainTextResponse("this upload is already complete", status_code=409)
    return PlainTextResponse(f"OK - {len(content)}")


def serve_file(workspace: Workspace, request: Request) -> Response:
    """Give a file to the page."""
    file_id = request.path_params["file_id"]
    file, content = workspace.store.files.get(file_id), workspace.store.files.content(file_id)
    if file is None or content is None:
        return PlainTextResponse("no such file", status_code=404)
    # Uploaded content is never run in the page's origin.
    shown = file["mimetype"] in _SHOWN
    headers = {
        "content-disposition": "inline" if shown else "attachment",
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'self'",
    }
    return Response(content, media_type=file["mimetype"], headers=headers)


def _complete_file(workspace: Workspace, given: Mapping[str, Any]) -> dict[str, Any]:
    file = workspace.store.files.get(str(given.get("id")))
    if file is None or workspace.store.files.content(file["id"]) is None:
        raise SlackError("file_not_found")
    file["completed"] = True
    file |= _measure(workspace.store.files.content(file["id"]) or b"")
    file["title"] = str(given.get("title") or file["name"])
    workspace.store.files.put(file)
    return file


def _measure(content: bytes) -> dict[str, int]:
    """Return the size of a PNG in pixels, as Slack's file objects have it; nothing for other files."""
    if len(content) < _PNG_HEADER or not content.startswith(_PNG) or content[12:16] != b"IHDR":
        return {}
    width, height = struct.unpack(">II", content[16:_PNG_HEADER])
    return {"original_w": width, "original_h": height}


METHODS = {
    "files.getUploadURLExternal": Method(get_upload_url, ("files:write",), ("filename", "length")),
    "files.completeUploadExternal": Method(complete_upload, ("files:write",), ("files",)),
    "files.info": Method(info, ("files:read",), ("file",)),
}
