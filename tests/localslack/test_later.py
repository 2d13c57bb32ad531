"""Effects outside the call: scheduled messages, uploads, response URLs, agent sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.localslack.workspaces import ALEX, BOT_TOKEN, DM, GENERAL, MANIFEST, ROBIN, Api, section

from localslack.store.store import ResponseTarget

AUTH = {"authorization": f"Bearer {BOT_TOKEN}"}
NOW = 1_793_606_400


async def error(api: Api, method: str, **arguments: Any) -> str | None:
    return (await api.call(method, **arguments)).get("error")


async def respond(api: Api, url: str, **body: Any) -> tuple[int, str]:
    answer = await api.http.post(url, json=body)
    return answer.status_code, answer.text


async def test_a_scheduled_message_comes_when_its_time_has_come(api: Api) -> None:
    answer = await api.call("chat.scheduleMessage", channel=DM, text="standup", post_at=NOW + 60)
    await api.call("chat.scheduleMessage", channel=DM, text="lunch", post_at=NOW + 120)
    waiting = (await api.call("chat.scheduledMessages.list", channel=DM))["scheduled_messages"]
    assert [(one["text"], one["post_at"]) for one in waiting] == [("standup", NOW + 60), ("lunch", NOW + 120)]
    assert waiting[0]["id"] == answer["scheduled_message_id"]
    api.workspace.postbox.wake()
    assert await api.messages() == []
    api.clock.forward(seconds=60)
    api.reopen().postbox.wake()
    assert [message["text"] for message in await api.messages()] == ["standup"]
    api.workspace.postbox.wake()
    assert len(await api.messages()) == 1


async def test_what_cannot_be_scheduled(api: Api) -> None:
    day = 24 * 60 * 60
    cases = {NOW: "time_in_past", NOW + 120 * day + 1: "time_too_far", NOW + 1: None, NOW + 120 * day: None}
    for post_at, expected in cases.items():
        assert await error(api, "chat.scheduleMessage", channel=DM, text="x", post_at=post_at) == expected
    crowded = NOW + 7 * day
    for number in range(31):
        expected = "restricted_too_many" if number == 30 else None
        assert await error(api, "chat.scheduleMessage", channel=DM, text="x", post_at=crowded + number) == expected


async def test_a_scheduled_message_can_be_called_off(api: Api) -> None:
    made = await api.call("chat.scheduleMessage", channel=DM, text="x", post_at=NOW + 60)
    named = {"channel": DM, "scheduled_message_id": made["scheduled_message_id"]}
    assert await error(api, "chat.deleteScheduledMessage", **named) is None
    assert await error(api, "chat.deleteScheduledMessage", **named) == "invalid_scheduled_message_id"


async def test_a_file_in_three_steps(api: Api) -> None:
    upload = await api.call("files.getUploadURLExternal", filename="day.ics", length=4)
    named: dict[str, Any] = {"files": [{"id": upload["file_id"], "title": "Today"}]}
    assert await error(api, "files.completeUploadExternal", **named) == "file_not_found"
    sent = await api.http.post(upload["upload_url"], content=b"VCAL")
    assert (sent.status_code, sent.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    done = await api.call("files.completeUploadExternal", **named, channel_id=DM, initial_comment="Your day")
    assert [file["title"] for file in done["files"]] == ["Today"]
    [message] = await api.messages()
    assert (message["text"], [file["id"] for file in message["files"]]) == ("Your day", [upload["file_id"]])
    served = await api.http.get(message["files"][0]["url_private"])
    assert (served.content, served.headers["content-disposition"]) == (b"VCAL", "attachment")
    info = await api.call("files.info", file=upload["file_id"])
    assert (info["file"]["size"], info["file"]["mimetype"]) == (4, "text/calendar")


async def test_a_message_shows_a_picture_once_its_upload_is_complete(api: Api) -> None:
    """As Slack does, the workspace refuses a block whose file is not there, not complete or no picture."""

    async def shows(file_id: str) -> str | None:
        block = {"type": "image", "slack_file": {"id": file_id}, "alt_text": "My day"}
        return await error(api, "chat.postMessage", channel=DM, text="x", blocks=[block])

    assert await shows("F404") == "invalid_blocks"
    upload = await api.call("files.getUploadURLExternal", filename="day.png", length=3)
    await api.http.post(upload["upload_url"], content=b"PNG")
    assert await shows(upload["file_id"]) == "invalid_blocks"
    await api.call("files.completeUploadExternal", files=[{"id": upload["file_id"]}])
    assert await shows(upload["file_id"]) is None
    served = await api.http.get(upload["upload_url"])
    assert (served.content, served.headers["content-type"]) == (b"PNG", "image/png")
    assert (served.headers["content-disposition"], served.headers["x-content-type-options"]) == ("inline", "nosniff")
    other = await api.call("files.getUploadURLExternal", filename="day.svg.txt", length=3)
    await api.http.post(other["upload_url"], content=b"SVG")
    await api.call("files.completeUploadExternal", files=[{"id": other["file_id"]}])
    assert await shows(other["file_id"]) == "invalid_blocks"


async def test_what_is_no_file(api: Api) -> None:
    assert await error(api, "files.getUploadURLExternal", filename="x", length=0) == "invalid_arguments"
    too_large = {"filename": "x", "length": 50_000_001}
    assert await error(api, "files.getUploadURLExternal", **too_large) == "file_upload_size_restricted"
    assert await error(api, "files.info", file="F404") == "file_not_found"
    assert (await api.http.post("/files/F404", content=b"x")).status_code == 404
    assert (await api.http.get("/files/F404")).status_code == 404


async def test_a_response_url_answers_in_private_unless_told_otherwise(api: Api) -> None:
    url = api.workspace.response_url(ResponseTarget(GENERAL, ALEX.id))
    assert await respond(api, url, text="for you") == (200, "ok")
    assert await respond(api, url, text="for all", response_type="in_channel") == (200, "ok")
    assert [message["text"] for message in await api.messages(GENERAL)] == ["for you", "for all"]
    assert [message["text"] for message in await api.messages(GENERAL, user=ROBIN.id)] == ["for all"]


async def test_a_response_url_replaces_and_deletes_what_was_clicked(api: Api) -> None:
    ts = await api.post("one", blocks=[section()])
    url = api.workspace.response_url(ResponseTarget(DM, ALEX.id, ts))
    assert await respond(api, url, text="two", replace_original=True) == (200, "ok")
    [message] = await api.messages()
    assert (message["ts"], message["text"], "blocks" in message) == (ts, "two", False)
    assert await respond(api, url, delete_original=True) == (200, "ok")
    assert await api.messages() == []


async def test_a_whispered_message_can_be_replaced_through_its_url(api: Api) -> None:
    await api.call("chat.postEphemeral", channel=DM, user=ALEX.id, text="one")
    [message] = await api.messages()
    url = api.workspace.response_url(ResponseTarget(DM, ALEX.id, message["ts"]))
    assert await respond(api, url, text="two", replace_original="true") == (200, "ok")
    assert [(one["text"], one["ephemeral"]) for one in await api.messages()] == [("two", True)]


async def test_a_response_url_stays_in_the_thread_where_it_was_given(api: Api) -> None:
    parent = await api.say("plan")
    url = api.workspace.response_url(ResponseTarget(DM, ALEX.id, parent, parent))
    await respond(api, url, text="psst", replace_original=False)
    await respond(api, url, text="all", response_type="in_channel", thread_ts=parent, replace_original=False)
    assert [message["text"] for message in await api.messages(thread_ts=parent)] == ["plan", "psst", "all"]


async def test_a_response_url_is_good_five_times(api: Api) -> None:
    url = api.workspace.response_url(ResponseTarget(DM, ALEX.id))
    codes = [(await respond(api, url, text=str(number)))[0] for number in range(6)]
    assert codes == [200, 200, 200, 200, 200, 404]
    assert (await respond(api, url, text="x"))[1] == '{"ok":false,"error":"used_url"}'


async def test_a_response_url_is_good_for_half_an_hour(api: Api) -> None:
    url = api.workspace.response_url(ResponseTarget(DM, ALEX.id))
    api.clock.forward(minutes=30)
    assert (await respond(api, url, text="in time"))[0] == 200
    api.clock.forward(seconds=1)
    assert await respond(api, url, text="late") == (404, '{"ok":false,"error":"expired_url"}')
    assert (await respond(api, "/respond/unknown", text="x"))[0] == 404


async def test_a_bad_answer_is_refused(api: Api) -> None:
    url = api.workspace.response_url(ResponseTarget(DM, ALEX.id))
    assert await respond(api, url, text="") == (400, '{"ok":false,"error":"no_text"}')
    assert (await api.http.post(url, content=b"{", headers={"content-type": "application/json"})).status_code == 400
    assert await api.messages() == []


async def test_an_agent_session_has_a_status_and_a_title(api: Api) -> None:
    parent = await api.say("plan")
    named = {"channel_id": DM, "thread_ts": parent}
    assert await error(api, "agents.sessions.setStatus", **named, status="processing", title="Monday") is None
    working = {"status": "processing", "title": "Monday", "shown": "is working…", "loading": [], "can_stop": True}
    assert await session(api, parent) == working
    assert await error(api, "agents.sessions.rename", **named, title="Tuesday") is None
    await api.post("done", thread_ts=parent)
    assert await session(api, parent) == {**working, "title": "Tuesday"}
    answer = await api.call("agents.sessions.setStatus", **named, status="suspended", title="ignored by now")
    assert (answer["status"], answer["agent_status"], answer["title"]) == ("suspended", "suspended", "Tuesday")
    rests = {"status": "suspended", "title": "Tuesday", "shown": "", "loading": [], "can_stop": False}
    assert await session(api, parent) == rests


async def test_a_session_that_its_app_forgets_is_over_after_an_hour(api: Api) -> None:
    named = {"channel_id": DM, "thread_ts": await api.say("plan")}
    assert await error(api, "agents.sessions.setStatus", **named, status="processing") is None
    api.clock.forward(seconds=3600)
    assert (await session(api, named["thread_ts"]))["status"] == "processing"
    api.clock.forward(seconds=1)
    assert (await session(api, named["thread_ts"]))["status"] == "active"


async def test_without_the_event_nobody_can_stop_a_session(tmp_path: Path) -> None:
    settings = {**MANIFEST["settings"], "event_subscriptions": {"bot_events": ["message.im"]}}
    api = Api(tmp_path, {**MANIFEST, "settings": settings})
    named = {"channel_id": DM, "thread_ts": await api.say("plan")}
    answer = await api.call("agents.sessions.setStatus", **named, status="processing")
    assert answer["warning"] == "missing_agent_session_stopped_event_subscription"
    assert (await session(api, named["thread_ts"]))["can_stop"] is False
    await api.close()


async def test_where_agents_are_off_or_the_app_is_none(tmp_path: Path) -> None:
    """As a workspace without these features does, it refuses sessions and streams; messages go on as ever."""
    api = Api(tmp_path, agents=False)
    named = {"channel_id": DM, "thread_ts": await api.say("plan")}
    assert await error(api, "agents.sessions.setStatus", **named, status="processing") == "feature_disabled"
    assert await error(api, "agents.sessions.rename", **named, title="Monday") == "feature_disabled"
    stream = {"channel": DM, "thread_ts": named["thread_ts"]}
    assert await error(api, "chat.startStream", **stream) == "feature_not_enabled"
    assert await error(api, "chat.postMessage", **stream, text="done") is None
    await api.close()
    features = {name: feature for name, feature in MANIFEST["features"].items() if name != "agent_view"}
    plain_app = Api(tmp_path, {**MANIFEST, "features": features})
    assert await error(plain_app, "agents.sessions.setStatus", **named, status="processing") == "not_agent_app"
    await plain_app.close()


async def test_the_older_calls_do_the_same(api: Api) -> None:
    parent = await api.say("plan")
    named = {"channel_id": DM, "thread_ts": parent}
    told = {"status": "is solving…", "loading_messages": ["Looking at your calendar"]}
    assert await error(api, "assistant.threads.setStatus", **named, **told) is None
    assert await error(api, "assistant.threads.setTitle", **named, title="Monday") is None
    prompts = [{"title": "Again", "message": "Plan again"}]
    assert await error(api, "assistant.threads.setSuggestedPrompts", **named, prompts=prompts) is None
    assert await session(api, parent) == {
        "status": "processing",
        "shown": "is solving…",
        "loading": ["Looking at your calendar"],
        "title": "Monday",
        "prompts": prompts,
        "can_stop": True,
    }


async def test_a_status_that_nobody_renews_is_forgotten_after_two_minutes(api: Api) -> None:
    parent = await api.say("plan")
    told = {"channel_id": DM, "thread_ts": parent, "status": "is solving…"}
    assert await error(api, "assistant.threads.setStatus", **told) is None
    api.clock.forward(seconds=100)
    assert await error(api, "assistant.threads.setStatus", **told) is None
    api.clock.forward(seconds=120)
    assert (await session(api, parent))["shown"] == "is solving…"
    api.clock.forward(seconds=1)
    assert await session(api, parent) == {"status": "active", "shown": "", "loading": [], "can_stop": False}


async def test_what_is_suggested_in_direct_messages_takes_the_place_of_the_manifests(api: Api) -> None:
    before = (await api.see("state"))["app"]["suggested_prompts"]
    prompts = [{"title": "Again", "message": "Plan again"}]
    assert await error(api, "assistant.threads.setSuggestedPrompts", channel_id=DM, prompts=prompts) is None
    assert (await api.see("state"))["app"]["suggested_prompts"] == prompts != before


async def test_what_a_session_refuses(api: Api) -> None:
    named = {"channel_id": DM, "thread_ts": await api.say("plan")}
    cases: dict[str, tuple[str, dict[str, Any]]] = {
        "invalid_status": ("agents.sessions.setStatus", {**named, "status": "busy"}),
        "thread_ts_required": ("agents.sessions.setStatus", {"channel_id": DM, "status": "active"}),
        "channel_not_found": ("agents.sessions.setStatus", {**named, "channel_id": "C404", "status": "active"}),
        "user_not_found": ("agents.sessions.setStatus", {**named, "status": "active", "initiator_user_id": "U404"}),
        "invalid_name": ("agents.sessions.rename", {**named, "title": "x" * 201}),
        "session_not_found": ("agents.sessions.rename", {**named, "thread_ts": "1.0", "title": "x"}),
    }
    for expected, (method, arguments) in cases.items():
        assert await error(api, method, **arguments) == expected
    crowded = {**named, "status": "x", "loading_messages": ["x"] * 11}
    assert await error(api, "assistant.threads.setStatus", **crowded) == "invalid_arguments"
    prompts = [{"title": "x", "message": "x"}] * 5
    assert await error(api, "assistant.threads.setSuggestedPrompts", **named, prompts=prompts) == "invalid_arguments"
    empty = [{"title": "x"}]
    assert await error(api, "assistant.threads.setSuggestedPrompts", **named, prompts=empty) == "invalid_arguments"


async def session(api: Api, thread_ts: str) -> Any:
    return (await api.see("messages", channel=DM, thread_ts=thread_ts))["session"]
