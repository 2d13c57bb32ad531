"""There is one place that writes to a person's calendar, and few ways to it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import fateforger
from fateforger.calendar.submitter import CalendarSubmitter

SOURCE = Path(str(fateforger.__file__)).parent
WRITE = re.compile(r"\bcalendar\.write\(")


def test_one_file_writes_through_the_port() -> None:
    """S91: what goes around the journal cannot be taken back. ``local`` is the calendar itself."""
    writers = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if WRITE.search(path.read_text()) and path.relative_to(SOURCE).parts[0] != "local"
    }
    assert writers == {"calendar/execution.py", "calendar/connections.py"}, (
        "the second one opens a calendar and passes on"
    )


def test_the_ways_in() -> None:
    """S91: submit, undo (of the last, of one, of all since, of a group), settling what was interrupted and finding out
    about it, and taking note, which writes to the journal only."""
    public = {
        name for name, member in inspect.getmembers(CalendarSubmitter) if not name.startswith("_") and callable(member)
    }
    reading = {"read", "preview", "history", "may_be_repeated", "late", "in_background"}
    assert public - reading == {
        "submit_plan",
        "undo_last",
        "undo_since",
        "undo_group",
        "recover",
        "find_out",
        "take_note",
        "take_back_late",
    }
