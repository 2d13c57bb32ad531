"""The events of a calendar that count for a day (S76, S230)."""

from __future__ import annotations

from datetime import date, time, timedelta

from tests.unit.conversation.sessions import MONDAY, at, event, plan_session, session

from fateforger.calendar.decision import mint
from fateforger.calendar.event import EventImage, Marker
from fateforger.session.day import busy_meetings, on_calendar, own_key
from fateforger.session.model import FrameFacts
from fateforger.session.stages import TimeboxingStage
from fateforger.values import replace

TUESDAY = date(2026, 3, 3)


def ours(key: str, start: str, end: str, day: date = MONDAY, **more: object) -> EventImage:
    marker = Marker(key=key, generation=0, day=day, op_id="op")
    base = event(key, start, end, properties=marker.properties())
    return base.model_copy(update={"id": str(mint(key)), **more})


def titles(*events: EventImage, **more: object) -> list[str]:
    return [m.title for m in on_calendar(session(TimeboxingStage.REFINE, *events, **more)).timed]


def test_events_of_the_day_in_order() -> None:
    """S76: one that began yesterday counts, one that ended at midnight does not, nor a cancelled one."""
    yesterday = event("Red-eye", "23:00", "23:30").model_copy(
        update={"start": at("23:00", date(2026, 3, 1)), "end": at("01:00")}
    )
    done = yesterday.model_copy(update={"id": "x", "summary": "Over", "end": at("00:00")})
    gone = event("Gone", "11:00", "12:00", status="cancelled")
    assert titles(event("B", "10:00", "11:00"), event("A", "09:00", "10:00"), yesterday, done, gone) == [
        "Red-eye",
        "A",
        "B",
    ]


def test_the_night_counts_when_the_frame_reaches_into_it() -> None:
    night = event("Call Tokyo", "09:00", "10:00").model_copy(
        update={"start": at("01:00", TUESDAY), "end": at("02:00", TUESDAY)}
    )
    assert titles(night) == []
    assert titles(night, frame=FrameFacts(day_start=time(20), day_end=time(4))) == ["Call Tokyo"]


def test_all_day_events_are_told_apart() -> None:
    day = EventImage(id="d", summary="Fair", start=date(2026, 3, 1), end=TUESDAY)
    over = EventImage(id="o", summary="Over", start=date(2026, 3, 1), end=MONDAY)
    found = on_calendar(session(TimeboxingStage.REFINE, day, over))
    assert (found.timed, found.all_day) == ((), ("Fair",))


def test_what_blocks_time() -> None:
    free = event("Music", "09:00", "10:00", busy=False)
    moment = event("Reminder", "12:00", "12:00")
    untitled = event("x", "14:00", "15:00").model_copy(update={"summary": " "})
    now = session(TimeboxingStage.REFINE, free, moment, untitled)
    assert [m.title for m in on_calendar(now).timed] == ["Music", "Reminder", "(no title)"]
    assert [m.title for m in busy_meetings(now)] == ["(no title)"]


def test_our_own_blocks_are_no_meetings() -> None:
    """Blocks of this plan are left out, and those of an earlier plan of the day are separate.

    Copies, occurrences and blocks of another day's plan are the person's.
    """
    here, before = ours("report", "09:00", "10:00"), ours("old", "11:00", "12:00")
    copy = here.model_copy(update={"id": "copy", "summary": "Copy"})
    occurrence = ours("series", "13:00", "14:00", series_id="s", summary="Occurrence")
    other_day = ours("tuesday", "15:00", "16:00", day=TUESDAY, summary="Other plan")
    now = plan_session(TimeboxingStage.REFINE, events=(here, before, copy, occurrence, other_day))
    found = on_calendar(now)
    assert [m.title for m in found.timed] == ["Copy", "Occurrence", "Other plan"]
    assert [m.title for m in found.earlier] == ["old"]
    assert (own_key(here, MONDAY), own_key(other_day, MONDAY)) == ("report", None)


def test_a_snapshot_of_another_day_is_not_looked_at() -> None:
    now = session(TimeboxingStage.REFINE, event("A", "09:00", "10:00"))
    other = replace(now, date=now.date + timedelta(days=1))
    assert on_calendar(other) == on_calendar(now.with_day(snapshot=None))
