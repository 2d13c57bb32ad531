"""Compare a plan with a calendar: snapshot and ledger in, a reversible plan of ops out."""

from fateforger.sync.choices import Answer, Choices, Keep, Topic
from fateforger.sync.desired import build_desired_day
from fateforger.sync.engine import compute_fingerprint, number_ops, plan_sync
from fateforger.sync.ids import build_seed, mint
from fateforger.sync.mirror import adopt_all, describe_changes
from fateforger.sync.reading import CalendarDay, plan_from_calendar, select_day_events

__all__ = [
    "Answer",
    "CalendarDay",
    "Choices",
    "Keep",
    "Topic",
    "adopt_all",
    "build_desired_day",
    "build_seed",
    "compute_fingerprint",
    "describe_changes",
    "mint",
    "number_ops",
    "plan_from_calendar",
    "plan_sync",
    "select_day_events",
]
