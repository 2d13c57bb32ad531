"""Views that a thread can open on its card: the history of a day, and the preview of the next write."""

from __future__ import annotations

from datetime import datetime

from fateforger.calendar.history import HistoryRow
from fateforger.values import Value

FIRST_LISTED = 8
MORE_LISTED = 12
MOST_LISTED = 32
"""Rows of a history: at first, with each click on *Show older*, and at most.

Slack shows fifty parts of a message.
"""


class HistoryView(Value):
    """The listed rows of a history, the newest first, of ``total``.

    ``asked`` is the click that opened it; a new one moves it to the end of the thread. ``newest`` is the newest write
    when it was made. ``lines`` describe the last click on a row.
    """

    asked: str
    rows: tuple[HistoryRow, ...] = ()
    total: int = 0
    listed: int = FIRST_LISTED
    newest: str = ""
    lines: tuple[str, ...] = ()


class PreviewView(Value):
    """The next write in words, as of ``at``, or the ``problem`` that prevents a preview.

    It is ``stale`` once the plan or the calendar has changed since.
    """

    asked: str
    at: datetime
    counts: str = ""
    todo: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    brakes: tuple[str, ...] = ()
    problem: str | None = None
    stale: bool = False
