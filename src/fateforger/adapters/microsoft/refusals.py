"""Answers of Microsoft Graph that are errors, classified, and the sentences about them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from fateforger.calendar.refusals import RefusalKind, Refused, Wording
from fateforger.text import gettext as _
from fateforger.text import mark_message

NOT_ALLOWED = mark_message(
    "I may not make changes to this Microsoft calendar ({reason}). Please choose one of your own, or ask its owner for"
    " the right to edit it."
)
NO_ANSWER = mark_message("Microsoft could not answer for your calendar ({reason}).")
MICROSOFT = Wording(
    login=mark_message("Microsoft no longer lets me use your calendar ({reason}). Please connect it again."),
    not_found=mark_message(
        "Microsoft does not find your calendar ({reason}). Please check that your account has a mailbox, and that the"
        " calendar still exists."
    ),
    no_write={
        RefusalKind.READ_ONLY: NOT_ALLOWED,
        RefusalKind.FORBIDDEN: NOT_ALLOWED,
        RefusalKind.INVALID: mark_message("Your Microsoft calendar cannot take it ({reason})."),
    },
    no_read={
        RefusalKind.READ_ONLY: NOT_ALLOWED,
        RefusalKind.FORBIDDEN: NOT_ALLOWED,
        RefusalKind.LIMITED: NO_ANSWER,
        RefusalKind.TROUBLE: NO_ANSWER,
    },
    unusable=mark_message("Microsoft did not answer the question about your calendar ({reason})."),
    wait=mark_message("Microsoft takes no more requests for the moment"),
)
refuse = partial(Refused, MICROSOFT)
"""Return a refusal of Microsoft."""

_BY_CODE = {
    "ErrorDuplicateTransactionId": RefusalKind.EXISTS,
    "ErrorFolderNotFound": RefusalKind.NO_CALENDAR,
    "ErrorInvalidId": RefusalKind.NOT_FOUND,
    "ErrorInvalidIdMalformed": RefusalKind.NOT_FOUND,
    "ErrorInvalidUser": RefusalKind.NO_CALENDAR,
    "ErrorNonExistentMailbox": RefusalKind.NO_CALENDAR,
    "MailboxNotEnabledForRESTAPI": RefusalKind.NO_CALENDAR,
    "MailboxNotSupportedForRESTAPI": RefusalKind.NO_CALENDAR,
    "Request_ResourceNotFound": RefusalKind.NO_CALENDAR,
    "ResourceNotFound": RefusalKind.NO_CALENDAR,
    "SyncStateInvalid": RefusalKind.EXPIRED,
    "SyncStateNotFound": RefusalKind.EXPIRED,
    "resyncRequired": RefusalKind.EXPIRED,
}
_BY_STATUS: Mapping[int, RefusalKind] = {
    HTTPStatus.UNAUTHORIZED: RefusalKind.LOGIN,
    HTTPStatus.FORBIDDEN: RefusalKind.FORBIDDEN,
    HTTPStatus.NOT_FOUND: RefusalKind.NOT_FOUND,
    HTTPStatus.REQUEST_TIMEOUT: RefusalKind.TROUBLE,
    HTTPStatus.CONFLICT: RefusalKind.CHANGED,
    HTTPStatus.GONE: RefusalKind.EXPIRED,
    HTTPStatus.PRECONDITION_FAILED: RefusalKind.CHANGED,
    HTTPStatus.TOO_MANY_REQUESTS: RefusalKind.LIMITED,
}


def read_refusal(status: int, body: Any, retry_after: str | None) -> Refused:
    """Classify an answer with an error status. ``body`` is its JSON, if it has any."""
    error = body.get("error") if isinstance(body, Mapping) else None
    said = error if isinstance(error, Mapping) else {}
    code = str(said.get("code") or "")
    message = str(said.get("message") or code or _("status {status}", status=status))
    return refuse(_classify(status, code, retry_after), message, _read_seconds(retry_after))


def _classify(status: int, code: str, retry_after: str | None) -> RefusalKind:
    if status == HTTPStatus.SERVICE_UNAVAILABLE and retry_after is not None:
        return RefusalKind.LIMITED
    if status < HTTPStatus.INTERNAL_SERVER_ERROR and code in _BY_CODE:
        return _BY_CODE[code]
    refused = HTTPStatus.BAD_REQUEST <= status < HTTPStatus.INTERNAL_SERVER_ERROR
    return _BY_STATUS.get(status, RefusalKind.INVALID if refused else RefusalKind.TROUBLE)


def _read_seconds(retry_after: str | None) -> float | None:
    """Read the seconds of a ``Retry-After`` header; Graph sends no dates."""
    try:
        return None if retry_after is None else max(0.0, float(retry_after))
    except ValueError:
        return None
