"""A finished session that the person left is closed silently once its day is over (S211)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from tests.factories.sessions import with_fields
from tests.unit.conversation.person import Harness, Person

from fateforger.conversation.session_messages import SessionCloser, is_abandoned
from fateforger.planning.plan import TBPlan
from fateforger.session.commands import COMMAND
from fateforger.session.edits import is_okay
from fateforger.session.model import Session, SessionStatus
from fateforger.values import replace

MIDNIGHT = datetime(2026, 3, 2, 23, 0, tzinfo=UTC)
"""The end of Monday in Amsterdam."""


async def look(harness: Harness) -> int:
    """Run one round and its jobs; return the number of sessions that got a command."""
    await SessionCloser(harness.store.sessions, harness.store.jobs, harness.clock).run_once()
    told, now = 0, harness.clock.now()
    while job := await harness.store.jobs.claim("turn", "test", now=now, lease_seconds=60):
        await harness.coordinator.handle(COMMAND.validate_python(job.payload))
        await harness.store.jobs.finish(job)
        told += 1
    return told


async def test_it_closes_once_its_day_is_over(harness: Harness, anna: Person) -> None:
    """S211: cards change where they are; nothing is posted, nothing is written, and what is on the calendar stays."""
    await anna.to_committed()
    shown, arrived, writes = harness.on_calendar(), len(anna.arrived), len(harness.calendar.writes)
    before = await anna.session()
    harness.clock.at = MIDNIGHT
    assert await look(harness) == 1
    await anna.read()
    assert (await anna.session()).status is SessionStatus.CANCELLED
    assert (await anna.session()).touched_at == before.touched_at
    assert {message.slot for message in anna.arrived[arrived:]} == {"root", "stage:5"}
    assert all(message.stays for message in anna.arrived[arrived:])
    assert anna.root == "Monday 2 March: planned, on your calendar"
    assert anna.labels() == []
    assert harness.on_calendar() == shown
    assert len(harness.calendar.writes) == writes
    assert await look(harness) == 0
    await anna.says("and now?")
    assert "This plan is closed" in anna.asides[-1].text


async def test_what_stands_beside_the_plan_is_put_away_too(harness: Harness, anna: Person) -> None:
    await anna.to_committed()
    await anna.press("History")
    harness.clock.at = MIDNIGHT
    await look(harness)
    await anna.read()
    assert anna.buttons_beside("history") == []


async def test_somebody_who_comes_back_in_between_keeps_it(harness: Harness, anna: Person) -> None:
    await anna.to_committed()
    harness.clock.at = MIDNIGHT
    await SessionCloser(harness.store.sessions, harness.store.jobs, harness.clock).run_once()
    await anna.press("Back to refine")
    assert await look(harness) == 1
    assert (await anna.session()).status is SessionStatus.ACTIVE


@pytest.mark.parametrize(
    ("hours", "touched", "okay", "closes"),
    [
        (0, 6, True, True),
        (0, 6, False, False),
        (0, 5.99, True, False),
        (-0.01, 12, True, False),
        (24, 30, True, True),
    ],
    ids=["okay", "not okay", "touched", "the day goes on", "a day later"],
)
async def test_when_it_is_left_alone(anna: Person, hours: float, touched: float, *, okay: bool, closes: bool) -> None:
    """S211: Okay or better, its day over (until then it can be refitted and undone in its thread), idle for hours."""
    await anna.to_refine("Report")
    now = MIDNIGHT + timedelta(hours=hours)
    session = await anna.session()
    plan = session.planning.plan if okay else TBPlan(date=session.date, tz=session.tz)
    left = with_fields(session, touched_at=now - timedelta(hours=touched), plan=plan)
    assert is_okay(left) is okay
    assert is_abandoned(left, now) is closes


async def test_what_was_never_drafted_or_has_ended_is_left_as_it_is(anna: Person) -> None:
    await anna.to_tasks()
    assert not is_abandoned(await anna.session(), MIDNIGHT + timedelta(days=1))
    ended: Session = replace((await anna.session()), status=SessionStatus.CANCELLED)
    assert not is_abandoned(ended, MIDNIGHT + timedelta(days=1))
