"""Error texts of the calendar server, classified, and the sentences about them.

The text is the only evidence: the numeric code does not tell a rate limit from a lost connection, and the wording
around Google's message depends on the tool, on the place of failure inside the tool, and on the versions of the
server's packages. So the wording is stripped and only the message counts.
"""

from __future__ import annotations

import re

from fateforger.calendar.refusals import RefusalKind, Wording
from fateforger.text import gettext as _
from fateforger.text import mark_message, truncate

_NUMBER = re.compile(r"MCP error -?\d+: ")
_WRAPPING = re.compile(r"(Google API error|Internal error): ")

# The first match decides. Texts that quote a person's words (titles, calendar names) come first and are anchored at
# their start, so that no title can pass for another error.
_SIGNS: tuple[tuple[RefusalKind, tuple[str, ...]], ...] = (
    (RefusalKind.EXISTS, (r"^Duplicate event detected", r"^Event ID '.*' already exists")),
    (RefusalKind.NOT_FOUND, (r"^Event with ID '.*' not found in calendar",)),
    (
        RefusalKind.NO_CALENDAR,
        (r"^No account has (read |write )?access to calendar", r"^Calendar(\(s\))?\b.* not found"),
    ),
    (RefusalKind.INVALID, (r"^Input validation error", r"^Invalid event ID", r"^Tool .* not found")),
    (
        RefusalKind.LOGIN,
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
        RefusalKind.LIMITED,
        (
            r"rate limit exceeded",
            r"usage limits? exceeded",
            r"quota ?exceeded",
            r"exceeded (the|your|its) .*(quota|limit)",
            r"daily limit exceeded",
            r"too many requests",
        ),
    ),
    (RefusalKind.CHANGED, (r"^Precondition Failed",)),
    (RefusalKind.EXISTS, (r"requested identifier already exists",)),
    (RefusalKind.CONFLICT, (r"^Conflict\b",)),
    (RefusalKind.DELETED, (r"^Resource has been deleted",)),
    (RefusalKind.TROUBLE, (r"^Google API server error", r"response body")),
    (RefusalKind.READ_ONLY, (r"need to have writer access",)),
    (
        RefusalKind.FORBIDDEN,
        (
            r"^Access denied",
            r"^Forbidden",
            r"changed by the organizer",
            r"insufficient permission",
            r"(not|n't) have (the )?(required |necessary )?(permission|access)",
        ),
    ),
    (RefusalKind.NOT_FOUND, (r"^Resource not found", r"^Not Found")),
    (
        # Only texts that Google is known to send: a write that did happen must not be recorded as refused.
        RefusalKind.INVALID,
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
        RefusalKind.TROUBLE,
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


def classify_refusal(text: str) -> RefusalKind:
    """Classify the error text of any tool."""
    message = strip_wrapping(text)
    return next((refusal for refusal, sign in _TABLE if sign.search(message)), RefusalKind.UNCLEAR)


_LONGEST = 300
_DETAILS = re.compile(r"\.? Details: .*$")
_AROUND = re.compile(r"((Access denied|Resource not found|Bad Request|Google API server error|Forbidden): )+")

READ_ONLY = mark_message(
    "I may read this calendar but not write to it ({reason}). Please ask for the right to make changes to it, or name"
    " another one in FATEFORGER_CALENDAR_ID."
)
SERVER = Wording(
    login=mark_message(
        "The login to your calendar does not work ({reason}). Please check it at the calendar server, or log in there"
        " again."
    ),
    not_found=mark_message(
        "The calendar server does not find your calendar ({reason}). Please check that it still exists and that your"
        " login may use it."
    ),
    no_write={
        RefusalKind.READ_ONLY: READ_ONLY,
        RefusalKind.FORBIDDEN: mark_message("Your calendar does not allow it ({reason})."),
        RefusalKind.INVALID: mark_message("Your calendar cannot take it ({reason})."),
    },
    no_read={
        RefusalKind.READ_ONLY: READ_ONLY,
        RefusalKind.FORBIDDEN: mark_message("Your login may not use this calendar that way ({reason})."),
        RefusalKind.LIMITED: mark_message("Your calendar takes no more requests for the moment ({reason})."),
        RefusalKind.TROUBLE: mark_message("The calendar server could not reach your calendar ({reason})."),
    },
    unusable=mark_message("The calendar server did not answer the question ({reason})."),
)


def extract_sentence(text: str) -> str:
    """Return the first sentence of an error text, short enough for use inside another sentence."""
    line = _DETAILS.sub("", strip_wrapping(text).split("\n", 1)[0])
    sentence = _AROUND.sub("", line, count=1).split(". ", 1)[0].strip().rstrip(".") or _("no reason given")
    return truncate(sentence, _LONGEST)
