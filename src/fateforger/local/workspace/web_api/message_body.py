"""What an app may put into a message, checked and made ready to store."""

from collections.abc import Mapping
from typing import Any

from fateforger.local.workspace.blocks.elements import with_ids
from fateforger.local.workspace.blocks.surfaces import check_message_blocks
from fateforger.local.workspace.errors import SlackError
from fateforger.local.workspace.web_api.arguments import Arguments

MAX_TEXT = 40_000
MAX_UPDATE_TEXT = 4_000
MAX_MARKDOWN = 12_000
MAX_ATTACHMENTS = 100


def read_body(arguments: Arguments) -> dict[str, Any]:
    """The `text`, `blocks`, `attachments` and `metadata` of a call; those not given are left out.

    Raises `SlackError` with Slack's code for whatever is not allowed, except length of text, which depends on
    the method.
    """
    body: dict[str, Any] = {}
    if "text" in arguments:
        body["text"] = arguments.text("text")
    blocks = _list_of(arguments, "blocks", "invalid_blocks_format")
    if blocks is not None:
        check_message_blocks(blocks)
        body["blocks"] = with_ids(blocks)
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


def refuse_empty(body: Mapping[str, Any]) -> None:
    if not (body.get("text") or body.get("blocks") or body.get("attachments")):
        raise SlackError("no_text")


def cut_text(body: dict[str, Any]) -> tuple[str, ...]:
    """Shorten a text that is too long to post; returns the warnings for the answer."""
    if len(body.get("text", "")) <= MAX_TEXT:
        return ()
    body["text"] = body["text"][:MAX_TEXT]
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
    if len(markdown) > MAX_MARKDOWN:
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
