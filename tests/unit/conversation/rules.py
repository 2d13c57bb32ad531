"""Constraints for tests of the turn: from this session, stored, and recalled by a session."""

from __future__ import annotations

from typing import Any

from tests.factories.constraints import version_of
from tests.unit.conversation.sessions import MORNING

from fateforger.conversation.turn_values import MemoryReading
from fateforger.memory.versions import Version
from fateforger.session.model import Session
from fateforger.session.recall import recall

CALLS = version_of(
    "calls", seq=1, name="No calls before ten", description="no calls before 10, ever", necessity="must",
    rule_kind="avoid_window", windows=[{"kind": "avoid", "start": "00:00", "end": "10:00"}], applies_event_types=["M"],
)  # fmt: skip
QUIET = version_of(
    "quiet", seq=2, name="Quiet mornings", description="niets voor half tien, alsjeblieft", necessity="must",
    rule_kind="avoid_window", windows=[{"kind": "avoid", "start": "06:00", "end": "09:30"}],
)  # fmt: skip
DEEP = version_of(
    "deep", seq=3, name="Deep work early", description="deep work belongs in the morning", necessity="prefer",
    rule_kind="prefer_window", windows=[{"kind": "prefer", "start": "09:00", "end": "12:00"}],
    applies_event_types=["DW"], confidence=0.5, status="proposed",
)  # fmt: skip
LUNCH = version_of(
    "lunch", seq=4, name="Lunch outside", description="I eat outside", necessity="should",
    rule_kind="avoid_window", windows=[{"kind": "avoid", "start": "14:00", "end": "17:00"}], applies_event_types=["R"],
)  # fmt: skip
RULES = (CALLS, QUIET, DEEP, LUNCH)


def avoiding(uid: str, start: str, end: str, **fields: Any) -> Version:
    """Return a must against anything between two times."""
    windows = [{"kind": "avoid", "start": start, "end": end}]
    return version_of(uid, **{"necessity": "must", "rule_kind": "avoid_window", "windows": windows, **fields})


def knowing(now: Session, *versions: Version) -> Session:
    """Return the session after a read of a store with these versions."""
    return now.with_rules(recalled=recall(now, versions, MORNING))


def make_reading(*versions: Version) -> MemoryReading:
    """Return a read of a store with these versions."""
    return MemoryReading(versions=versions)
