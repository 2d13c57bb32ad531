"""Rules of blocks: their shapes, and the allowed places of each kind of block and element."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from tests.localslack.workspaces import actions, button, home, modal, option, plain, section, text_input

from localslack.blocks.surfaces import check_message_blocks, check_view
from localslack.errors import SlackError

Json = dict[str, Any]
RICH = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"type": "text", "text": "x"}]}]}
CARD = {"type": "card", "title": plain("Card")}
CHART = {
    "type": "data_visualization",
    "title": "Load",
    "chart": {
        "type": "bar",
        "series": [{"name": "deep", "data": [{"label": "Mon", "value": 3}]}],
        "axis_config": {"categories": ["Mon"]},
    },
}

BLOCKS: dict[str, Json] = {
    "actions": actions(button()),
    "context": {"type": "context", "elements": [plain("x"), {"type": "mrkdwn", "text": "*y*"}]},
    "divider": {"type": "divider"},
    "header": {"type": "header", "text": plain("x")},
    "image": {"type": "image", "alt_text": "x", "image_url": "https://example.com/x.png"},
    "input": text_input(),
    "rich_text": RICH,
    "section": section(accessory=button()),
    "video": {
        "type": "video",
        "alt_text": "x",
        "title": plain("x"),
        "thumbnail_url": "https://example.com/x.png",
        "video_url": "https://example.com/x",
    },
    "markdown": {"type": "markdown", "text": "**x**"},
    "context_actions": {
        "type": "context_actions",
        "elements": [
            {
                "type": "feedback_buttons",
                "positive_button": {"text": plain("Good"), "value": "up"},
                "negative_button": {"text": plain("Bad"), "value": "down"},
            }
        ],
    },
    "alert": {"type": "alert", "text": plain("x"), "level": "warning"},
    "table": {"type": "table", "rows": [[{"type": "raw_text", "text": "x"}, RICH]], "column_settings": [None]},
    "data_table": {"type": "data_table", "caption": "x", "rows": [[{"type": "raw_number", "value": 1}]] * 2},
    "data_visualization": CHART,
    "card": CARD,
    "carousel": {"type": "carousel", "elements": [CARD]},
    "container": {"type": "container", "title": plain("Today"), "child_blocks": [section()], "is_collapsible": True},
    "task_card": {"type": "task_card", "task_id": "1", "title": "Solve", "status": "complete", "details": RICH},
    "plan": {"type": "plan", "title": "Steps", "tasks": [{"task_id": "1", "title": "Solve"}]},
}
OUTSIDE = {
    "message": {"alert"},
    "modal": {
        "markdown",
        "context_actions",
        "table",
        "data_table",
        "data_visualization",
        "card",
        "carousel",
        "container",
        "task_card",
        "plan",
    },
    "home": {"alert", "markdown", "context_actions", "task_card", "plan"},
}

OPTIONS = [option("a"), option("b")]
ELEMENTS: dict[str, Json] = {
    "button": button(value="x", style="primary", url="https://example.com"),
    "checkboxes": {"type": "checkboxes", "options": OPTIONS, "initial_options": [OPTIONS[1]]},
    "radio_buttons": {"type": "radio_buttons", "options": OPTIONS, "initial_option": OPTIONS[0]},
    "overflow": {"type": "overflow", "options": OPTIONS},
    "datepicker": {"type": "datepicker", "initial_date": "2026-11-02", "placeholder": plain("When")},
    "timepicker": {"type": "timepicker", "initial_time": "08:30", "timezone": "Europe/Amsterdam"},
    "datetimepicker": {"type": "datetimepicker", "initial_date_time": 1_793_606_400},
    "static_select": {"type": "static_select", "options": OPTIONS, "initial_option": OPTIONS[0]},
    "external_select": {"type": "external_select", "min_query_length": 2},
    "users_select": {"type": "users_select", "initial_user": "U0000ALEX"},
    "conversations_select": {"type": "conversations_select", "default_to_current_conversation": True},
    "channels_select": {"type": "channels_select", "response_url_enabled": True},
    "multi_static_select": {
        "type": "multi_static_select",
        "option_groups": [{"label": plain("Group"), "options": OPTIONS}],
        "initial_options": OPTIONS,
    },
    "multi_external_select": {"type": "multi_external_select"},
    "multi_users_select": {"type": "multi_users_select", "max_selected_items": 2},
    "multi_conversations_select": {"type": "multi_conversations_select", "filter": {"include": ["im"]}},
    "multi_channels_select": {"type": "multi_channels_select"},
    "plain_text_input": {
        "type": "plain_text_input",
        "multiline": True,
        "min_length": 1,
        "max_length": 9,
        "dispatch_action_config": {"trigger_actions_on": ["on_enter_pressed"]},
    },
    "number_input": {"type": "number_input", "is_decimal_allowed": False, "min_value": "5", "max_value": "480"},
    "email_text_input": {"type": "email_text_input"},
    "url_text_input": {"type": "url_text_input", "initial_value": "https://example.com"},
    "rich_text_input": {"type": "rich_text_input", "action_id": "notes", "initial_value": RICH},
    "file_input": {"type": "file_input", "filetypes": ["pdf"], "max_files": 2},
}
NOT_AN_INPUT = {"button", "overflow"}
MODAL_ONLY = {"number_input", "email_text_input", "url_text_input", "file_input"}
TYPED = {name for name in ELEMENTS if name.endswith("_input")}


def message_findings(*blocks: Any) -> list[str]:
    try:
        check_message_blocks(list(blocks))
    except SlackError as refused:
        return list(refused.details["errors"])
    return []


def view_findings(view: Any, kind: Literal["modal", "home"] = "modal") -> list[str]:
    try:
        check_view(view, kind)
    except SlackError as refused:
        return list(refused.details["response_metadata"]["messages"])
    return []


def surface_findings(block: Json, surface: str) -> list[str]:
    if surface == "message":
        return message_findings(block)
    found = view_findings(modal(block)) if surface == "modal" else view_findings(home(block), "home")
    return [line.removeprefix("[ERROR] ").replace("/view", "") for line in found]


@pytest.mark.parametrize("surface", ["message", "modal", "home"])
@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_stands_on_its_surfaces_only(name: str, surface: str) -> None:
    allowed = name not in OUTSIDE[surface]
    refused = [f"unsupported type: {name} [json-pointer:/blocks/0/type]"]
    assert surface_findings(BLOCKS[name], surface) == ([] if allowed else refused)


@pytest.mark.parametrize("surface", ["message", "modal", "home"])
@pytest.mark.parametrize("name", [name for name in ELEMENTS if name not in NOT_AN_INPUT])
def test_an_element_in_an_input_block(name: str, surface: str) -> None:
    outside = {"message": MODAL_ONLY | {"rich_text_input"}, "modal": set(), "home": MODAL_ONLY | {"datetimepicker"}}
    refused = [f"unsupported type: {name} [json-pointer:/blocks/0/element/type]"]
    found = surface_findings(text_input(element=ELEMENTS[name]), surface)
    assert found == (refused if name in outside[surface] else [])


@pytest.mark.parametrize("name", ELEMENTS)
def test_an_element_in_an_actions_block(name: str) -> None:
    refused = [f"unsupported type: {name} [json-pointer:/blocks/0/elements/0/type]"]
    assert message_findings(actions(ELEMENTS[name])) == (refused if name in TYPED else [])


@pytest.mark.parametrize("name", ELEMENTS)
def test_an_element_beside_a_section(name: str) -> None:
    refused = [f"unsupported type: {name} [json-pointer:/blocks/0/accessory/type]"]
    outside = TYPED | {"datetimepicker"}
    assert message_findings(section(accessory=ELEMENTS[name])) == (refused if name in outside else [])


WRONG: dict[str, tuple[Any, str]] = {
    "not an object": ("x", "must provide an object [json-pointer:/blocks/0]"),
    "no type": ({}, "missing required field: type [json-pointer:/blocks/0]"),
    "a type that is not a word": ({"type": 3}, "unsupported type: 3 [json-pointer:/blocks/0/type]"),
    "an unknown type": ({"type": "sektion"}, "unsupported type: sektion [json-pointer:/blocks/0/type]"),
    "a field nobody knows": (
        section(colour="red"),
        "invalid additional property: colour [json-pointer:/blocks/0]",
    ),
    "a section of nothing": ({"type": "section"}, "missing required field: text or fields [json-pointer:/blocks/0]"),
    "an empty text": (section(""), "must be more than 0 characters [json-pointer:/blocks/0/text/text]"),
    "a text that is a number": (
        {"type": "section", "text": {"type": "mrkdwn", "text": 7}},
        "must provide a string [json-pointer:/blocks/0/text/text]",
    ),
    "markup where plain text belongs": (
        {"type": "header", "text": {"type": "mrkdwn", "text": "x"}},
        "unsupported type: mrkdwn [json-pointer:/blocks/0/text/type]",
    ),
    "an empty list of elements": (
        {"type": "actions", "elements": []},
        "no fewer than 1 items allowed [json-pointer:/blocks/0/elements]",
    ),
    "elements that are no list": (
        {"type": "actions", "elements": "x"},
        "must provide an array [json-pointer:/blocks/0/elements]",
    ),
    "no elements": ({"type": "actions"}, "missing required field: elements [json-pointer:/blocks/0]"),
    "a style nobody knows": (
        actions(button(style="loud")),
        "must be a valid enum value (primary, danger) [json-pointer:/blocks/0/elements/0/style]",
    ),
    "an emoji flag that is no flag": (
        section(accessory=button(text={**plain("x"), "emoji": 1})),
        "must provide a boolean [json-pointer:/blocks/0/accessory/text/emoji]",
    ),
    "a date that is none": (
        actions({"type": "datepicker", "initial_date": "2026-02-30"}),
        "must be a valid date (YYYY-MM-DD) [json-pointer:/blocks/0/elements/0/initial_date]",
    ),
    "a select of nothing": (
        actions({"type": "static_select"}),
        "must have exactly one of: options, option_groups [json-pointer:/blocks/0/elements/0]",
    ),
    "a choice that is not offered": (
        actions({"type": "static_select", "options": OPTIONS, "initial_option": option("c")}),
        "must match one of the options [json-pointer:/blocks/0/elements/0/initial_option]",
    ),
    "choices of which one is not offered": (
        section(accessory={"type": "checkboxes", "options": OPTIONS, "initial_options": [OPTIONS[0], option("c")]}),
        "must match one of the options [json-pointer:/blocks/0/accessory/initial_options/1]",
    ),
    "lengths the wrong way round": (
        text_input(element={"type": "plain_text_input", "min_length": 5, "max_length": 4}),
        "min_length must not be more than max_length [json-pointer:/blocks/0/element]",
    ),
    "a length below nothing": (
        text_input(element={"type": "plain_text_input", "min_length": -1}),
        "must be at least 0 [json-pointer:/blocks/0/element/min_length]",
    ),
    "a count that is a word": (
        actions({"type": "multi_users_select", "max_selected_items": "2"}),
        "must provide an integer [json-pointer:/blocks/0/elements/0/max_selected_items]",
    ),
    "a picture from nowhere": (
        {"type": "image", "alt_text": "x"},
        "must have exactly one of: image_url, slack_file [json-pointer:/blocks/0]",
    ),
    "a confirmation without its question": (
        actions(button(confirm={"title": plain("x"), "confirm": plain("x"), "deny": plain("x")})),
        "missing required field: text [json-pointer:/blocks/0/elements/0/confirm]",
    ),
    "an element in rich text that is none": (
        {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [{"type": "blink"}]}]},
        "unsupported type: blink [json-pointer:/blocks/0/elements/0/elements/0/type]",
    ),
    "a box closed for good": (
        {**BLOCKS["container"], "default_collapsed": True, "is_collapsible": False},
        "default_collapsed needs is_collapsible [json-pointer:/blocks/0/default_collapsed]",
    ),
    "a box in a box": (
        {**BLOCKS["container"], "child_blocks": [BLOCKS["container"]]},
        "unsupported type: container [json-pointer:/blocks/0/child_blocks/0/type]",
    ),
    "a form field for mail in a message's box": (
        {**BLOCKS["container"], "child_blocks": [text_input(element=ELEMENTS["email_text_input"])]},
        "unsupported type: email_text_input [json-pointer:/blocks/0/child_blocks/0/element/type]",
    ),
    "a cell of another kind": (
        {"type": "table", "rows": [[{"type": "raw_number", "value": 1}]]},
        "unsupported type: raw_number [json-pointer:/blocks/0/rows/0/0/type]",
    ),
    "a value that is no number": (
        {**CHART, "chart": {"type": "pie", "segments": [{"label": "deep", "value": "3"}]}},
        "must provide a number [json-pointer:/blocks/0/chart/segments/0/value]",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_named_with_its_place(name: str) -> None:
    block, expected = WRONG[name]
    assert message_findings(block) == [expected]


def test_every_finding_is_reported() -> None:
    assert message_findings(section(""), {"type": "nope"}) == [
        "must be more than 0 characters [json-pointer:/blocks/0/text/text]",
        "unsupported type: nope [json-pointer:/blocks/1/type]",
    ]


def test_block_ids_are_unique_even_inside_boxes() -> None:
    boxed = {**BLOCKS["container"], "child_blocks": [section(block_id="a")]}
    assert message_findings(section(block_id="a"), boxed) == [
        'block_id "a" already exists [json-pointer:/blocks/1/child_blocks/0/block_id]'
    ]


def test_action_ids_are_unique_within_a_block_only() -> None:
    assert message_findings(actions(button("go")), actions(button("go"))) == []
    assert message_findings(actions(button("go"), button("go"))) == [
        'action_id "go" already exists [json-pointer:/blocks/0/elements/1/action_id]'
    ]


def test_one_table_a_message() -> None:
    assert message_findings(BLOCKS["table"], BLOCKS["data_table"]) == [
        "only one table allowed [json-pointer:/blocks/1]"
    ]


def test_one_focus_a_view() -> None:
    def build_focused_input(block_id: str) -> Json:
        return text_input(block_id, element={"type": "plain_text_input", "focus_on_load": True})

    assert view_findings(modal(build_focused_input("a"), build_focused_input("b"))) == [
        "[ERROR] only one element may have focus_on_load [json-pointer:/view/blocks/1]"
    ]


def test_a_file_field_does_not_dispatch() -> None:
    block = text_input(element=ELEMENTS["file_input"], dispatch_action=True)
    assert view_findings(modal(block)) == [
        "[ERROR] dispatch_action cannot be used with file_input [json-pointer:/view/blocks/0/dispatch_action]"
    ]


def test_a_form_with_a_field_needs_submit() -> None:
    form = modal()
    del form["submit"]
    assert view_findings(form) == ["[ERROR] missing required field: submit [json-pointer:/view]"]
    assert view_findings({**form, "blocks": [section()]}) == []


@pytest.mark.parametrize(
    ("view", "kind", "expected"),
    [
        (None, "modal", "must provide an object [json-pointer:/view]"),
        (home(), "modal", "unsupported type: home [json-pointer:/view/type]"),
        (modal(), "home", "unsupported type: modal [json-pointer:/view/type]"),
        ({"type": "home"}, "home", "missing required field: blocks [json-pointer:/view]"),
        ({"type": "home", "blocks": []}, "home", "no fewer than 1 items allowed [json-pointer:/view/blocks]"),
        ({**home(), "title": plain("x")}, "home", "invalid additional property: title [json-pointer:/view]"),
        ({**modal(), "hash": "x"}, "modal", "invalid additional property: hash [json-pointer:/view]"),
        ({**modal(), "blocks": "x"}, "modal", "must provide an array [json-pointer:/view/blocks]"),
    ],
)
def test_a_view_of_the_wrong_shape(view: Any, kind: Literal["modal", "home"], expected: str) -> None:
    assert view_findings(view, kind) == [f"[ERROR] {expected}"]
