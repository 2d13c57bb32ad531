"""Canonical forms, so that equal meaning compares equal.

Titles and notes are compared without surrounding space and with one kind of line break; an empty colour is none;
instants count in whole seconds, as calendars store them.
"""

from __future__ import annotations

from datetime import datetime
from operator import attrgetter
from typing import NamedTuple

from fateforger.sync.model import MANAGED, EventFields, EventImage

_MANAGED_OF = attrgetter(*MANAGED)


class Canon(NamedTuple):
    """The managed fields (:data:`~fateforger.sync.model.MANAGED`, in that order) in canonical form."""

    summary: str
    description: str
    start: datetime
    end: datetime
    color_id: str | None


def canonicalize(event: EventFields | EventImage) -> Canon:
    """Return the canonical form of a timed event. Raises ``ValueError`` for an all-day one."""
    summary, description, start, end, color = _MANAGED_OF(event)
    if not isinstance(start, datetime) or not isinstance(end, datetime):
        raise ValueError(f"“{event.summary}” is an all-day event and has no instants")  # noqa: TRY004  a value, not a type
    return Canon(
        normalize_text(summary),
        normalize_text(description),
        truncate_to_second(start),
        truncate_to_second(end),
        color or None,
    )


def is_identical(one: EventFields | EventImage, other: EventFields | EventImage) -> bool:
    """Check whether the managed fields are literally equal; their canonical forms are then equal, too."""
    return bool(_MANAGED_OF(one) == _MANAGED_OF(other))


def to_fields(values: Canon) -> EventFields:
    """Return canonical values as fields of the model."""
    summary, description, start, end, color = values
    return EventFields(summary=summary, description=description, start=start, end=end, color_id=color)


def normalize_text(value: str) -> str:
    """Strip a text and convert its line breaks to line feeds."""
    value = value.strip()
    return value.replace("\r\n", "\n").replace("\r", "\n") if "\r" in value else value


def truncate_to_second(instant: datetime) -> datetime:
    """Truncate an instant to the whole second."""
    return instant.replace(microsecond=0) if instant.microsecond else instant


def has_same_fields(one: EventFields | EventImage, other: EventFields | EventImage) -> bool:
    """Check whether two timed events show the same; an all-day one equals no other."""
    return is_timed(one) and is_timed(other) and canonicalize(one) == canonicalize(other)


def is_timed(event: EventFields | EventImage) -> bool:
    """Check whether both ends are instants."""
    return isinstance(event.start, datetime) and isinstance(event.end, datetime)


def normalize_title(title: str) -> str:
    """Return a title for comparison, without case and runs of space."""
    return " ".join(title.split()).casefold()


def get_duration(event: Canon) -> float:
    """Return the elapsed seconds."""
    return (event.end - event.start).total_seconds()


def get_overlap(one: Canon, other: Canon) -> float:
    """Return the shared time in seconds, never negative."""
    return max(0.0, (min(one.end, other.end) - max(one.start, other.start)).total_seconds())
