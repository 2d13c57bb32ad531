"""Select the calendars that a person names in their settings."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from fateforger.adapters.calendar.directory import CalendarEntry
from fateforger.errors import CalendarNotFound

MOST_READ = 20
"""Each calendar costs a request every time a day is read."""


def choose_read(entries: Sequence[CalendarEntry], wanted: str, *, written: str) -> tuple[CalendarEntry, ...]:
    """Return the calendars to read besides the one that is written to, each once, in the order of ``entries``.

    ``wanted`` is ``selected`` (the ones the person ticked), ``all``, or names and ids separated by commas. ``written``
    is an id, a name or ``primary``. Raises ``CalendarNotFound`` with a sentence about the first entry that names no
    calendar, or more than one.
    """
    word = wanted.strip().lower()
    if word in ("all", "selected"):
        meant = [entry for entry in entries if entry.readable and (entry.selected or word == "all")]
    else:
        meant = [find_calendar(entries, name) for name in wanted.split(",") if name.strip()]
    main = find_calendar(entries, written)
    chosen = tuple(entry for entry in entries if entry in meant and entry != main)
    if len(chosen) > MOST_READ:
        raise CalendarNotFound(
            f"FATEFORGER_CALENDARS_READ means {len(chosen)} calendars; I can read {MOST_READ} besides the one I write"
            " to. Name the ones that matter.",
            where="calendars_read",
        )
    return chosen


def find_calendar(entries: Sequence[CalendarEntry], name: str) -> CalendarEntry:
    """Return the calendar with this id or name, ignoring case if there is no exact match.

    Raises ``CalendarNotFound``.
    """
    name = name.strip()
    tests: tuple[Callable[[CalendarEntry], bool], ...] = (
        lambda e: e.id == name or (e.primary and name == "primary"),
        lambda e: e.summary == name,
        lambda e: e.summary.casefold() == name.casefold(),
    )
    for test in tests:
        found = [entry for entry in entries if test(entry)]
        if len(found) > 1:
            ids = ", ".join(entry.id for entry in found)
            raise CalendarNotFound(
                f"You have {len(found)} calendars called “{name}”; name the one you mean by its id: {ids}."
            )
        if found:
            return found[0]
    raise CalendarNotFound(f"You have no calendar called “{name}”. {_suggest_calendar(entries, name)}")


def _suggest_calendar(entries: Sequence[CalendarEntry], name: str) -> str:
    by_name = {entry.summary.casefold(): entry.summary for entry in entries}
    near = difflib.get_close_matches(name.casefold(), by_name, n=1, cutoff=0.7)
    if near:
        return f"Did you mean “{by_name[near[0]]}”?"
    listed = ", ".join(f"“{summary}”" for summary in list(by_name.values())[:MOST_READ])
    return f"There are: {listed}." if listed else "There are none at all."
