"""The files and commands that a workflow may check, as listed by their owner. Nothing else is ever checked.

folder: ../my-project            # relative to this file; everything below lies in it
files: ["docs/*.md", "tests/**/*.py"]
commands:
  tests_pass: {run: [pytest, -q], seconds: 120, in: backend}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import yaml

from fateforger.errors import BadInput
from fateforger.workflow.documents import fields_of, items_of, pairs_of, read_yaml, refuse, text_of, texts_of
from fateforger.workflow.vocabulary import is_name

SECONDS, MOST_SECONDS = 60, 3_600
MOST_WORDS = 100


@dataclass(frozen=True, slots=True)
class AllowedCommand:
    """A command to run: exactly these words, without a shell, in this folder, for at most ``seconds``."""

    words: tuple[str, ...]
    folder: Path
    seconds: float = SECONDS


@dataclass(frozen=True, slots=True)
class AllowList:
    """The allowed files and commands; empty by default.

    ``folder`` is the root of all files, with its links resolved.
    """

    folder: Path | None = None
    files: tuple[str, ...] = ()
    commands: Mapping[str, AllowedCommand] = field(default_factory=dict)


def read_allow_list(text: str, beside: Path) -> AllowList:
    """Parse an allow list; ``beside`` is the folder of its file. Raises :class:`BadInput` with line and column."""
    document = read_yaml(text)
    fields = fields_of(document, frozenset({"folder", "files", "commands"}), "A list of what is allowed")
    if "folder" not in fields:
        refuse(document, "Say in which folder all of it lies: “folder: ../my-project”.")
    folder = (beside / text_of(fields["folder"], "“folder”")).resolve()
    if not folder.is_dir():
        refuse(fields["folder"], f"{folder} is no folder.")
    files = texts_of(fields["files"], "“files”") if "files" in fields else ()
    for item, pattern in zip(items_of(fields["files"], "“files”") if files else (), files, strict=True):
        if not is_inside(pattern):
            refuse(item, "The pattern of a file is relative and stays inside its folder.")
    return AllowList(folder, files, dict(_parse_commands(fields["commands"], folder)) if "commands" in fields else {})


def read_allow_file(path: Path) -> AllowList:
    """Read an allow list from a file. Raises :class:`BadInput`."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"I cannot read {path}, which says what may be looked at.", where=str(path)) from error
    try:
        return read_allow_list(text, path.resolve().parent)
    except BadInput as error:
        raise BadInput(error.message, where=f"{path}, {error.where}" if error.where else str(path)) from None


def is_inside(path: str) -> bool:
    """Check whether a relative path or pattern can only match inside its folder."""
    pure = PurePosixPath(path)
    return bool(pure.parts) and not pure.is_absolute() and ".." not in pure.parts and "\x00" not in path


def _parse_commands(node: yaml.Node, folder: Path) -> list[tuple[str, AllowedCommand]]:
    found: dict[str, AllowedCommand] = {}
    for key, value in pairs_of(node, "“commands”"):
        name = text_of(key, "The name of a command")
        if not is_name(name) or name in found:
            refuse(key, f"“{name}” cannot be the name of a command, or is here twice.")
        found[name] = _parse_command(value, folder)
    return list(found.items())


def _parse_command(node: yaml.Node, folder: Path) -> AllowedCommand:
    fields = fields_of(node, frozenset({"run", "seconds", "in"}), "A command")
    if "run" not in fields or not isinstance(fields["run"], yaml.SequenceNode):
        refuse(node, "A command says what it runs, word by word: “run: [pytest, -q]”. There is no shell.")
    words = texts_of(fields["run"], "“run”")
    if not words or len(words) > MOST_WORDS or any("\x00" in word for word in words):
        refuse(fields["run"], f"A command has between 1 and {MOST_WORDS} words.")
    where = text_of(fields["in"], "“in”") if "in" in fields else "."
    place = (folder / where).resolve()
    if where != "." and not is_inside(where):
        refuse(fields["in"], "A command runs inside the folder that is allowed.")
    if not place.is_relative_to(folder) or not place.is_dir():
        refuse(fields.get("in", node), f"{place} is no folder inside the one that is allowed.")
    return AllowedCommand(words, place, _parse_seconds(fields["seconds"]) if "seconds" in fields else SECONDS)


def _parse_seconds(node: yaml.Node) -> float:
    text = text_of(node, "“seconds”")
    try:
        seconds = float(text)
    except ValueError:
        refuse(node, f"“{text}” is no number of seconds.")
    if not 0 < seconds <= MOST_SECONDS:
        refuse(node, f"A command has between 0 and {MOST_SECONDS} seconds.")
    return seconds
