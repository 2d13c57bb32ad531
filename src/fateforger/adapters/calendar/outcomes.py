"""Refusals as the calendar port says them: outcomes of writes, errors of reads."""

from __future__ import annotations

from typing import Literal, assert_never

from fateforger.adapters.calendar.refusals import Refusal, message_of
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


def outcome_of(refusal: Refusal, text: str, write: Write) -> Outcome:
    """What a refused write came to. In doubt it is :class:`Unknown`, which makes the engine look."""
    reason = shown(text)
    creating = write == "create"
    match refusal:
        case Refusal.LIMITED:
            return Limited()
        case Refusal.LOGIN:
            return Unauthorized(reason)
        case Refusal.FORBIDDEN | Refusal.NO_CALENDAR | Refusal.INVALID:
            return Rejected(reason)
        case Refusal.NOT_FOUND | Refusal.DELETED:
            return Rejected(f"There is no such calendar ({reason}).") if creating else Gone()
        case Refusal.EXISTS | Refusal.CONFLICT if creating:
            return Exists()
        case Refusal.CONFLICT | Refusal.CHANGED if not creating:
            return Stale()
        case Refusal.EXISTS | Refusal.CONFLICT | Refusal.CHANGED | Refusal.TROUBLE | Refusal.UNCLEAR:
            return Unknown(reason)
        case _:
            assert_never(refusal)


def error_of(refusal: Refusal, text: str) -> CalendarError:
    """What a refused read is."""
    reason = shown(text)
    match refusal:
        case Refusal.LOGIN:
            return CalendarAuthFailed(f"The calendar server is not logged in to the calendar: {reason}")
        case Refusal.FORBIDDEN:
            return CalendarReadOnly(f"The calendar may not be used that way: {reason}")
        case Refusal.NO_CALENDAR | Refusal.NOT_FOUND | Refusal.DELETED:
            return CalendarNotFound(f"The calendar server knows no such calendar: {reason}")
        case Refusal.LIMITED:
            return CalendarUnreachable(f"The calendar wants fewer requests; try again in a minute: {reason}")
        case Refusal.TROUBLE:
            return CalendarUnreachable(f"The calendar server could not reach the calendar: {reason}")
        case Refusal.EXISTS | Refusal.CONFLICT | Refusal.CHANGED | Refusal.INVALID | Refusal.UNCLEAR:
            return CalendarIncomplete(f"The calendar server did not answer the question: {reason}")
        case _:
            assert_never(refusal)


def shown(text: str) -> str:
    """The first line of an error text, short enough to be shown."""
    line = message_of(text).split("\n", 1)[0].strip() or "no reason given"
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
