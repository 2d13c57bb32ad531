"""One form for what means the same, so that a difference is a difference.

Titles and notes are compared without space around them and with one kind of line break; an empty colour is none;
instants count in whole seconds, as calendars keep them.
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


def canon(event: EventFields | EventImage) -> Canon:
    """The canonical form of a timed event. Raises ``ValueError`` for an all-day one."""
    summary, description, start, end, color = _MANAGED_OF(event)
    if not isinstance(start, datetime) or not isinstance(end, datetime):
        raise ValueError(f"“{event.summary}” is an all-day event and has no instants")  # noqa: TRY004  a value, not a type
    return Canon(text(summary), text(description), second(start), second(end), color or None)


def identical(one: EventFields | EventImage, other: EventFields | EventImage) -> bool:
    """Whether the managed fields are equal to the letter: then they are equal in canonical form, too."""
    return bool(_MANAGED_OF(one) == _MANAGED_OF(other))


def fields_of(values: Canon) -> EventFields:
    """The same as a value of the model."""
    summary, description, start, end, color = values
    return EventFields(summary=summary, description=description, start=start, end=end, color_id=color)


def text(value: str) -> str:
    """Without space around it, with ``\\n`` as the only line break."""
    value = value.strip()
    return value.replace("\r\n", "\n").replace("\r", "\n") if "\r" in value else value


def second(instant: datetime) -> datetime:
    """Cut down to the whole second."""
    return instant.replace(microsecond=0) if instant.microsecond else instant


def same_fields(one: EventFields | EventImage, other: EventFields | EventImage) -> bool:
    """Whether two timed events show the same; an all-day one shows the same as no other."""
    return is_timed(one) and is_timed(other) and canon(one) == canon(other)


def is_timed(event: EventFields | EventImage) -> bool:
    """Whether it has instants, at both ends."""
    return isinstance(event.start, datetime) and isinstance(event.end, datetime)


def normalized_title(title: str) -> str:
    """A title as it is compared: case and runs of space do not count."""
    return " ".join(title.split()).casefold()


def duration(event: Canon) -> float:
    """Elapsed seconds."""
    return (event.end - event.start).total_seconds()


def overlap(one: Canon, other: Canon) -> float:
    """Shared time in seconds, never negative."""
    return max(0.0, (min(one.end, other.end) - max(one.start, other.start)).total_seconds())
