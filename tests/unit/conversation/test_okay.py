"""Writing by itself once a plan is Okay: only for those who chose it (S210, K1)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.google_calendar import CallFailure
from tests.unit.conversation.person import Harness, Person, open_harness_at

BY_ITSELF = "so it goes to your calendar by itself."
WAITS = "Nothing more goes to your calendar until this plan is at level 2 of 4 (Okay) again."


@pytest.fixture
async def okay(tmp_path: Path) -> AsyncIterator[Harness]:
    opened = await open_harness_at(tmp_path, calendar_write="okay")
    yield opened
    await opened.close()


async def test_an_okay_plan_is_written_without_a_commit(okay: Harness) -> None:
    """S210: a note says so, each change follows, and all of it can be taken off again."""
    anna = Person(okay)
    await anna.to_refine("Report", "Mail")
    assert okay.on_calendar() == {"Report": "09:00-10:00", "Mail": "10:10-11:10", "Lunch": "12:30-13:15"}
    assert "at level 4 of 4 (Ultra), " + BY_ITSELF in anna.words
    assert "Calendar: 4 created." in anna.words
    await anna.choose("Mail", "15 min later")
    assert okay.on_calendar()["Mail"] == "10:25-11:25"
    await anna.press("Undo last update")
    assert okay.on_calendar()["Mail"] == "10:10-11:10"
    await anna.press("Take all of it off the calendar")
    assert okay.on_calendar() == {}


async def test_a_plan_that_is_less_waits_until_it_is_okay(okay: Harness) -> None:
    """S210: what waited goes to the calendar as one, and is taken back as one."""
    anna = Person(okay)
    await anna.to_refine("Report", "Mail")
    written = okay.on_calendar()
    await anna.fill_row("Report", "edit_block", start="16:00")
    assert "Quality 1 of 4, Minimal." in anna.words
    assert WAITS in anna.words
    await anna.fill_row("Mail", "edit_block", start="11:00")
    assert okay.on_calendar() == written
    await anna.fill_row("Report", "edit_block", start="09:00")
    assert okay.on_calendar() == written | {"Mail": "11:00-12:00"}
    await anna.press("Undo last update")
    assert okay.on_calendar() == written
    assert anna.rows()[0].startswith("**09:00–10:00** Report ⭐")


@pytest.mark.parametrize("when", ["refine", "commit"])
async def test_it_is_not_so_unless_it_was_chosen(tmp_path: Path, when: str) -> None:
    """S210: opt-in; by the same select it begins at once, and the next session begins with it."""
    harness = await open_harness_at(tmp_path, calendar_write=when)  # type: ignore[arg-type]  # both are
    anna = Person(harness)
    await anna.to_refine("Report", "Mail")
    assert harness.calendar.writes == []
    await anna.pick("set_calendar_write", "okay")
    assert harness.on_calendar() == {"Report": "09:00-10:00", "Mail": "10:10-11:10", "Lunch": "12:30-13:15"}
    later = Person(harness)
    await later.start()
    assert (await later.session()).options.calendar_write == "okay"
    await harness.close()


async def test_a_day_that_could_not_be_read_is_not_written_by_itself(okay: Harness) -> None:
    """S210: the meetings that the plan may run into are unknown."""
    for nth in range(20):
        okay.calendar.inject(CallFailure(), verb="window", nth=nth)
    anna = Person(okay)
    await anna.to_refine("Report", "Mail")
    assert BY_ITSELF not in anna.words
    okay.calendar.calm()
    await anna.press("Redo step")
    assert okay.calendar.writes == []
