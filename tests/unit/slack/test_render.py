"""Cards as messages: what each part becomes, and that nothing breaks Slack's limits or goes missing unsaid."""

from __future__ import annotations

import json
from datetime import date, time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories.pictures import before_and_after

from fateforger.session.cards import (
    Button,
    Card,
    Choice,
    Controls,
    DatePick,
    Divider,
    Heading,
    Menu,
    Note,
    Part,
    Picture,
    Prose,
    Select,
    TimePick,
)
from fateforger.slack.blocks import COMPACT, HOME, MESSAGE, Rendered, Size, remove_controls, render
from fateforger.slack.ids import Address, ControlAction, action_of, unpack
from fateforger.text import count_units
from fateforger.ui.picture_words import describe
from fateforger.ui.session_cards import unheard_card, unread_card
from localslack.blocks.surfaces import check_message_blocks, check_view

NAV = Controls(items=(Button(label="Back", action="back"), Button(label="Cancel", action="cancel", style="danger")))


def card(*parts: Part, text: str = "A card") -> Card:
    return Card(text=text, parts=parts)


def render_blocks(*parts: Part, size: Size = MESSAGE) -> list[dict[str, Any]]:
    blocks = render(card(*parts), session="s1", v="v1", size=size).blocks
    check_message_blocks(blocks)
    return blocks


def words(rendered: list[dict[str, Any]]) -> list[str]:
    found = []
    for block in rendered:
        if block["type"] == "context":
            found.append(block["elements"][0]["text"])
        elif "text" in block:
            found.append(block["text"]["text"])
    return found


def test_a_card_becomes_blocks() -> None:
    parts = (Heading(text="Your **day**"), Prose(text="**09:00** Write"), Divider(), Note(text="_Saved_"), NAV)
    assert render(card(*parts, text="Your **day**"), session="s1", v="v1") == Rendered(
        text="Your *day*",
        blocks=[
            {"type": "header", "text": {"type": "plain_text", "text": "Your day"}},
            {"type": "section", "text": {"type": "mrkdwn", "text": "*09:00* Write", "verbatim": True}},
            {"type": "divider"},
            {"type": "context", "elements": [{"type": "mrkdwn", "text": "_Saved_", "verbatim": True}]},
            {
                "type": "actions",
                "block_id": '{"session":"s1","v":"v1","n":2}',
                "elements": [
                    {
                        "type": "button",
                        "action_id": "back#0",
                        "text": {"type": "plain_text", "text": "Back"},
                        "value": '{"session":"s1","v":"v1"}',
                    },
                    {
                        "type": "button",
                        "action_id": "cancel#1",
                        "text": {"type": "plain_text", "text": "Cancel"},
                        "value": '{"session":"s1","v":"v1"}',
                        "style": "danger",
                    },
                ],
            },
        ],
    )


def test_a_button_asks_before_it_counts() -> None:
    (block,) = render_blocks(
        Controls(items=(Button(label="Undo", action="undo", target="tx-1", style="danger", confirm="Take it back?"),))
    )
    (button,) = block["elements"]
    asked = {part: text["text"] for part, text in button["confirm"].items() if part != "style"}
    assert asked == {"title": "Are you sure?", "text": "Take it back?", "confirm": "Undo", "deny": "Cancel"}
    assert button["confirm"]["style"] == "danger"
    assert unpack(Address, button["value"]) == Address(session="s1", target="tx-1", v="v1")


def test_pickers_carry_their_address_in_the_block() -> None:
    pick = Select(
        action="zone", placeholder="Zone", choices=(Choice(label="UTC", value="Etc/UTC"),), selected="Etc/UTC"
    )
    items = (pick, DatePick(action="date", selected=date(2026, 3, 5)), TimePick(action="time", placeholder="When?"))
    (block,) = render_blocks(Controls(items=items))
    address = unpack(Address, block["block_id"])
    assert address is not None
    assert (address.session, address.v) == ("s1", "v1")
    select, day, at = block["elements"]
    assert [action_of(e["action_id"]) for e in (select, day, at)] == ["zone", "date", "time"]
    assert select["initial_option"] == select["options"][0]
    assert day["initial_date"] == "2026-03-05"
    assert "initial_time" not in at
    chosen = TimePick(action="time", placeholder="When?", selected=time(9, 5))
    assert render_blocks(Prose(text="Start", control=chosen))[0]["accessory"]["initial_time"] == "09:05"


@pytest.mark.parametrize(
    ("choices", "kind"), [(1, "button"), (2, "overflow"), (5, "overflow"), (6, "static_select"), (120, "static_select")]
)
def test_a_menu_of_any_length_keeps_its_choices(choices: int, kind: str) -> None:
    menu = Menu(target="b1", choices=tuple(Choice(label=f"Do {n}", value=f"do.{n}") for n in range(choices)))
    row, *notes = render_blocks(Prose(text="Row", control=menu))
    element = row["accessory"]
    assert element["type"] == kind
    if kind == "button":
        assert (action_of(element["action_id"]), unpack(Address, element["value"])) == (
            "do.0",
            Address(session="s1", target="b1", v="v1"),
        )
        return
    deeds = [unpack(ControlAction, option["value"]) for option in element["options"]]
    assert deeds == [ControlAction(action=f"do.{n}", target="b1") for n in range(min(choices, 100))]
    expected = ["Slack lists 100 choices at most, so 20 are not in this list."] if choices > 100 else []
    assert words(notes) == expected


def test_controls_are_unique_within_a_message() -> None:
    rows = [Prose(text=f"Row {n}", control=Button(label="Edit", action="form.edit", target=f"b{n}")) for n in range(20)]
    many = Controls(items=tuple(Button(label=str(n), action="pick", target=str(n)) for n in range(60)))
    blocks = render_blocks(*rows, many)
    elements = [e for b in blocks for e in [*b.get("elements", []), *([b["accessory"]] if "accessory" in b else [])]]
    assert len({e["action_id"] for e in elements}) == len(elements) == 80
    assert len({b["block_id"] for b in blocks}) == len(blocks) == 23


def test_a_retired_card_keeps_its_words_and_loses_its_controls() -> None:
    rows = (Prose(text="Row", control=Button(label="Edit", action="edit")), NAV, Note(text="Done"))
    assert words(render(remove_controls(card(*rows)), session="s1", v="v1").blocks) == ["Row", "Done"]
    only_controls = render(remove_controls(card(NAV, text="Shall we?")), session="s1", v="v1").blocks
    assert words(only_controls) == ["Shall we?"]


def test_a_long_paragraph_is_parted_between_lines() -> None:
    lines = [f"line {n} " + "x" * 40 for n in range(150)]
    blocks = render_blocks(Prose(text="\n".join(lines)))
    assert len(blocks) == 3
    assert "\n".join(words(blocks)).split("\n") == lines


def test_rows_that_do_not_fit_are_left_out_with_a_sentence() -> None:
    """S226: 300 rows with controls of their own, and the way on is still there."""
    rows = [Prose(text=f"Row {n}", control=Button(label="Edit", action="edit", target=str(n))) for n in range(300)]
    blocks = render_blocks(Heading(text="Day"), Divider(), *rows, Note(text="Small print"), NAV)
    assert len(blocks) == 50
    assert blocks[-1]["type"] == "actions"
    assert words(blocks)[:3] == ["Day", "Row 0", "Row 1"]
    assert words(blocks)[-1] == "… 254 more lines are left out here: a Slack message has no room for more."


def test_lines_between_paragraphs_are_spared_first() -> None:
    parts = [part for n in range(40) for part in (Prose(text=f"Row {n}"), Divider())]
    assert words(render_blocks(*parts)) == [f"Row {n}" for n in range(40)]


@pytest.mark.parametrize("size", [*COMPACT, MESSAGE, HOME])
@pytest.mark.parametrize("rows", [0, 1, 3, 60, 400])
def test_every_size_is_kept(size: Size, rows: int) -> None:
    """S226."""
    parts = [Prose(text=f"Row {n} " + "word " * 30) for n in range(rows)]
    blocks = render(card(*parts, NAV), session="s1", v="v1", size=size).blocks
    assert len(blocks) <= size.blocks
    assert sum(map(len, words(blocks))) <= size.characters + 100
    assert blocks[-1]["type"] == "actions"
    missing = rows - sum(w.startswith("Row") for w in words(blocks))
    said = [w for w in words(blocks) if "left out" in w]
    assert len(said) == (1 if missing else 0)


def test_a_ten_thousand_character_title_is_shown_whole_or_said_to_be_short() -> None:
    title = "word " * 2000
    assert words(render_blocks(Heading(text=title))) != []
    assert " ".join(w.strip("*") for w in words(render_blocks(Heading(text=title)))) == title.strip()
    rendered = render(card(Prose(text="x"), text=title), session="s1", v="v1")
    assert len(rendered.text) < 4000
    assert rendered.text.endswith("… (shortened)")


def test_a_title_of_invisible_characters_does_not_cost_the_card() -> None:
    """S385: Slack takes no empty label, and would refuse the whole message."""
    hidden = Button(label="\u00ad", action="do", spoken="\u200b")
    blocks = render_blocks(Heading(text="\u00ad"), Prose(text="\u2060"), Controls(items=(hidden,)))
    assert [element["text"]["text"] for element in blocks[-1]["elements"]] == ["(no title)"]


def test_an_emoji_counts_as_two_characters() -> None:
    """As Slack counts: all of a long text is shown, in blocks that Slack takes."""
    title = "🎉" * 2_900
    card_of_emoji = card(Heading(text="🎈" * 140), Prose(text=title), Note(text="🎂" * 1_900), text=title)
    rendered = render(card_of_emoji, session="s1", v="v1")
    assert len(rendered.text.encode("utf-16-le")) // 2 <= 3_520
    check_message_blocks(rendered.blocks)
    assert "".join(words(rendered.blocks)).count("🎉") == 2_900


def test_a_card_of_nothing_says_its_text() -> None:
    assert words(render_blocks()) == ["A card"]
    assert words(render_blocks(Prose(text=""), Heading(text=""), Note(text=""))) == ["A card"]
    assert render_blocks(Prose(text="", control=Button(label="Go", action="go")))[0]["type"] == "actions"


def test_nothing_in_a_title_reaches_anybody() -> None:
    """A calendar title may look like a mention; the text is verbatim, so Slack parses none of it."""
    blocks = render_blocks(Prose(text="@channel #general <!here>"), Note(text="@here"))
    texts = [blocks[0]["text"], blocks[1]["elements"][0]]
    assert [t["verbatim"] for t in texts] == [True, True]
    assert texts[0]["text"] == "@channel #general &lt;!here&gt;"


def test_a_home_holds_more_rows_than_a_message() -> None:
    blocks = render(card(*[Prose(text=f"{n}") for n in range(90)], NAV), session="", v="v1", size=HOME).blocks
    check_view({"type": "home", "blocks": blocks}, "home")
    assert len(blocks) == 91


_text = st.text(max_size=300)
_button = st.builds(Button, label=st.text(min_size=1, max_size=100), action=st.just("do"), target=st.text(max_size=40))
_choice = st.builds(Choice, label=st.text(min_size=1, max_size=100), value=st.text("abc", min_size=1, max_size=9))
_menu = st.builds(Menu, choices=st.lists(_choice, max_size=8).map(tuple), target=st.just("t"))
_parts = st.one_of(
    st.builds(Heading, text=_text),
    st.builds(Prose, text=_text, control=st.one_of(st.none(), _button, _menu)),
    st.builds(Note, text=_text),
    st.builds(Divider),
    st.builds(Controls, items=st.lists(_button, min_size=1, max_size=30).map(tuple)),
)


@given(st.lists(_parts, max_size=70), st.sampled_from([MESSAGE, *COMPACT]))
def test_slack_accepts_any_card(parts: list[Part], size: Size) -> None:
    rendered = render(card(*parts), session="s1", v="v1", size=size)
    check_message_blocks(rendered.blocks)
    assert json.loads(json.dumps(rendered.blocks)) == rendered.blocks


# --- pictures -------------------------------------------------------------------------------------------------


def test_a_picture_is_an_image_with_its_words_once_it_has_a_file() -> None:
    """Its text alternative has the most characters that Slack takes; without a file nothing takes its place."""
    picture = Picture(day=before_and_after())
    shown_by = card(Prose(text="Day"), picture, NAV)
    blocks = render(shown_by, session="s1", v="v1", file_of=lambda _picture: "F1").blocks
    check_message_blocks(blocks)
    assert blocks[1] == {"type": "image", "slack_file": {"id": "F1"}, "alt_text": describe(picture.day)}
    assert [block["type"] for block in render(shown_by, session="s1", v="v1").blocks] == ["section", "actions"]
    assert remove_controls(shown_by).parts == (Prose(text="Day"), picture)
    many = tuple(one.model_copy(update={"title": "x" * 299}) for one in before_and_after().blocks)
    long = Picture(day=picture.day.model_copy(update={"blocks": many * 3, "before": None}))
    (image,) = render(card(long), session="s1", v="v1", file_of=lambda _picture: "F1").blocks
    check_message_blocks([image])
    assert image["alt_text"].endswith("more.")


@pytest.mark.parametrize(
    "said",
    ["x" * 1_848, '"Mail"\n' * 264, "a" + "🎉" * 923, "a" * 1_900, '"\n' * 940],
    ids=["plain", "quotes and lines", "emoji", "too long", "too long as JSON"],
)
def test_whatever_words_a_button_carries_slack_takes_it(said: str) -> None:
    """S468: Slack would refuse the whole message, and the person would get no answer."""
    for card in (unheard_card(said), unread_card(said)):
        blocks = render(card, session="s0123456789ab", v=f"message-{'0' * 32}/2:card/reply").blocks
        values = [element["value"] for block in blocks for element in block.get("elements", ()) if "value" in element]
        assert values
        assert max(map(count_units, values)) <= 2_000
        assert any(len(value) > 1_000 for value in values) or "parts of up to 925" in str(unheard_card(said))
