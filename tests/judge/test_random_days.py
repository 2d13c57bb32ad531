"""The judge on random days, which no weight was chosen for. Rules are left out: random ones contradict each other."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from tests.factories.instances import day_of
from tests.judge.day import Day
from tests.judge.findings import find_all

from fateforger.drafting.instance import read_instance
from fateforger.drafting.model import write_draft
from fateforger.drafting.solver import draft_instance

pytestmark = pytest.mark.extra  # a campaign of many random cases

DAYS = range(9000, 9030)
MOST = 13
"""Days of these on which the judge may have something to say; a plan weighs wishes against each other."""
NEVER = frozenset({"frame", "required", "musts", "due", "due today"})


def test_most_random_days_are_as_a_thoughtful_person_wants_them() -> None:
    """S243, S511"""
    told, days = Counter[str](), 0
    for seed in DAYS:
        document = day_of("typical", seed) | {"constraints": []}
        plan = json.loads(json.dumps(write_draft(draft_instance(read_instance(document)))))
        findings = find_all(Day(document, plan))
        told.update(finding.partition(":")[0] for finding in findings)
        days += bool(findings)
    assert days <= MOST, told
    assert not told.keys() & NEVER, told
