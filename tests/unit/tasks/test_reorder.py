"""Another place in the queue (S167)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories.tasks import task

from fateforger.errors import BadInput
from fateforger.tasks.queue import QueuePlace, describe_move, move_task, sort_tasks
from fateforger.tasks.task import QueuedTask

ABC = (task("a", rank=1), task("b", rank=2), task("c", rank=3))


def after(tasks: Sequence[QueuedTask], changed: Sequence[QueuedTask]) -> tuple[QueuedTask, ...]:
    return sort_tasks({t.id: t for t in (*tasks, *changed)}.values())


def names(tasks: Sequence[QueuedTask]) -> str:
    return "".join(t.id for t in tasks)


@pytest.mark.parametrize(
    ("name", "where", "before", "comes_to"),
    [
        ("c", "first", None, "cab"),
        ("a", "last", None, "bca"),
        ("b", "up", None, "bac"),
        ("b", "down", None, "acb"),
        ("c", "before", "b", "acb"),
        ("c", "before", "a", "cab"),
        ("a", "before", "c", "bac"),
    ],
)
def test_places(name: str, where: QueuePlace, before: str | None, comes_to: str) -> None:
    assert names(after(ABC, move_task(ABC, name, where, before=before))) == comes_to


@pytest.mark.parametrize(
    ("name", "where", "before", "sentence"),
    [
        ("a", "first", None, "“a” is first already."),
        ("a", "up", None, "“a” is first already."),
        ("c", "last", None, "“c” is last already."),
        ("c", "down", None, "“c” is last already."),
        ("a", "before", "b", "“a” comes right before “b” already."),
        ("a", "before", "a", "Name another task that “a” shall come before."),
        ("a", "before", None, "Name another task that “a” shall come before."),
        ("a", "before", "x", "There is no task x in the queue that could be moved."),
        ("x", "first", None, "There is no task x in the queue that could be moved."),
    ],
)
def test_what_makes_no_sense_is_refused(name: str, where: QueuePlace, before: str | None, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        move_task(ABC, name, where, before=before)
    assert refused.value.message == sentence


def test_a_task_alone_cannot_be_moved() -> None:
    ends: dict[QueuePlace, str] = {"first": "first", "up": "first", "last": "last", "down": "last"}
    for where, end in ends.items():
        with pytest.raises(BadInput, match=f"“a” is {end} already"):
            move_task(ABC[:1], "a", where)


def test_a_task_takes_on_the_priority_of_its_place() -> None:
    tasks = (task("u", priority=0), task("n", rank=1), task("m", rank=2), task("s", priority=4))
    changed = move_task(tasks, "m", "first")
    assert [(t.id, t.spec.priority) for t in changed] == [("m", 0)]
    assert describe_move(tasks[2], after(tasks, changed)) == (
        "“m” is first now. That makes its priority “urgent”, like that of the task next to it."
    )
    changed = move_task(tasks, "u", "down")
    assert names(after(tasks, changed)) == "nums"
    assert describe_move(tasks[0], after(tasks, changed)).startswith("“u” is number 2 of 4 now. That makes")
    changed = move_task(tasks, "m", "up")
    assert describe_move(tasks[2], after(tasks, changed)) == "“m” is number 2 of 4 now."


@given(
    tasks=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=2, max_size=9),
    moves=st.lists(st.tuples(st.integers(0, 8), st.sampled_from(get_args(QueuePlace)), st.integers(0, 8)), max_size=30),
)
def test_whatever_is_moved_only_that_moves(
    tasks: list[tuple[int, int]], moves: list[tuple[int, QueuePlace, int]]
) -> None:
    """However tight the ranks are, the others keep their order, and their priorities."""
    queue = sort_tasks(task(f"{n}", priority=priority, rank=rank) for n, (priority, rank) in enumerate(tasks))
    for pick, where, other in moves:
        name = f"{pick % len(tasks)}"
        try:
            changed = move_task(queue, name, where, before=f"{other % len(tasks)}")
        except BadInput:
            continue
        order = [t.id for t in queue]
        at = order.index(name)
        order.remove(name)
        to = {
            "first": 0,
            "last": len(order),
            "up": at - 1,
            "down": at + 1,
            "before": order.index(f"{other % len(tasks)}") if f"{other % len(tasks)}" != name else 0,
        }[where]
        order.insert(to, name)
        priorities = {t.id: t.spec.priority for t in queue if t.id != name}
        queue = after(queue, changed)
        assert [t.id for t in queue] == order
        assert {t.id: t.spec.priority for t in queue if t.id != name} == priorities
