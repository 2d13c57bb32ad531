"""Cost of the recurrence of a calendar object, estimated from its text before anything computes it.

A rule may match nothing until the year 9999, or every second since 1970, and the programs that compute rules do not
stop by themselves. Nearly every rule that a person makes is of a few plain forms, which take milliseconds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from caldav_mcp.content_lines import unfold
from caldav_mcp.limits import MAX_BY_VALUES, MAX_COMPONENTS, MAX_DATES, MAX_INTERVAL

_RULES = ("RRULE", "EXRULE", "RDATE", "EXDATE")
_EARLIEST = {"YEARLY": 0, "MONTHLY": 1600, "WEEKLY": 1900, "DAILY": 1950}
"""The first year of a rule of each frequency."""
_LATEST = 9999
_YEAR = re.compile(r":(\d{4})\d{4}(?:T\d{6}Z?)?$", re.ASCII)
_BOUNDS = frozenset({"COUNT", "UNTIL", "WKST"})
_BY_PARTS = {
    "YEARLY": frozenset({"BYMONTH", "BYMONTHDAY", "BYDAY", "BYSETPOS"}),
    "MONTHLY": frozenset({"BYMONTH", "BYMONTHDAY", "BYDAY", "BYSETPOS"}),
    "WEEKLY": frozenset({"BYDAY"}),
    "DAILY": frozenset({"BYDAY", "BYMONTH"}),
}
"""Parts that may narrow a rule of each frequency. A rule of years or months without a match ends after 8,000 years,
which is half a second; the parts for days and weeks match something each year."""


def is_plain(text: str) -> bool:
    """Check whether the recurrence of an object, and of its time zones, is computed in well under a second."""
    return _is_plain(text, zones_only=False)


def has_plain_zones(text: str) -> bool:
    """Check whether an object can be parsed: a parser computes the changes of its time zones."""
    return _is_plain(text, zones_only=True)


def repeats(text: str) -> bool:
    """Check whether an object is a series, as far as its text tells."""
    return any(_name(line) in _RULES for line, in_zone in _lines(text) if not in_zone)


def without_recurrence(text: str) -> str:
    """Return the object as if nothing in it ever came again: its first event, in zones without changes."""
    return "".join(f"{line}\r\n" for line in unfold(text) if _name(line) not in _RULES)


def _is_plain(text: str, *, zones_only: bool) -> bool:
    dates = components = 0
    begins, since = _LATEST, 0
    for line, in_zone in _lines(text):
        if zones_only and not in_zone:
            continue
        name = _name(line)
        if name == "BEGIN":
            components += 1
        elif name in {"RDATE", "EXDATE"}:
            dates += line.count(",") + 1
        elif name == "RRULE":
            since = max(since, _since(line, in_zone=in_zone))
            dates += 10 if in_zone else 100
        elif name == "EXRULE":
            since = _LATEST + 1
        elif name == "DTSTART" and not in_zone:
            begins = min(begins, _year(line))
        if dates > MAX_DATES or components > MAX_COMPONENTS or since > _LATEST:
            return False
    return since <= begins


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each line, and whether it is part of a time zone."""
    in_zone = False
    for line in unfold(text):
        upper = line[:20].upper().rstrip()
        in_zone = in_zone or upper == "BEGIN:VTIMEZONE"
        yield line, in_zone
        in_zone = in_zone and upper != "END:VTIMEZONE"


def _name(line: str) -> str:
    return re.split("[;:]", line[:20], maxsplit=1)[0].strip().upper()


def _year(line: str) -> int:
    year = _YEAR.search(line.rstrip())
    return int(year[1]) if year else 0


def _since(line: str, *, in_zone: bool) -> int:
    """Return the first year in which a plain rule may begin; for one that is not plain a year that never comes."""
    frequency = _plain_frequency(line)
    return _LATEST + 1 if frequency is None or (in_zone and frequency != "YEARLY") else _EARLIEST[frequency]


def _plain_frequency(line: str) -> str | None:
    pairs = [part.strip().upper().partition("=") for part in line.partition(":")[2].split(";") if part.strip()]
    parts = {name: value for name, _, value in pairs}
    frequency, interval = parts.pop("FREQ", ""), parts.pop("INTERVAL", "1")
    allowed = _BY_PARTS.get(frequency)
    if allowed is None or len({name for name, _, _ in pairs}) != len(pairs):
        return None
    if not _are_numbers([interval], 1, MAX_INTERVAL):
        return None
    narrowed = parts.keys() - _BOUNDS
    # Each seventh day from a Tuesday on is never a Monday.
    if frequency == "DAILY" and narrowed and interval != "1":
        return None
    values = {name: parts[name].split(",") for name in narrowed}
    short = all(len(each) <= MAX_BY_VALUES for each in values.values())
    months = _are_numbers(values.get("BYMONTH", []), 1, 12)
    return frequency if narrowed <= allowed and short and months else None


def _are_numbers(values: Iterable[str], least: int, most: int) -> bool:
    return all(v.isascii() and v.isdecimal() and len(v) <= 6 and least <= int(v) <= most for v in values)
