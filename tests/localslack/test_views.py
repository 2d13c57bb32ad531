"""views.*: triggers, the stack of three, hashes, external ids, Home."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from tests.localslack.workspaces import ALEX, MANIFEST, ROBIN, Api, home, modal, plain, section, text_input


def trigger(api: Api, user: str = ALEX.id) -> str:
    return api.workspace.triggers.issue(user)


async def open_view(api: Api, method: str = "views.open", **more: Any) -> dict[str, Any]:
    answer = await api.call(method, trigger_id=trigger(api), view=modal(**more))
    assert answer["ok"] is True, answer
    return dict(answer["view"])


async def error(api: Api, method: str, **arguments: Any) -> str | None:
    return (await api.call(method, **arguments)).get("error")


async def stack(api: Api, user: str = ALEX.id) -> list[str]:
    return [view["id"] for view in (await api.see("modals", user=user))["stack"]]


async def test_a_trigger_is_good_once_and_for_three_seconds(api: Api) -> None:
    first = trigger(api)
    assert await error(api, "views.open", trigger_id=first, view=modal()) is None
    assert await error(api, "views.open", trigger_id=first, view=modal()) == "exchanged_trigger_id"
    late = trigger(api)
    api.clock.forward(seconds=3)
    assert await error(api, "views.open", trigger_id=late, view=modal()) is None
    too_late = trigger(api)
    api.clock.forward(seconds=3, microseconds=1)
    assert await error(api, "views.open", trigger_id=too_late, view=modal()) == "expired_trigger_id"
    assert await error(api, "views.open", trigger_id="1.2.3", view=modal()) == "invalid_trigger_id"
    assert await error(api, "views.open", view=modal()) == "invalid_arguments"


async def test_a_form_that_is_refused_does_not_cost_the_trigger(api: Api) -> None:
    given = trigger(api)
    assert await error(api, "views.open", trigger_id=given, view=modal(title=plain("x" * 25))) == "invalid_arguments"
    assert await error(api, "views.open", trigger_id=given, view=modal()) is None


async def test_the_view_that_comes_back(api: Api) -> None:
    view = await open_view(api, private_metadata="plan 7", notify_on_close=True)
    assert {key: value for key, value in view.items() if key not in {"id", "hash", "root_view_id"}} == {
        "team_id": "T0000LOCAL",
        "type": "modal",
        "blocks": [text_input()],
        "private_metadata": "plan 7",
        "callback_id": "form",
        "external_id": "",
        "state": {"values": {"title": {"value": {"type": "plain_text_input", "value": None}}}},
        "title": plain("A form"),
        "submit": plain("Save"),
        "close": None,
        "clear_on_close": False,
        "notify_on_close": True,
        "submit_disabled": False,
        "previous_view_id": None,
        "app_id": "A0000LOCAL",
        "app_installed_team_id": "T0000LOCAL",
        "bot_id": "B0000LOCAL",
    }
    assert view["root_view_id"] == view["id"]


async def test_three_forms_and_no_more(api: Api) -> None:
    views = [await open_view(api), await open_view(api, "views.push"), await open_view(api, "views.push")]
    assert await stack(api) == [view["id"] for view in views]
    assert [view["previous_view_id"] for view in views] == [None, views[0]["id"], views[1]["id"]]
    assert {view["root_view_id"] for view in views} == {views[0]["id"]}
    assert await error(api, "views.push", trigger_id=trigger(api), view=modal()) == "push_limit_reached"
    assert await stack(api, ROBIN.id) == []


async def test_there_is_nothing_to_push_onto(api: Api) -> None:
    assert await error(api, "views.push", trigger_id=trigger(api), view=modal()) == "not_found"


async def test_opening_anew_replaces_what_was_open(api: Api) -> None:
    await open_view(api)
    await open_view(api, "views.push")
    fresh = await open_view(api)
    assert await stack(api) == [fresh["id"]]


async def test_an_update_by_hash(api: Api) -> None:
    view = await open_view(api)
    renamed = {"view_id": view["id"], "view": modal(title=plain("New")), "hash": view["hash"]}
    after = (await api.call("views.update", **renamed))["view"]
    assert (after["id"], after["title"], after["hash"] != view["hash"]) == (view["id"], plain("New"), True)
    assert await error(api, "views.update", **renamed) == "hash_conflict"
    del renamed["hash"]
    assert await error(api, "views.update", **renamed) is None


async def test_what_is_updated_must_be_named_once(api: Api) -> None:
    view = await open_view(api, external_id="plan-7")
    assert await error(api, "views.update", view=modal()) == "invalid_arguments"
    both = {"view_id": view["id"], "external_id": "plan-7"}
    assert await error(api, "views.update", **both, view=modal()) == "invalid_arguments"
    assert await error(api, "views.update", view_id="V404", view=modal()) == "not_found"
    assert await error(api, "views.update", external_id="plan-8", view=modal()) == "not_found"
    assert await error(api, "views.update", external_id="plan-7", view=modal(external_id="plan-7")) is None
    assert await error(api, "views.update", view_id=view["id"], view=home()) == "invalid_arguments"


async def test_external_ids_are_unique(api: Api) -> None:
    await open_view(api, external_id="plan-7")
    taken = {"trigger_id": trigger(api), "view": modal(external_id="plan-7")}
    assert await error(api, "views.push", **taken) == "duplicate_external_id"
    assert await error(api, "views.open", trigger_id=trigger(api), view=modal(external_id="plan-7")) is None


async def test_typed_values_survive_an_update_where_the_ids_stay(api: Api) -> None:
    view = await open_view(api)
    typed = {"title": {"value": {"type": "plain_text_input", "value": "write report"}}}
    api.workspace.modals.remember(view, typed)
    kept = (await api.call("views.update", view_id=view["id"], view=modal(text_input(), section())))["view"]
    assert kept["state"]["values"] == typed
    fresh = (await api.call("views.update", view_id=view["id"], view=modal(text_input("title2"))))["view"]
    assert fresh["state"]["values"] == {"title2": {"value": {"type": "plain_text_input", "value": None}}}


async def test_home_is_published_and_kept(api: Api) -> None:
    first = (await api.call("views.publish", user_id=ALEX.id, view=home()))["view"]
    assert (await api.see("home"))["view"] == first
    second = await api.call("views.publish", user_id=ALEX.id, view=home(section("Later")), hash=first["hash"])
    assert (second["view"]["id"], second["view"]["hash"] != first["hash"]) == (first["id"], True)
    stale = await error(api, "views.publish", user_id=ALEX.id, view=home(), hash=first["hash"])
    assert stale == "hash_conflict"
    assert (await api.see("home", user=ROBIN.id)) == {"view": None}
    assert await error(api, "views.publish", user_id="U404", view=home()) == "user_not_found"


async def test_home_must_be_switched_on(tmp_path: Path) -> None:
    manifest = copy.deepcopy(MANIFEST)
    manifest["features"]["app_home"]["home_tab_enabled"] = False
    api = Api(tmp_path, manifest)
    assert await error(api, "views.publish", user_id=ALEX.id, view=home()) == "not_enabled"
    await api.close()


async def test_everything_a_person_sees_is_there_after_a_restart(api: Api) -> None:
    parent = await api.say("plan my day")
    await api.post("on it", thread_ts=parent)
    await api.call("chat.postEphemeral", channel=parent and "C0000GENERAL", user=ALEX.id, text="psst")
    await api.call("views.publish", user_id=ALEX.id, view=home())
    view = await open_view(api)
    await open_view(api, "views.push")
    api.workspace.modals.remember(view, {"title": {"value": {"type": "plain_text_input", "value": "typed"}}})

    async def take_snapshot() -> list[dict[str, Any]]:
        return [
            await api.see("messages", channel="D0000ALEX"),
            await api.see("messages", channel="D0000ALEX", thread_ts=parent),
            await api.see("messages", channel="C0000GENERAL"),
            await api.see("home"),
            await api.see("modals"),
            await api.see("state"),
        ]

    before = await take_snapshot()
    api.reopen()
    assert await take_snapshot() == before
    assert len(before[4]["stack"]) == 2
