"""Translate refusals of the server into outcomes of writes and errors of reads."""

from __future__ import annotations

import re
from typing import Literal, assert_never

from fateforger.adapters.calendar.refusals import Refusal, strip_wrapping
from fateforger.errors import (
    CalendarAuthFailed,
    CalendarError,
    CalendarIncomplete,
    CalendarNotFound,
    CalendarReadOnly,
    CalendarUnreachable,
)
from fateforger.ports import Exists, Gone, Limited, Outcome, Rejected, Stale, Unauthorized, Unknown

Write = Literal["create", "update", "delete"]
_LONGEST = 300
_DETAILS = re.compile(r"\.? Details: .*$")
_AROUND = re.compile(r"(Access denied|Resource not found|Bad Request|Google API server error): ")

NO_LOGIN = (
    "The login to your calendar does not work ({}). Please check it at the calendar server, or log in there again."
)
READ_ONLY = (
    "I may read this calendar but not write to it ({}). Please ask for the right to make changes to it, or name another"
    " one in FATEFORGER_CALENDAR_ID."
)
NOT_THERE = (
    "The calendar server does not find your calendar ({}). Please check that it still exists and that your login may"
    " use it."
)
"""Messages about problems that a person can fix, with the server's words in brackets."""
_NEVER = {
    Refusal.READ_ONLY: READ_ONLY,
    Refusal.NO_CALENDAR: NOT_THERE,
    Refusal.FORBIDDEN: "Your calendar does not allow it ({}).",
    Refusal.INVALID: "Your calendar cannot take it ({}).",
}


def to_outcome(refusal: Refusal, text: str, write: Write) -> Outcome:
    """Return the outcome of a refused write. In doubt it is :class:`Unknown`, which makes the engine read the event."""
    reason = extract_sentence(text)
    creating = write == "create"
    match refusal:
        case Refusal.LIMITED:
            return Limited()
        case Refusal.LOGIN:
            return Unauthorized(NO_LOGIN.format(reason))
        case Refusal.READ_ONLY | Refusal.NO_CALENDAR | Refusal.FORBIDDEN | Refusal.INVALID:
            return Rejected(_NEVER[refusal].format(reason))
        case Refusal.NOT_FOUND | Refusal.DELETED:
            return Rejected(NOT_THERE.format(reason)) if creating else Gone()
        case Refusal.EXISTS | Refusal.CONFLICT if creating:
            return Exists()
        case Refusal.CONFLICT | Refusal.CHANGED if not creating:
            return Stale()
        case Refusal.EXISTS | Refusal.CONFLICT | Refusal.CHANGED | Refusal.TROUBLE | Refusal.UNCLEAR:
            return Unknown(reason)
        case _:
            assert_never(refusal)


def to_error(refusal: Refusal, text: str) -> CalendarError:
    """Return the error of a refused read."""
    reason = extract_sentence(text)
    match refusal:
        case Refusal.LOGIN:
            return CalendarAuthFailed(NO_LOGIN.format(reason))
        case Refusal.READ_ONLY:
            return CalendarReadOnly(READ_ONLY.format(reason))
        case Refusal.FORBIDDEN:
            return CalendarReadOnly(f"Your login may not use this calendar that way ({reason}).")
        case Refusal.NO_CALENDAR | Refusal.NOT_FOUND | Refusal.DELETED:
            return CalendarNotFound(NOT_THERE.format(reason))
        case Refusal.LIMITED:
            return CalendarUnreachable(f"Your calendar takes no more requests for the moment ({reason}).")
        case Refusal.TROUBLE:
            return CalendarUnreachable(f"The calendar server could not reach your calendar ({reason}).")
        case Refusal.EXISTS | Refusal.CONFLICT | Refusal.CHANGED | Refusal.INVALID | Refusal.UNCLEAR:
            return CalendarIncomplete(f"The calendar server did not answer the question ({reason}).")
        case _:
            assert_never(refusal)


def extract_sentence(text: str) -> str:
    """Return the first sentence of an error text, short enough for use inside another sentence."""
    line = _DETAILS.sub("", strip_wrapping(text).split("\n", 1)[0])
    sentence = _AROUND.sub("", line, count=1).split(". ", 1)[0].strip().rstrip(".") or "no reason given"
    return sentence if len(sentence) <= _LONGEST else f"{sentence[:_LONGEST]}…"
