"""Compare a plan with a calendar: snapshot and ledger in, a reversible plan of ops out."""

from fateforger.sync.choices import Answer, Choices, Keep, Topic
from fateforger.sync.desired import desired_day
from fateforger.sync.engine import fingerprint, numbered, plan_sync
from fateforger.sync.ids import mint, seed_of
from fateforger.sync.mirror import mirror, told
from fateforger.sync.reading import CalendarDay, day_events, plan_from_calendar

__all__ = [
    "Answer",
    "CalendarDay",
    "Choices",
    "Keep",
    "Topic",
    "day_events",
    "desired_day",
    "fingerprint",
    "mint",
    "mirror",
    "numbered",
    "plan_from_calendar",
    "plan_sync",
    "seed_of",
    "told",
]
