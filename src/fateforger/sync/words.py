"""Differences and times as people and programs read them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from fateforger.plan import type_of_color
from fateforger.plan.types import COLOR_BY_TYPE
from fateforger.sync.canonical import Canon
from fateforger.sync.model import MANAGED

Change = tuple[str | None, str | None]
_SHORT = 80
_MOST_NAMED = 3


def shown(value: str | datetime | None, tz: ZoneInfo) -> str | None:
    """A field's value as text; an instant in RFC 3339 with the offset of ``tz``."""
    return value.astimezone(tz).isoformat() if isinstance(value, datetime) else value


def changes_between(
    before: Canon | None, after: Canon | None, tz: ZoneInfo, fields: Collection[str] = MANAGED
) -> dict[str, Change]:
    """``{field: (before, after)}`` for each of ``fields`` that differs; ``None`` stands for no event."""
    changes: dict[str, Change] = {}
    for place, name in enumerate(MANAGED):
        old = None if before is None else before[place]
        new = None if after is None else after[place]
        if name in fields and (old != new or before is None or after is None):
            changes[name] = (shown(old, tz), shown(new, tz))
    return changes


def quoted(title: str) -> str:
    """A title inside a sentence, cut to a readable length."""
    title = " ".join(title.split()) or "(no title)"
    return f"“{title if len(title) <= _SHORT else title[: _SHORT - 1].rstrip() + '…'}”"


def clock(start: datetime, end: datetime, tz: ZoneInfo) -> str:
    """``09:00–10:30``, by the clock of ``tz``."""
    return f"{start.astimezone(tz):%H:%M}–{end.astimezone(tz):%H:%M}"


def listed(titles: Sequence[str]) -> str:
    """Up to three titles, and how many more."""
    named = [quoted(title) for title in titles[:_MOST_NAMED]]
    more = len(titles) - len(named)
    if more:
        return f"{', '.join(named)} and {more} more"
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


def field_words(name: str, value: str | datetime | None, tz: ZoneInfo) -> str:
    """A field with its value, for a sentence."""
    match name:
        case "summary":
            return f"the title {quoted(str(value or ''))}"
        case "description":
            return "the notes"
        case "start" | "end":
            instant = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
            return f"the {name} at {instant.astimezone(tz):%H:%M}"
        case _:
            return (
                f"the colour of {type_of_color(str(value)).words}" if value in COLOR_BY_TYPE.values() else "the colour"
            )
