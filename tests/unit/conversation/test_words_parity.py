"""One meaning, one executor: words have the same effect as clicks and forms (S214).

A new command, action, form or intent that has no row here fails.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, time
from typing import Any, get_args

import pytest
from tests.factories.constraints import version_of
from tests.factories.wishes import rule, wish
from tests.factories.words import (
    also,
    block,
    build_move,
    build_removal,
    change,
    course,
    day,
    frame,
    inputs,
    new,
    patch,
    wants,
    way,
)
from tests.fakes.scripted_model import ScriptedModel
from tests.unit.conversation.rules import CALLS, RULES, knowing, make_reading
from tests.unit.conversation.sessions import MORNING, event, make_command, plan_session, question, session, task, turn

from fateforger.calendar.history import HistoryRow
from fateforger.calendar.model import SafetyCheckKind
from fateforger.conversation.language.answers import Intent, MemoryWish, RuleWords
from fateforger.conversation.language.memory_requests import changes_of
from fateforger.conversation.plan_nodes import undo_last_change
from fateforger.conversation.turn_runs import run_turn
from fateforger.conversation.turn_values import MemoryReading, TurnOutcome
from fateforger.memory.documents import merge_document, write_record
from fateforger.memory.settings import Setting, build_setting
from fateforger.memory.vocabulary import Slot
from fateforger.planning.task_details import change_details
from fateforger.session.checks import named_violations
from fateforger.session.commands import ACTIONS, SessionCommand, read_click
from fateforger.session.commands.base import SessionCommandBase
from fateforger.session.commands.day import ReceiveTasks, ReturnTasks
from fateforger.session.commands.plan import ApplyPatch
from fateforger.session.commands.thread import RequestWork, TimeboxingUserReply
from fateforger.session.conflicts import open_questions, question_target, question_token
from fateforger.session.draft import with_fixes
from fateforger.session.edits import apply_edit
from fateforger.session.forms import Click, Form, FormErrors, FormRequest, FormSubmission
from fateforger.session.gate import move_token
from fateforger.session.memory import MemoryQuestion, MemoryToolResult, MemoryWrite
from fateforger.session.messages import HistoryView, PreviewView, SyncReport
from fateforger.session.model import HeldChange, InputFacts, OfferedInput, RefineUpdate, Session, Unplaced, WriteCounts
from fateforger.session.open_work import bring_tasks
from fateforger.session.other_days import send_task
from fateforger.session.pending import WaitingProposal, kept_token
from fateforger.session.placement import by_time
from fateforger.session.recall import nameable_constraints, recall
from fateforger.session.stages import Move, TimeboxingStage
from fateforger.session.undone import with_undone
from fateforger.tasks.durations import Estimate
from fateforger.ui.forms import SESSION_FORMS, open_form, read_form
from fateforger.values import replace

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
    memory: MemoryReading | None = None
    proposals: tuple[WaitingProposal, ...] = ()


def click(name: str, now: Session, action: str, *answers: Answer, target: str = "", value: Any = None) -> Row:
    used = Click(command_id="c1", user_id="U1", at=MORNING, session_id="s1", action=action, target=target, value=value)
    command = read_click(used)
    assert isinstance(command, SessionCommand)
    return Row(name, now, action, lambda _: command, answers)


def move(name: str, now: Session, wanted: Move, intent: str) -> Row:
    return click(name, now, wanted.value, wants(intent), target=move_token(now, wanted))


def form(name: str, now: Session, room: str, *answers: Answer, target: str = "", **values: Any) -> Row:
    def fill_form(shown: Session) -> SessionCommand:
        opened = open_form(shown, FormRequest(form=room, session_id="s1", user_id="U1", target=target, size=1))
        given = {field.name: field.value for field in opened.inputs}
        assert values.keys() <= given.keys()
        submission = FormSubmission(
            form=room, session_id="s1", user_id="U1", command_id="c1", at=MORNING, target=opened.target,
            size=opened.size, values=given | values,
        )  # fmt: skip
        read = read_form(shown, submission)
        assert not isinstance(read, Form | FormErrors), read
        return read

    return Row(name, now, f"form.{room}", fill_form, answers)


def by_form(name: str, kind: str, *answers: Answer, **values: Any) -> Row:
    """Return a row for a command as a form of the rules makes it; the form's own tests check that it does."""
    return Row(name, REFINE, "", lambda _: make_command(kind, **values), (WORDED, *answers))


def add_rules(row: Row) -> Row:
    """Return the row with these rules in the store, in the order of its list."""
    return replace(row, memory=make_reading(*RULES))


def build_target(uid: str | None) -> str:
    """Return the target of the buttons for two rules of which one counts."""
    return json.dumps({"uids": [NAMED[0], NAMED[1]], "keep": uid})


def edited_by(now: Session, *deeds: Any) -> Session:
    for deed in deeds:
        now = now.with_planning(plan=apply_edit(now, deed).after)
    return now


TASKS = InputFacts(tasks=(task("Report", 90, one_thing=True), task("Mail", 30), task("Calls", None)))
DATE, FRAME = session(Stage.DATE), session(Stage.COLLECT_CONSTRAINTS)
EMPTY, LIST = session(Stage.CAPTURE_INPUTS), session(Stage.CAPTURE_INPUTS, inputs=TASKS)
LEFT_OVER = tuple(
    OfferedInput(task=each, source="deferred", day=date(2026, 3, 1)) for each in (task("Taxes", 60), task("Plants", 15))
)
OFFERED = LIST.with_open_work(offered=LEFT_OVER)
MISSED = LIST.with_open_work(offered=tuple(each.model_copy(update={"source": "planned"}) for each in LEFT_OVER))
CAUGHT_UP = bring_tasks(MISSED, ("taxes", "plants"))
GIVEN = send_task(LIST, task("Mail", 30), date(2026, 3, 6), MORNING)
SHORT = LIST.with_day(estimates=(Estimate(kind="deep report", ratio=1.5, count=3, short=3, minutes=90),))
DRAFT = plan_session(Stage.SKELETON, *TASKS.tasks)
ADMIN = task("Admin", 45, details=change_details({"kind": "shallow", "items": ["Bank", "Expenses"]}))
BOXED = plan_session(Stage.REFINE, task("Report", 60), ADMIN)
IN_BOX = session(Stage.CAPTURE_INPUTS, inputs=InputFacts(tasks=(task("Report", 60), ADMIN)))
REFINE = plan_session(Stage.REFINE, task("Report", 60, one_thing=True), task("Mail", 60), frame=DATE.day.frame)
PLAINLY = plan_session(Stage.REFINE, task("Calls", 60), task("Mail", 60), frame=DATE.day.frame)
FIRST, SECOND, LUNCH = [b.key for b in by_time(REFINE.planning.plan)] if REFINE.planning.plan else ("", "", "")
HELD = REFINE.with_options(calendar_write="commit")
DOGS = version_of("dogs", necessity="must", seq=9)
ASKS = f"dogs {DOGS.updated_at.isoformat()}"
TO_JUDGE = HELD.with_rules(said=(DOGS,)).with_sync(
    held=HeldChange(
        asked="c0", uid="dogs", seq=9, step=RefineUpdate(plan_before=REFINE.planning.plan, sentence=""),
        plan_after=REFINE.planning.plan, writes="commit", asks=(ASKS,),
    )
)  # fmt: skip
TOKEN = kept_token(TO_JUDGE.sync.held) if TO_JUDGE.sync.held else ""
CHANGED = HELD.with_sync(refine_undo=(RefineUpdate(plan_before=REFINE.planning.plan, sentence="It moved."),))
UNDONE = undo_last_change(with_undone(CHANGED, CHANGED.sync.refine_undo[-1])).with_thread(notice=None)
WRITTEN = REFINE.with_sync(write_group="g1", written=WriteCounts(created=3))
TROUBLE = WRITTEN.with_sync(problem="The calendar does not answer.")
BRAKED = WRITTEN.with_sync(problem="This deletes 12 events.", brakes=(SafetyCheckKind.MASS_DELETION.value,))
COMMITTED = replace(WRITTEN, stage=Stage.REVIEW_COMMIT)
HALTED = COMMITTED.with_sync(last_sync=SyncReport(status="partial"))


def make_history_row(number: int, **more: Any) -> HistoryRow:
    values = {
        "transaction": f"tx{number}",
        "at": MORNING,
        "title": "Plan committed",
        "deeds": "1 added",
        "standing": "done",
    }
    return HistoryRow.model_validate({**values, "button": "undo", **more})


LISTED = WRITTEN.with_thread(
    history=HistoryView(
        asked="c0", rows=(make_history_row(3, title="Undo", button="redo"), make_history_row(2)), total=12, newest="tx3"
    )
)
PREVIEWED = REFINE.with_thread(preview=PreviewView(asked="c0", at=MORNING))
ASKED = HELD.with_sync(questions=(question(FIRST, shown=True), question(SECOND, "summary", shown=True)))
ONE, ALL = question_target(ASKED.sync.questions[0]), question_token(open_questions(ASKED))

BETTER = with_fixes(
    edited_by(REFINE, make_command("remove_block", key=LUNCH), make_command("shift_block", key=SECOND, minutes=-10)),
    MORNING,
)

KNOWN = nameable_constraints(REFINE.with_rules(recalled=recall(REFINE, RULES, MORNING)), RULES)
NAMED, SEEN = [v.uid for v in KNOWN], [v.seq for v in KNOWN]
SHOWN = REFINE.with_thread(memory=MemoryToolResult(asked="c0"))
WROTE = REFINE.with_rules(memory_writes=(MemoryWrite(cause="c0", lines=("Noted.",), versions=(KNOWN[0],)),))
ABOUT = MemoryQuestion(uids=(NAMED[0], NAMED[1]), names=("A", "B"), sentence="Which one?")
TORN = REFINE.with_rules(memory_questions=(ABOUT,))
EARLY = knowing(session(Stage.CAPTURE_INPUTS, event("Standup", "09:30", "09:45"), inputs=TASKS), CALLS)
(AGAINST,) = named_violations(EARLY)
THIRD, WORDED = f"{SEEN[2]} {NAMED[2]}", wants("memory")
NEW_RULE = rule(description="Nothing after six", necessity="must", days_of_week=["FR"])
NEW_RECORD = {
    "name": "Nothing after six", "description": "Nothing after six", "necessity": "must", "scope": "profile",
    "applicability": {"days_of_week": ["FR"]},
}  # fmt: skip
REVISED = merge_document(write_record(KNOWN[1].record), changes_of(RuleWords.model_validate(NEW_RULE)))
REPLACING = {**{n: v for n, v in REVISED.items() if n not in {"lifecycle", "confidence"}}, "status": "locked"}

MORE_AIR = build_setting(Setting(Slot.SLACK, 20))

ANSWER, REPLAN = wants("answer"), wants("replan")
NO_ROOM = Unplaced(task_id="taxes", title="Taxes", reason="the day is full", task=task("Taxes", 600))
FULL = REFINE.with_planning(unplaced=(NO_ROOM,))
ROWS = (
    click("the day is right", DATE, "commit_date", wants("proceed")),
    click("another day", DATE, "choose_date", ANSWER, day(date="2026-03-04"), value=date(2026, 3, 4)),
    click("the next day", FRAME, "plan_day", ANSWER, day(date="2026-03-03"), target="2026-03-03"),
    form("another zone", DATE, "zone", ANSWER, day(tz="Europe/Lisbon"), tz="Europe/Lisbon"),
    move("stop before it began", DATE, Move.CANCEL, "cancel"),
    click("start of the day", FRAME, "set_day_start", ANSWER, frame(day_start="08:00"), value=time(8)),
    click("end of the day", FRAME, "set_day_end", ANSWER, frame(day_end="17:00"), value=time(17)),
    form(
        "the whole frame", FRAME, "frame",
        ANSWER, frame(day_start="08:00", day_end="17:30", lunch_start="13:00", lunch_minutes=30),
        day_start=time(8), day_end=time(17, 30), lunch_start=time(13), lunch_minutes=30,
    ),
    click("the plan keeps that", TO_JUDGE, "rules.kept", wants("accept_pending"), target=TOKEN),
    move("the frame is right", FRAME, Move.PROCEED, "proceed"),
    move("back to the day", FRAME, Move.BACK, "back"),
    move("look again", FRAME, Move.REDO, "redo"),
    form(
        "some tasks", EMPTY, "tasks",
        ANSWER, inputs(add=[new("Report", 90, one_thing=True), new("Mail", 30, depth="shallow")]),
        title_1="Report", minutes_1=90, title_2="Mail", minutes_2=30, kind_2="shallow", one_thing="1", proceed=False,
    ),
    form(
        "tasks, and draft it", EMPTY, "tasks",
        wants("answer", also("proceed")), inputs(add=[new("Report", 90), new("Mail", 30)]),
        title_1="Report", minutes_1=90, title_2="Mail", minutes_2=30,
    ),
    form(
        "what the day is for", LIST, "goals",
        ANSWER, inputs(goals=["Ship it", "Rest"], deep_blocks=2, block_minutes=60),
        goals="Ship it\nRest", deep_blocks=2, block_minutes=60,
    ),
    form(
        "a task changed", LIST, "task",
        ANSWER, inputs(change=[change(2, title="Post", minutes=45, depth="shallow", notes="Stamps")]),
        target="mail", title="Post", minutes=45, kind="shallow", notes="Stamps",
    ),
    click("the one thing", LIST, "task.one_thing", ANSWER, inputs(change=[change(2, one_thing=True)]), target="mail"),
    click("a task shorter", DRAFT, "task.resize", ANSWER, inputs(change=[change(2, minutes=20)]), target="20 mail"),
    click("more time", SHORT, "task.more_time", wants("accept_pending"), target="135 report"),
    click("no more time", SHORT, "task.keep_time", wants("refuse_pending"), target="90 report"),
    click(
        "small tasks put together", LIST, "task.together", ANSWER, inputs(together=[2, 3]), target="mail calls",
    ),
    click(
        "two blocks put together", PLAINLY, "task.together", REPLAN, course(together=[0, 1]), target="calls mail",
    ),
    click("a box taken apart", IN_BOX, "task.apart", ANSWER, inputs(apart=[2]), target="admin"),
    click("a block taken apart", BOXED, "task.apart", REPLAN, course(apart=[1]), target="admin"),
    click("a small task is done", BOXED, "item.tick", REPLAN, course(ticked=[2]), target="1 admin"),
    click("a small task is not done", BOXED, "item.untick", REPLAN, course(unticked=[2]), target="1 admin"),
    form("a task for another day", DRAFT, "defer", ANSWER, inputs(later=[2]), target="mail", day="some_day"),
    form(
        "a task on a named day", DRAFT, "defer", ANSWER, inputs(later=[2], later_day="2026-03-06"),
        target="mail", day="2026-03-06",
    ),
    form(
        "no room, so a named day", FULL, "defer", REPLAN, course(open=[way(1, "later")], day="2026-03-06"),
        target="taxes", day="2026-03-06",
    ),
    form("the plan on another day", REFINE, "move_plan", REPLAN, course(move_to="2026-03-06"), day="2026-03-06"),
    click("the task here after all", GIVEN, "task.take_back", wants("undo"), target="mail"),
    click("what was left over", OFFERED, "task.bring", ANSWER, inputs(bring=[1, 2])),
    form("some of what was left over", OFFERED, "bring", ANSWER, inputs(bring=[2]), tasks=("plants",)),
    form("all of missed days", MISSED, "catch_up", ANSWER, inputs(bring=[1, 2])),
    click("not caught up after all", CAUGHT_UP, "task.undo_catch_up", wants("undo")),
    click("a task in pieces", DRAFT, "task.split", ANSWER, inputs(change=[change(2, in_pieces=True)]), target="mail"),
    click("a full day", DRAFT, "frame.fill", ANSWER, frame(fills=True)),
    click("a longer day", DRAFT, "frame.until", ANSWER, frame(day_end="19:00"), target="19:00"),
    click("a task less", LIST, "task.remove", ANSWER, inputs(remove=[2]), target="mail"),
    form("a task less, in its form", LIST, "task", ANSWER, inputs(remove=[2]), target="mail", remove=True),
    move("draft it", LIST, Move.PROCEED, "proceed"),
    move("show the draft", LIST, Move.PROCEED, "draft"),
    move("too early", EMPTY, Move.PROCEED, "proceed"),
    move("back to the frame", LIST, Move.BACK, "back"),
    move("look again at the list", LIST, Move.REDO, "redo"),
    move("refine it", DRAFT, Move.PROCEED, "proceed"),
    move("back to the list", DRAFT, Move.BACK, "back"),
    move("draft it anew", DRAFT, Move.REDO, "redo"),
    form(
        "a new block", REFINE, "add_block", ANSWER, patch(block("Run", "16:00", 45, notes="Shoes")),
        title="Run", start=time(16), minutes=45, kind="deep", notes="Shoes",
    ),
    form(
        "a block changed", REFINE, "edit_block",
        ANSWER, patch(build_move(0, "14:00", 45), {"op": "edit", "b": "b1", "title": "Essay", "notes": "Two pages"}),
        target=FIRST, title="Essay", start=time(14), minutes=45, notes="Two pages",
    ),
    form("a block longer", REFINE, "edit_block", ANSWER, patch(build_move(0, "09:00", 90)), target=FIRST, minutes=90),
    form("a block less, in its form", REFINE, "edit_block", ANSWER, patch(build_removal(0)), target=FIRST, remove=True),
    click("a block less", REFINE, "block.remove", ANSWER, patch(build_removal(1)), target=SECOND),
    click("a block later", REFINE, "block.later", ANSWER, patch(build_move(0, "09:15", 60)), target=FIRST),
    click(
        "a block moved", REFINE, "block.later", wants("change"), patch(build_move(0, "09:15", 60)), target=FIRST
    ),
    click("a block earlier", REFINE, "block.earlier", ANSWER, patch(build_move(2, "12:15", 45)), target=LUNCH),
    click(
        "trade places with the next", REFINE, "block.swap_down",
        ANSWER, patch(build_move(1, "09:00", 60), build_move(0, "10:10", 60)), target=FIRST,
    ),
    click(
        "trade places with the one before", REFINE, "block.swap_up",
        ANSWER, patch(build_move(1, "09:00", 60), build_move(0, "10:10", 60)), target=SECOND,
    ),
    click("held until the commit", HELD, "block.later", ANSWER, patch(build_move(0, "09:15", 60)), target=FIRST),
    click("running late", REFINE, "replan.late", REPLAN, course(late=30), value="30"),
    click("what is on begins only now", REFINE, "replan.late", REPLAN, course(late=0), value="0"),
    click("done already", REFINE, "replan.done", REPLAN, course(done=[0]), value=FIRST),
    click("not today", REFINE, "replan.not_today", REPLAN, course(not_today=[1]), value=SECOND),
    click("fit the rest anew", REFINE, "replan.refit", REPLAN, course()),
    click("late on the committed day", COMMITTED, "replan.late", REPLAN, course(late=30), value="30"),
    form(
        "how the day goes", REFINE, "replan", REPLAN, course(late=15, done=[0], not_today=[1]),
        late=15, done=(FIRST,), not_today=(SECOND,),
    ),
    form(
        "no room, so another day", FULL, "defer", REPLAN, course(open=[way(1, "later")]),
        target="taxes", day="some_day",
    ),
    click("no room, so not at all", FULL, "task.remove", REPLAN, course(open=[way(1, "drop")]), target="taxes"),
    click("no room, so in pieces", FULL, "task.split", REPLAN, course(open=[way(1, "pieces")]), target="taxes"),
    click("no room, so shorter", FULL, "task.resize", REPLAN, course(open=[way(1, minutes=30)]), target="30 taxes"),
    click("no room, so a longer day", FULL, "frame.until", REPLAN, course(day_end="21:00"), target="21:00"),
    move("commit", REFINE, Move.PROCEED, "proceed"),
    move("put it on the calendar", REFINE, Move.PROCEED, "commit"),
    click("make the change again", UNDONE, "plan.restore", wants("redo_change")),
    click("nothing to make again", REFINE, "plan.restore", wants("redo_change")),
    click("nothing to make again on the committed day", COMMITTED, "plan.restore", wants("redo_change")),
    move("back to the draft", REFINE, Move.BACK, "back"),
    move("look again at the plan", REFINE, Move.REDO, "redo"),
    move("take back the last change", CHANGED, Move.UNDO_LAST_UPDATE, "undo"),
    move("nothing to take back", REFINE, Move.UNDO_LAST_UPDATE, "undo"),
    move("all of it off the calendar", WRITTEN, Move.UNDO_SYNC, "undo_all"),
    move("undo where only all can be", WRITTEN, Move.UNDO_SYNC, "undo"),
    move("try again", TROUBLE, Move.RETRY, "retry"),
    move("yes, write that", BRAKED, Move.RETRY, "accept_pending"),
    click("no, do not write that", BRAKED, "leave_as_is", wants("refuse_pending"), target="brakes"),
    move("stop in the middle", WRITTEN, Move.CANCEL, "cancel"),
    click("write only on commit", REFINE, "set_calendar_write", wants("write_on_commit"), value="commit"),
    click("write once it is okay", HELD, "set_calendar_write", wants("write_once_okay"), value="okay"),
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
    click("a change that was offered", BETTER, "plan.fix", wants("fix", number=2), target=BETTER.planning.fixes[1].id),
    click("the first change that was offered", BETTER, "plan.fix", wants("fix"), target=BETTER.planning.fixes[0].id),
    move("back to refine", COMMITTED, Move.BACK, "back"),
    move("undo the commit", COMMITTED, Move.UNDO_SYNC, "undo_all"),
    move("complete the commit", HALTED, Move.RETRY, "retry"),
    move("look again at the committed plan", COMMITTED, Move.REDO, "redo"),
    click("why is it here", REFINE, "block.why", wants("ask"), {"answer": "Because.", "block": "b1"}, value=FIRST),
    add_rules(click("what do you know of me", REFINE, "show_memory", WORDED, wish("memory_list_constraints"))),
    add_rules(by_form("what of that", "show_memory", wish("memory_get_constraint", 2), uids=[NAMED[1]])),
    add_rules(click("enough of that", SHOWN, "hide_memory", wants("close_memory"))),
    add_rules(
        by_form(
            "keep a new rule", "remember_constraint", wish("remember", rule=NEW_RULE),
            record={**NEW_RECORD, "status": "locked"},
        )
    ),
    add_rules(
        by_form(
            "more air", "set_policy",
            wish("remember", rule=rule(description="leave me more air", slot="slack", minutes_min=20)), records=(MORE_AIR,),
        )
    ),
    add_rules(
        by_form(
            "put one in its place", "remember_constraint", wish("memory_supersede_constraint", 2, rule=NEW_RULE),
            record=REPLACING, supersedes=NAMED[1],
        )
    ),
    add_rules(
        by_form(
            "change a rule", "revise_constraint", wish("memory_update_constraint", 2, rule=NEW_RULE),
            uid=NAMED[1], record=REVISED, seen=SEEN[1],
        )
    ),
    add_rules(
        by_form(
            "put a rule away, and why", "judge_constraint", wish("memory_archive_constraint", 1, reason="over"),
            uid=NAMED[0], verdict="archive", reason="over", seen=SEEN[0],
        )
    ),
    *(
        add_rules(
            click(f"a word about a rule: {verdict}", REFINE, f"memory.{verdict}", WORDED, wish(said_, 3), target=THIRD)
        )
        for verdict, said_ in {
            **{verdict: verdict for verdict in ("accept", "decline", "restore", "set_aside", "use_again")},
            "archive": "memory_archive_constraint",
        }.items()
    ),
    add_rules(click("that one counts", TORN, "memory.keep", WORDED, wish("keep", 2), target=build_target(NAMED[1]))),
    add_rules(click("both count", TORN, "memory.keep", WORDED, wish("keep", 1, 2), target=build_target(None))),
    click("fine this once", EARLY, "memory.allow", wants("accept_pending"), target=f"{AGAINST.token} calls"),
    add_rules(click("take that back", WROTE, "undo_memory", WORDED, wish("undo"), target="c0")),
    *(
        replace(
            click(f"{answer} what an agent proposes", REFINE, f"proposal.{answer}", wants(intent), target="p1"),
            proposals=(WaitingProposal(id="p1", sentence="robot proposes: Mail moves."),),
        )
        for answer, intent in (("apply", "accept_pending"), ("deny", "refuse_pending"))
    ),
    click("correct the committed plan", COMMITTED, "block.later", ANSWER, patch(build_move(0, "09:15", 60)), target=FIRST),
)  # fmt: skip


def dump_outcome(outcome: TurnOutcome) -> dict[str, Any]:
    """Return the whole result of a turn, without generated names: a new block's key."""
    session_ = outcome.session
    new_keys = {
        e.block_key: f"new {e.name}"
        for e in (session_.planning.plan.events if session_.planning.plan else ())
        if e.block_key not in {FIRST, SECOND, LUNCH}
    }
    dumped = outcome.model_dump_json(exclude={"wishes", "lines", "rules"})
    for key, name in new_keys.items():
        dumped = dumped.replace(f'"{key}"', f'"{name}"')
    return {"dumped": dumped}


@pytest.mark.parametrize("row", ROWS, ids=[row.name for row in ROWS])
async def test_words_do_what_the_control_does(row: Row) -> None:
    """S214: the same session, plan, effects and notice. A button asks no model; words ask at most twice."""
    silent = ScriptedModel()
    clicked = await run_turn(turn(row.now, row.deed(row.now), memory=row.memory), silent)
    model = ScriptedModel(*row.answers)
    heard = await run_turn(
        turn(row.now, make_command("user_reply", text="…"), memory=row.memory, proposals=row.proposals), model
    )
    assert dump_outcome(heard) == dump_outcome(clicked)
    assert (len(silent.prompts), len(model.prompts)) == (0, len(row.answers))
    assert len(row.answers) <= 2


WORDS_ONLY: dict[type[SessionCommandBase], str] = {
    TimeboxingUserReply: "is the words themselves",
    ApplyPatch: "is what words come to",
    RequestWork: "is what words about the queue come to; its buttons give the commands of the queue",
}
BETWEEN_DAYS = {ReceiveTasks, ReturnTasks}
"""Commands from the thread of one day to that of another."""


def test_every_command_has_its_row() -> None:
    """S214: a new command without words, or without a row that proves them, fails here."""
    made = {type(row.deed(row.now)) for row in ROWS}
    assert set(get_args(SessionCommand)) - made - BETWEEN_DAYS == set(WORDS_ONLY)
    assert made & {*WORDS_ONLY} == set()


def test_every_control_and_form_has_its_row() -> None:
    used = {row.control for row in ROWS}
    assert {action for action, (kind, _) in ACTIONS.items() if kind in get_args(SessionCommand)} - used == set()
    assert {f"form.{name}" for name in SESSION_FORMS} - used == set()


def test_every_intent_has_its_row() -> None:
    """Each intent of a model has an effect."""
    named = {wish["intent"] for row in ROWS for answer in row.answers for wish in answer.get("wishes", ())}
    assert set(Intent) - named == {Intent.WORK}, "test_parity_matrix has the rows of what is not about the plan"
    assert set(MemoryWish) - {answer["wish"] for row in ROWS for answer in row.answers if "wish" in answer} == set()
