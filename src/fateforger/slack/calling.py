"""Calls of Slack's Web API, with every way they can fail translated once."""

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
"""Errors that go away by themselves."""

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
"""Errors that go away when somebody mends the app's login."""

_TOO_LONG = frozenset(
    {"msg_too_long", "msg_blocks_too_long", "too_many_blocks", "invalid_blocks", "invalid_blocks_format"}
)
_GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed", "block_mismatch", "is_inactive"})


class SlackTrouble(Exception):
    """A call that did not do what it should. ``code`` is Slack's word for it."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class Passing(SlackTrouble):
    """Trying again later may help. ``retry_after`` in seconds when Slack said so; ``unsure`` when the call may have
    been carried out all the same."""

    def __init__(self, code: str, *, retry_after: float | None = None, unsure: bool = False) -> None:
        super().__init__(code)
        self.retry_after = retry_after
        self.unsure = unsure


class LoginTrouble(Passing):
    """The app's token or its scopes do not allow this; somebody has to mend that first."""


class TooLong(SlackTrouble):
    """Slack does not accept the message at this size."""


class MessageGone(SlackTrouble):
    """The message to change is not there, or cannot be changed any more."""


class Refused(SlackTrouble):
    """Slack will never accept this call."""


async def called(call: Awaitable[AsyncSlackResponse]) -> Mapping[str, Any]:
    """The answer of a call. Raises ``SlackTrouble``."""
    response = await answered(call)
    return response.data if isinstance(response.data, dict) else {}


async def answered(call: Awaitable[AsyncSlackResponse]) -> AsyncSlackResponse:
    """The answer of a call with its headers. Raises ``SlackTrouble``."""
    try:
        return await call
    except SlackApiError as error:
        raise _trouble(error) from error
    except (aiohttp.ClientError, TimeoutError, OSError, SlackClientError) as error:
        raise Passing(f"{type(error).__name__}: {error}", unsure=True) from error


def _trouble(error: SlackApiError) -> SlackTrouble:
    answer = error.response
    if not isinstance(answer, AsyncSlackResponse):
        return Passing("unreadable_answer", unsure=True)
    code = str(answer.data.get("error", "")) if isinstance(answer.data, dict) else ""
    if answer.status_code == 429:
        return Passing("ratelimited", retry_after=_seconds(answer.headers.get("Retry-After")))
    if answer.status_code >= 500 or not code:
        return Passing(code or f"http_{answer.status_code}", unsure=True)
    if code in _PASSING:
        return Passing(code, unsure=code not in {"ratelimited", "rate_limited"})
    if code in _LOGIN:
        return LoginTrouble(code)
    if code in _TOO_LONG:
        return TooLong(code)
    return MessageGone(code) if code in _GONE else Refused(code)


def _seconds(header: object) -> float:
    try:
        return max(float(str(header)), 0.0)
    except ValueError:
        return 1.0
