"""The warnings of a write: events at the same time, and events that look like the same one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from caldav_mcp.errors import ToolError
from caldav_mcp.occurrences import MOST, Occurrence
from caldav_mcp.times import Moment
from caldav_mcp.tools.calendars import Calendars, Named
from caldav_mcp.tools.read import occurrence_json, occurrences_in

_BLOCKING, _SIMILAR = 0.95, 0.7
_SAME = "This appears to be a duplicate. Consider updating the existing event instead."
_ALIKE = "This event is very similar to an existing one. Is this intentional?"


@dataclass(frozen=True)
class Proposal:
    """An event about to be written: its title, its time, and (for an update) the id it has."""

    title: str
    start: Moment
    end: Moment
    event_id: str | None = None


async def overlaps(
    calendars: Calendars, named: Named, proposal: Proposal, given: dict[str, Any], *, duplicates: bool
) -> dict[str, Any]:
    """Return the `duplicates`, `conflicts` and `warnings` of an answer; empty when there are none.

    Nothing is looked for with an empty `calendarsToCheck`, nor for all-day events. Raises `ToolError` when an event
    with the same title is there already and duplicates are not allowed.
    """
    if proposal.start.day is not None or proposal.end.instant <= proposal.start.instant:
        return {}
    alike: list[dict[str, Any]] = []
    meeting: list[dict[str, Any]] = []
    threshold = given.get("duplicateSimilarityThreshold") or _SIMILAR
    for name in given.get("calendarsToCheck", [named.shown]):
        collection = named.collection if name == named.shown else calendars.find(name)
        if collection is None:
            continue
        others = await occurrences_in(collection, proposal.start.instant, proposal.end.instant)
        for other in others[:MOST]:
            event = occurrence_json(calendars, Named(name, collection), other)
            if proposal.event_id is not None and proposal.event_id in {event["id"], event.get("recurringEventId")}:
                continue
            likeness = _likeness(proposal.title, event.get("summary", ""))
            if duplicates and other.start.day is None and likeness >= threshold:
                alike.append(_duplicate(name, event, likeness))
            meeting.append(_conflict(name, event, proposal, other))
    _refuse_copies(alike, given)
    warnings = [f"Found {len(alike)} potential duplicate(s)"] if alike else []
    warnings += [f"Found {len(meeting)} scheduling conflict(s)"] if meeting else []
    found = {"conflicts": meeting, "duplicates": alike, "warnings": warnings}
    return {key: value for key, value in found.items() if value}


def _refuse_copies(alike: list[dict[str, Any]], given: dict[str, Any]) -> None:
    copy = next((entry["event"] for entry in alike if entry["event"]["similarity"] >= _BLOCKING), None)
    if copy is not None and given.get("allowDuplicates") is not True:
        raise ToolError(
            f'Duplicate event detected ({round(copy["similarity"] * 100)}% similar). Event "{copy["title"]}" already '
            "exists. To create anyway, set allowDuplicates to true."
        )


def _likeness(one: str, other: str) -> float:
    """Return how similar the titles of overlapping events are, by the real server's rules."""
    one, other = one.lower().strip(), other.lower().strip()
    if not one or not other:
        return 0.1
    if one == other:
        return _BLOCKING
    if one in other or other in one:
        return _SIMILAR
    words, others = ([w for w in title.split() if len(w) > 3] for title in (one, other))
    if not words or not others:
        return 0.1
    common = sum(word in others for word in words) / min(len(words), len(others))
    return _SIMILAR if common >= 0.5 else 0.1


def _event(event: dict[str, Any]) -> dict[str, Any]:
    def when(side: str) -> str:
        return str(event[side].get("dateTime") or event[side].get("date"))

    title = event.get("summary") or "Untitled Event"
    return {"id": event["id"], "title": title, "start": when("start"), "end": when("end"), "url": event["htmlLink"]}


def _duplicate(calendar: str, event: dict[str, Any], likeness: float) -> dict[str, Any]:
    suggestion = _SAME if likeness >= _BLOCKING else _ALIKE
    return {"event": _event(event) | {"similarity": likeness}, "calendarId": calendar, "suggestion": suggestion}


def _conflict(calendar: str, event: dict[str, Any], proposal: Proposal, other: Occurrence) -> dict[str, Any]:
    shared = min(proposal.end.instant, other.end.instant) - max(proposal.start.instant, other.start.instant)
    share = round(shared / (proposal.end.instant - proposal.start.instant) * 100)
    overlap = {"duration": _words(max(shared, timedelta())), "percentage": f"{max(share, 0)}%"}
    return {"event": _event(event), "calendar": calendar, "overlap": overlap}


def _words(span: timedelta) -> str:
    minutes = int(span.total_seconds()) // 60
    days, hours, rest = minutes // 1440, minutes // 60 % 24, minutes % 60
    if days:
        parts = [(days, "day"), (hours, "hour")]
    elif hours:
        parts = [(hours, "hour"), (rest, "minute")]
    else:
        return f"{rest} minute{'' if rest == 1 else 's'}"
    return " ".join(f"{n} {unit}{'s' if n > 1 else ''}" for n, unit in parts if n)
