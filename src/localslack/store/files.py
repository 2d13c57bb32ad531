"""Uploaded files, content included: they are small and few here."""

import json
from typing import Any

from localslack.store.database import Database, dump


class Files:
    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, file: dict[str, Any]) -> None:
        """Add a file, or give it a new description; its content stays."""
        self._database.write(
            "INSERT INTO files (id, body) VALUES (?, ?) ON CONFLICT DO UPDATE SET body = excluded.body",
            file["id"],
            dump(file),
        )

    def get(self, file_id: str) -> dict[str, Any] | None:
        row = self._database.row("SELECT body FROM files WHERE id = ?", file_id)
        return None if row is None else json.loads(row[0])

    def fill(self, file_id: str, content: bytes) -> bool:
        """Store the content of a file. Return False if the file already has other content."""
        self._database.write("UPDATE files SET content = ? WHERE id = ? AND content IS NULL", content, file_id)
        return self.content(file_id) == content

    def content(self, file_id: str) -> bytes | None:
        row = self._database.row("SELECT content FROM files WHERE id = ?", file_id)
        return None if row is None else row[0]
