"""The facts of this machine that its owner allows to be checked."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from fateforger.adapters.facts.allowed import AllowList, is_inside
from fateforger.adapters.facts.commands import run
from fateforger.adapters.facts.files import MOST_FILES, SECONDS, TooMuch, fits, regular_files, text_in
from fateforger.workflow.evaluating import Told

NOTHING_ALLOWED = "No files and commands may be looked at; FATEFORGER_FACTS names the file that allows some."


class LocalFacts:
    """Implements :class:`fateforger.ports.facts.Facts`."""

    def __init__(self, allowed: AllowList, *, seconds: float = SECONDS) -> None:
        self._allowed = allowed
        self._seconds = seconds

    async def contains(self, pattern: str, text: str) -> Told:
        """See :meth:`fateforger.ports.facts.Facts.contains`."""
        folder = self._allowed.folder
        if folder is None:
            return Told(None, NOTHING_ALLOWED)
        if not is_inside(pattern) or not self._allowed.files:
            return Told(None, f"Files like “{pattern}” may not be looked at.")
        try:
            return await asyncio.to_thread(self._look, folder, pattern, text)
        except TooMuch:
            return Told(None, f"There are too many files to look for “{pattern}” among them.")
        except OSError as error:
            return Told(None, f"The files cannot be looked at: {error.strerror or error}.")

    async def succeeds(self, command: str) -> Told:
        """See :meth:`fateforger.ports.facts.Facts.succeeds`."""
        allowed = self._allowed.commands.get(command)
        if allowed is None:
            return Told(None, NOTHING_ALLOWED if self._allowed.folder is None else f"“{command}” may not be run.")
        return await run(command, allowed)

    def _look(self, folder: Path, pattern: str, text: str) -> Told:
        until = time.monotonic() + self._seconds
        unread, looked, others = None, 0, False
        for path in regular_files(folder):
            if time.monotonic() >= until or looked > MOST_FILES:
                raise TooMuch
            if not fits(path, pattern):
                continue
            if not any(fits(path, each) for each in self._allowed.files):
                others = True
                continue
            looked += 1
            data = _data(folder, path)
            if data is None:
                unread = unread or path
            elif text.encode() in data:
                return Told(holds=True, why=f"{path} holds “{text}”.")
        if unread is not None:
            return Told(None, f"{unread} cannot be read, or is too large.")
        if others:
            return Told(None, f"Some files like “{pattern}” may not be looked at.")
        if not looked:
            return Told(None, f"There is no file like “{pattern}”.")
        return Told(holds=False, why=f"No file like “{pattern}” holds “{text}”.")


def _data(folder: Path, path: str) -> bytes | None:
    try:
        return text_in(folder, path)
    except OSError:
        return None  # it disappeared, became a link, or is not readable by us
