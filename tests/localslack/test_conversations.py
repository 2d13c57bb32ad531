"""conversations.*, users.*, reactions.*: reading what is there."""

from __future__ import annotations

from typing import Any

from tests.localslack.workspaces import ALEX, DM, GENERAL, ROBIN, ROBINS_DM, Api

METADATA = {"event_type": "plan_shown", "event_payload": {"day": "2026-11-02"}}


async def texts(api: Api, method: str, **arguments: Any) -> list[str]:
    answer = await api.call(method, **arguments)
    assert answer["ok"] is True, answer
    return [message["text"] for message in answer["messages"]]


async def test_history_is_newest_first_and_replies_are_oldest_first(api: Api) -> None:
    parent = await api.say("one")
    await api.post("two")
    await api.post("in thread", thread_ts=parent)
    assert await texts(api, "conversations.history", channel=DM) == ["two", "one"]
    assert await texts(api, "conversations.replies", channel=DM, ts=parent) == ["one", "in thread"]


async def test_replies_can_be_asked_for_by_a_replys_ts(api: Api) -> None:
    parent = await api.say("one")
    reply = await api.post("in thread", thread_ts=parent)
    assert await texts(api, "conversations.replies", channel=DM, ts=reply) == ["one", "in thread"]
    answer = await api.call("conversations.replies", channel=DM, ts="1.000000")
    assert answer == {"ok": False, "error": "thread_not_found"}


async def test_metadata_comes_only_when_asked_for(api: Api) -> None:
    await api.post(metadata=METADATA)
    [bare] = (await api.call("conversations.history", channel=DM))["messages"]
    [full] = (await api.call("conversations.history", channel=DM, include_all_metadata="1"))["messages"]
    assert ("metadata" in bare, full["metadata"]) == (False, METADATA)


async def test_pages_of_history(api: Api) -> None:
    for number in range(5):
        await api.post(str(number))
    first = await api.call("conversations.history", channel=DM, limit=2)
    assert ([m["text"] for m in first["messages"]], first["has_more"]) == (["4", "3"], True)
    cursor = first["response_metadata"]["next_cursor"]
    rest = await api.call("conversations.history", channel=DM, limit=3, cursor=cursor)
    assert ([m["text"] for m in rest["messages"]], rest["has_more"]) == (["2", "1", "0"], False)
    assert rest["response_metadata"] == {"next_cursor": ""}
    broken = await api.call("conversations.history", channel=DM, cursor="!")
    assert broken == {"ok": False, "error": "invalid_cursor"}


async def test_history_between_two_moments(api: Api) -> None:
    stamps = [await api.post(str(number)) for number in range(4)]
    between = {"channel": DM, "oldest": stamps[0], "latest": stamps[3]}
    assert await texts(api, "conversations.history", **between) == ["2", "1"]
    assert await texts(api, "conversations.history", **between, inclusive=True) == ["3", "2", "1", "0"]


async def test_opening_a_direct_message_finds_the_one_that_is_there(api: Api) -> None:
    assert await api.call("conversations.open", users=ALEX.id) == {
        "ok": True,
        "no_op": True,
        "already_open": True,
        "channel": {"id": DM},
    }
    full = await api.call("conversations.open", users=ALEX.id, return_im=True)
    assert (full["channel"]["user"], full["channel"]["is_im"]) == (ALEX.id, True)
    assert (await api.call("conversations.open", users="U404"))["error"] == "user_not_found"
    assert (await api.call("conversations.open"))["error"] == "users_list_not_supplied"


async def test_channels_by_type(api: Api) -> None:
    async def ids(**arguments: Any) -> list[str]:
        return [channel["id"] for channel in (await api.call("conversations.list", **arguments))["channels"]]

    assert await ids() == [GENERAL]
    assert await ids(types="im, public_channel") == [DM, ROBINS_DM, GENERAL]
    assert await ids(types="private_channel") == []
    info = (await api.call("conversations.info", channel=GENERAL))["channel"]
    assert (info["name"], info["is_member"], info["num_members"]) == ("general", True, 3)
    members = (await api.call("conversations.members", channel=GENERAL))["members"]
    assert members == [ALEX.id, ROBIN.id, "U00000BOT"]


async def test_people_have_their_zones(api: Api) -> None:
    user = (await api.call("users.info", user=ALEX.id))["user"]
    assert {key: user[key] for key in ("tz", "tz_label", "tz_offset", "is_bot", "real_name")} == {
        "tz": "Europe/Amsterdam",
        "tz_label": "CET",
        "tz_offset": 3600,
        "is_bot": False,
        "real_name": "Alex Morgan",
    }
    api.clock.forward(days=180)
    summer = (await api.call("users.info", user=ALEX.id))["user"]
    assert (summer["tz_label"], summer["tz_offset"]) == ("CEST", 7200)
    assert (await api.call("users.info", user="U404"))["error"] == "user_not_found"


async def test_people_are_found_by_mail(api: Api) -> None:
    assert (await api.call("users.lookupByEmail", email="ROBIN@example.com"))["user"]["id"] == ROBIN.id
    assert (await api.call("users.lookupByEmail", email="x@example.com"))["error"] == "users_not_found"
    members = (await api.call("users.list"))["members"]
    assert [member["id"] for member in members] == [ALEX.id, ROBIN.id, "U00000BOT"]


async def test_reactions(api: Api) -> None:
    ts = await api.say("done")
    target = {"channel": DM, "timestamp": ts, "name": "white_check_mark"}
    assert await api.call("reactions.add", **target) == {"ok": True}
    assert (await api.call("reactions.add", **target))["error"] == "already_reacted"
    await api.act("react", channel=DM, ts=ts, name="white_check_mark")
    found = (await api.call("reactions.get", channel=DM, timestamp=ts))["message"]["reactions"]
    assert found == [{"name": "white_check_mark", "users": ["U00000BOT", ALEX.id], "count": 2}]
    assert await api.call("reactions.remove", **target) == {"ok": True}
    assert (await api.call("reactions.remove", **target))["error"] == "no_reaction"
    assert (await api.call("reactions.add", **{**target, "name": "not one"}))["error"] == "invalid_name"
    assert (await api.call("reactions.add", name="x"))["error"] == "no_item_specified"


async def test_the_team_and_its_bot(api: Api) -> None:
    assert (await api.call("bots.info", bot="B0000LOCAL")) == {
        "ok": True,
        "bot": api.workspace.directory.bot_profile(),
    }
    assert (await api.call("bots.info", bot="B404"))["error"] == "bot_not_found"
    assert (await api.call("team.info"))["error"] == "missing_scope"
    assert (await api.call("users.profile.get", user=ALEX.id))["profile"]["display_name"] == "alex"
