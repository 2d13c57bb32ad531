"""Success criteria of a big item, and the person's commitment with the plan (S209)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.factories.words import change, inputs, new, wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.person import Harness, Person, meeting, open_harness_at

from fateforger.errors import ModelRejected
from fateforger.session.forms import FormErrors

ASKED = "What would make “Report” (and 1 more) a success? You can say it under Edit… in the menu of each."
CRITERIA = "Figures are checked\n\n  Bo has the draft  "


async def to_list(anna: Person) -> None:
    await anna.to_tasks()
    tasks: dict[str, Any] = {
        "title_1": "Report",
        "minutes_1": 90,
        "title_2": "Mail",
        "kind_2": "shallow",
        "title_3": "Review",
    }
    await anna.fill("tasks", **tasks, minutes_3=60, one_thing="1", proceed=False)


async def test_from_criteria_to_the_commitment(harness: Harness, anna: Person) -> None:
    """S209: two or three criteria for each big item, asked for, shown, in the event; and one sentence that commits."""
    await to_list(anna)
    assert ASKED in anna.words
    assert await anna.fill_row("Report", "task", done_when=CRITERIA) is None
    assert "Done when: Figures are checked; Bo has the draft" in anna.words
    assert "What would make “Review” a success?" in anna.words
    await anna.fill_row("Review", "task", done_when="Three comments", notes="With Eva")
    assert "a success?" not in anna.words
    await anna.press("Continue")
    await anna.press("Refine")
    await anna.press("Commit to calendar")
    assert (
        "🤝 **I commit to this by 10:30: Report.**\nDone when: Figures are checked; Bo has the draft.\n"
        "Review, by 11:40.\nDone when: Three comments."
    ) in anna.words
    notes = {event.summary: event.description for event in harness.calendar.store.get_live_events().values()}
    assert notes["Report"] == "Done when: Figures are checked; Bo has the draft"
    assert notes["Review"] == "With Eva\n\nDone when: Three comments"


async def test_the_sentence_follows_the_plan(harness: Harness, anna: Person) -> None:
    """S209: by when is what the plan says now; a day without anything big promises nothing."""
    meeting(harness, "Standup", "09:00", "09:30")
    await to_list(anna)
    await anna.press("Continue")
    await anna.press("Refine")
    await anna.fill_row("Report", "edit_block", start="10:00")
    await anna.press("Commit to calendar")
    await anna.press("Commit anyway")
    assert "**I commit to this by 11:30: Report.**" in anna.words
    other = Person(harness)
    await other.to_tasks()
    await other.fill("tasks", title_1="Mail", kind_1="shallow", proceed=True)
    await other.press("Refine")
    await other.press("Commit to calendar")
    assert "I commit" not in other.words


async def test_more_than_three_lines_are_too_many(anna: Person) -> None:
    await to_list(anna)
    errors = await anna.fill_row("Report", "task", done_when="a\nb\nc\nd")
    assert errors == FormErrors(
        errors={"done_when": "Keep the 3 lines that matter most; the rest has room in the notes."}
    )
    errors = await anna.fill_row("Report", "task", done_when="x" * 201)
    assert errors == FormErrors(errors={"done_when": "A line has room for 200 characters."})


async def test_criteria_in_words(tmp_path: Path) -> None:
    """S209, S214: words have the same effect as the form."""
    said = [new("Report", 90, one_thing=True, done_when=["Bo has it"]), new("Plan", 60)]
    changed = inputs(change=[change(2, done_when=["Two pages"])])
    lines = [wants("answer"), inputs(add=said), wants("answer"), changed]
    reads = ScriptedModel(
        by=lambda asked: ModelRejected("It only reads.") if asked.name.startswith("draft") else lines.pop(0)
    )
    harness = await open_harness_at(tmp_path, model=reads)
    anna = Person(harness)
    await anna.to_tasks()
    await anna.says("the report until Bo has it, and the plan")
    await anna.says("two pages are enough for the plan")
    tasks = (await anna.session()).day.inputs.tasks
    assert [task.done_when for task in tasks] == [("Bo has it",), ("Two pages",)]
    await harness.close()


async def test_what_found_no_place_is_named_when_the_day_is_committed(anna: Person) -> None:
    """S406: the card also says when such a task is offered again."""
    await anna.to_tasks()
    tasks: dict[str, Any] = {"deep": "Report, 7 h", "other": "Mail, 3 h\nTaxes, 3 h"}
    await anna.fill("tasks", **tasks, first=True)
    assert "**Did not fit**" in anna.words
    await anna.press("Refine")
    await anna.press("Commit to calendar")
    assert "is on your calendar" in anna.words
    assert "“Mail” and “Taxes” did not fit. I'll offer them again when you plan your next day." in anna.words
