"""The nodes, without a graph around them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.factories.sessions import with_fields
from tests.unit.conversation.sessions import MORNING, event, make_command, move, plan_session, session, task, turn

from fateforger.calendar.model import Snapshot
from fateforger.conversation.stage_nodes import run_stage
from fateforger.conversation.turn_values import (
    DayReading,
    ReadCalendar,
    StageInput,
    StageOutput,
    UndoGroup,
    UndoUpdate,
    WriteCalendar,
    begin_turn,
)
from fateforger.planning.plan import TBPlan
from fateforger.session.gate import OUT_OF_DATE, find_refusal, move_token, offered_moves
from fateforger.session.messages import Notice
from fateforger.session.model import InputFacts, RefineUpdate, Session, WriteCounts
from fateforger.session.stages import MOST_UNDO, Move, TimeboxingStage
from fateforger.values import replace


def enter(
    now: Session,
    *,
    asked: Move = Move.STAY,
    command: object = None,
    arrived: Move | None = None,
) -> StageOutput:
    return run_stage(
        StageInput.model_validate(
            {
                "session": now,
                "asked": asked,
                "command": command,
                "cause": "c1",
                "now": MORNING,
                "arrived": arrived,
            }
        )
    )


def test_a_turn_begins_without_old_news() -> None:
    now = session(notice=Notice(lines=("Old news.",)))
    assert begin_turn(turn(now, move(Move.REDO))).thread.notice is None


def test_a_fresh_look_replaces_an_old_one() -> None:
    now = session(TimeboxingStage.REFINE, event("Old", "09:00", "10:00"), snapshot_error="It was away.")
    fresh = Snapshot(day=now.date, tz=now.tz, events=(event("New", "11:00", "12:00"),))
    after = begin_turn(turn(now, move(Move.REDO), reading=DayReading(snapshot=fresh)))
    assert (after.day.snapshot, after.day.snapshot_error) == (fresh, None)


def test_a_failed_look_keeps_the_last_good_one() -> None:
    now = session(TimeboxingStage.REFINE, event("Old", "09:00", "10:00"))
    after = begin_turn(turn(now, move(Move.REDO), reading=DayReading(error="It does not answer.")))
    assert (after.day.snapshot, after.day.snapshot_error) == (now.day.snapshot, "It does not answer.")


def test_choosing_a_day_looks_at_it() -> None:
    """S39"""
    out = enter(session(), command=make_command("choose_date", date="2026-03-05"))
    assert out.effects == (ReadCalendar(day=out.session.date, tz=out.session.tz, wait=False),)
    assert out.session.day.snapshot is None


def test_stage_1_waits_a_little_for_the_calendar() -> None:
    """S40"""
    out = enter(session(TimeboxingStage.COLLECT_CONSTRAINTS), arrived=Move.PROCEED)
    assert out.effects == (ReadCalendar(day=out.session.date, tz=out.session.tz, wait=True),)


def test_a_confirmed_frame_is_remembered() -> None:
    """S41"""
    out = enter(session(TimeboxingStage.COLLECT_CONSTRAINTS), asked=Move.PROCEED)
    assert (out.move, out.session.day.frame.confirmed) == (Move.PROCEED, True)


@pytest.mark.parametrize("stage", TimeboxingStage)
def test_cancel_ends_from_everywhere(stage: TimeboxingStage) -> None:
    """S57"""
    out = enter(plan_session(stage), asked=Move.CANCEL)
    assert (out.session.status.value, out.move, out.effects) == ("cancelled", Move.STAY, ())


def test_a_draft_is_kept_while_nothing_changed() -> None:
    """S45, S46: same facts, same calendar: no new draft; another task, frame or meeting: a new one."""
    now = plan_session(TimeboxingStage.SKELETON)
    assert now.planning.plan is not None
    marked = now.with_planning(plan=now.planning.plan.replace(now.planning.plan.events[:1]))
    assert enter(marked, arrived=Move.PROCEED).session.planning.plan == marked.planning.plan
    changes: list[dict[str, object]] = [
        {"inputs": InputFacts(tasks=(task("Report"),))},
        {"frame": now.day.frame.model_copy(update={"lunch_minutes": 0})},
        {"snapshot": Snapshot(day=now.date, tz=now.tz, events=(event("Drill", "09:00", "10:00"),))},
    ]
    for change in changes:
        changed = with_fields(marked, **change)
        assert enter(changed, arrived=Move.PROCEED).session.planning.plan != marked.planning.plan
    free = Snapshot(day=now.date, tz=now.tz, events=(event("Music", "09:00", "10:00", busy=False),))
    assert enter(marked.with_day(snapshot=free), arrived=Move.PROCEED).session.planning.plan == marked.planning.plan


def test_a_change_is_written_or_waits() -> None:
    """K1"""
    command = make_command("shift_block", key="mail", minutes=15)
    at_once = enter(plan_session(TimeboxingStage.REFINE), command=command)
    assert [type(e) for e in at_once.effects] == [WriteCalendar]
    assert at_once.session.sync.write_group is not None
    waits = enter(plan_session(TimeboxingStage.REFINE, calendar_write="commit"), command=command)
    assert (waits.effects, waits.session.sync.write_group) == ((), None)
    assert at_once.session.planning.plan == waits.session.planning.plan


def test_a_change_that_changes_nothing_is_no_update() -> None:
    """S51"""
    out = enter(plan_session(TimeboxingStage.REFINE), command=make_command("edit_block", key="mail", title="Mail"))
    assert (out.effects, out.session.sync.refine_undo) == ((), ())
    assert out.session.thread.notice == Notice(lines=("That changes nothing; the plan stays as it is.",))


def test_only_so_many_changes_can_be_taken_back() -> None:
    now = plan_session(TimeboxingStage.REFINE, calendar_write="commit")
    for n in range(MOST_UNDO + 5):
        minutes = 5 if n % 2 else -5
        now = enter(now, command=make_command("shift_block", key="mail", minutes=minutes)).session
    assert len(now.sync.refine_undo) == MOST_UNDO


def test_the_last_change_is_taken_back_on_the_calendar_when_it_was_written() -> None:
    """S55, K1"""
    plan = TBPlan(date=session().date, tz=session().tz)
    local = RefineUpdate(plan_before=plan, sentence="It moved.")
    written = local.model_copy(update={"transactions": ("t1", "t2")})
    here = enter(plan_session(TimeboxingStage.REFINE, refine_undo=(written, local)), asked=Move.UNDO_LAST_UPDATE)
    assert (here.effects, here.session.planning.plan, here.session.sync.refine_undo) == ((), plan, (written,))
    there = enter(plan_session(TimeboxingStage.REFINE, refine_undo=(local, written)), asked=Move.UNDO_LAST_UPDATE)
    assert there.effects == (UndoUpdate(transactions=("t1", "t2")),)


@pytest.mark.parametrize("stage", [TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT])
def test_undo_takes_back_the_whole_group(stage: TimeboxingStage) -> None:
    """S53"""
    now = plan_session(stage, write_group="g1", written=WriteCounts(created=2))
    out = enter(now, asked=Move.UNDO_SYNC)
    if stage is TimeboxingStage.REVIEW_COMMIT:
        assert out.move is Move.UNDO_SYNC
        out = enter(replace(now, stage=TimeboxingStage.REFINE), arrived=Move.UNDO_SYNC)
    assert (out.effects, out.move) == ((UndoGroup(group="g1"),), Move.STAY)


@pytest.mark.parametrize("asked", [Move.REDO, Move.PROCEED])
def test_only_trying_again_is_a_yes(asked: Move) -> None:
    """Brakes are confirmed by the button that asks, and by nothing else."""
    now = plan_session(TimeboxingStage.REVIEW_COMMIT, brakes=("mass_deletion",))
    arrived = Move.PROCEED if asked is Move.PROCEED else None
    asked = Move.STAY if arrived else asked
    assert enter(now, asked=asked, arrived=arrived).session.sync.brakes == ()
    assert enter(now, asked=Move.RETRY).session.sync.brakes == ("mass_deletion",)


def test_a_card_that_is_out_of_date_does_nothing() -> None:
    now = plan_session(TimeboxingStage.REFINE)
    assert find_refusal(now, move(Move.PROCEED, "skeleton")) is OUT_OF_DATE
    assert find_refusal(now, move(Move.PROCEED, move_token(now, Move.PROCEED))) is None
    assert find_refusal(now, move(Move.PROCEED)) is None


@pytest.mark.parametrize(
    ("stage", "command", "sentence"),
    [
        (
            TimeboxingStage.REFINE,
            make_command("add_tasks", tasks=[task("X").model_dump()]),
            "That belongs to the step “What to do”, which we have left; Back leads there.",
        ),
        (
            TimeboxingStage.COLLECT_CONSTRAINTS,
            make_command("shift_block", key="mail", minutes=15),
            "That belongs to the step “Refine”, which comes later.",
        ),
    ],
)
def test_a_command_for_another_stage(stage: TimeboxingStage, command: object, sentence: str) -> None:
    no = find_refusal(plan_session(stage), command)  # type: ignore[arg-type]
    assert no is not None
    assert no.notice == Notice(lines=(sentence,), refused=True, code=no.id)


def test_the_button_of_an_undo_changes_with_every_change() -> None:
    """Two clicks on one Undo last update take back one change."""
    step = RefineUpdate(plan_before=TBPlan(date=session().date, tz=session().tz), sentence="It moved.")
    one, two = (plan_session(TimeboxingStage.REFINE, refine_undo=(step,) * n) for n in (1, 2))
    assert move_token(one, Move.UNDO_LAST_UPDATE) != move_token(two, Move.UNDO_LAST_UPDATE)
    assert move_token(one, Move.PROCEED) == move_token(two, Move.PROCEED)


@pytest.mark.parametrize(
    ("now", "moves"),
    [
        (session(), {"proceed", "cancel"}),
        (session(TimeboxingStage.COLLECT_CONSTRAINTS), {"proceed", "back", "redo", "cancel"}),
        (session(TimeboxingStage.CAPTURE_INPUTS), {"back", "redo", "cancel"}),
        (plan_session(TimeboxingStage.SKELETON), {"proceed", "back", "redo", "cancel"}),
        (plan_session(TimeboxingStage.REFINE), {"proceed", "back", "redo", "cancel"}),
        (plan_session(TimeboxingStage.REFINE, problem="Away."), {"proceed", "back", "redo", "cancel", "retry"}),
        (
            plan_session(TimeboxingStage.REVIEW_COMMIT, written=WriteCounts(created=1)),
            {"back", "redo", "cancel", "undo_sync"},
        ),
    ],
)
def test_what_is_offered(now: Session, moves: set[str]) -> None:
    """S54: Back, Redo and Cancel are offered where they make sense, Continue only when ready."""
    assert {m.value for m in offered_moves(now)} == moves


def test_times_are_passed_in() -> None:
    """The turn's now is when the person acted."""
    command = move(Move.REDO).model_copy(update={"at": MORNING + timedelta(hours=1)})
    assert turn(session(), command).now == MORNING + timedelta(hours=1)
