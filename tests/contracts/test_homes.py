"""App Homes that are due, on each database."""

from __future__ import annotations

from datetime import timedelta

from tests.contracts.jobs_contract import NOON
from tests.contracts.session_examples import session

from fateforger.adapters.store.store import Store

Both = tuple[Store, Store]
SOON = NOON + timedelta(seconds=30)


async def due(store: Store) -> list[str]:
    return [state.user_id for state in await store.homes.claim_due(NOON, until=SOON)]


async def test_two_programs_do_not_publish_the_same_home(both: Both) -> None:
    one, other = both
    await one.homes.open("U1")
    assert await due(one) == ["U1"]
    assert await due(other) == []
    await other.homes.note_change("U1")
    assert await due(other) == ["U1"], "what changes meanwhile is published at once"


async def test_one_that_a_dead_program_claimed_is_due_again(both: Both) -> None:
    one, other = both
    await one.homes.open("U1")
    assert await due(one) == ["U1"]
    assert [state.user_id for state in await other.homes.claim_due(SOON, until=SOON)] == ["U1"]


async def test_a_change_during_a_publication_stays_due(both: Both) -> None:
    one, other = both
    await one.homes.open("U1")
    (state,) = await one.homes.claim_due(NOON, until=SOON)
    await other.homes.note_change("U1")
    await one.homes.keep(state, show_at=NOON + timedelta(days=1))
    assert await due(one) == ["U1"]


async def test_a_change_of_a_plan_makes_its_home_due(both: Both) -> None:
    """S395"""
    one, other = both
    plan = session("s1")
    await one.homes.open(plan.user_id)
    assert await due(one) == [plan.user_id]
    await other.sessions.save(plan, expected=0, outgoing=())
    assert await due(one) == [plan.user_id]
