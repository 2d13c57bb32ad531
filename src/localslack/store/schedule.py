"""Messages that are to be posted later."""

import json
from dataclasses import dataclass
from typing import Any

from localslack.store.database import Database, dump


@dataclass(frozen=True)
class ScheduledMessage:
    """`post_at` and `created` are whole seconds since the epoch; `body` holds the message fields and `thread_ts`."""

    id: str
    channel: str
    post_at: int
    created: int
    body: dict[str, Any]


class Schedule:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, message: ScheduledMessage) -> None:
        self._database.write(
            "INSERT INTO scheduled VALUES (?, ?, ?, ?, ?)",
            message.id,
            message.channel,
            message.post_at,
            message.created,
            dump(message.body),
        )

    def all(self) -> list[ScheduledMessage]:
        """Soonest first."""
        rows = self._database.rows("SELECT id, channel, post_at, created, body FROM scheduled ORDER BY post_at, rowid")
        return [
            ScheduledMessage(message_id, channel, post_at, created, json.loads(body))
            for message_id, channel, post_at, created, body in rows
        ]

    def remove(self, scheduled_id: str, channel: str) -> bool:
        return bool(self._database.write("DELETE FROM scheduled WHERE id = ? AND channel = ?", scheduled_id, channel))
