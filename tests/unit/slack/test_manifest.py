"""The app's manifest holds what the code listens to and calls, and nothing else."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from slack_sdk.web.async_client import AsyncWebClient
from tests.sources import modules

from fateforger.cli.command_line import root_command
from fateforger.errors import BadInput
from fateforger.slack.ids import SAVE_AS_TASK, START
from fateforger.slack.manifest import BOT_EVENTS, BOT_SCOPES, EVENTS_PATH, OPTIONAL_SCOPES, app_manifest
from fateforger.text import COMMANDS, PULL, TASKS, use_command_names
from localslack.manifest import EVENT_SCOPES, read_manifest
from localslack.web_api.dispatch import METHODS

URL = "https://plan.example.org"

HISTORY = ("channels:history", "groups:history", "im:history")
CALLS: dict[str, tuple[str, ...]] = {
    "agents_sessions_rename": ("chat:write",),
    "agents_sessions_setStatus": ("chat:write",),
    "apps_connections_open": (),  # an app-level token with connections:write
    "assistant_threads_setSuggestedPrompts": ("assistant:write",),
    "auth_test": (),
    "chat_appendStream": ("chat:write",),
    "chat_delete": ("chat:write",),
    "chat_getPermalink": (),
    "chat_postEphemeral": ("chat:write",),
    "chat_postMessage": ("chat:write",),
    "chat_startStream": ("chat:write",),
    "chat_stopStream": ("chat:write",),
    "chat_update": ("chat:write",),
    "conversations_history": HISTORY,
    "conversations_open": ("im:write",),
    "conversations_replies": HISTORY,
    "files_upload_v2": ("files:write",),  # files.getUploadURLExternal and files.completeUploadExternal
    "oauth_v2_access": (),  # renews the token of a workspace, with the app's client id and secret
    "users_info": ("users:read", "users:read.email"),  # with the address in the profile
    "views_open": (),
    "views_publish": (),
    "views_push": (),
    "views_update": (),
}
"""Scopes of each method that the code calls, by its name in the SDK.

Source: the page of each method below https://docs.slack.dev/reference/methods, as of August 2026. A method that works in
several kinds of channels needs the scope of each kind.
"""

FEATURES = {
    "agent_view": "assistant:write",
    "slash_commands": "commands",
    "shortcuts": "commands",
}
"""Scopes of parts of the manifest. Source: https://docs.slack.dev/reference/app-manifest."""


NOT_IN_THE_STAND_IN = {
    "files_upload_v2",  # a helper of the SDK, not a method
    "oauth_v2_access",  # workspaces install the app in tests/emulators/slack/teams.py
}


def list_called() -> Iterator[str]:
    """Yield the names of the SDK's methods that the code uses."""
    methods = {name for name in dir(AsyncWebClient) if "_" in name.strip("_") and not name.startswith("_")}
    methods -= {"api_call"}
    names = (node.attr for module in modules().values() for node in module.find(ast.Attribute))
    return (name for name in names if name in methods)


def test_the_app_asks_for_exactly_the_scopes_that_it_needs() -> None:
    """S336: a scope that is missing, and one that is of no use, both fail."""
    called = set(list_called())
    assert called == set(CALLS)
    by_calls = {scope for name in called for scope in CALLS[name]}
    by_events = {scope for event in BOT_EVENTS for scope in EVENT_SCOPES[event]}
    by_features = {FEATURES[part] for part in app_manifest()["features"] if part in FEATURES}
    assert set(BOT_SCOPES) | set(OPTIONAL_SCOPES) == by_calls | by_events | by_features
    assert not set(BOT_SCOPES) & set(OPTIONAL_SCOPES)


def test_the_stand_in_asks_for_the_same_scopes() -> None:
    """A method that it lets pass with less than Slack would hide a missing scope."""
    for name, scopes in CALLS.items():
        if name not in NOT_IN_THE_STAND_IN:
            asked = METHODS[name.replace("_", ".")].scopes
            assert set(asked) >= set(scopes) - {"users:read.email"}, name
            assert bool(asked) == bool(scopes), name


def test_every_event_is_covered_by_a_scope() -> None:
    app = read_manifest(app_manifest())
    assert app.bot_events == frozenset(BOT_EVENTS)
    assert [event for event in BOT_EVENTS if not app.receives(event)] == []


def test_the_commands_and_the_shortcuts_are_those_the_code_knows() -> None:
    app = read_manifest(app_manifest())
    assert tuple(command.command for command in app.commands) == COMMANDS
    assert [(shortcut.type, shortcut.callback_id) for shortcut in app.shortcuts] == [
        ("global", START),
        ("message", SAVE_AS_TASK),
    ]
    assert app.request_urls is None


def test_in_http_mode_everything_arrives_at_one_address() -> None:
    """S335: events, commands, interactivity and options."""
    document = app_manifest(f"{URL}/")
    urls = read_manifest(document).request_urls
    assert urls is not None
    assert {urls.events, urls.interactivity, urls.options, *urls.commands.values()} == {URL + EVENTS_PATH}
    assert tuple(urls.commands) == COMMANDS
    assert document["settings"]["socket_mode_enabled"] is False


def test_slacks_limits_are_kept() -> None:
    document = app_manifest()
    words = document["display_information"]
    features = document["features"]
    assert len(words["name"]) <= 35
    assert len(words["description"]) <= 140
    assert len(features["agent_view"]["agent_description"]) <= 300
    assert len(features["bot_user"]["display_name"]) <= 80
    assert max(len(c["command"]) for c in features["slash_commands"]) <= 32
    assert max(len(s["name"]) for s in features["shortcuts"]) <= 24


def test_each_document_is_its_own() -> None:
    app_manifest()["features"].clear()
    assert app_manifest()["features"] != {}


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)  # where no .env is
    yield
    use_command_names({})


@pytest.mark.usefixtures("no_settings")
def test_the_command_prints_it_for_both_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    """S335: before there is an app, so without its tokens; with the names that the settings give to commands."""

    def ask(*arguments: str) -> str:
        done = CliRunner().invoke(root_command, ["manifest", *arguments], catch_exceptions=False)
        assert done.exit_code == 0
        return done.output

    printed = ask()
    assert printed.startswith("# The Slack app. At api.slack.com/apps")
    assert yaml.safe_load(printed) == app_manifest()
    assert json.loads(ask("--mode", "http", "--url", URL, "--json")) == app_manifest(URL)
    monkeypatch.setenv("FATEFORGER_SLACK_MODE", "http")
    monkeypatch.setenv("FATEFORGER_PUBLIC_URL", URL)
    monkeypatch.setenv("FATEFORGER_COMMANDS", "tasks=/plan-tasks,/pull=/plan-pull")
    renamed = read_manifest(yaml.safe_load(ask()))
    assert [command.command for command in renamed.commands[1:3]] == ["/plan-pull", "/plan-tasks"]
    assert renamed.request_urls is not None
    assert json.loads(ask("--mode", "socket", "--json"))["settings"]["socket_mode_enabled"] is True
    assert {PULL, TASKS} <= set(COMMANDS)


@pytest.mark.usefixtures("no_settings")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "In HTTP mode, Slack has to know where to reach this program. Give its address with --url"),
        (["--url", "http://plan.example.org"], "Slack sends nothing to http://plan.example.org: it wants an address"),
    ],
)
def test_an_address_that_slack_would_not_take_is_refused(arguments: list[str], sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        CliRunner().invoke(root_command, ["manifest", "--mode", "http", *arguments], catch_exceptions=False)
