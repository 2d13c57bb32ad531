"""The contract of queues of tasks. A test module subclasses the suite and gives it two views of one queue."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import date, time, timedelta

import pytest
from tests.factories.tasks import NOON, later, new_task

from fateforger.errors import BadInput, InternalError
from fateforger.planning.task_details import TaskDetails
from fateforger.tasks.ports import Change, Tasks
from fateforger.tasks.queue import NewTask
from fateforger.tasks.task import BlockTime, Claim, Origin, QueuedTask, TaskSpec, TaskState, read_task_id
from fateforger.workflow.trace import Step

LEASE = 10.0


async def put(tasks: Tasks, *titles: str, user: str = "U1", seconds: float = 0) -> tuple[QueuedTask, ...]:
    """Add tasks in that order, each with a cause of its own."""
    added = [
        await tasks.add(user, [new_task(title)], cause=f"{user}-{title}", now=later(seconds + n))
        for n, title in enumerate(titles)
    ]
    return tuple(task for several in added for task in several)


async def take(tasks: Tasks, seconds: float = 0, *, by: str = "w1", user: str = "U1", of: str | None = None) -> str:
    """Return the title of the claimed task, or an empty string."""
    task = await tasks.claim(user, by, now=later(seconds), lease_seconds=LEASE, task_id=of)
    return "" if task is None else task.spec.title


async def claim_task(tasks: Tasks, seconds: float = 0, *, by: str = "w1", of: str | None = None) -> QueuedTask:
    task = await tasks.claim("U1", by, now=later(seconds), lease_seconds=LEASE, task_id=of)
    assert task is not None
    return task


def becoming(values: Mapping[str, object]) -> Change:
    return lambda task: task.model_copy(update=values)


def mark_done(task: QueuedTask) -> QueuedTask:
    return task.model_copy(update={"state": TaskState.DONE})


def mark_paused(task: QueuedTask) -> QueuedTask:
    return task.model_copy(update={"state": TaskState.PAUSED})


def mark_stopped(task: QueuedTask) -> QueuedTask:
    return task.model_copy(update={"state": TaskState.STOPPED})


def waiting(task: QueuedTask) -> QueuedTask:
    return task.model_copy(update={"state": TaskState.WAITING})


def active(task: QueuedTask) -> QueuedTask:
    return task.model_copy(update={"state": TaskState.ACTIVE})


def titles(tasks: Sequence[QueuedTask]) -> list[str]:
    return [task.spec.title for task in tasks]


class TasksContract:
    """``tasks`` belongs to one program, ``other`` to another one, perhaps of another process."""

    @pytest.fixture
    def tasks(self) -> Tasks:
        raise NotImplementedError

    @pytest.fixture
    def other(self) -> Tasks:
        raise NotImplementedError

    async def test_a_task_comes_back_as_it_was_put(self, tasks: Tasks, other: Tasks) -> None:
        """S154: title, type, project, priority, tags and the four parts of the body."""
        spec = TaskSpec(
            title="Grüße “🙂”\x00",
            work=BlockTime(date=date(2026, 3, 3), minutes=45, start=time(9, 30), task="ff-222222"),
            project="webapp",
            priority=1,
            tags=("feature", "ui"),
            context="Asked for in the settings.",
            relevant_files=("src/theme.ts",),
            acceptance_criteria=("Toggle visible", "It lasts"),
            workflow="feature-dev",
        )
        origin = Origin(door="slack", reference="https://example.com/p1")
        (put,) = await tasks.add("U1", [NewTask(spec, origin)], cause="m1", now=NOON)
        assert put == QueuedTask(
            id=put.id,
            user_id="U1",
            spec=spec,
            origin=origin,
            created_at=NOON,
            changed_at=NOON,
            rank=1_772_452_800_000_000,
        )
        assert read_task_id(put.id.upper().removeprefix("FF-")) == put.id
        assert await other.get("U1", put.id) == put
        assert await other.of("U1") == (put,)

    async def test_a_cause_adds_once(self, tasks: Tasks, other: Tasks) -> None:
        """A message that is delivered twice makes one task, also when that was changed since; causes are a person's."""
        first = await tasks.add("U1", [new_task("a"), new_task("b")], cause="m1", now=NOON)
        changed = await other.change("U1", first[0].id, mark_paused, now=later(1))
        assert await other.add("U1", [new_task("c")], cause="m1", now=later(5)) == (changed, first[1])
        assert await tasks.add("U1", [], cause="m2", now=NOON) == ()
        assert titles(await tasks.add("U2", [new_task("c")], cause="m1", now=NOON)) == ["c"]
        assert titles(await tasks.of("U1")) == ["a", "b"]

    async def test_of_equal_calls_at_once_one_adds(self, tasks: Tasks, other: Tasks) -> None:
        calls = [queue.add("U1", [new_task("a"), new_task("b")], cause="m1", now=NOON) for queue in [tasks, other] * 5]
        assert len(set(await asyncio.gather(*calls))) == 1
        assert titles(await tasks.of("U1")) == ["a", "b"]

    async def test_tasks_are_added_all_or_none(self, tasks: Tasks) -> None:
        """S168: a goal with its parts, and the review that blocks them."""
        spec = [
            new_task("goal", key="g", state="paused"),
            NewTask(TaskSpec(title="part"), Origin(door="task"), goal="g", blocked_by=("r", "r")),
            NewTask(TaskSpec(title="review"), Origin(door="task"), key="r", goal="g"),
        ]
        goal, part, review = await tasks.add("U1", spec, cause="m1", now=NOON)
        assert (goal.state, part.goal, part.blocked_by) == (TaskState.PAUSED, goal.id, (review.id,))
        assert (review.goal, review.blocked_by) == (goal.id, ())
        (more,) = await tasks.add("U1", [new_task("more", after=(part.id,))], cause="m2", now=NOON)
        assert more.blocked_by == (part.id,)
        there = await tasks.of("U1")
        for wrong in (
            [new_task("x"), new_task("y", after=("nobody",))],
            [new_task("x"), NewTask(TaskSpec(title="y"), Origin(door="cli"), goal="ff-zzzzzz")],
            [new_task("x", key="x", after=("y",)), new_task("y", key="y", after=("x",))],
            [new_task("x", key="x", after=("x",))],
        ):
            with pytest.raises(BadInput):
                await tasks.add("U1", wrong, cause="m3", now=NOON)
        with pytest.raises(BadInput):
            await tasks.add("U2", [new_task("x", after=(part.id,))], cause="m3", now=NOON)
        for broken in ([new_task("x", key="k"), new_task("y", key="k")], [new_task("x", state="done")]):
            with pytest.raises(InternalError):
                await tasks.add("U1", broken, cause="m3", now=NOON)
        assert await tasks.of("U1") == there

    async def test_everybody_has_a_queue_of_their_own(self, tasks: Tasks, other: Tasks) -> None:
        (mine,) = await put(tasks, "mine")
        assert await other.get("U2", mine.id) is None
        assert await other.of("U2") == ()
        assert await other.change("U2", mine.id, mark_paused, now=NOON) is None
        assert await take(other, user="U2", of=mine.id) == ""
        assert await take(other, user="U2") == ""
        assert await tasks.get("U1", mine.id) == mine

    async def test_the_highest_priority_is_next_then_the_oldest(self, tasks: Tasks, other: Tasks) -> None:
        """S157, S159: a task that is added later comes later, at any clock time."""
        await put(tasks, "a", "b")
        await put(other, "c", seconds=-50)
        await tasks.add("U1", [new_task("low", priority=4), new_task("high", priority=0)], cause="m", now=NOON)
        assert titles(await other.of("U1")) == ["high", "a", "b", "c", "low"]
        assert [await take(tasks, 0) for _ in range(6)] == ["high", "a", "b", "c", "low", ""]

    async def test_the_next_task_is_not_one_for_a_later_day(self, tasks: Tasks) -> None:
        """S419: unless it is named, or that day has come."""
        kept = NewTask(
            TaskSpec(title="a", details=TaskDetails(from_day=NOON.date() + timedelta(days=1))), Origin(door="cli")
        )
        (task,) = await tasks.add("U1", [kept], cause="a", now=NOON)

        async def claim_title(days: int = 0, task_id: str | None = None) -> str:
            today = NOON.date() + timedelta(days=days)
            found = await tasks.claim("U1", "w", now=NOON, lease_seconds=LEASE, today=today, task_id=task_id)
            return "" if found is None else found.spec.title

        assert await claim_title() == ""
        await put(tasks, "b")
        assert await claim_title() == "b"
        assert await claim_title(task_id=task.id) == "a"
        await tasks.take_back("w", now=NOON)
        assert await claim_title(days=1) == "a"

    async def test_an_empty_queue_has_nothing(self, tasks: Tasks) -> None:
        """S160"""
        assert await take(tasks) == ""
        assert await take(tasks, of="ff-222222") == ""
        assert await tasks.of("U1") == ()
        assert await tasks.get("U1", "ff-222222") is None

    async def test_a_named_task_is_claimed(self, tasks: Tasks, other: Tasks) -> None:
        """S158: it may be out of turn, but not blocked, paused, or claimed by another executor."""
        first, second = await put(tasks, "first", "second")
        (third,) = await tasks.add("U1", [new_task("third", after=(first.id,))], cause="m", now=NOON)
        assert await take(other, of=second.id) == "second"
        assert await take(tasks, of=second.id) == ""
        assert await take(tasks, of=third.id) == ""
        await tasks.change("U1", first.id, mark_paused, now=NOON)
        assert await take(tasks, of=first.id) == ""

    async def test_what_is_blocked_is_skipped_until_that_is_done(self, tasks: Tasks, other: Tasks) -> None:
        """S159: being done means done; one that was stopped blocks on."""
        new = [new_task("late", priority=0, after=("a", "b")), new_task("a", key="a"), new_task("b", key="b")]
        late, *_ = await tasks.add("U1", new, cause="m", now=NOON)
        a, b = await claim_task(tasks), await claim_task(other)
        assert await take(tasks) == ""
        assert await tasks.settle(a, mark_done, now=NOON) is not None
        assert await take(tasks) == ""
        assert await other.settle(b, waiting, now=NOON) is not None
        assert await take(tasks) == ""
        assert await other.change("U1", b.id, mark_stopped, now=NOON) is not None
        assert await take(tasks) == ""
        assert await other.change("U1", b.id, active, now=NOON) is not None
        assert await tasks.settle(await claim_task(tasks), mark_done, now=NOON) is not None
        assert await take(tasks) == late.spec.title

    async def test_a_claim_says_whose_it_is(self, tasks: Tasks, other: Tasks) -> None:
        (task,) = await put(tasks, "a")
        held = await claim_task(other, 3, by="w2")
        assert held == task.model_copy(
            update={
                "state": TaskState.RUNNING,
                "claim": Claim(executor="w2", until=later(13), fence=1),
                "fence": 1,
                "attempts": 1,
                "changed_at": later(3),
                "version": 2,
            }
        )
        assert await tasks.get("U1", task.id) == held

    async def test_a_claim_is_taken_over_when_its_lease_ends(self, tasks: Tasks, other: Tasks) -> None:
        """S161"""
        await put(tasks, "a")
        dead = await claim_task(tasks)
        assert await take(other, LEASE - 0.1, by="w2") == ""
        assert await take(other, LEASE - 0.1, by="w2", of=dead.id) == ""
        again = await claim_task(other, LEASE, by="w2", of=dead.id)
        assert (again.id, again.attempts, again.fence) == (dead.id, 2, 2)

    async def test_a_lost_claim_is_worth_nothing(self, tasks: Tasks, other: Tasks) -> None:
        """S161"""
        await put(tasks, "a")
        lost = await claim_task(tasks)
        held = await claim_task(other, LEASE, by="w2")
        assert await tasks.extend(lost, now=later(LEASE), lease_seconds=LEASE) is None
        assert await tasks.settle(lost, mark_done, now=later(LEASE)) is None
        assert await tasks.get("U1", lost.id) == held
        assert await other.settle(held, mark_done, now=later(LEASE)) is not None

    async def test_a_late_executor_that_nobody_replaced_may_finish(self, tasks: Tasks) -> None:
        await put(tasks, "a")
        late = await claim_task(tasks)
        kept = await tasks.extend(late, now=later(LEASE + 5), lease_seconds=LEASE)
        assert kept is not None
        assert kept.claim == Claim(executor="w1", until=later(2 * LEASE + 5), fence=1)
        assert await take(tasks, 2 * LEASE) == ""
        ended = await tasks.settle(late, mark_done, now=later(2 * LEASE))
        assert ended is not None
        assert (ended.state, ended.claim, ended.fence) == (TaskState.DONE, None, 1)

    async def test_what_is_done_is_done(self, tasks: Tasks, other: Tasks) -> None:
        await put(tasks, "a")
        held = await claim_task(tasks)
        assert await tasks.settle(held, mark_done, now=later(1)) is not None
        assert await tasks.settle(held, mark_done, now=later(1)) is None
        assert await tasks.extend(held, now=later(1), lease_seconds=LEASE) is None
        assert await take(other, 10**6) == ""
        assert await other.of("U1") == ()
        assert titles(await other.of("U1", ended=True)) == ["a"]
        with pytest.raises(BadInput, match="The state of “a” is “done”; it cannot become “stopped”"):
            await other.change("U1", held.id, becoming({"state": TaskState.STOPPED}), now=later(1))

    async def test_settling_keeps_what_was_changed_meanwhile(self, tasks: Tasks, other: Tasks) -> None:
        """A person renames a running task, and its executor ends it."""
        (task,) = await put(tasks, "a")
        held = await claim_task(tasks)
        spec = task.spec.model_copy(update={"title": "renamed"})
        renamed = await other.change("U1", task.id, becoming({"spec": spec}), now=later(1))
        assert renamed is not None
        assert (renamed.state, renamed.claim) == (TaskState.RUNNING, held.claim)
        step = Step(do=("write",))
        going_on = await tasks.settle(held, becoming({"steps": (step,)}), now=later(2))
        assert going_on is not None
        assert (going_on.spec, going_on.steps, going_on.claim) == (spec, (step,), held.claim)
        ended = await tasks.settle(held, mark_done, now=later(3))
        assert ended is not None
        assert (ended.spec, ended.steps, ended.version) == (spec, (step,), 5)

    async def test_a_running_task_can_be_stopped(self, tasks: Tasks, other: Tasks) -> None:
        """S167: and its executor finds its claim lost."""
        (task,) = await put(tasks, "a")
        held = await claim_task(tasks)
        gone = await other.change("U1", task.id, mark_stopped, now=later(1))
        assert gone is not None
        assert (gone.state, gone.claim) == (TaskState.STOPPED, None)
        assert await tasks.settle(held, mark_done, now=later(2)) is None
        assert await other.change("U1", task.id, active, now=later(3)) is not None
        assert await tasks.settle(held, mark_done, now=later(4)) is None
        assert (await claim_task(other, 5, by="w2")).fence == 2

    async def test_a_claim_that_was_given_back_is_worth_nothing(self, tasks: Tasks, other: Tasks) -> None:
        await put(tasks, "a")
        held = await claim_task(tasks)
        assert await tasks.settle(held, active, now=later(1)) is not None
        assert await tasks.settle(held, mark_done, now=later(1)) is None
        again = await claim_task(other, 1)
        assert await tasks.settle(held, mark_done, now=later(1)) is None
        assert await other.settle(again, mark_done, now=later(1)) is not None

    async def test_a_change_that_is_none_writes_nothing(self, tasks: Tasks) -> None:
        (task,) = await put(tasks, "a")
        assert await tasks.change("U1", task.id, lambda t: t, now=later(1)) == task
        assert await tasks.get("U1", task.id) == task

    async def test_a_change_keeps_the_rules(self, tasks: Tasks) -> None:
        (task,) = await put(tasks, "a")
        for wrong in (
            {"state": TaskState.DONE},
            {"spec": TaskSpec.model_construct(title="")},
            {"blocked_by": ("ff-zzzzzz",)},
            {"blocked_by": (task.id,)},
        ):
            with pytest.raises(BadInput):
                await tasks.change("U1", task.id, becoming(wrong), now=later(1))
        for broken in ({"state": TaskState.RUNNING}, {"id": "ff-222222"}, {"user_id": "U2"}):
            with pytest.raises(InternalError):
                await tasks.change("U1", task.id, becoming(broken), now=later(1))
        assert await tasks.of("U1") == (task,)

    async def test_blockers_can_be_changed(self, tasks: Tasks, other: Tasks) -> None:
        a, b = await put(tasks, "a", "b")
        assert await other.change("U1", a.id, becoming({"blocked_by": (b.id,)}), now=later(1))
        with pytest.raises(BadInput):
            await tasks.change("U1", b.id, becoming({"blocked_by": (a.id,)}), now=later(1))
        assert await take(tasks, of=a.id) == ""
        assert await other.change("U1", a.id, becoming({"blocked_by": ()}), now=later(1))
        assert await take(tasks) == "a"

    async def test_several_are_changed_at_once(self, tasks: Tasks, other: Tasks) -> None:
        """S167: what has ended is not among them; all or none."""
        a, b, c = await put(tasks, "a", "b", "c")
        await tasks.change("U1", c.id, mark_stopped, now=later(1))

        def swap(there: tuple[QueuedTask, ...]) -> list[QueuedTask]:
            first, second = there
            return [
                first.model_copy(update={"rank": second.rank}),
                second.model_copy(update={"rank": first.rank}),
            ]

        swapped = await other.rearrange("U1", swap, now=later(2))
        assert titles(swapped) == ["b", "a"]
        assert await tasks.of("U1") == swapped
        assert {task.version for task in swapped} == {2}

        def half(there: tuple[QueuedTask, ...]) -> list[QueuedTask]:
            return [there[0].model_copy(update={"rank": 7}), mark_done(there[1])]

        with pytest.raises(BadInput):
            await tasks.rearrange("U1", half, now=later(3))
        assert await tasks.of("U1") == swapped
        assert await tasks.rearrange("U2", lambda _: [], now=NOON) == ()
        assert [await take(tasks), await take(tasks), await take(tasks)] == ["b", "a", ""]
        assert {a.id, b.id} == {task.id for task in swapped}

    async def test_what_waits_for_people_can_be_found(self, tasks: Tasks, other: Tasks) -> None:
        await put(tasks, "a", "b", "c")
        await put(tasks, "theirs", user="U0")
        for _ in range(2):
            assert await tasks.settle(await claim_task(tasks), waiting, now=NOON) is not None
        theirs = await tasks.claim("U0", "w1", now=NOON, lease_seconds=LEASE)
        assert theirs is not None
        assert await tasks.settle(theirs, waiting, now=NOON) is not None
        found = await other.waiting()
        assert sorted(titles(found)) == ["a", "b", "theirs"]
        assert titles(await other.waiting(of=["U0"])) == ["theirs"]
        assert await other.waiting(limit=1) == found[:1], "in the order of their ids"
        assert await other.waiting(after=found[0].id) == found[1:]
        assert await take(tasks) == "c"

    async def test_claims_of_the_dead_can_be_taken_back_at_once(self, tasks: Tasks, other: Tasks) -> None:
        """S161: and an executor that was alive after all finds its claim lost. Those of others stay."""
        await put(tasks, "a", "b")
        await put(tasks, "theirs", user="U2")
        lost = await claim_task(tasks, by="dead")
        held = await claim_task(other, by="alive")
        assert await take(tasks, by="dead", user="U2") == "theirs"
        assert await other.take_back("dead", now=later(1)) == 2
        assert await other.take_back("dead", now=later(1)) == 0
        assert await tasks.settle(lost, mark_done, now=later(1)) is None
        assert [await take(other, 1), await take(other, 1), await take(other, 1, user="U2")] == ["a", "", "theirs"]
        assert await other.settle(held, mark_done, now=later(1)) is not None

    async def test_many_executors_never_claim_one_task_twice(self, tasks: Tasks, other: Tasks) -> None:
        """S161"""
        await put(tasks, *(f"t{n}" for n in range(10)))
        claims = await asyncio.gather(*(take(queue, by=f"w{n}") for n, queue in enumerate([tasks, other] * 10)))
        assert sorted(claims) == sorted([*(f"t{n}" for n in range(10)), *[""] * 10])
