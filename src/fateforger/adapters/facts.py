"""The facts on this machine that predicates may check: files and commands, each allowed by name in one file.

folder: ../my-project            # relative to this file; everything below lies in it
files: ["docs/*.md", "tests/**/*.py"]
commands:
  tests_pass: {run: [pytest, -q], seconds: 120, in: backend}

Files are read below one folder, without following any link on the way. Commands run without a shell.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import stat
import time
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

import yaml

from fateforger.errors import BadInput
from fateforger.limits import (
    MAX_CHECK_SECONDS,
    MAX_CHECKED_BYTES,
    MAX_CHECKED_ENTRIES,
    MAX_CHECKED_FILES,
    MAX_COMMAND_WORDS,
)
from fateforger.workflow.documents import fields_of, items_of, pairs_of, read_yaml, refuse, text_of, texts_of
from fateforger.workflow.rules import is_name
from fateforger.workflow.trace import CheckAnswer, NothingAllowed

COMMAND_SECONDS, MOST_COMMAND_SECONDS = 60, 3_600


@dataclass(frozen=True, slots=True)
class AllowedCommand:
    """A command to run: exactly these words, without a shell, in this folder, for at most ``seconds``."""

    words: tuple[str, ...]
    folder: Path
    seconds: float = COMMAND_SECONDS


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
    if not words or len(words) > MAX_COMMAND_WORDS or any("\x00" in word for word in words):
        refuse(fields["run"], f"A command has between 1 and {MAX_COMMAND_WORDS} words.")
    where = text_of(fields["in"], "“in”") if "in" in fields else "."
    place = (folder / where).resolve()
    if where != "." and not is_inside(where):
        refuse(fields["in"], "A command runs inside the folder that is allowed.")
    if not place.is_relative_to(folder) or not place.is_dir():
        refuse(fields.get("in", node), f"{place} is no folder inside the one that is allowed.")
    return AllowedCommand(words, place, _parse_seconds(fields["seconds"]) if "seconds" in fields else COMMAND_SECONDS)


def _parse_seconds(node: yaml.Node) -> float:
    text = text_of(node, "“seconds”")
    try:
        seconds = float(text)
    except ValueError:
        refuse(node, f"“{text}” is no number of seconds.")
    if not 0 < seconds <= MOST_COMMAND_SECONDS:
        refuse(node, f"A command has between 0 and {MOST_COMMAND_SECONDS} seconds.")
    return seconds


_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TZ")
"""The environment variables passed on; settings and keys of this program are not."""


async def run_command(name: str, command: AllowedCommand) -> CheckAnswer:
    """Run a command and report whether it exits with status 0. Everything it started is killed with it."""
    environment = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
    try:
        process = await asyncio.create_subprocess_exec(
            *command.words,
            cwd=command.folder,
            env=environment,
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return CheckAnswer(None, f"“{name}” cannot be started: {error.strerror or error}.")
    try:
        async with asyncio.timeout(command.seconds):
            status = await process.wait()
    except TimeoutError:
        return CheckAnswer(None, f"“{name}” took longer than {command.seconds:g} seconds, so it was ended.")
    finally:
        await _kill_group(process)
    if status < 0:
        return CheckAnswer(None, f"“{name}” was ended by signal {-status}.")
    return CheckAnswer(holds=status == 0, why=f"“{name}” ended with status {status}.")


async def _kill_group(process: Process) -> None:
    """Kill the whole process group, also if the command itself is gone and left a child behind."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()


_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class SearchLimitExceeded(Exception):
    """A search has more to look at than its limits allow."""


def matches_pattern(path: str, pattern: str) -> bool:
    """Check whether a relative path matches a pattern part by part; ``*`` stays within a part, ``**`` spans parts."""
    parts = PurePosixPath(path).parts
    reached = {0}  # numbers of parts that the pattern so far may have matched
    for wanted in PurePosixPath(pattern).parts:
        if wanted == "**":
            reached = set(range(min(reached), len(parts) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(parts) and fnmatchcase(parts[at], wanted)}
    return len(parts) in reached


def iter_regular_files(folder: Path) -> Iterator[str]:
    """Yield the relative paths of all regular files below a folder in order, skipping links.

    Raises :class:`SearchLimitExceeded`, and ``OSError`` when the folder itself cannot be read.
    """
    seen = 0
    pending = [""]
    while pending:
        here = pending.pop()
        try:
            with _open_below(folder, here, _DIRECTORY) as descriptor, os.scandir(descriptor) as entries:
                found = sorted((entry.name, _classify_entry(entry)) for entry in entries)
        except OSError:
            if not here:
                raise
            continue  # it disappeared or is not readable by us; nothing in it can match
        seen += len(found)
        if seen > MAX_CHECKED_ENTRIES:
            raise SearchLimitExceeded
        below = [f"{here}/{name}" if here else name for name, kind in found if kind == "folder"]
        yield from (f"{here}/{name}" if here else name for name, kind in found if kind == "file")
        pending += reversed(below)


def read_file_bytes(folder: Path, path: str) -> bytes | None:
    """Return the content of a regular file, reached without a link.

    Returns ``None`` for a file that is too large or not regular. Raises ``OSError``.
    """
    with _open_below(folder, path, _FILE) as descriptor:
        known = os.fstat(descriptor)
        if not stat.S_ISREG(known.st_mode) or known.st_size > MAX_CHECKED_BYTES:
            return None
        with os.fdopen(os.dup(descriptor), "rb") as file:
            data = file.read(MAX_CHECKED_BYTES + 1)
        return data if len(data) <= MAX_CHECKED_BYTES else None


def _classify_entry(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


@contextmanager
def _open_below(folder: Path, path: str, flags: int) -> Iterator[int]:
    """Open something below the folder, part by part.

    The system refuses a link that takes the place of a part, even at the last moment.
    """
    parts = PurePosixPath(path).parts
    held = [os.open(folder, _DIRECTORY)]
    try:
        for place, part in enumerate(parts):
            last = place == len(parts) - 1
            held.append(os.open(part, flags if last else _DIRECTORY, dir_fd=held[-1]))
        yield held[-1]
    finally:
        for descriptor in reversed(held):
            os.close(descriptor)


class LocalFacts:
    """Implements :class:`fateforger.workflow.trace.Facts`."""

    def __init__(self, allowed: AllowList, *, seconds: float = MAX_CHECK_SECONDS) -> None:
        self._allowed = allowed
        self._seconds = seconds

    @property
    def allowed(self) -> bool:
        return self._allowed.folder is not None

    async def contains(self, pattern: str, text: str) -> CheckAnswer:
        folder = self._allowed.folder
        if folder is None:
            return CheckAnswer(None, NothingAllowed.why)
        if not is_inside(pattern) or not self._allowed.files:
            return CheckAnswer(None, f"Files like “{pattern}” may not be looked at.")
        try:
            return await asyncio.to_thread(self._look, folder, pattern, text)
        except SearchLimitExceeded:
            return CheckAnswer(None, f"There are too many files to look for “{pattern}” among them.")
        except OSError as error:
            return CheckAnswer(None, f"The files cannot be looked at: {error.strerror or error}.")

    async def succeeds(self, command: str) -> CheckAnswer:
        allowed = self._allowed.commands.get(command)
        if allowed is None:
            return CheckAnswer(
                None, NothingAllowed.why if self._allowed.folder is None else f"“{command}” may not be run."
            )
        return await run_command(command, allowed)

    def _look(self, folder: Path, pattern: str, text: str) -> CheckAnswer:
        until = time.monotonic() + self._seconds
        unread, looked, others = None, 0, False
        for path in iter_regular_files(folder):
            if time.monotonic() >= until or looked > MAX_CHECKED_FILES:
                raise SearchLimitExceeded
            if not matches_pattern(path, pattern):
                continue
            if not any(matches_pattern(path, each) for each in self._allowed.files):
                others = True
                continue
            looked += 1
            data = _read_data(folder, path)
            if data is None:
                unread = unread or path
            elif text.encode() in data:
                return CheckAnswer(holds=True, why=f"{path} holds “{text}”.")
        if unread is not None:
            return CheckAnswer(None, f"{unread} cannot be read, or is too large.")
        if others:
            return CheckAnswer(None, f"Some files like “{pattern}” may not be looked at.")
        if not looked:
            return CheckAnswer(None, f"There is no file like “{pattern}”.")
        return CheckAnswer(holds=False, why=f"No file like “{pattern}” holds “{text}”.")


def _read_data(folder: Path, path: str) -> bytes | None:
    try:
        return read_file_bytes(folder, path)
    except OSError:
        return None  # it disappeared, became a link, or is not readable by us
