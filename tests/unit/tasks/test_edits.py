"""Edits of a task: their effects, and refusals of edits that make no sense (S167)."""

from __future__ import annotations

import pytest
from tests.factories.tasks import task

from fateforger.errors import BadInput
from fateforger.tasks.task import TaskSpec, TaskState
from fateforger.tasks.transitions import (
    TASK_ACTIONS,
    TaskAction,
    apply_action,
    can_move,
    describe_action,
    possible_actions,
    rename_task,
    replace_spec,
    set_priority,
)


@pytest.mark.parametrize("state", list(TaskState))
@pytest.mark.parametrize("deed", list(TASK_ACTIONS))
def test_each_deed_leads_where_a_move_leads_or_is_refused(deed: TaskAction, state: TaskState) -> None:
    before = task("Call Ann", state=state.value)
    to, _ = TASK_ACTIONS[deed]
    if deed in possible_actions(before):
        assert can_move(state, to)
        assert apply_action(before, deed).state is to
    else:
        with pytest.raises(BadInput, match=r"^“Call Ann” .+[^.]\.$"):
            apply_action(before, deed)


def test_a_refusal_says_what_to_do_instead() -> None:
    with pytest.raises(BadInput) as running:
        apply_action(task("a", state="running"), "pause")
    assert running.value.message == "“a” is being done just now; stop it if it shall not go on."
    with pytest.raises(BadInput) as done:
        apply_action(task("a", state="done"), "pause")
    assert done.value.message == "“a” is done already, so there is nothing left to pause."


def test_stopping_says_who_waits() -> None:
    a, b, c = task("a"), task("b", after=("a",)), task("c", after=("b", "a"))
    assert describe_action(a, "stop", [a, b, c]) == (
        "“a” is stopped. Nothing more happens to it unless you try it again. “b” and 1 more still wait for it."
    )
    assert describe_action(b, "pause", [a, b, c]) == (
        "“b” is paused. It keeps its place until you resume it. “c” still waits for it."
    )
    assert describe_action(a, "retry", [a, b, c]) == "“a” is back in the queue."


def test_a_task_tried_again_begins_anew() -> None:
    before = task("a", state="failed").model_copy(update={"outcome": "It went wrong.", "place": "s1"})
    after = apply_action(before, "retry")
    assert (after.state, after.outcome, after.place) == (TaskState.ACTIVE, "", "")


def test_titles_and_priorities() -> None:
    assert rename_task(task("a"), "  Call\n Ann ").spec.title == "Call Ann"
    assert set_priority(task("a"), 0).spec.priority == 0
    for wrong in ("  ", "x" * 301):
        with pytest.raises(BadInput):
            rename_task(task("a"), wrong)
    with pytest.raises(BadInput) as refused:
        set_priority(task("a"), 7)
    assert refused.value.message == ("There is no priority 7; they go from 0, urgent, to 4, some day.")
    with pytest.raises(BadInput, match="“a” is done, so it stays as it was"):
        replace_spec(task("a", state="done"), TaskSpec(title="b"))
