"""Read files below one folder, without following any link on the way."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

MOST_FILES = 2_000
"""The most files one search opens."""
MOST_ENTRIES = 50_000
"""The most directory entries one search visits."""
SECONDS = 30.0
"""Seconds for one search."""
MOST_BYTES = 4 * 1024 * 1024
"""The most bytes of one file."""
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
        if seen > MOST_ENTRIES:
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
        if not stat.S_ISREG(known.st_mode) or known.st_size > MOST_BYTES:
            return None
        with os.fdopen(os.dup(descriptor), "rb") as file:
            data = file.read(MOST_BYTES + 1)
        return data if len(data) <= MOST_BYTES else None


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
