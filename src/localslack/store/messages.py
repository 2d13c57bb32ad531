"""Messages, their threads and the ones that only one person sees."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from localslack.store.database import Database, dump


@dataclass(frozen=True)
class StoredMessage:
    """A Slack message object with its place; `only_for` is the one reader of an ephemeral message."""

    channel: str
    ts: str
    thread_ts: str | None
    only_for: str | None
    body: dict[str, Any]

    @property
    def root_ts(self) -> str:
        """The ts of the thread this message belongs to or would begin."""
        return self.thread_ts or self.ts


_COLUMNS = "channel, ts, thread_ts, only_for, body"


class Messages:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, message: StoredMessage) -> None:
        self._database.write(
            f"INSERT INTO messages ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)",  # noqa: S608 - a constant
            message.channel,
            message.ts,
            message.thread_ts,
            message.only_for,
            dump(message.body),
        )

    def replace(self, message: StoredMessage) -> None:
        self._database.write(
            "UPDATE messages SET body = ? WHERE channel = ? AND ts = ?", dump(message.body), message.channel, message.ts
        )

    def remove(self, channel: str, ts: str) -> None:
        with self._database.transaction():
            self._database.write("DELETE FROM messages WHERE channel = ? AND ts = ?", channel, ts)
            self._database.write("DELETE FROM reactions WHERE channel = ? AND ts = ?", channel, ts)

    def get(self, channel: str, ts: str) -> StoredMessage | None:
        row = self._database.row(
            f"SELECT {_COLUMNS} FROM messages WHERE channel = ? AND ts = ?",  # noqa: S608 - a constant
            channel,
            ts,
        )
        return None if row is None else _message(row)

    def top_level(self, channel: str) -> list[StoredMessage]:
        """Return the messages of the channel itself, oldest first, with broadcast replies."""
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM messages WHERE channel = ?"  # noqa: S608 - a constant
            " AND (thread_ts IS NULL OR body ->> '$.subtype' = 'thread_broadcast') ORDER BY ts",
            channel,
        )
        return [_message(row) for row in rows]

    def thread(self, channel: str, root_ts: str) -> list[StoredMessage]:
        """Return the parent, unless it was deleted, and its replies, oldest first."""
        rows = self._database.rows(
            f"SELECT {_COLUMNS} FROM messages WHERE channel = ?1"  # noqa: S608 - a constant
            " AND ((ts = ?2 AND thread_ts IS NULL) OR thread_ts = ?2) ORDER BY ts",
            channel,
            root_ts,
        )
        return [_message(row) for row in rows]

    def reply_marks(self, channel: str, root_ts: str | None = None) -> dict[str, dict[str, Any]]:
        """`reply_count`, `latest_reply` and `reply_users` of each thread in the channel (or of one), by parent ts."""
        one_thread, values = ("", (channel,)) if root_ts is None else (" AND thread_ts = ?", (channel, root_ts))
        rows = self._database.rows(
            "SELECT thread_ts, body ->> '$.user' AS replier, count(*), max(ts), min(ts) AS first FROM messages"  # noqa: S608  made of our own words only
            " WHERE channel = ? AND thread_ts IS NOT NULL AND only_for IS NULL"
            f"{one_thread} GROUP BY thread_ts, replier ORDER BY first",
            *values,
        )
        marks: dict[str, dict[str, Any]] = {}
        for parent, user, count, latest, _first in rows:
            mark = marks.setdefault(parent, {"reply_count": 0, "latest_reply": latest, "reply_users": []})
            mark["reply_count"] += count
            mark["latest_reply"] = max(mark["latest_reply"], latest)
            mark["reply_users"].append(user)
            mark["reply_users_count"] = len(mark["reply_users"])
        return marks

    def last_ts(self) -> str | None:
        row = self._database.row("SELECT max(ts) FROM messages")
        return None if row is None else row[0]

    def react(self, channel: str, ts: str, name: str, user: str) -> bool:
        """Add a reaction; False when this user had given it already."""
        return bool(
            self._database.write(
                "INSERT INTO reactions (channel, ts, name, user) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                channel,
                ts,
                name,
                user,
            )
        )

    def unreact(self, channel: str, ts: str, name: str, user: str) -> bool:
        """Take a reaction back; False when there was none."""
        return bool(
            self._database.write(
                "DELETE FROM reactions WHERE channel = ? AND ts = ? AND name = ? AND user = ?", channel, ts, name, user
            )
        )

    def reactions(self, channel: str) -> dict[str, list[dict[str, Any]]]:
        """Return the `reactions` field of every message in the channel that has one, by ts."""
        rows: Sequence[tuple[Any, ...]] = self._database.rows(
            "SELECT ts, name, user FROM reactions WHERE channel = ? ORDER BY ordinal", channel
        )
        found: dict[str, dict[str, dict[str, Any]]] = {}
        for ts, name, user in rows:
            reaction = found.setdefault(ts, {}).setdefault(name, {"name": name, "users": [], "count": 0})
            reaction["users"].append(user)
            reaction["count"] += 1
        return {ts: list(by_name.values()) for ts, by_name in found.items()}


def _message(row: tuple[Any, ...]) -> StoredMessage:
    channel, ts, thread_ts, only_for, body = row
    return StoredMessage(channel, ts, thread_ts, only_for, json.loads(body))
