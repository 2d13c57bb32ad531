"""One meaning, one executor: what is said in words ends as what is clicked or filled in (S214). A new command, action,
form or intent that has no row here fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, time
from typing import Any, get_args

import pytest
from tests.factories.words import block, change, day, frame, inputs, new, patch, timed, wants
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.turn.sessions import MORNING, planned, question, said, session, task, turn

from fateforger.coordinator.clicks import EXECUTORS, read_click
from fateforger.coordinator.forms import ROOMS, open_form, read_form
from fateforger.journal.rows import HistoryRow
from fateforger.session import commands
from fateforger.session.cards import FormErrors, FormRequest, FormSubmission
from fateforger.session.commands import Click, SessionCommand
from fateforger.session.edits import by_time
from fateforger.session.model import InputFacts, RefineUpdate, Session, SyncReport, Written
from fateforger.session.moves import seen
from fateforger.session.questions import address, open_questions, token
from fateforger.session.views import HistoryView, PreviewView
from fateforger.stages import Move, TimeboxingStage
from fateforger.turn import run_turn
from fateforger.turn.model import TurnOutcome
from fateforger.turn.reading.values import Intent

Stage = TimeboxingStage
Answer = dict[str, Any]
Deed = Callable[[Session], SessionCommand]


@dataclass(frozen=True)
class Row:
    """The same wish by a control or form, and in words: what the model answers, question by question."""

    name: str
    now: Session
    control: str
    deed: Deed
    answers: tuple[Answer, ...]


def click(name: str, now: Session, action: str, *answers: Answer, target: str = "", value: Any = None) -> Row:
    used = Click(command_id="c1", user_id="U1", at=MORNING, session_id="s1", action=action, target=target, value=value)
    return Row(name, now, action, lambda _: read_click(used), answers)


def move(name: str, now: Session, wanted: Move, intent: str) -> Row:
    return click(name, now, wanted.value, wants(intent), target=seen(now, wanted))


def form(name: str, now: Session, room: str, *answers: Answer, target: str = "", **values: Any) -> Row:
    def filled(shown: Session) -> SessionCommand:
        opened = open_form(shown, FormRequest(form=room, session_id="s1", user_id="U1", target=target))
        given = {field.name: field.value for field in opened.inputs}
        assert values.keys() <= given.keys()
        submission = FormSubmission(
            form=room, session_id="s1", user_id="U1", command_id="c1", at=MORNING, target=opened.target,
            size=opened.size, values=given | values,
        )  # fmt: skip
        read = read_form(shown, submission)
        assert not isinstance(read, FormErrors), read
        return read

    return Row(name, now, f"form.{room}", filled, answers)


TASKS = InputFacts(tasks=(task("Report", 90, one_thing=True), task("Mail", 30), task("Calls", None)))
DATE, FRAME = session(Stage.DATE), session(Stage.COLLECT_CONSTRAINTS)
EMPTY, LIST = session(Stage.CAPTURE_INPUTS), session(Stage.CAPTURE_INPUTS, inputs=TASKS)
DRAFT = planned(Stage.SKELETON, *TASKS.tasks)
REFINE = planned(Stage.REFINE, task("Report", 60, one_thing=True), task("Mail", 60), frame=DATE.frame)
FIRST, SECOND, LUNCH = [b.key for b in by_time(REFINE.plan)] if REFINE.plan else ("", "", "")
HELD = REFINE.model_copy(update={"calendar_write": "commit"})
CHANGED = HELD.model_copy(update={"refine_undo": (RefineUpdate(plan_before=REFINE.plan, sentence="It moved."),)})
WRITTEN = REFINE.model_copy(update={"write_group": "g1", "written": Written(created=3)})
TROUBLE = WRITTEN.model_copy(update={"problem": "The calendar does not answer.", "brakes": ("many_deletes",)})
COMMITTED = WRITTEN.model_copy(update={"stage": Stage.REVIEW_COMMIT})
HALTED = COMMITTED.model_copy(update={"last_sync": SyncReport(status="partial")})


def written(number: int, **more: Any) -> HistoryRow:
    values = {"transaction": f"tx{number}", "at": MORNING, "title": "Commit", "deeds": "1 added", "standing": "done"}
    return HistoryRow.model_validate({**values, "button": "undo", **more})


LISTED = WRITTEN.model_copy(
    update={
        "history": HistoryView(
            asked="c0", rows=(written(3, title="Undo", button="redo"), written(2)), total=12, newest="tx3"
        )
    }
)
PREVIEWED = REFINE.model_copy(update={"preview": PreviewView(asked="c0", at=MORNING)})
ASKED = HELD.model_copy(update={"questions": (question(FIRST, shown=True), question(SECOND, "summary", shown=True))})
ONE, ALL = address(ASKED.questions[0]), token(open_questions(ASKED))

ANSWER = wants("answer")
ROWS = (
    click("the day is right", DATE, "commit_date", wants("proceed")),
    click("another day", DATE, "choose_date", ANSWER, day(date="2026-03-04"), value=date(2026, 3, 4)),
    form("another zone", DATE, "zone", ANSWER, day(tz="Europe/Lisbon"), tz="Europe/Lisbon"),
    move("stop before it began", DATE, Move.CANCEL, "cancel"),
    click("start of the day", FRAME, "set_day_start", ANSWER, frame(day_start="08:00"), value=time(8)),
    click("end of the day", FRAME, "set_day_end", ANSWER, frame(day_end="17:00"), value=time(17)),
    form(
        "the whole frame", FRAME, "frame",
        ANSWER, frame(day_start="08:00", day_end="17:30", lunch_start="13:00", lunch_minutes=30),
        day_start=time(8), day_end=time(17, 30), lunch_start=time(13), lunch_minutes=30,
    ),
    move("the frame is right", FRAME, Move.PROCEED, "proceed"),
    move("back to the day", FRAME, Move.BACK, "back"),
    move("look again", FRAME, Move.REDO, "redo"),
    form(
        "some tasks", EMPTY, "tasks",
        ANSWER, inputs(add=[new("Report", 90, one_thing=True), new("Mail", 30, depth="shallow")]),
        title_1="Report", minutes_1=90, title_2="Mail", minutes_2=30, depth_2="shallow", one_thing="1", proceed=False,
    ),
    form(
        "tasks, and draft it", EMPTY, "tasks",
        wants("proceed", also=True), inputs(add=[new("Report", 90), new("Mail", 30)]),
        title_1="Report", minutes_1=90, title_2="Mail", minutes_2=30,
    ),
    form(
        "a task changed", LIST, "task",
        ANSWER, inputs(change=[change(2, title="Post", minutes=45, depth="shallow", notes="Stamps")]),
        target="mail", title="Post", minutes=45, depth="shallow", notes="Stamps",
    ),
    click("the one thing", LIST, "task.one_thing", ANSWER, inputs(change=[change(2, one_thing=True)]), target="mail"),
    click("a task less", LIST, "task.remove", ANSWER, inputs(remove=[2]), target="mail"),
    form("a task less, in its form", LIST, "task", ANSWER, inputs(remove=[2]), target="mail", remove=True),
    move("draft it", LIST, Move.PROCEED, "proceed"),
    move("too early", EMPTY, Move.PROCEED, "proceed"),
    move("back to the frame", LIST, Move.BACK, "back"),
    move("look again at the list", LIST, Move.REDO, "redo"),
    move("refine it", DRAFT, Move.PROCEED, "proceed"),
    move("back to the list", DRAFT, Move.BACK, "back"),
    move("draft it anew", DRAFT, Move.REDO, "redo"),
    form(
        "a new block", REFINE, "add_block", ANSWER, patch(block("Run", "16:00", 45, d="Shoes")),
        title="Run", start=time(16), minutes=45, kind="deep", notes="Shoes",
    ),
    form(
        "a block changed", REFINE, "edit_block",
        ANSWER, patch({**timed(0, "14:00", 45), "n": "Essay", "d": "Two pages"}),
        target=FIRST, title="Essay", start=time(14), minutes=45, notes="Two pages",
    ),
    form("a block longer", REFINE, "edit_block", ANSWER, patch(timed(0, "09:00", 90)), target=FIRST, minutes=90),
    form("a block less, in its form", REFINE, "edit_block", ANSWER, patch({"op": "re", "i": 0}), target=FIRST, remove=True),
    click("a block less", REFINE, "block.remove", ANSWER, patch({"op": "re", "i": 1}), target=SECOND),
    click("a block later", REFINE, "block.later", ANSWER, patch(timed(0, "09:15", 60)), target=FIRST),
    click("a block earlier", REFINE, "block.earlier", ANSWER, patch(timed(2, "12:15", 45)), target=LUNCH),
    click(
        "trade places with the next", REFINE, "block.swap_down",
        ANSWER, patch(timed(1, "09:00", 60), timed(0, "10:10", 60)), target=FIRST,
    ),
    click(
        "trade places with the one before", REFINE, "block.swap_up",
        ANSWER, patch(timed(1, "09:00", 60), timed(0, "10:10", 60)), target=SECOND,
    ),
    click("held until the commit", HELD, "block.later", ANSWER, patch(timed(0, "09:15", 60)), target=FIRST),
    move("commit", REFINE, Move.PROCEED, "proceed"),
    move("back to the draft", REFINE, Move.BACK, "back"),
    move("look again at the plan", REFINE, Move.REDO, "redo"),
    move("take back the last change", CHANGED, Move.UNDO_LAST_UPDATE, "undo"),
    move("nothing to take back", REFINE, Move.UNDO_LAST_UPDATE, "undo"),
    move("all of it off the calendar", WRITTEN, Move.UNDO_SYNC, "undo_all"),
    move("undo where only all can be", WRITTEN, Move.UNDO_SYNC, "undo"),
    move("try again", TROUBLE, Move.RETRY, "retry"),
    move("stop in the middle", WRITTEN, Move.CANCEL, "cancel"),
    click("write only on commit", REFINE, "set_calendar_write", wants("write_on_commit"), value="commit"),
    click("write at once", HELD, "set_calendar_write", wants("write_at_once"), value="refine"),
    click("show the history", REFINE, "show_history", wants("history")),
    click("show the history at the start", DATE, "show_history", wants("history")),
    click("show older", LISTED, "show_older_history", wants("older_history")),
    click("close the history", LISTED, "hide_history", wants("close_history")),
    click("undo a write", LISTED, "undo_write", wants("undo_write", number=2), target="tx2 tx3"),
    click("redo a write", LISTED, "redo_write", wants("redo_write", number=1), target="tx3 tx3"),
    click("show the preview", HELD, "show_preview", wants("preview")),
    click("close the preview", PREVIEWED, "hide_preview", wants("close_preview")),
    click("keep the calendar's", ASKED, "conflict.keep_calendar", wants("keep_calendar", number=1), target=ONE),
    click("keep the plan's", ASKED, "conflict.keep_plan", wants("keep_plan", number=1), target=ONE),
    click("keep the calendar's for all", ASKED, "conflict.keep_calendar", wants("keep_calendar"), target=ALL),
    click("keep the plan's for all", ASKED, "conflict.keep_plan", wants("keep_plan"), target=ALL),
    move("back to refine", COMMITTED, Move.BACK, "back"),
    move("undo the commit", COMMITTED, Move.UNDO_SYNC, "undo_all"),
    move("complete the commit", HALTED, Move.RETRY, "retry"),
    move("look again at the committed plan", COMMITTED, Move.REDO, "redo"),
    click("correct the committed plan", COMMITTED, "block.later", ANSWER, patch(timed(0, "09:15", 60)), target=FIRST),
)  # fmt: skip


def shown(outcome: TurnOutcome) -> dict[str, Any]:
    """All that a turn came to, apart from names that were made on the way: a new block's key."""
    session_ = outcome.session
    new_keys = {
        e.block_key: f"new {e.name}"
        for e in (session_.plan.events if session_.plan else ())
        if e.block_key not in {FIRST, SECOND, LUNCH}
    }
    dumped = outcome.model_dump_json(exclude={"heard", "lines"})
    for key, name in new_keys.items():
        dumped = dumped.replace(f'"{key}"', f'"{name}"')
    return {"dumped": dumped}


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
async def test_words_do_what_the_control_does(row: Row) -> None:
    """S214: the same session, plan, effects and notice. A button asks no model; words ask at most twice."""
    silent = ScriptedModel()
    clicked = await run_turn(turn(row.now, row.deed(row.now)), silent)
    model = ScriptedModel(*row.answers)
    heard = await run_turn(turn(row.now, said("user_reply", text="…")), model)
    assert shown(heard) == shown(clicked)
    assert (len(silent.prompts), len(model.prompts)) == (0, len(row.answers))
    assert len(row.answers) <= 2


WORDS_ONLY: dict[type[commands.InSession], str] = {
    commands.TimeboxingUserReply: "is the words themselves",
    commands.ApplyPatch: "is what words come to",
}
FORMS_ONLY: tuple[type[commands.InSession], ...] = (
    commands.RememberConstraint,
    commands.ReviseConstraint,
    commands.JudgeConstraint,
    commands.SettleConstraints,
    commands.UndoMemory,
    commands.ShowMemory,
    commands.HideMemory,
)
"""What is remembered of a message is read in the background."""


def test_every_command_has_its_row() -> None:
    """S214: a new command that cannot be said, or that no row proves, fails here."""
    made = {type(row.deed(row.now)) for row in ROWS}
    assert set(get_args(SessionCommand)) - made == {*WORDS_ONLY, *FORMS_ONLY}
    assert made & {*WORDS_ONLY, *FORMS_ONLY} == set()


def test_every_control_and_form_has_its_row() -> None:
    used = {row.control for row in ROWS}
    assert {control for control in EXECUTORS if "memory" not in control} - used == set()
    assert {f"form.{name}" for name in ROOMS} - used == set()


def test_every_intent_has_its_row() -> None:
    """What a model can name leads somewhere; ``ask`` changes nothing, so it has no button."""
    named = {answer["intent"] for row in ROWS for answer in row.answers if "intent" in answer}
    assert set(Intent) - named == {Intent.ASK}
