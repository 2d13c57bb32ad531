"""Draft a day's plan from tasks and immovable time, with reasons."""

from fateforger.drafting.clock import clock_at
from fateforger.drafting.draft import draft
from fateforger.drafting.instance import Told
from fateforger.drafting.minutes import in_words
from fateforger.drafting.model import Busy, Day, Draft, LunchWish, UnplacedItem, Work
from fateforger.drafting.proposal import ProposedBlock, accept_proposal

__all__ = [
    "Busy",
    "Day",
    "Draft",
    "LunchWish",
    "ProposedBlock",
    "Told",
    "UnplacedItem",
    "Work",
    "accept_proposal",
    "clock_at",
    "draft",
    "in_words",
]
