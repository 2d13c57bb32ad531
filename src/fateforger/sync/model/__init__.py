"""The values of the sync engine: events as they are, blocks as they should be, and ops between them.

All times are aware instants; ``start``/``end`` of an all-day event are dates. Everything here is frozen.
"""

from fateforger.sync.model.day import DesiredBlock, DesiredDay, Head, Ledger, Snapshot, Standing
from fateforger.sync.model.event import MANAGED, OWNED_PREFIX, EventFields, EventImage, Instant, Marker, OwnedId
from fateforger.sync.model.extras import PLAIN, EventExtras, find_changed_extras, find_missing_extras
from fateforger.sync.model.plan import (
    RECORDS,
    WRITES,
    Adopted,
    Merged,
    SafetyCheck,
    SafetyCheckKind,
    SyncOp,
    SyncPlan,
    Verb,
)

__all__ = [
    "MANAGED",
    "OWNED_PREFIX",
    "PLAIN",
    "RECORDS",
    "WRITES",
    "Adopted",
    "DesiredBlock",
    "DesiredDay",
    "EventExtras",
    "EventFields",
    "EventImage",
    "Head",
    "Instant",
    "Ledger",
    "Marker",
    "Merged",
    "OwnedId",
    "SafetyCheck",
    "SafetyCheckKind",
    "Snapshot",
    "Standing",
    "SyncOp",
    "SyncPlan",
    "Verb",
    "find_changed_extras",
    "find_missing_extras",
]
