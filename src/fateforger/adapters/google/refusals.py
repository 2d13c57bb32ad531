"""Google's refusals, classified by status and reason, and the sentences about them."""

from __future__ import annotations

from functools import partial

from fateforger.calendar.refusals import RefusalKind, Refused, Wording
from fateforger.text import mark_message

NOT_ALLOWED = mark_message("Google does not let me read this calendar ({reason}).")
GOOGLE = Wording(
    login=mark_message("Google does not let me into your calendar any more ({reason}). Please connect it again."),
    not_found=mark_message(
        "Google does not find your calendar ({reason}). Please check that it still exists, or choose another one."
    ),
    no_write={
        RefusalKind.READ_ONLY: mark_message(
            "I may read this calendar but not write to it ({reason}). Please choose a calendar of your own."
        ),
        RefusalKind.FORBIDDEN: mark_message("Google does not allow it ({reason})."),
        RefusalKind.INVALID: mark_message("Google cannot take it ({reason})."),
    },
    no_read={
        RefusalKind.READ_ONLY: NOT_ALLOWED,
        RefusalKind.FORBIDDEN: NOT_ALLOWED,
        RefusalKind.LIMITED: mark_message("Google takes no more requests for the moment ({reason})."),
        RefusalKind.TROUBLE: mark_message("I cannot reach your Google calendar ({reason})."),
    },
    unusable=mark_message("I cannot use the answer of Google ({reason})."),
    wait=mark_message("Google allows only so many requests a minute"),
)
refuse = partial(Refused, GOOGLE)
"""Return a refusal of Google."""

_LIMITS = frozenset({
    "rateLimitExceeded", "userRateLimitExceeded", "quotaExceeded", "dailyLimitExceeded", "calendarUsageLimitsExceeded",
    "limitExceeded",
})  # fmt: skip
_SCOPES = frozenset({"insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"})
_SIMPLE = {
    400: RefusalKind.INVALID,
    401: RefusalKind.LOGIN,
    404: RefusalKind.NOT_FOUND,
    409: RefusalKind.CONFLICT,
    412: RefusalKind.CHANGED,
    429: RefusalKind.LIMITED,
}


def classify(status: int, reason: str) -> RefusalKind:
    """Classify an error by its status and the first reason that Google gave."""
    if status == 403:
        if reason in _LIMITS:
            return RefusalKind.LIMITED
        if reason in _SCOPES:
            return RefusalKind.LOGIN
        return RefusalKind.READ_ONLY if reason == "requiredAccessLevel" else RefusalKind.FORBIDDEN
    if status == 410:
        return RefusalKind.EXPIRED if reason in {"fullSyncRequired", "updatedMinTooLongAgo"} else RefusalKind.DELETED
    return _SIMPLE.get(status, RefusalKind.TROUBLE if status >= 500 else RefusalKind.UNCLEAR)
