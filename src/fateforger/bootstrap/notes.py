"""The logbook of a running program, with recordings if they are configured."""

from __future__ import annotations

import secrets

from fateforger.adapters.recordings import RecordingFiles
from fateforger.config import Settings
from fateforger.coordinator.cleaning import Redaction
from fateforger.coordinator.logbook import RecordingSink, TurnLog
from fateforger.ports import Clock


def build_turn_log(settings: Settings, clock: Clock) -> TurnLog:
    """Return the logbook. The key for pseudonyms is new for each process and stored nowhere."""
    if settings.record is None:
        return TurnLog(clock)
    key = secrets.token_bytes(32) if settings.record_titles == "redact" else None
    cleaning = Redaction(secrets=settings.secrets, key=key)
    return TurnLog(clock, RecordingSink(RecordingFiles(settings.record), cleaning))
