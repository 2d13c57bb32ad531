"""Input of a person: its form when it reaches the app, and the checks before."""

from __future__ import annotations

from typing import Any

import pytest
from tests.localslack.workspaces import actions, option, section, text_input

from localslack.form_state import REQUIRED, field_errors, state_values

OPTIONS = [option("deep"), option("shallow")]
SELECT = {"type": "static_select", "action_id": "pick", "options": OPTIONS}
GROUPED = {
    "type": "static_select",
    "action_id": "pick",
    "option_groups": [{"label": {"type": "plain_text", "text": "Kind"}, "options": OPTIONS}],
}


def value_of(element: dict[str, Any], **entered: Any) -> Any:
    """Return the one value in the state of a form with this element, after this was entered."""
    block = text_input("b", element={**element, "action_id": "a"})
    [entry] = state_values([block], {"b": {"a": entered}} if entered else {})["b"].values()
    return next(value for key, value in entry.items() if key not in {"type", "timezone"})


ENTERED: dict[str, tuple[dict[str, Any], dict[str, Any], Any]] = {
    "text": ({"type": "plain_text_input"}, {"value": "x"}, "x"),
    "text cleared": ({"type": "plain_text_input", "initial_value": "x"}, {"value": None}, None),
    "number": ({"type": "number_input"}, {"value": "5"}, "5"),
    "option by value": (SELECT, {"selected_option": {"value": "deep"}}, OPTIONS[0]),
    "option in a group": (GROUPED, {"selected_option": {"value": "shallow"}}, OPTIONS[1]),
    "option that is not offered": (SELECT, {"selected_option": option("other")}, None),
    "option that is no option": (SELECT, {"selected_option": "deep"}, None),
    "option from outside": ({"type": "external_select"}, {"selected_option": option("x")}, option("x")),
    "half an option from outside": ({"type": "external_select"}, {"selected_option": {"value": "x"}}, None),
    "options": ({"type": "checkboxes", "options": OPTIONS}, {"selected_options": OPTIONS}, OPTIONS),
    "options, one not offered": (
        {"type": "checkboxes", "options": OPTIONS},
        {"selected_options": [OPTIONS[0], option("other")]},
        [],
    ),
    "date": ({"type": "datepicker"}, {"selected_date": "2026-11-02"}, "2026-11-02"),
    "date that is none": ({"type": "datepicker"}, {"selected_date": "2026-02-30"}, None),
    "time": ({"type": "timepicker"}, {"selected_time": "08:30"}, "08:30"),
    "time that is none": ({"type": "timepicker"}, {"selected_time": "24:00"}, None),
    "instant": ({"type": "datetimepicker"}, {"selected_date_time": 1_793_606_400}, 1_793_606_400),
    "instant that is none": ({"type": "datetimepicker"}, {"selected_date_time": True}, None),
    "user": ({"type": "users_select"}, {"selected_user": "U1"}, "U1"),
    "users": ({"type": "multi_users_select"}, {"selected_users": ["U1"]}, ["U1"]),
    "users that are none": ({"type": "multi_users_select"}, {"selected_users": [1]}, []),
    "rich text": ({"type": "rich_text_input"}, {"rich_text_value": {"type": "rich_text"}}, {"type": "rich_text"}),
    "files": ({"type": "file_input"}, {"files": []}, []),
}


@pytest.mark.parametrize("name", ENTERED)
def test_a_value_reaches_the_app_as_slack_words_it(name: str) -> None:
    element, entered, expected = ENTERED[name]
    assert value_of(element, **entered) == expected


INITIAL: dict[str, tuple[dict[str, Any], Any]] = {
    "text": ({"type": "plain_text_input", "initial_value": "x"}, "x"),
    "nothing": ({"type": "plain_text_input"}, None),
    "option": ({**SELECT, "initial_option": OPTIONS[1]}, OPTIONS[1]),
    "options": ({"type": "checkboxes", "options": OPTIONS, "initial_options": OPTIONS}, OPTIONS),
    "no options": ({"type": "checkboxes", "options": OPTIONS}, []),
    "date": ({"type": "datepicker", "initial_date": "2026-11-02"}, "2026-11-02"),
    "time": ({"type": "timepicker", "initial_time": "08:30", "timezone": "Europe/Paris"}, "08:30"),
    "instant": ({"type": "datetimepicker", "initial_date_time": 7}, 7),
    "user": ({"type": "users_select", "initial_user": "U1"}, "U1"),
}


@pytest.mark.parametrize("name", INITIAL)
def test_what_is_not_touched_keeps_its_initial_value(name: str) -> None:
    element, expected = INITIAL[name]
    assert value_of(element) == expected


def test_the_state_covers_every_element_that_holds_a_value_and_no_other() -> None:
    blocks = [
        section(block_id="s", accessory={"type": "timepicker", "action_id": "t", "timezone": "Europe/Paris"}),
        actions(SELECT, {"type": "button", "action_id": "go"}, {"type": "overflow", "action_id": "o"}, block_id="a"),
        {"type": "container", "block_id": "c", "child_blocks": [text_input("in")]},
    ]
    assert state_values(blocks, {"gone": {"x": {"value": "y"}}, "a": "nonsense"}) == {
        "s": {"t": {"type": "timepicker", "selected_time": None, "timezone": "Europe/Paris"}},
        "a": {"pick": {"type": "static_select", "selected_option": None}},
        "in": {"value": {"type": "plain_text_input", "value": None}},
    }


NUMBER = {"type": "number_input", "is_decimal_allowed": False, "min_value": "5", "max_value": "480"}
CHECKED: dict[str, tuple[dict[str, Any], dict[str, Any], str | None]] = {
    "empty text": ({"type": "plain_text_input"}, {"value": ""}, REQUIRED),
    "no choice": (SELECT, {}, REQUIRED),
    "no boxes": ({"type": "checkboxes", "options": OPTIONS}, {"selected_options": []}, REQUIRED),
    "text": ({"type": "plain_text_input"}, {"value": "x" * 3_000}, None),
    "long text": ({"type": "plain_text_input"}, {"value": "x" * 3_001}, "Please enter at most 3,000 characters."),
    "short text": (
        {"type": "plain_text_input", "min_length": 2},
        {"value": "x"},
        "Please enter at least 2 characters.",
    ),
    "own length": (
        {"type": "plain_text_input", "max_length": 2},
        {"value": "xyz"},
        "Please enter at most 2 characters.",
    ),
    "number": (NUMBER, {"value": "30"}, None),
    "no number": (NUMBER, {"value": "half an hour"}, "Please enter a number."),
    "endless number": (NUMBER, {"value": "Infinity"}, "Please enter a number."),
    "fraction": (NUMBER, {"value": "7.5"}, "Please enter a whole number."),
    "fraction allowed": ({**NUMBER, "is_decimal_allowed": True}, {"value": "7.5"}, None),
    "small number": (NUMBER, {"value": "4"}, "Please enter 5 or more."),
    "large number": (NUMBER, {"value": "481"}, "Please enter 480 or less."),
    "mail": ({"type": "email_text_input"}, {"value": "a@example.com"}, None),
    "no mail": ({"type": "email_text_input"}, {"value": "a@example"}, "Please enter a valid email address."),
    "link": ({"type": "url_text_input"}, {"value": "https://example.com"}, None),
    "no link": (
        {"type": "url_text_input"},
        {"value": "example"},
        "Please enter a valid link, beginning with https://.",
    ),
    "too many": (
        {"type": "multi_users_select", "max_selected_items": 1},
        {"selected_users": ["U1", "U2"]},
        "Please choose at most 1.",
    ),
}


@pytest.mark.parametrize("name", CHECKED)
def test_what_is_caught_before_the_app_is_asked(name: str) -> None:
    element, entered, expected = CHECKED[name]
    block = text_input("b", element={**element, "action_id": "a"})
    values = state_values([block], {"b": {"a": entered}})
    assert field_errors([section(), block], values) == ({} if expected is None else {"b": expected})


def test_an_optional_field_may_stay_empty() -> None:
    block = text_input("b", optional=True)
    assert field_errors([block], state_values([block], {})) == {}
