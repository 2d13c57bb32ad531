"""Error texts of the calendar server, classified, and translated into outcomes of writes and errors of reads.

The text is the only evidence: the numeric code does not tell a rate limit from a lost connection, and the wording
around Google's message depends on the tool, on the place of failure inside the tool, and on the versions of the
server's packages. So the wording is stripped and only the message counts.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import assert_never

from fateforger.calendar.guarded_writes import Write
from fateforger.calendar.ports import Exists, Gone, Limited, Outcome, Rejected, Stale, Unauthorized, Unknown
from fateforger.errors import (
    CalendarAuthFailed,
    CalendarError,
    CalendarIncomplete,
    CalendarNotFound,
    CalendarReadOnly,
    CalendarUnreachable,
)
from fateforger.text import gettext as _
from fateforger.text import mark_message, truncate


class Refusal(StrEnum):
    """The reason the server gave for refusing a call."""

    LOGIN = "login"
    """The login expired, was refused, or was not specified."""
    LIMITED = "limited"
    READ_ONLY = "read_only"
    """The login may read the calendar, but not write to it."""
    FORBIDDEN = "forbidden"
    NO_CALENDAR = "no_calendar"
    NOT_FOUND = "not_found"
    """404: the event or the whole calendar is not there."""
    EXISTS = "exists"
    CONFLICT = "conflict"
    """409 without details: another write was in progress."""
    DELETED = "deleted"
    """410."""
    CHANGED = "changed"
    """412."""
    INVALID = "invalid"
    """400: it will be refused again."""
    TROUBLE = "trouble"
    """The server failed or lost Google; the call may have taken effect."""
    UNCLEAR = "unclear"
    """An unknown text."""


_NUMBER = re.compile(r"MCP error -?\d+: ")
_WRAPPING = re.compile(r"(Google API error|Internal error): ")

# The first match decides. Texts that quote a person's words (titles, calendar names) come first and are anchored at
# their start, so that no title can pass for another error.
_SIGNS: tuple[tuple[Refusal, tuple[str, ...]], ...] = (
    (Refusal.EXISTS, (r"^Duplicate event detected", r"^Event ID '.*' already exists")),
    (Refusal.NOT_FOUND, (r"^Event with ID '.*' not found in calendar",)),
    (Refusal.NO_CALENDAR, (r"^No account has (read |write )?access to calendar", r"^Calendar(\(s\))?\b.* not found")),
    (Refusal.INVALID, (r"^Input validation error", r"^Invalid event ID", r"^Tool .* not found")),
    (
        Refusal.LOGIN,
        (
            r"^No authenticated accounts",
            r"^Multiple accounts available",
            r"^Account \".*\" not found",
            r"^Authentication (tokens? |required)",
            r"invalid (authentication )?credentials",
            r"invalid_(grant|client)",
            r"unauthorized_client",
            r"login required",
            r"expired or revoked",
            r"no (access, )?refresh token",
            r"insufficient authentication scopes",
        ),
    ),
    (
        Refusal.LIMITED,
        (
            r"rate limit exceeded",
            r"usage limits? exceeded",
            r"quota ?exceeded",
            r"exceeded (the|your|its) .*(quota|limit)",
            r"daily limit exceeded",
            r"too many requests",
        ),
    ),
    (Refusal.CHANGED, (r"^Precondition Failed",)),
    (Refusal.EXISTS, (r"requested identifier already exists",)),
    (Refusal.CONFLICT, (r"^Conflict\b",)),
    (Refusal.DELETED, (r"^Resource has been deleted",)),
    (Refusal.TROUBLE, (r"^Google API server error", r"response body")),
    (Refusal.READ_ONLY, (r"need to have writer access",)),
    (
        Refusal.FORBIDDEN,
        (
            r"^Access denied",
            r"^Forbidden",
            r"changed by the organizer",
            r"insufficient permission",
            r"(not|n't) have (the )?(required |necessary )?(permission|access)",
        ),
    ),
    (Refusal.NOT_FOUND, (r"^Resource not found", r"^Not Found")),
    (
        # Only texts that Google is known to send: a write that did happen must not be recorded as refused.
        Refusal.INVALID,
        (
            r"^Bad Request",
            r"^Invalid (value|start|end|time|attendee|recurrence|conference|sequence)",
            r"^Invalid (resource|event|parameter|argument)",
            r"^Missing (time|start|end|required)",
            r"^Required( parameter|$)",
            r"time range is empty",
            r"must (either )?both be",
        ),
    ),
    (
        Refusal.TROUBLE,
        (
            r"^Backend Error",
            r"^Service Unavailable",
            r"^Internal (server )?error",
            r"bad gateway",
            r"gateway time-?out",
            r"^Batch request failed",
            r"^request to .* failed",
            r"\bE(CONN|HOST|NET|TIMEDOUT|AI_AGAIN|NOTFOUND|PIPE)",
            r"socket hang up",
            r"network",
            r"\baborted\b",
            r"time-?out|timed out",
        ),
    ),
)
_TABLE = tuple(
    (refusal, re.compile("|".join(f"(?:{sign})" for sign in signs), re.IGNORECASE | re.DOTALL))
    for refusal, signs in _SIGNS
)


def strip_wrapping(text: str) -> str:
    """Return the text without the server's wrapping: Google's own message if there is one."""
    bare = _NUMBER.sub("", text.strip(), count=2)
    return _WRAPPING.sub("", bare, count=1) if _WRAPPING.match(bare) else bare


def classify_refusal(text: str) -> Refusal:
    """Classify the error text of any tool."""
    message = strip_wrapping(text)
    return next((refusal for refusal, sign in _TABLE if sign.search(message)), Refusal.UNCLEAR)


_LONGEST = 300
_DETAILS = re.compile(r"\.? Details: .*$")
_AROUND = re.compile(r"((Access denied|Resource not found|Bad Request|Google API server error|Forbidden): )+")

NO_LOGIN = mark_message(
    "The login to your calendar does not work ({reason}). Please check it at the calendar server, or log in there"
    " again."
)
READ_ONLY = mark_message(
    "I may read this calendar but not write to it ({reason}). Please ask for the right to make changes to it, or name"
    " another one in FATEFORGER_CALENDAR_ID."
)
NOT_THERE = mark_message(
    "The calendar server does not find your calendar ({reason}). Please check that it still exists and that your login"
    " may use it."
)
"""Messages about problems that a person can fix, with the server's words in brackets."""
_NEVER = {
    Refusal.READ_ONLY: READ_ONLY,
    Refusal.NO_CALENDAR: NOT_THERE,
    Refusal.FORBIDDEN: mark_message("Your calendar does not allow it ({reason})."),
    Refusal.INVALID: mark_message("Your calendar cannot take it ({reason})."),
}


def to_outcome(refusal: Refusal, text: str, write: Write) -> Outcome:
    """Return the outcome of a refused write. In doubt it is :class:`Unknown`, which makes the engine read the event."""
    reason = extract_sentence(text)
    creating = write == "create"
    match refusal:
        case Refusal.LIMITED:
            return Limited()
        case Refusal.LOGIN:
            return Unauthorized(_(NO_LOGIN, reason=reason))
        case Refusal.READ_ONLY | Refusal.NO_CALENDAR | Refusal.FORBIDDEN | Refusal.INVALID:
            return Rejected(_(_NEVER[refusal], reason=reason))
        case Refusal.NOT_FOUND | Refusal.DELETED:
            return Rejected(_(NOT_THERE, reason=reason)) if creating else Gone()
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
            return CalendarAuthFailed(_(NO_LOGIN, reason=reason))
        case Refusal.READ_ONLY:
            return CalendarReadOnly(_(READ_ONLY, reason=reason))
        case Refusal.FORBIDDEN:
            return CalendarReadOnly(_("Your login may not use this calendar that way ({reason}).", reason=reason))
        case Refusal.NO_CALENDAR | Refusal.NOT_FOUND | Refusal.DELETED:
            return CalendarNotFound(_(NOT_THERE, reason=reason))
        case Refusal.LIMITED:
            return CalendarUnreachable(
                _("Your calendar takes no more requests for the moment ({reason}).", reason=reason)
            )
        case Refusal.TROUBLE:
            return CalendarUnreachable(
                _("The calendar server could not reach your calendar ({reason}).", reason=reason)
            )
        case Refusal.EXISTS | Refusal.CONFLICT | Refusal.CHANGED | Refusal.INVALID | Refusal.UNCLEAR:
            return CalendarIncomplete(_("The calendar server did not answer the question ({reason}).", reason=reason))
        case _:
            assert_never(refusal)


def extract_sentence(text: str) -> str:
    """Return the first sentence of an error text, short enough for use inside another sentence."""
    line = _DETAILS.sub("", strip_wrapping(text).split("\n", 1)[0])
    sentence = _AROUND.sub("", line, count=1).split(". ", 1)[0].strip().rstrip(".") or _("no reason given")
    return truncate(sentence, _LONGEST)
