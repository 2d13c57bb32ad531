"""The day as a list."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from tests.unit.conversation.sessions import TZ, at, event, plan_session, session, task

from fateforger.calendar.model import Snapshot
from fateforger.planning.timing import zone
from fateforger.session.day import on_calendar
from fateforger.session.overview import collisions, overview
from fateforger.session.stages import TimeboxingStage


def test_meetings_and_blocks_in_one_order() -> None:
    """S48, S121: titles are plain text with any contents."""
    now = plan_session(
        TimeboxingStage.SKELETON,
        task("Fix *bug*", 60, one_thing=True),
        events=(event("Stand\nup", "09:30", "10:00"),),
    )
    assert overview(now) == (
        "- **09:30–10:00** Stand up\n"
        "- **10:00–11:00** Fix \\*bug\\* ⭐ · 1 h · deep work\n"
        "- **12:30–13:15** Lunch · 45 min · break"
    )


def test_an_empty_day_says_so() -> None:
    assert overview(session(TimeboxingStage.SKELETON)) == "Nothing is planned, and no meetings either."


@pytest.mark.parametrize(
    ("start", "end", "line"),
    [
        (at("22:00"), at("06:00", date(2026, 3, 3)), "- **22:00–24:00** X (until Tuesday 06:00)"),
        (at("22:00"), at("00:00", date(2026, 3, 3)), "- **22:00–24:00** X"),
        (at("20:00", date(2026, 3, 1)), at("07:00"), "- **00:00–07:00** X (since Sunday 20:00)"),
        (
            at("20:00", date(2026, 2, 28)),
            at("07:00", date(2026, 3, 5)),
            "- **00:00–24:00** X (since Saturday 20:00) (until Thursday 07:00)",
        ),
    ],
)
def test_meetings_are_clipped_to_the_day(start: object, end: object, line: str) -> None:
    image = event("X", "09:00", "10:00").model_copy(update={"start": start, "end": end})
    assert overview(session(TimeboxingStage.SKELETON, image)) == line


def test_a_time_that_comes_twice_names_its_zone() -> None:
    """S484: in the night in which the clock is set back, and on no other day."""
    night, utc = date(2026, 10, 25), datetime(2026, 10, 25, tzinfo=UTC)
    spans = ((-1, 0.5), (0.5, 1.5), (1.5, 3))
    images = tuple(
        event("X", "09:00", "10:00").model_copy(
            update={
                "id": f"e{n}",
                "start": (utc + timedelta(hours=start)).astimezone(zone(TZ)),
                "end": (utc + timedelta(hours=end)).astimezone(zone(TZ)),
            }
        )
        for n, (start, end) in enumerate(spans)
    )
    now = session(TimeboxingStage.SKELETON, date=night, snapshot=Snapshot(day=night, tz=TZ, events=images))
    assert overview(now).split("\n") == [
        "- **01:00–02:30 CEST** X",
        "- **02:30 CEST–02:30 CET** X",
        "- **02:30 CET–04:00** X",
    ]


def test_a_meeting_of_another_calendar_says_which() -> None:
    """S76: and that name is plain text too."""
    image = event("Swimming", "09:00", "10:00").elsewhere("family@example.com", "The *A* family")
    assert overview(session(TimeboxingStage.SKELETON, image)) == "- **09:00–10:00** Swimming · The \\*A\\* family"
    day = image.model_copy(update={"start": date(2026, 3, 2), "end": date(2026, 3, 3)})
    assert on_calendar(session(TimeboxingStage.SKELETON, day)).all_day == ("Swimming (The *A* family)",)


def test_a_crowded_day_is_counted() -> None:
    crowd = tuple(
        event("X", "09:00", "10:00").model_copy(
            update={"id": f"e{n}", "start": at("08:00") + timedelta(minutes=n), "end": at("18:00")}
        )
        for n in range(60)
    )
    lines = overview(session(TimeboxingStage.SKELETON, *crowd)).split("\n")
    assert (len(lines), lines[-1]) == (41, "- … and 20 more meetings")


def test_collisions() -> None:
    now = plan_session(TimeboxingStage.REFINE, task("Report"))
    drill = event("Drill", "09:30", "10:30")
    music = event("Music", "09:00", "10:00", busy=False)
    assert now.day.snapshot is not None
    hit = now.with_day(snapshot=now.day.snapshot.model_copy(update={"events": (drill, music)}))
    assert [(b.event.name, m.title) for b, m in collisions(hit)] == [("Report", "Drill")]
    assert collisions(now) == ()
