"""Effects outside the call: scheduled messages, uploads, response URLs, agent sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.localslack.making import ALEX, BOT_TOKEN, DM, GENERAL, MANIFEST, ROBIN, Doors, section

from localslack.store.store import ResponseTarget

AUTH = {"authorization": f"Bearer {BOT_TOKEN}"}
NOW = 1_793_606_400


async def error(doors: Doors, method: str, **arguments: Any) -> str | None:
    return (await doors.call(method, **arguments)).get("error")


async def respond(doors: Doors, url: str, **body: Any) -> tuple[int, str]:
    answer = await doors.http.post(url, json=body)
    return answer.status_code, answer.text


async def test_a_scheduled_message_comes_when_its_time_has_come(doors: Doors) -> None:
    answer = await doors.call("chat.scheduleMessage", channel=DM, text="standup", post_at=NOW + 60)
    await doors.call("chat.scheduleMessage", channel=DM, text="lunch", post_at=NOW + 120)
    waiting = (await doors.call("chat.scheduledMessages.list", channel=DM))["scheduled_messages"]
    assert [(one["text"], one["post_at"]) for one in waiting] == [("standup", NOW + 60), ("lunch", NOW + 120)]
    assert waiting[0]["id"] == answer["scheduled_message_id"]
    doors.workspace.postbox.wake()
    assert await doors.messages() == []
    doors.clock.forward(seconds=60)
    doors.reopen().postbox.wake()
    assert [message["text"] for message in await doors.messages()] == ["standup"]
    doors.workspace.postbox.wake()
    assert len(await doors.messages()) == 1


async def test_what_cannot_be_scheduled(doors: Doors) -> None:
    day = 24 * 60 * 60
    cases = {NOW: "time_in_past", NOW + 120 * day + 1: "time_too_far", NOW + 1: None, NOW + 120 * day: None}
    for post_at, expected in cases.items():
        assert await error(doors, "chat.scheduleMessage", channel=DM, text="x", post_at=post_at) == expected
    crowded = NOW + 7 * day
    for number in range(31):
        expected = "restricted_too_many" if number == 30 else None
        assert await error(doors, "chat.scheduleMessage", channel=DM, text="x", post_at=crowded + number) == expected


async def test_a_scheduled_message_can_be_called_off(doors: Doors) -> None:
    made = await doors.call("chat.scheduleMessage", channel=DM, text="x", post_at=NOW + 60)
    named = {"channel": DM, "scheduled_message_id": made["scheduled_message_id"]}
    assert await error(doors, "chat.deleteScheduledMessage", **named) is None
    assert await error(doors, "chat.deleteScheduledMessage", **named) == "invalid_scheduled_message_id"


async def test_a_file_in_three_steps(doors: Doors) -> None:
    upload = await doors.call("files.getUploadURLExternal", filename="day.ics", length=4)
    named: dict[str, Any] = {"files": [{"id": upload["file_id"], "title": "Today"}]}
    assert await error(doors, "files.completeUploadExternal", **named) == "file_not_found"
    sent = await doors.http.post(upload["upload_url"], content=b"VCAL")
    assert (sent.status_code, sent.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    done = await doors.call("files.completeUploadExternal", **named, channel_id=DM, initial_comment="Your day")
    assert [file["title"] for file in done["files"]] == ["Today"]
    [message] = await doors.messages()
    assert (message["text"], [file["id"] for file in message["files"]]) == ("Your day", [upload["file_id"]])
    served = await doors.http.get(message["files"][0]["url_private"])
    assert (served.content, served.headers["content-disposition"]) == (b"VCAL", "attachment")
    info = await doors.call("files.info", file=upload["file_id"])
    assert (info["file"]["size"], info["file"]["mimetype"]) == (4, "text/calendar")


async def test_a_message_shows_a_picture_once_its_upload_is_complete(doors: Doors) -> None:
    """As Slack does, the workspace refuses a block whose file is not there, not complete or no picture."""

    async def shows(file_id: str) -> str | None:
        block = {"type": "image", "slack_file": {"id": file_id}, "alt_text": "My day"}
        return await error(doors, "chat.postMessage", channel=DM, text="x", blocks=[block])

    assert await shows("F404") == "invalid_blocks"
    upload = await doors.call("files.getUploadURLExternal", filename="day.png", length=3)
    await doors.http.post(upload["upload_url"], content=b"PNG")
    assert await shows(upload["file_id"]) == "invalid_blocks"
    await doors.call("files.completeUploadExternal", files=[{"id": upload["file_id"]}])
    assert await shows(upload["file_id"]) is None
    served = await doors.http.get(upload["upload_url"])
    assert (served.content, served.headers["content-type"]) == (b"PNG", "image/png")
    assert (served.headers["content-disposition"], served.headers["x-content-type-options"]) == ("inline", "nosniff")
    other = await doors.call("files.getUploadURLExternal", filename="day.svg.txt", length=3)
    await doors.http.post(other["upload_url"], content=b"SVG")
    await doors.call("files.completeUploadExternal", files=[{"id": other["file_id"]}])
    assert await shows(other["file_id"]) == "invalid_blocks"


async def test_what_is_no_file(doors: Doors) -> None:
    assert await error(doors, "files.getUploadURLExternal", filename="x", length=0) == "invalid_arguments"
    too_large = {"filename": "x", "length": 50_000_001}
    assert await error(doors, "files.getUploadURLExternal", **too_large) == "file_upload_size_restricted"
    assert await error(doors, "files.info", file="F404") == "file_not_found"
    assert (await doors.http.post("/files/F404", content=b"x")).status_code == 404
    assert (await doors.http.get("/files/F404")).status_code == 404


async def test_a_response_url_answers_in_private_unless_told_otherwise(doors: Doors) -> None:
    url = doors.workspace.response_url(ResponseTarget(GENERAL, ALEX.id))
    assert await respond(doors, url, text="for you") == (200, "ok")
    assert await respond(doors, url, text="for all", response_type="in_channel") == (200, "ok")
    assert [message["text"] for message in await doors.messages(GENERAL)] == ["for you", "for all"]
    assert [message["text"] for message in await doors.messages(GENERAL, user=ROBIN.id)] == ["for all"]


async def test_a_response_url_replaces_and_deletes_what_was_clicked(doors: Doors) -> None:
    ts = await doors.post("one", blocks=[section()])
    url = doors.workspace.response_url(ResponseTarget(DM, ALEX.id, ts))
    assert await respond(doors, url, text="two", replace_original=True) == (200, "ok")
    [message] = await doors.messages()
    assert (message["ts"], message["text"], "blocks" in message) == (ts, "two", False)
    assert await respond(doors, url, delete_original=True) == (200, "ok")
    assert await doors.messages() == []


async def test_a_whispered_message_can_be_replaced_through_its_url(doors: Doors) -> None:
    await doors.call("chat.postEphemeral", channel=DM, user=ALEX.id, text="one")
    [message] = await doors.messages()
    url = doors.workspace.response_url(ResponseTarget(DM, ALEX.id, message["ts"]))
    assert await respond(doors, url, text="two", replace_original="true") == (200, "ok")
    assert [(one["text"], one["ephemeral"]) for one in await doors.messages()] == [("two", True)]


async def test_a_response_url_stays_in_the_thread_where_it_was_given(doors: Doors) -> None:
    parent = await doors.say("plan")
    url = doors.workspace.response_url(ResponseTarget(DM, ALEX.id, parent, parent))
    await respond(doors, url, text="psst", replace_original=False)
    await respond(doors, url, text="all", response_type="in_channel", thread_ts=parent, replace_original=False)
    assert [message["text"] for message in await doors.messages(thread_ts=parent)] == ["plan", "psst", "all"]


async def test_a_response_url_is_good_five_times(doors: Doors) -> None:
    url = doors.workspace.response_url(ResponseTarget(DM, ALEX.id))
    codes = [(await respond(doors, url, text=str(number)))[0] for number in range(6)]
    assert codes == [200, 200, 200, 200, 200, 404]
    assert (await respond(doors, url, text="x"))[1] == '{"ok":false,"error":"used_url"}'


async def test_a_response_url_is_good_for_half_an_hour(doors: Doors) -> None:
    url = doors.workspace.response_url(ResponseTarget(DM, ALEX.id))
    doors.clock.forward(minutes=30)
    assert (await respond(doors, url, text="in time"))[0] == 200
    doors.clock.forward(seconds=1)
    assert await respond(doors, url, text="late") == (404, '{"ok":false,"error":"expired_url"}')
    assert (await respond(doors, "/respond/unknown", text="x"))[0] == 404


async def test_a_bad_answer_is_refused(doors: Doors) -> None:
    url = doors.workspace.response_url(ResponseTarget(DM, ALEX.id))
    assert await respond(doors, url, text="") == (400, '{"ok":false,"error":"no_text"}')
    assert (await doors.http.post(url, content=b"{", headers={"content-type": "application/json"})).status_code == 400
    assert await doors.messages() == []


async def test_an_agent_session_has_a_status_and_a_title(doors: Doors) -> None:
    parent = await doors.say("plan")
    named = {"channel_id": DM, "thread_ts": parent}
    assert await error(doors, "agents.sessions.setStatus", **named, status="processing", title="Monday") is None
    working = {"status": "processing", "title": "Monday", "shown": "is working…", "loading": [], "can_stop": True}
    assert await session(doors, parent) == working
    assert await error(doors, "agents.sessions.rename", **named, title="Tuesday") is None
    await doors.post("done", thread_ts=parent)
    assert await session(doors, parent) == {**working, "title": "Tuesday"}
    answer = await doors.call("agents.sessions.setStatus", **named, status="suspended", title="ignored by now")
    assert (answer["status"], answer["agent_status"], answer["title"]) == ("suspended", "suspended", "Tuesday")
    rests = {"status": "suspended", "title": "Tuesday", "shown": "", "loading": [], "can_stop": False}
    assert await session(doors, parent) == rests


async def test_a_session_that_its_app_forgets_is_over_after_an_hour(doors: Doors) -> None:
    named = {"channel_id": DM, "thread_ts": await doors.say("plan")}
    assert await error(doors, "agents.sessions.setStatus", **named, status="processing") is None
    doors.clock.forward(seconds=3600)
    assert (await session(doors, named["thread_ts"]))["status"] == "processing"
    doors.clock.forward(seconds=1)
    assert (await session(doors, named["thread_ts"]))["status"] == "active"


async def test_without_the_event_nobody_can_stop_a_session(tmp_path: Path) -> None:
    settings = {**MANIFEST["settings"], "event_subscriptions": {"bot_events": ["message.im"]}}
    doors = Doors(tmp_path, {**MANIFEST, "settings": settings})
    named = {"channel_id": DM, "thread_ts": await doors.say("plan")}
    answer = await doors.call("agents.sessions.setStatus", **named, status="processing")
    assert answer["warning"] == "missing_agent_session_stopped_event_subscription"
    assert (await session(doors, named["thread_ts"]))["can_stop"] is False
    await doors.close()


async def test_where_agents_are_off_or_the_app_is_none(tmp_path: Path) -> None:
    """As a workspace without these features does, it refuses sessions and streams; messages go on as ever."""
    doors = Doors(tmp_path, agents=False)
    named = {"channel_id": DM, "thread_ts": await doors.say("plan")}
    assert await error(doors, "agents.sessions.setStatus", **named, status="processing") == "feature_disabled"
    assert await error(doors, "agents.sessions.rename", **named, title="Monday") == "feature_disabled"
    stream = {"channel": DM, "thread_ts": named["thread_ts"]}
    assert await error(doors, "chat.startStream", **stream) == "feature_not_enabled"
    assert await error(doors, "chat.postMessage", **stream, text="done") is None
    await doors.close()
    features = {name: feature for name, feature in MANIFEST["features"].items() if name != "agent_view"}
    plain_app = Doors(tmp_path, {**MANIFEST, "features": features})
    assert await error(plain_app, "agents.sessions.setStatus", **named, status="processing") == "not_agent_app"
    await plain_app.close()


async def test_the_older_calls_do_the_same(doors: Doors) -> None:
    parent = await doors.say("plan")
    named = {"channel_id": DM, "thread_ts": parent}
    told = {"status": "is solving…", "loading_messages": ["Looking at your calendar"]}
    assert await error(doors, "assistant.threads.setStatus", **named, **told) is None
    assert await error(doors, "assistant.threads.setTitle", **named, title="Monday") is None
    prompts = [{"title": "Again", "message": "Plan again"}]
    assert await error(doors, "assistant.threads.setSuggestedPrompts", **named, prompts=prompts) is None
    assert await session(doors, parent) == {
        "status": "processing",
        "shown": "is solving…",
        "loading": ["Looking at your calendar"],
        "title": "Monday",
        "prompts": prompts,
        "can_stop": True,
    }


async def test_a_status_that_nobody_renews_is_forgotten_after_two_minutes(doors: Doors) -> None:
    parent = await doors.say("plan")
    told = {"channel_id": DM, "thread_ts": parent, "status": "is solving…"}
    assert await error(doors, "assistant.threads.setStatus", **told) is None
    doors.clock.forward(seconds=100)
    assert await error(doors, "assistant.threads.setStatus", **told) is None
    doors.clock.forward(seconds=120)
    assert (await session(doors, parent))["shown"] == "is solving…"
    doors.clock.forward(seconds=1)
    assert await session(doors, parent) == {"status": "active", "shown": "", "loading": [], "can_stop": False}


async def test_what_is_suggested_in_direct_messages_takes_the_place_of_the_manifests(doors: Doors) -> None:
    before = (await doors.see("state"))["app"]["suggested_prompts"]
    prompts = [{"title": "Again", "message": "Plan again"}]
    assert await error(doors, "assistant.threads.setSuggestedPrompts", channel_id=DM, prompts=prompts) is None
    assert (await doors.see("state"))["app"]["suggested_prompts"] == prompts != before


async def test_what_a_session_refuses(doors: Doors) -> None:
    named = {"channel_id": DM, "thread_ts": await doors.say("plan")}
    cases: dict[str, tuple[str, dict[str, Any]]] = {
        "invalid_status": ("agents.sessions.setStatus", {**named, "status": "busy"}),
        "thread_ts_required": ("agents.sessions.setStatus", {"channel_id": DM, "status": "active"}),
        "channel_not_found": ("agents.sessions.setStatus", {**named, "channel_id": "C404", "status": "active"}),
        "user_not_found": ("agents.sessions.setStatus", {**named, "status": "active", "initiator_user_id": "U404"}),
        "invalid_name": ("agents.sessions.rename", {**named, "title": "x" * 201}),
        "session_not_found": ("agents.sessions.rename", {**named, "thread_ts": "1.0", "title": "x"}),
    }
    for expected, (method, arguments) in cases.items():
        assert await error(doors, method, **arguments) == expected
    crowded = {**named, "status": "x", "loading_messages": ["x"] * 11}
    assert await error(doors, "assistant.threads.setStatus", **crowded) == "invalid_arguments"
    prompts = [{"title": "x", "message": "x"}] * 5
    assert await error(doors, "assistant.threads.setSuggestedPrompts", **named, prompts=prompts) == "invalid_arguments"
    empty = [{"title": "x"}]
    assert await error(doors, "assistant.threads.setSuggestedPrompts", **named, prompts=empty) == "invalid_arguments"


async def session(doors: Doors, thread_ts: str) -> Any:
    return (await doors.see("messages", channel=DM, thread_ts=thread_ts))["session"]
