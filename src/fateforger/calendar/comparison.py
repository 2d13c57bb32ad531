"""Comparison of event fields: differences and their wording."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from fateforger.calendar.event import (
    MANAGED,
    PLAIN,
    Canon,
    EventExtras,
    find_changed_extras,
)
from fateforger.planning.plan import COLOR_BY_TYPE, type_of_color
from fateforger.text import gettext as _
from fateforger.text import join_words, mark_message, quote_title


def normalize_title(title: str) -> str:
    """Return a title for comparison, without case and runs of space."""
    return " ".join(title.split()).casefold()


def get_duration(event: Canon) -> float:
    """Return the elapsed seconds."""
    return (event.end - event.start).total_seconds()


def get_overlap(one: Canon, other: Canon) -> float:
    """Return the shared time in seconds, never negative."""
    return max(0.0, (min(one.end, other.end) - max(one.start, other.start)).total_seconds())


Value = str | datetime | None
Change = tuple[Value, Value]
_MOST_NAMED = 3


def format_value(value: Value, tz: ZoneInfo) -> str | None:
    """Return a field's value as text; an instant in RFC 3339 with the offset of ``tz``."""
    return value.astimezone(tz).isoformat() if isinstance(value, datetime) else value


def list_changes(before: Canon | None, after: Canon | None) -> dict[str, Change]:
    """Return ``{field: (before, after)}`` for each managed field that differs; ``None`` means no event."""
    return {name: (getattr(before, name, None), getattr(after, name, None)) for name in _find_differing(before, after)}


def _find_differing(before: Canon | None, after: Canon | None) -> Sequence[str]:
    """Return the names of the managed fields that differ: all of them if one side has no event."""
    if before is None or after is None:
        return MANAGED
    if before == after:
        return ()
    from deepdiff import DeepDiff  # noqa: PLC0415  needed only when a pair differs, and it loads NumPy

    differing = DeepDiff(before._asdict(), after._asdict(), view="tree").affected_root_keys
    return [name for name in MANAGED if name in differing]


def format_clock(start: datetime, end: datetime, tz: ZoneInfo) -> str:
    """Return ``09:00–10:30``, by the clock of ``tz``."""
    return f"{start.astimezone(tz):%H:%M}–{end.astimezone(tz):%H:%M}"


def list_titles(titles: Sequence[str]) -> str:
    """Return up to three titles, and the number of others."""
    return join_words(map(quote_title, titles), _MOST_NAMED)


def describe_field(name: str, value: str | datetime | None, tz: ZoneInfo) -> str:
    """Return a field with its value, for a sentence."""
    match name:
        case "summary":
            return _("the title {title}", title=quote_title(str(value or "")))
        case "description":
            return _("the notes")
        case "start" | "end":
            instant = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
            time = f"{instant.astimezone(tz):%H:%M}"
            return _("the start at {time}", time=time) if name == "start" else _("the end at {time}", time=time)
        case _:
            known = value in COLOR_BY_TYPE.values()
            return _("the color of {type}", type=type_of_color(str(value)).words) if known else _("the color")


_ADDED = {
    "location": mark_message("a place"),
    "reminders": mark_message("reminders"),
    "guests": mark_message("guests"),
    "attachments": mark_message("attachments"),
    "conference": mark_message("a video call"),
    "source": mark_message("a source link"),
    "properties": mark_message("data of another program"),
    "shared_properties": mark_message("data for other programs"),
    "others": mark_message("details of another calendar program"),
}
"""Extras that an event either has or lacks, as something that was added."""
_OF_IT = {
    "location": mark_message("the place"),
    "reminders": mark_message("the reminders"),
    "guests": mark_message("the guests"),
    "guest_rights": mark_message("the settings for guests"),
    "attachments": mark_message("the attachments"),
    "conference": mark_message("the video call"),
    "source": mark_message("the source link"),
    "visibility": mark_message("the visibility"),
    "free": mark_message("the free or busy setting"),
    "tentative": mark_message("the tentative status"),
    "answers": mark_message("the guests' answers"),
    "properties": mark_message("the data of another program"),
    "shared_properties": mark_message("the data for other programs"),
    "others": mark_message("the details of another calendar program"),
}
"""All extras, as parts of an event."""


def describe_extras(now: EventExtras, known: EventExtras | None) -> str | None:
    """Return the extras a person added or changed, as a clause: ``you added a place and changed the visibility``.

    Returns ``None`` if nothing differs.
    """
    base = PLAIN if known is None else known
    names = find_changed_extras(now, known)
    added = [_(_ADDED[name]) for name in names if name in _ADDED and getattr(base, name) == getattr(PLAIN, name)]
    changed = [_(_OF_IT[n]) for n in names if n not in _ADDED or getattr(base, n) != getattr(PLAIN, n)]
    if added and changed:
        return _("you added {added} and changed {changed}", added=join_words(added), changed=join_words(changed))
    if added:
        return _("you added {added}", added=join_words(added))
    return _("you changed {changed}", changed=join_words(changed)) if changed else None


def describe_missing(names: Sequence[str]) -> str:
    """Return the end of a sentence about an event that lacks some extras: ``without the place and the reminders``."""
    return _("without {parts}", parts=join_words(_(_OF_IT[name]) for name in names))
