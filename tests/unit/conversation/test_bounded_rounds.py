"""A round does a bounded amount of work, and says if there is a rest for the next one (S396)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import time as clock_time
from datetime import timedelta
from typing import Any

import pytest
from tests.contracts.session_examples import session as example
from tests.factories.constraints import version_of
from tests.fakes.one_calendar import OneCalendar
from tests.unit.conversation.person import AMSTERDAM, MONDAY, Harness, meeting

from fateforger.adapters.store.inbox import measure_lanes
from fateforger.conversation.calendar_watch import Watcher
from fateforger.conversation.rituals.schedule import RitualSettings
from fateforger.conversation.session_messages import SessionCloser
from fateforger.errors import StoreUnavailable
from fateforger.session.model import WriteCounts
from fateforger.session.stages import TimeboxingStage
from fateforger.session.store import HeadFilter
from fateforger.workers.lanes import ROUND_SIZE
from fateforger.workers.memory import TidyScheduler
from fateforger.workers.people import LanguageService

PEOPLE = 2 * ROUND_SIZE + 1
EXPECTED = [ROUND_SIZE, 2 * ROUND_SIZE, PEOPLE]
"""Numbers of people whose work is done after each of three rounds."""


async def count_jobs(harness: Harness, lane: str) -> int:
    lanes = await harness.store.database.read(lambda connection: measure_lanes(connection, harness.clock.now()))
    return sum(each.jobs for each in lanes if each.lane == lane)


async def count_heads(harness: Harness, **wanted: Any) -> int:
    wanted["since"] = harness.clock.now() - timedelta(days=30)
    return len(await harness.store.sessions.list_heads(HeadFilter(**wanted)))


async def plan_days(harness: Harness) -> None:
    """Give each person a plan for Monday that is on the calendar."""
    for n in range(PEOPLE):
        plan = example(f"s{n}", user_id=f"U{n:02}", date=MONDAY, tz=AMSTERDAM, stage=TimeboxingStage.REFINE)
        plan = plan.after_command("c", harness.clock.now()).with_sync(written=WriteCounts(created=1))
        await harness.store.sessions.save(plan, expected=0)


async def ask_for_mornings(harness: Harness) -> None:
    """Have a message sent to each person that is due now."""
    start = harness.clock.now()
    for n in range(PEOPLE):
        chosen = RitualSettings(
            user_id=f"U{n:02}", channel=f"D{n:02}", tz="Etc/UTC", since=start, morning=clock_time(9, 0)
        )
        await harness.store.rituals.change(chosen.user_id, lambda _before, chosen=chosen: chosen)  # type: ignore[misc]  # mypy cannot infer a lambda with a default
    harness.clock.at = start.replace(hour=9, minute=0) + timedelta(days=start.hour >= 9)


async def run_rounds(work: Callable[[], Awaitable[bool]], count: Callable[[], Awaitable[int]]) -> list[int]:
    """Run rounds until nothing is left over; return the count after each."""
    counts, left_over = [], True
    while left_over:
        left_over = await work()
        counts.append(await count())
    return counts


async def test_watching(harness: Harness) -> None:
    await plan_days(harness)
    meeting(harness, "Dentist", "15:00", "16:00")
    calendars = OneCalendar(harness.submitter, harness.submitter)
    watcher = Watcher(
        sessions=harness.store.sessions, jobs=harness.store.jobs, calendars=calendars, clock=harness.clock
    )
    assert await run_rounds(watcher.run_once, lambda: count_jobs(harness, "turn")) == EXPECTED


async def test_a_change_that_a_provider_told_of_is_not_forgotten(harness: Harness) -> None:
    """A day that was left over is read in the next round, although it is not due by itself."""
    await plan_days(harness)
    calendars = OneCalendar(harness.submitter, harness.submitter)
    watcher = Watcher(
        sessions=harness.store.sessions, jobs=harness.store.jobs, calendars=calendars, clock=harness.clock
    )
    await run_rounds(watcher.run_once, lambda: count_jobs(harness, "turn"))
    meeting(harness, "Dentist", "15:00", "16:00")
    for n in range(PEOPLE):
        watcher.expect_change(f"U{n:02}")
    counts = await run_rounds(watcher.run_once, lambda: count_jobs(harness, "turn"))
    assert [count - PEOPLE for count in counts] == EXPECTED


async def test_closing(harness: Harness) -> None:
    await plan_days(harness)
    harness.clock.at += timedelta(days=2)

    async def count_judged() -> int:
        return PEOPLE - await count_heads(harness, unjudged=True)

    closer = SessionCloser(harness.store.sessions, harness.store.jobs, harness.clock)
    assert await run_rounds(closer.run_once, count_judged) == EXPECTED


async def test_missed_days(harness: Harness) -> None:
    await plan_days(harness)
    harness.clock.at += timedelta(days=2)

    async def count_returned() -> int:
        return PEOPLE - await count_heads(harness, unreturned=True)

    assert await run_rounds(harness.return_leftovers, count_returned) == EXPECTED


async def test_tidying(harness: Harness) -> None:
    for n in range(PEOPLE):
        await harness.store.constraints.write([version_of("rule", user=f"U{n:02}")], cause=f"rule {n}")
    tidying = TidyScheduler(
        harness.store.constraints, harness.store.sessions, harness.store.jobs, harness.clock, tz="Europe/Amsterdam"
    )
    assert await run_rounds(tidying.run_once, lambda: count_jobs(harness, "memory")) == EXPECTED


async def test_messages_at_chosen_times(harness: Harness) -> None:
    await ask_for_mornings(harness)
    assert await run_rounds(harness.rituals.send_due, lambda: count_jobs(harness, "letter")) == EXPECTED


async def test_messages_that_fail_do_not_hold_back_the_others(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many fail again and again as one round looks at."""
    await ask_for_mornings(harness)
    find_language = LanguageService.of

    async def fail_for_first(self: LanguageService, user_id: str) -> Any:
        if user_id < f"U{ROUND_SIZE:02}":
            raise StoreUnavailable("The language cannot be read.")
        return await find_language(self, user_id)

    monkeypatch.setattr(LanguageService, "of", fail_for_first)
    for _ in range(4):
        with suppress(StoreUnavailable):
            await harness.rituals.send_due()
        harness.clock.at += timedelta(seconds=15)
    assert await count_jobs(harness, "letter") == PEOPLE - ROUND_SIZE
