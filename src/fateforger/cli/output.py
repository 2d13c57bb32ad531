"""Output of commands: safe for a terminal, and without secrets."""

from __future__ import annotations

import codecs
import io
import json
import sys
from typing import Any

import click

from fateforger.errors import WorldError
from fateforger.masks import hide_secrets
from fateforger.text import clean_text

_ESCAPED = {
    code: f"\\u{code:04x}"
    for code in (*range(0x7F, 0xA0), 0x061C, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070))
}
"""Characters that JSON may contain unescaped, but that a terminal obeys, or at which some readers split lines."""


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Return the characters that an encoding lacks as JSON writes them, so that text and JSON can be read."""
    assert isinstance(error, UnicodeEncodeError)  # noqa: S101  nothing is decoded with this
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def escape_unknown_characters() -> None:
    r"""Let a terminal that does not speak UTF-8 show ``\u2014`` for a character that it lacks."""
    codecs.register_error("escape", _escape)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and codecs.lookup(stream.encoding).name != "utf-8":
            stream.reconfigure(errors="escape")


def write_out(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text as it is. Raises ``BrokenPipeError`` and ``WorldError``."""
    try:
        click.echo(text, err=err, nl=nl)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise WorldError(f"I cannot write the output: {error.strerror or error}.", where="stdout") from None


def echo(text: str, *, err: bool = False) -> None:
    """Print lines for people. A title in them cannot control the terminal or reverse the line."""
    write_out(clean_text(hide_secrets(text)), err=err)


def echo_address(words: str, address: str) -> None:
    """Print the address of the page, with its token even if that is a setting, so that it can be opened."""
    write_out(f"{words} {address}")


def overwrite(text: str, width: int) -> None:
    """Replace the line of a terminal that is ``width`` characters long."""
    write_out(f"\r{clean_text(hide_secrets(text)):<{width}}", err=True, nl=False)


def dump_json_line(document: Any) -> str:
    """Return a JSON document on one line, without characters that a terminal obeys or that end a line."""
    return hide_secrets(json.dumps(document, ensure_ascii=False)).translate(_ESCAPED)


def write_json(document: Any) -> None:
    """Print one JSON document on one line."""
    write_out(dump_json_line(document))
