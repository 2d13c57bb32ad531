"""A card never criticizes a draft for something that its policy could have given."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.factories.instances import day_of
from tests.judge.day import MINUTE, Day, runs
from tests.judge.gallery import FILES
from tests.judge.rivals import find_rivals

from fateforger.drafting.instance import read_instance
from fateforger.drafting.model import write_draft
from fateforger.drafting.routines import with_routines
from fateforger.drafting.solver import STEPS, draft_instance
from fateforger.planning.plan import resolve
from fateforger.quality.model import Criterion, Finding
from fateforger.quality.rubric import grade_plan

pytestmark = pytest.mark.extra  # a campaign of many random cases

ASKED_OF_THE_PERSON = {Criterion.ONE_THING, Criterion.UNPLACED, Criterion.SHOULD, Criterion.WISH}
"""Criteria for the person to decide: the task that matters most, what to drop, and which wish gives way."""
PAUSES = {Criterion.AFTER_DEEP: 10, Criterion.BEFORE_DEEP: 10, Criterion.AFTER_MEAL: 10}


def find_avoidable_remarks(document: dict[str, Any]) -> list[str]:
    """Return what the card says of a fresh draft that another draft of the same work would not have to hear."""
    instance = with_routines(read_instance(document))
    drafted = draft_instance(instance, steps=STEPS)
    plan = json.loads(json.dumps(write_draft(drafted)))
    day = Day(document, plan)
    starts = {block.key: block.start.astimezone(UTC) for block in resolve(drafted.plan)}
    ends = {block.key: block.end.astimezone(UTC) for block in resolve(drafted.plan)}
    found = grade_plan(instance, drafted.plan, drafted.unplaced).findings
    return [each.text for each in found if _could_be_mended(day, each, starts, ends)]


def _could_be_mended(day: Day, finding: Finding, starts: dict[str, datetime], ends: dict[str, datetime]) -> bool:
    if finding.criterion in ASKED_OF_THE_PERSON:
        return False
    if finding.criterion not in PAUSES:
        return True
    one, two = finding.keys
    lacks = PAUSES[finding.criterion] - (starts[two] - ends[one]) // timedelta(minutes=1)
    at = int((starts[two] - day.begin) / MINUTE)
    around = next(run for run in runs(day.free) if at in run)
    return len(day.unplanned & set(around)) >= lacks and not _is_held(day, around)


def _is_held(day: Day, around: range) -> bool:
    """Check whether a time, a due time, best hours, or a rule of the person hold work of a stretch in its place."""
    inside = [day.tasks[b.task] for b in day.blocks if b.start in around and b.task in day.tasks]
    named = ("start", "deadline", "not_before", "energy", "after")
    return bool(day.rules) or any(task.get(name) for task in inside for name in named)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_the_card_of_a_day_of_the_gallery_asks_for_nothing_that_could_be_had(file: Path) -> None:
    """S244"""
    assert find_avoidable_remarks(json.loads(file.read_text())["instance"]) == []


@pytest.mark.parametrize("family", ["light", "typical"])
@pytest.mark.parametrize("seed", range(5))
def test_the_card_of_a_random_day_asks_for_nothing_that_could_be_had(family: str, seed: int) -> None:
    """S244"""
    document = day_of(family, seed)
    assert find_avoidable_remarks({**document, "constraints": []}) == []


RANDOM_DAYS = [
    *((family, seed) for family in ("typical", "heavy") for seed in range(6)),
    *((family, seed) for family in ("light", "typical", "heavy") for seed in range(20_000, 20_010)),
]


@pytest.mark.parametrize(("family", "seed"), RANDOM_DAYS)
def test_no_other_draft_of_a_random_day_keeps_more(family: str, seed: int) -> None:
    """S244: with the rules of the day, also where they contradict each other."""
    assert find_rivals(day_of(family, seed)) == []
