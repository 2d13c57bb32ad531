"""The reading of each of Slack's payloads. Wording as in Slack's own examples."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

import pytest
from tests.factories.listeners import Call, dispatch

from fateforger.session.cards import Button, Card, Choice, Control, Controls, DatePick, Menu, Prose, Select, TimePick
from fateforger.session.forms import ChoiceField, Click, Form, FormRequest, TextField
from fateforger.slack.blocks import render
from fateforger.slack.forms import modal
from fateforger.slack.ids import WELCOME, FormAddress
from fateforger.slack.payloads import MessageSaid, OpenForm, Place, command_id
from fateforger.ui.home_card import ERASE

AT = datetime(2026, 3, 5, 8, tzinfo=UTC)
Json = dict[str, Any]


def event(**fields: Any) -> Json:
    return {
        "type": "event_callback",
        "team_id": "T1",
        "event_id": "Ev1",
        "authorizations": [{"team_id": "T1", "user_id": "UBOT", "is_bot": True, "is_enterprise_install": False}],
        "event": fields,
    }


def message(**fields: Any) -> Json:
    given = {
        "type": "message",
        "channel": "C1",
        "user": "U1",
        "text": "hello",
        "ts": "10.000200",
        "channel_type": "channel",
    }
    return event(**(given | fields))


def build_press(
    *controls: Any, at: int = 0, chosen: Json | None = None, beside: bool = False, v: str = "v1", **more: Any
) -> Json:
    """Return a ``block_actions`` payload of a control on a rendered card in the thread 1.0."""
    parts = (Prose(text="Row", control=controls[0]),) if beside else (Controls(items=controls),)
    (block,) = render(Card(text="Card", parts=parts), session="s1", v=v).blocks
    element = block["accessory"] if beside else block["elements"][at]
    action = {
        "type": element["type"],
        "action_id": element["action_id"],
        "block_id": block["block_id"],
        "action_ts": "12.0",
    }
    if "value" in element:
        action["value"] = element["value"]
    return {
        "type": "block_actions",
        "user": {"id": "U1", "team_id": "T1"},
        "team": {"id": "T1"},
        "channel": {"id": "C1"},
        "container": {"type": "message", "message_ts": "11.0", "channel_id": "C1", "thread_ts": "1.0"},
        "trigger_id": "trigger",
        "actions": [action | (chosen or {})],
    } | more


def of(payload: Json) -> Call | None:
    return dispatch(payload, AT)


def parse_given(payload: Json, name: str) -> Json:
    """Return the arguments that a payload gives to the handler of this name."""
    call = of(payload)
    assert call is not None
    assert call.name == name
    return call.given


def parse_message(payload: Json) -> MessageSaid:
    heard = parse_given(payload, "RequestHandler.hear")["said"]
    assert isinstance(heard, MessageSaid)
    return heard


def click(payload: Json) -> Click:
    made = parse_given(payload, "RequestHandler.click")["click"]
    assert isinstance(made, Click)
    return made


# --- messages -------------------------------------------------------------------------------------------------


def test_a_reply_in_a_thread() -> None:
    assert parse_message(message(thread_ts="1.0", text="<@UBOT> move lunch &amp; gym")) == MessageSaid(
        command_id=command_id("message", "T1", "C1", "10.000200"),
        user_id="U1",
        channel="C1",
        thread_ts="1.0",
        ts="10.000200",
        text="move lunch & gym",
        event="message",
        direct=False,
        mention=True,
        opens=False,
    )


def test_a_direct_message_opens_a_thread() -> None:
    heard = parse_message(message(channel="D1", channel_type="im"))
    assert (heard.thread_ts, heard.opens, heard.direct, heard.mention) == ("10.000200", True, True, False)


def test_a_mention_and_its_message_are_one() -> None:
    pair = [parse_message(message(type=kind, text="<@UBOT> hi", event_ts="x")) for kind in ("message", "app_mention")]
    assert [(s.command_id, s.mention, s.event) for s in pair] == [
        (command_id("message", "T1", "C1", "10.000200"), True, "message"),
        (command_id("message", "T1", "C1", "10.000200"), True, "app_mention"),
    ]


@pytest.mark.parametrize(
    "fields",
    [
        {"user": "UBOT"},
        {"bot_id": "B1"},
        {"user": None},
        {"subtype": "message_changed", "message": {"text": "x"}},
        {"subtype": "message_deleted"},
        {"subtype": "channel_join"},
        {"subtype": "bot_message"},
    ],
)
def test_what_no_person_wrote_is_ignored(fields: Json) -> None:
    assert of(message(**fields)) is None


@pytest.mark.parametrize("subtype", [None, "file_share", "me_message", "thread_broadcast"])
def test_what_a_person_wrote_is_heard(subtype: str | None) -> None:
    assert parse_message(message(subtype=subtype)).text == "hello"


def rich(*parts: Json) -> list[Json]:
    return [{"type": "rich_text", "block_id": "b", "elements": list(parts)}]


def line(*elements: Json, kind: str = "rich_text_section") -> Json:
    return {"type": kind, "elements": list(elements)}


def words(text: str, **style: bool) -> Json:
    return {"type": "text", "text": text} | ({"style": style} if style else {})


LISTED = rich(
    line({"type": "user", "user_id": "UBOT"}, words(" my "), words("list", bold=True), words(":\n")),
    {
        "type": "rich_text_list",
        "style": "bullet",
        "indent": 0,
        "elements": [line(words("Report", bold=True), words(" 2 h")), line(words("R&D with "), {"type": "user", "user_id": "U2"})],
    },
    {"type": "rich_text_list", "style": "ordered", "indent": 1, "elements": [line(words("mail", strike=True))]},
    line(words("Gym at 18:30 "), {"type": "emoji", "name": "muscle", "unicode": "1f4aa"}, {"type": "emoji", "name": "ours"}),
    line(words("as you said\nyesterday"), kind="rich_text_quote"),
    line(words("make test"), kind="rich_text_preformatted"),
    line({"type": "link", "url": "https://example.com", "text": "the page"}, words(" "), {"type": "link", "url": "mailto:a@b.c"}),
)  # fmt: skip


def test_what_slacks_editor_wrote_is_read_as_plain_words() -> None:
    """S464: no mark of a list or a style gets into a title."""
    text = "<@UBOT> my *list*:\n• *Report* 2 h"
    assert parse_message(message(text=text, blocks=LISTED)).text.splitlines() == [
        "my list:",
        "Report 2 h",
        "R&D with @U2",
        "~mail~",
        "Gym at 18:30 💪:ours:",
        "> as you said",
        "> yesterday",
        "make test",
        "the page a@b.c",
    ]
    assert parse_message(message(text=text, blocks=LISTED)).mention


@pytest.mark.parametrize(
    "blocks",
    [
        None,
        [],
        "x",
        [{"type": "section"}],
        [*LISTED, {"type": "divider"}],
        rich({}),
        rich(line({"type": "new"})),
        rich(line({"type": "emoji", "name": "x", "unicode": "d800"})),
        rich(line({"type": "emoji", "name": "x", "unicode": "f" * 30})),
    ],
)
def test_other_blocks_leave_the_text(blocks: Any) -> None:
    assert parse_message(message(text="a &lt; b", blocks=blocks)).text == "a < b"


@pytest.mark.parametrize(
    ("fields", "attached"),
    [
        ({"files": [{"id": "F1"}]}, True),
        ({"attachments": [{"is_share": True, "text": "Can you call?"}]}, True),
        ({"attachments": [{"title": "a preview"}]}, False),
        ({}, False),
    ],
)
def test_what_comes_with_a_message_is_noticed(fields: Json, attached: bool) -> None:  # noqa: FBT001  a parameter
    """S465"""
    assert parse_message(message(**fields)).attached is attached


# --- starting -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["/pull", "/tasks", "/week", "/task-refine"])
def test_the_commands_of_the_queue(command: str) -> None:
    """S157, S158"""
    payload = {
        "command": command,
        "text": " ff-4k7w9c ",
        "channel_id": "C1",
        "user_id": "U1",
        "trigger_id": "t1",
        "is_enterprise_install": "false",
    }
    expected = {
        "command_id": command_id("slash", "t1"),
        "user_id": "U1",
        "asked": Place("C1"),
        "name": command,
        "said": "ff-4k7w9c",
    }
    assert parse_given(payload, "RequestHandler.ask") == expected


def test_a_message_is_saved_as_a_task() -> None:
    payload: Json = {
        "type": "message_action",
        "callback_id": "save_as_task",
        "user": {"id": "U1"},
        "trigger_id": "t1",
        "channel": {"id": "C1"},
        "message": {"ts": "2.0", "text": "Call &lt;the bank&gt;", "user": "U2"},
    }
    request = FormRequest(
        form="queue_save",
        session_id="",
        user_id="U1",
        target='{"channel":"C1","ts":"2.0"}',
        chosen={"text": "Call <the bank>"},
    )
    opened = {"request": request, "trigger_id": "t1", "place": Place("C1"), "below": None}
    assert parse_given(payload, "FormHandler.open") == opened
    assert of({**payload, "callback_id": "other"}) is None
    payload["message"] |= {
        "text": "*Call* the bank",
        "blocks": rich(line(words("Call", bold=True), words(" the bank"))),
    }
    assert parse_given(payload, "FormHandler.open")["request"].chosen == {"text": "Call the bank"}


@pytest.mark.parametrize(("session", "replaced"), [("", "2.0"), ("s1", None)])
@pytest.mark.parametrize("action", ["queue.pull", "memory.keep", "undo_memory"])
def test_a_control_outside_of_a_plan_says_which_message_its_answer_takes_the_place_of(
    action: str, session: str, replaced: str | None
) -> None:
    """The queue that the card of a plan opens is shown next to that card (S276)."""
    (block,) = render(
        Card(text="Card", parts=(Controls(items=(Button(label="Pull", action=action, target="ff-4k7w9c"),)),)),
        session=session,
        v="v1",
    ).blocks
    element = block["elements"][0]
    used = parse_given(
        {
            "type": "block_actions",
            "user": {"id": "U1"},
            "channel": {"id": "D1"},
            "container": {"type": "message", "message_ts": "2.0"},
            "trigger_id": "t",
            "actions": [{k: element[k] for k in ("type", "action_id", "value")} | {"block_id": block["block_id"]}],
        },
        "RequestHandler.click",
    )
    click = used["click"]
    assert (used["replaced"], click.action, click.target) == (replaced, action, "ff-4k7w9c")


def test_the_slash_command() -> None:
    payload = {"command": "/timebox", "text": " 2026-03-06 ", "user_id": "U1", "channel_id": "C1", "trigger_id": "t1"}
    expected = {
        "command_id": command_id("slash", "t1"),
        "user_id": "U1",
        "asked": Place("C1"),
        "said": "2026-03-06",
        "unread": "",
        "welcome_ts": None,
        "press": None,
    }
    assert parse_given(payload, "RequestHandler.start") == expected
    assert of(payload | {"command": "/other"}) is None


def parse_start(payload: Json) -> Json:
    return parse_given(payload, "RequestHandler.press_start")


def test_the_shortcut() -> None:
    payload = {"type": "shortcut", "callback_id": "start", "user": {"id": "U1"}, "trigger_id": "t1"}
    expected = {
        "command_id": command_id("shortcut", "t1"),
        "user_id": "U1",
        "asked": Place(None),
        "unread": "",
        "welcome_ts": None,
        "press": None,
    }
    assert parse_start(payload) == expected
    assert of(payload | {"callback_id": "other"}) is None


def test_the_start_button_of_a_welcome_starts_in_its_thread_and_any_other_starts_anew() -> None:
    start = Button(label="Plan my day", action="start")
    welcome, ended = parse_start(build_press(start, v=WELCOME)), parse_start(build_press(start))
    assert (welcome["asked"], welcome["welcome_ts"]) == (Place("C1", "1.0"), "11.0")
    assert (ended["asked"], ended["welcome_ts"]) == (Place("C1"), None)


def test_each_person_starts_for_themselves() -> None:
    start = Button(label="Plan my day", action="start")
    ids = [parse_start(build_press(start, user={"id": user}))["command_id"] for user in ("U1", "U1", "U2")]
    assert ids[0] == ids[1] != ids[2]


def test_a_start_from_app_home_has_no_channel() -> None:
    home: Json = {
        "channel": None,
        "container": {"type": "view", "view_id": "V1"},
        "view": {"id": "V1", "type": "home", "hash": "h"},
    }
    assert parse_start(build_press(Button(label="Plan", action="start"), **home))["asked"] == Place(None)


def test_what_is_asked_about_oneself_is_the_wish_of_whoever_pressed() -> None:
    """The same button pressed twice is one wish, and the click of another person is another wish."""
    asked = [parse_given(build_press(ERASE, user={"id": user}), "RequestHandler.about") for user in ("U1", "U1", "U2")]
    assert [(one["user_id"], one["wish"]) for one in asked] == [
        ("U1", "person.erase"), ("U1", "person.erase"), ("U2", "person.erase"),
    ]  # fmt: skip
    assert asked[0] == asked[1] != asked[2]


# --- controls -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (build_press(Button(label="Later", action="shift", target="b1")), ("shift", "b1", None)),
        (
            build_press(
                Menu(target="b1", choices=(Choice(label="Up", value="up"), Choice(label="Down", value="down"))),
                beside=True,
                chosen={"selected_option": {"value": '{"action":"down","target":"b1"}'}},
            ),
            ("down", "b1", None),
        ),
        (
            build_press(
                Select(action="zone", placeholder="Zone", choices=(Choice(label="UTC", value="Etc/UTC"),)),
                chosen={"selected_option": {"value": "Etc/UTC"}},
            ),
            ("zone", "", "Etc/UTC"),
        ),
        (
            build_press(DatePick(action="date", selected=date(2026, 3, 5)), chosen={"selected_date": "2026-03-06"}),
            ("date", "", date(2026, 3, 6)),
        ),
        (
            build_press(TimePick(action="from", placeholder="When"), chosen={"selected_time": "09:30"}),
            ("from", "", time(9, 30)),
        ),
        (
            build_press(TimePick(action="from", placeholder="When"), chosen={"selected_time": "00:00"}),
            ("from", "", time(0, 0)),
        ),
    ],
    ids=["button", "menu", "select", "date", "time", "midnight"],
)
def test_a_control(payload: Json, expected: tuple[str, str, Any]) -> None:
    assert parse_given(payload, "RequestHandler.click")["place"] == Place("C1", "1.0")
    made = click(payload)
    assert (made.session_id, made.user_id, made.at) == ("s1", "U1", AT)
    assert (made.action, made.target, made.value) == expected


def test_a_double_click_is_one_click() -> None:
    button = Button(label="Later", action="shift", target="b1")
    first, again = build_press(button), build_press(button)
    again["actions"][0]["action_ts"] = "12.5"
    assert click(first) == click(again)


@pytest.mark.parametrize(
    "other",
    [
        build_press(Button(label="Later", action="shift", target="b2")),
        build_press(Button(label="Later", action="shift", target="b1"), v="v2"),
        build_press(
            Button(label="Later", action="shift", target="b1"), container={"type": "message", "message_ts": "12.0"}
        ),
        build_press(Button(label="x", action="x"), Button(label="Later", action="shift", target="b1"), at=1),
    ],
    ids=["target", "rendering", "message", "element"],
)
def test_another_click_is_another(other: Json) -> None:
    assert click(build_press(Button(label="Later", action="shift", target="b1"))).command_id != click(other).command_id


def test_another_choice_is_another_click() -> None:
    pick = DatePick(action="date", selected=date(2026, 3, 5))
    ids = [
        click(build_press(pick, chosen={"selected_date": day})).command_id
        for day in ("2026-03-06", "2026-03-06", "2026-03-07")
    ]
    assert ids[0] == ids[1] != ids[2]


def test_a_click_on_the_root_belongs_to_its_thread() -> None:
    container = {"type": "message", "message_ts": "11.0", "channel_id": "C1"}
    clicked = parse_given(build_press(Button(label="Go", action="go"), container=container), "RequestHandler.click")
    assert clicked["place"] == Place("C1", "11.0")


def test_a_control_that_asks_for_a_form() -> None:
    request = FormRequest(form="edit", session_id="s1", user_id="U1", target="b1")
    opened = parse_given(build_press(Button(label="Edit", action="form.edit", target="b1")), "FormHandler.open")
    assert opened == {"request": request, "trigger_id": "trigger", "place": Place("C1", "1.0"), "below": None}


def test_a_select_that_asks_for_a_form_says_what_about() -> None:
    select = Select(action="form.task", placeholder="More", choices=(Choice(label="Write", value="t7"),))
    request = FormRequest(form="task", session_id="s1", user_id="U1", target="t7")
    opened = parse_given(build_press(select, chosen={"selected_option": {"value": "t7"}}), "FormHandler.open")
    assert opened == {"request": request, "trigger_id": "trigger", "place": Place("C1", "1.0"), "below": None}


def parse_refresh(payload: Json) -> Json:
    return parse_given(payload, "FormHandler.refresh")


def test_the_button_for_more_rows() -> None:
    view = {
        "id": "V1",
        "type": "modal",
        "hash": "h1",
        "private_metadata": FormAddress(form="tasks", session="s1", target="t", size=2).pack(),
    }
    payload = build_press(
        Button(label="x", action="x"),
        channel=None,
        container={"type": "view", "view_id": "V1"},
        view=view,
        actions=[{"type": "button", "action_id": "more#0", "block_id": "more", "action_ts": "1"}],
    )
    request = FormRequest(form="tasks", session_id="s1", user_id="U1", target="t", size=3)
    here = OpenForm(FormAddress(form="tasks", session="s1", target="t", size=2), "V1")
    assert parse_refresh(payload) == {"request": request, "shown": here}
    payload["actions"][0]["action_id"] = "other"
    assert of(payload) is None


LIST = FormAddress(form="rules", session="s1", target="page 1")
ROW = FormAddress(form="rule", session="s1", target="u7", below=LIST)


def in_form(control: Control, *, chosen: Json | None = None) -> Json:
    """Return a ``block_actions`` payload of a control in a form above a list, with a text in another field."""
    fields = (TextField(name="words", label="Words", edition=2), Prose(text="Row", control=control))
    view = modal(Form(form="rule", session_id="s1", target="u7", title="Rule", submit="Save", fields=fields), LIST)
    entered = {"field.words~2": {"value": {"type": "plain_text_input", "value": "gym"}}}
    placed = view["blocks"][1]
    action = {"type": placed["accessory"]["type"], "action_ts": "1", "block_id": placed["block_id"], **(chosen or {})}
    action |= {name: placed["accessory"][name] for name in ("action_id", "value") if name in placed["accessory"]}
    return {
        "type": "block_actions",
        "user": {"id": "U1"},
        "trigger_id": "trigger",
        "container": {"type": "view", "view_id": "V2"},
        "view": view
        | {"id": "V2", "hash": "h1", "previous_view_id": "V1", "root_view_id": "V1", "state": {"values": entered}},
        "actions": [action],
    }


ABOVE = OpenForm(ROW, "V2", below=(OpenForm(LIST, "V1"),))


def test_a_control_that_turns_a_form_says_what_was_chosen_and_typed() -> None:
    request = FormRequest(form="rule", session_id="s1", user_id="U1", target="u7")
    turned = in_form(Button(label="Next", action="turn.page", target="2"))
    expected = request.model_copy(update={"chosen": {"words": "gym", "page": "2"}})
    assert parse_refresh(turned) == {"request": expected, "shown": ABOVE}
    select = Select(action="turn.status", placeholder="All", choices=(Choice(label="Confirmed", value="locked"),))
    turned = in_form(select, chosen={"selected_option": {"value": "locked"}})
    expected = request.model_copy(update={"chosen": {"words": "gym", "status": "locked"}})
    assert parse_refresh(turned) == {"request": expected, "shown": ABOVE}


def test_a_field_that_turns_its_form() -> None:
    kinds = ChoiceField(name="kind", label="Kind", choices=(Choice(label="Words", value="words"),), turns=True)
    payload = in_form(Button(label="x", action="x"))
    (block,) = modal(Form(form="rule", session_id="s1", title="Rule", submit="Save", fields=(kinds,)))["blocks"]
    assert block["dispatch_action"] is True
    chosen = {"type": "radio_buttons", "selected_option": {"value": "words"}}
    payload["view"]["state"]["values"]["field.kind"] = {"value": chosen}
    payload["actions"] = [{"block_id": "field.kind", "action_id": "value", "action_ts": "1", **chosen}]
    request = FormRequest(
        form="rule", session_id="s1", user_id="U1", target="u7", chosen={"words": "gym", "kind": "words"}
    )
    assert parse_refresh(payload) == {"request": request, "shown": ABOVE}


def test_a_form_over_a_form() -> None:
    """S35: the form of a row is above the list."""
    payload = in_form(Button(label="Replace", action="form.rule_new", target="u7"))
    request = FormRequest(form="rule_new", session_id="s1", user_id="U1", target="u7")
    opened = {"request": request, "trigger_id": "trigger", "place": Place(None), "below": ROW}
    assert parse_given(payload, "FormHandler.open") == opened


def test_all_forms_under_the_third_are_known() -> None:
    payload = in_form(Button(label="x", action="x"))
    third = FormAddress(form="rule_new", session="s1", target="u7", below=ROW)
    payload["view"] |= {"id": "V3", "previous_view_id": "V2", "private_metadata": third.pack()}
    assert parse_given(payload, "FormHandler.press")["form"].below == (OpenForm(ROW, "V2"), OpenForm(LIST, "V1"))


def test_a_command_in_a_form() -> None:
    """A repeated click is the same one; the same button of the form as it is later is another one."""
    payload = in_form(Button(label="Decline", action="memory.decline", target="u7 3"))
    pressed = parse_given(payload, "FormHandler.press")
    click = pressed["click"]
    expected = Click(
        command_id=click.command_id,
        user_id="U1",
        at=AT,
        session_id="s1",
        action="memory.decline",
        target="u7 3",
    )
    assert pressed == {"click": expected, "form": ABOVE}
    assert parse_given(payload, "FormHandler.press") == pressed
    payload["view"]["hash"] = "h2"
    assert parse_given(payload, "FormHandler.press")["click"].command_id != click.command_id


# --- the rest -------------------------------------------------------------------------------------------------


def test_app_home() -> None:
    home = event(type="app_home_opened", user="U1", channel="D1", tab="home")
    assert of(home) == Call("Home.open", {"user_id": "U1"})
    messages = event(type="app_home_opened", user="U1", channel="D1", tab="messages")
    assert of(messages) == Call("RequestHandler.meet", {"user_id": "U1", "channel": "D1"})


def test_slacks_own_stop_button() -> None:
    stop = event(type="agent_session_stopped", user="U1", channel="D1", thread_ts="1.0", event_ts="2.0")
    expected = {
        "command_id": command_id("stop", "D1", "1.0", "2.0"),
        "user_id": "U1",
        "place": Place("D1", "1.0"),
        "session_id": None,
    }
    assert of(stop) == Call("RequestHandler.stop", expected)


def test_the_stop_button_of_a_card_names_its_session_and_turn() -> None:
    expected = {
        "command_id": command_id("stop", "s1", "turn 7"),
        "user_id": "U1",
        "place": Place("C1", "1.0"),
        "session_id": "s1",
    }
    stop = build_press(Button(label="Stop", action="turn.stop", target="turn 7"))
    assert of(stop) == Call("RequestHandler.stop", expected)


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"type": "block_suggestion"},
        {"type": "view_closed", "view": {}},
        {"type": "block_actions"},
        {"type": "event_callback", "team_id": "T1"},
        {"command": "/timebox"},
        event(type="reaction_added", user="U1"),
        event(type="message", channel="C1"),
        build_press(
            Button(label="x", action="x"), actions=[{"type": "button", "action_id": "theirs", "block_id": "b"}]
        ),
        build_press(
            Button(label="x", action="x"), actions=[{"type": "button", "action_id": "a", "block_id": "b", "value": "1"}]
        ),
        build_press(DatePick(action="date", selected=date(2026, 3, 5)), chosen={"selected_date": None}),
    ],
)
def test_what_is_not_ours_is_ignored(payload: Json) -> None:
    assert of(payload) is None


# --- proposals ------------------------------------------------------------------------------------------------


def test_an_answer_to_a_proposal_is_of_whoever_clicked() -> None:
    """Their id is Slack's word for it, and the same button pressed by another person is another answer."""
    apply = Button(label="Apply", action="proposal.apply", target="p1")
    mine = parse_given(build_press(apply), "RequestHandler.answer")
    assert (mine["user_id"], mine["proposal_id"], mine["answer"], mine["place"]) == (
        "U1", "p1", "apply", Place("C1", "1.0"),
    )  # fmt: skip
    assert parse_given(build_press(apply), "RequestHandler.answer") == mine
    theirs = parse_given(build_press(apply, user={"id": "U2", "team_id": "T1"}), "RequestHandler.answer")
    assert (theirs["user_id"], theirs["command_id"] == mine["command_id"]) == ("U2", False)
