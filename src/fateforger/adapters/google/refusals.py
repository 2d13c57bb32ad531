"""Google's refusals, classified by status and reason, as outcomes of writes and errors of reads."""

from __future__ import annotations

from dataclasses import dataclass
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

_LONGEST = 300


class Kind(StrEnum):
    """The kind of a refusal."""

    LOGIN = "login"
    """The token was refused, or lacks a scope: the person has to connect again."""
    LIMITED = "limited"
    READ_ONLY = "read_only"
    FORBIDDEN = "forbidden"
    NO_CALENDAR = "no_calendar"
    NOT_FOUND = "not_found"
    """404: the event or the whole calendar is not there."""
    EXISTS = "exists"
    DELETED = "deleted"
    CHANGED = "changed"
    EXPIRED = "expired"
    """A sync token that is no longer good: everything has to be read."""
    INVALID = "invalid"
    TROUBLE = "trouble"
    """Google failed, or the connection to it; a write may have taken effect."""
    UNCLEAR = "unclear"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is not a success.

    ``message`` is Google's; with ``whole`` it is our own, complete sentence. ``retry_after`` is in seconds, if Google
    named a pause.
    """

    kind: Kind
    message: str
    retry_after: float | None = None
    whole: bool = False

    @property
    def words(self) -> str:
        """Return the message for use inside a sentence."""
        return truncate(self.message.split("\n", 1)[0].strip().rstrip("."), _LONGEST) or _("no reason given")

    def to_outcome(self, write: Write) -> Outcome:
        """Return the outcome of a write that was refused so."""
        match self.kind:
            case Kind.LOGIN:
                return Unauthorized(self._put_into(NO_LOGIN))
            case Kind.LIMITED:
                return Limited(self.retry_after, _(WHY_WAIT))
            case Kind.READ_ONLY | Kind.FORBIDDEN | Kind.NO_CALENDAR | Kind.INVALID:
                return Rejected(_(_NEVER[self.kind], reason=self.words))
            case Kind.NOT_FOUND | Kind.DELETED:
                return Rejected(_(NOT_THERE, reason=self.words)) if write == "create" else Gone()
            case Kind.EXISTS if write == "create":
                return Exists()
            case Kind.CHANGED | Kind.EXISTS if write != "create":
                return Stale()
            case Kind.EXISTS | Kind.CHANGED | Kind.EXPIRED | Kind.TROUBLE | Kind.UNCLEAR:
                return Unknown(self.words)
            case _:
                assert_never(self.kind)

    def to_error(self) -> CalendarError:
        """Return the error of a read that was refused so."""
        match self.kind:
            case Kind.LOGIN:
                return CalendarAuthFailed(self._put_into(NO_LOGIN))
            case Kind.READ_ONLY | Kind.FORBIDDEN:
                return CalendarReadOnly(_("Google does not let me read this calendar ({reason}).", reason=self.words))
            case Kind.NO_CALENDAR | Kind.NOT_FOUND | Kind.DELETED:
                return CalendarNotFound(_(NOT_THERE, reason=self.words))
            case Kind.LIMITED:
                text = _("Google takes no more requests for the moment ({reason}).", reason=self.words)
                return CalendarUnreachable(text, retry_after=self.retry_after, reason=_(WHY_WAIT))
            case Kind.TROUBLE:
                return CalendarUnreachable(self._put_into(UNREACHABLE))
            case Kind.EXISTS | Kind.CHANGED | Kind.EXPIRED | Kind.INVALID | Kind.UNCLEAR:
                return CalendarIncomplete(_("I cannot use the answer of Google ({reason}).", reason=self.words))
            case _:
                assert_never(self.kind)

    def _put_into(self, sentence: str) -> str:
        return self.message if self.whole else _(sentence, reason=self.words)


UNREACHABLE = mark_message("I cannot reach your Google calendar ({reason}).")
WHY_WAIT = mark_message("Google allows only so many requests a minute")
NO_LOGIN = mark_message("Google does not let me into your calendar any more ({reason}). Please connect it again.")
NOT_THERE = mark_message(
    "Google does not find your calendar ({reason}). Please check that it still exists, or choose another one."
)
_NEVER = {
    Kind.READ_ONLY: mark_message(
        "I may read this calendar but not write to it ({reason}). Please choose a calendar of your own."
    ),
    Kind.NO_CALENDAR: NOT_THERE,
    Kind.FORBIDDEN: mark_message("Google does not allow it ({reason})."),
    Kind.INVALID: mark_message("Google cannot take it ({reason})."),
}

_LIMITS = frozenset({
    "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded", "calendarUsageLimitsExceeded",
    "limitExceeded",
})  # fmt: skip
_SCOPES = frozenset({"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"})
_SIMPLE = {
    400: Kind.INVALID,
    401: Kind.LOGIN,
    404: Kind.NOT_FOUND,
    409: Kind.EXISTS,
    412: Kind.CHANGED,
    429: Kind.LIMITED,
}


def classify(status: int, reason: str) -> Kind:
    """Classify an error by its status and the first reason that Google gave."""
    if status == 403:
        if reason in _LIMITS:
            return Kind.LIMITED
        if reason in _SCOPES:
            return Kind.LOGIN
        return Kind.READ_ONLY if reason == "requiredAccessLevel" else Kind.FORBIDDEN
    if status == 410:
        return Kind.EXPIRED if reason in {"fullSyncRequired", "updatedMinTooLongAgo"} else Kind.DELETED
    return _SIMPLE.get(status, Kind.TROUBLE if status >= 500 else Kind.UNCLEAR)
