"""Another place in the queue (S167)."""

from __future__ import annotations

from collections.abc import Sequence

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
        ("c", QueuePlace.FIRST, None, "cab"),
        ("a", QueuePlace.LAST, None, "bca"),
        ("b", QueuePlace.UP, None, "bac"),
        ("b", QueuePlace.DOWN, None, "acb"),
        ("c", QueuePlace.BEFORE, "b", "acb"),
        ("c", QueuePlace.BEFORE, "a", "cab"),
        ("a", QueuePlace.BEFORE, "c", "bac"),
    ],
)
def test_places(name: str, where: QueuePlace, before: str | None, comes_to: str) -> None:
    assert names(after(ABC, move_task(ABC, name, where, before=before))) == comes_to


@pytest.mark.parametrize(
    ("name", "where", "before", "sentence"),
    [
        ("a", QueuePlace.FIRST, None, "“a” is first already."),
        ("a", QueuePlace.UP, None, "“a” is first already."),
        ("c", QueuePlace.LAST, None, "“c” is last already."),
        ("c", QueuePlace.DOWN, None, "“c” is last already."),
        ("a", QueuePlace.BEFORE, "b", "“a” comes right before “b” already."),
        ("a", QueuePlace.BEFORE, "a", "Name another task that “a” shall come before."),
        ("a", QueuePlace.BEFORE, None, "Name another task that “a” shall come before."),
        ("a", QueuePlace.BEFORE, "x", "There is no task x in the queue that could be moved."),
        ("x", QueuePlace.FIRST, None, "There is no task x in the queue that could be moved."),
    ],
)
def test_what_makes_no_sense_is_refused(name: str, where: QueuePlace, before: str | None, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        move_task(ABC, name, where, before=before)
    assert refused.value.message == sentence


def test_a_task_alone_cannot_be_moved() -> None:
    for where, end in (
        (QueuePlace.FIRST, "first"),
        (QueuePlace.UP, "first"),
        (QueuePlace.LAST, "last"),
        (QueuePlace.DOWN, "last"),
    ):
        with pytest.raises(BadInput, match=f"“a” is {end} already"):
            move_task(ABC[:1], "a", where)


def test_a_task_takes_on_the_priority_of_its_place() -> None:
    tasks = (task("u", priority=0), task("n", rank=1), task("m", rank=2), task("s", priority=4))
    changed = move_task(tasks, "m", QueuePlace.FIRST)
    assert [(t.id, t.spec.priority) for t in changed] == [("m", 0)]
    assert describe_move(tasks[2], after(tasks, changed)) == (
        "“m” is first now; that makes its priority “urgent”, like that of the task beside it."
    )
    changed = move_task(tasks, "u", QueuePlace.DOWN)
    assert names(after(tasks, changed)) == "nums"
    assert describe_move(tasks[0], after(tasks, changed)).startswith("“u” is number 2 of 4 now; that makes")
    changed = move_task(tasks, "m", QueuePlace.UP)
    assert describe_move(tasks[2], after(tasks, changed)) == "“m” is number 2 of 4 now."


@given(
    tasks=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=2, max_size=9),
    moves=st.lists(st.tuples(st.integers(0, 8), st.sampled_from(list(QueuePlace)), st.integers(0, 8)), max_size=30),
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
            QueuePlace.FIRST: 0,
            QueuePlace.LAST: len(order),
            QueuePlace.UP: at - 1,
            QueuePlace.DOWN: at + 1,
            QueuePlace.BEFORE: order.index(f"{other % len(tasks)}") if f"{other % len(tasks)}" != name else 0,
        }[where]
        order.insert(to, name)
        priorities = {t.id: t.spec.priority for t in queue if t.id != name}
        queue = after(queue, changed)
        assert [t.id for t in queue] == order
        assert {t.id: t.spec.priority for t in queue if t.id != name} == priorities
