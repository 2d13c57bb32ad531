"""Input documents (a file, or ``-`` for stdin), and output that is safe for a terminal and without secrets."""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from fateforger.errors import BadInput, FateforgerError, StoreUnavailable, WorldError
from fateforger.limits import MAX_DOCUMENT_BYTES
from fateforger.masks import hide_secrets
from fateforger.text import clean_text

if TYPE_CHECKING:
    from fateforger.planning.plan import Resolved


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


def format_block(block: Resolved) -> str:
    """Return ``09:00–10:30  Write report  (deep work, 90 min)``.

    An end on another day is marked. If the clock changes in between, each end names its zone.
    """
    clocks = f"{block.start:%H:%M}", f"{block.end:%H:%M}"
    if block.start.utcoffset() != block.end.utcoffset():
        clocks = f"{clocks[0]} {block.start:%Z}", f"{clocks[1]} {block.end:%Z}"
    end = clocks[1] + ("⁺¹" if block.end.date() > block.start.date() else "")
    return f"{clocks[0]}–{end:<7} {block.event.name}  ({block.event.type.words}, {block.minutes} min)"


def read_text(source: str) -> str:
    """Return the text of a file, or of stdin for ``-``. Raises :class:`BadInput`."""
    try:
        data = sys.stdin.buffer.read(MAX_DOCUMENT_BYTES + 1) if source == "-" else _read_file(Path(source))
    except OSError as error:
        raise BadInput(f"I cannot read {source}: {error.strerror or error}.", where=source) from None
    if len(data) > MAX_DOCUMENT_BYTES:
        raise BadInput(f"{source} is larger than 16 MiB, which no plan is.", where=source)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{source} is not UTF-8 text.", where=source) from None


def _read_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(MAX_DOCUMENT_BYTES + 1)


_MAY_BE_LONE = re.compile(r"\\u[dD][89a-fA-F]")
"""An escape for half of a character (a surrogate), unless the other half follows."""


def parse_json(text: str, source: str) -> Any:
    """Parse a JSON document. Raises :class:`BadInput` with line and column."""
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
        if _MAY_BE_LONE.search(text):
            json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise BadInput("This JSON contains an incomplete character, so it is not valid text.", where=source) from None
    except json.JSONDecodeError as error:
        where = f"{source}, line {error.lineno}, column {error.colno}"
        raise BadInput(f"This is not JSON: {error.msg[0].lower()}{error.msg[1:]}.", where=where) from None
    except RecursionError:
        raise BadInput("This JSON is nested too deeply to be a plan.", where=source) from None
    except ValueError:
        raise BadInput(
            "This JSON contains a number that is not allowed, such as NaN or one that is far too long.", where=source
        ) from None
    return document


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def read_document(source: str) -> Any:
    """Return the JSON document in a file or on stdin. Raises :class:`BadInput`."""
    return parse_json(read_text(source), source)


def read_lines(source: str) -> Iterator[tuple[str, str]]:
    """Yield each non-empty line with its position, one by one however long the file is. Raises :class:`BadInput`."""
    for number, data in read_raw_lines(source):
        line = decode_line(data, where := f"{source}, line {number}")
        if line.strip():
            yield line, where


def join_place(where: str, part: str | None) -> str:
    """Return the place of a mistake in a part of a line."""
    return where if part is None or part == where else f"{where}, {part}"


def answer_lines(
    source: str, answer: Callable[[Any], Any], *, place: Callable[[str, str | None], str] = join_place
) -> None:
    """Answer each line. A bad line gets its error document in its place, so that lines of output and input match."""
    for line, where in read_lines(source):
        try:
            write_json(answer(parse_json(line, where)))
        except FateforgerError as error:
            mistake = {"kind": error.kind, "message": error.message, "where": place(where, error.where)}
            write_json({"error": mistake})


def read_raw_lines(source: str) -> Iterator[tuple[int, bytes]]:
    """Yield each line with its number, from 1.

    Only the beginning of a line that is too long is returned, as much as :func:`decode_line` needs to refuse it. A line
    ends at a line feed and nowhere else: JSON text may contain other characters that some treat as line ends. Raises
    :class:`BadInput`.
    """
    try:
        with contextlib.nullcontext(sys.stdin.buffer) if source == "-" else Path(source).open("rb") as stream:
            for number, data in enumerate(iter(lambda: stream.readline(MAX_DOCUMENT_BYTES + 1), b""), start=1):
                rest = data
                while len(rest) > MAX_DOCUMENT_BYTES and not rest.endswith(b"\n"):
                    rest = stream.readline(MAX_DOCUMENT_BYTES + 1)
                yield number, data
    except OSError as error:
        raise BadInput(f"I cannot read {source}: {error.strerror or error}.", where=source) from None


def decode_line(data: bytes, where: str) -> str:
    """Decode a line. Raises :class:`BadInput`."""
    if len(data) > MAX_DOCUMENT_BYTES:
        raise BadInput("This line is longer than 16 MiB, which no document is.", where=where)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput("This line is not UTF-8 text.", where=where) from None


def print_result(document: Any, lines: Iterable[str], *, as_json: bool) -> None:
    """Print the document for programs, or the lines for people."""
    if as_json:
        write_json(document)
        return
    for line in lines:
        echo(line)


@contextlib.contextmanager
def open_output(target: str) -> Iterator[Callable[[str], object]]:
    """Yield a function that writes a line, without secrets, to stdout or to a new file that only its owner can read.

    The file is written completely or not at all. Raises ``BadInput`` and ``StoreUnavailable``.
    """
    if target == "-":
        yield lambda line: write_out(hide_secrets(line))
        return
    refuse_existing(Path(target))
    with replace_file(target) as write_line:
        yield write_line


def refuse_existing(target: Path) -> None:
    """Raise ``BadInput`` if there is a file already: no command overwrites one."""
    if target.exists():
        raise BadInput(f"There is already a file {target}. Name another one.", where="file")


@contextlib.contextmanager
def replace_file(target: str) -> Iterator[Callable[[str], object]]:
    """Yield a function that writes a line, without secrets, to a file that only its owner can read.

    The file is written completely or not at all. Raises ``StoreUnavailable``.
    """
    draft = Path(f"{target}.part")
    try:
        draft.touch(mode=0o600)
        with draft.open("w", encoding="utf-8", newline="\n") as file:
            yield lambda line: file.write(f"{hide_secrets(line)}\n")
        draft.replace(target)
    except OSError as error:
        raise StoreUnavailable(f"I cannot write {target}: {error.strerror or error}.", where=target) from None
    finally:
        draft.unlink(missing_ok=True)
