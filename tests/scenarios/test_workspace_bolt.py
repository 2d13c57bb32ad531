"""An unmodified slack-bolt app with only `base_url` set, in a workspace over real HTTP and WebSockets."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest
from slack_bolt.adapter.socket_mode.async_handler import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncAck, AsyncApp, AsyncRespond
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from tests.localslack.workspace_server import DEADLINE, Running, running, until
from tests.localslack.workspaces import (
    ALEX,
    APP_TOKEN,
    BOT_TOKEN,
    DM,
    GENERAL,
    Json,
    actions,
    button,
    home,
    modal,
    option,
    plain,
    section,
    text_input,
)

from localslack import RATE_LIMITED


@dataclass
class Bot:
    """A Bolt app and what reached its listeners."""

    app: AsyncApp
    client: AsyncWebClient
    seen: list[Any] = field(default_factory=list)

    async def after(self, count: int) -> list[Any]:
        await until(lambda: len(self.seen) >= count)
        return self.seen


def a_bot(url: str) -> Bot:
    client = AsyncWebClient(token=BOT_TOKEN, base_url=f"{url}/api/")
    return Bot(AsyncApp(client=client, signing_secret="unused"), client)


@contextlib.asynccontextmanager
async def listening(bot: Bot, sockets: int = 1) -> AsyncIterator[list[AsyncSocketModeHandler]]:
    """Yield the app, connected with that many sockets."""
    handlers = [AsyncSocketModeHandler(bot.app, APP_TOKEN, ping_interval=0.5) for _ in range(sockets)]
    try:
        for handler in handlers:
            await handler.connect_async()  # type: ignore[no-untyped-call]  # slack-bolt leaves it so
        yield handlers
    finally:
        for handler in handlers:
            await handler.close_async()  # type: ignore[no-untyped-call]  # slack-bolt leaves it so


@contextlib.asynccontextmanager
async def workspace_with(folder: Path, listen: Callable[[Bot], None]) -> AsyncIterator[tuple[Running, Bot]]:
    async with running(folder) as served:
        bot = a_bot(served.url)
        listen(bot)
        async with listening(bot):
            yield served, bot


async def appears(served: Running, count: int, **query: str) -> list[Json]:
    """Return the messages, once there are that many."""
    for _ in range(2_000):
        if len(found := await served.messages(**query)) >= count:
            return found
    raise AssertionError(f"only {found}")


async def press(served: Running, message: Json, block_id: str, action: Json, **more: Any) -> Json:
    surface = {"type": "message", "channel": DM, "ts": message["ts"]}
    return await served.act("action", surface=surface, action={**action, "block_id": block_id}, **more)


async def test_a_message_is_answered_in_its_thread(tmp_path: Path) -> None:
    def listen(bot: Bot) -> None:
        @bot.app.event("message")
        async def answer(event: Json, client: AsyncWebClient) -> None:
            bot.seen.append(event)
            await client.chat_postMessage(channel=event["channel"], thread_ts=event["ts"], text=f"Re: {event['text']}")

    async with workspace_with(tmp_path, listen) as (served, bot):
        ts = await served.say("plan my day <now>")
        parent, reply = await appears(served, 2, thread_ts=ts)
        assert (parent["ts"], reply["text"], reply["thread_ts"]) == (ts, "Re: plan my day &lt;now&gt;", ts)
        assert [event["text"] for event in bot.seen] == ["plan my day &lt;now&gt;"]
        await until(lambda: served.workspace.delivery.waiting() == [])


async def test_a_mention_in_a_channel_makes_two_events(tmp_path: Path) -> None:
    def listen(bot: Bot) -> None:
        @bot.app.event("app_mention")
        @bot.app.event("message")
        async def note(event: Json, body: Json) -> None:
            bot.seen.append({"type": event["type"], "ts": event["ts"], "id": body["event_id"]})

    async with workspace_with(tmp_path, listen) as (served, bot):
        ts = await served.say("@planner plan my day", channel=GENERAL)
        seen = await bot.after(2)
        assert sorted((event["type"], event["ts"]) for event in seen) == [("app_mention", ts), ("message", ts)]
        assert len({event["id"] for event in seen}) == 2


async def test_edits_and_deletions_are_told(tmp_path: Path) -> None:
    def listen(bot: Bot) -> None:
        @bot.app.event({"type": "message", "subtype": "message_changed"})
        @bot.app.event({"type": "message", "subtype": "message_deleted"})
        async def note(event: Json) -> None:
            bot.seen.append(event)

        @bot.app.event("message")
        async def ignore() -> None: ...

    async with workspace_with(tmp_path, listen) as (served, bot):
        ts = await served.say("one")
        await served.act("edit", channel=DM, ts=ts, text="two")
        await bot.after(1)
        await served.act("delete", channel=DM, ts=ts)
        changed, deleted = await bot.after(2)
        assert (changed["previous_message"]["text"], changed["message"]["text"]) == ("one", "two")
        assert (deleted["subtype"], deleted["deleted_ts"], deleted["channel_type"]) == ("message_deleted", ts, "im")


BOARD = [
    actions(
        button("go", value="42"),
        {"type": "static_select", "action_id": "kind", "options": [option("deep"), option("shallow")]},
        {"type": "datepicker", "action_id": "day", "initial_date": "2026-11-02"},
        {"type": "timepicker", "action_id": "start", "timezone": "Europe/Amsterdam"},
        {"type": "overflow", "action_id": "more", "options": [option("undo"), option("stop")]},
        {"type": "checkboxes", "action_id": "flags", "options": [option("lunch")]},
        {"type": "multi_users_select", "action_id": "who"},
        block_id="board",
    ),
]
PRESSED: dict[str, tuple[Json, Json]] = {
    "go": ({"type": "button", "value": "forged"}, {"type": "button", "text": plain("Go"), "value": "42"}),
    "kind": (
        {"type": "static_select", "selected_option": {"value": "deep"}},
        {"type": "static_select", "selected_option": option("deep")},
    ),
    "day": (
        {"type": "datepicker", "selected_date": "2026-11-03"},
        {"type": "datepicker", "selected_date": "2026-11-03", "initial_date": "2026-11-02"},
    ),
    "start": (
        {"type": "timepicker", "selected_time": "08:30"},
        {"type": "timepicker", "selected_time": "08:30", "timezone": "Europe/Amsterdam"},
    ),
    "more": (
        {"type": "overflow", "selected_option": {"value": "undo"}},
        {"type": "overflow", "selected_option": option("undo")},
    ),
    "flags": (
        {"type": "checkboxes", "selected_options": [option("lunch")]},
        {"type": "checkboxes", "selected_options": [option("lunch")]},
    ),
    "who": (
        {"type": "multi_users_select", "selected_users": [ALEX.id]},
        {"type": "multi_users_select", "selected_users": [ALEX.id]},
    ),
}


async def test_actions_on_a_message_have_slacks_shape(tmp_path: Path) -> None:
    """S99: every element a person can press reaches its own typed listener."""

    def listen(bot: Bot) -> None:
        for action_id in PRESSED:

            @bot.app.action(action_id)
            async def note(ack: AsyncAck, body: Json) -> None:
                bot.seen.append(body)
                await ack()

    async with workspace_with(tmp_path, listen) as (served, bot):
        await bot.client.chat_postMessage(channel=DM, text="board", blocks=BOARD)
        [message] = await served.messages()
        state = {"board": {"kind": {"type": "static_select", "selected_option": option("shallow")}}}
        for action_id, (given, expected) in PRESSED.items():
            answer = await press(served, message, "board", {"action_id": action_id, **given}, state=state)
            assert answer == {"ok": True}
            [action] = bot.seen[-1]["actions"]
            assert float(action.pop("action_ts")) > float(message["ts"])
            assert action == {"action_id": action_id, "block_id": "board", **expected}
        body = bot.seen[-1]
        assert body["state"]["values"]["board"] == {
            "kind": {"type": "static_select", "selected_option": option("shallow")},
            "day": {"type": "datepicker", "selected_date": "2026-11-02"},
            "start": {"type": "timepicker", "selected_time": None, "timezone": "Europe/Amsterdam"},
            "flags": {"type": "checkboxes", "selected_options": []},
            "who": {"type": "multi_users_select", "selected_users": []},
        }
        assert body["container"] == {
            "type": "message",
            "message_ts": message["ts"],
            "channel_id": DM,
            "is_ephemeral": False,
        }
        assert body["user"] == {"id": ALEX.id, "username": "alex", "name": "alex", "team_id": "T0000LOCAL"}
        assert body["channel"] == {"id": DM, "name": "directmessage"}
        assert (body["type"], body["message"]) == ("block_actions", message)


async def test_what_is_no_longer_there_is_not_pressed(tmp_path: Path) -> None:
    def listen(bot: Bot) -> None:
        @bot.app.action("more")
        async def note(ack: AsyncAck, body: Json) -> None:
            bot.seen.append(body)
            await ack()

    async with workspace_with(tmp_path, listen) as (served, bot):
        await bot.client.chat_postMessage(channel=DM, text="board", blocks=BOARD)
        [message] = await served.messages()
        gone = await press(served, message, "board", {"action_id": "gone", "type": "button"})
        assert gone["error"] == "That button or field has changed. Please look again."
        other = {"action_id": "more", "type": "overflow", "selected_option": option("other")}
        assert (await press(served, message, "board", other))["error"] == (
            "That choice is no longer offered. Please choose again."
        )
        missing = await press(served, {"ts": "1.000000"}, "board", {"action_id": "go", "type": "button"})
        assert missing["error"] == "That message is no longer there."
        assert bot.seen == []


async def test_what_was_there_a_moment_ago_reaches_the_app_as_it_was(tmp_path: Path) -> None:
    """A page that does not show a change yet: a message, the Home tab, and a form."""

    def listen(bot: Bot) -> None:
        @bot.app.action("go")
        async def note(ack: AsyncAck, action: Json) -> None:
            bot.seen.append((action["block_id"], action["value"]))
            await ack()

    def row(version: str) -> list[Json]:
        return [actions(button("go", value=version), block_id=version)]

    async with workspace_with(tmp_path, listen) as (served, bot):
        posted = await bot.client.chat_postMessage(channel=DM, text="board", blocks=row("v0"))
        for version in ("v1", "v2", "v3", "v4", "v5"):
            await bot.client.chat_update(channel=DM, ts=posted["ts"], text="board", blocks=row(version))
            await bot.client.views_publish(user_id=ALEX.id, view=home(*row(version)))
        go = {"action_id": "go", "type": "button"}
        for version in ("v5", "v4", "v1"):
            assert await press(served, {"ts": posted["ts"]}, version, go) == {"ok": True}
        assert (await press(served, {"ts": posted["ts"]}, "v0", go))["ok"] is False
        at_home = await served.act("action", surface={"type": "home"}, action={**go, "block_id": "v4"})
        assert at_home == {"ok": True}
        trigger = served.workspace.triggers.issue(ALEX.id)
        opened = (await bot.client.views_open(trigger_id=trigger, view=modal(*row("v0"))))["view"]
        await bot.client.views_update(view_id=opened["id"], view=modal(*row("v1")))
        form = {"type": "view", "view_id": opened["id"]}
        assert await served.act("action", surface=form, action={**go, "block_id": "v0"}) == {"ok": True}
        assert bot.seen == [("v5", "v5"), ("v4", "v4"), ("v1", "v1"), ("v4", "v4"), ("v0", "v0")]


async def test_an_ephemeral_answer_can_be_replaced_by_its_button(tmp_path: Path) -> None:
    def listen(bot: Bot) -> None:
        @bot.app.action("go")
        async def replace(ack: AsyncAck, body: Json, respond: AsyncRespond) -> None:
            bot.seen.append(body)
            await ack()
            await respond(text="done", replace_original=True)

    async with workspace_with(tmp_path, listen) as (served, bot):
        blocks = [actions(button("go"), block_id="b")]
        await bot.client.chat_postEphemeral(channel=DM, user=ALEX.id, text="sure?", blocks=blocks)
        [asked] = await served.messages()
        assert (asked["text"], asked["ephemeral"]) == ("sure?", True)
        assert await press(served, asked, "b", {"action_id": "go", "type": "button"}) == {"ok": True}
        await served_until(served, lambda messages: messages[0]["text"] == "done")
        assert ("message" in bot.seen[0], bot.seen[0]["container"]["is_ephemeral"]) == (False, True)


async def served_until(served: Running, seen: Callable[[list[Json]], bool]) -> None:
    for _ in range(2_000):
        if seen(await served.messages()):
            return
    raise AssertionError("never seen")


ANSWERS: dict[str, Json] = {
    "taken": {"response_action": "errors", "errors": {"title": "There is such a block already."}},
    "more": {"response_action": "push", "view": modal(title=plain("Second"), callback_id="second")},
    "change": {"response_action": "update", "view": modal(section("Changed."))},
    "broken": {"response_action": "errors", "errors": {"nowhere": "?"}},
}
"""The app's answers to a form, by the title entered; none for any other title."""


async def test_a_form_is_opened_refused_corrected_and_accepted(tmp_path: Path) -> None:
    def listen(bot: Bot) -> None:
        @bot.app.action("go")
        async def open_form(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
            await ack()
            form = modal(text_input(), private_metadata="plan 7")
            await client.views_open(trigger_id=body["trigger_id"], view=form)

        @bot.app.view("form")
        async def handle_submit(ack: AsyncAck, body: Json) -> None:
            bot.seen.append(body)
            title = body["view"]["state"]["values"]["title"]["value"]["value"]
            await ack(**ANSWERS.get(title, {}))

        @bot.app.view("second")
        async def clear(ack: AsyncAck) -> None:
            await ack(response_action="clear")

    async with workspace_with(tmp_path, listen) as (served, bot):
        await bot.client.chat_postMessage(channel=DM, text="board", blocks=BOARD)
        [message] = await served.messages()

        async def show_form() -> str:
            assert await press(served, message, "board", {"action_id": "go", "type": "button"}) == {"ok": True}
            await until(lambda: served.workspace.modals.stack(ALEX.id))
            return str(served.workspace.modals.stack(ALEX.id)[-1]["id"])

        async def submit(view_id: str, title: str | None) -> Json:
            state = {"title": {"value": {"type": "plain_text_input", "value": title}}}
            return await served.act("view_submit", view_id=view_id, state=state)

        form = await show_form()
        empty = await submit(form, None)
        assert (empty["errors"], len(bot.seen)) == ({"title": "Please complete this required field."}, 0)
        taken = await submit(form, "taken")
        assert (taken["errors"], [view["id"] for view in taken["stack"]]) == (
            {"title": "There is such a block already."},
            [form],
        )
        broken = await submit(form, "broken")
        assert broken == {
            "ok": False,
            "error": "The planner's answer to this form could not be used. Please try again.",
        }
        pushed = await submit(form, "more")
        assert [view["title"]["text"] for view in pushed["stack"]] == ["A form", "Second"]
        cleared = await submit(pushed["stack"][-1]["id"], "anything")
        assert (cleared["errors"], cleared["stack"]) == (None, [])
        changed = await submit(await show_form(), "change")
        assert [block["text"]["text"] for block in changed["stack"][0]["blocks"]] == ["Changed."]
        done = await submit(await show_form(), "fine")
        assert (done["errors"], done["stack"]) == (None, [])
        view = bot.seen[-1]["view"]
        assert (bot.seen[-1]["type"], view["private_metadata"], view["callback_id"]) == (
            "view_submission",
            "plan 7",
            "form",
        )


async def test_a_form_tells_of_its_closing_and_looks_up_options(tmp_path: Path) -> None:
    select = {"type": "external_select", "action_id": "task", "min_query_length": 1}

    def listen(bot: Bot) -> None:
        @bot.app.command("/timebox")
        async def open_form(ack: AsyncAck, body: Json, client: AsyncWebClient) -> None:
            await ack()
            form = modal(text_input("pick", element=select), notify_on_close=True)
            await client.views_open(trigger_id=body["trigger_id"], view=form)

        @bot.app.options("task")
        async def offer(ack: AsyncAck, payload: Json) -> None:
            bot.seen.append(payload)
            await ack(options=[option(f"{payload['value']}1"), option(f"{payload['value']}2")])

        @bot.app.view_closed("form")
        async def handle_close(ack: AsyncAck, body: Json) -> None:
            bot.seen.append(body)
            await ack()

    async with workspace_with(tmp_path, listen) as (served, bot):
        assert await served.act("slash", channel=DM, command="/timebox", text="") == {"ok": True}
        await until(lambda: served.workspace.modals.stack(ALEX.id))
        [view] = served.workspace.modals.stack(ALEX.id)
        surface = {"type": "view", "view_id": view["id"]}
        asked: Json = {"surface": surface, "action_id": "task", "block_id": "pick", "value": "rep"}
        answer = await served.act("suggest", **asked)
        assert answer["options"] == [option("rep1"), option("rep2")]
        assert (bot.seen[0]["type"], bot.seen[0]["value"]) == ("block_suggestion", "rep")
        closing = await served.act("view_close", view_id=view["id"], clear=False)
        assert closing == {"ok": True, "stack": []}
        closed = (await bot.after(2))[1]
        assert (closed["type"], closed["is_cleared"], closed["view"]["id"]) == ("view_closed", False, view["id"])


async def test_slash_commands_work_in_channels_and_not_in_threads(tmp_path: Path) -> None:
    def listen(bot: Bot) -> None:
        @bot.app.command("/timebox")
        async def answer(ack: AsyncAck, command: Json, respond: AsyncRespond) -> None:
            bot.seen.append(command)
            await ack()
            await respond(f"Planning {command['text']}.", response_type="in_channel")

    async with workspace_with(tmp_path, listen) as (served, bot):
        command = {"channel": DM, "command": "/timebox", "text": "tomorrow"}
        assert await served.act("slash", **command) == {"ok": True}
        [message] = await appears(served, 1)
        assert (message["text"], "ephemeral" in message) == ("Planning tomorrow.", False)
        refused = await served.act("slash", **command, thread_ts=message["ts"])
        assert refused == {
            "ok": False,
            "error": "/timebox doesn't work in threads. Please use it in the channel itself.",
        }
        unknown = await served.act("slash", channel=DM, command="/plan", text="")
        assert unknown == {"ok": False, "error": "/plan is not a command here."}
        assert len(bot.seen) == 1


async def test_shortcuts_home_and_reactions(tmp_path: Path) -> None:
    def listen(bot: Bot) -> None:
        @bot.app.event("app_home_opened")
        async def publish(event: Json, client: AsyncWebClient) -> None:
            bot.seen.append({"type": event["type"], "tab": event["tab"]})
            if event["tab"] == "home":
                await client.views_publish(user_id=event["user"], view=home(actions(button("go"), block_id="b")))

        @bot.app.shortcut("plan_day")
        @bot.app.shortcut("capture_message")
        async def note(ack: AsyncAck, shortcut: Json) -> None:
            bot.seen.append(shortcut)
            await ack()

        @bot.app.action("go")
        async def handle_shortcut(ack: AsyncAck, body: Json) -> None:
            bot.seen.append(body)
            await ack()

        @bot.app.event("reaction_added")
        async def handle_reaction(event: Json) -> None:
            bot.seen.append(event)

        @bot.app.event("message")
        async def ignore() -> None: ...

    async with workspace_with(tmp_path, listen) as (served, bot):
        await served.act("home_opened", tab="messages")
        await bot.after(1)
        assert (await served.see("home")) == {"view": None}
        await served.act("home_opened", tab="home")
        await until(lambda: served.workspace.store.views.home(ALEX.id))
        action = {"type": "button", "action_id": "go", "block_id": "b"}
        assert await served.act("action", surface={"type": "home"}, action=action) == {"ok": True}
        assert (bot.seen[-1]["view"]["type"], "response_url" in bot.seen[-1]) == ("home", False)
        assert await served.act("shortcut", callback_id="plan_day") == {"ok": True}
        assert ("channel" in bot.seen[-1], bot.seen[-1]["type"]) == (False, "shortcut")
        ts = await served.say("call the bank")
        assert await served.act("shortcut", callback_id="capture_message", channel=DM, ts=ts) == {"ok": True}
        assert (bot.seen[-1]["message"]["text"], bot.seen[-1]["type"]) == ("call the bank", "message_action")
        seen = len(bot.seen)
        await served.act("react", channel=DM, ts=ts, name="eyes")
        reacted = (await bot.after(seen + 1))[-1]
        assert (reacted["reaction"], reacted["item"]["ts"]) == ("eyes", ts)


async def test_stop_is_pressed_while_the_app_is_working(tmp_path: Path) -> None:
    def listen(bot: Bot) -> None:
        @bot.app.event("agent_session_stopped")
        @bot.app.event("agent_session_title_changed")
        async def note(event: Json) -> None:
            bot.seen.append(event)

        @bot.app.event("message")
        async def ignore() -> None: ...

    async with workspace_with(tmp_path, listen) as (served, bot):
        ts = await served.say("plan")
        idle = await served.act("stop", channel=DM, thread_ts=ts)
        assert idle["error"] == "There is nothing running in this thread."
        await bot.client.agents_sessions_setStatus(channel_id=DM, thread_ts=ts, status="processing")
        assert await served.act("stop", channel=DM, thread_ts=ts) == {"ok": True}
        [stopped] = await bot.after(1)
        assert (stopped["type"], stopped["thread_ts"], stopped["user"]) == ("agent_session_stopped", ts, ALEX.id)
        assert await served.act("rename", channel=DM, thread_ts=ts, title="Monday") == {"ok": True}
        assert (await bot.after(2))[1]["title"] == "Monday"


async def test_a_file_is_uploaded_by_the_sdk(tmp_path: Path) -> None:
    async with workspace_with(tmp_path, lambda _bot: None) as (served, bot):
        await bot.client.files_upload_v2(channel=DM, filename="day.txt", content="08:00 deep work", title="Monday")
        [message] = await appears(served, 1)
        [file] = message["files"]
        assert (file["title"], (await served.http.get(file["url_private"])).text) == ("Monday", "08:00 deep work")


async def test_errors_reach_the_sdk_as_slack_errors(tmp_path: Path) -> None:
    async with workspace_with(tmp_path, lambda _bot: None) as (served, bot):
        with pytest.raises(SlackApiError) as refused:
            await bot.client.chat_postMessage(channel=DM, text="x", blocks=[section("x" * 3_001)])
        data = refused.value.response.data
        assert isinstance(data, dict)
        assert (data["error"], data["errors"]) == (
            "invalid_blocks",
            ["must be less than 3001 characters [json-pointer:/blocks/0/text/text]"],
        )
        served.workspace.faults.plan("chat.postMessage", RATE_LIMITED)
        with pytest.raises(SlackApiError) as limited:
            await bot.client.chat_postMessage(channel=DM, text="x")
        assert (limited.value.response.status_code, limited.value.response.headers["Retry-After"]) == (429, "1")
        assert (await bot.client.chat_postMessage(channel=DM, text="x"))["ok"] is True


async def test_two_sockets_bring_each_event_once(tmp_path: Path) -> None:
    async with running(tmp_path) as served:
        bot = a_bot(served.url)

        @bot.app.event("message")
        async def note(event: Json) -> None:
            bot.seen.append(event["text"])

        async with listening(bot, sockets=2):
            await until(lambda: served.workspace.hub.connections == 2)
            for number in range(10):
                await served.say(str(number))
            await bot.after(10)
            await until(lambda: served.workspace.delivery.waiting() == [])
            assert sorted(bot.seen) == [str(number) for number in range(10)]


async def test_a_lost_socket_is_replaced_and_nothing_is_lost(tmp_path: Path) -> None:
    def listen(bot: Bot) -> None:
        @bot.app.event("message")
        async def note(event: Json) -> None:
            bot.seen.append(event["text"])

    async with workspace_with(tmp_path, listen) as (served, bot):
        hub, connected = served.workspace.hub, list[bool]()
        hub.on_connections_changed.append(lambda: connected.append(hub.connected))
        served.workspace.drop_sockets()
        await until(lambda: False in connected)  # the app may be back before the first look
        await served.say("while you were away")
        assert await bot.after(1) == ["while you were away"]
        served.workspace.hub.disconnect("refresh_requested")
        await served.say("around a refresh")
        assert "around a refresh" in await bot.after(2)
        await until(lambda: served.workspace.delivery.waiting() == [])


async def test_an_event_whose_storing_failed_comes_again(tmp_path: Path) -> None:
    """An inbox in `before_authorize` that raises keeps the event: no acknowledgement, so a retry."""
    retries: list[str] = []

    async with running(tmp_path) as served:

        async def inbox(req: Any, next: Callable[[], Any]) -> None:  # noqa: A002 - the name Bolt passes it by
            retries.extend(req.headers["x-slack-retry-num"])
            if retries == ["0"]:
                raise OSError("disk full")
            await next()

        client = AsyncWebClient(token=BOT_TOKEN, base_url=f"{served.url}/api/")
        bot = Bot(AsyncApp(client=client, signing_secret="unused", before_authorize=inbox), client)

        @bot.app.event("message")
        async def note(event: Json) -> None:
            bot.seen.append(event["text"])

        served.workspace.set_ack_seconds(0.2)
        async with listening(bot):
            await served.say("keep me")
            assert await bot.after(1) == ["keep me"]
            assert retries == ["0", "1"]
            await until(lambda: served.workspace.delivery.waiting() == [])


@pytest.mark.process
async def test_a_killed_workspace_comes_back_whole_and_redelivers(tmp_path: Path) -> None:
    """kill -9 of the real process: what could be seen is there again, and what was not acknowledged comes again."""
    program, url = start_workspace(tmp_path, port=0)
    bot = a_bot(url)

    @bot.app.event("message")
    async def note(event: Json, body: Json) -> None:
        bot.seen.append({"text": event["text"], "id": body["event_id"]})

    async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=DEADLINE) as http:

        async def take_snapshot() -> list[Json]:
            return [(await http.get(f"/ui/{what}", params={"channel": DM})).json() for what in ("messages", "home")]

        for text in ("one", "two"):
            await http.post("/ui/message", json={"user": ALEX.id, "channel": DM, "text": text})
        await bot.client.views_publish(user_id=ALEX.id, view=home())
        before = await take_snapshot()
        program.send_signal(signal.SIGKILL)
        program.wait()
        program, again = start_workspace(tmp_path, port=int(url.rpartition(":")[2]))
        try:
            assert (again, await take_snapshot()) == (url, before)
            handler = AsyncSocketModeHandler(bot.app, APP_TOKEN, ping_interval=0.5)
            await handler.connect_async()  # type: ignore[no-untyped-call]  # slack-bolt leaves it so
            assert [event["text"] for event in await bot.after(2)] == ["one", "two"]
            await handler.close_async()  # type: ignore[no-untyped-call]  # slack-bolt leaves it so
        finally:
            program.terminate()
            program.wait()


def start_workspace(folder: Path, port: int) -> tuple[subprocess.Popen[bytes], str]:
    """Start `python -m localslack` and return the URL that it printed."""
    settings = {"port": port, "data": folder, "bot-token": BOT_TOKEN, "app-token": APP_TOKEN}
    options = [part for name, value in settings.items() for part in (f"--{name}", str(value))]
    command = [sys.executable, "-m", "localslack", *options]
    program = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert program.stdout is not None
    with program.stdout as lines:
        url = lines.readline().decode().strip()
    return program, url
