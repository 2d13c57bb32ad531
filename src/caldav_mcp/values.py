"""Property values of parsed events, with the types that iCalendar promises and its parser leaves open."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

import icalendar


def values(event: icalendar.Component, name: str) -> list[Any]:
    """Return the values of a property that the parser could read, as it made them."""
    found: Any = event.get(name, [])
    listed = found if isinstance(found, list) else [found]
    return [value for value in listed if not isinstance(value, icalendar.vBroken)]


def first(event: icalendar.Component, name: str) -> Any:
    """Return the first value of a property, or None."""
    found = values(event, name)
    return found[0] if found else None


def text(event: icalendar.Component, name: str, change: Callable[[str], str] = str) -> str | None:
    """Return a property's text, or None when it is absent or empty."""
    found = first(event, name)
    return change(str(found)) if found is not None and str(found) else None


def time_of(event: icalendar.Component, name: str) -> date | datetime:
    """Return a date or time that is there; raises `KeyError` when it is not."""
    when: date | datetime = event.decoded(name)
    return when


def span_of(event: icalendar.Component, name: str) -> timedelta | None:
    """Return a span of time, or None if there is none. Raises `ValueError` if it cannot be read."""
    found = first(event, name)
    if found is None and name in event:
        raise ValueError(f"its {name} is not a span of time")
    span: timedelta | None = None if found is None else found.dt
    return span
