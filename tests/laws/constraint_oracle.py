"""The constraints that apply, by another method: a table of days for each row, from raw JSON, without our types.

Slow and plain on purpose. It knows nothing of how the program does it. It walks through all days of a quarter and
writes down, for each constraint, on which of them it holds. Supersession then takes days away.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr

FIRST, LAST = date(2026, 1, 1), date(2026, 4, 30)
CALENDAR = [FIRST + timedelta(days=n) for n in range((LAST - FIRST).days + 1)]
LONG_AGO = date(1970, 1, 5)


def find_applicable(lines: list[dict[str, Any]], context: dict[str, Any]) -> set[str]:
    """Return the uids that apply, regardless of any budget (A1 to A11)."""
    zone = ZoneInfo(context.get("timezone") or "UTC")
    moment = context.get("now")
    if context.get("as_of"):
        day = date.fromisoformat(context["as_of"])
    else:
        assert moment
        day = datetime.fromisoformat(moment).astimezone(zone).date()
    rows = _latest(lines, context["user_id"], moment)
    taken = {uid: _days_taken(uid, rows, context) for uid in rows}
    return {uid for uid, row in rows.items() if _is_asked_for(row, context) and day in _days(row, zone) - taken[uid]}


def _latest(lines: list[dict[str, Any]], user: str, moment: str | None) -> dict[str, dict[str, Any]]:
    """Return the newest line of each row, played back like a tape: each later line overwrites the one before it."""
    tape = sorted(enumerate(lines), key=lambda pair: (datetime.fromisoformat(pair[1]["updated_at"]), pair[0]))
    state: dict[str, dict[str, Any]] = {}
    for _, line in tape:
        known = moment is None or datetime.fromisoformat(line["updated_at"]) <= datetime.fromisoformat(moment)
        if line["user_id"] == user and known:
            state[line["constraint_record"]["lifecycle"]["uid"]] = line
    return state


def _span(record: dict[str, Any]) -> set[date]:
    begin = record["applicability"]["start_date"] or "0001-01-01"
    end = record["applicability"]["end_date"] or "9999-12-31"
    return {day for day in CALENDAR if begin <= day.isoformat() <= end}


def _days(row: dict[str, Any], zone: ZoneInfo) -> set[date]:
    record = row["constraint_record"]
    when = record["applicability"]
    days = _span(record)
    if when["days_of_week"]:
        days = {day for day in days if day.strftime("%A")[:2].upper() in when["days_of_week"]}
    if when["recurrence"]:
        days &= _occurrences(when["recurrence"], when["start_date"])
    if record["lifecycle"]["ttl_days"] is not None:
        written = datetime.fromisoformat(row["updated_at"]).astimezone(zone).date()
        days = {day for day in days if (day - written).days <= record["lifecycle"]["ttl_days"]}
    return days


@cache
def _occurrences(rule: str, start: str | None) -> frozenset[date]:
    """Return the dates of a recurrence, counted from the very first occurrence."""
    begin = datetime.combine(date.fromisoformat(start) if start else LONG_AGO, time())
    text = rule.replace("T000000Z", "") if "WKST" in rule else f"{rule.replace('T000000Z', '')};WKST=MO"
    found: set[date] = set()
    for occurrence in rrulestr(text, dtstart=begin):
        if occurrence.date() > LAST:
            break
        found.add(occurrence.date())
    return frozenset(found)


def _days_taken(uid: str, rows: dict[str, dict[str, Any]], context: dict[str, Any]) -> set[date]:
    taken: set[date] = set()
    for other, row in rows.items():
        record = row["constraint_record"]
        if other == uid or uid not in record["lifecycle"]["supersedes_uids"]:
            continue
        if record["scope"] == "session" and (
            row["session_id"] is None or row["session_id"] != context.get("session_id")
        ):
            continue
        because = row["event"]["action"] == "archive" and row["event"]["reason"] == "superseded"
        if record["status"] != "declined" or because:
            taken |= _span(record)
    return taken


def _is_asked_for(row: dict[str, Any], context: dict[str, Any]) -> bool:
    record = row["constraint_record"]
    stages, types = record["applies_stages"], record["applies_event_types"]
    wanted = context.get("event_types") or []
    kinds = context.get("type_ids") or []
    checks = [
        record["status"] in ("locked", "proposed"),
        record["scope"] != "session" or (row["session_id"] or "nowhere") == context.get("session_id"),
        not stages or not context.get("stage") or context["stage"] in stages,
        not types or not wanted or bool(set(types) & set(wanted)),
        not kinds or (record["payload"]["rule_kind"] or "other") in kinds,
    ]
    return all(checks)
