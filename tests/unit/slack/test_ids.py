"""Ids with their tenant: qualified where payloads come in, bare where calls go out."""

from __future__ import annotations

from typing import Any

import pytest

from fateforger.slack.ids import (
    FIRST,
    find_ids,
    find_tenant,
    get_bare,
    get_tenant,
    qualify,
    qualify_answer,
    qualify_payload,
    to_slack,
)


def test_ids_of_the_first_workspace_stay_bare() -> None:
    """S340: all that is stored already goes on."""
    assert qualify(FIRST, "U1") == "U1"
    assert (get_tenant("U1"), get_bare("U1")) == (FIRST, "U1")
    assert (get_tenant("T2/U1"), get_bare("T2/U1")) == ("T2", "U1")


def build_payload(channel: str = "C1") -> dict[str, Any]:
    return {
        "user": {"id": "U1"},
        "channel": {"id": channel},
        "container": {"type": "message", "channel_id": channel, "message_ts": "1.0"},
        "trigger_id": "1.2.x",
        "view": {"id": "V1", "root_view_id": "V1", "private_metadata": "C1"},
        "authorizations": [{"user_id": "UBOT"}],
        "event": {"user": "U1", "channel": channel, "text": "<@U1>", "ts": "1.0"},
    }


def test_every_id_of_a_payload_gets_its_tenant() -> None:
    body = build_payload()
    qualify_payload(body, "T2")
    assert body == {
        "user": {"id": "T2/U1"},
        "channel": {"id": "T2/C1"},
        "container": {"type": "message", "channel_id": "T2/C1", "message_ts": "1.0"},
        "trigger_id": "T2/1.2.x",
        "view": {"id": "T2/V1", "root_view_id": "T2/V1", "private_metadata": "C1"},
        "authorizations": [{"user_id": "T2/UBOT"}],
        "event": {"user": "T2/U1", "channel": "T2/C1", "text": "<@U1>", "ts": "1.0"},
    }


@pytest.mark.parametrize("tenant", [FIRST, "T3"])
def test_a_payload_cannot_name_a_place_of_another_workspace(tenant: str) -> None:
    """S342: not even the first workspace, whose ids are bare."""
    with pytest.raises(ValueError, match="no id of Slack"):
        qualify_payload(build_payload("T2/C1"), tenant)


def test_a_call_goes_out_with_ids_as_slack_knows_them() -> None:
    given = {
        "channel": "T2/C1",
        "user": "T2/U1",
        "text": "Ask <@T2/U1> in <#T2/C1|general>, not <@T3/U1>",
        "blocks": [{"type": "section", "text": {"text": "<@T2/U1>"}}],
    }
    assert find_tenant(given) == "T2"
    assert to_slack(given, "T2") == {
        "channel": "C1",
        "user": "U1",
        "text": "Ask <@U1> in <#C1|general>, not <@T3/U1>",
        "blocks": [{"type": "section", "text": {"text": "<@U1>"}}],
    }
    with pytest.raises(ValueError, match="several workspaces"):
        find_tenant({"channel": "T2/C1", "user": "U1"})
    assert find_tenant({"text": "nobody"}) is None


def test_a_channel_in_an_answer_gets_its_tenant() -> None:
    answer: dict[str, Any] = {"ok": True, "channel": {"id": "D1"}, "ts": "1.0"}
    qualify_answer(answer, "T2")
    assert answer["channel"] == {"id": "T2/D1"}


def test_a_qualified_id_is_one_word() -> None:
    assert list(find_ids("queue T2/U1, U1 and s1/reply")) == ["queue", "T2/U1", "U1", "and", "s1", "reply"]
    assert "U1" not in set(find_ids("first-T2/U1"))
