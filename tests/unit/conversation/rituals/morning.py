"""A person who lets the bot write by itself: time passes in quarters of an hour."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Any

from tests.unit.conversation.person import Person
from tests.unit.conversation.queue.person import QueuePerson, buttons

from fateforger.planning.timing import zone
from fateforger.session.cards import Card
from fateforger.session.queue_commands import ChangeRituals, QueueCommand, RitualChange
from fateforger.values import replace


class MorningPerson(QueuePerson):
    """``letters`` are the cards that came."""

    async def chooses(self, **change: Any) -> Card:
        return await self.send(ChangeRituals(**self.about(), change=RitualChange(**change)))

    def pressed_label(self, label: str) -> QueueCommand:
        """Return the command of a button of the newest card; ``9.0`` is the message."""
        (button,) = (button for _, button in buttons(self.card) if button.label == label)
        return replace(self.read_press(button), thread_ts="9.0")

    async def until(self, clock: str, *, days: int = 0) -> list[str]:
        """Let time pass until a local time, and return the messages that came by themselves."""
        before = len(self.deliveries)
        now = self.harness.clock.at.astimezone(zone("Europe/Amsterdam"))
        end = datetime.combine(now.date() + timedelta(days=days), time.fromisoformat(clock), tzinfo=now.tzinfo)
        while self.harness.clock.at < end:
            self.harness.clock.at = min(end, self.harness.clock.at + timedelta(minutes=15))
            await self.harness.rituals.send_due()
        await self.read()
        return [delivery["card"]["text"] for delivery in self.deliveries[before:]]


async def commit_monday(harness: Any, anna: QueuePerson) -> Person:
    """Commit Monday with a task of the queue and one of its own."""
    await anna.adds("Ask Ann", work={"kind": "do", "minutes": 30})
    person = Person(harness)
    await person.to_tasks()
    await person.press("Add")
    await person.fill("tasks", title_2="Taxes", minutes_2=60, proceed=False)
    await person.press("Continue")
    await person.press("Refine")
    await person.press("Commit to calendar")
    return person
