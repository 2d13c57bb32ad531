"""Output of commands: safe for a terminal, and without secrets."""

from __future__ import annotations

import json
from typing import Any

import click

from fateforger.masks import hide_secrets
from fateforger.text import clean_text

_ESCAPED = {
    code: f"\\u{code:04x}"
    for code in (*range(0x7F, 0xA0), 0x061C, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070))
}
"""Characters that JSON may contain unescaped, but that a terminal obeys, or at which some readers split lines."""


def echo(text: str, *, err: bool = False) -> None:
    """Print lines for people. A title in them cannot control the terminal or reverse the line."""
    click.echo(clean_text(hide_secrets(text)), err=err)


def echo_address(words: str, address: str) -> None:
    """Print the address of the page, with its token even if that is a setting, so that it can be opened."""
    click.echo(f"{words} {address}")


def overwrite(text: str, width: int) -> None:
    """Replace the line of a terminal that is ``width`` characters long."""
    click.echo(f"\r{clean_text(hide_secrets(text)):<{width}}", err=True, nl=False)


def dump_json_line(document: Any) -> str:
    """Return a JSON document on one line, without characters that a terminal obeys or that end a line."""
    return hide_secrets(json.dumps(document, ensure_ascii=False)).translate(_ESCAPED)


def write_json(document: Any) -> None:
    """Print one JSON document on one line."""
    click.echo(dump_json_line(document))
