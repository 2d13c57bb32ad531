"""One policy for a day: the thread drafts as ``plan draft`` does, and is judged by what it was drafted by (K10)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner
from tests.unit.conversation.person import MONDAY, Harness, Person, meeting

from fateforger.cli.plan import plan_command
from fateforger.drafting.instance import Lunch, Policy
from fateforger.drafting.solver import STEPS
from fateforger.planning.plan import TBPlan, resolve
from fateforger.planning.wire import read_plan
from fateforger.quality.model import Criterion
from fateforger.session.draft import day_of, draft_constraints, grade_session, instance_in

PLAN_A = [
    "09:00-10:30 DW Thesis (1/3)",
    "10:40-12:10 DW Thesis (2/3)",
    "12:30-13:15 R Lunch",
    "13:25-14:25 DW Thesis (3/3)",
    "14:35-15:05 SW E-mail",
    "15:05-15:35 PR Shut down",
]


def list_blocks(plan: TBPlan | None) -> list[str]:
    assert plan is not None
    return [f"{b.start:%H:%M}-{b.end:%H:%M} {b.event.type} {b.event.name}" for b in resolve(plan)]


def from_the_command_line(document: dict[str, Any]) -> list[str]:
    result = CliRunner().invoke(
        plan_command, ["draft", "-", "--json", "--steps", str(STEPS)], input=json.dumps(document)
    )
    assert result.exit_code == 0, result.output
    return list_blocks(read_plan(json.loads(result.stdout)["plan"]))


async def to_plan_a(anna: Person) -> None:
    await anna.to_tasks()
    given: dict[str, Any] = {
        "title_1": "Thesis",
        "minutes_1": 240,
        "title_2": "E-mail",
        "minutes_2": 30,
        "kind_2": "shallow",
    }
    assert await anna.fill("tasks", size=3, one_thing="1", **given) is None


async def test_the_thread_and_the_command_line_draft_the_same_day(anna: Person) -> None:
    """K10, S206, S207: an empty day of nine hours, four hours of the one thing and half an hour of mail."""
    await to_plan_a(anna)
    tasks = [
        {"id": "thesis", "title": "Thesis", "minutes": 240, "type": "DW", "one_thing": True},
        {"id": "mail", "title": "E-mail", "minutes": 30, "type": "SW"},
    ]
    frame = {"start": "09:00", "end": "18:00"}
    day = {"date": MONDAY.isoformat(), "tz": "Europe/Amsterdam", "frame": frame, "tasks": tasks}
    assert list_blocks((await anna.session()).planning.plan) == PLAN_A
    assert from_the_command_line(day) == PLAN_A


async def test_a_draft_is_judged_by_what_it_was_drafted_by(anna: Person) -> None:
    """K10: nothing is missed that the draft's own policy left out."""
    await to_plan_a(anna)
    session = await anna.session()
    assert (
        day_of(session).instance(draft_constraints(session)).policy
        == instance_in(session).policy
        == Policy(lunch=Lunch())
    )
    quality = grade_session(session)
    assert quality is not None
    assert (quality.level, quality.findings) == (4, ())


@pytest.mark.parametrize(
    "titles", [("Write report",), ("Write report", "Review plans", "Mail", "Slides", "Read papers")]
)
async def test_the_day_of_a_thread_is_an_instance_that_drafts_the_same(
    anna: Person, harness: Harness, titles: tuple[str, ...]
) -> None:
    """K10: around meetings, with lunch where the person set it."""
    for title, start, end in (("Stand-up", "09:30", "10:00"), ("Review", "12:15", "13:00"), ("Call", "15:00", "16:00")):
        meeting(harness, title, start, end)
    await anna.to_skeleton(*titles)
    session = await anna.session()
    document = (
        day_of(session).instance(draft_constraints(session)).model_dump(mode="json", by_alias=True, exclude_none=True)
    )
    assert from_the_command_line(document) == list_blocks(session.planning.plan)
    quality = grade_session(session)
    assert quality is not None
    missed = {finding.criterion for finding in quality.findings}
    assert not missed & {Criterion.FOCUS, Criterion.MEAL}
