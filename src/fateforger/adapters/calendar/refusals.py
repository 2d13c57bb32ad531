"""What an error text of the calendar server means. The text is the only sign there is: its numeric code does not
tell a rate limit from a lost connection, and the wording around Google's message depends on the tool, on where in the
tool it happened, and on how the server's packages were resolved. So the wording is taken off, and the message counts.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Refusal(StrEnum):
    """Why the server did not do it."""

    LOGIN = "login"
    """The login expired, was refused, or nobody said which one to use."""
    LIMITED = "limited"
    READ_ONLY = "read_only"
    """The login may read the calendar, not write to it."""
    FORBIDDEN = "forbidden"
    NO_CALENDAR = "no_calendar"
    NOT_FOUND = "not_found"
    """404: the event, or just as well the calendar, is not there."""
    EXISTS = "exists"
    CONFLICT = "conflict"
    """409 without more: another write was under way."""
    DELETED = "deleted"
    """410."""
    CHANGED = "changed"
    """412."""
    INVALID = "invalid"
    """400: it will be refused again."""
    TROUBLE = "trouble"
    """The server failed, or lost Google; it may have happened or not."""
    UNCLEAR = "unclear"
    """A text nobody has seen yet."""


_NUMBER = re.compile(r"MCP error -?\d+: ")
_WRAPPING = re.compile(r"(Google API error|Internal error): ")

# In this order, the first that is found decides. Texts that quote a person's words (titles, names of calendars) come
# first and are tied to their beginning, so that no title can pass for another error.
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
        # Only what Google is known to say: taken for a refusal, a write that did happen would be forgotten.
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


def message_of(text: str) -> str:
    """The text without the server's wrapping: Google's own message where there is one."""
    bare = _NUMBER.sub("", text.strip(), count=2)
    return _WRAPPING.sub("", bare, count=1) if _WRAPPING.match(bare) else bare


def read_refusal(text: str) -> Refusal:
    """Which refusal an error text of any tool is."""
    message = message_of(text)
    return next((refusal for refusal, sign in _TABLE if sign.search(message)), Refusal.UNCLEAR)
