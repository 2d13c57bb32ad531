"""Connection to Slack or a compatible server, built from explicit values, never from the environment."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import aiohttp
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_sdk.web.async_client import AsyncWebClient

from fateforger.errors import BadInput, WorldError
from fateforger.slack.calling import (
    SlackCallError,
    SlackLoginError,
    TransientSlackError,
    call_slack,
    call_slack_with_headers,
)

SLACK_URL = "https://slack.com/api/"
CALL_SECONDS = 10.0
PING_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class SlackLogin:
    """Tokens and addresses of a workspace.

    ``connections`` is the number of sockets: with two, one stays up while Slack renews the other. ``proxy`` is the URL
    of an HTTP proxy. ``open_seconds`` limits the time to open the sockets.
    """

    bot_token: str = field(repr=False)
    app_token: str = field(repr=False)
    base_url: str = SLACK_URL
    connections: int = 2
    proxy: str | None = None
    open_seconds: float = 30.0


@dataclass(frozen=True, slots=True)
class Workspace:
    """Workspace that the tokens belong to."""

    team: str
    team_id: str
    bot_user_id: str
    scopes: frozenset[str] | None = None
    """Scopes of the app; ``None`` if Slack did not report them."""


def new_session() -> aiohttp.ClientSession:
    """Create the HTTP session for all calls. Call it inside a running loop, and close the session."""
    return aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=CALL_SECONDS), trust_env=False)


def new_client(login: SlackLogin, session: aiohttp.ClientSession) -> AsyncWebClient:
    """Create a client without automatic retries: a repeated post would be a second message."""
    client = AsyncWebClient(token=login.bot_token, base_url=login.base_url, session=session, retry_handlers=[])
    client.proxy = login.proxy  # Without an explicit proxy it uses the environment's.
    return client


def new_app(client: AsyncWebClient, intake: AsyncMiddleware) -> AsyncApp:
    """Create a Bolt app that passes all payloads to ``intake``."""
    with _without_slack_settings():
        return AsyncApp(
            # Bolt sets the level of the logger of this name, so it must not be the program's own.
            name="fateforger.bolt",
            client=client,
            signing_secret="",
            before_authorize=intake,
            attaching_conversation_kwargs_enabled=False,
        )


def new_socket(app: AsyncApp, login: SlackLogin) -> AsyncSocketModeHandler:
    """Create a Socket Mode connection, not open yet. Call it inside a running loop."""
    handler = AsyncSocketModeHandler(app, login.app_token, ping_interval=PING_SECONDS)
    handler.client.proxy = login.proxy
    return handler


async def check_login(login: SlackLogin, client: AsyncWebClient) -> Workspace:
    """Check both tokens with Slack, because a socket with an invalid one would retry forever.

    Raises ``BadInput`` for a token that Slack rejects, ``WorldError`` if Slack cannot be reached.
    """
    try:
        answer = await call_slack_with_headers(client.auth_test())
    except SlackCallError as trouble:
        raise _explain(trouble, login, "bot token (xoxb-…)") from trouble
    try:
        await call_slack(client.apps_connections_open(app_token=login.app_token))
    except SlackCallError as trouble:
        raise _explain(trouble, login, "app-level token (xapp-…, with the scope connections:write)") from trouble
    who = answer.data if isinstance(answer.data, dict) else {}
    return Workspace(
        str(who.get("team", "")), str(who.get("team_id", "")), str(who.get("user_id", "")), scopes_in(answer.headers)
    )


def scopes_in(headers: Mapping[str, str]) -> frozenset[str] | None:
    """Return the scopes of a token, which Slack reports with each response."""
    said = next((value for name, value in headers.items() if name.lower() == "x-oauth-scopes"), None)
    return None if said is None else frozenset(scope.strip() for scope in said.split(",") if scope.strip())


def _explain(trouble: SlackCallError, login: SlackLogin, token: str) -> BadInput | WorldError:
    if isinstance(trouble, TransientSlackError) and not isinstance(trouble, SlackLoginError):
        where = login.base_url
        return WorldError(f"Slack cannot be reached at {where} just now. Please check the network and try again.")
    return BadInput(f"Slack does not accept the {token}: it says {trouble.code}. Please check it and start again.")


@contextmanager
def _without_slack_settings() -> Iterator[None]:
    """Hide the SLACK_* variables, which Bolt reads while an app is created.

    SLACK_CLIENT_ID alone would turn it into an OAuth app that ignores its token.
    """
    hidden = {name: os.environ.pop(name) for name in list(os.environ) if name.startswith("SLACK_")}
    try:
        yield
    finally:
        os.environ.update(hidden)
