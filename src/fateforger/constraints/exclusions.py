"""The reasons a constraint does not apply, each with its sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from enum import StrEnum
from typing import NamedTuple

from fateforger.constraints.context import Context
from fateforger.constraints.kinds import Action, Weekday, normalize_stage
from fateforger.constraints.versions import Version
from fateforger.constraints.wording import format_day, join_words, quote_name


class Why(StrEnum):
    """A reason that keeps a constraint from applying; the first one that holds is reported."""

    DECLINED = "declined"
    ARCHIVED = "archived"
    SET_ASIDE = "set_aside"
    OTHER_SESSION = "other_session"
    SUPERSEDED = "superseded"
    NOT_YET = "not_yet"
    OVER = "over"
    EXPIRED = "expired"
    OTHER_WEEKDAY = "other_weekday"
    NO_OCCURRENCE = "no_occurrence"
    OTHER_STAGE = "other_stage"
    OTHER_EVENT_TYPES = "other_event_types"
    OTHER_TYPE = "other_type"
    CONDITION = "condition"
    RULED_OUT = "ruled_out"
    CUT = "cut"


class Excluded(NamedTuple):
    """A constraint that does not apply. ``by`` is the constraint that replaces or excludes it."""

    version: Version
    why: Why
    context: Context
    by: Version | None = None

    @property
    def uid(self) -> str:
        return self.version.uid

    @property
    def reason(self) -> str:
        """The sentence for a person."""
        return _SENTENCES[self.why](self)


def _describe_archived(excluded: Excluded) -> str:
    version = excluded.version
    if version.event.action is Action.SUPERSEDE:
        return "It was archived: superseded."
    return f"It was archived: {version.event.reason.strip()}." if version.event.reason else "It was archived."


def _describe_condition(excluded: Excluded) -> str:
    aspect = excluded.version.record.aspect
    wanted = [] if aspect is None else [f"with {quote_name(label)}" for label in aspect.conditional_on_present]
    unwanted = [] if aspect is None else [f"without {quote_name(label)}" for label in aspect.conditional_on_absent]
    return f"It is for days {' and '.join([*wanted, *unwanted])} only."


def compute_last_day(version: Version, context: Context) -> date | None:
    """Return the last day of its time to live, or ``None`` if it has none."""
    days = version.record.lifecycle.ttl_days
    if days is None:
        return None
    confirmed = context.local_day(version.updated_at)
    return confirmed + timedelta(days=min(days, (date.max - confirmed).days))


def _format_date(day: date | None) -> str:
    return "a day I do not know" if day is None else format_day(day)


def _name_replacement(excluded: Excluded) -> str:
    return "Another one" if excluded.by is None else quote_name(excluded.by.record.name)


def _list_weekdays(excluded: Excluded) -> str:
    return join_words([day.words for day in Weekday if day in excluded.version.record.applicability.days_of_week])


def _list_stages(excluded: Excluded) -> str:
    return join_words([normalize_stage(stage).lower() for stage in excluded.version.record.applies_stages])


def _list_types(excluded: Excluded) -> str:
    return join_words([kind.words for kind in excluded.version.record.applies_event_types])


_SENTENCES: Mapping[Why, Callable[[Excluded], str]] = {
    Why.DECLINED: lambda _: "You declined it.",
    Why.ARCHIVED: _describe_archived,
    Why.SET_ASIDE: lambda _: "You set it aside for this session.",
    Why.OTHER_SESSION: lambda _: "It was meant for another session only.",
    Why.SUPERSEDED: lambda x: f"{_name_replacement(x)} takes its place on that day.",
    Why.NOT_YET: lambda x: f"It begins on {_format_date(x.version.record.applicability.start_date)}.",
    Why.OVER: lambda x: f"It ended on {_format_date(x.version.record.applicability.end_date)}.",
    Why.EXPIRED: lambda x: (
        f"It was kept until {_format_date(compute_last_day(x.version, x.context))} and not confirmed since."
    ),
    Why.OTHER_WEEKDAY: lambda x: f"It is for {_list_weekdays(x)} only.",
    Why.NO_OCCURRENCE: lambda x: f"That day is not one of its days ({x.version.record.applicability.recurrence}).",
    Why.OTHER_STAGE: lambda x: f"It is for the stage {_list_stages(x)} only.",
    Why.OTHER_EVENT_TYPES: lambda x: f"It is about {_list_types(x)} only.",
    Why.OTHER_TYPE: lambda x: f"Its type is {x.version.record.type_id}, which was not asked for.",
    Why.CONDITION: _describe_condition,
    Why.RULED_OUT: lambda x: f"{_name_replacement(x)} rules it out on that day.",
    Why.CUT: lambda x: f"There was room for {x.context.k} only, and others come first.",
}
