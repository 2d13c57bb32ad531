"""Answers of Microsoft Graph that are errors, as outcomes of writes and errors of reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from typing import Any, assert_never

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
LOGIN_ENDED = mark_message("Microsoft no longer lets me use your calendar ({reason}). Please connect it again.")
NOT_ALLOWED = mark_message(
    "I may not make changes to this Microsoft calendar ({reason}). Please choose one of your own, or ask its owner for"
    " the right to edit it."
)
NOT_THERE = mark_message(
    "Microsoft does not find your calendar ({reason}). Please check that your account has a mailbox, and that the"
    " calendar still exists."
)
NOT_TAKEN = mark_message("Your Microsoft calendar cannot take it ({reason}).")
TOO_MANY = mark_message("Microsoft takes no more requests for the moment")
NO_ANSWER = mark_message("Microsoft could not answer for your calendar ({reason}).")
STRANGE_ANSWER = mark_message("Microsoft did not answer the question about your calendar ({reason}).")


class Refusal(StrEnum):
    """The reason for which a request has no usable answer."""

    LOGIN = "login"
    LIMITED = "limited"
    FORBIDDEN = "forbidden"
    NO_CALENDAR = "no_calendar"
    NOT_FOUND = "not_found"
    EXISTS = "exists"
    """The transaction id of a create was used before."""
    CHANGED = "changed"
    EXPIRED = "expired"
    """The delta token is too old: everything has to be read again."""
    INVALID = "invalid"
    TROUBLE = "trouble"
    """No answer, or an error of the server; the request may have taken effect."""
    UNREADABLE = "unreadable"


_BY_CODE = {
    "ErrorDuplicateTransactionId": Refusal.EXISTS,
    "ErrorFolderNotFound": Refusal.NO_CALENDAR,
    "ErrorInvalidId": Refusal.NOT_FOUND,
    "ErrorInvalidIdMalformed": Refusal.NOT_FOUND,
    "ErrorInvalidUser": Refusal.NO_CALENDAR,
    "ErrorNonExistentMailbox": Refusal.NO_CALENDAR,
    "MailboxNotEnabledForRESTAPI": Refusal.NO_CALENDAR,
    "MailboxNotSupportedForRESTAPI": Refusal.NO_CALENDAR,
    "Request_ResourceNotFound": Refusal.NO_CALENDAR,
    "ResourceNotFound": Refusal.NO_CALENDAR,
    "SyncStateInvalid": Refusal.EXPIRED,
    "SyncStateNotFound": Refusal.EXPIRED,
    "resyncRequired": Refusal.EXPIRED,
}
_BY_STATUS: Mapping[int, Refusal] = {
    HTTPStatus.UNAUTHORIZED: Refusal.LOGIN,
    HTTPStatus.FORBIDDEN: Refusal.FORBIDDEN,
    HTTPStatus.NOT_FOUND: Refusal.NOT_FOUND,
    HTTPStatus.REQUEST_TIMEOUT: Refusal.TROUBLE,
    HTTPStatus.CONFLICT: Refusal.CHANGED,
    HTTPStatus.GONE: Refusal.EXPIRED,
    HTTPStatus.PRECONDITION_FAILED: Refusal.CHANGED,
    HTTPStatus.TOO_MANY_REQUESTS: Refusal.LIMITED,
}


@dataclass(frozen=True, slots=True)
class Refused:
    """A request without a usable answer.

    ``reason`` is a few words; ``retry_after`` is in seconds, if known. ``sentence`` is for the person, if the reason is
    one already.
    """

    refusal: Refusal
    reason: str
    retry_after: float | None = None
    sentence: str = ""

    def to_outcome(self, write: Write) -> Outcome:
        """Return the outcome of a refused write; in doubt it is :class:`Unknown`."""
        match self.refusal:
            case Refusal.LIMITED:
                return Limited(self.retry_after, _(TOO_MANY))
            case Refusal.LOGIN:
                return Unauthorized(self.sentence or _(LOGIN_ENDED, reason=self.reason))
            case Refusal.FORBIDDEN:
                return Rejected(_(NOT_ALLOWED, reason=self.reason))
            case Refusal.NO_CALENDAR:
                return Rejected(_(NOT_THERE, reason=self.reason))
            case Refusal.NOT_FOUND:
                return Rejected(_(NOT_THERE, reason=self.reason)) if write == "create" else Gone()
            case Refusal.INVALID:
                return Rejected(_(NOT_TAKEN, reason=self.reason))
            case Refusal.EXISTS if write == "create":
                return Exists()
            case Refusal.CHANGED if write != "create":
                return Stale()
            case Refusal.EXISTS | Refusal.CHANGED | Refusal.EXPIRED | Refusal.TROUBLE | Refusal.UNREADABLE:
                return Unknown(self.reason)
            case _:
                assert_never(self.refusal)

    def to_error(self) -> CalendarError:
        """Return the error of a refused read."""
        match self.refusal:
            case Refusal.LOGIN:
                return CalendarAuthFailed(self.sentence or _(LOGIN_ENDED, reason=self.reason))
            case Refusal.FORBIDDEN:
                return CalendarReadOnly(_(NOT_ALLOWED, reason=self.reason))
            case Refusal.NO_CALENDAR | Refusal.NOT_FOUND:
                return CalendarNotFound(_(NOT_THERE, reason=self.reason))
            case Refusal.LIMITED:
                message = _(NO_ANSWER, reason=self.reason)
                return CalendarUnreachable(message, retry_after=self.retry_after, reason=_(TOO_MANY))
            case Refusal.TROUBLE:
                return CalendarUnreachable(self.sentence or _(NO_ANSWER, reason=self.reason))
            case Refusal.EXISTS | Refusal.CHANGED | Refusal.EXPIRED | Refusal.INVALID | Refusal.UNREADABLE:
                return CalendarIncomplete(_(STRANGE_ANSWER, reason=self.reason))
            case _:
                assert_never(self.refusal)


def read_refusal(status: int, body: Any, retry_after: str | None) -> Refused:
    """Classify an answer with an error status. ``body`` is its JSON, if it has any."""
    error = body.get("error") if isinstance(body, Mapping) else None
    said = error if isinstance(error, Mapping) else {}
    code = str(said.get("code") or "")
    reason = truncate(
        str(said.get("message") or code or _("status {status}", status=status)).strip().rstrip("."), _LONGEST
    )
    return Refused(_classify(status, code, retry_after), reason, _read_seconds(retry_after))


def _classify(status: int, code: str, retry_after: str | None) -> Refusal:
    if status == HTTPStatus.SERVICE_UNAVAILABLE and retry_after is not None:
        return Refusal.LIMITED
    if status < HTTPStatus.INTERNAL_SERVER_ERROR and code in _BY_CODE:
        return _BY_CODE[code]
    refused = HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR
    return _BY_STATUS.get(status, Refusal.INVALID if refused else Refusal.TROUBLE)


def _read_seconds(retry_after: str | None) -> float | None:
    """Read the seconds of a ``Retry-After`` header; Graph sends no dates."""
    try:
        return None if retry_after is None else max(0.0, float(retry_after))
    except ValueError:
        return None
