"""From tasks and immovable time to a plan for the day, with reasons; and how good a plan is."""

from fateforger.drafting.clock import clock_at
from fateforger.drafting.draft import draft
from fateforger.drafting.instance import Told
from fateforger.drafting.minutes import in_words
from fateforger.drafting.model import Busy, Day, Draft, Left, LunchWish, Work
from fateforger.drafting.proposal import Proposed, taken_up
from fateforger.drafting.quality import Grade, grade

__all__ = [
    "Busy",
    "Day",
    "Draft",
    "Grade",
    "Left",
    "LunchWish",
    "Proposed",
    "Told",
    "Work",
    "clock_at",
    "draft",
    "grade",
    "in_words",
    "taken_up",
]
