"""URLs for answers to an interaction without a token: for half an hour, five times."""

import json
from dataclasses import asdict, dataclass
from typing import Literal

from localslack.store.database import Database, dump

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
