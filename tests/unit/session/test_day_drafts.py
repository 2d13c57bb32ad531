"""Drafts follow rules over the order of the day where they can, and the rest is judged (S21, S48, S138)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories.constraints import version_of
from tests.unit.conversation.rules import knowing
from tests.unit.conversation.sessions import event, session, task

from fateforger.drafting.context import express_record
from fateforger.planning.task_details import TaskDetails, TaskKind
from fateforger.session.checks import broken_day_rules
from fateforger.session.draft import draft_day
from fateforger.session.model import InputFacts, Session
from fateforger.session.placement import by_time
from fateforger.session.stages import TimeboxingStage

DEEP, MAIL = task("Report", 90), task("Mail", 60, details=TaskDetails(kind=TaskKind.SHALLOW))


def day(rule: str | None, *tasks: Any, **fields: Any) -> Session:
    """Return a day of a report and mails, with a meeting from 14:00 to 15:00, drafted under one rule."""
    now = session(
        TimeboxingStage.REFINE,
        event("Board", "14:00", "15:00"),
        inputs=InputFacts(tasks=tasks or (DEEP, MAIL)),
    )
    rules = [] if rule is None else [version_of("r", **{"necessity": "must", "day_rule": rule, **fields})]
    return draft_day(knowing(now, *rules))


def list_blocks(now: Session) -> list[str]:
    blocks = by_time(now.planning.plan) if now.planning.plan is not None else ()
    return [
        f"{b.start:%H:%M}-{b.end:%H:%M} {b.event.name}" for b in blocks if b.event.name not in {"Lunch", "Shut down"}
    ]


def test_without_a_rule_deep_work_comes_first() -> None:
    assert list_blocks(day(None)) == ["09:00-10:30 Report", "10:40-11:40 Mail"]


@pytest.mark.parametrize(
    ("rule", "plan"),
    [
        ("NEVER: deep_work_before_15", ["09:00-10:00 Mail", "15:00-16:30 Report"]),
        ("NEVER: deep_work_after_11 OR deep_work_before_9", ["09:00-10:30 Report", "10:40-11:40 Mail"]),
        ("NEVER: admin_after_11_30", ["09:00-10:00 Mail", "10:00-11:30 Report"]),
        ("BEFORE deep_work: admin_done", ["09:00-10:00 Mail", "10:00-11:30 Report"]),
        ("BEFORE deep_work: shallow_work", ["09:00-10:00 Mail", "10:00-11:30 Report"]),
        ("AFTER admin: deep_work", ["09:00-10:00 Mail", "10:00-11:30 Report"]),
    ],
)
@pytest.mark.parametrize("necessity", ["must", "should"])
def test_times_counts_and_orders_are_followed(rule: str, plan: list[str], necessity: str) -> None:
    now = day(rule, necessity=necessity)
    assert list_blocks(now) == plan
    assert broken_day_rules(now) == ()


def test_what_must_never_be_is_left_out_and_what_should_not_be_is_said() -> None:
    now = day("NEVER: admin")
    assert (list_blocks(now), [left.title for left in now.planning.unplaced]) == (["09:00-10:30 Report"], ["Mail"])
    soft = day("NEVER: admin", necessity="should")
    assert (list_blocks(soft), [breach.named for breach in broken_day_rules(soft)]) == (
        list_blocks(day(None)),
        ["“Mail” (10:40–11:40)"],
    )


def test_a_length_is_followed_where_work_can_be_split() -> None:
    now = day("NEVER: deep_work_longer_than_60")
    assert (
        [b.minutes for b in by_time(now.planning.plan) if b.event.name.startswith("Report")] == [45, 45]
        if now.planning.plan
        else []
    )
    assert broken_day_rules(now) == ()


@pytest.mark.parametrize(
    ("rule", "named"),
    [
        ("AFTER meeting: deep_work", "“Board” (14:00–15:00)"),
        ("NEVER: admin AND monday", "“Mail” (10:40–11:40)"),
        ("BEFORE admin: habit_done", "“Mail” (10:40–11:40)"),
    ],
)
def test_what_a_draft_cannot_follow_is_said_of_the_plan(rule: str, named: str) -> None:
    """No clash is claimed that there is not: the draft is as without the rule, and its judge says what is not kept."""
    now = day(rule)
    assert (list_blocks(now), now.planning.clash) == (list_blocks(day(None)), None)
    assert [breach.named for breach in broken_day_rules(now)] == [named]


def test_an_order_that_is_kept_in_another_way_is_no_clash() -> None:
    """One mail before the report is enough, however much there is of both: an order binds no draft more than its rule."""
    tasks = (task("Report", 120), task("Book", 60), MAIL, task("Post", 60, details=TaskDetails(kind=TaskKind.SHALLOW)))
    now = day("BEFORE deep_work: admin_done", *tasks)
    assert now.planning.clash is None
    assert broken_day_rules(now) == ()


@pytest.mark.parametrize("rule", ["NEVER: meeting_after_17 AND friday", "ALWAYS: NOT commute", "BEFORE admin: meeting"])
def test_of_anything_else_a_draft_knows_nothing(rule: str) -> None:
    record = express_record(version_of("r", day_rule=rule).record)
    assert (record.payload.rule_kind, record.payload.windows, record.applies_event_types) == (None, (), ())


def test_clock_times_are_of_the_planned_day() -> None:
    """The checker reads them the same way; the place of the person at the time does not matter."""
    assert list_blocks(day("NEVER: deep_work_before_15", timezone="America/New_York")) == [
        "09:00-10:00 Mail",
        "15:00-16:30 Report",
    ]
