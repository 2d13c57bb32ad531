"""Slack's Web API: the connection, calls with translated errors, and uploads."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from fateforger.errors import BadInput, WorldError
from fateforger.limits import MAX_SLACK_ANSWER_BYTES
from fateforger.masks import mask_address
from fateforger.slack.ids import get_bare
from fateforger.slack.installations import NOT_INSTALLED
from fateforger.slack.limits import LimitedClient, SlackLimits, read_retry_after
from fateforger.slack.payloads import find_flaw
from fateforger.workers.lanes import TryLater

log = logging.getLogger(__name__)

_PASSING = frozenset(
    {
        "ratelimited",
        "rate_limited",
        "message_limit_exceeded",
        "internal_error",
        "fatal_error",
        "service_unavailable",
        "request_timeout",
        "team_added_to_org",
        "streaming_state_conflict",
    }
)
"""Errors that are transient."""

_NOT_DONE = frozenset({"ratelimited", "rate_limited", "message_limit_exceeded"})
"""Transient errors of a call that was not carried out."""

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
        "messages_tab_disabled",
        "team_access_not_granted",
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


PARKED_SECONDS = 86_400.0


class NotInstalled(SlackLoginError):
    """The app is not installed in the workspace any more. What waits for it goes on once it is installed again."""

    def __init__(self) -> None:
        super().__init__(NOT_INSTALLED, retry_after=PARKED_SECONDS)


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
    except (aiohttp.ClientError, TimeoutError, OSError, SlackClientError, UnicodeDecodeError) as error:
        raise TransientSlackError(f"{type(error).__name__}: {error}", unsure=True) from error


def _translate_error(error: SlackApiError) -> SlackCallError:
    answer = error.response
    if not isinstance(answer, AsyncSlackResponse):
        return TransientSlackError("unreadable_answer", unsure=True)
    code = str(answer.data.get("error", "")) if isinstance(answer.data, dict) else ""
    if answer.status_code == 429:
        return TransientSlackError("ratelimited", retry_after=read_retry_after(error))
    if answer.status_code >= 500 or not code:
        return TransientSlackError(code or f"http_{answer.status_code}", unsure=True)
    if code in _PASSING:
        return TransientSlackError(code, unsure=code not in _NOT_DONE)
    if code in _LOGIN:
        return SlackLoginError(code)
    if code in _TOO_LONG:
        return MessageTooLong(code)
    return MessageGone(code) if code in _GONE else CallRefused(code)


SLACK_URL = "https://slack.com/api/"
CALL_SECONDS = 10.0
PING_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class OAuthApp:
    """The app as Slack knows it when people install it, or its tokens are renewed."""

    client_id: str
    client_secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SlackLogin:
    """Tokens and addresses of the app.

    Without ``bot_token`` the app is only where it was installed with ``oauth``. Socket Mode needs ``app_token``. With a
    ``signing_secret``, Slack's requests arrive over HTTP instead. ``connections`` is the number of sockets: with two,
    one stays up while Slack renews the other. ``proxy`` is the URL of an HTTP proxy. ``open_seconds`` limits the time
    to open the sockets. ``unlimited`` are hosts where calls need not keep to Slack's limits.
    """

    bot_token: str | None = field(repr=False)
    app_token: str | None = field(default=None, repr=False)
    base_url: str = SLACK_URL
    connections: int = 2
    proxy: str | None = None
    open_seconds: float = 30.0
    unlimited: frozenset[str] = frozenset({"127.0.0.1", "localhost"})
    signing_secret: str | None = field(default=None, repr=False)
    oauth: OAuthApp | None = None

    @property
    def is_limited(self) -> bool:
        """True if Slack limits the calls that are made at this address."""
        return urlsplit(self.base_url).hostname not in self.unlimited


class AnswerTooLong(aiohttp.ClientPayloadError):
    """An answer of Slack exceeded its limit, and was not read to its end."""


class _LimitedAnswer(aiohttp.ClientResponse):
    """An answer that is read up to a number of bytes; it is unpacked piece by piece."""

    async def read(self) -> bytes:
        if self._body is None:
            body = bytearray()
            async for piece in self.content.iter_any():
                body += piece
                if len(body) > MAX_SLACK_ANSWER_BYTES:
                    self.close()
                    raise AnswerTooLong("the answer is too long")
            self._body = bytes(body)
        return await super().read()


def new_session() -> aiohttp.ClientSession:
    """Create the HTTP session for all calls. Call it inside a running loop, and close the session."""
    timeout = aiohttp.ClientTimeout(total=CALL_SECONDS)
    return aiohttp.ClientSession(timeout=timeout, trust_env=False, response_class=_LimitedAnswer)


def new_client(login: SlackLogin, session: aiohttp.ClientSession) -> LimitedClient:
    """Create a client for the workspace of the bot token."""
    return build_client(login, session, login.bot_token)


def build_client(
    login: SlackLogin, session: aiohttp.ClientSession, token: str | None, limits: SlackLimits | None = None
) -> LimitedClient:
    """Create a client without automatic retries: a repeated post would be a second message."""
    client = LimitedClient(
        limits or SlackLimits(keep=login.is_limited),
        token=token,
        base_url=login.base_url,
        session=session,
        retry_handlers=[],
    )
    client.proxy = login.proxy  # Without an explicit proxy it uses the environment's.
    return client


Authorize = Callable[..., Awaitable[AuthorizeResult | None]]
"""Return the token for a payload, without a request to Slack: else it would be acknowledged if that failed."""


def new_app(client: AsyncWebClient, authorize: Authorize | None = None, signing_secret: str | None = None) -> AsyncApp:
    """Create a Bolt app that runs a listener before it acknowledges the payload.

    Without ``authorize`` every payload belongs to the workspace of the client's token. Bolt refuses HTTP requests that
    are not signed with ``signing_secret``, or are older than five minutes.
    """

    async def authorize_all() -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=None, team_id=None, bot_token=client.token)

    for_app = AsyncWebClient(base_url=client.base_url, session=client.session, retry_handlers=[])
    for_app.proxy = client.proxy
    with without_slack_settings():
        return AsyncApp(
            # Bolt sets the level of the logger of this name, so it must not be the program's own.
            name="fateforger.bolt",
            client=for_app,
            authorize=authorize or authorize_all,  # type: ignore[arg-type]  # None is allowed, but Bolt does not say so
            signing_secret=signing_secret or "",
            process_before_response=True,
            raise_error_for_unhandled_request=True,
            ignoring_self_events_enabled=False,
            attaching_conversation_kwargs_enabled=False,
        )


class _SocketHandler(AsyncSocketModeHandler):
    """Acknowledges malformed payloads, and leaves the others to Bolt."""

    async def handle(self, client: Any, req: SocketModeRequest) -> None:
        if is_malformed(req.payload):
            await client.send_socket_mode_response(SocketModeResponse(envelope_id=req.envelope_id))
        else:
            await super().handle(client, req)


def is_malformed(body: object) -> bool:
    """Check whether a payload has a part of the wrong type, and log that."""
    flaw = find_flaw(body)
    if flaw is not None:
        log.warning("a payload is ignored: Slack sends no such %s", flaw)
    return flaw is not None


def new_socket(app: AsyncApp, login: SlackLogin) -> AsyncSocketModeHandler:
    """Create a Socket Mode connection, not open yet. Call it inside a running loop."""
    handler = _SocketHandler(app, login.app_token, ping_interval=PING_SECONDS)
    handler.client.proxy = login.proxy
    return handler


@dataclass(frozen=True, slots=True)
class CheckedLogin:
    """The workspace of a bot token, or the organization that installed the app for all of its workspaces.

    ``tenant`` is its id; ``scopes`` are those of the token, with commas between, if Slack reports them.
    """

    tenant: str
    name: str
    team_id: str | None
    scopes: str | None


async def check_login(login: SlackLogin, client: AsyncWebClient) -> CheckedLogin | None:
    """Check the tokens with Slack, because a socket with an invalid one would retry forever.

    Returns ``None`` without a bot token. Raises ``BadInput`` for a token that Slack rejects, ``WorldError`` if Slack
    cannot be reached.
    """
    checked = None
    if login.bot_token is not None:
        try:
            checked = read_login(await call_slack_with_headers(client.auth_test()))
        except SlackCallError as trouble:
            raise _explain(trouble, login, "bot token (xoxb-…)") from trouble
    try:
        if login.app_token is not None:
            await call_slack(client.apps_connections_open(app_token=login.app_token))
    except SlackCallError as trouble:
        raise _explain(trouble, login, "app-level token (xapp-…, with the scope connections:write)") from trouble
    return checked


def read_login(answer: AsyncSlackResponse) -> CheckedLogin:
    """Return what Slack answers about a bot token."""
    who = answer.data if isinstance(answer.data, dict) else {}
    for_all = bool(who.get("is_enterprise_install"))
    tenant = str(who.get("enterprise_id" if for_all else "team_id") or "")
    scopes = scopes_in(answer.headers)
    return CheckedLogin(
        tenant=tenant,
        name=str(who.get("team") or tenant),
        team_id=None if for_all else tenant,
        scopes=None if scopes is None else ",".join(sorted(scopes)),
    )


def scopes_in(headers: Mapping[str, str]) -> frozenset[str] | None:
    """Return the scopes of a token, which Slack reports with each response."""
    said = next((value for name, value in headers.items() if name.lower() == "x-oauth-scopes"), None)
    return None if said is None else frozenset(scope.strip() for scope in said.split(",") if scope.strip())


def _explain(trouble: SlackCallError, login: SlackLogin, token: str) -> BadInput | WorldError:
    if isinstance(trouble, TransientSlackError) and not isinstance(trouble, SlackLoginError):
        where = mask_address(login.base_url)
        return WorldError(f"Slack cannot be reached at {where} just now. Please check the network and try again.")
    return BadInput(f"Slack does not accept the {token}: it says {trouble.code}. Please check it and start again.")


@contextmanager
def without_slack_settings() -> Iterator[None]:
    """Hide the SLACK_* variables, which Bolt reads while an app is created.

    SLACK_CLIENT_ID alone would turn it into an OAuth app that ignores its token.
    """
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("SLACK_")}
    try:
        yield
    finally:
        os.environ.update(hidden)


UPLOAD_SCOPE = "files:write"


async def upload(
    client: LimitedClient, name: str, content: bytes, *, channel: str | None = None, words: str | None = None
) -> str:
    """Upload a file with the client of a workspace, and return its id.

    With a ``channel`` it is shown there with ``words``; otherwise it is invisible until a message shows it. Raises
    :class:`~fateforger.slack.client.SlackCallError`.
    """
    answer = await call_slack(
        client.files_upload_v2(
            filename=name,
            title=name,
            content=content,
            channel=None if channel is None else get_bare(channel),
            initial_comment=words,
        )
    )
    return str(answer["file"]["id"])


def lacks_scope(trouble: SlackLoginError) -> bool:
    """Check whether Slack rejects files because the app lacks the scope for them."""
    return trouble.code == "missing_scope"


@contextmanager
def retry_transient(failure: str) -> Iterator[None]:
    """Have a job tried again after a transient failure of Slack; log any other, which a retry would not mend.

    Raises ``TryLater``.
    """
    try:
        yield
    except TransientSlackError as trouble:
        raise TryLater(str(trouble), trouble.retry_after) from trouble
    except SlackCallError as trouble:
        log.warning("%s: %s", failure, trouble)
