"""Calls of Slack's Web API, with their errors translated."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

_PASSING = frozenset(
    {
        "ratelimited",
        "rate_limited",
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "team_added_to_org",
        "streaming_state_conflict",
    }
)
"""Errors that are transient."""

_LOGIN = frozenset(
    {
        "invalid_auth",
        "not_authed",
        "account_inactive",
        "token_expired",
        "token_revoked",
        "no_permission",
        "ekm_access_denied",
        "missing_scope",
        "not_allowed_token_type",
        "org_login_required",
        "access_denied",
        "accesslimited",
    }
)
"""Errors that an administrator has to fix in the app's installation."""

_TOO_LONG = frozenset(
    {"msg_too_long", "msg_blocks_too_long", "too_many_blocks", "invalid_blocks", "invalid_blocks_format"}
)
_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed", "block_mismatch", "is_inactive"})


class SlackCallError(Exception):
    """Failed call of the Web API. ``code`` is Slack's error code."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class TransientSlackError(SlackCallError):
    """Transient failure; a retry may succeed.

    ``retry_after`` is in seconds, if Slack gave it; ``unsure`` is true if the call may have been carried out.
    """

    def __init__(self, code: str, *, retry_after: float | None = None, unsure: bool = False) -> None:
        super().__init__(code)
        self.retry_after = retry_after
        self.unsure = unsure


class SlackLoginError(TransientSlackError):
    """The app's token or scopes do not allow the call; an administrator has to fix that first."""


class MessageTooLong(SlackCallError):
    """Slack rejects the message because of its size."""


class MessageGone(SlackCallError):
    """The message to change does not exist, or can no longer be changed."""


class CallRefused(SlackCallError):
    """Slack will never accept the call."""


async def call_slack(call: Awaitable[AsyncSlackResponse]) -> Mapping[str, Any]:
    """Return the data of a response. Raises ``SlackCallError``."""
    response = await call_slack_with_headers(call)
    return response.data if isinstance(response.data, dict) else {}


async def call_slack_with_headers(call: Awaitable[AsyncSlackResponse]) -> AsyncSlackResponse:
    """Return a response with its headers. Raises ``SlackCallError``."""
    try:
        return await call
    except SlackApiError as error:
        raise _translate_error(error) from error
    except (aiohttp.ClientError, TimeoutError, OSError, SlackClientError) as error:
        raise TransientSlackError(f"{type(error).__name__}: {error}", unsure=True) from error


def _translate_error(error: SlackApiError) -> SlackCallError:
    answer = error.response
    if not isinstance(answer, AsyncSlackResponse):
        return TransientSlackError("unreadable_answer", unsure=True)
    code = str(answer.data.get("error", "")) if isinstance(answer.data, dict) else ""
    if answer.status_code == 429:
        return TransientSlackError("ratelimited", retry_after=_seconds(answer.headers.get("Retry-After")))
    if answer.status_code >= 500 or not code:
        return TransientSlackError(code or f"http_{answer.status_code}", unsure=True)
    if code in _PASSING:
        return TransientSlackError(code, unsure=code not in {"ratelimited", "rate_limited"})
    if code in _LOGIN:
        return SlackLoginError(code)
    if code in _TOO_LONG:
        return MessageTooLong(code)
    return MessageGone(code) if code in _GONE else CallRefused(code)


def _seconds(header: object) -> float:
    try:
        return max(float(str(header)), 0.0)
    except ValueError:
        return 1.0
