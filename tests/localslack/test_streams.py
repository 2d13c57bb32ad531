"""A message that grows while the app works: what it shows, what is refused, and how it ends."""

from __future__ import annotations

from typing import Any

import pytest
from tests.localslack.workspaces import ALEX, DM, GENERAL, Api, section

Json = dict[str, Any]
RECIPIENT = {"recipient_team_id": "T0000LOCAL", "recipient_user_id": ALEX.id}


def task(number: int, status: str = "in_progress", **more: str) -> Json:
    return {"type": "task_update", "id": f"t{number}", "title": f"Step {number}", "status": status, **more}


def words(text: str) -> Json:
    return {"type": "markdown_text", "text": text}


async def error(api: Api, method: str, **arguments: Any) -> str | None:
    return (await api.call(method, **arguments)).get("error")


async def begin(api: Api, **more: Any) -> tuple[str, Json]:
    """Begin a thread and return it with the place of a stream in it."""
    root = await api.say("plan")
    answer = await api.call("chat.startStream", channel=DM, thread_ts=root, **RECIPIENT, **more)
    return root, {"channel": DM, "ts": answer["ts"]}


async def read_last_message(api: Api, root: str) -> Json:
    return (await api.messages(thread_ts=root))[-1]


async def status(api: Api, root: str) -> str:
    return str((await api.see("messages", channel=DM, thread_ts=root))["session"]["status"])


async def test_tasks_and_words_come_one_by_one(api: Api) -> None:
    root, where = await begin(api, chunks=[task(1)])
    assert await status(api, root) == "processing"
    await api.call("chat.appendStream", **where, chunks=[task(1, "complete"), task(2, details="a ")])
    await api.call("chat.appendStream", **where, chunks=[task(2, "complete", details="b"), words("Your ")])
    await api.call("chat.appendStream", **where, markdown_text="day.")
    message = await read_last_message(api, root)
    assert message["streaming_state"] == "in_progress"
    blocks = [{key: value for key, value in block.items() if key != "block_id"} for block in message["blocks"]]
    assert [(block["type"], block.get("title", block.get("text")), block.get("status")) for block in blocks] == [
        ("task_card", "Step 1", "complete"),
        ("task_card", "Step 2", "complete"),
        ("markdown", "Your day.", None),
    ]
    said = [part["elements"][0]["text"] for part in blocks[1]["details"]["elements"]]
    assert said == ["a ", "b"]
    metadata = {"event_type": "done", "event_payload": {"id": "1"}}
    await api.call("chat.stopStream", **where, blocks=[section("Bye")], metadata=metadata, session_status="suspended")
    message = await read_last_message(api, root)
    assert (message["streaming_state"], message["blocks"][-1]["text"]["text"]) == ("completed", "Bye")
    assert message["metadata"] == metadata
    assert await status(api, root) == "suspended"


async def test_a_plan_holds_its_tasks(api: Api) -> None:
    root, where = await begin(api, task_display_mode="plan")
    chunks = [{"type": "plan_update", "title": "Drafting"}, task(1), task(2)]
    await api.call("chat.appendStream", **where, chunks=chunks)
    [plan] = (await read_last_message(api, root))["blocks"]
    assert (plan["title"], [each["task_id"] for each in plan["tasks"]]) == ("Drafting", ["t1", "t2"])


async def test_a_message_that_streams_is_not_updated_before_it_ends(api: Api) -> None:
    root, where = await begin(api, chunks=[task(1)])
    assert await error(api, "chat.update", **where, text="x") == "streaming_state_conflict"
    assert await error(api, "chat.stopStream", **where) is None
    assert await status(api, root) == "active"
    assert await error(api, "chat.appendStream", **where, chunks=[words("x")]) == "message_not_in_streaming_state"
    assert await error(api, "chat.stopStream", **where) == "message_not_in_streaming_state"
    assert await error(api, "chat.update", **where, text="The answer", blocks=[section("The answer")]) is None
    assert [block["type"] for block in (await read_last_message(api, root))["blocks"]] == ["section"]


async def test_stop_ends_the_streams_of_its_thread(api: Api) -> None:
    root, where = await begin(api, chunks=[task(1)])
    assert await api.act("stop", channel=DM, thread_ts=root) == {"ok": True}
    assert await error(api, "chat.appendStream", **where, chunks=[words("x")]) == "stopped_by_user"
    assert await status(api, root) == "processing"  # the app ends that itself


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"channel": "C404"}, "channel_not_found"),
        ({"thread_ts": None}, "invalid_arguments"),
        ({"thread_ts": "1.000000"}, "thread_not_found"),
        ({"recipient_user_id": "U404"}, "user_not_found"),
        ({"recipient_team_id": "T404"}, "team_not_found"),
        ({"task_display_mode": "loud"}, "invalid_arguments"),
        ({"chunks": [task(1)], "markdown_text": "x"}, "markdown_text_conflict"),
        ({"chunks": "x"}, "invalid_arguments"),
        ({"chunks": [{"type": "song"}]}, "invalid_arguments"),
        ({"chunks": [task(1, "completed")]}, "invalid_arguments"),
        ({"chunks": [{"type": "task_update", "id": "t1", "status": "complete"}]}, "invalid_arguments"),
        ({"chunks": [{**task(1), "title": "x" * 257}]}, "msg_too_long"),
        ({"markdown_text": "x" * 12_001}, "msg_too_long"),
        ({"chunks": [{"type": "blocks", "blocks": [{"type": "nope"}]}]}, "invalid_blocks"),
    ],
)
async def test_what_cannot_be_streamed(api: Api, changes: Json, expected: str) -> None:
    arguments = {"channel": DM, "thread_ts": await api.say("plan"), **RECIPIENT, **changes}
    assert await error(api, "chat.startStream", **arguments) == expected


async def test_in_a_channel_it_is_said_for_whom(api: Api) -> None:
    place = {"channel": GENERAL, "thread_ts": await api.say("plan", channel=GENERAL)}
    assert await error(api, "chat.startStream", **place) == "missing_recipient_team_id"
    team = {"recipient_team_id": "T0000LOCAL"}
    assert await error(api, "chat.startStream", **place, **team) == "missing_recipient_user_id"
    assert await error(api, "chat.startStream", **place, **RECIPIENT) is None


async def test_only_what_streams_grows(api: Api) -> None:
    _root, where = await begin(api)
    posted = {"channel": DM, "ts": await api.post("x")}
    assert await error(api, "chat.appendStream", **posted, markdown_text="y") == "message_not_in_streaming_state"
    assert await error(api, "chat.appendStream", channel=DM, ts="1.0", markdown_text="y") == "message_not_found"
    assert await error(api, "chat.appendStream", **where) == "no_text"
    assert await error(api, "chat.stopStream", **where, session_status="busy") == "invalid_status"
