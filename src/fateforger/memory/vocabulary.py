"""Closed vocabularies of a constraint, and the wording of dates, lists and names."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from enum import StrEnum
from functools import lru_cache

from fateforger.text import format_weekday, mark_message


class Necessity(StrEnum):
    """How binding it is: a hard constraint, a soft one whose violation has to be explained, a preference."""

    MUST = "must"
    SHOULD = "should"
    PREFER = "prefer"

    @property
    def weakness(self) -> int:
        """0 for a must; the larger, the sooner it gives way."""
        return _WEAKNESS[self]


_WEAKNESS = {necessity: place for place, necessity in enumerate(Necessity)}


class Status(StrEnum):
    """Confirmed by the person, assumed so far, or not wanted (any more)."""

    LOCKED = "locked"
    PROPOSED = "proposed"
    DECLINED = "declined"


class Source(StrEnum):
    """Where it comes from."""

    USER = "user"
    CALENDAR = "calendar"
    SYSTEM = "system"
    FEEDBACK = "feedback"


class Scope(StrEnum):
    """How far it reaches: this conversation, always, or a span of dates."""

    SESSION = "session"
    PROFILE = "profile"
    DATESPAN = "datespan"


class RuleKind(StrEnum):
    """What kind of rule it is; also its ``type_id``."""

    PREFER_WINDOW = "prefer_window"
    AVOID_WINDOW = "avoid_window"
    FIXED_BEDTIME = "fixed_bedtime"
    MIN_SLEEP = "min_sleep"
    BUFFER = "buffer"
    SEQUENCING = "sequencing"
    CAPACITY = "capacity"


OTHER_TYPE = "other"
"""The ``type_id`` of a constraint without a rule kind."""


class WindowKind(StrEnum):
    """Whether a window is wanted or not."""

    PREFER = "prefer"
    AVOID = "avoid"


class Weekday(StrEnum):
    """Days of the week as iCalendar writes them, in the order of ``date.weekday()``."""

    MO = "MO"
    TU = "TU"
    WE = "WE"
    TH = "TH"
    FR = "FR"
    SA = "SA"
    SU = "SU"

    @property
    def words(self) -> str:
        """The name of the day."""
        return format_weekday(_MONDAY + timedelta(days=WEEK.index(self)))


WEEK = tuple(Weekday)
_MONDAY = date(2024, 1, 1)


class Dimension(StrEnum):
    """What a statement is about: how things are to be done, what matters, what is wanted, how things are."""

    POLICY = "policy"
    VALUE = "value"
    GOAL = "goal"
    STATE = "state"


class Slot(StrEnum):
    """What a person has one of at a time, so that a new one takes the place of the old one: the ``frame_slot``."""

    WAKE_UP = "wake_up"
    WORK_START = "work_start"
    LUNCH = "lunch"
    WORK_END = "work_end"
    BEDTIME = "bedtime"
    SHUTDOWN = "shutdown"
    SLACK = "slack"
    LONGEST_FOCUS = "longest_focus"
    DEEP_BLOCKS = "deep_blocks"
    AFTER_DEEP = "after_deep"
    AFTER_MEETINGS = "after_meetings"
    BEST_HOURS = "best_hours"
    ROUTINE = "routine"


class Domain(StrEnum):
    """The part of life that a statement is about: the ``category``."""

    WORK = "work"
    MEETINGS = "meetings"
    FAMILY = "family"
    FRIENDS = "friends"
    HEALTH = "health"
    FOOD = "food"
    SLEEP = "sleep"
    SPORT = "sport"
    TRAVEL = "travel"
    HOME = "home"
    LEARNING = "learning"
    LEISURE = "leisure"
    OTHER = "other"


class Action(StrEnum):
    """The event behind a version.

    ``ARCHIVE`` and ``DECLINE`` keep the row, with the status declined. ``SUPERSEDE`` marks a constraint that another
    one replaced.
    """

    UPSERT = "upsert"
    UPDATE = "update"
    DECLINE = "decline"
    ARCHIVE = "archive"
    SUPERSEDE = "supersede"


STAGE_HEADINGS: Mapping[str, str] = {
    "DATE": mark_message("Date"),
    "COLLECT": mark_message("Your day's hours"),
    "CAPTURE": mark_message("What to do"),
    "SKELETON": mark_message("First draft"),
    "REFINE": mark_message("Refine"),
    "REVIEW": mark_message("Committed"),
}
"""The stages as constraints name them, in their order, each as shown to people."""
STAGES = tuple(STAGE_HEADINGS)

_STAGE_NAMES = {
    **{name.lower(): name for name in STAGES},
    "collectconstraints": "COLLECT",
    "captureinputs": "CAPTURE",
    "inputs": "CAPTURE",
    "reviewcommit": "REVIEW",
    "commit": "REVIEW",
}


@lru_cache(maxsize=256)
def normalize_stage(name: str) -> str:
    """Return the canonical name of a stage: ``REFINE``, ``Refine`` and ``CollectConstraints`` are all in use.

    Raises ``ValueError`` with a sentence for a person.
    """
    key = _STAGE_NAMES.get("".join(letter for letter in name.lower() if letter.isalnum()))
    if key is None:
        raise ValueError(f"“{name[:60]}” is not a stage; use one of {', '.join(STAGES)}")
    return key
