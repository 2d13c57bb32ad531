"""The SQLite file of a workspace."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_SCHEMA = """
CREATE TABLE IF NOT EXISTS channels (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, person TEXT, is_private INTEGER NOT NULL, created INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS members (
    channel TEXT NOT NULL, user TEXT NOT NULL, last_read TEXT NOT NULL DEFAULT '0', PRIMARY KEY (channel, user)
) STRICT;
CREATE TABLE IF NOT EXISTS messages (
    channel TEXT NOT NULL, ts TEXT NOT NULL, thread_ts TEXT, only_for TEXT, body TEXT NOT NULL,
    PRIMARY KEY (channel, ts)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS replies ON messages (channel, thread_ts, ts);
CREATE INDEX IF NOT EXISTS repliers ON messages (channel, thread_ts, body ->> '$.user', ts)
    WHERE thread_ts IS NOT NULL AND only_for IS NULL;
CREATE INDEX IF NOT EXISTS top_level ON messages (channel, ts)
    WHERE thread_ts IS NULL OR body ->> '$.subtype' = 'thread_broadcast';
CREATE TABLE IF NOT EXISTS reactions (
    channel TEXT NOT NULL, ts TEXT NOT NULL, name TEXT NOT NULL, user TEXT NOT NULL, ordinal INTEGER PRIMARY KEY,
    UNIQUE (channel, ts, name, user)
) STRICT;
CREATE TABLE IF NOT EXISTS views (
    id TEXT PRIMARY KEY, user TEXT NOT NULL, depth INTEGER, external_id TEXT UNIQUE, body TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS envelopes (
    id TEXT PRIMARY KEY, ordinal INTEGER NOT NULL, payload TEXT NOT NULL,
    sent INTEGER NOT NULL, unanswered INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS response_urls (
    token TEXT PRIMARY KEY, expires INTEGER NOT NULL, uses INTEGER NOT NULL, target TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS sessions (
    channel TEXT NOT NULL, thread_ts TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (channel, thread_ts)
) STRICT;
CREATE TABLE IF NOT EXISTS scheduled (
    id TEXT PRIMARY KEY, channel TEXT NOT NULL, post_at INTEGER NOT NULL, created INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS files (
    id TEXT PRIMARY KEY, body TEXT NOT NULL, content BLOB
) STRICT;
"""


class Database:
    """One connection, used from one thread at a time; what a transaction wrote survives a crash of the machine.

    Effects outside the file (frames to sockets) are given to `after_commit`, so that no client hears of what was
    rolled back.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The server may run in another thread than the one that created the workspace.
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("PRAGMA busy_timeout = 5000")
        self._connection.executescript(_SCHEMA)
        self._open = False
        self._effects: list[Callable[[], None]] = []

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; one inside another joins it."""
        if self._open:
            yield
            return
        self._connection.execute("BEGIN IMMEDIATE")
        self._open = True
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:  # also when cancelled, nothing half done is kept
            self._effects.clear()
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._open = False
        effects, self._effects = self._effects, []
        for effect in effects:
            effect()

    def after_commit(self, effect: Callable[[], None]) -> None:
        """Run `effect` once what is being written is safe; at once outside a transaction."""
        if self._open:
            self._effects.append(effect)
        else:
            effect()

    def write(self, sql: str, *values: Any) -> int:
        """Run one statement in a transaction and say how many rows it touched."""
        with self.transaction():
            return self._connection.execute(sql, values).rowcount

    def rows(self, sql: str, *values: Any) -> Sequence[tuple[Any, ...]]:
        return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Any) -> tuple[Any, ...] | None:
        found: tuple[Any, ...] | None = self._connection.execute(sql, values).fetchone()
        return found

    def close(self) -> None:
        self._connection.close()


def dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
