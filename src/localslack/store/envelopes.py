"""Events that the app has not acknowledged yet."""

import json
from dataclasses import dataclass
from typing import Any

from localslack.store.database import Database, dump


@dataclass(frozen=True)
class Envelope:
    """An Events API payload on its way; `sent` counts deliveries, `unanswered` those that ran into the time limit."""

    id: str
    payload: dict[str, Any]
    sent: int
    unanswered: int


class Envelopes:
    def __init__(self, database: Database) -> None:
        self._database = database

    def add(self, envelope: Envelope) -> None:
        self._database.write(
            "INSERT INTO envelopes VALUES (?, (SELECT coalesce(max(ordinal), 0) + 1 FROM envelopes), ?, ?, ?)",
            envelope.id,
            dump(envelope.payload),
            envelope.sent,
            envelope.unanswered,
        )

    def get(self, envelope_id: str) -> Envelope | None:
        row = self._database.row("SELECT id, payload, sent, unanswered FROM envelopes WHERE id = ?", envelope_id)
        return None if row is None else _envelope(row)

    def all(self) -> list[Envelope]:
        """Oldest first."""
        rows = self._database.rows("SELECT id, payload, sent, unanswered FROM envelopes ORDER BY ordinal")
        return [_envelope(row) for row in rows]

    def count(self, envelope_id: str, *, sent: int = 0, unanswered: int = 0) -> None:
        self._database.write(
            "UPDATE envelopes SET sent = sent + ?, unanswered = unanswered + ? WHERE id = ?",
            sent,
            unanswered,
            envelope_id,
        )

    def remove(self, envelope_id: str) -> bool:
        return bool(self._database.write("DELETE FROM envelopes WHERE id = ?", envelope_id))


def _envelope(row: tuple[Any, ...]) -> Envelope:
    envelope_id, payload, sent, unanswered = row
    return Envelope(envelope_id, json.loads(payload), sent, unanswered)
