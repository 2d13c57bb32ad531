"""A yes in words answers what the card asks, through the coordinator and to the calendar (S124, S214, K9)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.factories.words import block, build_move, build_removal, day, patch, wants
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import Harness, Person, open_harness_at
from tests.unit.conversation.test_person_edits import drag

from fateforger.conversation.language.message_commands import FIRST, NOTHING_PENDING, WHICH_OPTION
from fateforger.conversation.stage_nodes import CALENDAR_LEFT, PLAN_LEFT
from fateforger.errors import ModelRejected
from fateforger.ports.model import Prompt
from fateforger.session.conflicts import open_questions
from fateforger.session.pending import DO_IT_ANYWAY, GO_AHEAD, LEAVE_CALENDAR, LEAVE_PLAN
from fateforger.session.stages import TimeboxingStage

LINES: list[dict[str, Any]] = []
YES, NO, GO_ON = wants("accept_pending"), wants("refuse_pending"), wants("proceed")
Stage = TimeboxingStage


def _reads(prompt: Prompt) -> Line:
    return ModelRejected("This one only reads.") if prompt.name.startswith("draft") else LINES.pop(0)


@pytest.fixture
async def spoken(tmp_path: Path) -> AsyncIterator[Harness]:
    """Open a program whose model answers from ``LINES`` and which writes nothing before the commit."""
    LINES.clear()
    opened = await open_harness_at(tmp_path, model=ScriptedModel(by=_reads), calendar_write="commit")
    yield opened
    await opened.close()
    assert LINES == []


async def says(person: Person, text: str, *answers: dict[str, Any]) -> None:
    LINES.extend(answers)
    await person.says(text)


def last_prompt(harness: Harness) -> str:
    assert isinstance(harness.model, ScriptedModel)
    return harness.model.prompts[-1].user


async def hold_edit(spoken: Harness) -> Person:
    """Hold back "Kinderen ophalen om 17:00 precies" by a rule that wants nothing after half past four."""
    anna = Person(spoken)
    await anna.to_refine("Rapport", "Mails")
    await anna.fill("rule_new", words="Niets na half vijf", kind="avoid_window", times="16:30-18", necessity="must")
    pick_up = patch(block("Kinderen ophalen", "17:00", 20))
    await says(anna, "kinderen ophalen om 17:00 precies, voor de opvang sluit", wants("answer"), pick_up)
    assert {DO_IT_ANYWAY, LEAVE_PLAN} <= set(anna.labels())
    assert "Kinderen ophalen" not in "".join(anna.rows())
    return anna


async def test_do_it_anyway_in_words_does_it_and_commits_nothing(spoken: Harness) -> None:
    """B1, K9: the conversation that committed the day without the change."""
    anna = await hold_edit(spoken)
    await says(anna, "ja doe toch maar", YES)
    assert "Do it anyway for this day, or leave the plan as it is?" in last_prompt(spoken)
    session = await anna.session()
    assert (session.stage, session.sync.held, len(session.rules.set_aside)) == (Stage.REFINE, None, 1)
    assert any("17:00–17:20" in row and "Kinderen ophalen" in row for row in anna.rows())
    assert spoken.on_calendar() == {}
    await says(anna, "zet maar in mijn agenda", GO_ON)
    assert (await anna.session()).stage is Stage.REVIEW_COMMIT
    assert spoken.on_calendar()["Kinderen ophalen"] == "17:00-17:20"


async def test_a_model_that_says_proceed_to_that_commits_nothing(spoken: Harness) -> None:
    """B1: the literal answer that a model gave before."""
    anna = await hold_edit(spoken)
    await says(anna, "ja doe toch maar", GO_ON)
    assert ((await anna.session()).stage, spoken.on_calendar()) == (Stage.REFINE, {})
    assert FIRST in anna.words
    assert {DO_IT_ANYWAY, LEAVE_PLAN} <= set(anna.labels())
    await says(anna, "ja", YES)
    assert any("Kinderen ophalen" in row for row in anna.rows())


async def test_no_in_words_is_the_button_that_leaves_the_plan(spoken: Harness) -> None:
    anna = await hold_edit(spoken)
    before = (await anna.session()).planning.plan
    await says(anna, "nee laat maar", NO)
    assert PLAN_LEFT in anna.words
    assert DO_IT_ANYWAY not in anna.labels()
    await says(anna, "ja", YES)
    assert NOTHING_PENDING in anna.words
    assert ((await anna.session()).planning.plan, spoken.on_calendar()) == (before, {})


async def test_leave_the_plan_by_its_button(spoken: Harness) -> None:
    anna = await hold_edit(spoken)
    await anna.press(LEAVE_PLAN)
    assert PLAN_LEFT in anna.words
    assert (await anna.session()).sync.held is None


@pytest.mark.parametrize(("side", "shown"), [("keep_plan", "11:30"), ("keep_calendar", "14:15")])
async def test_which_side_counts_in_words(spoken: Harness, side: str, shown: str) -> None:
    """S201: a yes names no side; the side that is named is kept, and nothing is committed by it."""
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    await anna.press("Commit to calendar")
    drag(spoken, "Mail", 245)
    await says(anna, "mail at half past eleven", wants("answer"), patch(build_move(1, "11:30", 60)))
    assert len(open_questions(await anna.session())) == 1
    before = spoken.on_calendar()
    await says(anna, "yes", YES)
    assert WHICH_OPTION.format(options="Keep calendar / Keep plan") in anna.words
    assert (spoken.on_calendar(), len(open_questions(await anna.session()))) == (before, 1)
    await says(anna, "no", NO)
    assert (spoken.on_calendar(), len(open_questions(await anna.session()))) == (before, 1)
    await says(anna, "the one", wants(side, number=1))
    session = await anna.session()
    assert (open_questions(session), session.stage) == ((), Stage.REFINE)
    assert any(shown in row and "Mail" in row for row in anna.rows())


async def test_a_write_that_stopped_is_answered_in_words(spoken: Harness) -> None:
    """A mass deletion: neither going on nor trying again is the yes it asks for."""
    anna = Person(spoken)
    titles = [f"Task {n}" for n in range(8)]
    await anna.to_refine(*titles)
    await anna.press("Commit to calendar")
    await anna.press("Back to refine")
    await says(anna, "clear the day", wants("answer"), patch(*map(build_removal, range(7))))
    there = spoken.on_calendar()
    await says(anna, "put it on my calendar", GO_ON)
    await says(anna, "yes", YES)
    assert {GO_AHEAD, LEAVE_CALENDAR} <= set(anna.labels())
    await says(anna, "try again", wants("retry"))
    assert (FIRST in anna.words, spoken.on_calendar()) == (True, there)
    await says(anna, "no", NO)
    assert CALENDAR_LEFT in anna.words
    assert (GO_AHEAD not in anna.labels(), spoken.on_calendar()) == (True, there)
    await says(anna, "try again", wants("retry"))
    assert spoken.on_calendar() == there
    await says(anna, "yes", YES)
    assert len(spoken.on_calendar()) < len(there)


async def test_a_fix_in_words(spoken: Harness) -> None:
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    await says(anna, "drop lunch", wants("answer"), patch(build_removal(2)))
    session = await anna.session()
    assert session.planning.fixes
    number = len(session.planning.fixes)
    await says(anna, "yes, the last one", wants("accept_pending", number=number))
    after = await anna.session()
    assert after.planning.plan != session.planning.plan
    assert (after.stage, spoken.on_calendar()) == (Stage.REFINE, {})


async def test_what_the_model_asked_is_answered_by_a_yes(spoken: Harness) -> None:
    """B1: "Do you want to plan Tuesday instead?" - "yes"; kept in the store, and gone with the answer."""
    anna = Person(spoken)
    await anna.start()
    asked = "Do you want to plan Tuesday instead?"
    await says(anna, "the gym is on tuesday", wants("answer"), day(question=asked))
    assert asked in anna.words
    spoken.restart()
    await says(anna, "yes", YES, day(date="2026-03-03"))
    assert f"you: {asked}" in last_prompt(spoken)
    session = await anna.session()
    assert (session.date.isoformat(), session.stage, session.thread.last_words) == ("2026-03-03", Stage.DATE, None)


@pytest.mark.parametrize("answer", [YES, NO, wants("accept_pending", number=3)])
async def test_where_nothing_is_asked_an_answer_changes_nothing(spoken: Harness, answer: dict[str, Any]) -> None:
    anna = Person(spoken)
    await anna.to_frame()
    before = await anna.session()
    await says(anna, "yes", answer)
    assert NOTHING_PENDING in anna.words
    after = await anna.session()
    assert (after.stage, after.planning.plan, after.day.frame) == (before.stage, before.planning.plan, before.day.frame)
