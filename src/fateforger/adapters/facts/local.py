"""The facts of this machine that its owner allows to be checked."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from fateforger.adapters.facts.allowed import AllowList, is_inside
from fateforger.adapters.facts.commands import run_command
from fateforger.adapters.facts.files import (
    MOST_FILES,
    SECONDS,
    SearchLimitExceeded,
    iter_regular_files,
    matches_pattern,
    read_file_bytes,
)
from fateforger.workflow.evaluating import CheckAnswer

NOTHING_ALLOWED = "No files and commands may be looked at; FATEFORGER_FACTS names the file that allows some."


class LocalFacts:
    """Implements :class:`fateforger.ports.facts.Facts`."""

    def __init__(self, allowed: AllowList, *, seconds: float = SECONDS) -> None:
        self._allowed = allowed
        self._seconds = seconds

    async def contains(self, pattern: str, text: str) -> CheckAnswer:
        """See :meth:`fateforger.ports.facts.Facts.contains`."""
        folder = self._allowed.folder
        if folder is None:
            return CheckAnswer(None, NOTHING_ALLOWED)
        if not is_inside(pattern) or not self._allowed.files:
            return CheckAnswer(None, f"Files like “{pattern}” may not be looked at.")
        try:
            return await asyncio.to_thread(self._look, folder, pattern, text)
        except SearchLimitExceeded:
            return CheckAnswer(None, f"There are too many files to look for “{pattern}” among them.")
        except OSError as error:
            return CheckAnswer(None, f"The files cannot be looked at: {error.strerror or error}.")

    async def succeeds(self, command: str) -> CheckAnswer:
        """See :meth:`fateforger.ports.facts.Facts.succeeds`."""
        allowed = self._allowed.commands.get(command)
        if allowed is None:
            return CheckAnswer(
                None, NOTHING_ALLOWED if self._allowed.folder is None else f"“{command}” may not be run."
            )
        return await run_command(command, allowed)

    def _look(self, folder: Path, pattern: str, text: str) -> CheckAnswer:
        until = time.monotonic() + self._seconds
        unread, looked, others = None, 0, False
        for path in iter_regular_files(folder):
            if time.monotonic() >= until or looked > MOST_FILES:
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
