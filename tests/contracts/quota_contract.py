"""The contract of counts of requests."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from fateforger.calendar.ports import Login, Quota, RequestLimit, Reservation, Settlement

ME = Login("http://127.0.0.1:3000/mcp", "me")
TEN = RequestLimit(10, background=4, kept=5)
_IDS = (f"r{n}" for n in itertools.count())


@dataclass
class Clock:
    """Time that passes when a test says so."""

    instant: datetime = field(default_factory=lambda: datetime(2026, 3, 2, 11, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.instant

    def go_on(self, seconds: float) -> None:
        self.instant += timedelta(seconds=seconds)


def make_reservation(requests: int = 1, *, background: bool = False) -> Reservation:
    return Reservation(next(_IDS), requests, background)


class QuotaContract:
    """``quota`` and ``other`` are two connections to the same counts, as two processes have; ``clock`` is theirs."""

    async def test_a_login_gets_no_more_than_its_limit(self, quota: Quota, other: Quota) -> None:
        assert await quota.reserve(ME, make_reservation(7), TEN) == 0
        assert await other.reserve(ME, make_reservation(3), TEN) == 0
        assert await quota.reserve(ME, make_reservation(1), TEN) == 60

    async def test_what_was_answered_counts_for_a_minute_after(self, quota: Quota, clock: Clock) -> None:
        first = make_reservation(10)
        await quota.reserve(ME, first, TEN)
        clock.go_on(20)
        settled = [Settlement(first.id, 9, ago=5)]
        assert await quota.reserve(ME, make_reservation(2), TEN, settled=settled) == 55
        assert await quota.reserve(ME, make_reservation(1), TEN) == 0
        clock.go_on(54.9)
        assert await quota.reserve(ME, make_reservation(1), TEN) > 0
        clock.go_on(0.1)
        assert await quota.reserve(ME, make_reservation(9), TEN) == 0

    async def test_what_cost_more_counts_for_more(self, quota: Quota) -> None:
        first = make_reservation(1)
        await quota.reserve(ME, first, TEN)
        await quota.settle(TEN, [Settlement(first.id, 4, ago=0)])
        assert await quota.reserve(ME, make_reservation(7), TEN) == 60
        assert await quota.reserve(ME, make_reservation(6), TEN) == 0

    async def test_a_process_that_died_blocks_for_a_minute_after_its_call(self, quota: Quota, clock: Clock) -> None:
        """S241: its reservation is never settled, and its call may have run on for a while."""
        await quota.reserve(ME, make_reservation(10), TEN)
        clock.go_on(TEN.call_seconds + 59.9)
        assert await quota.reserve(ME, make_reservation(), TEN) > 0
        clock.go_on(0.1)
        assert await quota.reserve(ME, make_reservation(10), TEN) == 0

    async def test_a_clock_that_was_set_back_blocks_for_no_longer(self, quota: Quota, clock: Clock) -> None:
        await quota.reserve(ME, make_reservation(10), TEN)
        clock.go_on(-86_400)
        assert await quota.reserve(ME, make_reservation(), TEN) == 60
        clock.go_on(TEN.call_seconds + 60)
        assert await quota.reserve(ME, make_reservation(), TEN) == 0

    async def test_logins_are_apart_unless_one_has_no_name(self, quota: Quota) -> None:
        """A login without a name may be any of its server's."""
        work, unnamed, elsewhere = Login(ME.server, "work"), Login(ME.server), Login("http://[::1]/mcp", "me")
        assert await quota.reserve(ME, make_reservation(10), TEN) == 0
        assert await quota.reserve(work, make_reservation(6), TEN) == 0
        assert await quota.reserve(elsewhere, make_reservation(10), TEN) == 0
        assert await quota.reserve(unnamed, make_reservation(1), TEN) == 60
        assert await quota.reserve(work, make_reservation(4), TEN) == 0

    async def test_the_unnamed_login_counts_with_each(self, quota: Quota) -> None:
        assert await quota.reserve(Login(ME.server), make_reservation(8), TEN) == 0
        assert await quota.reserve(ME, make_reservation(3), TEN) == 60
        assert await quota.reserve(ME, make_reservation(2), TEN) == 0

    async def test_reads_in_the_background_leave_room(self, quota: Quota) -> None:
        """They get four of ten, and none of the last five."""
        assert await quota.reserve(ME, make_reservation(4, background=True), TEN) == 0
        assert await quota.reserve(ME, make_reservation(1, background=True), TEN) == 60
        assert await quota.reserve(ME, make_reservation(6), TEN) == 0

    async def test_reads_in_the_background_yield_to_a_busy_person(self, quota: Quota) -> None:
        assert await quota.reserve(ME, make_reservation(5), TEN) == 0
        assert await quota.reserve(ME, make_reservation(1, background=True), TEN) == 60
        assert await quota.reserve(ME, make_reservation(5), TEN) == 0

    async def test_more_than_the_limit_begins_alone(self, quota: Quota, clock: Clock) -> None:
        assert await quota.reserve(ME, make_reservation(1), TEN) == 0
        assert await quota.reserve(ME, make_reservation(11), TEN) == 60
        clock.go_on(60 + TEN.call_seconds)
        assert await quota.reserve(ME, make_reservation(11), TEN) == 0

    async def test_of_many_at_once_only_so_many_get_through(self, quota: Quota, other: Quota) -> None:
        waits = await asyncio.gather(
            *(each.reserve(ME, make_reservation(), TEN) for _ in range(20) for each in (quota, other))
        )
        assert waits.count(0) == 10
