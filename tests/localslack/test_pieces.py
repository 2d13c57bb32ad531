"""The small parts: timestamps, typed text, manifest, database, trigger memory."""

from __future__ import annotations

import copy
from datetime import timedelta
from pathlib import Path

import pytest
from tests.localslack.workspaces import MANIFEST, Clock

from localslack.conversations import Timestamps
from localslack.manifest import EVENT_SCOPES, read_manifest
from localslack.modals import Triggers
from localslack.store.database import Database
from localslack.text import compose, is_mentioned

NAMES = {"alex": "U1", "planner": "U2"}


def test_timestamps_never_repeat_and_never_go_back() -> None:
    clock = Clock()
    stamps = Timestamps(clock, last=None)
    assert [stamps.next() for _ in range(3)] == ["1793606400.000000", "1793606400.000001", "1793606400.000002"]
    clock.at -= timedelta(hours=1)
    assert stamps.next() == "1793606400.000003"
    clock.at += timedelta(hours=2)
    assert stamps.next() == "1793610000.000000"


def test_timestamps_go_on_after_the_last_one_stored() -> None:
    assert Timestamps(Clock(), last="1793606400.999999").next() == "1793606401.000000"


@pytest.mark.parametrize(
    ("typed", "text", "elements"),
    [
        ("a < b & c > d", "a &lt; b &amp; c &gt; d", [{"type": "text", "text": "a < b & c > d"}]),
        (
            "hey @Planner, plan",
            "hey <@U2>, plan",
            [
                {"type": "text", "text": "hey "},
                {"type": "user", "user_id": "U2"},
                {"type": "text", "text": ", plan"},
            ],
        ),
        ("<@U1>", "<@U1>", [{"type": "user", "user_id": "U1"}]),
        ("<@U9>", "&lt;@U9&gt;", [{"type": "text", "text": "<@U9>"}]),
        ("@nobody", "@nobody", [{"type": "text", "text": "@nobody"}]),
        ("me@alex", "me@alex", [{"type": "text", "text": "me@alex"}]),
    ],
)
def test_what_is_typed_becomes_text_and_rich_text(typed: str, text: str, elements: list[dict[str, str]]) -> None:
    section = {"type": "rich_text_section", "elements": elements}
    assert compose(typed, NAMES) == (text, [{"type": "rich_text", "elements": [section]}])
    assert is_mentioned(text, "U2") is ("planner" in typed.lower())


def test_an_app_gets_the_events_it_subscribes_to_and_may_have() -> None:
    app = read_manifest(MANIFEST)
    assert app.receives("message.im")
    assert not app.receives("message.groups")
    assert not app.receives("something_else")
    without_scope = copy.deepcopy(MANIFEST)
    without_scope["oauth_config"]["scopes"]["bot"].remove("im:history")
    assert not read_manifest(without_scope).receives("message.im")
    assert read_manifest(without_scope).receives("app_home_opened")
    assert app.bot_events <= EVENT_SCOPES.keys()


def test_an_empty_manifest_is_an_app_without_anything() -> None:
    app = read_manifest({})
    assert (app.name, app.bot_name, app.commands, app.shortcuts, app.scopes) == ("app", "app", (), (), ())
    assert (app.home_tab_enabled, app.is_agent, app.suggested_prompts) == (False, False, ())


def test_effects_wait_for_the_commit_and_are_forgotten_with_it(tmp_path: Path) -> None:
    database = Database(tmp_path / "db.sqlite")
    told: list[str] = []
    with database.transaction():
        database.write("INSERT INTO sessions VALUES ('C', '1', '{}')")
        with database.transaction():
            database.after_commit(lambda: told.append("inner"))
        assert told == []
    assert told == ["inner"]

    def fail() -> None:
        with database.transaction():
            database.write("INSERT INTO sessions VALUES ('C', '2', '{}')")
            database.after_commit(lambda: told.append("never"))
            raise InterruptedError

    with pytest.raises(InterruptedError):
        fail()
    database.after_commit(lambda: told.append("at once"))
    assert told == ["inner", "at once"]
    assert database.rows("SELECT thread_ts FROM sessions") == [("1",)]
    database.close()


def test_old_triggers_are_forgotten() -> None:
    triggers = Triggers(Clock())
    first = triggers.issue("U1")
    issued = {triggers.issue("U1") for _ in range(1_000)}
    assert len(issued) == 1_000
    with pytest.raises(Exception, match="invalid_trigger_id"):
        triggers.redeem(first)
    assert {triggers.redeem(trigger) for trigger in issued} == {"U1"}
