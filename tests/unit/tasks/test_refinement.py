"""Missing parts of a task before it can be planned, and its applicable rules, in plain words."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.factories import tasks as queued_tasks

from fateforger.tasks.task import BlockTime, Do, Gap, TaskSpec, TaskState, find_gaps
from fateforger.tasks.workflows import list_rules
from fateforger.workflow.definition import list_shipped, load_shipped


@pytest.mark.parametrize(
    ("changes", "gaps"),
    [
        ({"work": Do()}, (Gap.LENGTH,)),
        ({"work": Do(minutes=30)}, ()),
        ({"work": Do(minutes=60)}, (Gap.DONE_WHEN,)),
        ({"work": Do(minutes=60), "acceptance_criteria": ("It is sent",)}, ()),
        ({"work": Do(), "workflow": "tdd-cycle"}, (Gap.LENGTH, Gap.DONE_WHEN)),
        ({"work": BlockTime.model_validate({"date": "2026-03-06", "minutes": 45})}, ()),
    ],
)
def test_what_is_missing(changes: dict[str, Any], gaps: tuple[Gap, ...]) -> None:
    task = queued_tasks.task("ff-333333")
    spec = TaskSpec(**{**dict(task.spec), **changes})
    assert find_gaps(task.model_copy(update={"spec": spec})) == gaps
    done = task.model_copy(update={"spec": spec, "state": TaskState.DONE})
    assert find_gaps(done) == ()


@pytest.mark.parametrize("name", list_shipped())
def test_all_rules_of_a_workflow_are_told_in_plain_words(name: str) -> None:
    """S155: none is left out, and none is shown as logic."""
    rules = list_rules(load_shipped(name))
    assert len(rules) == len(load_shipped(name).rules)
    assert [rule for rule in rules if re.search(r"_|\b(BEFORE|AFTER|ALWAYS|NEVER|IF|ON|INVOKE|AND)\b", rule)] == []
    assert [each for each in load_shipped(name).rules if not (each.title or each.remedy)] == []
