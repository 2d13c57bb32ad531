"""The app's manifest: the file is the document, and the document is what the code listens to."""

from __future__ import annotations

from pathlib import Path

import yaml

from fateforger.slack.addresses import (
    COMMAND_NAME,
    PULL_COMMAND,
    REFINE_COMMAND,
    SAVE_AS_TASK,
    START,
    TASKS_COMMAND,
    WEEK_COMMAND,
)
from fateforger.slack.client import BOT_EVENTS, BOT_SCOPES, app_manifest
from localslack.manifest import EVENT_SCOPES, read_manifest

FILE = Path(__file__).parents[3] / "manifest.yaml"


def test_the_file_at_the_root_is_the_document() -> None:
    document = FILE.read_text(encoding="utf-8")
    assert document.startswith("# ")
    assert yaml.safe_load(document) == app_manifest()


def test_every_event_is_covered_by_a_scope() -> None:
    app = read_manifest(app_manifest())
    assert app.bot_events == frozenset(BOT_EVENTS)
    assert [event for event in BOT_EVENTS if not app.receives(event)] == []
    assert all(event in EVENT_SCOPES for event in BOT_EVENTS)


def test_the_command_and_the_shortcut_are_those_the_code_knows() -> None:
    app = read_manifest(app_manifest())
    assert [command.command for command in app.commands] == [
        COMMAND_NAME,
        PULL_COMMAND,
        TASKS_COMMAND,
        WEEK_COMMAND,
        REFINE_COMMAND,
    ]
    assert [(shortcut.type, shortcut.callback_id) for shortcut in app.shortcuts] == [
        ("global", START),
        ("message", SAVE_AS_TASK),
    ]
    assert set(app.scopes) == set(BOT_SCOPES)


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
