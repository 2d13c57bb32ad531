"""Drafts by a model ahead of time, through the coordinator (S44-S47, S119, S120, S232)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import date, time
from typing import Any, TypeVar

import pytest
from tests.fakes.google_calendar import CallFailure
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import Harness, Person, local, meeting

from fateforger.conversation.language.plan_proposals import NO_ANSWER, NO_USE, TOO_SLOW
from fateforger.conversation.running_turns import STOPPED
from fateforger.errors import ModelError, ModelTimedOut, ModelUnreachable
from fateforger.planning.plan import resolve
from fateforger.ports.model import Completion, Prompt
from fateforger.session.cards import Activity, Progress
from fateforger.session.commands.thread import StageAction
from fateforger.session.model import Session
from fateforger.session.stages import Move, TimeboxingStage

Stage = TimeboxingStage


def at(task: int, start: str, minutes: int = 60) -> dict[str, Any]:
    return {"task": task, "title": None, "type": "DW", "start": start, "minutes": minutes}


def rest(title: str, start: str, minutes: int) -> dict[str, Any]:
    return {"task": None, "title": title, "type": "R", "start": start, "minutes": minutes}


AFTER_TEN = {"blocks": [at(1, "10:00"), rest("Walk", "11:00", 15), at(2, "13:30")]}
LATER = {"blocks": [at(1, "11:00"), at(2, "14:00")]}
OWN = ["09:00 Report", "10:10 Mail", "12:30 Lunch", "17:30 Shut down"]
"""The draft of the program's own rules."""


class HeldModel:
    """A model whose answers come when the test says so. ``under_way`` and ``most`` count requests at the same time."""

    time_factor = 1.0

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
        """Do nothing: there is nothing to close."""


def listening(harness: Harness, model: ScriptedModel | HeldModel) -> Person:
    """Return a person in a program with that model."""
    harness.model = model
    harness.restart()
    return Person(harness)


async def enter_tasks(anna: Person) -> None:
    """Put two tasks on the list, and go no further."""
    await anna.to_tasks()
    await anna.fill(
        "tasks", size=3, one_thing="1", proceed=False, title_1="Report", minutes_1=60, title_2="Mail", minutes_2=60
    )


T = TypeVar("T")


async def until(look: Callable[[], Awaitable[T]]) -> T:
    """Return the first result of ``look`` that is true."""
    async with asyncio.timeout(60):
        while not (seen := await look()):  # noqa: ASYNC110  the background announces nothing
            await asyncio.sleep(0)
    return seen


async def until_kept(anna: Person) -> Session:
    async def look() -> Session | None:
        session = await anna.session()
        return None if session.planning.sketch is None else session

    kept = await until(look)
    assert kept is not None
    return kept


async def until_idle(harness: Harness) -> None:
    """Wait until no draft is being made and none waits to be recorded."""

    async def look() -> bool:
        return not any(t.get_name().startswith(("drafting", "keeping")) for t in asyncio.all_tasks())

    await until(look)


def blocks(session: Session) -> list[str]:
    assert session.planning.plan is not None
    return [f"{local(b.start)} {b.event.name}" for b in resolve(session.planning.plan)]


async def test_s44_s45_a_draft_is_ready_before_it_is_asked_for(harness: Harness) -> None:
    model = ScriptedModel(AFTER_TEN)
    anna = listening(harness, model)
    await enter_tasks(anna)
    before = len(anna.arrived)
    kept = await until_kept(anna)
    await anna.read()
    assert (len(anna.arrived), model.asked, kept.planning.plan) == (before, ["draft"], None)
    await anna.press("Continue")
    assert model.asked == ["draft"]
    now = await anna.session()
    assert (now.stage, blocks(now)) == (Stage.SKELETON, ["10:00 Report", "11:00 Walk", "12:30 Lunch", "13:30 Mail"])
    assert "**10:00–11:00** Report" in anna.words
    assert (now.planning.sketch, now.thread.notice) == (None, None)


async def test_s45_tasks_and_draft_in_one_click_draft_on_the_spot(harness: Harness) -> None:
    model = ScriptedModel(AFTER_TEN)
    anna = listening(harness, model)
    await anna.to_skeleton("Report", "Mail")
    assert (model.asked, blocks(await anna.session())[0]) == (["draft"], "10:00 Report")


async def test_nothing_is_drafted_ahead_without_tasks(harness: Harness) -> None:
    model = ScriptedModel()
    anna = listening(harness, model)
    await anna.to_tasks()
    await until_idle(harness)
    assert model.asked == []


async def test_s44_nothing_is_drafted_ahead_of_a_calendar_that_was_not_read(harness: Harness) -> None:
    for nth in range(8):
        harness.calendar.inject(CallFailure(), verb="window", nth=nth)
    model = ScriptedModel()
    anna = listening(harness, model)
    await enter_tasks(anna)
    await until_idle(harness)
    assert ((await anna.session()).day.snapshot, model.asked) == (None, [])


async def test_without_a_model_all_is_as_it_was(harness: Harness) -> None:
    anna = Person(harness)
    await enter_tasks(anna)
    await anna.press("Continue")
    assert (blocks(await anna.session()), (await anna.session()).thread.notice) == (OWN, None)


async def test_s47_s119_a_draft_under_way_is_awaited_and_not_made_twice(harness: Harness) -> None:
    model = HeldModel(AFTER_TEN)
    anna = listening(harness, model)
    await enter_tasks(anna)
    await model.asked.wait()
    pressing = asyncio.create_task(anna.press("Continue"))
    await asyncio.sleep(0)
    model.may_answer.set()
    await pressing
    await until_idle(harness)
    now = await anna.session()
    assert (model.says.asked, model.most, blocks(now)[0], now.planning.sketch) == (["draft"], 1, "10:00 Report", None)


async def change_date(anna: Person) -> None:
    await anna.press("Back")
    await anna.press("Back")
    await anna.pick("choose_date", date(2026, 3, 3))


async def change_zone(anna: Person) -> None:
    await anna.press("Back")
    await anna.press("Back")
    await anna.fill("zone", tz="Europe/London")


async def change_frame(anna: Person) -> None:
    await anna.press("Back")
    await anna.fill("frame", day_start=time(8, 0))


async def change_lunch(anna: Person) -> None:
    await anna.press("Back")
    await anna.fill("frame", lunch_start=time(13, 0))


async def change_tasks(anna: Person) -> None:
    await anna.choose("Mail", "Remove")


async def change_a_task(anna: Person) -> None:
    await anna.fill_row("Mail", "task", minutes=30)


async def change_the_one_thing(anna: Person) -> None:
    await anna.fill_row("Mail", "task", one_thing=True)


async def change_calendar(anna: Person) -> None:
    meeting(anna.harness, "Dentist", "10:00", "11:00")
    await anna.press("Redo step")


CAUSES = [
    change_date,
    change_zone,
    change_frame,
    change_lunch,
    change_tasks,
    change_a_task,
    change_the_one_thing,
    change_calendar,
]
Change = Callable[[Person], Awaitable[None]]


@pytest.mark.parametrize("change", CAUSES)
async def test_s46_s232_each_cause_discards_a_finished_draft(harness: Harness, change: Change) -> None:
    model = ScriptedModel(by=lambda _: AFTER_TEN)
    anna = listening(harness, model)
    await enter_tasks(anna)
    stale = (await until_kept(anna)).planning.sketch
    harness.model = None
    harness.restart()
    await change(anna)
    await until_idle(harness)
    assert stale is not None
    assert (await anna.session()).planning.sketch is None


@pytest.mark.parametrize("change", CAUSES)
async def test_s46_s232_each_cause_cancels_a_draft_under_way(harness: Harness, change: Change) -> None:
    model = HeldModel()
    anna = listening(harness, model)
    await enter_tasks(anna)
    await model.asked.wait()
    await change(anna)

    async def is_cancelled() -> bool:
        return model.cancelled == 1

    await until(is_cancelled)
    assert model.says.asked == []
    assert model.most == 1


async def test_s46_a_meeting_that_comes_with_the_click_makes_the_draft_stale(harness: Harness) -> None:
    model = ScriptedModel(AFTER_TEN, LATER)
    anna = listening(harness, model)
    await enter_tasks(anna)
    await until_kept(anna)
    meeting(harness, "Dentist", "10:00", "11:00")
    await anna.press("Continue")
    assert (model.asked, blocks(await anna.session())[0]) == (["draft", "draft"], "11:00 Report")


async def test_s46_another_list_is_drafted_anew(harness: Harness) -> None:
    model = ScriptedModel(AFTER_TEN, {"blocks": [at(1, "11:00")]})
    anna = listening(harness, model)
    await enter_tasks(anna)
    first = (await until_kept(anna)).planning.sketch
    await anna.choose("Mail", "Remove")
    second = (await until_kept(anna)).planning.sketch
    assert first is not None
    assert second is not None
    assert first.basis != second.basis
    await anna.press("Continue")
    assert (len(model.asked), blocks(await anna.session())) == (2, ["11:00 Report", "12:30 Lunch"])


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        (ModelTimedOut("Slow."), TOO_SLOW),
        (ModelUnreachable("Down."), NO_ANSWER),
        ("I would rather not.", NO_USE),
    ],
)
async def test_s120_a_failed_draft_ends_in_our_own_and_says_so_once(
    harness: Harness, trouble: ModelError | str, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedModel(by=lambda _: trouble)
    anna = listening(harness, model)
    with caplog.at_level(logging.DEBUG, logger="fateforger"):
        await enter_tasks(anna)
        await until_kept(anna)
        asked = len(model.asked)
        await anna.press("Continue")
    now = await anna.session()
    assert (len(model.asked), blocks(now), now.planning.sketch) == (asked, OWN, None)
    assert anna.words.count(sentence) == 1
    assert "Report" not in caplog.text
    assert "rather not" not in caplog.text
    await anna.press("Refine")
    assert "my own rules" not in anna.words


async def test_s120_a_draft_that_fails_on_the_spot(harness: Harness) -> None:
    anna = listening(harness, ScriptedModel(ModelTimedOut("Slow.")))
    await anna.to_skeleton("Report", "Mail")
    assert blocks(await anna.session()) == OWN
    assert TOO_SLOW in anna.words


async def test_redo_asks_for_another_draft(harness: Harness) -> None:
    model = ScriptedModel(AFTER_TEN, LATER)
    anna = listening(harness, model)
    await enter_tasks(anna)
    await until_kept(anna)
    await anna.press("Continue")
    await anna.press("Redo step")
    assert (len(model.asked), blocks(await anna.session())[0]) == (2, "11:00 Report")
    assert "plan[4]" in model.prompts[1].user
    assert "plan[" not in model.prompts[0].user


async def test_a_refined_plan_comes_back_after_another_draft(harness: Harness) -> None:
    """The step back leads to what the person had, not to our own draft that stood there for a moment."""
    anna = listening(harness, ScriptedModel(AFTER_TEN, LATER))
    await anna.to_skeleton("Report", "Mail")
    await anna.press("Refine")
    await anna.choose("Report", "15 min later")
    await anna.press("Back")
    await anna.press("Redo step")
    assert "I redrafted your day. To get your previous plan back" in anna.words
    assert blocks(await anna.session())[0] == "11:00 Report"
    await anna.press("Refine")
    await anna.press("Undo last update")
    now = await anna.session()
    assert blocks(now)[:2] == ["10:15 Report", "11:15 Walk"]
    assert len(now.sync.refine_undo) == 1


async def test_a_finished_draft_survives_a_restart(harness: Harness) -> None:
    model = ScriptedModel(AFTER_TEN)
    anna = listening(harness, model)
    await enter_tasks(anna)
    await until_kept(anna)
    await harness.coordinator.aclose()
    harness.restart()
    await anna.press("Continue")
    assert (model.asked, blocks(await anna.session())[0]) == (["draft"], "10:00 Report")


async def test_a_draft_under_way_ends_with_the_program(harness: Harness) -> None:
    model = HeldModel()
    anna = listening(harness, model)
    await enter_tasks(anna)
    await model.asked.wait()
    await harness.coordinator.aclose()
    assert (model.cancelled, (await anna.session()).planning.sketch) == (1, None)


async def test_a_draft_is_not_saved_into_a_turn(harness: Harness) -> None:
    """A turn that another save came into would be made again, and its model asked again."""
    model = HeldModel(AFTER_TEN)
    anna = listening(harness, model)
    await enter_tasks(anna)
    await model.asked.wait()
    before = (await anna.session()).version
    async with harness.coordinator._drafts.turn(anna.session_id):
        model.may_answer.set()
        for _ in range(200):
            await asyncio.sleep(0)
        assert (await anna.session()).version == before
    assert (await until_kept(anna)).version == before + 1


async def test_cancelling_the_session_stops_its_draft(harness: Harness) -> None:
    model = HeldModel()
    anna = listening(harness, model)
    await enter_tasks(anna)
    await model.asked.wait()
    await anna.press("Cancel")
    await until_idle(harness)
    assert (model.cancelled, (await anna.session()).planning.sketch) == (1, None)


async def test_a_stopped_turn_ends_the_draft_that_it_asked_for(harness: Harness) -> None:
    model = HeldModel()
    anna = listening(harness, model)
    going = asyncio.create_task(anna.to_skeleton("Report", "Mail"))
    await model.asked.wait()
    assert harness.coordinator.stop(anna.session_id, harness.clock.now())
    await going
    await until_idle(harness)
    now = await anna.session()
    assert (model.cancelled, now.stage, now.planning.plan, now.day.inputs.tasks) == (1, Stage.CAPTURE_INPUTS, None, ())
    assert STOPPED in anna.words


async def test_a_stopped_turn_leaves_the_draft_that_was_under_way(harness: Harness) -> None:
    """It is ready when the person goes on after all."""
    model = HeldModel(AFTER_TEN)
    anna = listening(harness, model)
    await enter_tasks(anna)
    await model.asked.wait()
    going = asyncio.create_task(anna.press("Continue"))

    async def stop_turn() -> bool:
        return harness.coordinator.stop(anna.session_id, harness.clock.now())

    await until(stop_turn)
    await going
    assert (await anna.session()).stage is Stage.CAPTURE_INPUTS
    model.may_answer.set()
    await until_kept(anna)
    await anna.press("Continue")
    assert (model.says.asked, blocks(await anna.session())[0]) == (["draft"], "10:00 Report")


async def test_a_turn_says_that_it_drafts_only_while_somebody_waits_for_it(harness: Harness) -> None:
    anna = listening(harness, ScriptedModel(AFTER_TEN, LATER))
    await enter_tasks(anna)
    await until_kept(anna)
    told: list[Progress] = []
    for move in (Move.PROCEED, Move.REDO):
        command = StageAction(
            command_id=move, user_id=anna.user, at=harness.clock.now(), session_id=anna.session_id, move=move
        )
        await harness.coordinator.handle(command, told.append)
    assert [each.doing for each in told] == [Activity.LOOKING, Activity.LOOKING, Activity.DRAFTING]


async def test_two_sessions_draft_at_the_same_time(harness: Harness) -> None:
    model = HeldModel(AFTER_TEN, AFTER_TEN)
    anna = listening(harness, model)
    bert = Person(harness, user="U_BERT")
    await enter_tasks(anna)
    await enter_tasks(bert)

    async def both() -> bool:
        return model.under_way == 2

    await until(both)
    model.may_answer.set()
    assert (await until_kept(anna)).id != (await until_kept(bert)).id
