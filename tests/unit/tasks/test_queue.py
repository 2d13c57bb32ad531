"""The choice of the next task."""

from __future__ import annotations

import pytest
from tests.factories.tasks import task

from fateforger.tasks.queue import blockers, ready_tasks, sort_tasks
from fateforger.tasks.task import QueuedTask, TaskState
from fateforger.tasks.transitions import can_move


def names(tasks: tuple[QueuedTask, ...]) -> list[str]:
    return [t.id for t in tasks]


def test_the_highest_priority_comes_first_then_the_rank_then_the_id() -> None:
    """S159"""
    tasks = [
        task("d", priority=4),
        task("c", rank=2),
        task("b", rank=1),
        task("a", rank=2),
        task("e", priority=0, rank=9),
    ]
    assert names(sort_tasks(tasks)) == ["e", "b", "a", "c", "d"]


def test_only_active_tasks_that_nothing_blocks_can_be_pulled() -> None:
    """S157, S159"""
    tasks = (
        task("goal", state="waiting"),
        task("review"),
        task("part", priority=0, after=("review",)),
        task("later", state="paused"),
    )
    assert names(ready_tasks(tasks)) == ["review"]
    done = tuple(t.model_copy(update={"state": TaskState.DONE}) if t.id == "review" else t for t in tasks)
    assert names(ready_tasks(done)) == ["part"]


def test_a_blocker_that_was_stopped_blocks_on() -> None:
    tasks = (task("first", state="stopped"), task("second", after=("first",)))
    assert names(blockers(tasks[1], tasks)) == ["first"]


@pytest.mark.parametrize("state", list(TaskState))
def test_what_has_not_ended_can_be_stopped_and_what_is_done_can_only_be_taken_back(state: TaskState) -> None:
    ended = state in {TaskState.DONE, TaskState.STOPPED}
    assert can_move(state, TaskState.STOPPED) == (not ended)
    assert can_move(TaskState.DONE, state) == (state in {TaskState.WAITING, TaskState.ACTIVE})
