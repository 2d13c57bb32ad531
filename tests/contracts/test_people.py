"""Everything stored about a person, in every table, is shown and erased; other people's data is untouched."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta

import pytest
from sqlalchemy import select
from tests.contracts.constraints_contract import parts
from tests.contracts.journal_examples import create, transaction
from tests.factories.agents import NOW
from tests.factories.constraints import version_of
from tests.factories.people import OF_NOBODY, SamplePerson, about, dump, tell

from fateforger.adapters.store.people import AT_WORK, ERASURE, UNFINISHED
from fateforger.adapters.store.store import Store
from fateforger.adapters.store.tables import list_tables
from fateforger.calendar.transactions import TxState
from fateforger.errors import BadInput, CalendarBusy, StillAtWork

ANNA, BORIS = SamplePerson("quokka"), SamplePerson("wombat")
LATER = NOW + timedelta(minutes=1)
Both = tuple[Store, Store]

EVERYTHING = {
    "constraints": 3, "task_order": 1, "tasks": 2, "durations": 1, "language": 1, "standing": 1, "talk": 1, "replies": 1, "time_zone": 1, "messages": 3, "sessions": 1, "jobs": 10, "receipts": 8,
    "ratings": 1, "calendar_ops": 3, "calendar_writes": 3, "calendar_blocks": 2, "event_ids": 3, "calendars": 1,
    "agents": 1, "agent_calls": 1, "proposals": 1, "rituals": 1, "ritual_marks": 1, "thread_messages": 1, "connection": 1, "channels": 1, "home": 1, "operator_actions": 1,
}  # fmt: skip


async def test_nothing_of_a_person_is_left_in_any_table_and_others_are_untouched(both: Both) -> None:
    """Every table of the database either has rows about them before, or is known to be about no one."""
    store, other = both
    await tell(store, BORIS)
    alone = await dump(store)
    await tell(store, ANNA)
    full = await dump(store)
    found = {*about(full, *ANNA.names)} | {"task_blocker"}  # which names tasks, by ids that are drawn
    # The calendar has one owner at most: test_owners.py.
    assert found | OF_NOBODY | {"calendar_owner"} == {
        table.name for table in list_tables(store.database.engine.dialect.name)
    }
    assert await other.people.count_held(ANNA.id) == {**EVERYTHING, "index": 3}
    assert await other.people.erase(ANNA.id, now=LATER) == EVERYTHING
    left = await dump(store)
    assert about(left, *ANNA.names).keys() == {"constraint_unindexed"}
    del left["constraint_unindexed"], left["erasure"]
    assert left == {name: rows for name, rows in alone.items() if name in left}
    assert await store.people.pending(ANNA.id) == 6
    await store.constraints.mark_indexed(await store.constraints.list_unindexed())
    assert about(await dump(store), *ANNA.names) == {}


async def test_constraints_of_the_erased_are_gone_for_good(both: Both) -> None:
    """Also for who has just looked, and when they come back."""
    store, other = both
    await store.constraints.write([version_of("a"), version_of("b")], cause="c1")
    kept = await store.constraints.write([version_of("a", user="U2")], cause="c1")
    await store.constraints.mark_indexed(await store.constraints.list_unindexed())
    assert len(await other.constraints.of("U1")) == 2
    assert await store.people.erase("U1", now=LATER) == {"constraints": 2}
    assert (await other.constraints.of("U1"), await other.constraints.find_written("U1", "c1")) == ((), ())
    assert await other.constraints.people() == ("U2",)
    assert parts(await other.constraints.list_unindexed()) == [("U1", "a", None), ("U1", "b", None)]
    again = await other.constraints.write([version_of("b", name="Again")], cause="c1")
    assert await store.constraints.of("U1") == await other.constraints.of("U1") == again
    assert parts(await other.constraints.list_unindexed()) == [("U1", "a", None), ("U1", "b", again[0].seq)]
    assert await other.constraints.of("U2") == kept


async def test_that_it_was_done_is_kept_and_nothing_else_and_it_can_be_done_again(both: Both) -> None:
    store, other = both
    await tell(store, ANNA)
    await store.people.erase(ANNA.id, now=LATER)
    assert await other.people.erase(ANNA.id, now=LATER) == {}
    rows = await store.database.read(lambda connection: connection.execute(select(ERASURE)).all())
    assert [(row.at, json.loads(row.counts)) for row in rows] == [(LATER, EVERYTHING)]


async def test_the_export_holds_every_row_and_no_token(both: Both) -> None:
    store, other = both
    await tell(store, BORIS)
    await tell(store, ANNA)
    held = await other.people.export(ANNA.id)
    assert {kind: len(rows) for kind, rows in held.items()} == EVERYTHING
    text = json.dumps(held)
    assert (BORIS.word in text, "token_hash" in text, f"hash {ANNA.word}" in text) == (False, False, False)
    assert {line["user_id"] for line in held["constraints"]} == {ANNA.id}
    assert held["sessions"][0]["session"]["planning"]["plan"]["events"][0]["name"] == ANNA.word


async def test_nothing_is_erased_while_a_write_to_the_calendar_is_not_finished(both: Both) -> None:
    """This covers writes that are applying or paused, and a calendar that is leased."""
    store, other = both
    await tell(store, ANNA)
    begun = transaction("open", [create(7, tx="open")], calendar=ANNA.calendar_key, context={"session": ANNA.session})
    await store.journal.begin(begun)
    before = await dump(store)
    with pytest.raises(CalendarBusy, match=UNFINISHED):
        await other.people.erase(ANNA.id, now=LATER)
    await store.journal.close("open", TxState.PAUSED, LATER)
    with pytest.raises(CalendarBusy, match=UNFINISHED):
        await other.people.erase(ANNA.id, now=LATER)
    assert {**(await dump(store)), "sync_tx": []} == {**before, "sync_tx": []}


async def test_nothing_is_erased_while_the_calendar_is_held(both: Both) -> None:
    store, other = both
    await tell(store, ANNA)
    lease = await store.journal.acquire(ANNA.calendar_key, "engine", now=LATER, seconds=60)
    assert lease is not None
    with pytest.raises(CalendarBusy, match=UNFINISHED):
        await other.people.erase(ANNA.id, now=LATER)
    await store.journal.release(lease)
    assert await other.people.erase(ANNA.id, now=LATER) == EVERYTHING


async def test_nothing_is_erased_while_something_of_theirs_is_carried_out(both: Both) -> None:
    store, other = both
    await tell(store, ANNA)
    await tell(store, BORIS)
    lanes = ("turn", "memory")
    held = [await store.jobs.claim(lane, "w", now=LATER, lease_seconds=60) for lane in lanes]
    with pytest.raises(StillAtWork, match=AT_WORK):
        await other.people.erase(ANNA.id, now=LATER)
    for job in held:
        assert job is not None
        assert await store.jobs.finish(job)
    counts = await other.people.erase(ANNA.id, now=LATER)
    assert counts == {**EVERYTHING, "jobs": EVERYTHING["jobs"] - len(lanes)}


async def test_on_a_calendar_of_two_only_their_own_writes_and_days_go(both: Both) -> None:
    """Writes without a session stay, since their owner is unknown; and so does the calendar's name."""
    store, other = both
    shared = "local:both"
    anna = SamplePerson("quokka", shared, ANNA.day)
    boris = SamplePerson("wombat", shared, ANNA.day + timedelta(days=30))
    await tell(store, boris)
    await tell(store, anna)
    counts = await other.people.erase(anna.id, now=LATER)
    kinds = ("calendar_writes", "calendar_blocks", "event_ids", "calendars")
    assert [counts.get(kind) for kind in kinds] == [2, 1, 2, None]
    assert len(await store.journal.history(shared)) == 4


async def test_ids_are_whole_names_and_who_is_spoken_of_loses_nothing(both: Both) -> None:
    """``U0quokka`` is not in ``U0quokkas``, and a job that quotes them is its speaker's."""
    store, other = both
    longer = SamplePerson("quokkas")
    await tell(store, longer)
    alone = await dump(store)
    await tell(store, ANNA)
    await other.people.erase(ANNA.id, now=LATER)
    await store.constraints.mark_indexed(
        [task for task in await store.constraints.list_unindexed() if task.version is None]
    )
    left = await dump(store)
    assert {**left, "erasure": []} == alone


@pytest.mark.parametrize("user_id", ["", "  ", "U" * 5_000])
async def test_what_cannot_be_a_person_is_refused(both: Both, user_id: str) -> None:
    for ask in (both[0].people.count_held, both[0].people.export):
        with pytest.raises(BadInput):
            await ask(user_id)
    with pytest.raises(BadInput):
        await both[0].people.erase(user_id, now=LATER)


async def test_erasing_and_writing_at_once_leaves_all_or_nothing(both: Both) -> None:
    """In either order, a new session with its messages is gone with the rest or whole."""
    store, other = both
    await tell(store, ANNA)
    again = SamplePerson("quokka2")
    await asyncio.gather(other.people.erase(ANNA.id, now=LATER), tell(store, again))
    assert await other.people.count_held(again.id) == {**EVERYTHING, "index": 3}
