"""A plan on its way to another day, and a program that dies in between."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.unit.conversation.person import MONDAY, House, Person
from tests.unit.conversation.queue.desk import Desk

from fateforger.session.commands.day import TickItems
from fateforger.session.commands.plan import MovePlan
from fateforger.session.commands.thread import StageAction
from fateforger.session.model import Session, SessionStatus
from fateforger.session.stages import Move

THURSDAY = MONDAY + timedelta(days=3)


def titles(session: Session) -> list[str]:
    return sorted(task.title for task in session.day.inputs.tasks)


async def on_thursday(house: House) -> Session:
    (found,) = await house.store.sessions.on_days("U_ANNA", THURSDAY)
    return found


@pytest.mark.parametrize("place", ["enqueue 0", "enqueue 1", "enqueue 3", "save 0"])
async def test_a_death_while_a_plan_moves_loses_nothing(
    house: House, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """S250: It dies between drafting there and taking away here; after the restart it goes on, and one Undo takes it back."""
    anna, desk = Person(house), Desk(house)
    await anna.to_refine("Write report", "Call the bank")
    before = await anna.session()
    about: dict[str, Any] = {"user_id": anna.user, "at": house.clock.now(), "session_id": before.id}
    move = MovePlan(command_id="move-1", day=THURSDAY, **about)

    name, _, steps = place.partition(" ")
    owner = type(house.store.jobs if name == "enqueue" else house.store.sessions)
    real, left = getattr(owner, name), iter([True] * int(steps))

    async def die(self: Any, *given: Any, **more: Any) -> Any:
        if not next(left, False):
            raise SystemExit("killed")
        return await real(self, *given, **more)

    monkeypatch.setattr(owner, name, die)
    with pytest.raises(SystemExit):
        await house.coordinator.handle(move)
    monkeypatch.setattr(owner, name, real)
    assert titles(await anna.session()) == titles(before)

    await desk.reboot()
    await desk.run_commands()
    await house.coordinator.handle(move)
    await desk.run_commands()
    assert titles(await anna.session()) == []
    there = await on_thursday(house)
    assert there.planning.plan is not None
    assert titles(there) == ["Call the bank", "Write report"]

    await house.coordinator.handle(StageAction(command_id="undo-1", move=Move.UNDO_LAST_UPDATE, **about))
    await desk.run_commands()
    after = await anna.session()
    assert titles(after) == titles(before)
    assert after.planning.plan is not None
    assert before.planning.plan is not None
    assert {event.name for event in after.planning.plan.events} == {event.name for event in before.planning.plan.events}
    assert (await on_thursday(house)).status is SessionStatus.CANCELLED


async def test_an_empty_day_whose_plan_moved_is_not_graded(house: House) -> None:
    """S50, S250: nothing is missing on it, and no work is suggested."""
    anna, desk = Person(house), Desk(house)
    await anna.to_refine("Write report", "Call the bank")
    assert await anna.fill("move_plan", day=THURSDAY.isoformat()) is None
    await desk.run_commands()
    await anna.read()

    def read_card() -> str:
        here = (message.card for message in reversed(anna.arrived) if message.session_id == anna.session_id)
        return "\n".join(getattr(part, "text", "") for part in next(here).parts)

    assert "The plan has no blocks" in read_card()
    assert "Quality" not in read_card()
    about: dict[str, Any] = {"user_id": anna.user, "at": house.clock.now(), "session_id": anna.session_id}
    await anna.send(StageAction(command_id="undo-1", move=Move.UNDO_LAST_UPDATE, **about))
    assert "Quality 4 of 4, Ultra." in read_card()


async def test_what_was_ticked_before_the_plan_moved_is_opened_again_on_its_new_day(house: House) -> None:
    """S248: the queue follows the box to the other day."""
    anna, desk = Person(house), Desk(house)
    for title in ("Bank", "Expenses", "Train"):
        await desk.adds(title, work={"kind": "do", "minutes": 10}, details={"kind": "shallow"})
    await anna.to_tasks()
    for label in ("Add all 3 from the queue", "Put together", "Continue", "Refine", "Commit to calendar", "☐ Bank"):
        await anna.press(label)
    about: dict[str, Any] = {"user_id": anna.user, "at": house.clock.now()}
    await house.coordinator.handle(
        MovePlan(command_id="move-1", session_id=(await anna.session()).id, day=THURSDAY, **about)
    )
    await desk.run_commands()
    assert [task.spec.title for task in await desk.tasks()] == ["Expenses", "Train"]
    there = await on_thursday(house)
    (box,) = there.day.inputs.tasks
    untick = TickItems(command_id="untick-1", session_id=there.id, items=((box.id, 0),), done=False, **about)
    await house.coordinator.handle(untick)
    assert sorted(task.spec.title for task in await desk.tasks()) == ["Bank", "Expenses", "Train"]
