"""Frames that arrive together, without a network: each is recorded before it is answered, in the order of arrival."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.web.async_slack_response import AsyncSlackResponse
from tests.factories.constraints import version_of
from tests.scenarios.scripted_coordinator import ScriptedCoordinator
from tests.scenarios.store_faults import Failing

from fateforger.adapters.clock import SystemClock
from fateforger.adapters.store.store import Store, open_store
from fateforger.memory.credentials import TOO_LONG
from fateforger.ports.people import PersonLanguage
from fateforger.session.cards import Button, Card, Controls
from fateforger.session.commands.rules import RememberConstraint
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.messages import Outgoing
from fateforger.session.model import Session, SessionStatus
from fateforger.session.store import Sent
from fateforger.slack.access import People, Places
from fateforger.slack.blocks import render
from fateforger.slack.client import new_app, new_session
from fateforger.slack.forms import FormHandler
from fateforger.slack.handlers import RequestHandler
from fateforger.slack.home import Home
from fateforger.slack.limits import LimitedClient, Pace, SlackLimits
from fateforger.slack.listeners import Listeners
from fateforger.slack.phrases import ATTACHED_UNREAD, CAME_LATE, CHANGE_UNREAD, STILL_COUNTS
from fateforger.slack.poster import Poster
from fateforger.slack.progress import DEFAULT_TIMING
from fateforger.text import SOURCE, gettext, speak
from fateforger.values import replace
from fateforger.workers.lanes import TURN
from fateforger.workers.people import LanguageService
from fateforger.workers.supervisor import BackgroundTasks

AT = datetime(2026, 3, 5, 8, tzinfo=UTC)
NOWHERE = "http://127.0.0.1:9/api/"
Json = dict[str, Any]


class SilentSlack(LimitedClient):
    """A client that remembers its calls, none of which is answered."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(SlackLimits(), base_url=NOWHERE, retry_handlers=[], **settings)
        self.calls: list[str] = []

    async def api_call(self, api_method: str, **details: Any) -> AsyncSlackResponse:
        self.calls.append(api_method)
        return await super().api_call(api_method, **details)


@dataclass
class Table:
    app: AsyncApp
    listeners: Listeners
    store: Store
    faults: Failing
    people: People
    client: SilentSlack
    coordinator: ScriptedCoordinator

    async def answer(self, body: Json) -> tuple[int, str]:
        response = await self.app.async_dispatch(AsyncBoltRequest(mode="socket_mode", body=body))
        return response.status, response.body

    async def list_payloads(self, lane: str = TURN.name) -> list[Json]:
        """Return the payloads of all jobs, in order."""
        query = f"SELECT payload FROM job WHERE lane = '{lane}' ORDER BY seq"
        rows = await self.store.database.read(lambda c: c.exec_driver_sql(query).all())
        return [json.loads(row[0]) for row in rows]


@pytest.fixture
async def table() -> AsyncIterator[Table]:
    store, http, faults = open_store(":memory:"), new_session(), Failing()
    await store.sessions.save(
        Session(
            id="s1",
            user_id="U1",
            channel="D1",
            thread_ts="1.0",
            created_at=AT,
            touched_at=AT,
            tz="Etc/UTC",
            date=AT.date(),
        ),
        expected=0,
    )
    clock, errands = SystemClock(), BackgroundTasks()
    client = SilentSlack(token="xoxb-1", session=http)
    coordinator = ScriptedCoordinator(store.sessions)
    languages = LanguageService(store.languages, SOURCE)
    people = People(client, clock, languages, store.zones)
    poster = Poster(client, Pace(), store.messages)
    requests = RequestHandler(
        coordinator, faults.jobs(store), store.feedbacks, people, errands, poster, client, store.outbox, clock=clock
    )
    listeners = Listeners(
        requests,
        FormHandler(coordinator, requests, client, errands, timing=DEFAULT_TIMING),
        Home(coordinator, store.homes, people, poster, client, errands, clock),
        languages,
        clock=clock,
        people=people,
    )
    app = new_app(client)
    listeners.register(app)
    yield Table(app, listeners, store, faults, people, client, coordinator)
    await errands.close(seconds=1)
    await http.close()
    await store.aclose()


def click(target: str, user: str = "U1", *, action: str = "count", at: str = "2.0") -> Json:
    button = Button(label="Count", action=action, target=target)
    (block,) = render(Card(text="Card", parts=(Controls(items=(button,)),)), session="s1", v="v1").blocks
    element = block["elements"][0]
    return {
        "type": "block_actions",
        "user": {"id": user},
        "channel": {"id": "D1"},
        "container": {"type": "message", "message_ts": "2.0", "thread_ts": "1.0"},
        "trigger_id": "t",
        "actions": [
            {k: element[k] for k in ("type", "action_id", "value")} | {"block_id": block["block_id"], "action_ts": at}
        ],
    }


def build_message(ts: str, user: str = "U1", **fields: Any) -> Json:
    given = {"type": "message", "channel": "D1", "user": user, "text": f"at {ts}", "ts": ts, "thread_ts": "1.0"}
    return {"type": "event_callback", "team_id": "T1", "authorizations": [{"user_id": "UBOT"}], "event": given | fields}


async def test_frames_of_one_thread_are_recorded_in_the_order_of_arrival(table: Table) -> None:
    """S115: each frame runs as a task of its own, as in the Slack SDK."""
    frames = [click(f"b{n}") if n % 2 else build_message(f"{n + 10}.0") for n in range(40)]
    answers = await asyncio.gather(*(table.answer(frame) for frame in frames))
    assert answers == [(200, "")] * 40
    texts = [payload["text"] for payload in await table.list_payloads()]
    assert texts == [f"count b{n}" if n % 2 else f"at {n + 10}.0" for n in range(40)]


TYPED = {"text": "", "user_id": "U1", "channel_id": "D1", "trigger_id": "t"}


@pytest.mark.parametrize(
    "body",
    [
        TYPED | {"command": "/timebox"},
        TYPED | {"command": "/pull"},
        {"type": "shortcut", "callback_id": "start", "user": {"id": "U1"}, "trigger_id": "t"},
        click("b1"),
        build_message("9.0"),
        build_message("9.0", thread_ts="9.0", channel_type="im"),
    ],
    ids=["start", "queue", "shortcut", "click", "reply", "first words"],
)
async def test_nothing_is_asked_of_slack_before_the_acknowledgement(table: Table, body: Json) -> None:
    """S319: with a slow Slack, a person must not see a failure and repeat the action."""
    assert (await table.answer(body))[0] == 200
    assert len(await table.list_payloads()) == 1
    assert table.client.calls == []


async def test_what_was_recorded_is_not_recorded_again(table: Table) -> None:
    for _ in range(3):
        assert await table.answer(click("b1")) == (200, "")
        assert await table.answer(build_message("9.0")) == (200, "")
        assert await table.answer(build_message("9.0", type="app_mention", text="at 9.0")) == (200, "")
    assert [payload["text"] for payload in await table.list_payloads()] == ["count b1", "at 9.0"]


@pytest.mark.parametrize(
    ("action", "kind"), [("show_history", "show_history"), ("start", "start"), ("say", "user_reply")]
)
async def test_a_button_that_stays_on_its_card_can_be_used_again(table: Table, action: str, kind: str) -> None:
    """S471: a double click or a repeated delivery counts once, at any instant and with any delay."""
    for at in ("614.9", "614.9", "615.1", "900.0", "615.1"):
        assert await table.answer(click("Plan tomorrow", action=action, at=at)) == (200, "")
    recorded = await table.list_payloads()
    assert [payload["kind"] for payload in recorded] == [kind] * 2
    assert len({payload["command_id"] for payload in recorded}) == 2
    for at in ("600.1", "900.0"):
        await table.answer(click("b1", at=at))
    assert len(await table.list_payloads()) == 3  # a change of the plan is made once, however often it is clicked


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/pull", {"kind": "pull_task", "task_id": None}),
        ("/pull ff-4k7w9c", {"kind": "pull_task", "task_id": "ff-4k7w9c"}),
        ("/tasks", {"kind": "show_tasks"}),
        ("/task-refine", {"kind": "refine_tasks"}),
        ("/week next", {"kind": "plan_week", "span": "next"}),
        ("/timebox 2026-03-09", {"kind": "start", "date": "2026-03-09", "thread_ts": None}),
    ],
)
async def test_a_command_in_the_thread_of_a_plan_is_carried_out(table: Table, text: str, command: Json) -> None:
    """S147, S151, S152: Slack runs none there, so it is written out; the plan never hears it, nor does a model."""
    assert await table.answer(build_message("9.0", text=text)) == (200, "")
    (recorded,) = await table.list_payloads()
    assert command.items() <= recorded.items()
    assert (recorded["channel"], recorded["user_id"]) == ("D1", "U1")
    if recorded["kind"] != "start":
        assert recorded["thread_ts"] == "1.0"


async def test_a_rule_told_outside_of_a_plan_knows_where_to_ask(table: Table) -> None:
    """S179: a question about it comes in direct messages; inside a plan its card asks."""
    table.people.learn_direct("U1", "D1")
    places, asked = Places(table.people, LimitedClient(SlackLimits())), []
    for session_id in ("", "s1"):
        told = RememberConstraint(
            command_id=f"c{session_id}", user_id="U1", at=AT, session_id=session_id, record=version_of("fish").record
        )
        completed = await places.complete(told)
        assert isinstance(completed, RememberConstraint)
        asked.append(completed.channel)
    assert asked == ["D1", ""]


async def test_a_command_that_nobody_knows_is_no_message_to_the_plan(table: Table) -> None:
    assert await table.answer(build_message("9.0", text="/fly")) == (200, "")
    assert await table.list_payloads() == []


async def test_what_cannot_be_recorded_is_not_answered(table: Table) -> None:
    table.faults.enqueue = ["before"] * 2
    assert await table.answer(click("b1")) == (503, "")
    assert await table.answer(build_message("9.0")) == (503, "")
    assert await table.answer(build_message("9.0")) == (200, "")
    assert [payload["text"] for payload in await table.list_payloads()] == ["at 9.0"]


async def test_once_closed_nothing_is_answered(table: Table) -> None:
    await table.listeners.close()
    assert await table.answer(build_message("9.0")) == (503, "")
    assert await table.list_payloads() == []


@pytest.mark.parametrize(
    "body",
    [
        build_message("9.0", user="U2"),
        build_message("9.0", user="UBOT"),
        build_message("9.0", subtype="channel_join"),
        build_message("9.0", thread_ts="8.0"),
        click("b1", user="U2"),
        {"type": "event_callback", "team_id": "T1", "event": {"type": "member_joined_channel"}},
        {"type": "nonsense"},
        {},
    ],
    ids=["another person", "the bot", "a join", "another thread", "another's click", "event", "nonsense", "nothing"],
)
async def test_what_is_not_for_us_is_answered_and_no_more(table: Table, body: Json) -> None:
    """An event that is not acknowledged would come again, so everything is."""
    assert await table.answer(body) == (200, "")
    assert await table.list_payloads() == []
    assert await table.list_payloads("greeting") == []


async def test_words_of_anybody_in_a_thread_are_noted_as_the_newest(table: Table) -> None:
    await table.answer(build_message("9.5", user="U2"))
    await table.answer(build_message("9.0"))
    await table.store.messages.observe("D1", "1.0", "1.0", "8.0")
    assert await table.store.messages.count_after("D1", "1.0", "8.0") == 2
    assert await table.store.messages.count_after("D1", "1.0", "9.0") == 1


async def test_first_words_in_a_thread_are_noted_as_the_newest(table: Table) -> None:
    """S345: any program may answer them."""
    await table.answer(build_message("77.5", thread_ts="77.0", channel_type="im"))
    await table.store.messages.observe("D1", "77.0", "77.0")
    assert await table.store.messages.count_after("D1", "77.0", "77.0") == 1


async def test_a_mention_outside_of_a_session_is_recorded_once(table: Table) -> None:
    """The worker welcomes the person: by then the first message of a plan may be known to be there."""
    for kind in ("message", "app_mention", "message"):
        await table.answer(build_message("9.0", type=kind, thread_ts="8.0", text="<@UBOT> hi"))
    (opening,) = await table.list_payloads()
    assert (opening["kind"], opening["thread_ts"], opening["opens"]) == ("opening", "8.0", False)


async def test_slack_may_ask_who_is_there(table: Table) -> None:
    """HTTP mode: that question is Bolt's to answer."""
    status, body = await table.answer({"type": "url_verification", "challenge": "abc"})
    assert (status, "abc" in body) == (200, True)


@pytest.mark.parametrize(
    ("written", "posted", "taken"),
    [(-60, -10, False), (-60, -70, True), (-5, -2, True)],
    ids=["late", "newest", "prompt"],
)
async def test_a_late_message_does_nothing_to_a_plan_that_has_moved_on(
    table: Table, written: float, posted: float, *, taken: bool
) -> None:
    """S446: “go on”, written before Undo and delivered after it, would put the plan on the calendar again."""
    session, now = await table.store.sessions.load("s1"), time.time()
    assert session is not None
    card = Outgoing(id="c1:card", session_id="s1", channel="D1", slot="card", card=Card(text="Refined", parts=()))
    await table.store.sessions.save(session, expected=session.version, outgoing=(card,))
    await table.store.outbox.mark_sent(card.id, Sent("D1", f"{now + posted:.6f}"), now=AT)
    assert (await table.answer(build_message(f"{now + written:.6f}", text="go on")))[0] == 200
    assert [payload["text"] for payload in await table.list_payloads()] == ["go on"] * taken
    assert [job["words"] for job in await table.list_payloads("sentence")] == [CAME_LATE] * (not taken)


def build_change(kind: str, /, before: Json | None = None, **after: Any) -> Json:
    """Return Slack's event for a message that a person changed or deleted."""
    earlier = build_message("9.0", **(before or {}))["event"]
    edited = {"message": earlier | {"edited": {"user": earlier["user"], "ts": "10.0"}} | after}
    where = {name: value for name, value in earlier.items() if name in {"channel", "channel_type"}}
    added = edited if kind == "message_changed" else {}
    frame = build_message("10.0", **where, **added, previous_message=earlier)
    del frame["event"]["user"], frame["event"]["text"], frame["event"]["thread_ts"]
    frame["event"]["subtype"] = kind
    return frame


FIRST_WORDS: Json = {"channel_type": "im", "thread_ts": None}
MENTION: Json = {"channel": "C1", "type": "app_mention", "thread_ts": None}


@pytest.mark.parametrize(
    ("before", "user", "after", "words"),
    [
        ({}, "U1", {"text": "gym at 19"}, CHANGE_UNREAD),
        (FIRST_WORDS, "U1", {"text": "gym at 19"}, CHANGE_UNREAD),
        (FIRST_WORDS | {"thread_ts": "5.0"}, "U1", {"text": "gym at 19"}, CHANGE_UNREAD),
        (MENTION, "U1", {"text": "gym at 19"}, CHANGE_UNREAD),
        (FIRST_WORDS, "U1", {"attachments": [{"title": "a preview"}]}, None),
        ({}, "U2", {"text": "gym at 19"}, None),
        ({"channel": "C1"}, "U1", {"text": "gym at 19"}, None),
        (FIRST_WORDS, "UBOT", {"text": "gym at 19"}, None),
    ],
    ids=[
        "in a plan",
        "first words",
        "in another thread",
        "in a channel",
        "preview of a link",
        "in another person's plan",
        "not to the bot",
        "the bot's own",
    ],
)
@pytest.mark.parametrize("reader", [True, False], ids=["with a model", "without a model"])
async def test_what_is_changed_in_a_message_is_not_read(
    table: Table, before: Json, user: str, after: Json, words: str | None, *, reader: bool
) -> None:
    """S449, S482: one sentence about a message that was read, if messages are read at all."""
    table.coordinator.reader = reader
    await table.answer(build_message("9.0", user, **before))
    heard = await table.list_payloads()
    assert (await table.answer(build_change("message_changed", {"user": user} | before, **after)))[0] == 200
    told = await table.list_payloads("sentence")
    assert [job["words"] for job in told] == ([words] if words and reader else [])
    assert await table.list_payloads() == heard
    for job in told:
        assert (job["channel"], job["thread_ts"]) == (before.get("channel", "D1"), before.get("thread_ts", "1.0"))


GRAVE: Json = {"subtype": "tombstone", "user": "USLACKBOT", "text": "This message was deleted.", "hidden": True}


async def test_a_deleted_message_with_replies_is_no_edit(table: Table) -> None:
    """S449, S483: Slack reports it as changed by its own user."""
    table.coordinator.reader = True
    await table.answer(build_message("9.0", **FIRST_WORDS))
    await table.answer(build_change("message_changed", before=FIRST_WORDS, **GRAVE))
    assert await table.list_payloads("sentence") == []
    await table.store.languages.keep("U1", PersonLanguage("fr"))
    await table.answer(build_message("9.0"))
    await table.answer(build_change("message_changed", **GRAVE))
    with speak("fr"):
        assert [job["words"] for job in await table.list_payloads("sentence")] == [gettext(STILL_COUNTS)]


HUDDLE: Json = {"subtype": "huddle_thread", "text": "A huddle started", "room": {"id": "R1"}}
UNHEARD: dict[str, Json] = {
    "a huddle in a channel": HUDDLE | {"channel": "C1", "channel_type": "channel"},
    "a huddle in the thread of a plan": HUDDLE,
    "a group message": {"channel": "G1", "channel_type": "mpim", "thread_ts": None},
    "a reply in a group message": {"channel": "G1", "channel_type": "mpim"},
    "a private channel": {"channel": "G2", "channel_type": "group", "thread_ts": None},
    "a broadcast in a channel": {"channel": "C1", "channel_type": "channel", "subtype": "thread_broadcast"},
    "a workflow": {"user": "UFLOW", "bot_id": "B7", "text": "<@UBOT> plan", "channel": "C1", "type": "app_mention"},
    "another app": {"subtype": "bot_message", "bot_id": "B8", "text": "<@UBOT> plan", "channel": "C1"},
    "a reminder of Slack's": {
        "user": "USLACKBOT",
        "text": "Reminder: <@UBOT> plan",
        "channel": "C1",
        "thread_ts": None,
    },
    "Slack in direct messages": {"user": "USLACKBOT", **FIRST_WORDS},
    "the thread of an agent": {"subtype": "assistant_app_thread", **FIRST_WORDS},
    "a topic": {"subtype": "channel_topic", "channel": "C1", "text": "<@UBOT> plan"},
}


@pytest.mark.parametrize("fields", UNHEARD.values(), ids=UNHEARD)
async def test_what_is_not_said_to_the_bot_by_a_person_is_left_alone(table: Table, fields: Json) -> None:
    """S483: neither read, nor answered, nor is Slack asked about it; that goes for its changes, too."""
    table.coordinator.reader = True
    frames = [build_message("9.0", **fields), build_change("message_changed", before=fields, text="plan all my days")]
    for frame in [
        *frames,
        build_change("message_changed", before=fields, **GRAVE),
        build_change("message_deleted", before=fields),
    ]:
        assert await table.answer(frame) == (200, "")
    for lane in (TURN.name, "sentence", "greeting", "stop"):
        assert await table.list_payloads(lane) == []
    assert table.client.calls == []


@pytest.mark.parametrize("channel", ["C1", "G1", "G2"], ids=["a channel", "a group message", "a private channel"])
@pytest.mark.parametrize("place", [{"thread_ts": None}, {"thread_ts": "5.0"}], ids=["at its top", "in a thread"])
async def test_a_mention_where_others_read_is_heard_once(table: Table, channel: str, place: Json) -> None:
    """S483: as a message of its own, which is answered in direct messages."""
    table.coordinator.reader = True
    about = {"channel": channel, "text": "<@UBOT> plan tomorrow", **place}
    for frame in (build_message("9.0", type="app_mention", **about), build_message("9.0", **about)):
        assert await table.answer(frame) == (200, "")
    (heard,) = await table.list_payloads()
    assert (heard["kind"], heard["text"], heard["channel"]) == ("opening", "plan tomorrow", channel)
    assert await table.list_payloads("sentence") == []


async def test_a_reply_that_is_sent_to_the_channel_as_well_is_one_message_to_the_plan(table: Table) -> None:
    """S483: Slack may report it a second time, as a change without another text."""
    table.coordinator.reader = True
    shared: Json = {"subtype": "thread_broadcast", "root": {"ts": "1.0"}}
    for frame in (
        build_message("9.0", **shared),
        build_message("9.0", **shared),
        build_change("message_changed", before=shared),
    ):
        assert await table.answer(frame) == (200, "")
    assert [(job["session_id"], job["text"]) for job in await table.list_payloads()] == [("s1", "at 9.0")]
    assert await table.list_payloads("sentence") == []


async def test_a_first_message_that_is_deleted_says_nothing(table: Table) -> None:
    """S482: its answer stays, and says what was done."""
    table.coordinator.reader = True
    await table.answer(build_message("9.0", **FIRST_WORDS))
    await table.answer(build_change("message_deleted", before=FIRST_WORDS))
    assert await table.list_payloads("sentence") == []


@pytest.mark.parametrize(("subtype", "words"), [("message_changed", CHANGE_UNREAD), ("message_deleted", STILL_COUNTS)])
async def test_a_message_that_waits_is_carried_out_as_it_was_sent(table: Table, subtype: str, words: str) -> None:
    """S449"""
    table.coordinator.reader = True
    await table.answer(build_message("9.0"))
    await table.answer(build_change(subtype, text="gym at 19"))
    assert [job["words"] for job in await table.list_payloads("sentence")] == [words]
    assert [job["text"] for job in await table.list_payloads()] == ["at 9.0"]


@pytest.mark.parametrize("reader", [True, False], ids=["with a model", "without a model"])
@pytest.mark.parametrize("text", ["", "plan from this"])
@pytest.mark.parametrize(
    "place",
    [{}, {"thread_ts": None}, {"channel": "C1", "type": "app_mention"}],
    ids=["a plan", "first words", "a channel"],
)
async def test_what_comes_with_a_message_is_said_not_to_be_read(
    table: Table, place: Json, text: str, *, reader: bool
) -> None:
    """S465: a plan never hears a message without words, which a model could take for a yes."""
    table.coordinator.reader = reader
    given = {"channel_type": "im", "text": text, "files": [{"id": "F1", "name": "todo.pdf"}], **place}
    assert (await table.answer(build_message("9.0", subtype="file_share", **given)))[0] == 200
    assert [job["words"] for job in await table.list_payloads("sentence")] == [ATTACHED_UNREAD] * reader
    assert [job["text"] for job in await table.list_payloads()] == [text] * bool(text or place or not reader)


@pytest.mark.parametrize("place", [{}, {"thread_ts": None}], ids=["a plan", "first words"])
async def test_of_a_long_message_it_is_said_that_its_end_is_not_read(table: Table, place: Json) -> None:
    """S469: it was cut for the model without notice to the person."""
    table.coordinator.reader = True
    for ts, length in (("9.0", 6_000), ("10.0", 6_001)):
        await table.answer(build_message(ts, channel_type="im", text="a" * length, **place))
    (told,) = await table.list_payloads("sentence")
    assert told["words"].startswith("I read only the first 6,000 characters of your message.")
    assert [len(job["text"]) for job in await table.list_payloads()] == [6_000, 6_001]


async def test_mentioned_people_are_called_by_their_names(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """S464: a task is not called after an id of Slack's."""
    names = {"U0000BEA": "Bea", "T2/U0000BEA": "Other Bea"}

    async def find_name(user_id: str) -> str:
        return names.get(user_id, "")

    monkeypatch.setattr(table.people, "_find_name", find_name)
    places, text = Places(table.people, LimitedClient(SlackLimits())), "1:1 with @U0000BEA and @U0000CEM, @home"
    told = []
    for user_id in ("U1", "T2/U1"):
        reply = TimeboxingUserReply(command_id="c1", user_id=user_id, at=AT, session_id="s1", text=text)
        completed = await places.complete(reply)
        assert isinstance(completed, TimeboxingUserReply)
        told.append(completed.text)
    assert told == [text.replace("U0000BEA", who) for who in ("Bea", "Other Bea")]


async def test_a_plan_that_has_ended_says_nothing_of_an_edit(table: Table) -> None:
    table.coordinator.reader = True
    session = await table.store.sessions.load("s1")
    assert session is not None
    await table.answer(build_message("9.0"))
    await table.store.sessions.save(replace(session, status=SessionStatus.CANCELLED), expected=session.version)
    await table.answer(build_change("message_changed", text="gym at 19"))
    assert await table.list_payloads("sentence") == []


@pytest.mark.parametrize("known", [True, False], ids=["in a thread", "first words"])
async def test_a_message_that_is_too_long_is_not_read(table: Table, *, known: bool) -> None:
    """No text stops the program: what is longer than a message of Slack is answered with a sentence, not looked through."""
    place = {"thread_ts": "1.0"} if known else {"thread_ts": "77.0", "channel": "D1", "channel_type": "im"}
    assert (await table.answer(build_message("9.0", text="/tasks " + "a" * 60_000, **place)))[0] == 200
    # In direct messages with the bot the answer is a message; it would greet there as well.
    answered = [job["words"] for lane in ("greeting", "sentence") for job in await table.list_payloads(lane)]
    assert (await table.list_payloads(), answered) == ([], [TOO_LONG])
    if known:
        await table.answer(build_message("10.0", text="a" * 40_000))
        assert [len(payload["text"]) for payload in await table.list_payloads()] == [40_000]
