"""Whole payloads: the blocks of a message, and views."""

from collections.abc import Sequence
from typing import Any

from fateforger.local.workspace.errors import bad_arguments


def check_message_blocks(blocks: Sequence[Any]) -> None:
    """Raise `invalid_blocks` unless these blocks may stand in a message."""


def check_view(view: Any, kind: str) -> None:
    """Raise `invalid_arguments` unless this view may be opened or published."""
    if not isinstance(view, dict) or view.get("type") != kind:
        raise bad_arguments("must be a valid view [json-pointer:/view]")
