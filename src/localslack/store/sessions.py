"""Agent sessions: the status, title and suggested prompts of a thread with the app."""

import json
from typing import Any

from localslack.store.database import Database, dump


class Sessions:
    """Keyed by channel and thread; an empty thread means the channel itself."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, channel: str, thread_ts: str) -> dict[str, Any] | None:
        row = self._database.row("SELECT body FROM sessions WHERE channel = ? AND thread_ts = ?", channel, thread_ts)
        return None if row is None else json.loads(row[0])

    def put(self, channel: str, thread_ts: str, **fields: Any) -> dict[str, Any]:
        """Set these fields of the session, creating it if needed, and return all of it."""
        body = {**(self.get(channel, thread_ts) or {}), **fields}
        self._database.write(
            "INSERT INTO sessions VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET body = excluded.body",
            channel,
            thread_ts,
            dump(body),
        )
        return body
