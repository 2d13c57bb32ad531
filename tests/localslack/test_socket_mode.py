"""The Socket Mode hub, seen from a bare WebSocket client."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.localslack.workspace_server import Running, acknowledge, frame, running, until, wait_closed
from tests.localslack.workspaces import ALEX, DM, Clock
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

SECONDS_FOR_NO_ANSWER = 0.05


def read_delivery(envelope: dict[str, Any]) -> tuple[str, int, str]:
    return envelope["payload"]["event"]["text"], envelope["retry_attempt"], envelope["retry_reason"]


def waiting(served: Running) -> list[str]:
    return [envelope.payload["event"]["text"] for envelope in served.workspace.delivery.waiting()]


async def test_a_ticket_opens_one_connection(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        url = served.workspace.hub.issue_url()
        assert url.startswith(f"ws://127.0.0.1:{served.port}/link/?ticket=")
        socket = await served.open_socket()
        assert await frame(socket) == {
            "type": "hello",
            "num_connections": 1,
            "connection_info": {"app_id": "A0000LOCAL"},
            "debug_info": {"host": "local", "approximate_connection_time": 18_060},
        }
        used = f"ws://127.0.0.1:{served.port}/link/?ticket=used"

        with pytest.raises(InvalidStatus):
            await connect(used, proxy=None)
        await socket.close()


async def test_an_event_goes_out_and_is_forgotten_once_acknowledged(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        socket = await served.connect_socket()
        ts = await served.say("plan my day")
        envelope = await frame(socket)
        assert {key: envelope[key] for key in ("type", "accepts_response_payload")} == {
            "type": "events_api",
            "accepts_response_payload": False,
        }
        assert read_delivery(envelope) == ("plan my day", 0, "")
        payload = envelope["payload"]
        assert {key: payload[key] for key in ("type", "team_id", "api_app_id")} == {
            "type": "event_callback",
            "team_id": "T0000LOCAL",
            "api_app_id": "A0000LOCAL",
        }
        assert payload["authorizations"] == [
            {
                "enterprise_id": None,
                "team_id": "T0000LOCAL",
                "user_id": "U00000BOT",
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ]
        event = payload["event"]
        client_msg_id = event.pop("client_msg_id")
        assert len(client_msg_id) == 36
        assert event == {
            "type": "message",
            "user": ALEX.id,
            "team": "T0000LOCAL",
            "text": "plan my day",
            "blocks": [
                {
                    "type": "rich_text",
                    "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": "plan my day"}]}],
                }
            ],
            "ts": ts,
            "channel": DM,
            "channel_type": "im",
            "event_ts": ts,
        }
        assert waiting(served) == ["plan my day"]
        await acknowledge(socket, envelope)
        await until(lambda: waiting(served) == [])


async def test_connections_take_turns_and_any_of_them_may_acknowledge(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        sockets = [await served.connect_socket(), await served.connect_socket()]
        for text in ("one", "two"):
            await served.say(text)
        envelopes = [await frame(socket) for socket in sockets]
        assert sorted(read_delivery(envelope)[0] for envelope in envelopes) == ["one", "two"]
        await acknowledge(sockets[1], envelopes[0])
        await acknowledge(sockets[0], envelopes[1])
        await until(lambda: waiting(served) == [])


async def test_an_event_without_an_answer_comes_again_three_times(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        served.workspace.set_ack_seconds(SECONDS_FOR_NO_ANSWER)
        served.workspace.delivery.retry_seconds = (0.0, 0.01, 0.01)
        socket = await served.connect_socket()
        await served.say("hello?")
        envelopes = [await frame(socket) for _ in range(4)]
        assert [read_delivery(envelope) for envelope in envelopes] == [
            ("hello?", 0, ""),
            ("hello?", 1, "timeout"),
            ("hello?", 2, "timeout"),
            ("hello?", 3, "timeout"),
        ]
        assert len({envelope["payload"]["event_id"] for envelope in envelopes}) == 1
        await until(lambda: waiting(served) == [])


async def test_an_event_that_was_on_its_way_comes_again_on_the_next_connection(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        first = await served.connect_socket()
        await served.say("one")
        assert read_delivery(await frame(first)) == ("one", 0, "")
        await first.close()
        await until(lambda: not served.workspace.hub.connected)
        await served.say("two")
        second = await served.connect_socket()
        again = [await frame(second), await frame(second)]
        assert [read_delivery(envelope) for envelope in again] == [("one", 1, "timeout"), ("two", 0, "")]
        for envelope in again:
            await acknowledge(second, envelope)
        await until(lambda: waiting(served) == [])


async def test_what_was_not_acknowledged_survives_a_restart(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        socket = await served.connect_socket()
        await served.say("one")
        first = await frame(socket)
    async with running(tmp_path) as served:
        socket = await served.connect_socket()
        again = await frame(socket)
        assert read_delivery(again) == ("one", 1, "timeout")
        assert again["payload"] == first["payload"]
        assert again["envelope_id"] == first["envelope_id"]
        await acknowledge(socket, again)
        await until(lambda: waiting(served) == [])


async def test_ten_connections_and_no_more(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        for _ in range(10):
            await served.connect_socket()
        refused = await served.open_socket()
        assert await frame(refused) == {"type": "disconnect", "reason": "too_many_websockets", "debug_info": {}}
        assert await wait_closed(refused)
        assert served.workspace.hub.connections == 10


async def test_pings_are_echoed_byte_for_byte(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        socket = await served.connect_socket()
        answered = await socket.ping(b"sdk-ping-pong:1793606400.123")
        assert await asyncio.wait_for(answered, 60) >= 0


async def test_the_app_is_told_to_reconnect(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        socket = await served.connect_socket()
        served.workspace.hub.disconnect("refresh_requested")
        assert await frame(socket) == {"type": "disconnect", "reason": "refresh_requested", "debug_info": {}}


async def test_dropped_sockets_are_closed(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        socket = await served.connect_socket()
        served.workspace.drop_sockets()
        assert await wait_closed(socket)
        await until(lambda: not served.workspace.hub.connected)


async def test_the_bots_own_posts_come_back_marked_as_its_own(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        socket = await served.connect_socket()
        await served.call("chat.postMessage", channel=DM, text="mine")
        event = (await frame(socket))["payload"]["event"]
        assert {key: event[key] for key in ("type", "text", "user", "bot_id", "app_id", "channel_type")} == {
            "type": "message",
            "text": "mine",
            "user": "U00000BOT",
            "bot_id": "B0000LOCAL",
            "app_id": "A0000LOCAL",
            "channel_type": "im",
        }


async def test_a_message_that_fell_due_while_the_app_was_away_is_posted_when_it_is_back(tmp_path: Path) -> None:
    clock = Clock()
    async with running(tmp_path, now=clock) as served:
        post_at = int(clock().timestamp()) + 60
        await served.call("chat.scheduleMessage", channel=DM, text="standup", post_at=post_at)
    clock.forward(minutes=5)
    async with running(tmp_path, now=clock) as served:
        await served.connect_socket()
        assert [message["text"] for message in await served.messages()] == ["standup"]


async def test_frames_that_mean_nothing_are_ignored(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        socket = await served.connect_socket()
        for nonsense in ("{", "[]", "3", '{"envelope_id": 7}', '{"envelope_id": "unknown"}'):
            await socket.send(nonsense)
        await served.say("still there?")
        assert read_delivery(await frame(socket))[0] == "still there?"


async def test_an_interaction_waits_for_its_answer(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        socket = await served.connect_socket()
        command = {"channel": DM, "command": "/timebox", "text": " tomorrow "}
        asked = asyncio.create_task(served.act("slash", **command))
        envelope = await frame(socket)
        assert (envelope["type"], envelope["accepts_response_payload"]) == ("slash_commands", True)
        payload = envelope["payload"]
        assert payload.pop("response_url").startswith(f"{served.url}/respond/")
        assert len(payload.pop("trigger_id")) > 10
        assert payload == {
            "token": "unused",
            "team_id": "T0000LOCAL",
            "team_domain": "local",
            "channel_id": DM,
            "channel_name": "directmessage",
            "user_id": ALEX.id,
            "user_name": "alex",
            "command": "/timebox",
            "text": "tomorrow",
            "api_app_id": "A0000LOCAL",
            "is_enterprise_install": "false",
        }
        assert not asked.done()
        await acknowledge(socket, envelope, {"text": "Opening tomorrow."})
        assert await asked == {"ok": True}
        [message] = await served.messages()
        assert (message["text"], message["ephemeral"]) == ("Opening tomorrow.", True)


async def test_a_person_is_told_when_nothing_answers(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        command = {"channel": DM, "command": "/timebox", "text": ""}
        away = "The planner isn't connected right now. Please try again in a moment."
        assert await served.act("slash", **command) == {"ok": False, "error": away}
        socket = await served.connect_socket()
        served.workspace.set_ack_seconds(SECONDS_FOR_NO_ANSWER)
        silent = "That didn't reach the planner. Please try again."
        assert await served.act("slash", **command) == {"ok": False, "error": silent}
        late = await frame(socket)
        await acknowledge(socket, late, {"text": "too late"})
        await served.say("next")
        assert [message["text"] for message in await served.messages()] == ["next"]


async def test_an_answer_that_cannot_be_shown_is_said_plainly(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        socket = await served.connect_socket()
        asked = asyncio.create_task(served.act("slash", channel=DM, command="/timebox", text=""))
        await acknowledge(socket, await frame(socket), {"text": "x", "blocks": [{"type": "nope"}]})
        assert await asked == {
            "ok": False,
            "error": "/timebox answered with something that cannot be shown (invalid_blocks).",
        }


async def test_pages_hear_of_what_they_may_see(tmp_path: Path) -> None:

    async with running(tmp_path) as served:
        pages = f"ws://127.0.0.1:{served.port}/ui/ws?user="
        async with (
            connect(f"{pages}{ALEX.id}", proxy=None) as mine,
            connect(f"{pages}U0000ROBIN", proxy=None) as theirs,
        ):
            await until(lambda: len(served.workspace.pages.watching()) == 2)
            parent = await served.say("secret")
            reply = await served.say("reply", thread_ts=parent)
            general = await served.say("public", channel="C0000GENERAL")
            frames = [await frame(mine) for _ in range(4)]
            assert [(one["type"], one["message"]["ts"], one["message"].get("reply_count")) for one in frames] == [
                ("message", parent, None),
                ("message", reply, None),
                ("message", parent, 1),
                ("message", general, None),
            ]
            other = await frame(theirs)
            assert (other["channel"], other["message"]["ts"]) == ("C0000GENERAL", general)
            await served.act("delete", channel=DM, ts=reply)
            assert await frame(mine) == {
                "type": "message_deleted",
                "channel": DM,
                "ts": reply,
                "thread_ts": parent,
            }
            socket = await served.connect_socket()
            assert json.loads(await mine.recv()) == {"type": "connected", "connected": True}
            await socket.close()
            assert await frame(theirs) == {"type": "connected", "connected": True}
            assert await frame(theirs) == {"type": "connected", "connected": False}


async def test_another_sites_page_may_not_listen(tmp_path: Path) -> None:

    async with running(tmp_path) as served:
        page = f"ws://127.0.0.1:{served.port}/ui/ws?user={ALEX.id}"
        with pytest.raises(InvalidStatus):
            await connect(page, proxy=None, additional_headers={"origin": "https://evil.example"})
        async with connect(page, proxy=None, additional_headers={"origin": served.url}):
            await until(lambda: served.workspace.pages.watching() == [ALEX.id])
