"""Both queues against a model: two workers with connections of their own, crashes, restarts, lost claims, retries, late
ends.

Held at every step: a claim gives exactly the job that the model says (first in, first out per key, one at a time,
not before its time, taken over after its lease); a call counts exactly when its claim is still the current one; no
job is finished twice; at the end everything accepted is finished or buried, nothing is lost.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from tests.contracts.clocks import DatabaseClockJobs, with_turned_clock
from tests.contracts.jobs_contract import NOON
from tests.contracts.stores import Kind, new_database
from tests.examples import examples

from fateforger.adapters.store.jobs import LeaseJobs
from fateforger.adapters.store.store import open_store
from fateforger.ports.jobs import Job, Jobs, NewJob

pytestmark = pytest.mark.extra  # a campaign of many random cases

T = TypeVar("T")
LANES = st.sampled_from(["turns", "sync"])
KEYS = st.sampled_from(["a", "b", "c"])
WORKERS = st.sampled_from([0, 1])
PICK = st.integers(0, 10**6)
SECONDS = st.sampled_from([0, 1, 5, 10, 60])
LEASE = 10


@dataclass
class ExpectedJob:
    """A job as it should stand. ``claim`` is the current claim's id and fence, as the store gave it; ``holder`` is the
    process that made it. ``last`` is the claim before."""

    lane: str
    key: str
    dedupe: str
    run_at: datetime
    attempts: int = 0
    claim: tuple[int, int] | None = None
    last: tuple[int, int] = (0, -1)
    leased_until: datetime | None = None
    holder: tuple[int, int] = (0, 0)

    def lose_claim(self) -> None:
        self.last, self.claim, self.leased_until = self.claim or self.last, None, None


@dataclass
class Model:
    """A model of the queue: the open jobs in the order they were accepted, and the outcomes of the others."""

    open: list[ExpectedJob] = field(default_factory=list)
    seen: set[tuple[str, str]] = field(default_factory=set)
    ended: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def next(self, lane: str, now: datetime) -> ExpectedJob | None:
        heads: dict[str, ExpectedJob] = {}
        for job in self.open:
            if job.lane == lane:
                heads.setdefault(job.key, job)
        free = (
            job for job in heads.values() if job.run_at <= now and (job.leased_until is None or job.leased_until <= now)
        )
        return next(free, None)

    def find_held(self, claim: Job) -> ExpectedJob | None:
        return next((job for job in self.open if job.claim == (claim.id, claim.fence)), None)


class JobsMachine(RuleBasedStateMachine):
    happened: ClassVar[Counter[str]] = Counter()
    empty_database: ClassVar[Callable[[], AbstractContextManager[str]]]
    kind: ClassVar[Kind]
    """A lease in a file ends with its time. On PostgreSQL it ends when its process was not heard of for that time, and
    the next claim on the lane takes all such jobs back."""

    def __init__(self) -> None:
        super().__init__()
        self.closing = ExitStack()
        self.loop = asyncio.new_event_loop()
        self.where = self.closing.enter_context(type(self).empty_database())
        if self.kind == "postgres":
            self.where = self.run(with_turned_clock(self.where))
        self.stores = [open_store(self.where), open_store(self.where)]
        self.lives = [0, 0]
        self.heard_of: dict[tuple[int, int], datetime] = {}
        self.claims: list[list[Job]] = [[], []]
        self.forgotten: list[Job] = []
        self.model = Model()
        self.now = NOON
        self.count = 0

    def jobs(self, worker: int) -> Jobs:
        store = self.stores[worker]
        return DatabaseClockJobs(store.jobs, store.database) if self.kind == "postgres" else store.jobs

    def hear_of(self, worker: int) -> None:
        """Keep the claims of a process alive when it claims or extends."""
        if self.kind == "postgres":
            process = (worker, self.lives[worker])
            self.heard_of[process] = self.now
            for job in self.model.open:
                if job.claim is not None and job.holder == process:
                    job.leased_until = self.now + timedelta(seconds=LEASE)

    def rescue(self, lane: str) -> set[str]:
        """Return the jobs that a claim on PostgreSQL takes back."""
        stalled = [job for job in self.model.open if job.lane == lane and self._is_stalled(job)]
        for job in stalled if self.kind == "postgres" else ():
            job.lose_claim()
        return {job.dedupe for job in stalled}

    def _is_stalled(self, job: ExpectedJob) -> bool:
        return job.leased_until is not None and job.leased_until <= self.now

    def run(self, call: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(call)

    @initialize(keys=st.lists(KEYS, min_size=2, max_size=5))
    def some_work(self, keys: list[str]) -> None:
        for key in keys:
            self.enqueue(0, "turns", key, 0)

    @rule(worker=WORKERS, lane=LANES, key=KEYS, delay=SECONDS)
    def enqueue(self, worker: int, lane: str, key: str, delay: int) -> None:
        self.count += 1
        self._enqueue(worker, lane, key, f"j{self.count}", delay)

    @precondition(lambda self: self.model.seen)
    @rule(worker=WORKERS, key=KEYS, pick=PICK)
    def enqueue_again(self, worker: int, key: str, pick: int) -> None:
        lane, dedupe = sorted(self.model.seen)[pick % len(self.model.seen)]
        self._enqueue(worker, lane, key, dedupe, 0)

    def _enqueue(self, worker: int, lane: str, key: str, dedupe: str, delay: int) -> None:
        run_at = self.now + timedelta(seconds=delay)
        new = NewJob(lane, key, dedupe, {"name": dedupe}, run_at if delay else None)
        accepted = self.run(self.jobs(worker).enqueue(new, now=self.now))
        assert accepted == ((lane, dedupe) not in self.model.seen)
        if accepted:
            self.model.seen.add((lane, dedupe))
            self.model.open.append(ExpectedJob(lane, key, dedupe, run_at))
        else:
            self.happened["refused"] += 1

    @rule(worker=WORKERS, lane=LANES)
    def claim(self, worker: int, lane: str) -> None:
        self.hear_of(worker)
        stalled = self.rescue(lane)
        got = self.run(self.jobs(worker).claim(lane, f"w{worker}", now=self.now, lease_seconds=LEASE))
        expected = self.model.next(lane, self.now)
        assert (got is None) == (expected is None)
        if got is None or expected is None:
            self.happened["idle"] += 1
            return
        self.happened["claimed"] += 1
        self.happened["taken over"] += expected.dedupe in stalled
        expected.attempts += 1
        expected.leased_until = self.now + timedelta(seconds=LEASE)
        expected.holder = (worker, self.lives[worker])
        last = expected.claim or expected.last
        assert last[0] in {0, got.id}
        assert last[1] < got.fence
        expected.claim = (got.id, got.fence)
        assert got == Job(
            got.id, lane, expected.key, expected.dedupe, {"name": expected.dedupe}, expected.attempts, got.fence
        )
        self.claims[worker].append(got)

    @precondition(lambda self: any(self.claims))
    @rule(pick=PICK, how=st.sampled_from(["finish", "finish", "retry", "bury", "extend"]), delay=SECONDS)
    def go_on(self, pick: int, how: Literal["finish", "retry", "bury", "extend"], delay: int) -> None:
        """Let a worker go on with a claim, which may be lost to the other one by now."""
        worker, claim = self._some_claim(pick)
        if how != "extend":
            self.claims[worker].remove(claim)
            self.forgotten.append(claim)
        self._end(worker, claim, how, delay)

    @precondition(lambda self: self.forgotten)
    @rule(pick=PICK, worker=WORKERS, how=st.sampled_from(["finish", "retry", "bury", "extend"]))
    def come_back(self, pick: int, worker: int, how: Literal["finish", "retry", "bury", "extend"]) -> None:
        """Let a worker that seemed dead (or is confused) come back with an old claim."""
        self._end(worker, self.forgotten[pick % len(self.forgotten)], how, 0)

    def _some_claim(self, pick: int) -> tuple[int, Job]:
        held = [(worker, claim) for worker in (0, 1) for claim in self.claims[worker]]
        return held[pick % len(held)]

    def _end(self, worker: int, claim: Job, how: str, delay: int) -> None:
        jobs = self.jobs(worker)
        expected = self.model.find_held(claim)
        again = self.now + timedelta(seconds=delay)
        match how:
            case "finish":
                counted = self.run(jobs.finish(claim))
            case "bury":
                counted = self.run(jobs.bury(claim, "broken"))
            case "retry":
                counted = self.run(jobs.retry(claim, "later", run_at=again, now=self.now))
            case _:
                counted = self.run(jobs.extend(claim, now=self.now, lease_seconds=LEASE))
                if (worker, self.lives[worker]) in self.heard_of:
                    self.hear_of(worker)
        assert counted == (expected is not None)
        self.happened["counted" if counted else "fenced off"] += 1
        if expected is None:
            return
        if how in {"finish", "bury"}:
            self.model.open.remove(expected)
            self.model.ended[expected.lane, expected.dedupe, how] += 1
        elif how == "retry":
            expected.run_at = again
            expected.lose_claim()
        elif self.kind != "postgres":
            expected.leased_until = self.now + timedelta(seconds=LEASE)

    @rule(seconds=SECONDS)
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule(worker=WORKERS)
    def crash(self, worker: int) -> None:
        """Crash the worker and its connection; its claims last until the leases end."""
        self.run(self.stores[worker].database.aclose())
        self.stores[worker] = open_store(self.where)
        self.lives[worker] += 1
        self.happened["crashed with work"] += bool(self.claims[worker])
        self.forgotten += self.claims[worker]
        self.claims[worker] = []

    @precondition(lambda self: self.kind != "postgres")
    @rule(worker=WORKERS)
    def come_to_itself(self, worker: int) -> None:
        """Restart a worker under its name: it takes back its claims, and retries its waiting jobs at once.

        The other worker keeps its claims.
        """
        self.crash(worker)
        for job in self.model.open:
            if job.attempts and job.leased_until is None:
                job.run_at = NOON
        held = [job for job in self.model.open if job.leased_until is not None and job.holder[0] == worker]
        jobs = self.stores[worker].jobs
        assert isinstance(jobs, LeaseJobs)
        assert self.run(jobs.take_back(f"w{worker}")) == len(held)
        for job in held:
            job.lose_claim()
        self.happened["taken back"] += len(held)

    @rule(worker=WORKERS, lane=LANES, how=st.sampled_from(["finish", "retry", "bury", "extend"]), dies=st.booleans())
    def stall(self, worker: int, lane: str, how: str, dies: bool) -> None:  # noqa: FBT001  drawn by name
        """Stall a worker or let it die; the other one takes over; the first one goes on as if nothing had happened."""
        before = len(self.claims[worker])
        self.claim(worker, lane)
        if len(self.claims[worker]) == before:
            return
        if dies:
            self.crash(worker)
        else:
            self.forgotten.append(self.claims[worker].pop())
        self.time_passes(LEASE)
        self.claim(1 - worker, lane)
        self._end(worker, self.forgotten[-1], how, 0)

    @invariant()
    def nothing_ends_twice(self) -> None:
        assert all(times == 1 for times in self.model.ended.values())
        assert len({(lane, dedupe) for lane, dedupe, _ in self.model.ended}) == len(self.model.ended)

    def teardown(self) -> None:
        try:
            self._end_all()
        finally:
            for store in self.stores:
                self.run(store.aclose())
            self.loop.close()
            self.closing.close()

    def _end_all(self) -> None:
        for worker in (0, 1) if self.kind == "postgres" else ():
            self.crash(worker)  # a process that is alive keeps its claims
        self.now += timedelta(days=1)
        for lane in ("turns", "sync"):
            while self.rescue(lane) or self.model.next(lane, self.now) is not None:
                self.claim(0, lane)
                self._end(0, self.claims[0].pop(), "finish", 0)
            self.claim(1, lane)
        assert self.model.open == []
        assert {(lane, dedupe) for lane, dedupe, _ in self.model.ended} == self.model.seen


RARE = ("counted", "fenced off", "taken over", "crashed with work")


@pytest.mark.parametrize(("kind", "histories"), [("file", 40), ("postgres", 6)])
def test_jobs_keep_their_promises(request: pytest.FixtureRequest, tmp_path: Path, kind: Kind, histories: int) -> None:
    """S115, S117, S161"""

    class Machine(JobsMachine):
        happened: ClassVar[Counter[str]] = Counter()

        @staticmethod
        def empty_database() -> AbstractContextManager[str]:
            return new_database(kind, request, tmp_path)

    Machine.kind = kind
    run_state_machine_as_test(Machine, settings=settings(examples(histories), stateful_step_count=40))
    rare = {what: Machine.happened[what] for what in (*RARE, *(["taken back"] if kind == "file" else []))}
    assert all(rare.values()), rare
