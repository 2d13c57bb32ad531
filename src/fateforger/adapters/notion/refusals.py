"""Translate refusals and failures of Notion into our sentences."""

from __future__ import annotations

import contextlib
from email.utils import parsedate_to_datetime

import httpx
from notion_client.errors import HTTPResponseError, InvalidPathParameterError, RequestTimeoutError

from fateforger.errors import BadInput, SourceUnavailable
from fateforger.ports import Clock

TROUBLE = (HTTPResponseError, RequestTimeoutError, InvalidPathParameterError, httpx.HTTPError, ValueError)
"""Errors of the client library; a ``ValueError`` is an answer that is not JSON."""
_NOT_THERE, _CONFLICT, _LIMITED, _FAILED = 404, 409, 429, 500


def is_missing(error: BaseException | None) -> bool:
    """Check whether the id does not exist, or is not shared with the integration."""
    return isinstance(error, HTTPResponseError) and error.status == _NOT_THERE


def is_passing(error: Exception) -> bool:
    """Check whether the same request may succeed later."""
    if isinstance(error, HTTPResponseError):
        return error.status in {_CONFLICT, _LIMITED} or error.status >= _FAILED
    return isinstance(error, RequestTimeoutError | httpx.TransportError)


def to_source_error(error: Exception, clock: Clock) -> BadInput | SourceUnavailable:
    """Return our error for an error of Notion, without Notion's own text, which may repeat what it was sent."""
    if not isinstance(error, HTTPResponseError):
        if isinstance(error, httpx.TransportError | RequestTimeoutError):
            return SourceUnavailable("I cannot reach Notion just now. What was moved stays; run it again to go on.")
        return SourceUnavailable("What answered is not Notion; look at FATEFORGER_NOTION_URL.", where="notion_url")
    match error.status:
        case 401:
            return BadInput("Notion does not accept this token; copy it anew into NOTION_TOKEN.", where="notion_token")
        case 403:
            return BadInput("This integration may not read content; allow it in the integration's settings.")
        case 404:
            return BadInput("Notion has nothing there, or it is not shared with the integration.")
        case 429:
            return SourceUnavailable(
                "Notion asks for fewer requests; try later.", retry_after=_parse_wait(error, clock)
            )
        case status if status >= _FAILED or status == _CONFLICT:
            wait = _parse_wait(error, clock)
            return SourceUnavailable(f"Notion fails just now (status {status}); try later.", retry_after=wait)
        case status:
            return SourceUnavailable(f"Notion refused the request (status {status}).")


def _parse_wait(error: HTTPResponseError, clock: Clock) -> float | None:
    """Return the seconds that ``Retry-After`` asks for, given as a number or as a date."""
    said = error.headers.get("retry-after", "")
    with contextlib.suppress(ValueError):
        return max(0.0, float(said))
    with contextlib.suppress(ValueError):
        return max(0.0, (parsedate_to_datetime(said) - clock.now()).total_seconds())
    return None
