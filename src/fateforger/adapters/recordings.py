"""Recordings as files in a directory that only its owner can read."""

from __future__ import annotations

import asyncio
import json
import os
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from fateforger.errors import StoreUnavailable

_R = TypeVar("_R")


class RecordingFiles:
    """Implements :class:`fateforger.ports.model.Recordings`. The directory is created when it is first needed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def keep(self, name: str, text: str) -> None:
        await self._do("write to", lambda: self._write(name, text))

    async def of(self, user_id: str) -> Mapping[str, str]:
        return await self._do("read", lambda: {path.name: text for path, text in self._iter_about(user_id)})

    async def forget(self, user_id: str) -> int:
        return await self._do("delete from", lambda: self._forget(user_id))

    async def prune(self, *, before: datetime) -> int:
        """Delete the recordings that are older than an instant; return how many. Raises ``StoreUnavailable``."""
        return await self._do("delete from", lambda: self._prune(before.timestamp()))

    async def _do(self, what: str, work: Callable[[], _R]) -> _R:
        try:
            return await asyncio.to_thread(work)
        except OSError as error:
            raise StoreUnavailable(f"I cannot {what} {self._folder}: {error.strerror or error}.") from None

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

    def _iter_about(self, user_id: str) -> Iterator[tuple[Path, str]]:
        """Yield the recordings of a person and their drafts.

        Each contains its ``user_id`` even where words are redacted.
        """
        if not self._folder.is_dir():
            return
        person = re.compile(rf'"user_id"\s*:\s*{re.escape(json.dumps(user_id, ensure_ascii=False))}')
        for path in self._iter_files():
            text = path.read_text(encoding="utf-8", errors="replace")
            if person.search(text):
                yield path, text

    def _prune(self, before: float) -> int:
        if not self._folder.is_dir():
            return 0
        old = [path for path in self._iter_files() if path.stat().st_mtime < before]
        for path in old:
            path.unlink(missing_ok=True)
        return len(old)

    def _iter_files(self) -> Iterator[Path]:
        """Yield the recordings and their drafts, but no other files of the folder."""
        yield from (path for path in sorted(self._folder.iterdir()) if ".json" in path.suffixes and path.is_file())

    def _forget(self, user_id: str) -> int:
        found = [path for path, _ in self._iter_about(user_id)]
        for path in found:
            path.unlink(missing_ok=True)
        return len(found)
