"""The contract of queues of jobs. A test module subclasses the suite and gives it two views of one queue."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fateforger.errors import InternalError
from fateforger.ports.jobs import Job, Jobs, NewJob
from fateforger.values import replace

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
LEASE = 10.0


def later(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


async def put(jobs: Jobs, name: str, key: str = "k", *, lane: str = "turns", run_at: datetime | None = None) -> bool:
    return await jobs.enqueue(NewJob(lane=lane, key=key, dedupe=name, payload={"name": name}, run_at=run_at), now=NOON)


async def ask(jobs: Jobs, seconds: float) -> bool:
    """Request a round in that many seconds."""
    return await jobs.enqueue(NewJob("turns", "k", "round", run_at=later(seconds), recurs=True), now=NOON)


async def take(jobs: Jobs, seconds: float = 0, *, owner: str = "w1", lane: str = "turns") -> Job | None:
    return await jobs.claim(lane, owner, now=later(seconds), lease_seconds=LEASE)


async def take_job(jobs: Jobs, seconds: float = 0, *, owner: str = "w1", lane: str = "turns") -> Job:
    job = await take(jobs, seconds, owner=owner, lane=lane)
    assert job is not None
    return job


async def names(jobs: Jobs, seconds: float = 0) -> list[str]:
    """Work off everything that may run now."""
    done = []
    while (job := await take(jobs, seconds)) is not None:
        done.append(job.dedupe)
        assert await jobs.finish(job)
    return done


async def begun_waiting(jobs: Jobs) -> asyncio.Future[None]:
    """Begin a wait that lasts: there is no job, and every program knows it."""
    waiting = asyncio.ensure_future(jobs.wait("turns", seconds=600))
    for _ in range(10):
        await asyncio.sleep(0)
    assert not waiting.done()
    return waiting


class JobsContract:
    """``jobs`` belongs to one worker, ``other`` to another one, perhaps of another process."""

    @pytest.fixture
    def jobs(self) -> Jobs:
        raise NotImplementedError

    @pytest.fixture
    def other(self) -> Jobs:
        raise NotImplementedError

    async def test_the_late_end_of_an_earlier_claim_leaves_the_newer_one(self, jobs: Jobs) -> None:
        """S402: the same program has claimed the job again meanwhile, and is at work on it."""
        await put(jobs, "a1")
        first = await take_job(jobs)
        assert await jobs.retry(first, "again", run_at=NOON, now=NOON)
        second = await take_job(jobs)
        assert not await jobs.finish(first)
        assert await take(jobs) is None
        assert await jobs.finish(second)

    async def test_a_job_comes_back_as_it_was_put(self, jobs: Jobs, other: Jobs) -> None:
        payload: dict[str, Any] = {"text": "Grüße “🙂”", "n": [1, 2.5, None, True], "deep": {"a": {"b": ""}}}
        assert await jobs.enqueue(NewJob(lane="turns", key="k", dedupe="d", payload=payload), now=NOON)
        job = await take_job(other)
        assert job == Job(job.id, "turns", "k", "d", payload, 1, job.fence)

    async def test_an_empty_lane_has_nothing(self, jobs: Jobs) -> None:
        await put(jobs, "a", lane="other")
        assert await take(jobs) is None

    async def test_a_payload_has_to_be_json(self, jobs: Jobs) -> None:
        for payload in ({"at": NOON}, {"n": float("nan")}):
            with pytest.raises(InternalError):
                await jobs.enqueue(NewJob(lane="turns", key="k", dedupe="d", payload=payload), now=NOON)
        assert await take(jobs) is None

    async def test_one_key_is_first_in_first_out(self, jobs: Jobs, other: Jobs) -> None:
        """S115"""
        for n in range(30):
            await put([jobs, other][n % 2], f"j{n}")
        assert await names(jobs) == [f"j{n}" for n in range(30)]

    async def test_one_key_runs_one_job_at_a_time(self, jobs: Jobs, other: Jobs) -> None:
        """S115"""
        await put(jobs, "a1", "a")
        await put(jobs, "a2", "a")
        await put(jobs, "b1", "b")
        first = await take_job(jobs)
        second = await take_job(other, owner="w2")
        assert (first.dedupe, second.dedupe) == ("a1", "b1")
        assert await take(jobs) is None
        assert await jobs.finish(first)
        assert (await take_job(other)).dedupe == "a2"

    async def test_what_a_person_repeats_is_accepted_again_once_it_was_given_up(self, jobs: Jobs, other: Jobs) -> None:
        """S403: as another job, so that it may be given up with an apology of its own."""
        press = NewJob(lane="turns", key="k", dedupe="press", again=True)
        assert await jobs.enqueue(press, now=NOON)
        assert not await other.enqueue(press, now=NOON)
        first = await take_job(jobs)
        assert await jobs.bury(first, "broken")
        assert not await other.enqueue(replace(press, again=False), now=NOON)
        assert await other.enqueue(press, now=NOON)
        again = await take_job(jobs)
        assert (again.id != first.id, again.attempts) == (True, 1)
        assert await jobs.finish(again)
        assert not await other.enqueue(press, now=NOON)
        assert await take(jobs) is None

    async def test_jobs_of_one_name_are_accepted_at_intervals(self, jobs: Jobs, other: Jobs) -> None:
        """S471: intervals begin with a job, not at fixed instants, so each double click counts once, in any program."""
        press = NewJob(lane="turns", key="k", dedupe="press", again=True, apart=timedelta(seconds=15))
        accepted = await asyncio.gather(*(each.enqueue(press, now=later(0)) for each in [jobs, other] * 5))
        assert sum(accepted) == 1
        assert not await other.enqueue(press, now=later(14.9))
        assert await other.enqueue(press, now=later(15))
        assert not await jobs.enqueue(press, now=later(15.1))
        assert not await jobs.enqueue(press, now=NOON)  # it was sent again
        assert await names(jobs, 20) == ["press"] * 2

    async def test_a_given_up_job_lets_the_next_interval_count_once(self, jobs: Jobs, other: Jobs) -> None:
        """S471: a double click is one, too, if an earlier click was given up."""
        press = NewJob(lane="turns", key="k", dedupe="press", again=True, apart=timedelta(seconds=15))
        assert await jobs.enqueue(press, now=NOON)
        assert await jobs.bury(await take_job(jobs), "broken")
        assert await other.enqueue(press, now=later(60))
        assert not await jobs.enqueue(press, now=later(60.2))

    async def test_a_job_can_be_found_until_it_is_done(self, jobs: Jobs, other: Jobs) -> None:
        """S119: a waiting program sees whether the job is still to come; looking takes nothing away."""
        assert await other.find_unfinished("turns", "a") is None
        assert not await other.was_accepted("turns", "a")
        await put(jobs, "a")
        found = await other.find_unfinished("turns", "a")
        assert found is not None
        assert found.payload == {"name": "a"}
        assert await other.find_unfinished("sync", "a") is None
        first = await take_job(jobs)
        assert await other.find_unfinished("turns", "a") == first
        assert await jobs.finish(first)
        assert await other.find_unfinished("turns", "a") is None
        assert await other.was_accepted("turns", "a")
        assert not await other.was_accepted("sync", "a")
        await put(jobs, "b")
        assert await jobs.bury(await take_job(jobs), "broken")
        assert await other.find_unfinished("turns", "b") is None

    async def test_what_is_not_done_is_counted_by_key(self, jobs: Jobs, other: Jobs) -> None:
        """S117: waiting and running jobs count; done and buried ones do not, nor those of another key or lane."""
        for name in ("a1", "a2", "a3"):
            await put(jobs, name, "a")
        await put(jobs, "b1", "b")
        assert [job.dedupe for job in await other.list_unfinished("turns", "a")] == ["a1", "a2", "a3"]
        assert await other.list_unfinished("sync", "a") == ()
        assert await jobs.finish(await take_job(jobs))
        running = await take_job(other)
        assert (running.dedupe, await other.count_unfinished("turns", "a")) == ("a2", 2)
        assert await other.bury(running, "broken")
        others = [await jobs.count_unfinished(*which) for which in (("sync", "a"), ("turns", "c"))]
        assert (await jobs.count_unfinished("turns", "a"), others) == (1, [0, 0])

    async def test_keys_of_different_lanes_do_not_meet(self, jobs: Jobs) -> None:
        await put(jobs, "a", lane="turns")
        await put(jobs, "a", lane="sync")
        assert (await take_job(jobs, lane="sync")).dedupe == "a"
        assert (await take_job(jobs, lane="turns")).dedupe == "a"

    async def test_a_dedupe_is_accepted_once_ever(self, jobs: Jobs, other: Jobs) -> None:
        """S117; Slack sends an event again when it is not sure, also long after it was handled."""
        assert await put(jobs, "e1")
        assert not await put(other, "e1")
        assert not await put(other, "e1", "another key")
        job = await take_job(jobs)
        assert not await put(other, "e1")
        assert await jobs.finish(job)
        assert not await put(other, "e1")
        assert await put(jobs, "e2")
        assert await jobs.bury(await take_job(jobs), "broken")
        assert not await put(other, "e2")
        assert await take(jobs) is None

    async def test_of_equal_jobs_at_once_one_is_accepted(self, jobs: Jobs, other: Jobs) -> None:
        accepted = await asyncio.gather(*(put(queue, "e1") for queue in [jobs, other] * 5))
        assert sorted(accepted) == [False] * 9 + [True]
        assert await names(jobs) == ["e1"]

    async def test_a_job_waits_for_its_time_and_so_does_its_key(self, jobs: Jobs) -> None:
        await put(jobs, "a1", "a", run_at=later(5))
        await put(jobs, "a2", "a")
        await put(jobs, "b1", "b")
        assert await names(jobs, 4.9) == ["b1"]
        assert await names(jobs, 5) == ["a1", "a2"]

    async def test_what_is_meant_for_now_is_not_held_up_by_a_clock_that_is_set_back(self, jobs: Jobs) -> None:
        await put(jobs, "a1")
        await put(jobs, "a2", run_at=later(0))
        await put(jobs, "a3")
        assert await names(jobs, -60) == ["a1"]
        assert await names(jobs, 0) == ["a2", "a3"]

    async def test_a_claim_is_taken_over_when_its_lease_ends(self, jobs: Jobs, other: Jobs) -> None:
        await put(jobs, "a1")
        await put(jobs, "a2")
        dead = await take_job(jobs)
        assert await take(other, LEASE - 0.1, owner="w2") is None
        again = await take_job(other, LEASE, owner="w2")
        assert (again.id, again.dedupe, again.attempts) == (dead.id, "a1", 2)
        assert again.fence > dead.fence

    async def test_a_lost_claim_is_worth_nothing(self, jobs: Jobs, other: Jobs) -> None:
        await put(jobs, "a1")
        lost = await take_job(jobs)
        held = await take_job(other, LEASE, owner="w2")
        assert not await jobs.extend(lost, now=later(LEASE), lease_seconds=LEASE)
        assert not await jobs.finish(lost)
        assert not await jobs.retry(lost, "late", run_at=later(0), now=NOON)
        assert not await jobs.bury(lost, "late")
        assert await take(jobs, LEASE) is None
        assert await other.finish(held)

    async def test_a_late_worker_that_nobody_replaced_may_finish(self, jobs: Jobs) -> None:
        await put(jobs, "a1")
        late = await take_job(jobs)
        assert await jobs.extend(late, now=later(LEASE + 5), lease_seconds=LEASE)
        assert await take(jobs, 2 * LEASE) is None
        assert await jobs.finish(late)

    async def test_extending_keeps_a_claim(self, jobs: Jobs, other: Jobs) -> None:
        await put(jobs, "a1")
        job = await take_job(jobs)
        assert await jobs.extend(job, now=later(8), lease_seconds=LEASE)
        assert await take(other, 17.9) is None
        assert await take(other, 18) is not None

    async def test_what_is_done_is_done(self, jobs: Jobs) -> None:
        await put(jobs, "a1")
        job = await take_job(jobs)
        assert await jobs.finish(job)
        assert not await jobs.finish(job)
        assert not await jobs.extend(job, now=NOON, lease_seconds=LEASE)
        assert not await jobs.retry(job, "why", run_at=NOON, now=NOON)
        assert not await jobs.bury(job, "why")
        assert await take(jobs, 10**6) is None

    async def test_ids_are_never_used_again(self, jobs: Jobs) -> None:
        """Otherwise a claim on a finished job could pass for one on a later job."""
        await put(jobs, "a1")
        first = await take_job(jobs)
        await jobs.finish(first)
        await put(jobs, "a2")
        second = await take_job(jobs)
        assert second.id > first.id
        assert not await jobs.finish(first)

    async def test_a_retry_holds_back_its_key_until_its_time(self, jobs: Jobs, other: Jobs) -> None:
        await put(jobs, "a1", "a")
        await put(jobs, "a2", "a")
        await put(jobs, "b1", "b")
        job = await take_job(jobs)
        assert await jobs.retry(job, "calendar is down", run_at=later(30), now=NOON)
        assert await names(other, 29.9) == ["b1"]
        again = await take_job(other, 30)
        assert (again.dedupe, again.attempts) == ("a1", 2)
        assert await other.finish(again)
        assert await names(other, 30) == ["a2"]

    async def test_a_claim_that_was_given_back_is_worth_nothing(self, jobs: Jobs, other: Jobs) -> None:
        await put(jobs, "a1")
        given_back = await take_job(jobs)
        assert await jobs.retry(given_back, "why", run_at=NOON, now=NOON)
        assert not await jobs.finish(given_back)
        held = await take_job(other)
        assert not await jobs.finish(given_back)
        assert await other.finish(held)

    async def test_a_buried_job_frees_its_key(self, jobs: Jobs) -> None:
        await put(jobs, "a1")
        await put(jobs, "a2")
        job = await take_job(jobs)
        assert await jobs.bury(job, "broken")
        assert not await jobs.finish(job)
        assert await names(jobs, 10**6) == ["a2"]

    async def test_of_a_job_that_recurs_one_waits_and_one_runs(self, jobs: Jobs, other: Jobs) -> None:
        """S346: a round of periodic work, however many programs ask for it; a new one can be asked for while it runs."""
        assert await ask(jobs, 30)
        assert not await ask(other, 60)
        assert await take(jobs, 29.9) is None
        assert not await ask(other, 10)
        first = await take_job(other, 10)
        assert await ask(jobs, 0)
        assert not await ask(other, 0)
        assert await take(jobs, 10) is None
        assert await other.finish(first)
        second = await take_job(jobs, 10)
        assert (first.dedupe, second.dedupe, second.attempts) == ("round", "round", 1)
        assert await jobs.finish(second)
        assert await take(other, 10**6) is None

    async def test_a_round_that_fails_is_retried_once_and_not_beside_the_next(self, jobs: Jobs, other: Jobs) -> None:
        """S346"""
        assert await ask(jobs, 0)
        assert await jobs.retry(await take_job(jobs), "broken", run_at=later(5), now=NOON)
        again = await take_job(jobs, 5)
        assert again.attempts == 2
        assert await ask(other, 60)
        assert await jobs.retry(again, "broken", run_at=later(10), now=later(5))
        assert await take(jobs, 59.9) is None
        assert await jobs.finish(await take_job(jobs, 60))
        assert await take(jobs, 10**6) is None

    async def test_a_round_of_a_dead_worker_is_not_doubled_by_the_next(self, jobs: Jobs, other: Jobs) -> None:
        """S346: it asked for the next one, and died before it could say that it was done."""
        assert await ask(jobs, 0)
        dead = await take_job(jobs)
        assert await ask(jobs, 2 * LEASE)
        while (job := await take(other, 3 * LEASE, owner="w2")) is not None:
            assert await other.finish(job)
        assert not await jobs.finish(dead)
        assert await take(other, 10**6) is None

    async def test_many_workers_never_claim_one_job_twice(self, jobs: Jobs, other: Jobs) -> None:
        """S161"""
        for n in range(20):
            await put(jobs, f"j{n}", f"k{n % 5}")
        claims = await asyncio.gather(*(take(queue, owner=f"w{n}") for n, queue in enumerate([jobs, other] * 10)))
        assert sorted(job.dedupe for job in claims if job is not None) == ["j0", "j1", "j2", "j3", "j4"]

    async def test_waiting_ends_at_once_when_work_arrives(self, jobs: Jobs) -> None:
        await put(jobs, "a1")
        assert await names(jobs) == ["a1"]
        waiting = await begun_waiting(jobs)
        await put(jobs, "a2")
        await asyncio.wait_for(waiting, 60)

    async def test_work_that_arrives_before_the_wait_is_not_missed(self, jobs: Jobs) -> None:
        assert await take(jobs) is None
        await put(jobs, "a1")
        await put(jobs, "b1", "b")
        await take_job(jobs)
        await asyncio.wait_for(jobs.wait("turns", seconds=600), 60)

    @pytest.mark.parametrize("end", ["finish", "retry", "bury"])
    async def test_waiting_ends_when_a_key_is_free_again(self, jobs: Jobs, end: str) -> None:
        await put(jobs, "a1")
        await put(jobs, "a2")
        job = await take_job(jobs)
        assert await take(jobs) is None
        waiting = await begun_waiting(jobs)
        match end:
            case "finish":
                assert await jobs.finish(job)
            case "retry":
                assert await jobs.retry(job, "why", run_at=NOON, now=NOON)
            case _:
                assert await jobs.bury(job, "why")
        await asyncio.wait_for(waiting, 60)

    async def test_waiting_ends_after_its_time(self, jobs: Jobs) -> None:
        await put(jobs, "a1", lane="other")
        assert await take(jobs) is None
        await jobs.wait("turns", seconds=0.01)
