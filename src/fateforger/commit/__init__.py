"""Carry out a sync plan on a calendar, crash-safe and reversible."""

from fateforger.commit.execute import Carried, execute_sync
from fateforger.commit.limits import Limits
from fateforger.commit.outside import Outside
from fateforger.commit.read import read_day
from fateforger.commit.result import SyncResult, SyncStatus
from fateforger.commit.submitter import CalendarSubmitter
from fateforger.commit.undo import undo_sync

__all__ = [
    "CalendarSubmitter",
    "Carried",
    "Limits",
    "Outside",
    "SyncResult",
    "SyncStatus",
    "execute_sync",
    "read_day",
    "undo_sync",
]
