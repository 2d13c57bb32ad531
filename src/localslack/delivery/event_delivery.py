"""Events API payloads on their way to the app: kept until acknowledged, sent again when they are not."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from localslack.delivery.transport import Failure, Transport
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


RETRY_DELAYS_SECONDS = (0.0, 60.0, 300.0)
"""Slack's schedule: almost at once, after a minute, after five; then the event is given up."""


class EventDelivery:
    """At least once, in the order of writing; across reconnections and restarts of either side."""

    def __init__(self, database: Database, transport: Transport, *, ack_seconds: float) -> None:
        self.ack_seconds = ack_seconds
        self.retry_seconds: tuple[float, ...] = RETRY_DELAYS_SECONDS
        self._database = database
        self._envelopes = Envelopes(database)
        self._transport = transport
        self._reasons: dict[str, str] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}
        transport.on_acknowledged.append(self._acknowledge)
        transport.on_failed.append(self._handle_failure)
        transport.on_connections_changed.append(self._connections_changed)

    def add(self, payload: dict[str, Any]) -> None:
        """Store the payload with what is being written now; it goes out when that is safe."""
        envelope = Envelope(str(uuid4()), payload, sent=int(self._transport.connected), unanswered=0)
        self._envelopes.add(envelope)
        if envelope.sent:
            self._database.after_commit(lambda: self._transmit(envelope))

    def waiting(self) -> list[Envelope]:
        return self._envelopes.all()

    def close(self) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _transmit(self, envelope: Envelope) -> None:
        retry = envelope.sent - 1
        self._transport.send(
            {
                "envelope_id": envelope.id,
                "type": "events_api",
                "payload": envelope.payload,
                "accepts_response_payload": False,
                "retry_attempt": retry,
                "retry_reason": self._reasons.get(envelope.id, self._transport.timeout_reason) if retry else "",
            }
        )
        self._after(self.ack_seconds, envelope.id, self._handle_timeout)

    def _after(self, seconds: float, envelope_id: str, then: Any) -> None:
        self._timers[envelope_id] = asyncio.get_running_loop().call_later(seconds, then, envelope_id)

    def _handle_timeout(self, envelope_id: str) -> None:
        self._timers.pop(envelope_id, None)
        envelope = self._envelopes.get(envelope_id)
        if envelope is not None:
            self._try_later(envelope, self._transport.timeout_reason)

    def _handle_failure(self, failure: Failure) -> None:
        envelope = self._envelopes.get(failure.envelope_id)
        if envelope is None or envelope.sent - 1 != failure.retry:
            return  # an interaction, or a try that was given up before
        self._cancel(envelope.id)
        if failure.final:
            self._forget(envelope.id)
        else:
            self._try_later(envelope, failure.reason)

    def _try_later(self, envelope: Envelope, reason: str) -> None:
        if envelope.unanswered >= len(self.retry_seconds):
            self._forget(envelope.id)
            return
        self._reasons[envelope.id] = reason
        self._envelopes.count(envelope.id, unanswered=1)
        self._after(self.retry_seconds[envelope.unanswered], envelope.id, self._send_again)

    def _forget(self, envelope_id: str) -> None:
        self._reasons.pop(envelope_id, None)
        self._envelopes.remove(envelope_id)

    def _cancel(self, envelope_id: str) -> None:
        timer = self._timers.pop(envelope_id, None)
        if timer is not None:
            timer.cancel()

    def _send_again(self, envelope_id: str) -> None:
        self._timers.pop(envelope_id, None)
        with self._database.transaction():
            self._envelopes.count(envelope_id, sent=1)
            envelope = self._envelopes.get(envelope_id)
            if envelope is not None:
                self._database.after_commit(lambda: self._transmit(envelope))

    def _acknowledge(self, envelope_id: str, _payload: Any) -> None:
        self._cancel(envelope_id)
        self._forget(envelope_id)

    def _connections_changed(self) -> None:
        if not self._transport.connected:
            # No connection is left to acknowledge; all of it goes out again to the next one.
            self.close()
            return
        with self._database.transaction():
            for envelope in self._envelopes.all():
                if envelope.id not in self._timers:
                    self._send_again(envelope.id)
