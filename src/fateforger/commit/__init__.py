"""Carry out a sync plan on a calendar, crash-safe and reversible."""

from fateforger.commit.execute import ExecutionResult, execute_sync
from fateforger.commit.limits import Limits
from fateforger.commit.outside import CommitContext
from fateforger.commit.read import read_day
from fateforger.commit.result import SyncResult, SyncStatus
from fateforger.commit.submitter import CalendarSubmitter
from fateforger.commit.undo import undo_sync

__all__ = [
    "CalendarSubmitter",
    "CommitContext",
    "ExecutionResult",
    "Limits",
    "SyncResult",
    "SyncStatus",
    "execute_sync",
    "read_day",
    "undo_sync",
]
