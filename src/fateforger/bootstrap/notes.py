"""The logbook of a running program, with recordings if they are configured."""

from __future__ import annotations

import secrets

from fateforger.adapters.recordings import RecordingFiles
from fateforger.config import Settings
from fateforger.coordinator.cleaning import Cleaning
from fateforger.coordinator.logbook import Kept, Logbook
from fateforger.ports import Clock


def logbook_of(settings: Settings, clock: Clock) -> Logbook:
    """Return the logbook. The key for pseudonyms is new for each process and stored nowhere."""
    if settings.record is None:
        return Logbook(clock)
    key = secrets.token_bytes(32) if settings.record_titles == "redact" else None
    cleaning = Cleaning(secrets=settings.secrets, key=key)
    return Logbook(clock, Kept(RecordingFiles(settings.record), cleaning))
