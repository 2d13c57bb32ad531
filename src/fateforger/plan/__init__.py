"""Plan of one day: its blocks, their timing, and their resolution to instants."""

from fateforger.plan.model import TBEvent, TBPlan, with_keys
from fateforger.plan.resolve import Resolved, overlaps, resolve, resolve_strict
from fateforger.plan.timing import AfterPrevious, BeforeNext, FixedStart, FixedWindow, Timing
from fateforger.plan.types import COLOR_BY_TYPE, ET, type_of_color
from fateforger.plan.wire import read_plan, write_plan, write_resolved
from fateforger.plan.zones import instant_of, local_day, zone

__all__ = [
    "COLOR_BY_TYPE",
    "ET",
    "AfterPrevious",
    "BeforeNext",
    "FixedStart",
    "FixedWindow",
    "Resolved",
    "TBEvent",
    "TBPlan",
    "Timing",
    "instant_of",
    "local_day",
    "overlaps",
    "read_plan",
    "resolve",
    "resolve_strict",
    "type_of_color",
    "with_keys",
    "write_plan",
    "write_resolved",
    "zone",
]
