"""The tables of a workspace over one file."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from localslack.store.channels import Channels
from localslack.store.database import Database, dump
from localslack.store.messages import Messages


class Files:
    """Uploaded files, content included: they are small and few here."""

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


class Sessions:
    """Agent sessions by channel and thread; an empty thread means the channel itself."""

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


LIFETIME_SECONDS = 30 * 60
USES = 5


@dataclass(frozen=True)
class ResponseTarget:
    """Target of a response URL: a person in a channel and, after a click, the message that was clicked."""

    channel: str
    user: str
    message_ts: str | None = None
    thread_ts: str | None = None


class ResponseUrls:
    """URLs for answers to an interaction without a token: for half an hour, five times."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, token: str, target: ResponseTarget, now: int) -> None:
        with self._database.transaction():
            self._database.write("DELETE FROM response_urls WHERE expires < ?", now - LIFETIME_SECONDS)
            self._database.write(
                "INSERT INTO response_urls VALUES (?, ?, 0, ?)", token, now + LIFETIME_SECONDS, dump(asdict(target))
            )

    def use(self, token: str, now: int) -> ResponseTarget | Literal["expired_url", "used_url"]:
        """Count one use of the URL, or say why it cannot be used."""
        row = self._database.row("SELECT expires, uses, target FROM response_urls WHERE token = ?", token)
        if row is None or row[0] < now:
            return "expired_url"
        if row[1] >= USES:
            return "used_url"
        self._database.write("UPDATE response_urls SET uses = uses + 1 WHERE token = ?", token)
        return ResponseTarget(**json.loads(row[2]))


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


@dataclass(frozen=True)
class Store:
    database: Database
    channels: Channels
    messages: Messages
    views: Views
    response_urls: ResponseUrls
    sessions: Sessions
    schedule: Schedule
    files: Files


def open_store(path: Path) -> Store:
    """Open the file, creating it and its tables when they are missing."""
    database = Database(path)
    return Store(
        database=database,
        channels=Channels(database),
        messages=Messages(database),
        views=Views(database),
        response_urls=ResponseUrls(database),
        sessions=Sessions(database),
        schedule=Schedule(database),
        files=Files(database),
    )
