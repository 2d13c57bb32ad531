"""The calendar of a day as a plan (S76, S230, S231)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

import pytest
from tests.factories.days import DAY, at, snapshot_of
from tests.factories.paper import Paper, day_of, event, fields, wanted

from fateforger.calendar.adoption import plan_from_calendar, select_day_events
from fateforger.calendar.event import EventImage
from fateforger.errors import BadInput
from fateforger.planning.plan import ET, overlaps, resolve
from fateforger.planning.timing import FixedWindow
from fateforger.planning.wire import read_plan


def image(event_id: str, start: str = "09:00", end: str = "10:00", **more: object) -> EventImage:
    values = {"summary": event_id, "start": at(start), "end": at(end), **more}
    return EventImage.model_validate({"id": event_id, **values})


def test_timed_events_in_order() -> None:
    """S76: sorted, ids along with them; cancelled, all-day, free and empty ones left out."""
    read = plan_from_calendar(
        snapshot_of(
            image("late", "15:00", "16:00", color_id="9", description=" notes "),
            image("early", "08:00", "09:00"),
            image("gone", status="cancelled"),
            image("holiday").model_copy(update={"start": DAY, "end": date(2026, 3, 3)}),
            image("free", busy=False),
            image("moment", "12:00", "12:00"),
        )
    )
    assert read.ids == ("early", "late")
    assert read.owned == (False, False)
    early, late = read.plan.events
    assert (early.name, early.type, early.timing) == (
        "early",
        ET.MEETING,
        FixedWindow(start=time(8), end=time(9)),
    )
    assert (late.description, late.type) == ("notes", ET.DEEP_WORK)


def test_overlapping_events_are_read() -> None:
    """S67: a calendar may overlap."""
    read = plan_from_calendar(snapshot_of(image("a", "09:00", "11:00"), image("b", "10:00", "12:00")))
    assert len(overlaps(resolve(read.plan))) == 1


def test_what_began_yesterday_and_what_ends_tomorrow() -> None:
    """S230"""
    before = image("before").model_copy(update={"start": at("22:00", date(2026, 3, 1)), "end": at("06:00")})
    after = image("after").model_copy(update={"start": at("23:00"), "end": at("07:00", date(2026, 3, 3))})
    other = image("other").model_copy(
        update={"start": at("09:00", date(2026, 3, 3)), "end": at("10:00", date(2026, 3, 3))}
    )
    ended = image("ended").model_copy(update={"start": at("22:00", date(2026, 3, 1)), "end": at("00:00")})
    snapshot = snapshot_of(other, after, before, ended)
    assert [e.id for e in select_day_events(snapshot)] == ["before", "after"]
    spans = [(r.start.astimezone(UTC), r.end.astimezone(UTC)) for r in resolve(plan_from_calendar(snapshot).plan)]
    assert spans == [(before.start, before.end), (after.start, after.end)]


@pytest.mark.parametrize(("hour", "minute"), [(0, 30), (1, 10), (0, 10)])
def test_the_hour_that_happens_twice(hour: int, minute: int) -> None:
    """P14, S231: 02:30 summer time to 02:15 winter time is 45 minutes, and so it is in either pass; kept as JSON, too."""
    day = date(2026, 10, 25)
    start = datetime(2026, 10, 25, hour, minute, tzinfo=UTC)
    fold = EventImage(id="x", summary="x", start=start, end=start + timedelta(minutes=45))
    read = plan_from_calendar(snapshot_of(fold, day=day))
    kept = read_plan(read.plan.model_dump(mode="json", by_alias=True))
    for plan in (read.plan, kept):
        (block,) = resolve(plan)
        assert (block.start.astimezone(UTC), block.minutes) == (start, 45)


@pytest.mark.parametrize(("title", "name"), [("", "(no title)"), ("  ", "(no title)"), ("x" * 10_000, "x" * 299 + "…")])
def test_titles_that_a_plan_cannot_hold(title: str, name: str) -> None:
    read = plan_from_calendar(snapshot_of(image("a", summary=title, description="y" * 10_000)))
    assert (read.plan.events[0].name, len(read.plan.events[0].description)) == (name, 8_000)


def test_three_hundred_meetings() -> None:
    images = [image(f"m{n:03d}", "09:00", "10:00") for n in range(401)]
    assert len(plan_from_calendar(snapshot_of(*images[:300])).plan.events) == 300
    with pytest.raises(BadInput, match="401 events"):
        plan_from_calendar(snapshot_of(*images))


def test_blocks_of_ours_keep_their_key() -> None:
    paper = (
        Paper().submit(day_of(wanted("a", fields("Focus", 540))))[0].with_event(event("user1", fields("Dentist", 700)))
    )
    read = plan_from_calendar(paper.snapshot(), paper.ledger)
    assert (read.ids, read.owned) == ((paper.shown("a").id, "user1"), (True, False))
    assert read.plan.events[0].key == "a"
