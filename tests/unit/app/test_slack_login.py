"""The way to Slack that the settings describe."""

from __future__ import annotations

import pytest

from fateforger.app.slack_install import build_login, describe_mode, find_proxy
from fateforger.config import read_settings
from fateforger.slack.client import SLACK_URL, SlackLogin

GOV = "https://slack-gov.com/api/"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def test_the_proxy_of_the_environment_is_used_unless_it_is_excepted(monkeypatch: pytest.MonkeyPatch) -> None:
    """S338: by the scheme of the address; the setting comes first."""
    assert find_proxy(read_settings(), SLACK_URL) is None
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    assert find_proxy(read_settings(), SLACK_URL) == "http://proxy:3128"
    assert find_proxy(read_settings(), "http://127.0.0.1:1/api/") is None
    monkeypatch.setenv("NO_PROXY", "slack.com")
    assert find_proxy(read_settings(), SLACK_URL) is None
    assert find_proxy(read_settings(), GOV) == "http://proxy:3128"
    assert find_proxy(read_settings(proxy="http://other:1"), SLACK_URL) == "http://other:1"


def test_each_mode_has_its_own_secrets() -> None:
    tokens = {"slack_bot_token": "xoxb-1", "slack_app_token": "xapp-1", "slack_signing_secret": "s"}
    socket = read_settings(**tokens)
    assert build_login(socket, "") == SlackLogin("xoxb-1", "xapp-1")
    assert describe_mode(socket) == "over Socket Mode"
    http = read_settings(**tokens, slack_mode="http", public_url="https://plan.example.org/")
    assert build_login(http, "") == SlackLogin("xoxb-1", signing_secret="s")
    assert describe_mode(http) == "over HTTP at https://plan.example.org/slack/events"


def test_slacks_limits_are_kept_at_govslack_too() -> None:
    login = build_login(
        read_settings(slack_bot_token="xoxb-1", slack_app_token="xapp-1", slack_api_base_url=GOV), "http://unused"
    )
    assert (login.base_url, login.is_limited) == (GOV, True)
    assert not SlackLogin("xoxb-1", "xapp-1", "http://127.0.0.1:1/api/").is_limited
