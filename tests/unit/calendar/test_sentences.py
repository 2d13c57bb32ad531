"""Ops in words (S212): one wording for the preview, the history and the command line."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.factories.days import TZ
from tests.factories.paper import Paper, day_of, event, fields, make_block

from fateforger.calendar.history import describe_counts, describe_op, describe_plan
from fateforger.planning.plan import ET

BERLIN = ZoneInfo(TZ)


def submit_plan() -> Paper:
    return Paper().submit(day_of(make_block("a", fields("Focus", 540, 60, "n"))))[0]


def after(**changes: Any) -> str:
    """Return the words for a change of the only block."""
    given: dict[str, Any] = {"summary": "Focus", "start": 540, "minutes": 60, "notes": "n"} | changes
    (op,) = submit_plan().plan(day_of(make_block("a", fields(**given), kind=given.get("kind", ET.DEEP_WORK)))).writes
    return describe_op(op, BERLIN)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"start": 570}, "Move “Focus” from 09:00 to 09:30"),
        ({"minutes": 90}, "Change “Focus” from 09:00–10:00 to 09:00–10:30"),
        ({"start": 570, "minutes": 30}, "Change “Focus” from 09:00–10:00 to 09:30–10:00"),
        ({"summary": "Focus time"}, "Rename “Focus” to “Focus time”"),
        ({"notes": ""}, "Give “Focus” new notes"),
        ({"notes": "m", "kind": ET.HABIT}, "Give “Focus” new notes and another color"),
        ({"summary": "Focus time", "start": 600}, "Rename “Focus” to “Focus time” and move it from 09:00 to 10:00"),
        (
            {"summary": "Focus time", "start": 600, "notes": "m"},
            "Rename “Focus” to “Focus time”, move it from 09:00 to 10:00 and give it new notes",
        ),
    ],
)
def test_an_update_says_what_becomes_different(changes: dict[str, Any], words: str) -> None:
    assert after(**changes) == words


def test_a_move_to_another_day_names_both_days() -> None:
    paper = submit_plan()
    there = fields("Focus", 600 + 24 * 60, 60)
    image = paper.get_event("a")
    moved = paper.edit(image.id, start=there.start, end=there.end)
    (op,) = moved.plan(day_of(make_block("a", fields("Focus", 480, 60, "n"))), keep="plan").writes
    assert describe_op(op, BERLIN) == "Move “Focus” from 10:00 on Tuesday 3 March to 08:00 on Monday 2 March"


def test_added_and_removed_before_and_after_it_is_done() -> None:
    ops = submit_plan().plan(day_of(make_block("b", fields("Walk", 900, 30, kind=ET.HABIT), kind=ET.HABIT))).writes
    assert sorted(describe_op(op, BERLIN) for op in ops) == ["Add “Walk” 15:00–15:30", "Remove “Focus” 09:00–10:00"]
    assert sorted(describe_op(op, BERLIN, done=True) for op in ops) == [
        "Added “Walk” 15:00–15:30",
        "Removed “Focus” 09:00–10:00",
    ]
    assert describe_counts(ops) == "1 added, 1 removed"
    assert describe_counts(ops, planned=True) == "1 to add, 1 to remove"


def test_a_plan_in_words_tells_the_persons_own_changes_and_what_asks_first() -> None:
    """S200, S242: blocks that were dragged are named, and so are changes that need a yes."""
    paper = Paper().submit(day_of(make_block("a"), make_block("b", fields("b", 700), index=1)))[0]
    dragged = paper.edit(paper.get_event("a").id, start=fields("a", 600).start, end=fields("a", 600).end)
    words = describe_plan(dragged.plan(day_of(make_block("a"), make_block("b", fields("b", 720), index=1))))
    assert (words.counts, words.todo) == ("1 to move", ("Move “b” from 11:40 to 12:00",))
    assert [note.startswith("You changed “a” on your calendar") for note in words.notes] == [True]
    gone = paper.without(paper.get_event("a").id).without(paper.get_event("b").id)
    words = describe_plan(gone.plan(day_of(make_block("a"), make_block("b", fields("b", 720), index=1))))
    assert words.brakes == ("All 2 blocks that I wrote are gone from your calendar: “a” and “b”.",)


def test_an_event_of_the_person_that_stands_for_a_block_is_said() -> None:
    paper = Paper().with_event(event("user1", fields("a", 540)))
    words = describe_plan(paper.plan(day_of(make_block("a", fields("a", 540)))))
    assert (words.todo, len(words.notes)) == ((), 1)
