"""S401: payloads as Slack sends them are never taken for malformed ones."""

from __future__ import annotations

from typing import Any

import pytest

from fateforger.slack.payloads import find_flaw

BUTTON = {
    "type": "button",
    "action_id": "a",
    "block_id": "b",
    "value": "v",
    "text": {"type": "plain_text", "text": "Go"},
}
CLICK: dict[str, Any] = {
    "type": "block_actions",
    "user": {"id": "U1", "team_id": "T1"},
    "team": {"id": "T1"},
    "channel": {"id": "D1"},
    "container": {"type": "message", "message_ts": "1.000001", "thread_ts": "1.0"},
    "actions": [BUTTON],
}
HOME = {"type": "app_home_opened", "user": "U1", "channel": "D1", "tab": "home", "event_ts": "1.0"}
RIGHT: dict[str, Any] = {
    "a button with a label": CLICK,
    "the app of an organization": CLICK | {"team": None, "enterprise": {"id": "E1"}},
    "a click outside of a channel": CLICK | {"channel": None},
    "a view without fields": {"event": HOME | {"view": {"id": "V1", "state": {"values": []}}}},
    "a changed profile": {"event": {"type": "user_change", "user": {"id": "U1", "tz": None}}},
}
WRONG: dict[str, Any] = {
    "payload": [],
    "team": CLICK | {"team": "T1"},
    "actions": CLICK | {"actions": []},
    "action_id": CLICK | {"actions": [{"type": "button", "block_id": "b", "value": "v"}]},
    "thread_ts": CLICK | {"container": {"thread_ts": "yesterday"}},
    "value": CLICK | {"actions": [BUTTON | {"value": 5}]},
    "values": {"view": {"state": {"values": ["x"]}}},
    "user": {"event": {"type": "user_change", "user": {"id": None}}},
    "view": {"type": "view_submission", "view": {"id": "V1", "callback_id": "form"}},
    "trigger_id": {"command": "/timebox", "user_id": "U1", "channel_id": "C1"},
}


@pytest.mark.parametrize("body", RIGHT.values(), ids=RIGHT.keys())
def test_a_payload_of_slack_has_no_flaw(body: object) -> None:
    assert find_flaw(body) is None


@pytest.mark.parametrize(("name", "body"), WRONG.items())
def test_a_part_of_another_type_is_named(name: str, body: object) -> None:
    assert find_flaw(body) == name
