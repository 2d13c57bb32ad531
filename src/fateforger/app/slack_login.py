"""The way to Slack: tokens, addresses and proxy of the configured workspace, or of the local page."""

from __future__ import annotations

import secrets
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from pydantic import SecretStr

from fateforger.app.data_dir import read_or_create
from fateforger.config import Settings
from fateforger.slack.client import SLACK_URL, OAuthApp, SlackLogin
from fateforger.slack.manifest import EVENTS_PATH


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
