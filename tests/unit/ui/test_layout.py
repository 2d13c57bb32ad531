"""Laws of the picture: everything is there once, nothing covers anything, every text fits its place."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import combinations, pairwise

from hypothesis import given
from tests.examples import examples
from tests.factories.days import DAY, TZ, at, block, plan_of
from tests.factories.pictures import before_and_after, views

from fateforger.planning import plan as plan_module
from fateforger.session.cards import DayView, planned_blocks
from fateforger.ui.picture_layout import LEAST, PILL, lay_out
from fateforger.ui.picture_scene import Box, Rect, Text
from fateforger.ui.picture_svg import draw
from fateforger.ui.picture_words import changes_of, describe, flatten, width

laws = examples(30)
HAIR = 0.02


def apart(one: Rect, other: Rect) -> bool:
    return (
        one.right <= other.x + HAIR
        or other.right <= one.x + HAIR
        or one.bottom <= other.y + HAIR
        or other.bottom <= one.y + HAIR
    )


def inside(part: Rect, whole: Rect) -> bool:
    return (
        part.x >= whole.x - HAIR
        and part.y >= whole.y - HAIR
        and part.right <= whole.right + HAIR
        and part.bottom <= whole.bottom + HAIR
    )


def ink(text: Text) -> Rect:
    """Return the area of a text's letters, including descenders."""
    wide = width(text.text, text.size, bold=text.bold)
    return Rect(text.x, text.y - 0.8 * text.size, wide, 1.05 * text.size)


@laws
@given(views())
def test_every_entry_is_there_exactly_once(view: DayView) -> None:
    changes = changes_of(view)
    expected = [f"block:{b.key}" for b in view.blocks] + [f"meeting:{n}" for n in range(len(view.meetings))]
    expected += [f"before:{b.key}" for b in changes.ghosts]
    assert sorted(box.name for box in lay_out(view).boxes) == sorted(expected)


@laws
@given(views())
def test_no_box_covers_another_and_none_leaves_the_day(view: DayView) -> None:
    scene = lay_out(view)
    covering = [(a.name, b.name) for a, b in combinations(scene.boxes, 2) if not apart(a.place, b.place)]
    assert covering == []
    assert [box.name for box in scene.boxes if not inside(box.place, scene.day)] == []
    assert inside(scene.day, Rect(0, 0, scene.width, scene.height))


@laws
@given(views())
def test_every_text_fits_into_its_box_and_beside_its_neighbours(view: DayView) -> None:
    for box in lay_out(view).boxes:
        parts = [ink(text) for text in box.texts] + ([] if box.pill is None else [box.pill.place])
        assert [part for part in parts if not inside(part, box.place)] == [], box
        assert [pair for pair in combinations(parts, 2) if not apart(*pair)] == [], box
        if box.pill is not None:
            assert width(box.pill.text, PILL, bold=True) <= box.pill.place.width


@laws
@given(views())
def test_the_heading_is_the_largest_text_and_above_the_hours(view: DayView) -> None:
    """S439"""
    scene = lay_out(view)
    labels = [hour.y - 0.8 * 11.5 + 4 for hour in scene.hours if hour.label]
    assert all(ink(text).bottom <= min(labels, default=scene.day.bottom) for text in scene.title)
    texts = [text for box in scene.boxes for text in box.texts] + [text for _kind, text in scene.legend]
    assert all(text.size < scene.title[0].size for text in texts)


@laws
@given(views())
def test_short_blocks_have_room_for_a_line_and_later_is_lower(view: DayView) -> None:
    scene = lay_out(view)
    assert [box.name for box in scene.boxes if box.place.height < LEAST - HAIR] == []
    assert all(a.y < b.y for a, b in pairwise(scene.hours))
    in_order = sorted((b for b in view.blocks), key=lambda b: b.start)
    tops = {box.name: box.place.y for box in scene.boxes}
    assert all(tops[f"block:{a.key}"] <= tops[f"block:{b.key}"] + HAIR for a, b in pairwise(in_order))


@laws
@given(views())
def test_the_words_name_everything_and_the_picture_is_well_formed(view: DayView) -> None:
    """The text alternative names each entry; the SVG carries it, parses, and is the same each time."""
    words = describe(view)
    titles = [one.title for one in (*view.blocks, *changes_of(view).removed)] + [one.title for one in view.meetings]
    assert [title for title in titles if (flatten(title) or "(no title)") not in words] == []
    svg = draw(view)
    assert ET.fromstring(svg).findtext("{http://www.w3.org/2000/svg}title") == words
    assert draw(DayView.model_validate_json(view.model_dump_json())) == svg


def test_thirty_blocks_and_a_block_of_five_minutes_are_all_readable() -> None:
    blocks = [block(f"k{n}", f"{8 + n // 6:02d}:{n % 6 * 10:02d}", 5, name=f"Task number {n}") for n in range(30)]
    scene = lay_out(DayView(date=DAY, tz=TZ, blocks=planned_blocks(plan_of(*blocks))))
    written = [box.texts[0].text for box in scene.boxes]
    assert written == [f"Task number {n}" for n in range(30)]


def test_narrow_boxes_in_the_background_have_their_title_word_under_word() -> None:
    blocks = [
        block("m", "09:00", 180, name="Music on", kind=plan_module.ET.BACKGROUND),
        block("l", "09:00", 5, name="Laundry", kind=plan_module.ET.BACKGROUND),
    ]
    scene = lay_out(DayView(date=DAY, tz=TZ, blocks=planned_blocks(plan_of(*blocks))))
    assert {box.name: [text.text for text in box.texts] for box in scene.boxes} == {
        "block:m": ["Music", "on"],
        "block:l": ["Laundry"],
    }


def test_a_change_is_told_by_words_and_places() -> None:
    """New, moved, shorter and removed blocks are labeled; an arrow leads from the old place of a moved block."""
    scene = lay_out(before_and_after())
    by_name: dict[str, Box] = {box.name: box for box in scene.boxes}
    pills = {name: box.pill.text for name, box in by_name.items() if box.pill is not None}
    assert pills == {"block:b": "MOVED", "block:c": "SHORTER", "block:n": "NEW", "before:x": "REMOVED"}
    assert [by_name[name].look for name in ("before:b", "before:c", "before:x")] == ["ghost", "ghost", "removed"]
    (arrow,) = scene.arrows
    old, new = by_name["before:b"].place, by_name["block:b"].place
    assert old.right < arrow.x1 < arrow.x2 < new.x
    assert old.y < arrow.y1 < old.bottom < new.y < arrow.y2 < new.bottom
    assert [text.text for text in scene.headings] == ["BEFORE", "NOW"]


def test_a_day_without_a_change_has_no_before() -> None:
    view = before_and_after()
    same = view.model_copy(update={"before": view.blocks})
    assert draw(same) == draw(view.model_copy(update={"before": None}))


def test_on_days_when_the_clocks_change_the_hours_say_so() -> None:
    def labels(day: str) -> list[str]:
        plan = {"date": day, "tz": "Europe/Amsterdam", "events": []}
        night = block("n", "00:00", 300, name="Night")
        from datetime import date

        view = DayView(
            date=date.fromisoformat(day),
            tz=str(plan["tz"]),
            blocks=planned_blocks(plan_of(night, day=date.fromisoformat(day), tz=str(plan["tz"]))),
        )
        scene = lay_out(view)
        return [hour.label for hour in scene.hours if hour.label] + [scene.title[1].text.rpartition(" · ")[2]]

    assert labels("2026-03-29") == [
        "00:00", "01:00", "03 CEST", "04:00", "05:00", "06:00", "the clocks go forward: this day has 23 hours"
    ]  # fmt: skip
    assert labels("2026-10-25") == [
        "00:00", "01:00", "02:00", "02 CET", "03:00", "04:00", "the clocks go back: this day has 25 hours"
    ]  # fmt: skip


def test_free_time_and_pauses_are_named() -> None:
    """A short gap after something is a pause, a long one is free; time at the edge of the frame is never a pause."""
    plan = plan_of(block("a", "09:15", 60), block("b", "10:25", 35), block("c", "11:05", 30), block("d", "12:30", 60))
    view = DayView(date=DAY, tz=TZ, start=at("09:00"), end=at("14:00"), blocks=planned_blocks(plan))
    scene = lay_out(view)
    assert [text.text for text in scene.free] == ["free · 15 min", "pause · 10 min", "free · 55 min", "free · 30 min"]
    assert not any(not apart(ink(text), box.place) for text in scene.free for box in scene.boxes)
    assert all(f">{text.text}</text>" in draw(view) for text in scene.free)
