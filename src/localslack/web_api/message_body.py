"""Content of an app's message, checked and made ready to store."""

from collections.abc import Mapping
from typing import Any

from localslack.blocks.elements import with_ids
from localslack.blocks.surfaces import check_message_blocks
from localslack.errors import SlackError
from localslack.limits import MAX_ATTACHMENTS, MAX_MARKDOWN, MAX_TEXT
from localslack.text import count_characters, cut_characters
from localslack.web_api.arguments import Arguments
from localslack.workspace import Workspace


def read_body(workspace: Workspace, arguments: Arguments) -> dict[str, Any]:
    """Return the `text`, `blocks`, `attachments` and `metadata` of a call; those not given are left out.

    Raises `SlackError` with Slack's code for whatever is not allowed, except length of text, which depends on
    the method.
    """
    body: dict[str, Any] = {}
    if "text" in arguments:
        body["text"] = arguments.text("text")
    blocks = _list_of(arguments, "blocks", "invalid_blocks_format")
    if blocks is not None:
        check_message_blocks(blocks)
        _check_files(workspace, blocks)
        body["blocks"] = [_with_size(workspace, block) for block in with_ids(blocks)]
    attachments = _list_of(arguments, "attachments", "invalid_attachments")
    if attachments is not None:
        if len(attachments) > MAX_ATTACHMENTS:
            raise SlackError("too_many_attachments")
        body["attachments"] = attachments
    if "markdown_text" in arguments:
        body |= _from_markdown(arguments, body)
    metadata = arguments.structure("metadata", SlackError("invalid_metadata_format"))
    if metadata is not None:
        body["metadata"] = _checked_metadata(metadata)
    return body


def _check_files(workspace: Workspace, blocks: list[Any]) -> None:
    """Pictures that name a file of the workspace need one whose upload is complete, and which is a picture."""
    wrong = [
        f"invalid slack file [json-pointer:/blocks/{index}/slack_file]"
        for index, block in enumerate(blocks)
        if block["type"] == "image" and "id" in block.get("slack_file", {}) and not _is_picture(workspace, block)
    ]
    if wrong:
        messages = [f"[ERROR] {message}" for message in wrong]
        raise SlackError("invalid_blocks", errors=wrong, response_metadata={"messages": messages})


def _is_picture(workspace: Workspace, block: Mapping[str, Any]) -> bool:
    file = workspace.store.files.get(block["slack_file"]["id"])
    return file is not None and file.get("completed", False) and str(file["mimetype"]).startswith("image/")


def _with_size(workspace: Workspace, block: dict[str, Any]) -> dict[str, Any]:
    """Add the size of a picture in pixels, as Slack does: a page can leave room for it before it is loaded."""
    file = workspace.store.files.get(block["slack_file"]["id"]) if "id" in block.get("slack_file", {}) else None
    if block["type"] != "image" or file is None or "original_w" not in file:
        return block
    return {**block, "image_width": file["original_w"], "image_height": file["original_h"]}


def refuse_empty(body: Mapping[str, Any]) -> None:
    if not (body.get("text") or body.get("blocks") or body.get("attachments")):
        raise SlackError("no_text")


def cut_text(body: dict[str, Any]) -> tuple[str, ...]:
    """Shorten a text that is too long to post; returns the warnings for the answer."""
    if count_characters(body.get("text", "")) <= MAX_TEXT:
        return ()
    body["text"] = cut_characters(body["text"], MAX_TEXT)
    return ("message_truncated",)


def _list_of(arguments: Arguments, name: str, code: str) -> list[Any] | None:
    value = arguments.structure(name, SlackError(code))
    if value is not None and not isinstance(value, list):
        raise SlackError(code)
    return value


def _from_markdown(arguments: Arguments, body: Mapping[str, Any]) -> dict[str, Any]:
    markdown = arguments.text("markdown_text")
    if "text" in body or "blocks" in body:
        raise SlackError("markdown_text_conflict")
    if count_characters(markdown) > MAX_MARKDOWN:
        raise SlackError("msg_too_long")
    return {"text": markdown, "blocks": with_ids([{"type": "markdown", "text": markdown}])}


def _checked_metadata(metadata: Any) -> dict[str, Any]:
    if metadata == {}:
        return {}
    if not isinstance(metadata, dict) or not isinstance(metadata.get("event_type"), str):
        raise SlackError("invalid_metadata_format")
    if not isinstance(metadata.get("event_payload"), dict | None):
        raise SlackError("invalid_metadata_format")
    return metadata
