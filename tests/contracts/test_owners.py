"""The owner of the calendar, on each database: claimed once with a code, erased, closed, kept from older versions."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from tests.contracts.session_examples import later, session
from tests.factories.agents import NOW

from fateforger.adapters.store.database import make_engine, parse_database_url
from fateforger.adapters.store.store import Store, open_store
from fateforger.ports.people import Claim, OwnerRecord

ANNA, BORIS = "U1", "U2"
Both = tuple[Store, Store]


async def test_a_code_counts_once(both: Both) -> None:
    """K14: the owner is kept with the instant; the code is void afterwards."""
    store, other = both
    assert await store.owners.read() == OwnerRecord()
    assert await other.owners.claim(ANNA, "hash", now=NOW) is Claim.NO_CODE
    await store.owners.offer("hash", "salt", tries=2)
    assert (await other.owners.read()).code_salt == "salt"
    assert await other.owners.claim(ANNA, "hash", now=NOW) is Claim.CLAIMED
    assert await store.owners.read() == OwnerRecord(ANNA, "claimed", NOW)
    assert await store.owners.claim(BORIS, "hash", now=NOW) is Claim.NO_CODE


async def test_a_code_bears_so_many_wrong_ones(both: Both) -> None:
    """K14: after that not even the right one counts."""
    store, other = both
    await store.owners.offer("hash", "salt", tries=2)
    assert await store.owners.claim(BORIS, "guess", now=NOW) is Claim.WRONG
    assert await other.owners.claim(BORIS, "guess", now=NOW) is Claim.WRONG_FOR_THE_LAST_TIME
    assert await store.owners.claim(ANNA, "hash", now=NOW) is Claim.NO_CODE
    assert await store.owners.read() == OwnerRecord()


async def test_of_many_who_send_it_at_once_one_is_the_owner(both: Both) -> None:
    """K14"""
    store, other = both
    await store.owners.offer("hash", "salt", tries=10)
    claims = [owners.claim(f"U{n}", "hash", now=NOW) for n in range(4) for owners in (store.owners, other.owners)]
    results = await asyncio.gather(*claims)
    assert sorted(result.name for result in results) == ["CLAIMED", *["NO_CODE"] * 7]


async def test_erasing_the_owner_closes_the_calendar_until_it_is_claimed(both: Both) -> None:
    """K14: the id is gone, a code from before is void, and what is shown of it holds no hash."""
    store, other = both
    await store.owners.offer("hash", "salt", tries=2)
    await store.owners.claim(ANNA, "hash", now=NOW)
    assert await other.people.count_held(ANNA) == {"ownership": 1}
    ((row,),) = (await other.people.export(ANNA)).values()
    assert (row["person"], row["since"], [name for name in row if "hash" in name or "salt" in name]) == (
        ANNA,
        NOW.isoformat(),
        [],
    )
    after = NOW + timedelta(days=1)
    assert await store.people.erase(ANNA, now=after, closing="salt:digest") == {"ownership": 1}
    assert await other.owners.read() == OwnerRecord(closed_at=after, closed_for="salt:digest")
    await other.owners.offer("another", "salt", tries=2)
    assert await store.owners.claim(BORIS, "another", now=after) is Claim.CLAIMED
    assert await store.owners.read() == OwnerRecord(BORIS, "claimed", after, closed_for="salt:digest")


async def test_erasing_somebody_else_leaves_the_owner(both: Both) -> None:
    store, _ = both
    await store.owners.offer("hash", "salt", tries=2)
    await store.owners.claim(ANNA, "hash", now=NOW)
    await store.sessions.save(session("s2", user_id=BORIS), expected=0)
    await store.people.erase(BORIS, now=NOW)
    assert (await store.owners.read()).person == ANNA


@pytest.mark.parametrize("kind", ["file", "postgres"])
async def test_who_planned_first_keeps_the_calendar(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """K14: a database of the program before, in which two people have planned, the first of them touched last."""
    where = str(tmp_path / "state.db") if kind == "file" else str(request.getfixturevalue("postgres"))
    store = open_store(where)
    await store.sessions.save(session("s1", user_id=BORIS, created_at=later(5)), expected=0)
    await store.sessions.save(session("s2", user_id=ANNA, created_at=later(1), touched_at=later(9)), expected=0)
    await store.aclose()
    config = Config()
    config.set_main_option("script_location", "fateforger.adapters.store:migrations")
    engine = make_engine(parse_database_url(where))
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE calendar_owner")
        config.attributes["connection"] = connection
        command.stamp(config, "0008")
        command.upgrade(config, "0009")
        command.stamp(config, "head")
    engine.dispose()
    store = open_store(where)
    assert await store.owners.read() == OwnerRecord(ANNA, "planned first", later(1))
    await store.aclose()
