"""chat.*: allowed messages and their places, and allowed changes."""

from __future__ import annotations

from typing import Any

import pytest
from tests.localslack.workspaces import ALEX, DM, GENERAL, ROBIN, ROBINS_DM, Api, actions, button, section

METADATA = {"event_type": "plan_shown", "event_payload": {"day": "2026-11-02"}}


async def error(api: Api, method: str, **arguments: Any) -> str | None:
    answer = await api.call(method, **arguments)
    assert answer["ok"] is ("error" not in answer)
    return answer.get("error")


async def test_a_posted_message_is_the_bots_and_has_all_its_ids(api: Api) -> None:
    answer = await api.call("chat.postMessage", channel=DM, text="hi", blocks=[section()])
    message = answer["message"]
    assert (answer["channel"], answer["ts"]) == (DM, message["ts"])
    assert {key: message[key] for key in ("type", "user", "bot_id", "app_id", "team", "text")} == {
        "type": "message",
        "user": "U00000BOT",
        "bot_id": "B0000LOCAL",
        "app_id": "A0000LOCAL",
        "team": "T0000LOCAL",
        "text": "hi",
    }
    assert message == (await api.messages())[-1]


async def test_ids_that_were_left_out_are_filled_in(api: Api) -> None:
    press = button()
    del press["action_id"]
    await api.post(blocks=[actions(press, dict(press))])
    [block] = (await api.messages())[-1]["blocks"]
    ids = [block["block_id"], *(element["action_id"] for element in block["elements"])]
    assert all(ids)
    assert len(set(ids)) == 3


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"channel": "C404", "text": "x"}, "channel_not_found"),
        ({"channel": DM}, "no_text"),
        ({"channel": DM, "text": ""}, "no_text"),
        ({"channel": DM, "text": "", "blocks": []}, "no_text"),
        ({"channel": DM, "text": "x", "blocks": [{"type": "nope"}]}, "invalid_blocks"),
        ({"channel": DM, "text": "x", "blocks": "nope"}, "invalid_blocks_format"),
        ({"channel": DM, "text": "x", "attachments": [{}] * 101}, "too_many_attachments"),
        ({"channel": DM, "text": "x", "markdown_text": "y"}, "markdown_text_conflict"),
        ({"channel": DM, "markdown_text": "y" * 12_001}, "msg_too_long"),
        ({"channel": DM, "text": "x", "metadata": {"event_payload": {}}}, "invalid_metadata_format"),
        ({"channel": DM, "text": "x", "metadata": {"event_type": "x", "event_payload": []}}, "invalid_metadata_format"),
        ({"channel": DM, "text": "x", "thread_ts": "1.000000"}, "thread_not_found"),
        ({"channel": DM, "text": ["x"]}, "invalid_arguments"),
    ],
)
async def test_what_cannot_be_posted(api: Api, arguments: dict[str, Any], expected: str) -> None:
    assert await error(api, "chat.postMessage", **arguments) == expected
    assert await api.messages() == []


async def test_channels_can_be_named_in_three_ways(api: Api) -> None:
    for name, channel in ((GENERAL, GENERAL), ("#general", GENERAL), ("general", GENERAL), (ALEX.id, DM)):
        assert (await api.call("chat.postMessage", channel=name, text="x"))["channel"] == channel


async def test_markdown_becomes_a_block(api: Api) -> None:
    await api.call("chat.postMessage", channel=DM, markdown_text="**hi**")
    message = (await api.messages())[-1]
    assert (message["text"], message["blocks"][0]["type"], message["blocks"][0]["text"]) == (
        "**hi**",
        "markdown",
        "**hi**",
    )


async def test_a_text_over_forty_thousand_is_cut_with_a_warning(api: Api) -> None:
    """S226: what Slack does with a message that is too long, by method."""
    answer = await api.call("chat.postMessage", channel=DM, text="x" * 40_001)
    assert (answer["warning"], answer["response_metadata"]) == (
        "message_truncated",
        {"warnings": ["message_truncated"]},
    )
    assert len((await api.messages())[-1]["text"]) == 40_000
    assert "warning" not in await api.call("chat.postMessage", channel=DM, text="x" * 40_000)


async def test_an_update_over_four_thousand_is_refused(api: Api) -> None:
    """S226: what Slack does with a message that is too long, by method."""
    ts = await api.post()
    assert await error(api, "chat.update", channel=DM, ts=ts, text="x" * 4_001) == "msg_too_long"
    assert await error(api, "chat.update", channel=DM, ts=ts, text="x" * 4_000) is None


async def test_replies_belong_to_the_parent(api: Api) -> None:
    parent = await api.say("plan my day")
    reply = await api.post("on it", thread_ts=parent)
    assert await error(api, "chat.postMessage", channel=DM, text="x", thread_ts=reply) == "cannot_reply_to_message"
    [top] = await api.messages()
    assert {key: top[key] for key in ("reply_count", "latest_reply", "reply_users", "thread_ts")} == {
        "reply_count": 1,
        "latest_reply": reply,
        "reply_users": ["U00000BOT"],
        "thread_ts": parent,
    }
    assert [message["ts"] for message in await api.messages(thread_ts=parent)] == [parent, reply]


async def test_a_broadcast_reply_stands_in_both_places(api: Api) -> None:
    parent = await api.say("plan my day")
    reply = await api.post("done", thread_ts=parent, reply_broadcast=True)
    assert [message["ts"] for message in await api.messages()] == [parent, reply]
    assert (await api.messages())[-1]["subtype"] == "thread_broadcast"


async def test_a_reply_can_be_broadcast_later_but_not_with_new_content(api: Api) -> None:
    parent = await api.say("plan my day")
    reply = await api.post("done", thread_ts=parent)
    again = {"channel": DM, "ts": reply, "reply_broadcast": True}
    assert await error(api, "chat.update", **again, text="x") == "no_dual_broadcast_content_update"
    assert await error(api, "chat.update", **again) is None
    assert [message["ts"] for message in await api.messages()] == [parent, reply]
    top = await api.post("top")
    assert await error(api, "chat.update", channel=DM, ts=top, reply_broadcast=True) == "cant_broadcast_message"


async def test_an_update_keeps_what_it_leaves_out_and_removes_what_is_empty(api: Api) -> None:
    blocks = [section(block_id="b")]
    ts = await api.post("one", blocks=blocks, metadata=METADATA)
    await api.call("chat.update", channel=DM, ts=ts, text="two")
    [message] = await api.messages()
    assert (message["text"], message["blocks"], message["metadata"]) == ("two", blocks, METADATA)
    assert message["edited"]["user"] == "U00000BOT"
    await api.call("chat.update", channel=DM, ts=ts, text="three", blocks=[], metadata={})
    [message] = await api.messages()
    assert (message["text"], "blocks" in message, "metadata" in message) == ("three", False, False)


async def test_what_cannot_be_updated(api: Api) -> None:
    own, theirs = await api.post(), await api.say("mine")
    await api.call("chat.postEphemeral", channel=DM, user=ALEX.id, text="psst")
    whispered = (await api.messages())[-1]["ts"]
    cases = {own: "no_text", theirs: "cant_update_message", whispered: "message_not_found", "1.0": "message_not_found"}
    for ts, expected in cases.items():
        text = {} if ts == own else {"text": "x"}
        assert await error(api, "chat.update", channel=DM, ts=ts, **text) == expected
    assert await error(api, "chat.update", channel=DM, ts=own, text="", blocks=[]) == "no_text"


async def test_deleting(api: Api) -> None:
    own, theirs = await api.post(), await api.say("mine")
    assert await error(api, "chat.delete", channel=DM, ts=theirs) == "cant_delete_message"
    assert await error(api, "chat.delete", channel=DM, ts=own) is None
    assert await error(api, "chat.delete", channel=DM, ts=own) == "message_not_found"
    assert [message["ts"] for message in await api.messages()] == [theirs]


async def test_a_deleted_parent_leaves_a_tombstone(api: Api) -> None:
    parent = await api.post("parent")
    reply = await api.post("reply", thread_ts=parent)
    await api.call("chat.delete", channel=DM, ts=parent)
    [grave, left] = await api.messages(thread_ts=parent)
    assert (grave["subtype"], grave["text"], left["ts"]) == ("tombstone", "This message was deleted.", reply)


async def test_an_ephemeral_is_seen_by_one(api: Api) -> None:
    answer = await api.call("chat.postEphemeral", channel=GENERAL, user=ALEX.id, text="not your session")
    [message] = await api.messages(GENERAL)
    assert (message["ts"], message["text"], message["ephemeral"]) == (answer["message_ts"], "not your session", True)
    assert await api.messages(GENERAL, user=ROBIN.id) == []
    assert (await api.call("conversations.history", channel=GENERAL))["messages"] == []


async def test_an_ephemeral_needs_its_reader_in_the_channel(api: Api) -> None:
    refused = await error(api, "chat.postEphemeral", channel=DM, user=ROBIN.id, text="x")
    assert refused == "user_not_in_channel"


async def test_permalinks(api: Api) -> None:
    parent = await api.post()
    reply = await api.post(thread_ts=parent)
    link = (await api.call("chat.getPermalink", channel=DM, message_ts=reply))["permalink"]
    assert link == f"http://127.0.0.1:9/archives/{DM}/p{reply.replace('.', '')}?thread_ts={parent}&cid={DM}"


async def test_two_people_do_not_see_each_others_direct_messages(api: Api) -> None:
    await api.say("mine")
    seen = await api.see("messages", user=ROBIN.id, channel=DM)
    assert seen == {"ok": False, "error": "That channel isn't there for you. Please choose another one."}
    assert await api.messages(ROBINS_DM, user=ROBIN.id) == []
