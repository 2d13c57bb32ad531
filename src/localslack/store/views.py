"""Home tabs and stacks of open modals."""

import json
from typing import Any

from localslack.store.database import Database, dump


class Views:
    """A view with a depth is an open modal (1 is the bottom of its stack), one without is a Home tab."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def home(self, user: str) -> dict[str, Any] | None:
        row = self._database.row("SELECT body FROM views WHERE user = ? AND depth IS NULL", user)
        return None if row is None else json.loads(row[0])

    def stack(self, user: str) -> list[dict[str, Any]]:
        """Return the person's open modals, bottom to top."""
        rows = self._database.rows("SELECT body FROM views WHERE user = ? AND depth IS NOT NULL ORDER BY depth", user)
        return [json.loads(body) for (body,) in rows]

    def get(self, view_id: str) -> tuple[str, dict[str, Any]] | None:
        """Return the view and whose it is."""
        return self._find("id", view_id)

    def by_external_id(self, external_id: str) -> tuple[str, dict[str, Any]] | None:
        return self._find("external_id", external_id)

    def put_home(self, user: str, view: dict[str, Any]) -> None:
        with self._database.transaction():
            self._database.write("DELETE FROM views WHERE user = ? AND depth IS NULL", user)
            self._insert(user, None, view)

    def put_modal(self, user: str, depth: int, view: dict[str, Any]) -> None:
        """Place a view at this depth of the person's stack; deeper ones are dropped."""
        with self._database.transaction():
            self.cut(user, depth - 1)
            self._insert(user, depth, view)

    def replace(self, view: dict[str, Any]) -> None:
        """Give a view that is open a new body."""
        self._database.write(
            "UPDATE views SET body = ?, external_id = ? WHERE id = ?",
            dump(view),
            view.get("external_id") or None,
            view["id"],
        )

    def cut(self, user: str, depth: int) -> None:
        """Keep only the lowest `depth` modals of the person's stack."""
        self._database.write("DELETE FROM views WHERE user = ? AND depth > ?", user, depth)

    def _insert(self, user: str, depth: int | None, view: dict[str, Any]) -> None:
        self._database.write(
            "INSERT INTO views VALUES (?, ?, ?, ?, ?)",
            view["id"],
            user,
            depth,
            view.get("external_id") or None,
            dump(view),
        )

    def _find(self, column: str, value: str) -> tuple[str, dict[str, Any]] | None:
        row = self._database.row(f"SELECT user, body FROM views WHERE {column} = ?", value)  # noqa: S608 - our word
        return None if row is None else (row[0], json.loads(row[1]))
