"""Each of Slack's limits: at the limit is fine, one more is refused with a pointer to where."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.localslack.workspaces import actions, button, home, modal, option, plain, section, text_input

from localslack.blocks.surfaces import check_message_blocks, check_view
from localslack.errors import SlackError
from localslack.limits import LIMITS, MAX_TYPED, MAX_VIEW_BYTES

Json = dict[str, Any]
Make = Callable[[int], Json]

URL = "https://example.com/"


def words(count: int) -> Json:
    return plain("x" * count)


def link(count: int) -> str:
    return URL + "x" * (count - len(URL))


def select(**fields: Any) -> Json:
    return {"type": "static_select", "action_id": "pick", **fields}


def options(count: int) -> list[Json]:
    return [option(f"o{index}") for index in range(count)]


def confirm(**fields: Any) -> Json:
    parts = {"title": plain("Sure?"), "text": plain("Really."), "confirm": plain("Yes"), "deny": plain("No")}
    return button(confirm={**parts, **fields})


def image(**fields: Any) -> Json:
    return {"type": "image", "alt_text": "a picture", "image_url": URL, **fields}


def video(**fields: Any) -> Json:
    required = {"alt_text": "a film", "title": plain("Film"), "thumbnail_url": URL, "video_url": URL}
    return {"type": "video", **required, **fields}


def card(**fields: Any) -> Json:
    return {"type": "card", "title": plain("Card"), **fields}


def container(**fields: Any) -> Json:
    return {"type": "container", "title": plain("Box"), "child_blocks": [{"type": "divider"}], **fields}


def cell(text: str = "x") -> Json:
    return {"type": "raw_text", "text": text}


def table(rows: int, cells: int) -> Json:
    return {"type": "table", "rows": [[cell() for _ in range(cells)] for _ in range(rows)]}


def chart() -> Json:
    pie = {"type": "pie", "segments": [{"label": "deep", "value": 3}]}
    return {"type": "data_visualization", "title": "Load", "chart": pie}


IN_MESSAGES: dict[str, tuple[Make, str]] = {
    "block_id": (lambda n: section(block_id="x" * n), "/block_id"),
    "action_id": (lambda n: actions(button("x" * n)), "/elements/0/action_id"),
    "section.text": (lambda n: section("x" * n), "/text/text"),
    "section.fields": (lambda n: {"type": "section", "fields": [plain("x")] * n}, "/fields"),
    "section.field": (lambda n: {"type": "section", "fields": [words(n)]}, "/fields/0/text"),
    "header.text": (lambda n: {"type": "header", "text": words(n)}, "/text/text"),
    "actions.elements": (lambda n: actions(*(button(f"b{index}") for index in range(n))), "/elements"),
    "context.elements": (lambda n: {"type": "context", "elements": [plain("x")] * n}, "/elements"),
    "context.text": (lambda n: {"type": "context", "elements": [words(n)]}, "/elements/0/text"),
    "context_actions.elements": (
        lambda n: {
            "type": "context_actions",
            "elements": [{"type": "icon_button", "icon": "trash", "text": plain("Drop")}] * n,
        },
        "/elements",
    ),
    "input.label": (lambda n: text_input(label=words(n)), "/label/text"),
    "input.hint": (lambda n: text_input(hint=words(n)), "/hint/text"),
    "image.alt_text": (lambda n: image(alt_text="x" * n), "/alt_text"),
    "image.title": (lambda n: image(title=words(n)), "/title/text"),
    "image.image_url": (lambda n: image(image_url=link(n)), "/image_url"),
    "video.title": (lambda n: video(title=words(n)), "/title/text"),
    "video.description": (lambda n: video(description=words(n)), "/description/text"),
    "video.author_name": (lambda n: video(author_name="x" * n), "/author_name"),
    "markdown.total": (lambda n: {"type": "markdown", "text": "x" * n}, "/text"),
    "table.rows": (lambda n: table(n, 1), "/rows"),
    "table.cells": (lambda n: table(1, n), "/rows/0"),
    "table.total": (lambda n: {"type": "table", "rows": [[cell("x" * n)]]}, "/rows"),
    "data_table.rows": (
        lambda n: {"type": "data_table", "caption": "Week", "rows": [[cell()] for _ in range(n)]},
        "/rows",
    ),
    "card.title": (lambda n: card(title=words(n)), "/title/text"),
    "card.subtitle": (lambda n: card(subtitle=words(n)), "/subtitle/text"),
    "card.body": (lambda n: card(body=words(n)), "/body/text"),
    "card.actions": (lambda n: card(actions=[button(f"b{index}") for index in range(n)]), "/actions"),
    "carousel.cards": (lambda n: {"type": "carousel", "elements": [card() for _ in range(n)]}, "/elements"),
    "container.title": (lambda n: container(title=words(n)), "/title/text"),
    "container.children": (lambda n: container(child_blocks=[{"type": "divider"}] * n), "/child_blocks"),
    "button.text": (lambda n: actions(button(text=words(n))), "/elements/0/text/text"),
    "button.value": (lambda n: actions(button(value="x" * n)), "/elements/0/value"),
    "button.url": (lambda n: actions(button(url=link(n))), "/elements/0/url"),
    "button.accessibility_label": (
        lambda n: actions(button(accessibility_label="x" * n)),
        "/elements/0/accessibility_label",
    ),
    "button.agent_prompt": (lambda n: actions(button(agent_prompt="x" * n)), "/elements/0/agent_prompt"),
    "placeholder": (
        lambda n: actions(select(options=options(1), placeholder=words(n))),
        "/elements/0/placeholder/text",
    ),
    "confirm.title": (lambda n: actions(confirm(title=words(n))), "/elements/0/confirm/title/text"),
    "confirm.text": (lambda n: actions(confirm(text=words(n))), "/elements/0/confirm/text/text"),
    "confirm.button": (lambda n: actions(confirm(deny=words(n))), "/elements/0/confirm/deny/text"),
    "option.text": (
        lambda n: actions(select(options=[{"text": words(n), "value": "a"}])),
        "/elements/0/options/0/text/text",
    ),
    "option.value": (
        lambda n: actions(select(options=[{"text": plain("x"), "value": "x" * n}])),
        "/elements/0/options/0/value",
    ),
    "option.description": (
        lambda n: actions(select(options=[{**option("a"), "description": words(n)}])),
        "/elements/0/options/0/description/text",
    ),
    "select.options": (lambda n: actions(select(options=options(n))), "/elements/0/options"),
    "select.groups": (
        lambda n: actions(select(option_groups=[{"label": plain("Group"), "options": options(1)}] * n)),
        "/elements/0/option_groups",
    ),
    "group.label": (
        lambda n: actions(select(option_groups=[{"label": words(n), "options": options(1)}])),
        "/elements/0/option_groups/0/label/text",
    ),
    "overflow.options": (
        lambda n: section(accessory={"type": "overflow", "options": options(n)}),
        "/accessory/options",
    ),
    "choice.options": (
        lambda n: section(accessory={"type": "checkboxes", "options": options(n)}),
        "/accessory/options",
    ),
}

IN_MODALS: dict[str, tuple[Make, str]] = {
    "callback_id": (lambda n: modal(callback_id="x" * n), "/callback_id"),
    "external_id": (lambda n: modal(external_id="x" * n), "/external_id"),
    "private_metadata": (lambda n: modal(private_metadata="x" * n), "/private_metadata"),
    "view.title": (lambda n: modal(title=words(n)), "/title/text"),
    "view.submit": (lambda n: modal(submit=words(n)), "/submit/text"),
    "view.close": (lambda n: modal(close=words(n)), "/close/text"),
    "view.blocks": (lambda n: modal(*({"type": "divider"} for _ in range(n))), "/blocks"),
    "alert.text": (lambda n: modal({"type": "alert", "text": words(n)}), "/blocks/0/text/text"),
    "plain_text_input.length": (
        lambda n: modal(text_input(element={"type": "plain_text_input", "max_length": n})),
        "/blocks/0/element/max_length",
    ),
    "file_input.files": (
        lambda n: modal(text_input(element={"type": "file_input", "max_files": n})),
        "/blocks/0/element/max_files",
    ),
}


def pointers(error: SlackError) -> list[str]:
    """Return the places that an error names, without their common beginning."""
    lines: list[str] = error.details["response_metadata"]["messages"]
    return [line.partition("[json-pointer:")[2].removesuffix("]") for line in lines]


@pytest.mark.parametrize("name", IN_MESSAGES)
def test_a_message_may_reach_the_limit_and_not_pass_it(name: str) -> None:
    make, place = IN_MESSAGES[name]
    check_message_blocks([make(LIMITS[name])])
    with pytest.raises(SlackError) as refused:
        check_message_blocks([make(LIMITS[name] + 1)])
    assert (refused.value.code, pointers(refused.value)) == ("invalid_blocks", [f"/blocks/0{place}"])


@pytest.mark.parametrize("name", IN_MODALS)
def test_a_modal_may_reach_the_limit_and_not_pass_it(name: str) -> None:
    make, place = IN_MODALS[name]
    check_view(make(LIMITS[name]), "modal")
    with pytest.raises(SlackError) as refused:
        check_view(make(LIMITS[name] + 1), "modal")
    assert (refused.value.code, pointers(refused.value)) == ("invalid_arguments", [f"/view{place}"])


def test_a_message_has_at_most_fifty_blocks() -> None:
    most = LIMITS["message.blocks"]
    check_message_blocks([{"type": "divider"}] * most)
    with pytest.raises(SlackError) as refused:
        check_message_blocks([{"type": "divider"}] * (most + 1))
    assert refused.value.body() == {
        "ok": False,
        "error": "invalid_blocks",
        "errors": ["no more than 50 items allowed [json-pointer:/blocks]"],
        "response_metadata": {"messages": ["[ERROR] no more than 50 items allowed [json-pointer:/blocks]"]},
    }


def test_a_message_has_at_most_two_charts() -> None:
    check_message_blocks([chart()] * LIMITS["data_visualization.per_message"])
    with pytest.raises(SlackError) as refused:
        check_message_blocks([chart()] * (LIMITS["data_visualization.per_message"] + 1))
    assert pointers(refused.value) == ["/blocks"]


def test_markdown_counts_over_all_blocks() -> None:
    half = LIMITS["markdown.total"] // 2
    check_message_blocks([{"type": "markdown", "text": "x" * half}] * 2)
    with pytest.raises(SlackError) as refused:
        check_message_blocks([{"type": "markdown", "text": "x" * half}] * 2 + [{"type": "markdown", "text": "x"}])
    assert pointers(refused.value) == ["/blocks"]


def test_a_view_has_a_size() -> None:
    filling = [section("é" * 3_000, block_id=str(index)) for index in range(LIMITS["view.blocks"])]
    with pytest.raises(SlackError) as refused:
        check_view(home(*filling), "home")
    assert (refused.value.code, MAX_VIEW_BYTES) == ("view_too_large", 250_000)


def test_each_limit_is_put_to_the_test() -> None:
    elsewhere = {"message.blocks", "data_visualization.per_message"}
    assert IN_MESSAGES.keys() | IN_MODALS.keys() | elsewhere == LIMITS.keys()
    assert MAX_TYPED == 12_000
