"""Sessions and messages to try a store with."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from tests.factories.sessions import with_fields

from fateforger.planning.plan import ET, TBEvent, TBPlan
from fateforger.planning.timing import FixedStart
from fateforger.session.cards import Button, Card, Controls, Prose
from fateforger.session.messages import Outgoing
from fateforger.session.model import DayInputs, InputFacts, Planning, Session, Task

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


BLOCK = TBEvent(
    name="Deep work",
    description="notes",
    type=ET.DEEP_WORK,
    timing=FixedStart(start=time(9, 0), duration=timedelta(minutes=90)),
)


def later(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def session(id: str = "s1", **changes: Any) -> Session:  # noqa: A002  the field's name
    """Return a session that is new and not posted yet."""
    values: dict[str, Any] = {
        "id": id,
        "user_id": "U1",
        "channel": "D1",
        "created_at": NOON,
        "touched_at": NOON,
        "tz": "Europe/Berlin",
        "date": date(2026, 3, 3),
        "day": DayInputs(
            inputs=InputFacts(tasks=(Task(id="t", title="Écrire “le” rapport 📝", minutes=45, one_thing=True),))
        ),
        "planning": Planning(plan=TBPlan(date=date(2026, 3, 3), tz="Europe/Berlin", events=(BLOCK,))),
    }
    return with_fields(Session(**values), **changes)


def message(id: str, slot: str = "card", session_id: str = "s1", **changes: Any) -> Outgoing:  # noqa: A002  the field's name
    return Outgoing(id=id, session_id=session_id, channel="D1", slot=slot, card=card(id), **changes)


def card(text: str) -> Card:
    return Card(
        text=text,
        parts=(Prose(text=f"**{text}** “ok”"), Controls(items=(Button(label="Go on", action="proceed", target="x"),))),
    )
