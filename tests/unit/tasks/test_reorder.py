"""Another place in the queue (S167)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.factories.tasks import task

from fateforger.errors import BadInput
from fateforger.tasks import QueuedTask, Where, in_order, moved, moved_words

ABC = (task("a", rank=1), task("b", rank=2), task("c", rank=3))


def after(tasks: Sequence[QueuedTask], changed: Sequence[QueuedTask]) -> tuple[QueuedTask, ...]:
    return in_order({t.id: t for t in (*tasks, *changed)}.values())


def names(tasks: Sequence[QueuedTask]) -> str:
    return "".join(t.id for t in tasks)


@pytest.mark.parametrize(
    ("name", "where", "before", "comes_to"),
    [
        ("c", Where.FIRST, None, "cab"),
        ("a", Where.LAST, None, "bca"),
        ("b", Where.UP, None, "bac"),
        ("b", Where.DOWN, None, "acb"),
        ("c", Where.BEFORE, "b", "acb"),
        ("c", Where.BEFORE, "a", "cab"),
        ("a", Where.BEFORE, "c", "bac"),
    ],
)
def test_places(name: str, where: Where, before: str | None, comes_to: str) -> None:
    assert names(after(ABC, moved(ABC, name, where, before=before))) == comes_to


@pytest.mark.parametrize(
    ("name", "where", "before", "sentence"),
    [
        ("a", Where.FIRST, None, "“a” is first already."),
        ("a", Where.UP, None, "“a” is first already."),
        ("c", Where.LAST, None, "“c” is last already."),
        ("c", Where.DOWN, None, "“c” is last already."),
        ("a", Where.BEFORE, "b", "“a” comes right before “b” already."),
        ("a", Where.BEFORE, "a", "Name another task that “a” shall come before."),
        ("a", Where.BEFORE, None, "Name another task that “a” shall come before."),
        ("a", Where.BEFORE, "x", "There is no task x in the queue that could be moved."),
        ("x", Where.FIRST, None, "There is no task x in the queue that could be moved."),
    ],
)
def test_what_makes_no_sense_is_refused(name: str, where: Where, before: str | None, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        moved(ABC, name, where, before=before)
    assert refused.value.message == sentence


def test_a_task_alone_cannot_be_moved() -> None:
    for where, end in ((Where.FIRST, "first"), (Where.UP, "first"), (Where.LAST, "last"), (Where.DOWN, "last")):
        with pytest.raises(BadInput, match=f"“a” is {end} already"):
            moved(ABC[:1], "a", where)


def test_a_task_takes_on_the_priority_of_its_place() -> None:
    tasks = (task("u", priority=0), task("n", rank=1), task("m", rank=2), task("s", priority=4))
    changed = moved(tasks, "m", Where.FIRST)
    assert [(t.id, t.spec.priority) for t in changed] == [("m", 0)]
    assert moved_words(tasks[2], after(tasks, changed)) == (
        "“m” is first now; that makes its priority “urgent”, like that of the task beside it."
    )
    changed = moved(tasks, "u", Where.DOWN)
    assert names(after(tasks, changed)) == "nums"
    assert moved_words(tasks[0], after(tasks, changed)).startswith("“u” is number 2 of 4 now; that makes")
    changed = moved(tasks, "m", Where.UP)
    assert moved_words(tasks[2], after(tasks, changed)) == "“m” is number 2 of 4 now."


@given(
    tasks=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=2, max_size=9),
    moves=st.lists(st.tuples(st.integers(0, 8), st.sampled_from(list(Where)), st.integers(0, 8)), max_size=30),
)
def test_whatever_is_moved_only_that_moves(tasks: list[tuple[int, int]], moves: list[tuple[int, Where, int]]) -> None:
    """However tight the ranks are, the others keep their order, and their priorities."""
    queue = in_order(task(f"{n}", priority=priority, rank=rank) for n, (priority, rank) in enumerate(tasks))
    for pick, where, other in moves:
        name = f"{pick % len(tasks)}"
        try:
            changed = moved(queue, name, where, before=f"{other % len(tasks)}")
        except BadInput:
            continue
        order = [t.id for t in queue]
        at = order.index(name)
        order.remove(name)
        to = {
            Where.FIRST: 0,
            Where.LAST: len(order),
            Where.UP: at - 1,
            Where.DOWN: at + 1,
            Where.BEFORE: order.index(f"{other % len(tasks)}") if f"{other % len(tasks)}" != name else 0,
        }[where]
        order.insert(to, name)
        priorities = {t.id: t.spec.priority for t in queue if t.id != name}
        queue = after(queue, changed)
        assert [t.id for t in queue] == order
        assert {t.id: t.spec.priority for t in queue if t.id != name} == priorities
