"""Recordings as files in a directory that only its owner can read."""

from __future__ import annotations

import asyncio
import os
import secrets
from pathlib import Path

from fateforger.errors import StoreUnavailable


class RecordingFiles:
    """Implements :class:`fateforger.ports.Recordings`. The directory is made when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def keep(self, name: str, text: str) -> None:
        """See :meth:`fateforger.ports.Recordings.keep`."""
        try:
            await asyncio.to_thread(self._write, name, text)
        except OSError as error:
            raise StoreUnavailable(f"I cannot write to {self._folder}: {error.strerror or error}.") from None

    def _write(self, name: str, text: str) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._folder / f".{name}.{secrets.token_hex(4)}"
        try:
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(self._folder / name)
        finally:
            draft.unlink(missing_ok=True)
