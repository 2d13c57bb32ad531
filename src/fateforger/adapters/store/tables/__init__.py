"""The tables.

Instants are whole microseconds since 1970 in UTC: exact, ordered, the same in every database. Domain values are stored
whole, as JSON text, next to the columns that are searched or change on their own. ``schema_version`` is the format of
that text.
"""

from fateforger.adapters.store.tables.agents import AgentCall, AgentClient, AgentProposal
from fateforger.adapters.store.tables.base import Counter, Instant, metadata, table
from fateforger.adapters.store.tables.calendar import (
    CalendarLease,
    EventGeneration,
    EventHead,
    QuotaUse,
    SyncOpRow,
    SyncTx,
)
from fateforger.adapters.store.tables.conversation import (
    FeedbackRow,
    JobReceipt,
    JobRow,
    ModelUsage,
    OutboxRow,
    SessionRow,
)
from fateforger.adapters.store.tables.memory import ConstraintUnindexed, ConstraintVersion
from fateforger.adapters.store.tables.ownership import CalendarOwnerRow
from fateforger.adapters.store.tables.people import Erasure
from fateforger.adapters.store.tables.tasks import TaskBlocker, TaskRow

__all__ = [
    "AgentCall",
    "AgentClient",
    "AgentProposal",
    "CalendarLease",
    "CalendarOwnerRow",
    "ConstraintUnindexed",
    "ConstraintVersion",
    "Counter",
    "Erasure",
    "EventGeneration",
    "EventHead",
    "FeedbackRow",
    "Instant",
    "JobReceipt",
    "JobRow",
    "ModelUsage",
    "OutboxRow",
    "QuotaUse",
    "SessionRow",
    "SyncOpRow",
    "SyncTx",
    "TaskBlocker",
    "TaskRow",
    "metadata",
    "table",
]
