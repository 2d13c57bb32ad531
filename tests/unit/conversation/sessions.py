"""Sessions for tests of the turn and its cards."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from typing import Any

from tests.factories.sessions import with_fields

from fateforger.calendar.conflicts import Conflict
from fateforger.calendar.event import EventFields, EventImage
from fateforger.calendar.model import Snapshot
from fateforger.conversation.turn_values import TurnInput
from fateforger.planning.timing import instant_of, zone
from fateforger.session.commands import COMMAND
from fateforger.session.commands.thread import StageAction
from fateforger.session.draft import draft_day
from fateforger.session.model import DayInputs, Question, Session, Task
from fateforger.session.stages import Move, TimeboxingStage

MORNING = datetime(2026, 3, 2, 7, 0, tzinfo=UTC)
MONDAY = date(2026, 3, 2)
TZ = "Europe/Amsterdam"


def at(clock: str, day: date = MONDAY) -> datetime:
    return instant_of(datetime.combine(day, time.fromisoformat(clock)), zone(TZ))


def event(title: str, start: str, end: str, **more: Any) -> EventImage:
    return EventImage(id=title.lower(), summary=title, start=at(start), end=at(end), **more)


def session(stage: TimeboxingStage = TimeboxingStage.DATE, *events: EventImage, **more: Any) -> Session:
    """Return a session whose calendar was read."""
    base = Session(
        id="s1",
        user_id="U1",
        channel="C1",
        created_at=MORNING,
        touched_at=MORNING,
        tz=TZ,
        date=MONDAY,
        stage=stage,
        day=DayInputs(snapshot=Snapshot(day=MONDAY, tz=TZ, events=events)),
    )
    return with_fields(base, **more)


def task(title: str, minutes: int | None = 60, **more: Any) -> Task:
    return Task(id=title.lower(), title=title, minutes=minutes, **more)


def plan_session(stage: TimeboxingStage, *tasks: Task, events: tuple[EventImage, ...] = (), **more: Any) -> Session:
    """Return a session with a fresh draft of these tasks."""
    from fateforger.session.model import InputFacts

    base = session(stage, *events, inputs=InputFacts(tasks=tasks or (task("Report"), task("Mail"))))
    fresh = draft_day(base)
    assert fresh.planning.plan is not None
    # The end of the day, which each draft has, does not matter here.
    plan = fresh.planning.plan.replace(event for event in fresh.planning.plan.events if event.name != "Shut down")
    return with_fields(fresh.with_planning(plan=plan), **more)


def question(key: str, topic: str = "time", **more: Any) -> Question:
    """Return a question about a block that the person and the plan both changed."""
    base = EventFields(summary="Mail", start=at("10:00"), end=at("11:00"), color_id="9")
    there = EventFields(summary="Post", description="mine", start=at("14:00"), end=at("15:00"), color_id="11")
    here = EventFields(summary="Letters", description="", start=at("11:00"), end=at("12:00"), color_id="8")
    values = {"key": key, "event_id": f"fftb{'0' * 32}", "title": "Mail", "topic": topic, "base": base, "plan": here}
    calendar = None if topic == "deleted" else there
    return Question(conflict=Conflict.model_validate({**values, "calendar": calendar}), **more)


def make_command(kind: str, **values: Any) -> Any:
    """Return a command of that kind."""
    envelope = {"command_id": "c1", "user_id": "U1", "at": MORNING, "session_id": "s1", "kind": kind}
    return COMMAND.validate_python(envelope | values)


def move(wanted: Move, seen: str | None = None) -> StageAction:
    return StageAction(command_id="c1", user_id="U1", at=MORNING, session_id="s1", move=wanted, seen=seen)


def turn(now: Session, command: Any, **more: Any) -> TurnInput:
    return TurnInput(session=now, command=command, **more)
