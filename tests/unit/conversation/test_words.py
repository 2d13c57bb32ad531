"""Words through the coordinator: what happens around the turn is the same, too (S201, S214)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.factories.wishes import wish
from tests.factories.words import also, build_move, frame, opening, patch, wants
from tests.fakes.google_calendar import CallFailure
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import AMSTERDAM, ANNA, CHANNEL, Harness, Person, open_harness_at
from tests.unit.conversation.test_person_edits import drag

from fateforger.conversation import plan_nodes
from fateforger.conversation.plan_nodes import timebox_patch_and_sync
from fateforger.conversation.turn_values import StageInput, StageOutput
from fateforger.errors import CalendarUnreachable, ModelRejected
from fateforger.ports.model import Prompt
from fateforger.session.commands.plan import BlockCommand
from fateforger.session.commands.thread import Opening, StartTimeboxing
from fateforger.session.conflicts import open_questions
from fateforger.session.stages import TimeboxingStage

LINES: list[dict[str, Any]] = []


def _reads(prompt: Prompt) -> Line:
    """Read messages, and refuse to draft: then the program makes its own draft."""
    return ModelRejected("This one only reads.") if prompt.name.startswith("draft") else LINES.pop(0)


@pytest.fixture
async def spoken(tmp_path: Path) -> AsyncIterator[Harness]:
    """Open a program whose model answers from ``LINES``."""
    (tmp_path / "spoken").mkdir()
    LINES.clear()
    opened = await open_harness_at(tmp_path / "spoken", model=ScriptedModel(by=_reads))
    yield opened
    await opened.close()
    assert LINES == []


async def says(person: Person, *answers: dict[str, Any]) -> None:
    LINES.extend(answers)
    await person.says("…")


async def test_a_day_by_slash_command_and_in_words(harness: Harness, spoken: Harness) -> None:
    """S218, S227, S270: "plan tomorrow" begins the session of ``/timebox 2026-03-03``, with its day confirmed."""
    base = {"command_id": "c1", "user_id": ANNA, "at": harness.clock.now(), "channel": CHANNEL, "tz": AMSTERDAM}
    said = Opening.model_validate({**base, "thread_ts": "1.0", "text": "plan tomorrow"})
    LINES.append(opening(date="2026-03-03"))
    assert await spoken.coordinator.on_opening(said) is True
    await harness.coordinator.handle(StartTimeboxing.model_validate({**base, "thread_ts": "1.0", "date": "2026-03-03"}))
    (heard,) = await spoken.store.sessions.of_user(ANNA)
    person = Person(harness)
    await person.read()
    await person.press("Plan this day")
    typed = await person.session()
    assert (heard.id, heard.date, heard.tz, heard.stage) == (typed.id, typed.date, typed.tz, typed.stage)
    assert (heard.day.frame, heard.day.inputs, heard.options) == (typed.day.frame, typed.day.inputs, typed.options)


async def test_a_change_in_words_never_overrules_a_drag_that_was_not_shown(harness: Harness, spoken: Harness) -> None:
    """S200, S201: the person moved the block on their calendar; neither wins unasked, by click or in words."""
    anna, ben = Person(harness), Person(spoken)
    for person, here in ((anna, harness), (ben, spoken)):
        await person.to_refine("Report", "Mail")
        await person.choose("Report", "15 min later")
        drag(here, "Mail", 240)
    await anna.choose("Mail", "15 min later")
    await says(ben, wants("answer"), patch(build_move(1, "10:30", 60)))
    assert harness.on_calendar()["Mail"] == "14:15-15:15"
    assert spoken.on_calendar() == harness.on_calendar()
    assert len(open_questions(await ben.session())) == 1
    assert ben.words.rstrip() == anna.words.rstrip()  # apart from the thumbs under what a model shaped


async def test_a_look_in_words_leaves_the_card_alone(spoken: Harness) -> None:
    anna = Person(spoken)
    await anna.to_refine("Report")
    await anna.choose("Report", "15 min later")
    count, card = len(anna.arrived), anna.words
    await says(anna, wants("history"))
    await says(anna, wants("close_history"))
    assert [m.slot for m in anna.arrived[count:]] == ["history", "history"]
    assert anna.words == card


async def test_which_write_is_asked_by_showing_them(spoken: Harness) -> None:
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


async def test_nothing_said_is_dropped(spoken: Harness) -> None:
    anna = Person(spoken)
    await anna.to_refine("Report")
    await says(anna, wants("back"))
    await says(anna, wants("answer"), {**frame(day_start="08:00"), "date": "2026-03-04"})
    session = await anna.session()
    assert f"{session.day.frame.day_start:%H:%M}" == "08:00"
    assert "That belongs to the step “Date”, which we have left; Back leads there." in anna.words


async def test_leaving_at_five_is_a_change_of_the_plan(spoken: Harness) -> None:
    """In Refine a fact becomes ops; what is none of them comes back as a sentence."""
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    rest = "The gym is for Friday, and I plan Monday here."
    await says(anna, wants("answer"), patch(build_move(1, "16:00", 60), question=rest))
    assert "**16:00–17:00** Mail" in anna.words
    assert rest in anna.words
    await says(anna, wants("answer"), patch(question=rest))
    assert anna.words.startswith(f"Refine Monday 2 March\n{rest}") or rest in anna.words


async def test_an_answer_to_no_question_says_so(spoken: Harness) -> None:
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    await says(anna, wants("keep_plan"))
    assert "That question is settled already, so I changed nothing." in anna.words


async def test_what_was_said_and_changed_last_is_known_to_the_next_reading(spoken: Harness) -> None:
    """S265: so "what did you just change?" and "the other one" can be understood."""
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    LINES.extend([wants("answer"), patch(build_move(1, "16:00", 30))])
    await anna.says("mail at four")
    LINES.extend([wants("ask"), {"answer": "I moved Mail to 16:00.", "block": None}])
    await anna.says("what did you just change?")
    assert isinstance(spoken.model, ScriptedModel)
    asked = spoken.model.prompts[-1].user
    assert "mail at four" in asked
    assert "last_change:" in asked
    assert "“Mail” is now 16:00–16:30" in asked
    assert "I moved Mail to 16:00." in anna.words


async def test_the_rest_of_a_message_is_carried_out_after_its_undo(spoken: Harness) -> None:
    """S263: "undo that, put mail at three instead, and when is it now?"; what was written is taken back first."""
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    await says(anna, wants("answer"), patch(build_move(1, "16:00", 30)))
    several = wants("undo", also("change", "mail at three"), also("ask", "when is it now?"), words="undo that")
    await says(anna, several, patch(build_move(1, "15:00", 30)), {"answer": "At three.", "block": None})
    assert spoken.on_calendar()["Mail"] == "15:00-15:30"
    assert "“Mail” is now 15:00–15:30" in anna.words
    assert "At three." in anna.words
    changes = (await anna.session()).sync.refine_undo
    assert ["15:00" in step.sentence for step in changes][-1]
    assert not any("16:00–16:30" in step.sentence for step in changes)
    await anna.press("Undo last update")
    assert spoken.on_calendar().get("Mail") not in {"15:00-15:30", "16:00-16:30"}


async def test_each_effect_of_an_undo_and_a_change_is_said(spoken: Harness) -> None:
    """S51, S263: also when both do the same to the calendar."""
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    await anna.choose("Mail", "15 min later")
    await says(anna, wants("change"), patch(build_move(1, "16:00", 30)))
    assert anna.words.count("Calendar: 1 updated.") == 1
    await says(
        anna, wants("undo", also("change", "mail at three"), words="undo that"), patch(build_move(1, "15:00", 30))
    )
    assert spoken.on_calendar()["Mail"] == "15:00-15:30"
    undone, changed = anna.words.split("Calendar: 1 updated.")[:-1]
    assert "Your last change is taken back." in undone
    assert "“Mail” is now 15:00–15:30" in changed


async def test_what_follows_an_undo_that_failed_does_not_go_on(spoken: Harness) -> None:
    """S263: nothing is committed with a change that was to be taken back."""
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    await says(anna, wants("answer"), patch(build_move(1, "16:00", 30)))
    for nth in range(99):
        spoken.calendar.inject(CallFailure(CalendarUnreachable("Away.")), verb="delete", nth=nth)
    await says(anna, wants("undo", also("commit")))
    assert (await anna.session()).stage is TimeboxingStage.REFINE
    assert "Because of that I did not go on." in anna.words


async def test_a_change_that_was_undone_is_made_again_by_button_and_in_words(spoken: Harness) -> None:
    """S266"""
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    await says(anna, wants("answer"), patch(build_move(1, "16:00", 30)))
    for again in ("button", "words"):
        await anna.press("Undo last update")
        assert spoken.on_calendar().get("Mail") != "16:00-16:30"
        if again == "button":
            await anna.press("Restore last update")
        else:
            await says(anna, wants("redo_change"))
        assert spoken.on_calendar()["Mail"] == "16:00-16:30"
        assert "Restore last update" not in anna.labels()


async def test_each_change_of_the_schedule_is_carried_out_by_one_function(
    spoken: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S23: by button and in words, before anything else in the message; a committed day comes back to Refine for it."""
    changed: list[str] = []

    def watch(stage: StageInput, command: BlockCommand) -> StageOutput:
        changed.append(type(command).__name__)
        return timebox_patch_and_sync(stage, command)

    monkeypatch.setattr(plan_nodes, "timebox_patch_and_sync", watch)
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    await anna.choose("Mail", "15 min later")
    await says(
        anna,
        wants("memory", also("change", "mail at four")),
        patch(build_move(1, "16:00", 30)),
        wish("memory_list_constraints"),
    )
    assert spoken.on_calendar()["Mail"] == "16:00-16:30"
    assert (await anna.session()).thread.memory is not None
    await anna.press("Commit to calendar")
    await says(anna, wants("change"), patch(build_move(2, "15:00", 30)))
    assert spoken.on_calendar()["Mail"] == "15:00-15:30"
    assert changed == ["ShiftBlock", "ApplyPatch", "ApplyPatch"]


async def test_why_names_the_person_who_put_a_block_there(spoken: Harness) -> None:
    """S277: "why is it at 1:15?" after a swap or a move is answered with that change, not with what a draft would do."""
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    await says(anna, wants("change"), patch({"op": "swap", "a": "b1", "b": "b2"}))
    await says(anna, wants("ask"), {"answer": "Because.", "block": "b1"})
    assert "You put it there: " in anna.words
    assert "earliest" not in anna.words
    await says(anna, wants("change"), patch(build_move(0, "13:15", 60)))
    await says(anna, wants("ask"), {"answer": "Because.", "block": "b1"})
    assert "You put it there: “" in anna.words
    assert "13:15" in anna.words


async def test_put_it_back_how_it_was(spoken: Harness) -> None:
    """S277: in the thread it undoes the last change; without one, a note says so and nothing changes."""
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    before = (await anna.session()).planning.plan
    await says(anna, wants("change"), patch(build_move(1, "16:00", 30)))
    await says(anna, wants("undo"))
    assert (await anna.session()).planning.plan == before
    await says(anna, wants("undo"))
    assert "There is no change to take back here." in anna.words
    assert (await anna.session()).planning.plan == before


async def test_no_the_other_one_in_a_thread(spoken: Harness) -> None:
    """S277: the wrong block is put back and the other one moved, in one turn; the prompt holds earlier messages."""
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    await says(anna, wants("change"), patch(build_move(1, "16:00", 60)))
    await says(
        anna, wants("undo", also("change", "the other one at four"), words="no"), patch(build_move(0, "16:00", 60))
    )
    assert spoken.on_calendar()["Report"] == "16:00-17:00"
    assert spoken.on_calendar()["Mail"] != "16:00-17:00"
    assert isinstance(spoken.model, ScriptedModel)
    assert "“Mail” is now 16:00–17:00" in spoken.model.prompts[-2].user


async def test_yes_after_a_question_of_the_bot(spoken: Harness) -> None:
    """S277: the reading sees what was asked, and the yes is read together with it."""
    anna = Person(spoken)
    await anna.to_refine("Report", "Mail")
    await says(anna, wants("change"), patch(question="Shall I move Mail to 16:00?"))
    assert "Shall I move Mail to 16:00?" in anna.words
    await says(anna, wants("accept_pending", number=1), patch(build_move(1, "16:00", 60)))
    assert isinstance(spoken.model, ScriptedModel)
    assert all("Shall I move Mail to 16:00?" in prompt.user for prompt in spoken.model.prompts[-2:])
    assert spoken.on_calendar()["Mail"] == "16:00-17:00"
