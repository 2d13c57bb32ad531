"""Drafts by a model ahead of time, through the coordinator (S44-S47, S119, S120, S232)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.coordinator.person import House, Person, local

from fateforger.plan import resolve
from fateforger.ports import Completion, Prompt
from fateforger.session.model import Session
from fateforger.stages import TimeboxingStage

Stage = TimeboxingStage


def at(task: int, start: str, minutes: int = 60) -> dict[str, Any]:
    return {"task": task, "title": None, "type": "DW", "start": start, "minutes": minutes}


def rest(title: str, start: str, minutes: int) -> dict[str, Any]:
    return {"task": None, "title": title, "type": "R", "start": start, "minutes": minutes}


AFTER_TEN = {"blocks": [at(1, "10:00"), rest("Walk", "11:00", 15), at(2, "13:30")]}
LATER = {"blocks": [at(1, "11:00"), at(2, "14:00")]}
OWN = ["09:00 Report", "10:10 Mail", "12:30 Lunch"]
"""What our own rules make of it."""


class Thinking:
    """A model whose answers come when the test says so. ``under_way`` and ``most`` count requests at the same time."""

    def __init__(self, *lines: Line) -> None:
        self.says = ScriptedModel(*lines)
        self.asked = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.under_way = self.most = self.cancelled = 0

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        self.asked.set()
        try:
            await self.may_answer.wait()
            return await self.says.complete(prompt, seconds=seconds)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        finally:
            self.under_way -= 1

    async def aclose(self) -> None:
        """Nothing to let go of."""


def listening(house: House, model: ScriptedModel | Thinking) -> Person:
    """A person at a house with that model."""
    house.model = model
    house.restart()
    return Person(house)


async def listed(anna: Person) -> None:
    """Two tasks on the list, and not a step further."""
    await anna.to_tasks()
    await anna.fill(
        "tasks", size=3, one_thing="1", proceed=False, title_1="Report", minutes_1=60, title_2="Mail", minutes_2=60
    )


async def until(holds: Callable[[], bool], what: str) -> None:
    """Let the background go on until it holds."""
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.sleep(0)
    assert holds(), what


async def until_kept(anna: Person) -> Session:
    async with asyncio.timeout(10):
        while (session := await anna.session()).sketch is None:
            await asyncio.sleep(0)
    return session


def blocks(session: Session) -> list[str]:
    assert session.plan is not None
    return [f"{local(b.start)} {b.event.name}" for b in resolve(session.plan)]


async def test_s44_s45_a_draft_is_ready_before_it_is_asked_for(house: House) -> None:
    model = ScriptedModel(AFTER_TEN)
    anna = listening(house, model)
    await listed(anna)
    before = len(anna.arrived)
    kept = await until_kept(anna)
    await anna.read()
    assert (len(anna.arrived), model.asked, kept.plan) == (before, ["draft"], None)
    await anna.press("Proceed")
    assert model.asked == ["draft"]
    now = await anna.session()
    assert (now.stage, blocks(now)) == (Stage.SKELETON, ["10:00 Report", "11:00 Walk", "12:30 Lunch", "13:30 Mail"])
    assert "**10:00–11:00** Report" in anna.words
    assert (now.sketch, now.notice) == (None, None)
