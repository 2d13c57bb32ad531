"""A first plan is there at once, and a better one replaces it while the person reads, once and only if it matters."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import pytest
from tests.factories.tasks import DEEP, SHALLOW
from tests.unit.conversation.person import Harness, Person

from fateforger.conversation import background_updates
from fateforger.conversation.background_updates import Improver, search_again
from fateforger.drafting import day_draft
from fateforger.drafting.day_draft import FIRST_STEPS, Day, LongSearch, Work
from fateforger.drafting.solver import Optimum, ShouldStop, Solution
from fateforger.planning.plan import TBPlan
from fateforger.session.draft import day_of
from fateforger.session.model import Session
from fateforger.values import replace

BETTER = "A better order was found"
FULL_DAYS = (
    ((30, True), (180, True), (180, False), (60, True)),
    ((120, False), (180, True), (30, True), (90, True)),
    ((120, True), (150, True), (90, False), (180, False)),
    ((150, True), (180, True), (150, True), (120, False), (60, False)),
    ((180, True), (180, False), (90, True), (60, True)),
    ((120, True), (180, False), (150, True), (30, True)),
    ((60, True), (60, True), (180, False), (60, False), (180, True)),
)
"""Work that does not fit into a day: minutes, and whether it is deep."""


class GatedOptimizer:
    """An optimizer that waits to be opened, and finds nothing."""

    def __init__(self) -> None:
        self.asked, self.opened = asyncio.Event(), asyncio.Event()

    async def optimize(self, _: Solution) -> Optimum | None:
        self.asked.set()
        await self.opened.wait()
        return None


@cache
def drafts_of(day: Day) -> tuple[TBPlan, TBPlan]:
    """Return the first and the best plan of a day."""
    first = day.draft(steps=FIRST_STEPS).plan
    found = day.search_again((), first)
    return first, first if found is None else found.to_draft().plan


async def full_day(anna: Person) -> tuple[TBPlan, TBPlan]:
    """Draft a day whose first plan is worse than its best one; return both."""
    await anna.to_tasks()
    day = day_of(await anna.session())
    for works in FULL_DAYS:
        first, best = drafts_of(
            replace(
                day,
                works=tuple(
                    Work(str(n), f"Task {n}", m, DEEP if deep else SHALLOW, first=n == 1)
                    for n, (m, deep) in enumerate(works, 1)
                ),
            )
        )
        placed = dict(starts(first))
        if any(placed.get(name, when) != when for name, when in starts(best)):
            break
    else:
        raise AssertionError("every first plan is as good as the best one; add a harder day")
    values: dict[str, Any] = {}
    for row, (minutes, deep) in enumerate(works, 1):
        values |= {
            f"title_{row}": f"Task {row}",
            f"minutes_{row}": minutes,
            f"kind_{row}": "deep" if deep else "shallow",
        }
    await anna.fill("tasks", size=len(works), one_thing="1", **values)
    return first, best


def starts(plan: TBPlan | None) -> list[tuple[str, Any]]:
    assert plan is not None
    return [(block.name, block.timing) for block in plan.events]


async def wait_improved(harness: Harness, anna: Person) -> None:
    """Wait until no better plan is looked for any more."""

    async def is_over() -> bool:
        return not any(task.get_name().startswith("better draft") for task in asyncio.all_tasks())

    await harness.until(is_over)
    await anna.read()


@pytest.mark.extra
async def test_the_better_plan_replaces_the_first_one_and_the_card_says_what_changed(
    harness: Harness, anna: Person
) -> None:
    """S255"""
    gate = GatedOptimizer()
    harness.improver = Improver(gate.optimize)
    harness.restart()
    first, best = await full_day(anna)
    assert starts((await anna.session()).planning.plan) == starts(first)
    assert BETTER not in anna.words
    slot, cards = next(reversed(anna.messages)), len(anna.arrived)
    await asyncio.wait_for(gate.asked.wait(), 60)
    gate.opened.set()
    await wait_improved(harness, anna)
    assert starts((await anna.session()).planning.plan) == starts(best)
    assert BETTER in anna.words
    assert " now" in anna.words
    assert {message.slot for message in anna.arrived[cards:]} <= {slot, "root"}
    assert anna.words.count(BETTER) == 1


async def test_the_plan_that_the_person_went_on_with_stays(harness: Harness, anna: Person) -> None:
    """S255"""
    gate = GatedOptimizer()
    harness.improver = Improver(gate.optimize)
    harness.restart()
    first, _ = await full_day(anna)
    await asyncio.wait_for(gate.asked.wait(), 60)
    await anna.press("Refine")
    gate.opened.set()
    cards = len(anna.arrived)
    await wait_improved(harness, anna)
    assert starts((await anna.session()).planning.plan) == starts(first)
    assert len(anna.arrived) == cards


async def test_a_restart_in_between_loses_nothing(harness: Harness, anna: Person) -> None:
    """S255"""
    gate = GatedOptimizer()
    harness.improver = Improver(gate.optimize)
    harness.restart()
    _, best = await full_day(anna)
    await asyncio.wait_for(gate.asked.wait(), 60)
    await harness.coordinator.aclose()
    assert BETTER not in anna.words
    harness.improver = Improver()
    harness.restart()
    await harness.coordinator.resume()
    await wait_improved(harness, anna)
    assert starts((await anna.session()).planning.plan) == starts(best)
    assert BETTER in anna.words


async def test_a_first_plan_that_is_as_good_stays_without_a_word(harness: Harness, anna: Person) -> None:
    harness.improver = Improver()
    harness.restart()
    await anna.to_skeleton("Write report")
    cards, plan = len(anna.arrived), (await anna.session()).planning.plan
    await wait_improved(harness, anna)
    assert len(anna.arrived) == cards
    assert (await anna.session()).planning.plan == plan


async def test_what_the_optimizer_finds_is_the_plan(harness: Harness, anna: Person) -> None:
    asked: list[Solution] = []

    async def optimize(solution: Solution) -> Optimum | None:
        asked.append(solution)
        return Optimum(solution.placed, 0)

    harness.improver = Improver(optimize)
    harness.restart()
    _, best = await full_day(anna)
    await wait_improved(harness, anna)
    assert len(asked) == 1
    assert starts((await anna.session()).planning.plan) == starts(best)


async def test_a_program_that_stops_does_not_wait_for_the_search(
    harness: Harness, anna: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search has one thread here, which is free again although it had a billion steps to go."""
    await anna.to_skeleton("Write report", "Mail", "Call the bank", "Tax return")
    session = await anna.session()
    thread = ThreadPoolExecutor(1)
    asyncio.get_running_loop().set_default_executor(thread)
    begun = threading.Event()

    def search(session: Session, stop: ShouldStop) -> LongSearch | None:
        begun.set()
        return search_again(session, stop)

    monkeypatch.setattr(background_updates, "search_again", search)
    monkeypatch.setattr(day_draft, "LONG_STEPS", 1_000_000_000)
    looking = asyncio.create_task(Improver().find_better(session.with_planning(plan=day_of(session).draft().plan)))
    await asyncio.get_running_loop().run_in_executor(ThreadPoolExecutor(1), begun.wait)
    looking.cancel()
    assert await asyncio.to_thread(str, "free") == "free"
