"""The way to Slack: tokens and addresses of a workspace, and the pages on which one installs the app."""

from __future__ import annotations

import logging
import secrets
from datetime import timedelta
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
from jinja2 import Environment, PackageLoader, StrictUndefined
from pydantic import SecretStr
from slack_bolt.adapter.starlette.async_handler import to_async_bolt_request, to_starlette_response
from slack_bolt.error import BoltError
from slack_bolt.oauth.async_callback_options import AsyncCallbackOptions, AsyncFailureArgs, AsyncSuccessArgs
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackClientError
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.installation_store.models.installation import Installation as GrantedInstallation
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore
from slack_sdk.web.async_client import AsyncWebClient
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fateforger.app.data_dir import read_or_create
from fateforger.config import Settings
from fateforger.errors import BadInput, StoreError
from fateforger.ports.clock import Clock
from fateforger.slack.client import SLACK_URL, OAuthApp, SlackLogin, without_slack_settings
from fateforger.slack.installations import Installation, Installations
from fateforger.slack.manifest import BOT_SCOPES, EVENTS_PATH, OPTIONAL_SCOPES
from fateforger.slack.workspaces import Workspaces
from fateforger.text import TIMEBOX, command_name, mark_message, use_language
from fateforger.text import gettext as _


def build_login(settings: Settings, page_url: str) -> SlackLogin:
    """Return the login of the configured app, or else of the local page at ``page_url``."""
    if settings.slack_bot_token is None and settings.slack_client_id is None:
        secret = read_or_create(settings.data_dir / "workspace.secret", lambda: secrets.token_hex(16))
        return SlackLogin(bot_token=f"xoxb-{secret}", app_token=f"xapp-{secret}", base_url=f"{page_url}/api/")
    http = settings.slack_mode == "http"
    url = settings.slack_api_base_url or SLACK_URL
    return SlackLogin(
        bot_token=_reveal(settings.slack_bot_token),
        app_token=None if http else _reveal(settings.slack_app_token),
        signing_secret=_reveal(settings.slack_signing_secret) if http else None,
        base_url=url,
        proxy=find_proxy(settings, url),
        oauth=_build_oauth(settings),
    )


def _build_oauth(settings: Settings) -> OAuthApp | None:
    if settings.slack_client_id is None or settings.slack_client_secret is None:
        return None
    return OAuthApp(settings.slack_client_id, settings.slack_client_secret.get_secret_value())


def find_proxy(settings: Settings, url: str) -> str | None:
    """Return the proxy for an address: that of the settings, or that of the environment unless NO_PROXY excepts it."""
    if settings.proxy is not None:
        return settings.proxy
    parts = urlsplit(url)
    if parts.hostname is None or proxy_bypass(parts.hostname):
        return None
    return getproxies().get(parts.scheme)


def describe_mode(settings: Settings) -> str:
    """Return how Slack's payloads arrive, as a part of a sentence."""
    if settings.slack_mode == "http":
        return f"over HTTP at {str(settings.public_url).rstrip('/')}{EVENTS_PATH}"
    return "over Socket Mode"


def _reveal(secret: SecretStr | None) -> str | None:
    return None if secret is None else secret.get_secret_value()


INSTALL, RETURN = "/slack/install", "/slack/oauth_redirect"
STATE_SECONDS = 600
INSTALLED = mark_message(
    "FateForger is installed in {workspace}. Everybody there can now send it a direct message, or type {command}."
)
DENIED = mark_message("Slack says that this was not allowed, so nothing is installed.")
TOO_OLD = mark_message("This took too long, or it was begun in another browser. Please begin again.")
UNCONFIRMED = mark_message("Slack did not confirm this, so nothing is installed. Please begin again.")
NOT_READY = mark_message("I am still starting. Please try again in a moment.")
HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
}
_TEMPLATES = Environment(loader=PackageLoader("fateforger.app"), autoescape=True, undefined=StrictUndefined)

log = logging.getLogger(__name__)


class _States(AsyncOAuthStateStore):
    """States of installs in the database: each is good once, in the browser that it was made for, and expires."""

    def __init__(self, installations: Installations, clock: Clock) -> None:
        self._installations = installations
        self._clock = clock

    async def async_issue(self, *_args: object, **_settings: object) -> str:
        state = secrets.token_urlsafe(32)
        expires_at = self._clock.now() + timedelta(seconds=STATE_SECONDS)
        await self._installations.add_state(state, expires_at=expires_at)
        return state

    async def async_consume(self, state: str) -> bool:
        return await self._installations.take_state(state, now=self._clock.now())


class _Flow(AsyncOAuthFlow):
    """Bolt's flow, with the installations of this program."""

    def __init__(
        self, workspaces: Workspaces, clock: Clock, client: AsyncWebClient, settings: AsyncOAuthSettings
    ) -> None:
        super().__init__(client=client, logger=log, settings=settings)
        self._workspaces = workspaces
        self._clock = clock

    async def store_installation(self, request: AsyncBoltRequest, installation: GrantedInstallation) -> None:  # noqa: ARG002  Bolt's signature
        for_all = bool(installation.is_enterprise_install)
        tenant = installation.enterprise_id if for_all else installation.team_id
        name = installation.enterprise_name if for_all else installation.team_name
        if not tenant or not installation.bot_token:
            raise BoltError("Slack names no workspace, or gives no bot token")
        now, seconds = self._clock.now(), installation.bot_token_expires_at
        granted = Installation(
            tenant=tenant,
            name=name or tenant,
            team_id=None if for_all else tenant,
            installed_at=now,
            token=installation.bot_token,
            refresh_token=installation.bot_refresh_token or "",
            expires_at=None if seconds is None else now + timedelta(seconds=seconds - int(installation.installed_at)),
            scopes=",".join(installation.bot_scopes or ()),
        )
        try:
            await self._workspaces.install(granted)
        except (StoreError, BadInput) as error:
            log.error("an install could not be kept: %s", error.message)  # noqa: TRY400  the sentence says it all
            raise BoltError(error.message) from error


class InstallPages:
    """Serves the two pages, if the settings hold the app's client id and secret."""

    def __init__(self, login: SlackLogin, installations: Installations, clock: Clock, settings: Settings) -> None:
        self._login = login
        self.installations = installations
        self._clock = clock
        self._public_url = (settings.public_url or "").rstrip("/")
        self._language = settings.language
        self._workspaces: Workspaces | None = None

    def open(self, workspaces: Workspaces) -> None:
        """Accept installs from here on."""
        self._workspaces = workspaces

    @property
    def routes(self) -> tuple[Route, ...]:
        if self._login.oauth is None:
            return ()
        return (Route(INSTALL, self._answer), Route(RETURN, self._answer))

    async def _answer(self, request: Request) -> Response:
        use_language(self._language)
        if self._workspaces is None:
            return to_starlette_response(_build_page(_(NOT_READY), 503))
        flow = self._build_flow(self._workspaces)
        asked = to_async_bolt_request(request, b"")
        try:
            begins = request.url.path == INSTALL
            answer = await (flow.handle_installation(asked) if begins else flow.handle_callback(asked))
        except (aiohttp.ClientError, SlackClientError, TimeoutError, OSError) as trouble:
            log.warning("Slack did not answer about an install: %r", trouble)
            answer = _build_page(_(UNCONFIRMED), 502)
        except StoreError as error:
            log.error("an install is not carried on: %s", error.message)  # noqa: TRY400  the sentence says it all
            answer = _build_page(_(UNCONFIRMED), 503)
        return to_starlette_response(answer)

    def _build_flow(self, workspaces: Workspaces) -> _Flow:
        assert self._login.oauth is not None  # noqa: S101  for the type checker: else there are no routes
        with without_slack_settings():
            settings = AsyncOAuthSettings(
                client_id=self._login.oauth.client_id,
                client_secret=self._login.oauth.client_secret,
                scopes=[*BOT_SCOPES, *OPTIONAL_SCOPES],
                redirect_uri=f"{self._public_url}{RETURN}",
                install_path=INSTALL,
                redirect_uri_path=RETURN,
                install_page_rendering_enabled=False,
                authorization_url=f"{self._login.base_url.removesuffix('api/')}oauth/v2/authorize",
                callback_options=AsyncCallbackOptions(success=_show_success, failure=_show_failure),
                installation_store=AsyncInstallationStore(),  # not used: the flow keeps installations itself
                state_store=_States(self.installations, self._clock),
                state_expiration_seconds=STATE_SECONDS,
            )
        client = AsyncWebClient(base_url=self._login.base_url, retry_handlers=[])
        client.proxy = self._login.proxy
        return _Flow(workspaces, self._clock, client, settings)


async def _show_success(args: AsyncSuccessArgs) -> BoltResponse:
    granted = args.installation
    name = granted.enterprise_name if granted.is_enterprise_install else granted.team_name
    return _build_page(_(INSTALLED, workspace=name or "", command=command_name(TIMEBOX)), 200)


async def _show_failure(args: AsyncFailureArgs) -> BoltResponse:
    if args.reason in {"invalid_browser", "invalid_state", "missing_code"}:
        return _build_page(_(TOO_OLD), 400)
    if args.reason in {"invalid_code", "storage_error"}:
        return _build_page(_(UNCONFIRMED), 502)
    return _build_page(_(DENIED), 403)


def _build_page(words: str, status: int) -> BoltResponse:
    page = _TEMPLATES.get_template("install.html").render(words=words, again=INSTALL if status >= 400 else "", _=_)
    return BoltResponse(status=status, body=page, headers={**HEADERS})
