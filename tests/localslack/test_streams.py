"""A message that grows while the app works: what it shows, what is refused, and how it ends."""

from __future__ import annotations

from typing import Any

import pytest
from tests.localslack.making import ALEX, DM, GENERAL, Doors, section

Json = dict[str, Any]
RECIPIENT = {"recipient_team_id": "T0000LOCAL", "recipient_user_id": ALEX.id}


def task(number: int, status: str = "in_progress", **more: str) -> Json:
    return {"type": "task_update", "id": f"t{number}", "title": f"Step {number}", "status": status, **more}


def words(text: str) -> Json:
    return {"type": "markdown_text", "text": text}


async def error(doors: Doors, method: str, **arguments: Any) -> str | None:
    return (await doors.call(method, **arguments)).get("error")


async def begin(doors: Doors, **more: Any) -> tuple[str, Json]:
    """Begin a thread and return it with the place of a stream in it."""
    root = await doors.say("plan")
    answer = await doors.call("chat.startStream", channel=DM, thread_ts=root, **RECIPIENT, **more)
    return root, {"channel": DM, "ts": answer["ts"]}


async def shown(doors: Doors, root: str) -> Json:
    return (await doors.messages(thread_ts=root))[-1]


async def status(doors: Doors, root: str) -> str:
    return str((await doors.see("messages", channel=DM, thread_ts=root))["session"]["status"])


async def test_tasks_and_words_come_one_by_one(doors: Doors) -> None:
    root, where = await begin(doors, chunks=[task(1)])
    assert await status(doors, root) == "processing"
    await doors.call("chat.appendStream", **where, chunks=[task(1, "complete"), task(2, details="a ")])
    await doors.call("chat.appendStream", **where, chunks=[task(2, "complete", details="b"), words("Your ")])
    await doors.call("chat.appendStream", **where, markdown_text="day.")
    message = await shown(doors, root)
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
    await doors.call("chat.stopStream", **where, blocks=[section("Bye")], metadata=metadata, session_status="suspended")
    message = await shown(doors, root)
    assert (message["streaming_state"], message["blocks"][-1]["text"]["text"]) == ("completed", "Bye")
    assert message["metadata"] == metadata
    assert await status(doors, root) == "suspended"


async def test_a_plan_holds_its_tasks(doors: Doors) -> None:
    root, where = await begin(doors, task_display_mode="plan")
    chunks = [{"type": "plan_update", "title": "Drafting"}, task(1), task(2)]
    await doors.call("chat.appendStream", **where, chunks=chunks)
    [plan] = (await shown(doors, root))["blocks"]
    assert (plan["title"], [each["task_id"] for each in plan["tasks"]]) == ("Drafting", ["t1", "t2"])


async def test_a_message_that_streams_is_not_updated_before_it_ends(doors: Doors) -> None:
    root, where = await begin(doors, chunks=[task(1)])
    assert await error(doors, "chat.update", **where, text="x") == "streaming_state_conflict"
    assert await error(doors, "chat.stopStream", **where) is None
    assert await status(doors, root) == "active"
    assert await error(doors, "chat.appendStream", **where, chunks=[words("x")]) == "message_not_in_streaming_state"
    assert await error(doors, "chat.stopStream", **where) == "message_not_in_streaming_state"
    assert await error(doors, "chat.update", **where, text="The answer", blocks=[section("The answer")]) is None
    assert [block["type"] for block in (await shown(doors, root))["blocks"]] == ["section"]


async def test_stop_ends_the_streams_of_its_thread(doors: Doors) -> None:
    root, where = await begin(doors, chunks=[task(1)])
    assert await doors.act("stop", channel=DM, thread_ts=root) == {"ok": True}
    assert await error(doors, "chat.appendStream", **where, chunks=[words("x")]) == "stopped_by_user"
    assert await status(doors, root) == "processing"  # the app ends that itself


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
async def test_what_cannot_be_streamed(doors: Doors, changes: Json, expected: str) -> None:
    arguments = {"channel": DM, "thread_ts": await doors.say("plan"), **RECIPIENT, **changes}
    assert await error(doors, "chat.startStream", **arguments) == expected


async def test_in_a_channel_it_is_said_for_whom(doors: Doors) -> None:
    place = {"channel": GENERAL, "thread_ts": await doors.say("plan", channel=GENERAL)}
    assert await error(doors, "chat.startStream", **place) == "missing_recipient_team_id"
    team = {"recipient_team_id": "T0000LOCAL"}
    assert await error(doors, "chat.startStream", **place, **team) == "missing_recipient_user_id"
    assert await error(doors, "chat.startStream", **place, **RECIPIENT) is None


async def test_only_what_streams_grows(doors: Doors) -> None:
    _root, where = await begin(doors)
    posted = {"channel": DM, "ts": await doors.post("x")}
    assert await error(doors, "chat.appendStream", **posted, markdown_text="y") == "message_not_in_streaming_state"
    assert await error(doors, "chat.appendStream", channel=DM, ts="1.0", markdown_text="y") == "message_not_found"
    assert await error(doors, "chat.appendStream", **where) == "no_text"
    assert await error(doors, "chat.stopStream", **where, session_status="busy") == "invalid_status"
