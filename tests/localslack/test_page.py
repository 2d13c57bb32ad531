"""The page's API: what it shows, whom it lets in, and the sentences it answers with."""

from __future__ import annotations

from typing import Any

import pytest
from tests.localslack.workspaces import ALEX, DM, GENERAL, ROBIN, Api, actions, button, modal, section


async def refusal(api: Api, deed: str, **given: Any) -> str:
    answer = await api.act(deed, **given)
    assert answer["ok"] is False
    return str(answer["error"])


async def test_the_state_of_the_workspace(api: Api) -> None:
    state = await api.see("state", user=ROBIN.id)
    assert state["me"] == {
        "id": ROBIN.id,
        "name": "robin",
        "real_name": "Robin Okafor",
        "tz": "America/New_York",
        "is_bot": False,
        "color": "8a4fbf",
    }
    assert [user["id"] for user in state["users"]] == [ALEX.id, ROBIN.id, "U00000BOT"]
    assert state["channels"] == [
        {"id": "D0000ROBIN", "name": "Day Planner", "is_im": True, "is_private": True, "unread": 0},
        {"id": GENERAL, "name": "general", "is_im": False, "is_private": False, "unread": 0},
    ]
    assert state["app"]["commands"] == [
        {"command": "/timebox", "description": "Plan a day", "usage_hint": "[today|tomorrow]"}
    ]
    assert [shortcut["callback_id"] for shortcut in state["app"]["shortcuts"]] == ["plan_day", "capture_message"]
    assert state["app"]["suggested_prompts"][0] == {"title": "Plan my day", "message": "Plan my day"}
    assert (state["connected"], state["pane_url"]) == (False, None)


async def test_an_unknown_person_begins_as_the_first(api: Api) -> None:
    assert (await api.see("state", user="U404"))["me"]["id"] == ALEX.id
    assert (await api.see("state", user=""))["me"]["id"] == ALEX.id


async def test_unread_counts_what_others_said_until_it_is_seen(api: Api) -> None:
    async def count_unread() -> list[int]:
        return [channel["unread"] for channel in (await api.see("state"))["channels"]]

    await api.say("mine")
    await api.post("one")
    await api.say("hello", channel=GENERAL, user=ROBIN.id)
    await api.call("chat.postEphemeral", channel=GENERAL, user=ROBIN.id, text="not for Alex")
    assert await count_unread() == [1, 1]
    await api.messages()
    assert await count_unread() == [0, 1]


@pytest.mark.parametrize(
    ("deed", "given", "sentence"),
    [
        ("message", {"channel": DM, "text": "  "}, "Please type something first."),
        (
            "message",
            {"channel": DM, "text": "x" * 12_001},
            "That is longer than 12,000 characters. Please shorten it or split it up.",
        ),
        ("message", {"channel": DM, "text": "x", "thread_ts": "1.0"}, "That thread is no longer there."),
        (
            "message",
            {"channel": "D0000ROBIN", "text": "x"},
            "That channel isn't there for you. Please choose another one.",
        ),
        (
            "message",
            {"user": "U404", "channel": DM, "text": "x"},
            "There is nobody with that id in this workspace. Please reload the page.",
        ),
        ("slash", {"channel": DM, "command": "/nope"}, "/nope is not a command here."),
        (
            "slash",
            {"channel": DM, "command": "/timebox", "thread_ts": "1.0"},
            "/timebox doesn't work in threads. Please use it in the channel itself.",
        ),
        (
            "slash",
            {"channel": DM, "command": "/timebox"},
            "The planner isn't connected right now. Please try again in a moment.",
        ),
        ("shortcut", {"callback_id": "nope"}, "That shortcut isn't there any more. Please reload the page."),
        ("edit", {"channel": DM, "ts": "1.0", "text": "x"}, "That message is no longer there."),
        (
            "action",
            {"surface": None, "action": {}},
            "The page named no message, form or Home tab. Please reload it.",
        ),
        ("action", {"surface": {"type": "home"}, "action": {}}, "The Home tab has nothing on it yet."),
        ("view_submit", {"view_id": "V404", "state": {}}, "That form is no longer open."),
        ("view_close", {"view_id": "V404"}, "That form is no longer open."),
        ("stop", {"channel": DM, "thread_ts": "1.0"}, "There is nothing running in this thread."),
        ("rename", {"channel": DM, "thread_ts": "1.0", "title": "x"}, "This thread has no session to rename."),
    ],
)
async def test_what_cannot_be_done_is_said_in_a_sentence(
    api: Api, deed: str, given: dict[str, Any], sentence: str
) -> None:
    assert await refusal(api, deed, **given) == sentence


async def test_people_change_and_delete_their_own_messages_only(api: Api) -> None:
    bots = await api.post("the bot's")
    assert await refusal(api, "edit", channel=DM, ts=bots, text="x") == "You can only edit your own messages."
    assert await refusal(api, "delete", channel=DM, ts=bots) == "You can only delete your own messages."
    mine = await api.say("mnie")
    edited = await api.act("edit", channel=DM, ts=mine, text="mine")
    assert (edited["message"]["text"], edited["message"]["edited"]["user"]) == ("mine", ALEX.id)
    assert await api.act("delete", channel=DM, ts=mine) == {"ok": True}
    assert [message["ts"] for message in await api.messages()] == [bots]


async def test_a_whisper_can_be_dismissed_by_its_reader_only(api: Api) -> None:
    await api.call("chat.postEphemeral", channel=GENERAL, user=ALEX.id, text="psst")
    [whisper] = await api.messages(GENERAL)
    gone = await refusal(api, "delete", user=ROBIN.id, channel=GENERAL, ts=whisper["ts"])
    assert gone == "That message is no longer there."
    assert await api.act("delete", channel=GENERAL, ts=whisper["ts"]) == {"ok": True}
    assert await api.messages(GENERAL) == []


async def test_nobody_acts_in_another_persons_form_or_messages(api: Api) -> None:
    trigger = api.workspace.triggers.issue(ALEX.id)
    view = (await api.call("views.open", trigger_id=trigger, view=modal()))["view"]
    theirs = {"user": ROBIN.id, "view_id": view["id"]}
    assert await refusal(api, "view_submit", **theirs, state={}) == "That form is no longer open."
    assert await refusal(api, "view_close", **theirs) == "That form is no longer open."
    ts = await api.post(blocks=[actions(button(), block_id="b")])
    surface = {"type": "message", "channel": DM, "ts": ts}
    pressed = await refusal(api, "action", user=ROBIN.id, surface=surface, action={})
    assert pressed == "That channel isn't there for you. Please choose another one."


async def test_closing_takes_the_top_form_or_all(api: Api) -> None:
    async def open_view(method: str, **more: Any) -> str:
        trigger = api.workspace.triggers.issue(ALEX.id)
        return str((await api.call(method, trigger_id=trigger, view=modal(**more)))["view"]["id"])

    bottom, top = await open_view("views.open"), await open_view("views.push")
    answer = await api.act("view_close", view_id=top, clear=False)
    assert [view["id"] for view in answer["stack"]] == [bottom]
    await open_view("views.push")
    assert await api.act("view_close", view_id=bottom, clear=True) == {"ok": True, "stack": []}
    await open_view("views.open")
    clearing = await open_view("views.push", clear_on_close=True)
    assert await api.act("view_close", view_id=clearing, clear=False) == {"ok": True, "stack": []}


async def test_only_json_is_read(api: Api) -> None:
    """Another site's page can post plain text across origins without asking; JSON it cannot."""
    body = '{"user": "U0000ALEX", "channel": "D0000ALEX", "text": "forged"}'
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        answer = await api.http.post("/ui/message", content=body, headers={"content-type": kind})
        assert answer.json()["ok"] is False
    for broken in ("{", "[]"):
        answer = await api.http.post("/ui/message", content=broken, headers={"content-type": "application/json"})
        assert answer.json()["error"] == "The page sent something that is not a JSON object. Please reload it."
    assert await api.messages() == []


async def test_what_cannot_be_read_is_not_found(api: Api) -> None:
    answer = await api.http.get("/ui/messages", params={"user": ALEX.id, "channel": "C404"})
    assert (answer.status_code, answer.json()["ok"]) == (404, False)


async def test_a_database_that_refuses_is_said_plainly_and_loses_nothing(api: Api) -> None:
    """A full disk, by SQLite's own limit on the size of the file."""
    kept = await api.say("kept")
    database = api.workspace.store.database
    [(pages,)] = database.rows("PRAGMA page_count")
    database.rows(f"PRAGMA max_page_count = {pages}")
    sentence = "The workspace could not save that. Is the disk full? Please try again."
    assert await refusal(api, "message", channel=DM, text="x" * 12_000) == sentence
    blocks = [section("x" * 3_000) for _ in range(10)]
    assert await api.call("chat.postMessage", channel=DM, text="x", blocks=blocks) == {
        "ok": False,
        "error": "internal_error",
    }
    assert [message["ts"] for message in await api.messages()] == [kept]
    database.rows(f"PRAGMA max_page_count = {pages + 1_000}")
    again = await api.say("x" * 12_000)
    assert [message["ts"] for message in await api.messages()] == [kept, again]


async def test_permalinks_open_the_page(api: Api) -> None:
    parent = await api.post()
    reply = await api.post(thread_ts=parent)
    for ts, place in ((parent, f"/#/{DM}"), (reply, f"/#/{DM}/t/{parent}")):
        link = (await api.call("chat.getPermalink", channel=DM, message_ts=ts))["permalink"]
        answer = await api.http.get(link)
        assert (answer.status_code, answer.headers["location"]) == (307, place)
