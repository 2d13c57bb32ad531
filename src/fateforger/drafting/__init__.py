"""Draft a day's plan from tasks and immovable time, with reasons."""

from fateforger.drafting.clock import clock_at
from fateforger.drafting.draft import draft
from fateforger.drafting.instance import Told
from fateforger.drafting.minutes import in_words
from fateforger.drafting.model import Busy, Day, Draft, Left, LunchWish, Work
from fateforger.drafting.proposal import Proposed, taken_up

__all__ = [
    "Busy",
    "Day",
    "Draft",
    "Left",
    "LunchWish",
    "Proposed",
    "Told",
    "Work",
    "clock_at",
    "draft",
    "in_words",
    "taken_up",
]
