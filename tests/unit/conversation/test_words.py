"""Words through the coordinator: what happens around the turn is the same, too (S201, S214)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.factories.words import also, frame, opening, patch, timed, wants
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import AMSTERDAM, ANNA, CHANNEL, House, Person, open_house_at
from tests.unit.conversation.test_person_edits import drag

from fateforger.conversation.graph import AFTER_UNDO
from fateforger.errors import ModelRejected
from fateforger.ports.model import Prompt
from fateforger.session.commands.thread import Opening, Start
from fateforger.session.conflicts import open_questions

LINES: list[dict[str, Any]] = []


def _reads(prompt: Prompt) -> Line:
    """It reads, and drafts nothing: then the house makes its own draft."""
    return ModelRejected("This one only reads.") if prompt.name.startswith("draft") else LINES.pop(0)


@pytest.fixture
async def spoken(tmp_path: Path) -> AsyncIterator[House]:
    """A house whose model says what stands in ``LINES``."""
    (tmp_path / "spoken").mkdir()
    LINES.clear()
    opened = await open_house_at(tmp_path / "spoken", model=ScriptedModel(by=_reads))
    yield opened
    await opened.close()
    assert LINES == []


async def says(person: Person, *answers: dict[str, Any]) -> None:
    LINES.extend(answers)
    await person.says("…")


async def test_a_day_by_slash_command_and_in_words(house: House, spoken: House) -> None:
    """S218, S227: ``/timebox 2026-03-03`` and "plan tomorrow" begin the same session."""
    base = {"command_id": "c1", "user_id": ANNA, "at": house.clock.now(), "channel": CHANNEL, "tz": AMSTERDAM}
    said = Opening.model_validate({**base, "thread_ts": "1.0", "text": "plan tomorrow"})
    LINES.append(opening(date="2026-03-03"))
    assert await spoken.coordinator.on_opening(said) is True
    await house.coordinator.handle(Start.model_validate({**base, "thread_ts": "1.0", "date": "2026-03-03"}))
    (typed,), (heard,) = [await h.store.sessions.of_user(ANNA) for h in (house, spoken)]
    assert heard == typed


async def test_a_change_in_words_never_overrules_a_drag_that_was_not_shown(house: House, spoken: House) -> None:
    """S200, S201: the person moved the block on their calendar; neither wins unasked, by click or in words."""
    anna, ben = Person(house), Person(spoken)
    for person, here in ((anna, house), (ben, spoken)):
        await person.to_refine("Report", "Mail")
        await person.choose("Report", "15 min later")
        drag(here, "Mail", 240)
    await anna.choose("Mail", "15 min later")
    await says(ben, wants("answer"), patch(timed(1, "10:30", 60)))
    assert house.on_calendar()["Mail"] == "14:15-15:15"
    assert spoken.on_calendar() == house.on_calendar()
    assert len(open_questions(await ben.session())) == 1
    assert ben.words.rstrip() == anna.words.rstrip()  # apart from the thumbs under what a model shaped


async def test_a_look_in_words_leaves_the_card_alone(spoken: House) -> None:
    anna = Person(spoken)
    await anna.to_refine("Report")
    await anna.choose("Report", "15 min later")
    count, card = len(anna.arrived), anna.words
    await says(anna, wants("history"))
    await says(anna, wants("close_history"))
    assert [m.slot for m in anna.arrived[count:]] == ["history", "history"]
    assert anna.words == card


async def test_which_write_is_asked_by_showing_them(spoken: House) -> None:
    """A row can be named once the list is in view; then it is the row's own button."""
    anna = Person(spoken)
    await anna.to_refine("Report")
    await anna.choose("Report", "15 min later")
    await says(anna, wants("undo_write", number=1))
    assert spoken.on_calendar() == {"Report": "09:15-10:15", "Lunch": "12:30-13:15"}
    await says(anna, wants("redo_write", number=1))
    assert "What can be done about that write is Undo, so I did nothing." in anna.words
    await says(anna, wants("undo_write", number=7))
    assert "There is no number 7 in the list; the numbers are 1 to 1." in anna.words
    await says(anna, wants("undo_write", number=1))
    assert spoken.on_calendar() == {}


async def test_nothing_said_is_dropped(spoken: House) -> None:
    anna = Person(spoken)
    await anna.to_refine("Report")
    await says(anna, wants("back"))
    await says(anna, wants("answer"), {**frame(day_start="08:00"), "date": "2026-03-04"})
    session = await anna.session()
    assert f"{session.day.frame.day_start:%H:%M}" == "08:00"
    assert "That belongs to the step “Date”, which we have left; Back leads there." in anna.words


async def test_leaving_at_five_is_a_change_of_the_plan(spoken: House) -> None:
    """In Refine a fact becomes ops; what is none of them comes back as a sentence."""
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    rest = "The gym is for Friday, and I plan Monday here."
    await says(anna, wants("answer"), patch(timed(1, "16:00", 60), question=rest))
    assert "**16:00–17:00** Mail" in anna.words
    assert rest in anna.words
    await says(anna, wants("answer"), patch(question=rest))
    assert anna.words.startswith(f"Refine Monday 2 March\n{rest}") or rest in anna.words


async def test_an_answer_to_no_question_says_so(spoken: House) -> None:
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    await says(anna, wants("keep_plan"))
    assert "That is not a question any more, so I changed nothing." in anna.words


async def test_what_was_said_and_changed_last_is_known_to_the_next_reading(spoken: House) -> None:
    """S265: so "what did you just change?" and "the other one" can be understood."""
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    LINES.extend([wants("answer"), patch(timed(1, "16:00", 30))])
    await anna.says("mail at four")
    LINES.extend([wants("ask"), {"answer": "I moved Mail to 16:00.", "block": None}])
    await anna.says("what did you just change?")
    assert isinstance(spoken.model, ScriptedModel)
    asked = spoken.model.prompts[-1].user
    assert "mail at four" in asked
    assert "last_change:" in asked
    assert "“Mail” is now 16:00–16:30" in asked
    assert "I moved Mail to 16:00." in anna.words


async def test_a_change_that_was_undone_is_made_again_by_button_and_in_words(spoken: House) -> None:
    """S266"""
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    await says(anna, wants("answer"), patch(timed(1, "16:00", 30)))
    for again in ("button", "words"):
        await anna.press("Undo last update")
        assert spoken.on_calendar().get("Mail") != "16:00-16:30"
        if again == "button":
            await anna.press("Restore last update")
        else:
            await says(anna, wants("redo_change"))
        assert spoken.on_calendar()["Mail"] == "16:00-16:30"
        assert "Restore last update" not in anna.labels()
        await says(anna, wants("ask"), {"answer": "", "block": "b3"})
        assert "You put it there." in anna.words


async def test_what_an_undo_leaves_of_a_message_is_said(spoken: House) -> None:
    """S263: the answer is not overwritten by the undo, and the model is not asked about a plan that is going to change."""
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    await says(anna, wants("answer"), patch(timed(1, "16:00", 30)))
    await says(anna, wants("undo", also("change", "and mail at 3")))
    assert spoken.on_calendar() == {}
    assert "Your last change is taken back." in anna.words
    assert AFTER_UNDO in anna.words
