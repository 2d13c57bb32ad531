"""Closed vocabularies of a constraint, the wording of dates, lists and names, and the days of a recurrence rule."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping
from datetime import MAXYEAR, date, datetime, timedelta
from enum import StrEnum
from functools import lru_cache

from dateutil.rrule import rrule, rrulestr

from fateforger.limits import MAX_RECURRENCE_COUNT
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


_PARTS = {
    "FREQ", "INTERVAL", "COUNT", "UNTIL", "WKST", "BYDAY",
    "BYMONTH", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO", "BYSETPOS",
}  # fmt: skip
_FREQUENCIES = {"DAILY", "WEEKLY", "MONTHLY", "YEARLY"}
_CYCLE = 400
"""Years after which weekdays, leap years and week numbers repeat."""
_NO_START = date(1970, 1, 5)
"""A Monday long ago: the start of a rule without a start date. It matters only to rules that depend on their start."""


class _Rule:
    """A parsed rule. Raises ``ValueError`` with a sentence for a person."""

    def __init__(self, text: str) -> None:
        body = text.strip().upper().removeprefix("RRULE:")
        parts = [part.partition("=") for part in body.split(";") if part]
        names = [name for name, _, _ in parts]
        unknown = next((name for name in names if name not in _PARTS), None)
        if unknown is not None or len(set(names)) != len(names) or not all(value for _, _, value in parts):
            raise ValueError(f"“{text[:80]}” is not a recurrence rule for days; write it like FREQ=WEEKLY;BYDAY=TU,TH")
        self.parts = {name: value for name, _, value in parts}
        if self.parts.get("FREQ") not in _FREQUENCIES:
            raise ValueError("a recurrence says how often: FREQ=DAILY, WEEKLY, MONTHLY or YEARLY")
        if "UNTIL" in self.parts:
            self.parts["UNTIL"] = self.parts["UNTIL"][:8]  # days have no clock, so their end has none either
        self.count = self._number("COUNT", MAX_RECURRENCE_COUNT)
        self.interval = self._number("INTERVAL", 1_000) or 1

    def _number(self, name: str, most: int) -> int | None:
        if name not in self.parts:
            return None
        value = int(self.parts[name]) if self.parts[name].isdecimal() else 0
        if not 1 <= value <= most:
            raise ValueError(f"{name} in a recurrence is a number from 1 to {most}")
        return value

    @property
    def depends_on_start(self) -> bool:
        """Check whether another start gives other days, apart from the days before it."""
        chosen = {"DAILY": {"FREQ"}, "WEEKLY": {"BYDAY"}}.get(
            self.parts["FREQ"], {"BYDAY", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO"}
        )
        return self.interval > 1 or self.count is not None or not chosen & self.parts.keys()

    def from_start(self, start: date, *, years: int = 0) -> rrule:
        """Return the rule as an ``rrule`` of ``dateutil``, moved ``years`` later."""
        parts = {"WKST": "MO", **self.parts}
        if years and "UNTIL" in parts:
            until = int(parts["UNTIL"][:4]) + years
            parts["UNTIL"] = f"{until}{parts['UNTIL'][4:]}" if until <= MAXYEAR else f"{MAXYEAR}1231"
        body = ";".join(f"{name}={value}" for name, value in parts.items())
        start = start.replace(year=start.year + years)
        rule = rrulestr(body, dtstart=datetime(start.year, start.month, start.day))  # noqa: DTZ001  a day has no zone
        assert isinstance(rule, rrule)  # noqa: S101  only texts with several lines give a set
        return rule

    def nearer(self, start: date, month: date) -> tuple[_Rule, date]:
        """Return an equivalent rule with the latest start that gives the same days from ``month`` on.

        This avoids counting through the years in between.
        """
        by_week = self.parts["FREQ"] == "WEEKLY"
        if self.count is not None or start >= month or (by_week and "BYSETPOS" in self.parts):
            return self, start
        match self.parts["FREQ"]:
            case "DAILY":
                return self, start + timedelta(days=_round_down((month - start).days, self.interval))
            case "WEEKLY":
                return self, start + timedelta(days=_round_down((month - start).days, 7 * self.interval))
            case "MONTHLY":
                months = _round_down((month.year - start.year) * 12 + month.month - start.month, self.interval)
                year, place = divmod(start.year * 12 + start.month - 1 + months, 12)
                return self._make_explicit(start), date(year, place + 1, 1)
            case _:
                return self._make_explicit(start), date(
                    start.year + _round_down(month.year - start.year, self.interval), 1, 1
                )

    def _make_explicit(self, start: date) -> _Rule:
        """Add the parts that ``start`` implies, so that a start on the first of a month gives the same days."""
        if self.parts.keys() & {"BYDAY", "BYMONTHDAY", "BYYEARDAY", "BYWEEKNO"}:
            return self
        yearly = self.parts["FREQ"] == "YEARLY" and "BYMONTH" not in self.parts
        implied = {"BYMONTHDAY": str(start.day)} | ({"BYMONTH": str(start.month)} if yearly else {})
        return _Rule(";".join(f"{name}={value}" for name, value in {**self.parts, **implied}.items()))


def _round_down(length: int, step: int) -> int:
    return length // step * step


def check_rule(text: str) -> None:
    """Raise ``ValueError`` with a sentence for a person if ``text`` is not a rule that :func:`occurs` understands."""
    try:
        _Rule(text).from_start(_NO_START)
    except ValueError as error:
        if "recurrence" in str(error):
            raise
        raise ValueError(f"“{text[:80]}” is not a recurrence rule: {error}") from None


def depends_on_start(text: str) -> bool:
    """Check whether the rule is ambiguous without a start date, like every second week."""
    return _Rule(text).depends_on_start


def occurs(text: str, start: date | None, day: date) -> bool:
    """Check whether ``day`` is an occurrence of the rule with DTSTART ``start``.

    Weeks start on Monday unless the rule says otherwise. A rule without a start has no beginning.
    """
    begin = start or _NO_START
    return day >= begin and day in _list_days(text, begin, day.year, day.month)


@lru_cache(maxsize=8_192)
def _list_days(text: str, start: date, year: int, month: int) -> frozenset[date]:
    first, last = date(year, month, 1), date(year, month, monthrange(year, month)[1])
    rule, begin = _Rule(text).nearer(start, first)
    # A rule that matches nothing is searched until the year 9999. The calendar repeats every 400 years, so the month is
    # looked up as close to that end as possible.
    years = (MAXYEAR - year) // _CYCLE * _CYCLE
    low, high = (datetime(d.year + years, d.month, d.day) for d in (first, last))  # noqa: DTZ001  days have no zone
    found = rule.from_start(begin, years=years).between(low, high, inc=True)
    return frozenset(date(year, month, moment.day) for moment in found)


def list_weekdays(text: str) -> frozenset[str]:
    """Return the weekdays a weekly rule can fall on; all of them for any other rule."""
    parts = _Rule(text).parts
    if parts["FREQ"] != "WEEKLY" or "BYDAY" not in parts:
        return frozenset(WEEK)
    return frozenset(name[-2:] for name in parts["BYDAY"].split(","))
