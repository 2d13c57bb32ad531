"""Checks of every Web API call: encodings, tokens, scopes, required arguments, faults."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from tests.localslack.workspaces import APP_TOKEN, BOT_TOKEN, DM, MANIFEST, Api, section

from localslack import RATE_LIMITED, Fault

AUTH = {"authorization": f"Bearer {BOT_TOKEN}"}
BLOCKS = [section("*hello*", block_id="b")]
METADATA = {"event_type": "plan_shown", "event_payload": {"day": "2026-11-02"}}


async def post_message(api: Api, **sending: Any) -> dict[str, Any]:
    answer = await api.http.post("/api/chat.postMessage", **sending)
    body = answer.json()
    assert body["ok"] is True, body
    stored = (await api.messages())[-1]
    return {key: stored.get(key) for key in ("text", "blocks", "metadata")}


async def test_arguments_mean_the_same_however_they_are_encoded(api: Api) -> None:
    given = {"channel": DM, "text": "hello", "blocks": BLOCKS, "metadata": METADATA}
    flat = {**given, "blocks": json.dumps(BLOCKS), "metadata": json.dumps(METADATA)}
    expected = {"text": "hello", "blocks": BLOCKS, "metadata": METADATA}
    assert await post_message(api, json=given, headers=AUTH) == expected
    assert await post_message(api, json=flat, headers=AUTH) == expected
    assert await post_message(api, data=flat, headers=AUTH) == expected
    assert await post_message(api, params=flat, headers=AUTH) == expected
    assert await post_message(api, data=flat, files={"file": b""}, headers=AUTH) == expected
    assert await post_message(api, data={**flat, "token": BOT_TOKEN}) == expected


async def test_a_get_takes_its_arguments_from_the_query(api: Api) -> None:
    answer = await api.http.get("/api/conversations.info", params={"channel": DM}, headers=AUTH)
    assert answer.json()["channel"]["id"] == DM


@pytest.mark.parametrize(
    ("kind", "body", "error"),
    [
        ("application/json", b"{", "invalid_json"),
        ("application/json", b"\xff", "invalid_json"),
        ("application/json", b"[]", "json_not_object"),
        ("application/json; charset=utf-8", b"", "invalid_arguments"),
        ("application/x-www-form-urlencoded", b"channel=D0000ALEX&blocks=[", "invalid_blocks_format"),
        ("application/x-www-form-urlencoded", b"channel=D0000ALEX&blocks={}", "invalid_blocks_format"),
        ("application/x-www-form-urlencoded", b"channel=D0000ALEX&metadata={", "invalid_metadata_format"),
    ],
)
async def test_a_body_that_cannot_be_read(api: Api, kind: str, body: bytes, error: str) -> None:
    answer = await api.http.post("/api/chat.postMessage", content=body, headers={**AUTH, "content-type": kind})
    assert (answer.status_code, answer.json()["error"]) == (200, error)


@pytest.mark.parametrize(
    ("method", "token", "expected"),
    [
        ("auth.test", None, "not_authed"),
        ("auth.test", "", "not_authed"),
        ("auth.test", "xoxb-other", "invalid_auth"),
        ("auth.test", APP_TOKEN, "not_allowed_token_type"),
        ("auth.test", BOT_TOKEN, None),
        ("apps.connections.open", BOT_TOKEN, "not_allowed_token_type"),
        ("apps.connections.open", APP_TOKEN, None),
        ("api.test", None, None),
        ("no.such.method", BOT_TOKEN, "unknown_method"),
    ],
)
async def test_tokens(api: Api, method: str, token: str | None, expected: str | None) -> None:
    answer = await api.call(method, token=token)
    assert (answer["ok"], answer.get("error")) == (expected is None, expected)


async def test_a_missing_argument_is_named(api: Api) -> None:
    assert await api.call("chat.update", text="x") == {
        "ok": False,
        "error": "invalid_arguments",
        "response_metadata": {
            "messages": ["[ERROR] missing required field: channel", "[ERROR] missing required field: ts"]
        },
    }


async def test_a_missing_scope_is_named(tmp_path: Path) -> None:
    manifest = copy.deepcopy(MANIFEST)
    manifest["oauth_config"]["scopes"]["bot"] = ["im:history"]
    api = Api(tmp_path, manifest)
    assert await api.call("chat.postMessage", channel=DM, text="x") == {
        "ok": False,
        "error": "missing_scope",
        "needed": "chat:write",
        "provided": "im:history",
    }
    await api.close()


async def test_scopes_are_told_in_a_header(api: Api) -> None:
    answer = await api.http.post("/api/auth.test", headers=AUTH)
    assert answer.headers["x-oauth-scopes"] == ",".join(MANIFEST["oauth_config"]["scopes"]["bot"])


async def test_who_the_app_is(api: Api) -> None:
    assert await api.call("auth.test") == {
        "ok": True,
        "url": "http://127.0.0.1:9/",
        "team": "Local workspace",
        "team_id": "T0000LOCAL",
        "user": "planner",
        "user_id": "U00000BOT",
        "bot_id": "B0000LOCAL",
        "is_enterprise_install": False,
    }


async def test_a_planned_fault_hits_one_call(api: Api) -> None:
    api.workspace.faults.plan("chat.postMessage", RATE_LIMITED)
    refused = await api.http.post("/api/chat.postMessage", json={"channel": DM, "text": "x"}, headers=AUTH)
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "1")
    assert refused.json() == {"ok": False, "error": "ratelimited"}
    assert await api.messages() == []
    await api.post("x")
    assert len(await api.messages()) == 1


async def test_an_answer_can_get_lost_after_the_deed(api: Api) -> None:
    api.workspace.faults.plan("chat.postMessage", Fault(status=500, after_effect=True), times=2)
    for _ in range(2):
        lost = await api.http.post("/api/chat.postMessage", json={"channel": DM, "text": "x"}, headers=AUTH)
        assert (lost.status_code, lost.json()) == (500, {"ok": False, "error": "internal_error"})
    assert [message["text"] for message in await api.messages()] == ["x", "x"]
