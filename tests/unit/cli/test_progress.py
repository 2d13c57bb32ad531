"""Messages of a command on standard error while it works."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from fateforger.calendar.access import Wait
from fateforger.cli.sync import ProgressLines

LIMIT = "Google allows 200 requests a minute"


@dataclass
class RecordedLines:
    """Lines, and the second at which it is now."""

    now: float = 100.0
    said: list[str] = field(default_factory=list)
    lines: ProgressLines = field(init=False)

    def __post_init__(self) -> None:
        self.lines = ProgressLines(self.said.append, lambda: self.now)


@pytest.fixture
def told() -> RecordedLines:
    return RecordedLines()


def test_a_quick_command_says_nothing(told: RecordedLines) -> None:
    for done in range(41):
        told.now += 0.02
        told.lines(done, 40)
    assert told.said == []


def test_a_slow_one_counts_about_once_a_second(told: RecordedLines) -> None:
    for done in range(11):
        told.lines(done, 10)
        told.now += 0.5
    assert told.said == [f"{done} of 10 written." for done in (2, 4, 6, 8, 10)]


def test_a_wait_is_said_at_once_and_once(told: RecordedLines) -> None:
    """Four writes wait together, and then for what is still missing."""
    for _ in range(4):
        told.lines(12, 40, Wait(22.1, LIMIT))
        told.now += 0.1
    told.now += 22
    told.lines(13, 40, Wait(9, LIMIT))
    assert told.said == [
        "12 of 40 written; waiting 23 s: Google allows 200 requests a minute.",
        "13 of 40 written; waiting 9 s: Google allows 200 requests a minute.",
    ]


def test_a_wait_that_nobody_notices_is_not_said(told: RecordedLines) -> None:
    told.lines(12, 40, Wait(0.4, LIMIT))
    assert told.said == []


def test_a_wait_before_anything_is_known(told: RecordedLines) -> None:
    told.lines.announce_reading()
    told.lines(0, 0, Wait(23, LIMIT))
    told.lines.announce_reading()
    assert told.said == ["Reading your calendar.", "Waiting 23 s: Google allows 200 requests a minute."]
