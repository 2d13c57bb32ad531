"""A commit asks once about what a good day still lacks, and no old card accepts what it does not show (S208, S56)."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from tests.factories.words import wants
from tests.fakes.scripted_model import Line, ScriptedModel
from tests.unit.conversation.person import Harness, Person, open_harness_at

from fateforger.errors import ModelRejected
from fateforger.ports.model import Prompt
from fateforger.session.cards import Button
from fateforger.session.gate import OUT_OF_DATE
from fateforger.session.stages import TimeboxingStage as Stage

LUNCH = "Put a meal or a real pause into the day."
ASKED = f"The day would be better with this:\n{LUNCH}\nCommit it as it is, or change it first? I ask this only once."


async def without_lunch(anna: Person) -> None:
    await anna.to_refine("Report", "Mail")
    await anna.choose("Lunch", "Remove")


def target_of(anna: Person, label: str) -> str:
    (found,) = (c for c in anna.controls() if isinstance(c, Button) and c.label == label)
    return found.target


async def test_a_commit_asks_once_what_a_good_day_still_lacks(anna: Person, harness: Harness) -> None:
    """S208: in one plain question; a no leaves the plan, and nothing asks again."""
    await anna.to_refine("Report", "Mail")
    await anna.pick("set_calendar_write", "commit")
    await anna.choose("Lunch", "Remove")
    await anna.press("Commit to calendar")
    assert (await anna.session()).stage is Stage.REFINE
    assert ASKED in anna.words
    assert harness.on_calendar() == {}
    await anna.press("No, I change the plan")
    assert "Commit anyway" not in anna.labels()
    await anna.choose("Mail", "15 min later")
    await anna.press("Commit to calendar")
    assert (await anna.session()).stage is Stage.REVIEW_COMMIT
    assert set(harness.on_calendar()) == {"Report", "Mail"}


async def test_the_question_is_answered_by_its_button(anna: Person) -> None:
    """S208"""
    await without_lunch(anna)
    await anna.press("Commit to calendar")
    await anna.press("History")
    await anna.press("Commit anyway")
    assert (await anna.session()).stage is Stage.REVIEW_COMMIT


async def test_the_question_is_answered_in_words(tmp_path: Path) -> None:
    """S208: "put it on my calendar" is asked back, and "yes" commits."""
    lines: list[Line] = []

    def read(prompt: Prompt) -> Line:
        return ModelRejected("This one only reads.") if prompt.name.startswith("draft") else lines.pop(0)

    harness = await open_harness_at(tmp_path, model=ScriptedModel(by=read))
    anna = Person(harness)
    await without_lunch(anna)
    for said, stage in (("commit", Stage.REFINE), ("accept_pending", Stage.REVIEW_COMMIT)):
        lines.append(wants(said))
        await anna.says("…")
        assert (await anna.session()).stage is stage
    await harness.close()


async def test_a_plan_that_is_done_is_committed_without_a_question(anna: Person) -> None:
    """S208: breaks are in, the one thing is early, and it is Okay."""
    await anna.to_committed("Report", "Mail")
    assert (await anna.session()).stage is Stage.REVIEW_COMMIT


async def test_an_old_card_commits_no_plan_that_it_does_not_show(anna: Person, harness: Harness) -> None:
    """S56: a click on Commit that was meant for the plan before the last change."""
    await anna.to_refine("Report", "Mail")
    old = target_of(anna, "Commit to calendar")
    await anna.choose("Mail", "15 min later")
    await anna.click("proceed", old)
    assert (await anna.session()).stage is Stage.REFINE
    assert OUT_OF_DATE.sentence in anna.words
    await anna.click("proceed", target_of(anna, "Commit to calendar"))
    assert (await anna.session()).stage is Stage.REVIEW_COMMIT


async def test_an_old_card_confirms_no_day_that_it_does_not_show(anna: Person) -> None:
    """S56"""
    await anna.start()
    old = target_of(anna, "Plan this day")
    await anna.pick("choose_date", date(2026, 3, 4))
    await anna.click("commit_date", old)
    assert (await anna.session()).stage is Stage.DATE
    assert OUT_OF_DATE.sentence in anna.words
    await anna.press("Plan this day")
    assert (await anna.session()).stage is Stage.COLLECT_CONSTRAINTS


async def test_an_old_card_drafts_no_list_that_it_does_not_show(anna: Person) -> None:
    """S56"""
    await anna.to_tasks()
    await anna.fill("tasks", title_1="Report", proceed=False)
    old = target_of(anna, "Continue")
    await anna.fill("tasks", title_1="Mail", proceed=False)
    await anna.click("proceed", old)
    assert (await anna.session()).stage is Stage.CAPTURE_INPUTS
    assert OUT_OF_DATE.sentence in anna.words
