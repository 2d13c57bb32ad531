"""A session can be saved and restored, and describes its state (S61, S62)."""

from __future__ import annotations

import json
from datetime import time

import pytest
from pydantic import ValidationError
from tests.factories.constraints import version_of
from tests.factories.sessions import GROUPS
from tests.unit.conversation.sessions import MONDAY, MORNING, event, plan_session, question, session, task

from fateforger.errors import BadInput
from fateforger.planning.patch import Patch
from fateforger.planning.plan import TBPlan
from fateforger.quality.model import Criterion, Fix
from fateforger.session.cards import Feedback
from fateforger.session.commands.base import mint_key
from fateforger.session.gate import describe_stage
from fateforger.session.memory import AllowedMeeting, MemoryQuestion, MemoryToolResult, MemoryWrite, RecalledConstraints
from fateforger.session.messages import Exchange, HistoryView, LastWords, Notice, PreviewView, SyncReport
from fateforger.session.model import (
    CatchUp,
    CheckedInputs,
    Clash,
    Facts,
    FrameFacts,
    HeldChange,
    InputFacts,
    Offer,
    OfferedInput,
    RefineUpdate,
    ReturnedTask,
    ReturnedWork,
    SentTask,
    Session,
    Sketch,
    UndoneChange,
    Unplaced,
    WriteCounts,
)
from fateforger.session.stages import TimeboxingStage
from fateforger.session.tasks import find_task, with_one_thing, with_task, with_tasks, without_task
from fateforger.tasks.durations import BegunTask, Estimate
from fateforger.workflow.trace import Step

FACTS = Facts(frame=FrameFacts(), inputs=InputFacts(), deferred=(), unplaced=(), draft_basis="b")


def test_every_field_survives_saving() -> None:
    """S62"""
    plan = TBPlan(date=session().date, tz=session().tz)
    full = plan_session(
        TimeboxingStage.REVIEW_COMMIT,
        task("Report", None, one_thing=True, notes="x"),
        events=(event("Standup", "09:30", "10:00", properties={"a": "b"}),),
        thread_ts="1.0",
        snapshot_error="Away.",
        released=("fftb0",),
        unplaced=(
            Unplaced(
                task_id="t", title="Book", reason="the day is full", offers=(Offer(way="extend", until=time(19)),)
            ),
        ),
        deferred=(task("Later", 30),),
        offered=(OfferedInput(task=task("Mail"), source="deferred", day=MONDAY),),
        offer_trouble="I could not read your list.",
        brought=("mail",),
        settled=("taxes",),
        returned=ReturnedWork(tasks=(ReturnedTask(id="t", queued="ff-4k7w9c", added=True),)),
        caught_up=CatchUp(things=(OfferedInput(task=task("Mail"), source="planned", day=MONDAY),), brought=("mail",)),
        now=MORNING,
        drafted_at=MORNING,
        put_in_past=("a",),
        begun=(BegunTask(id="report", start=MORNING, minutes=60),),
        quick=True,
        rough=True,
        sent=(SentTask(task=task("Tax", 30), day=MONDAY),),
        planned_days=(MONDAY,),
        estimates=(Estimate(kind="deep report", ratio=1.4, count=3, short=3, minutes=85),),
        clash=Clash(uids=("a", "b"), let_go=("a",)),
        sketch=Sketch(basis="b", plan=plan, unplaced=(Unplaced(task_id="t", title="Book", reason="full"),)),
        overview="- x",
        refine_undo=(RefineUpdate(plan_before=plan, transactions=("t1",), sentence="It moved.", facts_before=FACTS),),
        undone=(UndoneChange(step=RefineUpdate(plan_before=plan, sentence="It moved."), plan_after=plan),),
        exchanges=(Exchange(person="it's late", bot="It moved."),),
        language="nl",
        language_chosen=True,
        held=HeldChange(
            asked="c1",
            uid="a",
            seq=1,
            step=RefineUpdate(plan_before=plan, sentence="It moved."),
            plan_after=plan,
            writes="commit",
            also=("b",),
            meetings=("report standup",),
        ),
        write_group="g",
        written=WriteCounts(created=1),
        last_sync=SyncReport(status="partial", created=1, unchanged=2, headline="", details=("One.",)),
        problem="Away.",
        questions=(question("mail", "summary", shown=True),),
        brakes=("mass_deletion",),
        notice=Notice(lines=("Hello.",)),
        calendar_write_chosen="commit",
        history=HistoryView(asked="c1", total=1),
        preview=PreviewView(asked="c2", at=MORNING, todo=("Add “A” 09:00–10:00",)),
        said=(version_of("a"),),
        set_aside=("b",),
        allowed=(AllowedMeeting(rule="a", meeting="standup", title="Standup", day=MONDAY),),
        kept=("c 2026-03-02T08:00:00+00:00",),
        recalled=RecalledConstraints(day=MONDAY, stage=TimeboxingStage.REFINE, at=MORNING, versions=(version_of("b"),)),
        memory=MemoryToolResult(asked="c3", total=1),
        memory_writes=(MemoryWrite(cause="c3", lines=("Noted.",), versions=(version_of("a"),)),),
        memory_questions=(MemoryQuestion(uids=("a", "b"), names=("A", "B"), sentence="Which one?"),),
        fixes=(Fix(id="f", label="Move it", criterion=Criterion.MEAL, keys=("a",), level=3, patch=Patch(ops=())),),
        mode="executor",
        trace=(Step(do=("commit",), true=("plan_valid",), unknown=("sync_failed",)),),
        weighed=CheckedInputs(rules=("a 2026-03-02",), meetings=("standup",)),
        overrun=("report standup",),
        feedback=Feedback(turn="c1", prompts=("decide/1",)),
        last_words=LastWords(bot="Do you want to plan Friday instead?", asks=True),
        root_line="Planning",
        asked_to_finish=True,
        named=True,
        handled=("c1",),
    )
    document = full.model_dump(exclude_defaults=True)
    empty = {name for name in Session.model_fields if name not in document}
    for group in GROUPS:
        empty |= {name for name in type(getattr(full, group)).model_fields if name not in document[group]}
    assert empty == {"schema_version", "version", "status", "calendar_write", "frame"}
    assert Session.model_validate_json(full.model_dump_json()) == full
    # Sessions of version 1, in databases and recordings, have the fields of all groups in one level.
    whole = json.loads(full.model_dump_json())
    flat = {name: value for name, value in whole.items() if name not in GROUPS}
    flat |= {name: value for group in GROUPS for name, value in whole[group].items()}
    grade = {"level": 4, "label": "Ultra", "next_step": "There is nothing to improve."}
    assert Session.model_validate_json(json.dumps({**flat, "schema_version": 1, "quality": grade})) == full
    # Plans were once stored with their grade.
    graded = {**whole, "planning": {**whole["planning"], "quality": grade}}
    assert Session.model_validate_json(json.dumps(graded)) == full


@pytest.mark.parametrize(
    ("status", "headline", "details"),
    [("changed", "Done.", ("Kept.",)), ("partial", "", ("Done.", "Kept.")), ("failed", "", ("Done.", "Kept."))],
)
def test_a_report_stored_as_sentences_is_read(status: str, headline: str, details: tuple[str, ...]) -> None:
    report = SyncReport.model_validate({"status": status, "created": 1, "sentences": ["Done.", "Kept."]})
    assert (report.headline, report.details, report.sentences) == (headline, details, ("Done.", "Kept."))
    assert SyncReport.model_validate({"status": status, "sentences": []}).sentences == ()


def test_what_is_said_is_added_once_and_a_refusal_ends() -> None:
    refused = session().say("One.", code="first").refuse("No.", code="no")
    assert refused.remark("Two.", "No.").thread.notice == Notice(lines=("No.", "Two."), refused=True, code="no")
    assert refused.say("Two.").thread.notice == Notice(lines=("No.", "Two."), code="no")
    assert refused.say().thread.notice == refused.thread.notice
    assert refused.with_notice().notice_lines == ()


def test_a_newer_field_is_refused() -> None:
    with pytest.raises(ValidationError):
        Session.model_validate(session().model_dump() | {"mood": "fine"})


def test_the_last_fifty_commands_are_remembered() -> None:
    now = session()
    for n in range(60):
        now = now.after_command(f"c{n}", MORNING)
    assert now.thread.handled == tuple(f"c{n}" for n in range(10, 60))


@pytest.mark.parametrize(
    ("now", "ready", "missing", "question"),
    [
        (session(), True, 0, False),
        (session(TimeboxingStage.COLLECT_CONSTRAINTS), True, 0, False),
        (session(TimeboxingStage.CAPTURE_INPUTS), False, 1, True),
        (session(TimeboxingStage.CAPTURE_INPUTS, inputs=InputFacts(tasks=(task("A"),))), True, 0, False),
        (session(TimeboxingStage.SKELETON), False, 1, True),
        (plan_session(TimeboxingStage.SKELETON), True, 0, False),
        (session(TimeboxingStage.REFINE), False, 1, True),
        (plan_session(TimeboxingStage.REFINE), True, 0, False),
        (plan_session(TimeboxingStage.REVIEW_COMMIT), True, 0, False),
    ],
)
def test_gates(now: Session, ready: bool, missing: int, question: bool) -> None:  # noqa: FBT001  a table of cases
    """S56, S61: ready or not, one to four bullets, what is missing, one question."""
    out = describe_stage(now)
    assert (out.stage, out.ready, len(out.missing), out.question is not None) == (now.stage, ready, missing, question)
    assert 1 <= len(out.summary) <= 4
    assert out.question is None or out.question.count("?") == 1


def test_an_emptied_plan_can_be_committed_when_something_is_written() -> None:
    empty = TBPlan(date=session().date, tz=session().tz)
    assert not describe_stage(plan_session(TimeboxingStage.REFINE, plan=empty)).ready
    assert describe_stage(plan_session(TimeboxingStage.REFINE, plan=empty, written=WriteCounts(created=1))).ready


def test_calendar_in_the_gate_of_stage_1() -> None:
    """S42: there is no text about meetings while the calendar is still loading."""
    stage = TimeboxingStage.COLLECT_CONSTRAINTS
    assert describe_stage(session(stage)).summary[1] == "No meetings"
    assert describe_stage(session(stage, event("A", "09:00", "10:00"))).summary[1] == "1 meeting"
    assert describe_stage(session(stage, snapshot=None)).summary[1] == "Calendar still loading"
    assert describe_stage(session(stage, snapshot=None, snapshot_error="Away.")).summary[1] == "Calendar not read"


def test_there_is_one_one_thing() -> None:
    """S43"""
    inputs = with_tasks(InputFacts(), (task("A", one_thing=True), task("B")))
    inputs = with_tasks(inputs, (task("C", one_thing=True),))
    assert [t.one_thing for t in inputs.tasks] == [False, False, True]
    inputs = with_one_thing(inputs, "a")
    assert [t.one_thing for t in inputs.tasks] == [True, False, False]
    inputs = with_task(inputs, task("B", 30, one_thing=True))
    assert [(t.one_thing, t.minutes) for t in inputs.tasks] == [(False, 60), (True, 30), (False, 60)]
    assert [t.id for t in without_task(inputs, "b").tasks] == ["a", "c"]


def test_tasks_that_are_not_there() -> None:
    inputs = with_tasks(InputFacts(), (task("A"),))
    for change in (
        lambda: without_task(inputs, "x"),
        lambda: with_one_thing(inputs, "x"),
        lambda: with_task(inputs, task("X")),
        lambda: find_task(inputs, "x"),
    ):
        with pytest.raises(BadInput, match="not on the list any more"):
            change()
    with pytest.raises(BadInput, match="on the list already"):
        with_tasks(inputs, (task("A"),))


def test_minted_names() -> None:
    assert mint_key("t", "c1", 1) == mint_key("t", "c1", 1) != mint_key("t", "c1", 2)
    assert len(mint_key("t", "c1")) == 13
