"""The gates of the stage machine are the rules of ``timeboxing.yaml`` (S56, S139, S162): what a session is about to do is
held against them, and what a turn came to."""

from __future__ import annotations

from datetime import time, timedelta

import pytest
from tests.unit.conversation.rules import avoiding
from tests.unit.conversation.sessions import MORNING, at, event, plan_session, session, task

from fateforger.calendar.model import Snapshot
from fateforger.conversation.stage_nodes import run_stage
from fateforger.conversation.turn_values import (
    Effect,
    StageInput,
    StageOutput,
    TurnOutcome,
    WriteCalendar,
    guard_output,
)
from fateforger.conversation.turns import end_turn, report_violations
from fateforger.planning.plan import ET, TBEvent, TBPlan
from fateforger.planning.timing import AfterPrevious, FixedStart
from fateforger.session.cards import Card
from fateforger.session.day import frame_mistake
from fateforger.session.gate import (
    FORWARD,
    MOST_STEPS,
    WORKFLOW,
    describe_stage,
    find_refusal,
    known_facts,
    make_step,
    objections,
    record_steps,
)
from fateforger.session.messages import Outgoing, SyncReport
from fateforger.session.model import FrameFacts, RefineUpdate, Session, WriteCounts
from fateforger.session.stages import TRANSITIONS, Move, TimeboxingStage
from fateforger.values import replace
from fateforger.workflow.definition import load_shipped
from fateforger.workflow.trace import Check

HOUR = timedelta(hours=1)
REFINE, REVIEW, SKELETON = TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT, TimeboxingStage.SKELETON
TIMEBOXING = load_shipped(WORKFLOW)
DANGLING = TBPlan(
    date=session().date,
    tz=session().tz,
    events=(
        TBEvent(name="Report", type=ET.DEEP_WORK, timing=AfterPrevious(duration=HOUR)),
        TBEvent(name="Mail", type=ET.SHALLOW_WORK, timing=FixedStart(start=time(11), duration=HOUR)),
    ),
)
"""A plan whose first block follows nothing."""


def run_move(move: Move, before: Session, arrived: Move | None = None) -> StageOutput:
    no = find_refusal(before, move)
    if no is not None:
        return StageOutput(session=before.with_thread(notice=no.notice))
    return run_stage(StageInput(session=before, asked=move, command=None, cause="c1", now=at("08:00"), arrived=arrived))


def lines(output: StageOutput) -> tuple[str, ...]:
    notice = output.session.thread.notice
    return () if notice is None or not notice.refused else notice.lines


def test_each_way_of_the_table_is_an_action_of_the_workflow() -> None:
    """Every stage that has a next one has a gate, and every fact is a state that the session can tell."""
    assert set(FORWARD) == {stage for stage, moves in TRANSITIONS.items() if Move.PROCEED in moves}
    names = TIMEBOXING.vocabulary
    actions = {*FORWARD.values(), "write", "undo_change", "undo_all", "undo_write", "redo_write", "try_again"}
    assert {names.kind_of(name) for name in actions} == {"action"}
    everything = plan_session(
        REVIEW,
        refine_undo=(RefineUpdate(plan_before=DANGLING, sentence="It moved."),),
        written=WriteCounts(created=1),
        last_sync=SyncReport(status="partial"),
        problem="Away.",
    )
    states = {*known_facts(everything), "one_message_per_turn", "foreign_event_changed", "musts_kept"}
    assert states == set(TIMEBOXING.predicates)
    assert all(p.checks == (Check("session", name),) for name, p in TIMEBOXING.predicates.items())


WRONG = FrameFacts(day_start=time(14), day_end=time(13))
TOO_EARLY = frame_mistake(session(frame=WRONG)) or ""


@pytest.mark.parametrize(
    ("before", "move", "said"),
    [
        (
            session(TimeboxingStage.COLLECT_CONSTRAINTS, frame=WRONG),
            Move.PROCEED,
            (
                TOO_EARLY,
                "When does your day start, and when does it end?",
                "Rule: The day needs its hours before anything is put into it.",
            ),
        ),
        (
            session(TimeboxingStage.CAPTURE_INPUTS),
            Move.PROCEED,
            (
                "There is nothing on your list yet, so there is nothing to plan.",
                "What do you want to get done on Monday 2 March?",
                "Rule: There is something to do before a day is drafted.",
            ),
        ),
        (
            session(SKELETON),
            Move.PROCEED,
            (
                "There is no draft of this day yet.",
                "Shall I draft it again? Redo step does that.",
                "Rule: There is a draft before it is refined.",
            ),
        ),
        (
            plan_session(REFINE, plan=DANGLING),
            Move.PROCEED,
            (
                "Mend the plan so that every block has its time, then commit.",
                "Rule: The day is confirmed and the plan holds together before it is committed.",
            ),
        ),
        (
            plan_session(REFINE, plan=DANGLING.replace(())),
            Move.PROCEED,
            (
                "The plan has no blocks, so there is nothing to put on your calendar.",
                "Which block shall I add first?",
                "Rule: There is something to put on the calendar before a commit.",
            ),
        ),
        (
            plan_session(REFINE, plan=DANGLING, problem="Away."),
            Move.RETRY,
            (
                "Confirm the day, and mend the plan so that every block has its time.",
                "Rule: Nothing reaches the calendar but a plan that holds together, of a day that was confirmed.",
            ),
        ),
        (
            plan_session(REFINE),
            Move.RETRY,
            ("Nothing failed here, so there is nothing to try again.",),
        ),
        (
            plan_session(REFINE),
            Move.UNDO_LAST_UPDATE,
            ("There is no change to take back here.",),
        ),
        (
            plan_session(REVIEW),
            Move.UNDO_SYNC,
            ("Nothing of this plan is on your calendar, so there is nothing to undo.",),
        ),
    ],
)
def test_a_gate_refuses_with_the_remedy_and_the_name_of_its_rule(
    before: Session, move: Move, said: tuple[str, ...]
) -> None:
    """S139: nothing is done and nothing is remembered of it."""
    output = run_move(move, before)
    assert lines(output) == said
    assert (output.move, output.effects, output.session.with_thread(notice=None)) == (Move.STAY, (), before)


def test_no_way_leads_around_a_gate() -> None:
    """A commit on arrival is held against the rules as well, however the session came there."""
    output = run_move(Move.STAY, plan_session(REVIEW, plan=DANGLING), arrived=Move.PROCEED)
    assert output.effects == ()
    assert lines(output)[-1].startswith("Rule: Nothing reaches the calendar")


def test_no_way_leads_around_the_musts() -> None:
    """K9: for any request to write, the last gate also holds back a plan that breaks a must."""
    now = plan_session(REFINE, task("Report", 60), said=(avoiding("quiet", "00:00", "20:00", session="s1"),))
    asking = StageInput(session=now, asked=Move.STAY, command=None, cause="c1", now=MORNING)
    wish = StageOutput(session=now, effects=(WriteCalendar(group="g", commit=True),))
    output = guard_output(asking, wish)
    assert output.effects == ()
    assert lines(output)[-1] == "Rule: A plan that breaks a must reaches the calendar only with your yes."


def test_what_the_rules_allow_is_done_and_remembered() -> None:
    """From Refine to the calendar: the commit, then the write, each with the facts as it began."""
    refined = run_move(Move.PROCEED, plan_session(REFINE))
    assert (refined.move, [step.do for step in refined.session.thread.trace]) == (Move.PROCEED, [("commit",)])
    arrived = replace(refined.session, stage=REVIEW)
    written = run_move(Move.STAY, arrived, arrived=Move.PROCEED)
    assert [effect.kind for effect in written.effects] == ["write_calendar"]
    assert [step.do for step in written.session.thread.trace] == [("commit",), ("write",)]
    assert "plan_valid" in written.session.thread.trace[-1].true


def test_a_session_remembers_only_so_much() -> None:
    busy = plan_session(REFINE)
    for _ in range(3 * MOST_STEPS):
        busy = record_steps(busy, make_step(busy, "write"))
    assert len(busy.thread.trace) == MOST_STEPS


@pytest.mark.parametrize("stage", list(TimeboxingStage))
def test_a_stage_is_ready_when_no_rule_stands_against_going_on(stage: TimeboxingStage) -> None:
    """Cards and turns follow the same rules."""
    sessions = [session(stage), session(stage, frame=WRONG), plan_session(stage), plan_session(stage, plan=DANGLING)]
    forward = FORWARD.get(stage)
    for each in sessions:
        assert describe_stage(each).ready == (forward is None or not objections(each, forward))
        assert describe_stage(each).ready == (forward is None or not lines(run_move(Move.PROCEED, each)))


# --- after a turn ---


def outgoing(slot: str, *, beside: bool = False) -> Outgoing:
    return Outgoing(id=slot, session_id="s1", channel="C1", slot=slot, card=Card(text="x", parts=()), beside=beside)


ONE = (outgoing("root"), outgoing("stage:4"), outgoing("history", beside=True))


def broke(before: Session, after: Session, *effects: Effect, messages: tuple[Outgoing, ...] = ONE) -> list[str]:
    outcome = TurnOutcome(session=before, gate=describe_stage(before), effects=effects)
    return [each.stated.id for each in end_turn(before, outcome, after, messages)[1]]


WRITE = WriteCalendar(group="g", commit=True)


def test_a_foreign_event_that_a_write_changed_is_said() -> None:
    """NEVER: foreign_event_changed. What a look shows is another matter."""
    before = plan_session(REVIEW, events=(event("Standup", "09:30", "10:00"),), written=WriteCounts(created=1))
    moved = Snapshot(day=before.date, tz=before.tz, events=(event("Standup", "09:00", "10:00"),))
    after = before.with_day(snapshot=moved)
    assert (broke(before, after, WRITE), broke(before, before, WRITE), broke(before, after)) == (
        ["foreign-events"],
        [],
        [],
    )
    outcome = TurnOutcome(session=before, gate=describe_stage(before), effects=(WRITE,))
    notice = report_violations(*end_turn(before, outcome, after, ONE)).thread.notice
    assert notice is not None
    assert notice.lines == (
        "Please look at your calendar, and take this write back with Undo.",
        "Rule: Events that are not ours are never changed.",
    )


def test_a_turn_has_one_message() -> None:
    """S115, ALWAYS: one_message_per_turn; the first message's line and messages next to the plan do not count."""
    both = (*ONE, outgoing("stage:5"))
    assert (
        broke(plan_session(REFINE), plan_session(REFINE)),
        broke(plan_session(REFINE), plan_session(REFINE), messages=both),
    ) == (
        [],
        ["one-message"],
    )


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (
            plan_session(
                REVIEW, last_sync=SyncReport(status="partial"), written=WriteCounts(created=1), problem="Away."
            ),
            [],
        ),
        (plan_session(REVIEW, last_sync=SyncReport(status="failed"), problem="Away."), []),
        (
            plan_session(
                SKELETON, last_sync=SyncReport(status="partial"), written=WriteCounts(created=1), problem="Away."
            ),
            ["offer-undo", "offer-to-try-again"],
        ),
    ],
)
def test_a_write_that_broke_off_offers_its_undo(after: Session, expected: list[str]) -> None:
    """ON sync_failed: INVOKE offer_undo, in the same turn; and only when it begins to be so."""
    before = plan_session(REVIEW)
    assert broke(before, after, WRITE) == expected
    known = record_steps(after, make_step(after, "end_turn", "offer_undo", "offer_to_try_again"))
    assert broke(known, known) == []


def test_a_turn_in_which_nothing_was_done_leaves_no_trace() -> None:
    idle, busy = plan_session(REFINE), record_steps(plan_session(REFINE), make_step(plan_session(REFINE), "write"))
    kept = [
        end_turn(idle, TurnOutcome(session=after, gate=describe_stage(after)), after, ONE)[0].thread.trace
        for after in (idle, busy)
    ]
    assert [[step.do for step in trace] for trace in kept] == [[], [("write",), ("end_turn",)]]


def test_tasks_of_a_day_can_be_planned_again() -> None:
    """S133: back and forth in any order breaks nothing."""
    told_so_far = plan_session(TimeboxingStage.CAPTURE_INPUTS, task("Report"))
    there = run_move(Move.PROCEED, told_so_far)
    back = run_move(Move.BACK, replace(there.session, stage=SKELETON))
    again = run_move(Move.PROCEED, replace(back.session, stage=TimeboxingStage.CAPTURE_INPUTS))
    assert [step.do for step in again.session.thread.trace] == [("draft",), ("draft",)]
