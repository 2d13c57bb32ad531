"""A person who lets the bot write by itself: time passes in quarters of an hour."""

from __future__ import annotations

from datetime import datetime, time, timedelta
from typing import Any

from tests.unit.conversation.person import Person
from tests.unit.conversation.queue.desk import Desk, buttons

from fateforger.planning.timing import zone
from fateforger.session.cards import Card
from fateforger.session.queue_commands import ChangeRituals, QueueCommand, RitualChange
from fateforger.values import replace


class Early(Desk):
    """``letters`` are the cards that came."""

    async def chooses(self, **change: Any) -> Card:
        return await self.send(ChangeRituals(**self.about(), change=RitualChange(**change)))

    def pressed_label(self, label: str) -> QueueCommand:
        """Return the command of a button of the newest card; ``9.0`` is the message."""
        (button,) = (button for _, button in buttons(self.card) if button.label == label)
        return replace(self.pressed(button), thread_ts="9.0")

    async def until(self, clock: str, *, days: int = 0) -> list[str]:
        """Let time pass until a local time, and return the messages that came by themselves."""
        before = len(self.letters)
        now = self.house.clock.at.astimezone(zone("Europe/Amsterdam"))
        end = datetime.combine(now.date() + timedelta(days=days), time.fromisoformat(clock), tzinfo=now.tzinfo)
        while self.house.clock.at < end:
            self.house.clock.at = min(end, self.house.clock.at + timedelta(minutes=15))
            await self.house.rituals.send_due()
        await self.read()
        return [letter["card"]["text"] for letter in self.letters[before:]]


async def commit_monday(house: Any, anna: Desk) -> Person:
    """Commit Monday with a task of the queue and one of its own."""
    await anna.adds("Ask Ann", work={"kind": "do", "minutes": 30})
    person = Person(house)
    await person.to_tasks()
    await person.press("Add")
    await person.fill("tasks", title_2="Taxes", minutes_2=60, proceed=False)
    await person.press("Continue")
    await person.press("Refine")
    await person.press("Commit to calendar")
    return person
