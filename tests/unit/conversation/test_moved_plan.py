"""A plan on its way to another day, and a program that dies in between."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.unit.conversation.person import MONDAY, Harness, Person
from tests.unit.conversation.queue.person import QueuePerson

from fateforger.session.commands.day import TickItems
from fateforger.session.commands.plan import MovePlan
from fateforger.session.commands.thread import StageAction
from fateforger.session.model import Session, SessionStatus
from fateforger.session.stages import Move

THURSDAY = MONDAY + timedelta(days=3)


def titles(session: Session) -> list[str]:
    return sorted(task.title for task in session.day.inputs.tasks)


async def on_thursday(harness: Harness) -> Session:
    (found,) = await harness.store.sessions.on_days("U_ANNA", THURSDAY)
    return found


@pytest.mark.parametrize("place", ["enqueue 0", "enqueue 1", "enqueue 3", "save 0"])
async def test_a_death_while_a_plan_moves_loses_nothing(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """S250: It dies between drafting there and taking away here; after the restart it goes on, and one Undo takes it back."""
    anna, queue_person = Person(harness), QueuePerson(harness)
    await anna.to_refine("Write report", "Call the bank")
    before = await anna.session()
    about: dict[str, Any] = {"user_id": anna.user, "at": harness.clock.now(), "session_id": before.id}
    move = MovePlan(command_id="move-1", day=THURSDAY, **about)

    name, _, steps = place.partition(" ")
    owner = type(harness.store.jobs if name == "enqueue" else harness.store.sessions)
    real, left = getattr(owner, name), iter([True] * int(steps))

    async def die(self: Any, *given: Any, **more: Any) -> Any:
        if not next(left, False):
            raise SystemExit("killed")
        return await real(self, *given, **more)

    monkeypatch.setattr(owner, name, die)
    with pytest.raises(SystemExit):
        await harness.coordinator.handle(move)
    monkeypatch.setattr(owner, name, real)
    assert titles(await anna.session()) == titles(before)

    await queue_person.reboot()
    await queue_person.run_commands()
    await harness.coordinator.handle(move)
    await queue_person.run_commands()
    assert titles(await anna.session()) == []
    there = await on_thursday(harness)
    assert there.planning.plan is not None
    assert titles(there) == ["Call the bank", "Write report"]

    await harness.coordinator.handle(StageAction(command_id="undo-1", move=Move.UNDO_LAST_UPDATE, **about))
    await queue_person.run_commands()
    after = await anna.session()
    assert titles(after) == titles(before)
    assert after.planning.plan is not None
    assert before.planning.plan is not None
    assert {event.name for event in after.planning.plan.events} == {event.name for event in before.planning.plan.events}
    assert (await on_thursday(harness)).status is SessionStatus.CANCELLED


async def test_an_empty_day_whose_plan_moved_is_not_graded(harness: Harness) -> None:
    """S50, S250: nothing is missing on it, and no work is suggested."""
    anna, queue_person = Person(harness), QueuePerson(harness)
    await anna.to_refine("Write report", "Call the bank")
    assert await anna.fill("move_plan", day=THURSDAY.isoformat()) is None
    await queue_person.run_commands()
    await anna.read()

    def read_card() -> str:
        here = (message.card for message in reversed(anna.arrived) if message.session_id == anna.session_id)
        return "\n".join(getattr(part, "text", "") for part in next(here).parts)

    assert "The plan has no blocks" in read_card()
    assert "Quality" not in read_card()
    about: dict[str, Any] = {"user_id": anna.user, "at": harness.clock.now(), "session_id": anna.session_id}
    await anna.send(StageAction(command_id="undo-1", move=Move.UNDO_LAST_UPDATE, **about))
    assert "Quality 4 of 4, Ultra." in read_card()


async def test_what_was_ticked_before_the_plan_moved_is_opened_again_on_its_new_day(harness: Harness) -> None:
    """S248: the queue follows the box to the other day."""
    anna, queue_person = Person(harness), QueuePerson(harness)
    for title in ("Bank", "Expenses", "Train"):
        await queue_person.adds(title, work={"kind": "do", "minutes": 10}, details={"kind": "shallow"})
    await anna.to_tasks()
    for label in ("Add all 3 from the queue", "Put together", "Continue", "Refine", "Commit to calendar", "☐ Bank"):
        await anna.press(label)
    about: dict[str, Any] = {"user_id": anna.user, "at": harness.clock.now()}
    await harness.coordinator.handle(
        MovePlan(command_id="move-1", session_id=(await anna.session()).id, day=THURSDAY, **about)
    )
    await queue_person.run_commands()
    assert [task.spec.title for task in await queue_person.tasks()] == ["Expenses", "Train"]
    there = await on_thursday(harness)
    (box,) = there.day.inputs.tasks
    untick = TickItems(command_id="untick-1", session_id=there.id, items=((box.id, 0),), done=False, **about)
    await harness.coordinator.handle(untick)
    assert sorted(task.spec.title for task in await queue_person.tasks()) == ["Bank", "Expenses", "Train"]
